/* SPDX-License-Identifier: MIT */
/* When operations ran: in frames, or in files that grow beside the stream. */
#include "config.h" // IWYU pragma: keep
#include "wire/decoder.h"
#include <errno.h>
#include "base/util.h"
#include "core/session.h"

/* One entry; offset_ns turns its clock into CLOCK_MONOTONIC. */
static int interval_put(struct wire_decoder *d, struct peer *p, const struct wire_interval *w,
			uint64_t offset_ns, uint32_t epoch, uint32_t latency_ns)
{
	const struct session_interval s = {
		.start_ns = w->start_ns + offset_ns,
		.end_ns = w->end_ns + offset_ns,
		.node = idmap_get(&p->nodes, w->node),
		.lane = idmap_get(&p->lanes, w->lane),
		.epoch = idmap_get(&p->epochs, epoch),
		.latency_ns = latency_ns,
	};

	if (s.epoch == SESSION_NONE || s.node == SESSION_NONE || s.lane == SESSION_NONE)
		return -EBADMSG;
	return session_interval_add(d->s, &s);
}

static int interval_add(struct wire_decoder *d, struct peer *p, const void *entry,
			uint64_t offset_ns)
{
	return interval_put(d, p, entry, offset_ns, 0, 0);
}

static int epoch_interval_add(struct wire_decoder *d, struct peer *p, const void *entry,
			      uint64_t offset_ns)
{
	const struct wire_epoch_interval *w = entry;

	return interval_put(d, p, &w->of, offset_ns, w->epoch, w->latency_ns);
}

int decode_interval(struct wire_decoder *d, struct peer *p, const void *entry)
{
	return interval_add(d, p, entry, d->shift_ns);
}

static unsigned segment_find(const struct peer *p, uint32_t id)
{
	unsigned i;

	for (i = 0; i < p->n_segments && p->segments[i].id != id; i++)
		;
	return i;
}

/* A file that grows stays what it is: pieces that were taken were cut by its kind. */
int decode_segment(struct wire_decoder *d, struct peer *p, const struct message *m)
{
	const struct wire_segment *w = (const void *)m->payload;
	unsigned i;

	i = segment_find(p, w->id);
	if (i == SEGMENTS_MAX || idmap_get(&p->strings, w->path) == SESSION_NONE)
		return -EBADMSG;
	if (i < p->n_segments && (p->segments[i].kind != w->kind || p->segments[i].path != w->path))
		return -EBADMSG;
	p->n_segments = MAX(p->n_segments, i + 1);
	p->segments[i] = *w;
	return 0;
}

/* What a segment is made of. Of kinds that the session has no place for only the bytes count. */
struct segment_kind {
	size_t entry; /* bytes; whoever cuts a segment cuts between two */
	int (*add)(struct wire_decoder *d, struct peer *p, const void *entry, uint64_t offset_ns);
	enum loss lost; /* what an entry is that could not be read */
};

static const struct segment_kind *segment_kind(uint32_t kind)
{
	static const struct segment_kind
		bytes = {1, NULL, 0},
		kinds[] = {
			[WIRE_SEGMENT_INTERVALS] = {sizeof(struct wire_interval), interval_add,
						    LOSS_TRACE_UNREAD},
			[WIRE_SEGMENT_EPOCHS] = {sizeof(struct wire_epoch_interval),
						 epoch_interval_add, LOSS_TRACE_UNREAD},
		};

	return kind < ARRAY_SIZE(kinds) && kinds[kind].entry ? &kinds[kind] : &bytes;
}

/* Entries that are not in the session, as far as these bytes of a segment held any. */
static void lose_bytes(struct wire_decoder *d, const struct segment_kind *k, uint64_t bytes)
{
	if (k->add)
		d->s->losses[k->lost] += bytes / k->entry + (bytes % k->entry > 0);
}

/* Each entry that names what was never defined is one less, and the others are good. */
static int take_entries(struct wire_decoder *d, struct peer *p, const struct wire_segment *g,
			const unsigned char *data, uint32_t n)
{
	const struct segment_kind *k = segment_kind(g->kind);
	struct wire_clock *clock = decode_clock(p, g->clock);
	uint64_t offset_ns = d->shift_ns + (clock ? clock->monotonic_ns - clock->clock_ns : 0);
	uint32_t at;
	int r = 0;

	for (at = 0; at < n && r != -ENOMEM; at += (uint32_t)k->entry) {
		r = k->add(d, p, data + at, offset_ns);
		if (r == -EBADMSG)
			lose_bytes(d, k, k->entry);
	}
	return r == -ENOMEM ? r : 0;
}

/* Whole entries of a segment. What is not whole, or begins within one, would be read as something
 * else: it is left out. */
int decode_bulk(struct wire_decoder *d, struct peer *p, const struct message *m)
{
	const struct wire_bulk *w = (const void *)m->payload;
	const struct segment_kind *k;
	const struct wire_segment *g;
	uint64_t missed;
	unsigned i;

	i = segment_find(p, w->segment);
	if (i == p->n_segments || w->length > m->size - sizeof(*w))
		return -EBADMSG;
	g = &p->segments[i];
	if (w->offset > g->size || w->length > g->size - w->offset)
		return -EBADMSG;
	if (w->offset < p->taken[i])
		return 0;
	missed = w->offset - p->taken[i];
	p->taken[i] = w->offset + w->length;
	k = segment_kind(g->kind);
	lose_bytes(d, k, missed);
	if (w->offset % k->entry || w->length % k->entry) {
		lose_bytes(d, k, w->length);
		return 0;
	}
	return k->add ? take_entries(d, p, g, m->payload + sizeof(*w), w->length) : 0;
}

bool wire_decoder_segment(const struct wire_decoder *d, size_t i, struct wire_segment_state *ret)
{
	size_t k;

	for (k = 0; k < d->n_peers && i >= d->peers[k]->n_segments; k++)
		i -= d->peers[k]->n_segments;
	if (k == d->n_peers)
		return false;
	const struct peer *p = d->peers[k];
	const struct wire_segment *g = &p->segments[i];
	size_t entry = segment_kind(g->kind)->entry;

	*ret = (struct wire_segment_state){
		.instance = p->instance,
		.id = g->id,
		.path = strtab_str(d->s->strings, idmap_get(&p->strings, g->path)),
		.entry = entry,
		.size = g->size / entry * entry,
		.taken = p->taken[i],
	};
	return true;
}

void wire_decoder_finish(struct wire_decoder *d)
{
	for (size_t k = 0; k < d->n_peers; k++) {
		struct peer *p = d->peers[k];

		for (unsigned i = 0; i < p->n_segments; i++) {
			uint64_t size = p->segments[i].size;

			if (p->taken[i] >= size)
				continue;
			lose_bytes(d, segment_kind(p->segments[i].kind), size - p->taken[i]);
			p->taken[i] = size;
		}
	}
}
