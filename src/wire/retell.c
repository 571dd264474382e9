/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "wire/retell.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"
#include "wire/encode.h"
#include "wire/told_rows.h"
#include "wire/wire.h"

/* Strings of the stream that are none of the session: names of metrics, and of frames that have parts of one. */
#define METRIC_STRINGS UINT32_C(0x40000000)

/* What is defined on the way, before it is named: a byte an id. */
enum table { STRINGS, FRAMES, NODES, LANES, METRICS, SETS, EPOCHS, DEVICES, MODULES, N_TABLES };

struct retold {
	const struct session *s;
	const struct session_process *process;
	uint32_t index;
	struct wire_encoder e;
	uint8_t *told[N_TABLES];
	uint32_t n_nodes; /* of the stream: nodes with parts have one for each */
};

static int tables_init(struct retold *r)
{
	const struct session *s = r->s;
	const size_t n[N_TABLES] = {
		[STRINGS] = strtab_count(s->strings),
		[FRAMES] = s->n_frames,
		[NODES] = s->n_nodes,
		[LANES] = s->n_lanes,
		[METRICS] = metric_table_count(s->metrics),
		[SETS] = s->n_sets,
		[EPOCHS] = s->n_epochs,
		[DEVICES] = s->n_devices,
		[MODULES] = s->n_modules,
	};

	for (unsigned i = 0; i < N_TABLES; i++) {
		r->told[i] = calloc(n[i] + 1, 1);
		if (!r->told[i])
			return -ENOMEM;
	}
	r->told[NODES][SESSION_ROOT] = r->told[SETS][SET_KERNEL] = r->told[EPOCHS][0] = 1;
	r->told[STRINGS][0] = 1;
	r->n_nodes = (uint32_t)s->n_nodes;
	return 0;
}

/* Is it to be told now? Once each. */
static bool is_new(struct retold *r, enum table table, uint32_t id)
{
	bool told = r->told[table][id];

	r->told[table][id] = 1;
	return !told;
}

static void put(struct retold *r, enum wire_kind kind, const void *entry, size_t size)
{
	wire_put(&r->e, kind, entry, size);
}

/* ---- definitions ---- */

static uint32_t tell_string(struct retold *r, uint32_t id)
{
	if (is_new(r, STRINGS, id))
		wire_encode_text(&r->e, id, strtab_str(r->s->strings, id),
				 (uint32_t)MIN(strtab_len(r->s->strings, id), WIRE_TEXT_MAX));
	return id;
}

static uint32_t tell_module(struct retold *r, uint32_t id)
{
	const struct session_module *m = &r->s->modules[id];
	struct wire_module_def w = {.id = id, .base = m->base, .size = m->size};

	if (!is_new(r, MODULES, id))
		return id;
	w.build_id = tell_string(r, m->build_id);
	w.path = tell_string(r, m->path);
	put(r, WIRE_MODULES, &w, sizeof(w));
	return id;
}

static void tell_symbol(struct retold *r, uint32_t id, const struct session_frame *f)
{
	const struct wire_symbol w = {id, tell_string(r, f->symbol), tell_string(r, f->file),
				      f->line};

	put(r, WIRE_SYMBOLS, &w, sizeof(w));
}

static uint32_t tell_frame(struct retold *r, uint32_t id)
{
	const struct session_frame *f = &r->s->frames[id];
	struct wire_frame_def w = {
		.id = id, .kind = f->kind, .module = WIRE_NONE, .offset = f->offset};

	if (!is_new(r, FRAMES, id))
		return id;
	w.string = tell_string(r, f->name);
	if (f->module != SESSION_NONE)
		w.module = tell_module(r, f->module);
	put(r, WIRE_FRAMES, &w, sizeof(w));
	if (f->symbol)
		tell_symbol(r, id, f);
	return id;
}

static void put_node(struct retold *r, uint32_t id, uint32_t node)
{
	const struct session_node *n = &r->s->nodes[node];
	const struct wire_node_def w = {id, n->parent, tell_frame(r, n->frame)};

	put(r, WIRE_NODES, &w, sizeof(w));
}

/* Parents are older, and have lower numbers: those that are to be told are marked, and told in their order. */
static void tell_nodes(struct retold *r, uint8_t *wanted)
{
	uint32_t n = (uint32_t)r->s->n_nodes;

	for (uint32_t i = n; i-- > 1;)
		if (wanted[i])
			wanted[r->s->nodes[i].parent] = 1;
	for (uint32_t i = 1; i < n; i++)
		if (wanted[i] && is_new(r, NODES, i))
			put_node(r, i, i);
}

static uint32_t tell_device(struct retold *r, uint32_t id)
{
	const struct session_device *d = id == SESSION_NONE ? NULL : &r->s->devices[id];
	struct wire_device w = {.id = id};

	if (!d || !is_new(r, DEVICES, id))
		return d ? id : WIRE_NONE;
	w.type = tell_string(r, d->type);
	w.name = tell_string(r, d->name);
	w.arch = tell_string(r, d->arch);
	w.uuid = tell_string(r, d->uuid);
	w.driver = tell_string(r, d->driver);
	w.index = d->index;
	w.num_sms = d->num_sms;
	w.clock_khz = d->clock_khz;
	w.memory_clock_khz = d->memory_clock_khz;
	w.bus_width_bits = d->bus_width_bits;
	w.memory_bytes = d->memory_bytes;
	put(r, WIRE_DEVICE, &w, sizeof(w));
	wire_encoder_flush(&r->e);
	return id;
}

/* Number 0 is "none" for each instance. */
static uint32_t tell_lane(struct retold *r, uint32_t id)
{
	const struct session_lane *l = &r->s->lanes[id];
	struct wire_lane_def w = {
		.id = id + 1, .context = l->context, .stream = l->stream, .thread = l->thread};

	if (!is_new(r, LANES, id))
		return w.id;
	w.device = tell_device(r, l->device);
	put(r, WIRE_LANES, &w, sizeof(w));
	return w.id;
}

static uint32_t tell_epoch(struct retold *r, uint32_t id)
{
	const struct session_epoch *e = &r->s->epochs[id];
	struct wire_epoch_def w = {.id = id, .index = e->index, .phase = e->phase};

	if (!is_new(r, EPOCHS, id))
		return id;
	w.name = tell_string(r, e->name);
	put(r, WIRE_EPOCHS, &w, sizeof(w));
	return id;
}

/* Metrics have texts, not strings. */
static uint32_t tell_text(struct retold *r, uint32_t id, const char *text)
{
	wire_encode_text(&r->e, id, text, (uint32_t)MIN(strlen(text), (size_t)WIRE_TEXT_MAX));
	return id;
}

static uint32_t tell_metric(struct retold *r, uint32_t id)
{
	const struct metric *m = metric_table_get(r->s->metrics, id);
	struct wire_metric_def w = {.id = id,
				    .type = m->type,
				    .scope = m->scope,
				    .add = metric_add_plain(m->add),
				    .rule = m->add,
				    .weight = WIRE_NONE};

	if (id < WIRE_N_METRICS || !is_new(r, METRICS, id))
		return id;
	if (m->weight != METRIC_NONE)
		w.weight = tell_metric(r, m->weight);
	w.name = tell_text(r, METRIC_STRINGS + 2 * id, m->name);
	w.unit = tell_text(r, METRIC_STRINGS + 2 * id + 1, m->unit);
	put(r, WIRE_METRICS, &w, sizeof(w));
	return id;
}

static uint32_t tell_set(struct retold *r, uint32_t id)
{
	const struct session_set *set = &r->s->sets[id];
	struct wire_set_def *w;
	uint32_t *metrics;

	if (!is_new(r, SETS, id))
		return id;
	for (uint32_t i = 0; i < set->n; i++)
		tell_metric(r, set->metrics[i]);
	w = wire_encode(&r->e, WIRE_SET, sizeof(*w) + set->n * sizeof(*metrics));
	if (!w)
		return id;
	*w = (struct wire_set_def){id, set->n};
	memcpy(w + 1, set->metrics, set->n * sizeof(*metrics));
	wire_encoder_flush(&r->e);
	return id;
}

/* ---- values ---- */

static bool is_ours(const struct retold *r, const struct session_row *row)
{
	return session_lane_at(r->s, row->lane)->process == r->index &&
	       r->s->sets[row->set].n <= 64;
}

static void tell_slots(struct retold *r)
{
	for (uint32_t i = 0; i < r->s->n_rows; i++) {
		const struct session_row *row = &r->s->rows[i];
		struct wire_slot_def w = {.id = i, .node = row->node};

		if (!is_ours(r, row))
			continue;
		w.lane = tell_lane(r, row->lane);
		w.epoch = tell_epoch(r, row->epoch);
		w.set = tell_set(r, row->set);
		put(r, WIRE_SLOTS, &w, sizeof(w));
	}
}

static void tell_texts(struct retold *r, const struct session_row *row)
{
	const struct session_set *set = &r->s->sets[row->set];

	for (uint32_t i = 0; i < set->n; i++)
		if (r->s->present[row->values + i] &&
		    metric_table_get(r->s->metrics, set->metrics[i])->type == METRIC_TEXT)
			tell_string(r, r->s->values[row->values + i].text);
}

static void put_values(struct retold *r, uint32_t id, const struct session_row *row)
{
	const struct session_set *set = &r->s->sets[row->set];
	struct wire_values *w =
		wire_encode(&r->e, WIRE_VALUES, sizeof(*w) + set->n * sizeof(uint64_t));
	uint64_t *values = (uint64_t *)(w + 1);

	if (!w)
		return;
	*w = (struct wire_values){.slot = id, .n = set->n};
	for (uint32_t i = 0; i < set->n; i++) {
		const union metric_value *v = &r->s->values[row->values + i];

		if (!r->s->present[row->values + i])
			continue;
		w->present |= UINT64_C(1) << i;
		values[i] = metric_table_get(r->s->metrics, set->metrics[i])->type == METRIC_TEXT
				    ? v->text
				    : v->u64;
	}
}

static void tell_values(struct retold *r)
{
	for (uint32_t i = 0; i < r->s->n_rows; i++) {
		if (!is_ours(r, &r->s->rows[i]))
			continue;
		tell_texts(r, &r->s->rows[i]);
		put_values(r, i, &r->s->rows[i]);
	}
}

/* ---- what else there is of it ---- */

static void put_octave(struct retold *r, uint32_t node, uint32_t device,
		       const struct hist_octave *o)
{
	struct wire_octave *w = wire_encode(&r->e, WIRE_OCTAVES, sizeof(*w) + sizeof(o->n));

	if (!w)
		return;
	*w = (struct wire_octave){node, device, (uint16_t)o->octave, 0, HIST_WIDTH};
	memcpy(w + 1, o->n, sizeof(o->n));
}

/* A part of a node's durations is told of a node of its own, which is the same to the reader. */
static void tell_hists(struct retold *r)
{
	for (size_t i = 0; i < r->s->n_hists; i++) {
		const struct session_hist *h = &r->s->hists[i];
		uint32_t node = h->node;

		if (h->process != r->index || h->device == SESSION_NONE)
			continue;
		tell_device(r, h->device);
		if (h->part && h->node != SESSION_ROOT)
			put_node(r, node = r->n_nodes++, h->node);
		for (size_t k = 0; k < h->hist.n; k++)
			put_octave(r, node, h->device, &h->hist.v[k]);
	}
}

/* What an id of the session is in the stream; it is told of first. */
static uint32_t (*const tell_id[FIELD_N])(struct retold *r, uint32_t id) = {
	[FIELD_STRING] = tell_string, [FIELD_LANE] = tell_lane,     [FIELD_EPOCH] = tell_epoch,
	[FIELD_DEVICE] = tell_device, [FIELD_METRIC] = tell_metric,
};

/* False: it is of no use without something that it has not. A part of a node's is told as that of its durations. */
static bool tell_ids(struct retold *r, enum table_id id, union any_row *row)
{
	const struct row_table *t = &row_tables[id];
	const struct field *part = row_field(id, FIELD_PART), *node = row_field(id, FIELD_NODE);

	for (size_t i = 0; i < t->n_fields; i++) {
		const struct field *f = &t->fields[i];

		if (f->flags & FIELD_NEEDED && *row_id(row, f) == SESSION_NONE)
			return false;
		if (tell_id[f->type] && *row_id(row, f) != SESSION_NONE)
			*row_id(row, f) = tell_id[f->type](r, *row_id(row, f));
	}
	if (part && *row_id(row, part) && *row_id(row, node) != SESSION_ROOT) {
		put_node(r, r->n_nodes, *row_id(row, node));
		*row_id(row, node) = r->n_nodes++;
	}
	return true;
}

static bool is_row_ours(const struct retold *r, enum table_id id, const void *row)
{
	return row_names(row, row_field(id, FIELD_PROCESS)) == r->index;
}

static void tell_rows(struct retold *r, enum wire_kind kind, const struct told_rows *t)
{
	unsigned char entry[WIRE_PAYLOAD_MAX];
	union any_row row;

	for (size_t i = 0; t->entry && i < r->s->tables[t->table].n; i++) {
		const void *of = row_at(r->s, t->table, i);

		if (!is_row_ours(r, t->table, of))
			continue;
		memcpy(&row, of, row_tables[t->table].row_size);
		if (!tell_ids(r, t->table, &row))
			continue;
		told_entry(t, &row, entry);
		put(r, kind, entry, t->entry);
	}
}

static void tell_tables(struct retold *r)
{
	for (unsigned kind = 0; kind < WIRE_N_KINDS; kind++)
		tell_rows(r, (enum wire_kind)kind, &told_rows[kind]);
}

static void tell_uses(struct retold *r)
{
	for (size_t i = 0; i < r->s->n_uses; i++) {
		const struct session_use *u = &r->s->uses[i];
		const struct wire_usage w = {u->device, USE_N};

		if (u->process != r->index || u->device == SESSION_NONE)
			continue;
		tell_device(r, u->device);
		wire_put_numbers(&r->e, WIRE_USAGE, &w, sizeof(w), u->v, w.n);
	}
}

static void tell_copy_lanes(struct retold *r)
{
	for (size_t i = 0; i < r->s->n_copy_lanes; i++) {
		const struct session_copy_lane *l = &r->s->copy_lanes[i];
		const struct wire_copy_lane w = {.device = l->device,
						 .n = COPY_LANE_N,
						 .context = l->context,
						 .stream = l->stream,
						 .channel = l->channel,
						 .direction = l->direction,
						 .channel_kind = l->channel_kind};

		if (l->process != r->index || l->device == SESSION_NONE)
			continue;
		tell_device(r, l->device);
		wire_put_numbers(&r->e, WIRE_COPY_LANES, &w, sizeof(w), l->v, w.n);
	}
}

static void tell_unrecorded(struct retold *r)
{
	for (size_t i = 0; i < r->s->n_unrecorded; i++) {
		const struct session_unrecorded *u = &r->s->unrecorded[i];
		const struct wire_unrecorded w = {u->start_ns, u->end_ns, u->number, u->reason};

		if (u->process == r->index)
			put(r, WIRE_UNRECORDED, &w, sizeof(w));
	}
}

static void tell_notes(struct retold *r)
{
	for (size_t i = 0; i < r->s->n_notes; i++) {
		const struct session_note *note = &r->s->notes[i];
		struct wire_note w = {.level = note->level};

		if (note->process != r->index)
			continue;
		w.text = tell_string(r, note->text);
		put(r, WIRE_NOTE, &w, sizeof(w));
	}
}

static uint64_t count_intervals(const struct retold *r)
{
	uint64_t n = 0;

	for (size_t i = 0; i < r->s->n_intervals; i++)
		n += session_lane_at(r->s, r->s->intervals[i].lane)->process == r->index;
	return n;
}

static void tell_tick(struct retold *r)
{
	const struct session_process *p = r->process;
	struct wire_tick *w = wire_encode(&r->e, WIRE_TICK, sizeof(*w) + sizeof(p->losses));
	uint64_t *losses = (uint64_t *)(w + 1);

	if (!w)
		return;
	*w = (struct wire_tick){.n_launches = p->n_launches,
				.n_records = p->n_records,
				.oldest_ns = p->oldest_ns,
				.own_cpu_ns = p->own_cpu_ns,
				.own_bytes = p->own_bytes,
				.buffer_bytes = p->buffer_bytes,
				.flags = p->launches_counted ? WIRE_TICK_COUNTED : 0,
				.n_losses = LOSS_N};
	memcpy(losses, p->losses, sizeof(p->losses));
	losses[LOSS_TRACE_UNREAD] += count_intervals(r);
	wire_encoder_flush(&r->e);
}

static void tell_hello(struct retold *r)
{
	const struct session_process *p = r->process;
	const struct wire_hello w = {.version = WIRE_VERSION,
				     .pid = p->pid,
				     .ppid = p->ppid,
				     .rank = p->rank,
				     .exe = p->exe,
				     .cmdline = p->cmdline,
				     .host = p->host,
				     .flags = WIRE_HELLO_RETOLD,
				     .start_ns = p->start_ns};

	put(r, WIRE_HELLO, &w, sizeof(w));
	wire_encoder_flush(&r->e);
	tell_string(r, p->exe);
	tell_string(r, p->cmdline);
	tell_string(r, p->host);
}

static void want_nodes(const struct retold *r, const struct told_rows *t, uint8_t *wanted)
{
	const struct field *node = row_field(t->table, FIELD_NODE);

	for (size_t i = 0; t->entry && node && i < r->s->tables[t->table].n; i++) {
		const void *row = row_at(r->s, t->table, i);

		if (is_row_ours(r, t->table, row))
			wanted[row_names(row, node)] = 1;
	}
}

static int tell_tree(struct retold *r)
{
	_cleanup_(freep) uint8_t *wanted = calloc(r->s->n_nodes + 1, 1);

	if (!wanted)
		return -ENOMEM;
	for (size_t i = 0; i < r->s->n_rows; i++)
		if (is_ours(r, &r->s->rows[i]))
			wanted[r->s->rows[i].node] = 1;
	for (size_t i = 0; i < r->s->n_hists; i++)
		if (r->s->hists[i].process == r->index)
			wanted[r->s->hists[i].node] = 1;
	for (unsigned kind = 0; kind < WIRE_N_KINDS; kind++)
		want_nodes(r, &told_rows[kind], wanted);
	tell_nodes(r, wanted);
	return 0;
}

static int tell_all(struct retold *r)
{
	const struct wire_bye bye = {.reason = WIRE_BYE_EXIT};
	int e;

	tell_hello(r);
	e = tell_tree(r);
	if (e < 0)
		return e;
	tell_slots(r);
	tell_values(r);
	tell_hists(r);
	tell_tables(r);
	tell_uses(r);
	tell_copy_lanes(r);
	tell_unrecorded(r);
	tell_notes(r);
	tell_tick(r);
	if (r->process->end == PROCESS_ENDED)
		put(r, WIRE_BYE, &bye, sizeof(bye));
	return wire_encoder_flush(&r->e);
}

int wire_retell(const struct session *s, uint32_t process,
		int (*emit)(void *arg, const void *frame, size_t n), void *arg)
{
	struct retold r = {.s = s, .process = &s->processes[process], .index = process};
	int e;

	wire_encoder_init(&r.e, r.process->instance, emit, arg);
	e = tables_init(&r);
	if (e == 0)
		e = tell_all(&r);
	for (unsigned i = 0; i < N_TABLES; i++)
		free(r.told[i]);
	return e;
}
