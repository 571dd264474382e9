/* SPDX-License-Identifier: MIT */
#ifndef PROTON_FORMAT_OUT_H
#define PROTON_FORMAT_OUT_H
/* Where a writer writes: a buffer of fixed size in front of a write function.
 *
 *   hatchet_write() ──> struct out ──> descriptor | struct buf | anything
 *
 * The first error sticks: writers write without checking and look at it once, at the end, so a
 * file of any size needs 64 KiB. libc only: the collector links it.
 *   thread  one */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "base/buf.h"
#include "base/util.h"

#define OUT_SIZE 65536

/* Takes all of the data: 0 or -errno. */
typedef int out_write_fn(void *ctx, const char *data, size_t len);

struct out {
	out_write_fn *write;
	void *ctx;
	uint64_t total;      /* bytes given to write so far */
	size_t len;          /* bytes waiting in data */
	int error;           /* 0 or the first -errno */
	char data[OUT_SIZE]; /* large: on the heap where stacks are small */
};

void out_init(struct out *o, out_write_fn *write, void *ctx);
void out_to_buf(struct out *o, struct buf *buf);
void out_to_fd(struct out *o, int fd); /* retries EINTR, waits on EAGAIN */
out_write_fn out_write_fd;             /* what out_to_fd() writes with; ctx: the number */
int out_flush(struct out *o);          /* 0 or the first -errno; call it at the end */
/* One on the heap. NULL: no memory. */
struct out *out_new(int fd);
/* Flush it, unless r says that something went wrong before, and free it: r, or the first -errno. */
int out_end(struct out *o, int r);

void out_put_slow(struct out *o, const char *data, size_t len);
void out_printf(struct out *o, const char *format, ...) _printf_(2, 3);
void out_spaces(struct out *o, size_t n);

static inline void out_put(struct out *o, const char *data, size_t len)
{
	if (_likely_(len <= sizeof(o->data) - o->len)) {
		memcpy(o->data + o->len, data, len);
		o->len += len;
	} else {
		out_put_slow(o, data, len);
	}
}

/* What was made in a buffer, whose error is one of the file. */
static inline void out_put_buf(struct out *o, const struct buf *b)
{
	if (b->error && !o->error)
		o->error = b->error;
	if (b->len)
		out_put(o, b->data, b->len);
}

static inline void out_puts(struct out *o, const char *s)
{
	out_put(o, s, strlen(s));
}

static inline void out_putc(struct out *o, char c)
{
	out_put(o, &c, 1);
}

#endif
