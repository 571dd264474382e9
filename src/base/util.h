/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BASE_UTIL_H
#define PROTON_BASE_UTIL_H
/* Small things that every layer uses. No state, libc only. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define ARRAY_SIZE(a)    (sizeof(a) / sizeof((a)[0]))
#define MIN(a, b)        ((a) < (b) ? (a) : (b))
#define MAX(a, b)        ((a) > (b) ? (a) : (b))
#define CLAMP(v, lo, hi) MIN(MAX(v, lo), hi)
#define COMPARE(a, b)    (((a) > (b)) - ((a) < (b))) /* for qsort() */

/* Moves `low` to the first place of which something is not true that is true of all before it, or to `high`; `at` is the place
 * that it is asked of. */
#define BISECT(low, high, at, is_before)                                                           \
	for (__typeof__(low) end_ = (high), at; (low) < end_;) {                                   \
		at = (low) + (end_ - (low)) / 2;                                                   \
		if (is_before)                                                                     \
			(low) = at + 1;                                                            \
		else                                                                               \
			end_ = at;                                                                 \
	}

#define NSEC_PER_SEC   UINT64_C(1000000000)
#define NSEC_PER_MSEC  UINT64_C(1000000)
#define NSEC_PER_USEC  UINT64_C(1000)

#define _cleanup_(f)   __attribute__((cleanup(f)))
#define _printf_(f, a) __attribute__((format(printf, f, a)))
#define _unlikely_(x)  __builtin_expect(!!(x), 0)
#define _likely_(x)    __builtin_expect(!!(x), 1)

static inline bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static inline void freep(void *p)
{
	free(*(void **)p);
}

static inline void fclosep(FILE **f)
{
	if (*f)
		fclose(*f);
}

static inline void closep(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

/* Write everything to a descriptor that blocks; 0 or -errno. */
int fd_write_all(int fd, const void *data, size_t len);

/* Double the capacity of an array until it holds n entries of size bytes; 0 or -ENOMEM. */
int array_reserve(void **array, size_t *cap, size_t n, size_t size);
/* The same for an array whose elements have a type. */
#define ARRAY_ROOM(array, cap, n) array_reserve((void **)&(array), &(cap), (n), sizeof(*(array)))

/* A character as UTF-8, without a zero behind it; what is no character as U+FFFD. How many bytes. */
size_t utf8_put(char out[4], uint32_t c);

#endif
