/* SPDX-License-Identifier: MIT */
#ifndef PROTON_FORMAT_PROTOBUF_H
#define PROTON_FORMAT_PROTOBUF_H
/* Protocol buffers, written by hand: numbers as varints, strings and messages with their length
 * before them (https://protobuf.dev/programming-guides/encoding). */
#include <string.h>
#include "base/buf.h"

static inline void pb_varint(struct buf *b, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		buf_putc(b, (char)(v | 0x80));
	buf_putc(b, (char)v);
}

static inline void pb_u64(struct buf *b, unsigned field, uint64_t v)
{
	pb_varint(b, field << 3);
	pb_varint(b, v);
}

static inline void pb_bytes(struct buf *b, unsigned field, const char *data, size_t len)
{
	pb_varint(b, field << 3 | 2);
	pb_varint(b, len);
	if (len)
		buf_put(b, data, len);
}

/* A message, or a string, that was made in a buffer of its own. */
static inline void pb_message(struct buf *b, unsigned field, const struct buf *message)
{
	pb_bytes(b, field, message->data, message->len);
}

#endif
