/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "launch/log_ring.h"
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include "base/util.h"

#define HEADER_BYTES 4096
#define RING_MAGIC   UINT32_C(0x504c4f47)

struct ring_header {
	_Atomic uint32_t magic;
	_Atomic uint32_t wanted; /* the reader has read all and wants to be woken */
	uint64_t capacity;
	_Atomic uint64_t start, end, lost;
};

struct log_ring {
	int fd;
	uint64_t capacity;
	struct ring_header *header; /* shared between writer and readers */
};

struct log_ring *log_ring_free(struct log_ring *ring)
{
	if (!ring)
		return NULL;
	if (ring->header)
		munmap(ring->header, HEADER_BYTES);
	closep(&ring->fd);
	free(ring);
	return NULL;
}

static int ring_map(struct log_ring *ring)
{
	void *p = mmap(NULL, HEADER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);

	if (p == MAP_FAILED)
		return -errno;
	ring->header = p;
	return 0;
}

static int ring_open_fd(const char *path, int flags, struct log_ring **ret_ring)
{
	struct log_ring *ring = calloc(1, sizeof(*ring));

	if (!ring)
		return -ENOMEM;
	ring->fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (ring->fd < 0) {
		free(ring);
		return -errno;
	}
	*ret_ring = ring;
	return 0;
}

int log_ring_create(const char *path, uint64_t capacity, struct log_ring **ret_ring)
{
	_cleanup_(log_ring_freep) struct log_ring *ring = NULL;
	int r = ring_open_fd(path, O_RDWR | O_CREAT | O_TRUNC, &ring);

	if (r < 0)
		return r;
	r = posix_fallocate(ring->fd, 0, HEADER_BYTES); /* the data grows as it comes */
	if (r)
		return -r;
	r = ring_map(ring);
	if (r < 0)
		return r;
	ring->capacity = ring->header->capacity = capacity;
	atomic_store(&ring->header->magic, RING_MAGIC);
	*ret_ring = ring;
	ring = NULL;
	return 0;
}

int log_ring_open(const char *path, struct log_ring **ret_ring)
{
	_cleanup_(log_ring_freep) struct log_ring *ring = NULL;
	struct stat st;
	int r = ring_open_fd(path, O_RDWR, &ring);

	if (r < 0)
		return r;
	if (fstat(ring->fd, &st) < 0)
		return -errno;
	if (st.st_size < HEADER_BYTES)
		return -EINVAL;
	r = ring_map(ring);
	if (r < 0)
		return r;
	ring->capacity = ring->header->capacity;
	if (atomic_load(&ring->header->magic) != RING_MAGIC || !ring->capacity)
		return -EINVAL;
	*ret_ring = ring;
	ring = NULL;
	return 0;
}

uint64_t log_ring_start(const struct log_ring *ring)
{
	return atomic_load(&ring->header->start);
}

uint64_t log_ring_end(const struct log_ring *ring)
{
	return atomic_load(&ring->header->end);
}

uint64_t log_ring_lost(const struct log_ring *ring)
{
	return atomic_load(&ring->header->lost);
}

/* One piece that does not wrap. */
static void store_piece(struct log_ring *ring, uint64_t offset, const char *data, size_t len)
{
	while (len > 0) {
		ssize_t n = pwrite(ring->fd, data, len,
				   (off_t)(HEADER_BYTES + offset % ring->capacity));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			atomic_fetch_add(&ring->header->lost, len);
			return;
		}
		data += n;
		offset += (uint64_t)n;
		len -= (size_t)n;
	}
}

void log_ring_append(struct log_ring *ring, const void *data, size_t len)
{
	const char *p = data;
	uint64_t end = log_ring_end(ring), new_end = end + len;

	if (len > ring->capacity) { /* only the tail will be there */
		p += len - ring->capacity;
		end += len - ring->capacity;
		len = (size_t)ring->capacity;
	}
	if (new_end > ring->capacity)
		atomic_store(&ring->header->start, new_end - ring->capacity);
	while (len > 0) {
		size_t n = MIN(len, (size_t)(ring->capacity - end % ring->capacity));

		store_piece(ring, end, p, n);
		p += n;
		end += n;
		len -= n;
	}
	atomic_store(&ring->header->end, new_end);
}

ssize_t log_ring_read(struct log_ring *ring, uint64_t offset, void *data, size_t len)
{
	uint64_t end = log_ring_end(ring);
	ssize_t n;

	if (offset < log_ring_start(ring))
		return -ESTALE;
	if (offset >= end)
		return 0;
	len = (size_t)MIN((uint64_t)len, end - offset);
	len = (size_t)MIN((uint64_t)len, ring->capacity - offset % ring->capacity);
	do
		n = pread(ring->fd, data, len, (off_t)(HEADER_BYTES + offset % ring->capacity));
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	if ((size_t)n < len) { /* a hole at the end of the file: bytes that were lost */
		for (size_t i = (size_t)n; i < len; i++)
			((char *)data)[i] = '\0';
	}
	return offset < log_ring_start(ring) ? -ESTALE : (ssize_t)len;
}

void log_ring_want(struct log_ring *ring)
{
	atomic_store(&ring->header->wanted, 1);
}

int log_ring_wanted(struct log_ring *ring)
{
	return (int)atomic_exchange(&ring->header->wanted, 0);
}

int log_ring_fd(const struct log_ring *ring)
{
	return ring->fd;
}
