/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "wire/encode.h"
#include <errno.h>
#include <string.h>
#include "base/clock.h"
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

int wire_put(struct wire_encoder *e, enum wire_kind kind, const void *entry, size_t size)
{
	void *p = wire_encode(e, kind, size);

	if (p)
		memcpy(p, entry, size);
	return e->error;
}

int wire_put_numbers(struct wire_encoder *e, enum wire_kind kind, const void *entry, size_t size,
		     const uint64_t *v, size_t n)
{
	char *p = wire_encode(e, kind, size + n * sizeof(*v));

	if (p) {
		memcpy(p, entry, size);
		memcpy(p + size, v, n * sizeof(*v));
	}
	return e->error;
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

int wire_encode_text(struct wire_encoder *e, uint32_t id, const char *s, uint32_t len)
{
	const uint32_t room = WIRE_PAYLOAD_MAX - sizeof(struct wire_text);
	struct wire_text t = {.id = id, .total = len};
	int r = wire_encoder_flush(e);

	do {
		if (r < 0)
			return r;
		t.length = MIN(len - t.offset, room);
		r = text_part(e, &t, s + t.offset);
		t.offset += t.length;
	} while (t.offset < len);
	return r;
}
