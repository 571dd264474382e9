/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "format/out.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void out_init(struct out *o, out_write_fn *write, void *ctx)
{
	o->write = write;
	o->ctx = ctx;
	o->total = 0;
	o->len = 0;
	o->error = 0;
}

static int write_to_buf(void *ctx, const char *data, size_t len)
{
	struct buf *buf = ctx;

	buf_put(buf, data, len);
	return buf->error;
}

void out_to_buf(struct out *o, struct buf *buf)
{
	out_init(o, write_to_buf, buf);
}

static void wait_until_writable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};

	poll(&p, 1, -1);
}

int out_write_fd(void *ctx, const char *data, size_t len)
{
	int fd = (int)(intptr_t)ctx;

	while (len) {
		ssize_t n = write(fd, data, len);

		if (n >= 0) {
			data += n;
			len -= (size_t)n;
		} else if (errno == EAGAIN) {
			wait_until_writable(fd);
		} else if (errno != EINTR) {
			return -errno;
		}
	}
	return 0;
}

void out_to_fd(struct out *o, int fd)
{
	out_init(o, out_write_fd, (void *)(intptr_t)fd);
}

static void out_write(struct out *o, const char *data, size_t len)
{
	if (o->error || !len)
		return;
	o->error = o->write(o->ctx, data, len);
	o->total += len;
}

int out_flush(struct out *o)
{
	out_write(o, o->data, o->len);
	o->len = 0;
	return o->error;
}

struct out *out_new(int fd)
{
	struct out *o = malloc(sizeof(*o));

	if (o)
		out_to_fd(o, fd);
	return o;
}

int out_end(struct out *o, int r)
{
	if (o && r == 0)
		r = out_flush(o);
	free(o);
	return r;
}

void out_put_slow(struct out *o, const char *data, size_t len)
{
	out_flush(o);
	if (len >= sizeof(o->data)) {
		out_write(o, data, len);
		return;
	}
	memcpy(o->data, data, len);
	o->len = len;
}

void out_printf(struct out *o, const char *format, ...)
{
	char small[512], *large = NULL;
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(small, sizeof(small), format, ap);
	va_end(ap);
	if (n >= (int)sizeof(small)) {
		va_start(ap, format);
		n = vasprintf(&large, format, ap);
		va_end(ap);
	}
	if (n < 0) {
		if (!o->error)
			o->error = -ENOMEM;
		return;
	}
	out_put(o, large ? large : small, (size_t)n);
	free(large);
}

void out_spaces(struct out *o, size_t n)
{
	static const char spaces[65] =
		"                                                                ";

	for (; n > 64; n -= 64)
		out_put(o, spaces, 64);
	out_put(o, spaces, n);
}
