/* SPDX-License-Identifier: MIT */
#ifndef PROTON_LAUNCH_LOG_RING_H
#define PROTON_LAUNCH_LOG_RING_H
/* The tail of a byte stream in a file of bounded size: one process appends, others read.
 *
 *   page 0: header        data[capacity]: byte number x of the stream is at data[x % capacity]
 *
 * The writer moves `start` before it overwrites and `end` after it wrote, so that a reader knows
 * afterwards whether what it read was still there.
 *
 *   errors  -errno
 *   thread  one writer; any number of readers, each with a ring of its own */
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define LOG_RING_BYTES (UINT64_C(16) << 20)

struct log_ring;

int log_ring_create(const char *path, uint64_t capacity, struct log_ring **ret_ring);
int log_ring_open(const char *path, struct log_ring **ret_ring);
struct log_ring *log_ring_free(struct log_ring *ring);
static inline void log_ring_freep(struct log_ring **p)
{
	*p = log_ring_free(*p);
}

/* Bytes that cannot be stored (a full disk) are counted, and are zeros in the stream. */
void log_ring_append(struct log_ring *ring, const void *data, size_t len);

uint64_t log_ring_start(const struct log_ring *ring); /* oldest byte that is still there */
uint64_t log_ring_end(const struct log_ring *ring);   /* bytes ever appended */
uint64_t log_ring_lost(const struct log_ring *ring);

/* Up to len bytes from offset on. Returns how many; 0 at the end; -ESTALE when they have been
 * overwritten meanwhile (go on at log_ring_start()). */
ssize_t log_ring_read(struct log_ring *ring, uint64_t offset, void *data, size_t len);

/* The descriptor, for who closes all others. */
int log_ring_fd(const struct log_ring *ring);

/* Waking the reader: after log_ring_want() the next append makes log_ring_wanted() true, once. */
void log_ring_want(struct log_ring *ring);
int log_ring_wanted(struct log_ring *ring);

#endif
