/* SPDX-License-Identifier: MIT */
/* A tape: a header, and a stream as it came. */
#include "config.h" // IWYU pragma: keep
#include "wire/decode.h"
#include <errno.h>
#include <string.h>
#include "base/util.h"
#include "core/session.h"
#include "wire/wire.h"

int wire_is_tape(const void *head, size_t n)
{
	return n >= 8 && !memcmp(head, WIRE_TAPE_MAGIC, 8);
}

/* Where a tape comes from. */
struct tape {
	ssize_t (*read)(void *ctx, void *data, size_t n);
	void *ctx;
	uint64_t offset;
};

/* As many of n bytes as there are: fewer only at the end. */
static ssize_t tape_bytes(struct tape *t, void *data, size_t n)
{
	size_t got = 0;
	ssize_t r;

	while (got < n) {
		r = t->read(t->ctx, (char *)data + got, n - got);
		if (r < 0)
			return r;
		if (r == 0)
			break;
		got += (size_t)r;
	}
	t->offset += got;
	return (ssize_t)got;
}

static int tape_header(struct tape *t, struct session *s)
{
	struct wire_tape_header h;
	char skip[256];
	ssize_t r = tape_bytes(t, &h, sizeof(h));
	uint32_t rest;

	if (r < 0)
		return (int)r;
	if (r < (ssize_t)sizeof(h) || !wire_is_tape(&h, sizeof(h)) || h.version != WIRE_VERSION ||
	    h.header_size < sizeof(h) || h.header_size > 4096)
		return -EBADMSG;
	s->start_ns = h.start_ns;
	for (rest = h.header_size - (uint32_t)sizeof(h); rest; rest -= (uint32_t)r) {
		r = tape_bytes(t, skip, MIN(rest, sizeof(skip)));
		if (r <= 0)
			return -EBADMSG;
	}
	return 0;
}

static int tape_frames(struct tape *t, struct wire_decoder *d)
{
	unsigned char chunk[65536];
	ssize_t n;
	int r = 0;

	while (r == 0 && (n = tape_bytes(t, chunk, sizeof(chunk))) != 0) {
		if (n < 0)
			return (int)n;
		r = wire_decoder_feed(d, chunk, (size_t)n);
	}
	return r;
}

int wire_read_tape(ssize_t (*read)(void *ctx, void *data, size_t n), void *ctx,
		   const struct native_namer *namer, struct session *s, uint64_t *ret_offset)
{
	struct tape t = {read, ctx, 0};
	struct wire_decoder *d;
	int r = tape_header(&t, s);

	if (r == 0) {
		d = wire_decoder_new(s);
		if (d) {
			wire_decoder_of_tape(d, 0);
			wire_decoder_set_namer(d, namer);
		}
		r = d ? tape_frames(&t, d) : -ENOMEM;
		if (d && wire_decoder_pending(d))
			s->losses[LOSS_WIRE_ERROR]++;
		if (d) {
			wire_decoder_finish(d);
			wire_decoder_cut_off(d);
		}
		wire_decoder_free(d);
	}
	s->ended = true;
	if (ret_offset)
		*ret_offset = t.offset;
	return r;
}
