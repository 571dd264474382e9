/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "base/buf.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>

void buf_init(struct buf *b, size_t max)
{
	*b = (struct buf){.max = max};
}

void buf_done(struct buf *b)
{
	free(b->data);
	buf_init(b, b->max);
}

void buf_clear(struct buf *b)
{
	b->len = 0;
	b->error = 0;
}

/* Room for n more bytes and a NUL. */
static bool buf_room(struct buf *b, size_t n)
{
	if (b->error)
		return false;
	if (b->max && (n > b->max || b->len > b->max - n)) {
		b->error = -EFBIG;
		return false;
	}
	b->error = ARRAY_ROOM(b->data, b->cap, b->len + n + 1);
	return !b->error;
}

void buf_put(struct buf *b, const void *data, size_t len)
{
	if (!len || !buf_room(b, len))
		return;
	memcpy(b->data + b->len, data, len);
	b->len += len;
}

void buf_puts(struct buf *b, const char *s)
{
	buf_put(b, s, strlen(s));
}

void buf_putc(struct buf *b, char c)
{
	buf_put(b, &c, 1);
}

void buf_vprintf(struct buf *b, const char *format, va_list ap)
{
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, format, again);
	va_end(again);
	if (n < 0 || !buf_room(b, (size_t)n))
		return;
	vsnprintf(b->data + b->len, (size_t)n + 1, format, ap);
	b->len += (size_t)n;
}

void buf_printf(struct buf *b, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	buf_vprintf(b, format, ap);
	va_end(ap);
}

void *buf_extend(struct buf *b, size_t n)
{
	if (!buf_room(b, n))
		return NULL;
	b->len += n;
	return b->data + b->len - n;
}

int buf_read(struct buf *b, int fd)
{
	char piece[4096];
	ssize_t n;

	while ((n = read(fd, piece, sizeof(piece))) != 0 && !b->error) {
		if (n < 0 && errno != EINTR)
			return -errno;
		buf_put(b, piece, n < 0 ? 0 : (size_t)n);
	}
	return b->error;
}

const char *buf_str(struct buf *b)
{
	if (!b->data || b->error)
		return "";
	b->data[b->len] = '\0';
	return b->data;
}
