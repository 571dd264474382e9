/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "override/kept.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/hash.h"
#include "base/named_file.h"
#include "base/util.h"

enum { DIGITS = 32, NAME_SIZE = DIGITS + 16 /* the number of who writes it */ };

/* ---- keys ---- */

struct kept_key kept_key(void)
{
	return (struct kept_key){STABLE_HASH_BEGIN, ~STABLE_HASH_BEGIN};
}

/* The second one sees each byte otherwise, by its place. */
void kept_key_add(struct kept_key *key, const void *data, size_t n)
{
	const unsigned char *p = data;

	key->a = stable_hash(key->a, data, n);
	for (size_t i = 0; i < n; i++)
		key->b = stable_hash_end(key->b + p[i] + UINT64_C(0x9e3779b97f4a7c15));
}

static void name_of(const struct kept_key *key, char name[NAME_SIZE])
{
	snprintf(name, NAME_SIZE, "%016" PRIx64 "%016" PRIx64, key->a, key->b);
}

/* Of a module, or of one whose writer may have been killed. */
static bool is_ours(const char *name)
{
	return strspn(name, "0123456789abcdef") == DIGITS && strlen(name) < NAME_SIZE &&
	       (!name[DIGITS] || name[DIGITS] == '.');
}

/* ---- the folder ---- */

static int open_below(int folder, const char *name)
{
	int fd;

	if (mkdirat(folder, name, 0700) < 0 && errno != EEXIST)
		return -errno;
	fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Of a user without a home there is none. */
static int open_cache(void)
{
	const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	_cleanup_(closep) int at_home = -1;
	int fd;

	if (xdg && *xdg == '/') {
		if (mkdir(xdg, 0700) < 0 && errno != EEXIST)
			return -errno;
		fd = open(xdg, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		return fd < 0 ? -errno : fd;
	}
	if (!home || *home != '/')
		return -ENOENT;
	at_home = open(home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return at_home < 0 ? -errno : open_below(at_home, ".cache");
}

static int open_folder(void)
{
	_cleanup_(closep) int cache = open_cache(), ours = -1;

	if (cache < 0)
		return cache;
	ours = open_below(cache, "proton");
	return ours < 0 ? ours : open_below(ours, "modules");
}

/* ---- its size ---- */

struct entry {
	char name[NAME_SIZE];
	uint64_t size;
	struct timespec used;
};

struct entries {
	struct entry *v;
	size_t n, cap;
	uint64_t size;
};

static bool add_entry(struct entries *all, int folder, const char *name)
{
	size_t len = strlen(name);
	struct stat st;

	if (!is_ours(name) || len >= NAME_SIZE ||
	    fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return true;
	if (ARRAY_ROOM(all->v, all->cap, all->n + 1) < 0)
		return false;
	all->v[all->n] = (struct entry){.size = (uint64_t)st.st_size, .used = st.st_mtim};
	memcpy(all->v[all->n++].name, name, len + 1);
	all->size += (uint64_t)st.st_size;
	return true;
}

static int by_use(const void *a, const void *b)
{
	const struct timespec *x = &((const struct entry *)a)->used,
			      *y = &((const struct entry *)b)->used;

	if (x->tv_sec != y->tv_sec)
		return x->tv_sec < y->tv_sec ? -1 : 1;
	return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

/* Until so many bytes have room. */
static void make_room(int folder, uint64_t bytes)
{
	struct entries all = {0};
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *d;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((d = readdir(dir)) && add_entry(&all, folder, d->d_name))
		;
	if (all.n && all.size + bytes > KEPT_MOST)
		qsort(all.v, all.n, sizeof(*all.v), by_use);
	for (size_t i = 0; i < all.n && all.size + bytes > KEPT_MOST; i++)
		if (unlinkat(folder, all.v[i].name, 0) == 0)
			all.size -= all.v[i].size;
	free(all.v);
	closedir(dir);
}

/* ---- files ---- */

/* Of what a file holds, and of what it is the result of: the end of the file, which the driver is to be spared the rest of
 * if a disk or somebody else has changed it. */
static uint64_t sum_of(const struct kept_key *key, const struct iovec *parts, int n)
{
	uint64_t sum = key->a ^ key->b;

	for (int i = 0; i < n; i++)
		sum = stable_hash(sum, parts[i].iov_base, parts[i].iov_len);
	return stable_hash_end(sum);
}

static bool is_whole(const struct kept_key *key, const struct buf *file)
{
	uint64_t said, sum;

	if (file->error || file->len < sizeof(said))
		return false;
	memcpy(&said, file->data + file->len - sizeof(said), sizeof(said));
	sum = sum_of(key, &(struct iovec){file->data, file->len - sizeof(said)}, 1);
	return said == sum;
}

/* Nobody else may have written it: the folder may be one that others have, too. */
static int open_own(int folder, const char *name)
{
	struct stat st;
	int fd = regular_openat(folder, name, O_RDONLY | O_NOFOLLOW, &st);

	if (fd < 0 || (st.st_uid == geteuid() && !(st.st_mode & (S_IWGRP | S_IWOTH))))
		return fd;
	close(fd);
	return -EPERM;
}

int kept_read(const struct kept_key *key, struct buf *ret)
{
	_cleanup_(closep) int folder = open_folder(), fd = -1;
	char name[NAME_SIZE];
	int r;

	if (folder < 0)
		return folder;
	name_of(key, name);
	fd = open_own(folder, name);
	r = fd < 0 ? fd : buf_read(ret, fd);
	if (r < 0)
		return r;
	if (!is_whole(key, ret))
		return -EBADMSG;
	futimens(fd, NULL); /* it was used now */
	ret->len -= sizeof(uint64_t);
	return 0;
}

static int write_parts(int fd, const struct iovec *parts, int n)
{
	int r = 0;

	for (int i = 0; i < n && r == 0; i++)
		r = fd_write_all(fd, parts[i].iov_base, parts[i].iov_len);
	return r;
}

int kept_write(const struct kept_key *key, const struct iovec *parts, int n)
{
	_cleanup_(closep) int folder = open_folder(), fd = -1;
	const uint64_t sum = sum_of(key, parts, n);
	char name[NAME_SIZE], beside[NAME_SIZE];
	uint64_t size = sizeof(sum);
	int r;

	if (folder < 0)
		return folder;
	for (int i = 0; i < n; i++)
		size += parts[i].iov_len;
	make_room(folder, size);
	name_of(key, name);
	snprintf(beside, sizeof(beside), "%.*s.%d", DIGITS, name, (int)getpid());
	fd = openat(folder, beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	r = write_parts(fd, parts, n);
	if (r == 0)
		r = fd_write_all(fd, &sum, sizeof(sum));
	if (r == 0 && renameat(folder, beside, folder, name) < 0)
		r = -errno;
	if (r < 0)
		unlinkat(folder, beside, 0);
	return r;
}
