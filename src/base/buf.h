/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BASE_BUF_H
#define PROTON_BASE_BUF_H
/* A growing byte buffer with a sticky error: write without checking, look at buf_error() once.
 *   thread  one */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include "base/util.h"

struct buf {
	char *data;
	size_t len, cap;
	size_t max; /* never grows beyond this; 0 = no limit */
	int error;  /* 0, -ENOMEM or -EFBIG */
};

void buf_init(struct buf *b, size_t max);
void buf_done(struct buf *b);  /* frees; the buffer is empty and usable again */
void buf_clear(struct buf *b); /* empties, keeps the memory, clears the error */
void buf_put(struct buf *b, const void *data, size_t len);
void buf_puts(struct buf *b, const char *s);
void buf_putc(struct buf *b, char c);
void buf_printf(struct buf *b, const char *format, ...) _printf_(2, 3);
void buf_vprintf(struct buf *b, const char *format, va_list ap) _printf_(2, 0);
/* n fresh bytes at the end, or NULL. */
void *buf_extend(struct buf *b, size_t n);
/* Append all that is left in a descriptor; 0, -errno, or the buffer's error. */
int buf_read(struct buf *b, int fd);
/* The content as a C string ("" when empty or failed). */
const char *buf_str(struct buf *b);

#endif
