/* SPDX-License-Identifier: MIT */
/* What is beside the tree: devices, clocks, losses, notes, use of devices. */
#include "config.h" // IWYU pragma: keep
#include "wire/decoder.h"
#include <errno.h>
#include <string.h>
#include "base/util.h"
#include "core/activity.h"
#include "core/row_tables.h"
#include "core/session.h"
#include "wire/told_rows.h"

/* Times that a device of an instance may turn out to be another one, and lanes that may be looked
 * at for all of them: each time all are. */
#define MOVES_MAX       1024
#define MOVED_LANES_MAX 100000000

/* Ids of the stream become those of the session. */
static int name_row(struct peer *p, enum table_id id, union any_row *row)
{
	static const size_t maps[FIELD_N] = {
		[FIELD_STRING] = offsetof(struct peer, strings),
		[FIELD_NODE] = offsetof(struct peer, nodes),
		[FIELD_LANE] = offsetof(struct peer, lanes),
		[FIELD_EPOCH] = offsetof(struct peer, epochs),
		[FIELD_DEVICE] = offsetof(struct peer, devices),
		[FIELD_METRIC] = offsetof(struct peer, metrics),
	};
	const struct row_table *t = &row_tables[id];
	const struct field *part = row_field(id, FIELD_PART);

	for (size_t i = 0; i < t->n_fields; i++) {
		const struct field *f = &t->fields[i];
		uint32_t its = *row_id(row, f), to;

		if (!maps[f->type])
			continue;
		to = idmap_get((struct idmap *)(void *)((char *)p + maps[f->type]), its);
		if (to == SESSION_NONE)
			return -EBADMSG;
		*row_id(row, f) = to;
		if (f->type == FIELD_NODE && part)
			*row_id(row, part) = decode_node_part(p, to, its);
	}
	return 0;
}

/* What is told of a row is what it is now. */
int decode_row(struct wire_decoder *d, struct peer *p, const struct told_rows *t, const void *entry)
{
	const struct row_table *table = &row_tables[t->table];
	union any_row row;
	void *known;
	int r;

	told_row(t, entry, &row);
	r = name_row(p, t->table, &row);
	if (r < 0)
		return r;
	*row_id(&row, row_field(t->table, FIELD_PROCESS)) = p->process;
	if (!table->key_size)
		return session_table_add(d->s, t->table, &row);
	known = session_table_row(d->s, t->table, &row);
	if (!known)
		return -ENOMEM;
	memcpy(known, &row, table->row_size);
	return 0;
}

int decode_device(struct wire_decoder *d, struct peer *p, const void *entry)
{
	const struct wire_device *w = entry;
	const struct session_device s = {
		.type = idmap_get(&p->strings, w->type),
		.name = idmap_get(&p->strings, w->name),
		.arch = idmap_get(&p->strings, w->arch),
		.uuid = idmap_get(&p->strings, w->uuid),
		.driver = idmap_get(&p->strings, w->driver),
		.host = d->s->processes[p->process].host,
		.index = w->index,
		.num_sms = w->num_sms,
		.clock_khz = w->clock_khz,
		.memory_clock_khz = w->memory_clock_khz,
		.bus_width_bits = w->bus_width_bits,
		.memory_bytes = w->memory_bytes,
	};
	uint32_t id, before = idmap_get(&p->devices, w->id);

	if (s.type == SESSION_NONE || s.name == SESSION_NONE || s.arch == SESSION_NONE ||
	    s.uuid == SESSION_NONE || s.driver == SESSION_NONE)
		return -EBADMSG;
	id = session_device_intern(d->s, &s);
	if (id == SESSION_NONE)
		return -ENOMEM;
	if (before != SESSION_NONE && before != id) {
		d->n_moved_lanes += d->s->n_lanes;
		if (p->n_moves++ >= MOVES_MAX || d->n_moved_lanes > MOVED_LANES_MAX)
			return -EBADMSG;
		session_lanes_move(d->s, p->process, before, id);
	}
	return idmap_set(&p->devices, w->id, id);
}

struct wire_clock *decode_clock(struct peer *p, uint32_t name)
{
	unsigned i;

	for (i = 0; i < p->n_clocks; i++)
		if (p->clocks[i].name == name)
			return &p->clocks[i];
	return NULL;
}

/* A pair that was known already (a resync) says nothing new. */
int decode_clock_pair(struct wire_decoder *d, struct peer *p, const void *entry)
{
	const struct wire_clock *w = entry;
	const struct session_clock c = {p->process, idmap_get(&p->strings, w->name),
					w->monotonic_ns + d->shift_ns, w->clock_ns};
	struct wire_clock *known = decode_clock(p, w->name);

	if (c.name == SESSION_NONE)
		return -EBADMSG;
	if (known && known->monotonic_ns == w->monotonic_ns && known->clock_ns == w->clock_ns)
		return 0;
	if (!known && p->n_clocks == CLOCKS_MAX)
		return -EBADMSG;
	*(known ? known : &p->clocks[p->n_clocks++]) = *w;
	return session_clock_add(d->s, &c);
}

/* What only a newer version counts is a loss all the same. Its number grows from tick to tick, and a
 * note stays as it is: that has none. */
static int note_newer_losses(struct wire_decoder *d, const uint64_t *losses, uint32_t n)
{
	for (uint32_t i = LOSS_N; i < n; i++)
		if (losses[i])
			return session_note(d->s, SESSION_NONE, NOTE_WARNING,
					    LOSS_NEWER "of further kinds");
	return 0;
}

int decode_tick(struct wire_decoder *d, struct peer *p, const struct message *m)
{
	const struct wire_tick *t = (const void *)m->payload;
	const uint64_t *losses = (const void *)(t + 1);
	struct session_process *q = &d->s->processes[p->process];

	if (t->n_losses > (m->size - sizeof(*t)) / sizeof(uint64_t))
		return -EBADMSG;
	q->n_launches = t->n_launches;
	q->n_records = t->n_records;
	q->oldest_ns = t->oldest_ns;
	q->own_cpu_ns = t->own_cpu_ns;
	q->own_bytes = t->own_bytes;
	q->buffer_bytes = t->buffer_bytes;
	q->launches_counted = t->flags & WIRE_TICK_COUNTED;
	q->paused = t->flags & WIRE_TICK_PAUSED;
	memcpy(q->losses, losses, MIN(t->n_losses, (uint32_t)LOSS_N) * sizeof(*losses));
	d->s->generation++;
	return note_newer_losses(d, losses, t->n_losses);
}

int decode_note(struct wire_decoder *d, struct peer *p, const void *entry)
{
	const struct wire_note *w = entry;
	uint32_t text = idmap_get(&p->strings, w->text);

	if (text == SESSION_NONE || w->level > NOTE_ERROR)
		return -EBADMSG;
	return session_note(d->s, p->process, (enum note_level)w->level,
			    strtab_str(d->s->strings, text));
}

int decode_sample(struct wire_decoder *d, struct peer *p, const void *entry)
{
	const struct wire_sample *w = entry;
	const struct session_sample s = {w->time_ns + d->shift_ns,
					 idmap_get(&p->devices, w->device),
					 idmap_get(&p->metrics, w->metric), w->value, p->process};

	if (s.device == SESSION_NONE || s.metric == SESSION_NONE)
		return -EBADMSG;
	return session_sample_add(d->s, &s);
}

/* n numbers of a device's use from `first` on. A part that is larger than its whole says nothing. */
static int use_put(struct wire_decoder *d, struct peer *p, uint32_t id, unsigned first,
		   const uint64_t *v, unsigned n)
{
	uint32_t device = idmap_get(&p->devices, id);
	struct session_use *use;

	if (device == SESSION_NONE)
		return -EBADMSG;
	for (unsigned i = 0; i < n; i++) {
		unsigned whole = use_at_most[first + i] - first; /* before `first`: it is large */

		if (whole < n && v[i] > v[whole])
			return -EBADMSG;
	}
	use = session_use_of(d->s, p->process, device);
	if (!use)
		return -ENOMEM;
	memcpy(use->v + first, v, n * sizeof(*v));
	return 0;
}

/* More of them are from the future. */
static int usage_one(struct wire_decoder *d, struct peer *p, const void *entry)
{
	const struct wire_usage *w = entry;

	return use_put(d, p, w->device, 0, (const void *)(w + 1), MIN(w->n, USE_N));
}

int decode_usage(struct wire_decoder *d, struct peer *p, const struct message *m)
{
	static const struct many usages = MANY(wire_usage, uint64_t, UINT32_MAX, usage_one);

	return decode_many(d, p, m, &usages);
}

int decode_use(struct wire_decoder *d, struct peer *p, const void *entry)
{
	const struct wire_use *w = entry;

	return use_put(d, p, w->device, USE_busy_ns, &w->busy_ns, 1);
}

int decode_overlap(struct wire_decoder *d, struct peer *p, const void *entry)
{
	const struct wire_overlap *w = entry;
	const uint64_t v[] = {w->copies_ns, w->hidden_ns};

	return use_put(d, p, w->device, USE_copies_ns, v, ARRAY_SIZE(v));
}

int decode_worked(struct wire_decoder *d, struct peer *p, const void *entry)
{
	const struct wire_worked *w = entry;
	const uint64_t v[] = {w->first_ns, w->last_ns};

	return use_put(d, p, w->device, USE_first_ns, v, ARRAY_SIZE(v));
}

static int copy_lane_one(struct wire_decoder *d, struct peer *p, const void *entry)
{
	const struct wire_copy_lane *w = entry;
	const struct session_copy_lane of = {.process = p->process,
					     .device = idmap_get(&p->devices, w->device),
					     .context = w->context,
					     .stream = w->stream,
					     .channel = w->channel,
					     .direction = w->direction,
					     .channel_kind = w->channel_kind};
	struct session_copy_lane *lane;

	if (of.device == SESSION_NONE || of.direction >= COPY_N_DIRECTIONS ||
	    of.channel_kind >= CHANNEL_N_KINDS)
		return -EBADMSG;
	lane = session_copy_lane_of(d->s, &of);
	if (!lane)
		return -ENOMEM;
	memcpy(lane->v, w + 1, MIN(w->n, COPY_LANE_N) * sizeof(*lane->v));
	return 0;
}

int decode_copy_lanes(struct wire_decoder *d, struct peer *p, const struct message *m)
{
	static const struct many lanes = MANY(wire_copy_lane, uint64_t, UINT32_MAX, copy_lane_one);

	return decode_many(d, p, m, &lanes);
}

int decode_unrecorded(struct wire_decoder *d, struct peer *p, const void *entry)
{
	const struct wire_unrecorded *w = entry;
	const struct session_unrecorded span = {
		.process = p->process,
		.number = w->number,
		.reason = w->reason < UNRECORDED_N ? (uint8_t)w->reason : UNRECORDED_UNKNOWN,
		.start_ns = w->start_ns ? w->start_ns + d->shift_ns : 0,
		.end_ns = w->end_ns ? w->end_ns + d->shift_ns : 0,
	};
	int r = session_unrecorded_set(d->s, &span);

	return r == -EINVAL ? -EBADMSG : r;
}
