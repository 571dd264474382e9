/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "wire/encode.h"
#include <errno.h>
#include <string.h>
#include "base/clock.h"
#include "base/hash.h"
#include "base/util.h"

void wire_encoder_init(struct wire_encoder *e, uint64_t instance,
		       int (*emit)(void *arg, const void *frame, size_t n), void *arg)
{
	e->emit = emit;
	e->arg = arg;
	e->instance = instance;
	e->seq = 0;
	wire_encoder_clear(e);
}

void wire_encoder_clear(struct wire_encoder *e)
{
	e->used = 0;
	e->error = 0;
}

int wire_encoder_flush(struct wire_encoder *e)
{
	size_t padded = wire_padded(e->used);
	int r;

	if (e->error || !e->used)
		return e->error;
	e->header.length = (uint16_t)e->used;
	e->header.seq = e->seq;
	e->header.time_ns = clock_monotonic_ns();
	memset(e->frame + e->used, 0, padded - e->used);
	r = e->emit(e->arg, e->frame, padded);
	if (r < 0) {
		e->error = r;
		return r;
	}
	e->seq++;
	e->used = 0;
	return 0;
}

void *wire_encode(struct wire_encoder *e, enum wire_kind kind, size_t size)
{
	void *p;

	if (e->error || size > WIRE_PAYLOAD_MAX)
		return NULL;
	if (e->used && (e->header.kind != kind || wire_padded(e->used + size) > WIRE_FRAME_MAX))
		if (wire_encoder_flush(e) < 0)
			return NULL;
	if (!e->used) {
		e->header = (struct wire_header){
			.magic = WIRE_MAGIC, .kind = (uint16_t)kind, .instance = e->instance};
		e->used = sizeof(e->header);
	}
	p = e->frame + e->used;
	memset(p, 0, size);
	e->used += size;
	e->header.n++;
	return p;
}

/* A name beyond the bound keeps a prefix and a hash of the whole, so that two stay two. */
static size_t text_bound(const char *s, size_t len, char tail[24])
{
	static const char digits[] = "0123456789abcdef";
	uint64_t hash;
	int i;

	tail[0] = '\0';
	if (len <= WIRE_TEXT_MAX)
		return len;
	hash = hash_bytes(s, len);
	tail[0] = '#';
	for (i = 0; i < 16; i++)
		tail[1 + i] = digits[hash >> (60 - 4 * i) & 15];
	tail[17] = '\0';
	return WIRE_TEXT_MAX - 17;
}

static int text_part(struct wire_encoder *e, const struct wire_text *head, const char *s)
{
	struct wire_text *t = wire_encode(e, WIRE_TEXT, sizeof(*t) + head->length);

	if (!t)
		return e->error ? e->error : -EMSGSIZE;
	memcpy(t, head, sizeof(*head));
	memcpy((char *)t + sizeof(*t), s, head->length);
	return wire_encoder_flush(e);
}

int wire_encode_text(struct wire_encoder *e, uint32_t id, const char *s, size_t len)
{
	const uint32_t room = WIRE_PAYLOAD_MAX - sizeof(struct wire_text);
	struct wire_text t = {.id = id};
	char tail[24];
	size_t kept = text_bound(s, len, tail);
	size_t n_tail = strlen(tail);
	int r = wire_encoder_flush(e);

	t.total = (uint32_t)(kept + n_tail);
	do {
		if (r < 0)
			return r;
		t.length = (uint32_t)MIN(kept - t.offset, (size_t)room);
		r = text_part(e, &t, s + t.offset);
		t.offset += t.length;
	} while (t.offset < kept);
	if (n_tail && r == 0) {
		t.length = (uint32_t)n_tail;
		r = text_part(e, &t, tail);
	}
	return r;
}
