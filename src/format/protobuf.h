/* SPDX-License-Identifier: MIT */
#ifndef PROTON_FORMAT_PROTOBUF_H
#define PROTON_FORMAT_PROTOBUF_H
/* Protocol buffers, written by hand: numbers as varints, strings and messages with their length
 * before them (https://protobuf.dev/programming-guides/encoding). */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "base/buf.h"

/* ---- writing ---- */

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

static inline void pb_fixed64(struct buf *b, unsigned field, uint64_t v)
{
	pb_varint(b, field << 3 | 1);
	for (unsigned i = 0; i < 8; i++, v >>= 8)
		buf_putc(b, (char)v);
}

static inline void pb_bytes(struct buf *b, unsigned field, const char *data, size_t len)
{
	pb_varint(b, field << 3 | 2);
	pb_varint(b, len);
	if (len)
		buf_put(b, data, len);
}

/* A message, or a string, that was made in a buffer of its own, whose error is then one of this. */
static inline void pb_message(struct buf *b, unsigned field, const struct buf *message)
{
	pb_bytes(b, field, message->data, message->len);
	if (message->error)
		b->error = message->error;
}

/* ---- reading ---- */

/* What is left of a message. */
struct pb_span {
	const unsigned char *at, *end;
};

enum pb_wire { PB_VARINT = 0, PB_FIXED64 = 1, PB_BYTES = 2, PB_FIXED32 = 5 };

struct pb_field {
	uint32_t number;
	uint8_t wire;         /* enum pb_wire */
	uint64_t v;           /* the number, or how many bytes there are */
	struct pb_span bytes; /* of PB_BYTES */
};

/* False: it does not end here, or is longer than any. */
static inline bool pb_take_varint(struct pb_span *m, uint64_t *ret)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 70 && m->at < m->end; shift += 7) {
		unsigned char c = *m->at++;

		v |= shift < 64 ? (uint64_t)(c & 0x7f) << shift : 0;
		if (!(c & 0x80)) {
			*ret = v;
			return true;
		}
	}
	return false;
}

static inline bool pb_take_fixed(struct pb_span *m, size_t n, uint64_t *ret)
{
	*ret = 0;
	if ((size_t)(m->end - m->at) < n)
		return false;
	for (size_t i = 0; i < n; i++)
		*ret |= (uint64_t)m->at[i] << (8 * i);
	m->at += n;
	return true;
}

/* The next field of a message. 1; 0: there is none; -1: what is there is no field. */
static inline int pb_take(struct pb_span *m, struct pb_field *f)
{
	uint64_t tag;

	if (m->at == m->end)
		return 0;
	if (!pb_take_varint(m, &tag) || tag >> 3 == 0 || tag >> 3 > UINT32_MAX)
		return -1;
	f->number = (uint32_t)(tag >> 3);
	f->wire = tag & 7;
	switch (f->wire) {
	case PB_VARINT:
		return pb_take_varint(m, &f->v) ? 1 : -1;
	case PB_FIXED64:
		return pb_take_fixed(m, 8, &f->v) ? 1 : -1;
	case PB_FIXED32:
		return pb_take_fixed(m, 4, &f->v) ? 1 : -1;
	case PB_BYTES:
		if (!pb_take_varint(m, &f->v) || f->v > (uint64_t)(m->end - m->at))
			return -1;
		f->bytes = (struct pb_span){m->at, m->at + f->v};
		m->at += f->v;
		return 1;
	default:
		return -1;
	}
}

/* The next number of a repeated field, whether these are packed or stand alone. 1, 0 or -1 as pb_take(). */
static inline int pb_take_number(struct pb_field *f, uint64_t *ret)
{
	if (f->wire == PB_BYTES)
		return f->bytes.at == f->bytes.end ? 0 : pb_take_varint(&f->bytes, ret) ? 1 : -1;
	if (f->wire != PB_VARINT)
		return -1;
	*ret = f->v;
	f->wire = PB_BYTES; /* no more */
	f->bytes = (struct pb_span){0};
	return 1;
}

#endif
