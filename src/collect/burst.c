/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/burst.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/log.h"
#include "base/util.h"
#include "collect/asks.h"
#include "collect/epochs.h"
#include "collect/host_clock.h"
#include "collect/internal.h"
#include "collect/launch_configs.h"
#include "collect/late_values.h"
#include "collect/levels.h"
#include "collect/outlet.h"
#include "collect/periods.h"
#include "collect/session_table.h"
#include "collect/slots.h"
#include "collect/steps.h"
#include "collect/unrecorded.h"
#include "wire/encode.h"

enum {
	N_HISTORY = 128,
	STUCK_MAX = 20,  /* periods to wait for an entry that a thread is still filling */
	BATCH = 100,     /* slots whose values go out together */
	HIST_EVERY = 10, /* periods */
};

static struct burst {
	struct wire_encoder encoder;
	bool hello;
	uint32_t strings, modules, frames, nodes, lanes, sets, metrics, notes; /* sent so far */
	uint32_t epoch_sent[MAX_EPOCHS]; /* version of each; 0: none */
	struct epoch_copy {
		uint32_t version, n;
		struct epoch_member members[MAX_LIVE_SESSIONS];
	} epoch[MAX_EPOCHS]; /* those that changed, as they were when the limits were read */
	bool epochs_unread;  /* … which was not possible */
	struct ask_due ask[MAX_ASKS];
	uint32_t n_asks;
	struct {
		uint8_t now,
			sent; /* state when the limits were read, as it was sent; + 1, 0: neither */
		uint32_t number, number_sent; /* of which one */
	} session[MAX_SESSIONS];
	uint32_t stuck, devices; /* periods; that the reader knows */
	struct {
		struct wire_device wire;
		uint32_t version;
	} device[MAX_DEVICES];         /* as they were when the limits were read */
	uint32_t reset, flush, resync; /* last seen request counters */
	uint64_t slot_sent[MAX_SLOTS / 64];
	uint64_t slot_known[MAX_SLOTS / 64]; /* sent at any time: a resync does not change it */
	uint64_t idle[MAX_SLOTS / 64]; /* slots whose values became another's: they say nothing */
	struct {
		uint64_t time_ns, n_launches;
	} history[N_HISTORY];
	uint32_t n_history, period;
	bool blocked; /* the pipe was full in this burst */
	bool held;    /* values stayed that the reader cannot know yet */
} burst;

/* ---- definitions ---- */

/* What is sent names only what was sent before it: the reader gives up on what it does not know, and on
 * all that names that. So limits are read from those that name to those that are named, and where an
 * entry is still being filled, nothing behind it is sent either.
 *
 * Not for ever: after STUCK_MAX periods such an entry is left out, and all from there on is sent anew
 * with each burst until it is there. */

/* Frames of one kind, as many entries as fit one frame at a time: what was sent is remembered only
 * when the whole frame went out. fill() fills one entry. */
struct section {
	enum wire_kind kind;
	size_t entry_size;
	_Atomic uint8_t *(*state)(uint32_t id);
	void (*fill)(uint32_t id, void *entry);
};

static int section_send(struct burst *s, const struct section *k, uint32_t *sent, uint32_t limit)
{
	const uint32_t room = (uint32_t)(WIRE_PAYLOAD_MAX / k->entry_size);
	uint32_t id = *sent, left_out = UINT32_MAX, in_frame = 0;
	uint8_t state;
	void *entry;

	for (; id < limit && s->encoder.error == 0; id++) {
		state = atomic_load_explicit(k->state(id), memory_order_acquire);
		if (state == ENTRY_EMPTY && s->stuck < STUCK_MAX)
			break;
		if (state == ENTRY_EMPTY)
			left_out = MIN(left_out, id);
		if (state != ENTRY_READY)
			continue;
		entry = wire_encode(&s->encoder, k->kind, k->entry_size);
		if (!entry)
			break;
		k->fill(id, entry);
		if (++in_frame < room)
			continue;
		if (wire_encoder_flush(&s->encoder) == 0)
			*sent = MIN(left_out, id + 1);
		in_frame = 0;
	}
	if (wire_encoder_flush(&s->encoder) < 0)
		return s->encoder.error;
	*sent = MIN(left_out, id);
	return id < limit ? -EINPROGRESS : 0;
}

#define STATE_OF(entry)                                                                            \
	static _Atomic uint8_t *entry##_state(uint32_t id)                                         \
	{                                                                                          \
		return &collector->entry[id].state;                                                \
	}
STATE_OF(module)
STATE_OF(frame)
STATE_OF(node)
STATE_OF(metric)
STATE_OF(set)
STATE_OF(device)
STATE_OF(note)

static void frame_fill(uint32_t id, void *entry)
{
	const struct frame_entry *e = &collector->frame[id];

	*(struct wire_frame_def *)entry = (struct wire_frame_def){
		.id = id, .kind = (uint8_t)e->kind, .string = e->string, .module = WIRE_NONE};
	if (e->module != WIRE_NONE)
		*(struct wire_frame_def *)entry =
			(struct wire_frame_def){.id = id,
						.kind = (uint8_t)e->kind,
						.module = e->module,
						.offset = (uint64_t)e->string << 32 | e->offset};
}

static void module_fill(uint32_t id, void *entry)
{
	const struct module_entry *e = &collector->module[id];

	*(struct wire_module_def *)entry =
		(struct wire_module_def){.id = id, .build_id = e->build_id, .path = e->path};
}

static void node_fill(uint32_t id, void *entry)
{
	const struct node_entry *e = &collector->node[id];

	*(struct wire_node_def *)entry = (struct wire_node_def){id, e->parent, e->frame};
}

/* Another device may have been claimed before that of the lane, and is not filled yet. */
static _Atomic uint8_t *lane_state(uint32_t id)
{
	static _Atomic uint8_t not_yet = ENTRY_EMPTY;
	const struct lane_entry *e = &collector->lane[id];

	if (atomic_load_explicit(&e->state, memory_order_acquire) == ENTRY_READY &&
	    e->device != WIRE_NONE && e->device >= burst.devices)
		return &not_yet;
	return &collector->lane[id].state;
}

static void lane_fill(uint32_t id, void *entry)
{
	const struct lane_entry *e = &collector->lane[id];

	*(struct wire_lane_def *)entry =
		(struct wire_lane_def){id, e->device, e->context, e->stream, e->thread};
}

static void metric_fill(uint32_t id, void *entry)
{
	const struct metric_entry *e = &collector->metric[id];

	*(struct wire_metric_def *)entry =
		(struct wire_metric_def){.id = id,
					 .name = e->name,
					 .unit = e->unit,
					 .type = e->type,
					 .scope = e->scope,
					 .add = metric_add_plain(e->add),
					 .rule = e->add,
					 .weight = e->weight ? e->weight - 1u : WIRE_NONE};
}

static void note_fill(uint32_t id, void *entry)
{
	const struct note_entry *e = &collector->note[id];

	*(struct wire_note *)entry = (struct wire_note){e->text, e->level};
}

static const struct section
	modules_section = {WIRE_MODULES, sizeof(struct wire_module_def), module_state, module_fill},
	frames_section = {WIRE_FRAMES, sizeof(struct wire_frame_def), frame_state, frame_fill},
	nodes_section = {WIRE_NODES, sizeof(struct wire_node_def), node_state, node_fill},
	lanes_section = {WIRE_LANES, sizeof(struct wire_lane_def), lane_state, lane_fill},
	metrics_section = {WIRE_METRICS, sizeof(struct wire_metric_def), metric_state, metric_fill},
	notes_section = {WIRE_NOTE, sizeof(struct wire_note), note_state, note_fill};

static int strings_send(struct burst *s, uint32_t limit)
{
	uint32_t id = s->strings, left_out = UINT32_MAX;
	const struct string_entry *e;
	uint8_t state;
	int r = 0;

	for (; id < limit && r == 0; id += r == 0) {
		e = &collector->string[id];
		state = atomic_load_explicit(&e->state, memory_order_acquire);
		if (state == ENTRY_EMPTY && s->stuck < STUCK_MAX)
			r = -EINPROGRESS;
		else if (state == ENTRY_EMPTY)
			left_out = MIN(left_out, id);
		else if (state == ENTRY_READY && id)
			r = wire_encode_text(&s->encoder, id, e->s, e->len);
	}
	s->strings = MIN(left_out, id);
	return r;
}

static bool set_is_due(const struct burst *s, const struct set_entry *e)
{
	for (uint32_t i = 0; i < e->n; i++)
		if (e->metrics[i] >= s->metrics)
			return false;
	return true;
}

static int sets_send(struct burst *s, uint32_t limit)
{
	const struct set_entry *e;
	struct wire_set_def *w;
	uint32_t *metrics, i;

	for (; s->sets < limit; s->sets++) {
		e = &collector->set[s->sets];
		if (s->sets == SET_ID_KERNEL)
			continue;
		if (!set_is_due(s, e))
			return s->stuck < STUCK_MAX ? -EINPROGRESS : 0;
		w = wire_encode(&s->encoder, WIRE_SET, sizeof(*w) + e->n * sizeof(*metrics));
		if (!w)
			return s->encoder.error;
		w->id = s->sets;
		w->n = e->n;
		metrics = (uint32_t *)(w + 1);
		for (i = 0; i < e->n; i++)
			metrics[i] = e->metrics[i];
		if (wire_encoder_flush(&s->encoder) < 0)
			return s->encoder.error;
	}
	return 0;
}

static int devices_send(struct burst *s, uint32_t limit)
{
	uint32_t i;

	for (i = 0; i < limit; i++) {
		if (collector->device[i].sent == s->device[i].version)
			continue;
		wire_put(&s->encoder, WIRE_DEVICE, &s->device[i].wire, sizeof(s->device[i].wire));
		if (wire_encoder_flush(&s->encoder) < 0)
			return s->encoder.error;
		collector->device[i].sent = s->device[i].version;
	}
	s->devices = limit;
	return 0;
}

/* ---- sessions of the program ---- */

/* Nobody takes its place while it is held. It may have been taken before: then there is nothing to tell of it. */
static bool session_hold(const struct burst *s, uint32_t id)
{
	struct session_entry *e = &collector->session[id];

	atomic_store(&e->is_held, true);
	if (atomic_load(&e->number) == s->session[id].number)
		return true;
	atomic_store(&e->is_held, false);
	return false;
}

static void session_encode(struct burst *s, uint32_t id, uint8_t state, bool with_name)
{
	const struct session_entry *e = &collector->session[id];
	const struct wire_session w = {.id = id,
				       .state = state,
				       .name = WIRE_STRING_SESSION | id,
				       .context = e->context,
				       .device_type = e->device_type,
				       .format = atomic_load(&e->format)};

	if (with_name)
		wire_encode_text(&s->encoder, w.name, e->name, (uint32_t)strlen(e->name));
	wire_put(&s->encoder, WIRE_SESSIONS, &w, sizeof(w));
}

/* Of a finalized one only when all of it was sent. */
static int session_send(struct burst *s, uint32_t id, uint8_t state)
{
	bool is_new = !s->session[id].sent || s->session[id].number_sent != s->session[id].number;

	if ((s->session[id].sent == state + 1 && !is_new) || !session_hold(s, id))
		return 0;
	session_encode(s, id, state, is_new);
	/* Before it is sent: who reads it may answer, and its place is free. */
	atomic_store(&collector->session[id].is_held, false);
	if (wire_encoder_flush(&s->encoder) < 0)
		return s->encoder.error;
	s->session[id].sent = (uint8_t)(state + 1);
	s->session[id].number_sent = s->session[id].number;
	return 0;
}

/* Where one has just taken another's place, it is told next time. */
static void session_read(struct burst *s, uint32_t id)
{
	const struct session_entry *e = &collector->session[id];
	uint32_t number = atomic_load(&e->number), state = atomic_load(&e->state);

	if (number != atomic_load(&e->number))
		state = WIRE_SESSION_GONE;
	s->session[id].now = (uint8_t)(state + 1);
	s->session[id].number = number;
}

/* What they were when the limits were read: before its values are sent nobody is told of an end. */
static void sessions_read(struct burst *s)
{
	uint32_t i, n = atomic_load_explicit(&collector->n_sessions, memory_order_acquire);

	for (i = 0; i < n; i++)
		session_read(s, i);
}

/* One that came after that is no more than there. */
static void session_read_late(struct burst *s, uint32_t id)
{
	session_read(s, id);
	if (s->session[id].now != WIRE_SESSION_GONE + 1)
		s->session[id].now = WIRE_SESSION_INACTIVE + 1;
}

static int sessions_define(struct burst *s, uint32_t limit)
{
	int r = 0;

	for (uint32_t i = 0; i < limit && r == 0; i++) {
		unsigned state;

		if (!s->session[i].now)
			session_read_late(s, i);
		state = s->session[i].now - 1u;
		if (state <= WIRE_SESSION_ACTIVE)
			r = session_send(s, i, (uint8_t)state);
		else if (state == WIRE_SESSION_FINALIZED && !s->session[i].sent)
			r = session_send(s, i, WIRE_SESSION_INACTIVE);
		else if (state == WIRE_SESSION_GONE)
			s->session[i].sent = s->session[i].now;
	}
	return r;
}

static int sessions_finalize(struct burst *s, uint32_t limit)
{
	int r = 0;

	for (uint32_t i = 0; i < limit && r == 0; i++)
		if (s->session[i].now == WIRE_SESSION_FINALIZED + 1)
			r = session_send(s, i, WIRE_SESSION_FINALIZED);
	return r;
}

/* Epochs that are not as they were sent. Nobody is waited for who is at it: what is not read stays for the next
 * burst, with all that needs it. */
static void epochs_read(struct burst *s)
{
	uint32_t i, n;

	s->epochs_unread = !sessions_try_lock();
	if (s->epochs_unread)
		return;
	n = atomic_load_explicit(&collector->n_epochs, memory_order_acquire);
	for (i = 1; i < n; i++) {
		const struct epoch_entry *e = &collector->epochs[i];

		if (e->version == s->epoch_sent[i])
			continue;
		s->epoch[i].version = e->version;
		s->epoch[i].n = e->n;
		memcpy(s->epoch[i].members, e->members, e->n * sizeof(*e->members));
	}
	sessions_unlock();
}

/* One that is told again is in nothing but what is told with it. A session that took a place after the sessions were read
 * is in it next time. */
static int epoch_send(struct burst *s, uint32_t id)
{
	const struct epoch_copy *e = &s->epoch[id];
	const struct wire_epoch_def w = {.id = id, .index = id};
	int r = wire_put(&s->encoder, WIRE_EPOCHS, &w, sizeof(w));
	bool is_whole = true;

	for (uint32_t i = 0; i < e->n && r == 0; i++) {
		const struct wire_phase m = {id, e->members[i].session, e->members[i].phase, 0};

		if (s->session[m.session].now == WIRE_SESSION_GONE + 1)
			is_whole = false;
		else
			r = wire_put(&s->encoder, WIRE_PHASES, &m, sizeof(m));
	}
	r = r ? r : wire_encoder_flush(&s->encoder);
	if (r == 0 && is_whole)
		s->epoch_sent[id] = e->version;
	return r;
}

static int epochs_send(struct burst *s, uint32_t limit)
{
	int r = 0;

	for (uint32_t i = 1; i < limit && r == 0; i++)
		if (s->epoch[i].version != s->epoch_sent[i])
			r = epoch_send(s, i);
	return r;
}

static int asks_send(struct burst *s)
{
	int r = 0;

	for (uint32_t i = 0; i < s->n_asks && r == 0; i++) {
		const struct ask_due *a = &s->ask[i];
		const struct wire_ask w = {.id = a->id,
					   .what = a->ask.what,
					   .session = a->ask.session,
					   .phase = a->ask.phase,
					   .format = a->ask.format};

		r = wire_put(&s->encoder, WIRE_ASK, &w, sizeof(w));
		r = r ? r : wire_encoder_flush(&s->encoder);
		if (r == 0)
			ask_sent(a);
	}
	return r;
}

/* How many entries of a small table are in use. */
static uint32_t small_n(_Atomic uint8_t *(*state)(uint32_t), uint32_t max)
{
	uint32_t n = 0;

	while (n < max && atomic_load_explicit(state(n), memory_order_acquire) == ENTRY_READY)
		n++;
	return n;
}

/* What is known of a device may be under way from the backend: all that it names is defined before the
 * limit of strings is read, and with the rest there comes another version. */
static void device_read(struct burst *s, uint32_t id)
{
	const struct device_entry *d = &collector->device[id];

	s->device[id].version = atomic_load(&d->version);
	s->device[id].wire = (struct wire_device){.id = id,
						  .type = d->type,
						  .name = d->name,
						  .arch = d->arch,
						  .uuid = d->uuid,
						  .driver = d->driver,
						  .index = d->index,
						  .num_sms = d->num_sms,
						  .clock_khz = d->clock_khz,
						  .memory_clock_khz = d->memory_clock_khz,
						  .bus_width_bits = d->bus_width_bits,
						  .memory_bytes = d->memory_bytes};
}

struct limits {
	uint32_t slots, epochs, sessions, hists, configs, notes, devices, sets, metrics, lanes,
		nodes, frames, modules, strings;
};

static struct limits limits_read(struct burst *s)
{
	struct limits l;
	uint32_t i;

	l.hists = table_n(&collector->hists);
	l.configs = table_n(&collector->configs);
	l.slots = table_n(&collector->slots);
	epochs_read(s);
	l.epochs = atomic_load_explicit(&collector->n_epochs, memory_order_acquire);
	l.sessions = atomic_load_explicit(&collector->n_sessions, memory_order_acquire);
	l.notes = small_n(note_state, MAX_NOTES);
	l.sets = small_n(set_state, MAX_SETS);
	l.metrics = small_n(metric_state, MAX_METRICS);
	l.lanes = table_n(&collector->lanes);
	l.devices = small_n(device_state, MAX_DEVICES);
	for (i = 0; i < l.devices; i++)
		device_read(s, i);
	l.nodes = table_n(&collector->nodes);
	l.frames = table_n(&collector->frames);
	l.modules = table_n(&collector->modules);
	l.strings = table_n(&collector->strings);
	return l;
}

static int hello_send(struct burst *s)
{
	if (s->hello)
		return 0;

	const struct wire_hello w = {.version = WIRE_VERSION,
				     .pid = (uint32_t)getpid(),
				     .ppid = (uint32_t)getppid(),
				     .rank = collector->rank,
				     .exe = collector->exe,
				     .cmdline = collector->cmdline,
				     .host = collector->host,
				     .start_ns = collector->start_ns};

	wire_put(&s->encoder, WIRE_HELLO, &w, sizeof(w));
	if (wire_encoder_flush(&s->encoder) < 0)
		return s->encoder.error;
	s->hello = true;
	return 0;
}

static int definitions_send(struct burst *s, const struct limits *l)
{
	int r = hello_send(s);

	r = r ? r : strings_send(s, l->strings);
	r = r ? r : section_send(s, &modules_section, &s->modules, l->modules);
	r = r ? r : section_send(s, &frames_section, &s->frames, l->frames);
	if (s->nodes == 0)
		s->nodes = 1; /* the root is known */
	r = r ? r : section_send(s, &nodes_section, &s->nodes, l->nodes);
	r = r ? r : devices_send(s, l->devices);
	if (s->lanes == 0)
		s->lanes = 1;
	r = r ? r : section_send(s, &lanes_section, &s->lanes, l->lanes);
	if (s->metrics < WIRE_N_METRICS)
		s->metrics = WIRE_N_METRICS; /* known too */
	r = r ? r : section_send(s, &metrics_section, &s->metrics, l->metrics);
	r = r ? r : sets_send(s, l->sets);
	r = r ? r : sessions_define(s, l->sessions);
	r = r ? r : epochs_send(s, l->epochs);
	return r ? r : section_send(s, &notes_section, &s->notes, l->notes);
}

/* ---- values ---- */

static bool bit_is_set(const uint64_t *map, uint32_t i)
{
	return map[i / 64] >> (i % 64) & 1;
}

static int slot_define(struct burst *s, uint32_t id)
{
	const struct slot_entry *e = &collector->slot[id];
	const struct wire_slot_def w = {id, e->node, e->lane, e->epoch, e->set};

	if (bit_is_set(s->slot_sent, id))
		return 0;
	return wire_put(&s->encoder, WIRE_SLOTS, &w, sizeof(w));
}

static int slot_kernel(struct burst *s, uint32_t id)
{
	const _Atomic uint64_t *v = &collector->value[collector->slot[id].values];
	uint64_t min = atomic_load_explicit(&v[2], memory_order_relaxed);
	const struct wire_kernel_values w = {
		.slot = id,
		.time_ns = atomic_load_explicit(&v[0], memory_order_relaxed),
		.count = atomic_load_explicit(&v[1], memory_order_relaxed),
		.min_ns = min == UINT64_MAX ? 0 : min,
		.max_ns = atomic_load_explicit(&v[3], memory_order_relaxed)};

	return wire_put(&s->encoder, WIRE_KERNELS, &w, sizeof(w));
}

static int slot_values(struct burst *s, uint32_t id)
{
	const struct slot_entry *e = &collector->slot[id];
	uint32_t n = collector->set[e->set].n, i;
	struct wire_values *w;
	uint64_t *v;

	w = wire_encode(&s->encoder, WIRE_VALUES, sizeof(*w) + n * sizeof(*v));
	if (!w)
		return s->encoder.error;
	*w = (struct wire_values){id, n, (UINT64_C(1) << n) - 1};
	v = (uint64_t *)(w + 1);
	for (i = 0; i < n; i++) {
		v[i] = atomic_load_explicit(&collector->value[e->values + i], memory_order_relaxed);
		if (v[i] == UINT64_MAX && metric_is_shortest(collector->set[e->set].metrics[i]))
			v[i] = 0;
		if (v[i] == UINT64_MAX && metric_begins_absent(collector->set[e->set].metrics[i])) {
			v[i] = 0;
			w->present &= ~(UINT64_C(1) << i);
		}
		/* A set has no direction: absent is not "". */
		if (v[i] == 0 && collector->set[e->set].metrics[i] == METRIC_DIRECTION)
			w->present &= ~(UINT64_C(1) << i);
	}
	return 0;
}

/* Definitions first, then kernel values, then the others: three runs of frames. */
static int batch_encode(struct burst *s, const uint32_t *ids, uint32_t n)
{
	uint32_t i;
	int r = 0;

	for (i = 0; r == 0 && i < n; i++)
		r = slot_define(s, ids[i]);
	for (i = 0; r == 0 && i < n; i++)
		if (collector->slot[ids[i]].set == SET_ID_KERNEL)
			r = slot_kernel(s, ids[i]);
	for (i = 0; r == 0 && i < n; i++)
		if (collector->slot[ids[i]].set != SET_ID_KERNEL)
			r = slot_values(s, ids[i]);
	return r ? r : wire_encoder_flush(&s->encoder);
}

static void slot_is_sent(struct burst *s, uint32_t id)
{
	s->slot_sent[id / 64] |= UINT64_C(1) << (id % 64);
	s->slot_known[id / 64] |= UINT64_C(1) << (id % 64);
}

static int batch_send(struct burst *s, const uint32_t *ids, uint32_t n)
{
	int r = batch_encode(s, ids, n);
	uint32_t i;

	for (i = 0; i < n; i++) {
		if (r < 0) /* they stay in their slots and grow */
			bitmap_set(collector->dirty, ids[i]);
		else
			slot_is_sent(s, ids[i]);
	}
	return r;
}

/* Does the reader know what it names? Else it stays in its slot. */
static bool slot_is_due(struct burst *s, uint32_t id)
{
	const struct slot_entry *e = &collector->slot[id];

	if (e->set < s->sets && (!e->epoch || s->epoch_sent[e->epoch]) &&
	    *lane_state(e->lane) == ENTRY_READY)
		return true;
	bitmap_set(collector->dirty, id);
	s->held = true;
	return false;
}

static int values_send(struct burst *s, uint32_t limit)
{
	uint32_t ids[BATCH + 64], n = 0, word, n_words = (limit + 63) / 64;
	uint64_t bits, mine;
	int r = 0;

	for (word = 0; word < n_words && r == 0; word++) {
		if (!atomic_load_explicit(&collector->dirty[word], memory_order_relaxed))
			continue;
		mine = limit - word * 64 >= 64 ? UINT64_MAX : (UINT64_C(1) << (limit % 64)) - 1;
		bits = atomic_fetch_and_explicit(&collector->dirty[word], ~mine,
						 memory_order_acq_rel) &
		       mine;
		s->idle[word] &= ~bits;
		for (; bits; bits &= bits - 1)
			n += slot_is_due(s, ids[n] = word * 64 + (uint32_t)__builtin_ctzll(bits));
		if (n < BATCH)
			continue;
		r = batch_send(s, ids, n);
		n = 0;
	}
	return n ? batch_send(s, ids, n) : r;
}

/* ---- epochs that are left ---- */

/* Their values become the run's, on both sides: the reader is told first, and has the sum at any time. Then they
 * may be used anew. */

struct merge_batch {
	uint32_t n;
	struct wire_merge slot[BATCH];
};

static int merge_encode(struct burst *s, const struct merge_batch *b)
{
	uint32_t i;
	int r = 0;

	/* What the reader never heard of is merged here alone. */
	for (i = 0; r == 0 && i < b->n; i++)
		if (b->slot[i].into != WIRE_NONE && bit_is_set(s->slot_known, b->slot[i].from))
			r = slot_define(s, b->slot[i].into);
	for (i = 0; r == 0 && i < b->n; i++)
		if (bit_is_set(s->slot_known, b->slot[i].from))
			r = slot_define(s, b->slot[i].from);
	for (i = 0; r == 0 && i < b->n; i++)
		if (bit_is_set(s->slot_known, b->slot[i].from))
			r = wire_put(&s->encoder, WIRE_MERGE, &b->slot[i], sizeof(b->slot[i]));
	return r ? r : wire_encoder_flush(&s->encoder);
}

static int merge_send(struct burst *s, struct merge_batch *b)
{
	int r = merge_encode(s, b);
	bool has_begun = late_values_begin();

	for (uint32_t i = 0; r == 0 && i < b->n; i++) {
		uint32_t from = b->slot[i].from, into = b->slot[i].into;

		bitmap_clear(collector->dirty, from);
		s->idle[from / 64] |= UINT64_C(1) << (from % 64);
		slot_move(from, into);
		if (bit_is_set(s->slot_known, from))
			slot_is_sent(s, from);
		if (into == WIRE_NONE)
			continue;
		if (bit_is_set(s->slot_known, from))
			slot_is_sent(s, into);
		bitmap_set(collector->dirty, into);
	}
	late_values_end(has_begun);
	b->n = 0;
	return r;
}

/* Nobody has added to it since its values became another's. */
static bool slot_says_nothing(const struct burst *s, uint32_t id)
{
	return bit_is_set(s->idle, id) &&
	       !(atomic_load_explicit(&collector->dirty[id / 64], memory_order_acquire) >>
			 (id % 64) &
		 1);
}

/* All slots of these epochs, a bit each: also those that came after the limits of the burst, of which the reader
 * knows nothing. */
static int merge_all(struct burst *s, const uint64_t *epochs)
{
	struct merge_batch b = {0};
	uint32_t limit = table_n(&collector->slots);
	int r = 0;

	for (uint32_t id = 0; id < limit && r == 0; id++) {
		const struct slot_entry *e = &collector->slot[id];

		if (atomic_load_explicit(&e->state, memory_order_acquire) != ENTRY_READY ||
		    !bit_is_set(epochs, e->epoch) || slot_says_nothing(s, id))
			continue;
		b.slot[b.n++] = (struct wire_merge){id, slot_intern(e->node, e->lane, e->set, 0)};
		if (b.n == BATCH)
			r = merge_send(s, &b);
	}
	return r == 0 && b.n ? merge_send(s, &b) : r;
}

static int epochs_merge(struct burst *s)
{
	uint64_t epochs[MAX_EPOCHS / 64] = {0};
	uint32_t i, n = atomic_load_explicit(&collector->n_epochs, memory_order_acquire);
	bool any = false;
	int r;

	for (i = 1; i < n; i++)
		if (atomic_load(&collector->epochs[i].state) == EPOCH_LEFT && epoch_is_quiet(i)) {
			epochs[i / 64] |= UINT64_C(1) << (i % 64);
			any = true;
		}
	/* Whoever found one of them alive has come to the end by then. */
	any = any && late_values_are_told();
	r = any ? merge_all(s, epochs) : 0;
	for (i = 1; any && r == 0 && i < n; i++)
		if (bit_is_set(epochs, i))
			epoch_give_back(i);
	return r;
}

/* Without the zeros at either end. */
static int hist_encode(struct burst *s, uint32_t id)
{
	const struct hist_entry *e = &collector->hist[id];
	uint32_t n[HIST_WIDTH], from = HIST_WIDTH, to = 0, i;
	struct wire_octave *w;

	for (i = 0; i < HIST_WIDTH; i++) {
		n[i] = atomic_load_explicit(&e->n[i], memory_order_relaxed);
		if (n[i]) {
			from = MIN(from, i);
			to = i + 1;
		}
	}
	from = MIN(from, to);
	w = wire_encode(&s->encoder, WIRE_OCTAVES, sizeof(*w) + (to - from) * sizeof(*n));
	if (!w)
		return s->encoder.error;
	*w = (struct wire_octave){.node = e->node,
				  .device = e->device,
				  .octave = (uint16_t)e->octave,
				  .first = (uint16_t)from,
				  .n = to - from};
	memcpy(w + 1, n + from, (to - from) * sizeof(*n));
	return 0;
}

static int hists_batch_send(struct burst *s, const uint32_t *ids, uint32_t n)
{
	uint32_t i;
	int r = 0;

	for (i = 0; r == 0 && i < n; i++)
		r = hist_encode(s, ids[i]);
	if (r == 0)
		r = wire_encoder_flush(&s->encoder);
	for (i = 0; r < 0 && i < n; i++)
		bitmap_set(collector->hist_dirty, ids[i]);
	return r;
}

static int hists_send(struct burst *s, uint32_t limit)
{
	uint32_t ids[BATCH], n = 0, id;
	int r = 0;

	for (id = 0; id < limit && r == 0; id++) {
		uint64_t bit = UINT64_C(1) << (id & 63);

		if (!(atomic_load(&collector->hist_dirty[id / 64]) & bit) ||
		    collector->hist[id].device >= s->devices)
			continue;
		atomic_fetch_and(&collector->hist_dirty[id / 64], ~bit);
		ids[n++] = id;
		if (n < BATCH)
			continue;
		r = hists_batch_send(s, ids, n);
		n = 0;
	}
	return r == 0 && n ? hists_batch_send(s, ids, n) : r;
}

/* ---- the tick ---- */

struct totals {
	uint64_t n_launches; /* less those of which no record comes any more */
	uint64_t n_unlaunched, n_records, losses[LOSS_N];
};

static struct totals totals_read(void)
{
	uint32_t i, j, n = atomic_load(&collector->n_threads);
	struct totals t = {0};

	/* Records first: a launch is never counted after its record. */
	for (i = 0; i < n; i++)
		t.n_records +=
			atomic_load_explicit(&collector->thread[i].n_records, memory_order_acquire);
	for (i = 0; i < n; i++) {
		struct thread_state *ts = &collector->thread[i];

		t.n_launches += atomic_load_explicit(&ts->n_launches, memory_order_relaxed);
		t.n_unlaunched += atomic_load_explicit(&ts->n_unlaunched, memory_order_relaxed);
		for (j = 0; j < LOSS_N; j++)
			t.losses[j] += atomic_load_explicit(&ts->losses[j], memory_order_relaxed);
	}
	t.n_unlaunched = MIN(t.n_unlaunched, t.n_launches);
	t.n_launches -= t.n_unlaunched;
	return t;
}

uint64_t burst_launches(uint64_t *ret_n_ended)
{
	struct totals t = totals_read();

	*ret_n_ended = t.n_records + t.n_unlaunched;
	return t.n_launches + t.n_unlaunched;
}

/* Age of the oldest unfinished launch, to one period: the first remembered moment at which more
 * had been launched than has finished by now. Work is taken to finish in order. */
static uint64_t oldest_age(struct burst *s, const struct totals *t, uint64_t now)
{
	uint32_t i, first = s->n_history > N_HISTORY ? s->n_history - N_HISTORY : 0;
	uint64_t age = 0;

	if (t->n_launches > t->n_records) {
		/* Launched since the last look: its age is at most the time since then. */
		age = s->n_history ? now - s->history[(s->n_history - 1) % N_HISTORY].time_ns : 1;
		for (i = first; i < s->n_history; i++) {
			if (s->history[i % N_HISTORY].n_launches <= t->n_records)
				continue;
			age = now - s->history[i % N_HISTORY].time_ns;
			break;
		}
	}
	s->history[s->n_history % N_HISTORY].time_ns = now;
	s->history[s->n_history++ % N_HISTORY].n_launches = t->n_launches;
	return age;
}

static uint64_t own_bytes(const struct limits *l)
{
	return sizeof(struct burst) - sizeof(burst.epoch) + l->epochs * sizeof(*burst.epoch) +
	       l->epochs * sizeof(struct epoch_entry) + l->strings * sizeof(struct string_entry) +
	       atomic_load(&collector->text_used) + l->modules * sizeof(struct module_entry) +
	       l->frames * sizeof(struct frame_entry) + l->nodes * sizeof(struct node_entry) +
	       l->lanes * sizeof(struct lane_entry) + l->slots * sizeof(struct slot_entry) +
	       l->hists * sizeof(struct hist_entry) + l->configs * sizeof(struct config_entry) +
	       table_n(&collector->contexts) * sizeof(struct context_entry) +
	       table_n(&collector->crowds) * sizeof(struct crowd_entry) +
	       (uint64_t)atomic_load(&collector->n_values) * sizeof(uint64_t) +
	       (uint64_t)atomic_load(&collector->n_threads) * sizeof(struct thread_state) +
	       intervals_bytes() +
	       (uint64_t)(l->strings + l->frames + l->nodes + l->lanes + l->slots) * 2 *
		       sizeof(uint32_t);
}

static int tick_send(struct burst *s, const struct limits *l)
{
	struct totals t = totals_read();
	struct wire_tick *w = wire_encode(&s->encoder, WIRE_TICK, sizeof(*w) + sizeof(t.losses));

	if (!w)
		return s->encoder.error;
	*w = (struct wire_tick){.n_launches = t.n_launches,
				.n_records = t.n_records,
				.oldest_ns = oldest_age(s, &t, clock_monotonic_ns()),
				.own_cpu_ns = clock_thread_cpu_ns(),
				.own_bytes = own_bytes(l),
				.buffer_bytes = backends_buffer_bytes(),
				.n_losses = LOSS_N};
	if (t.n_launches)
		w->flags |= WIRE_TICK_COUNTED;
	if (is_paused())
		w->flags |= WIRE_TICK_PAUSED;
	memcpy(w + 1, t.losses, sizeof(t.losses));
	return wire_encoder_flush(&s->encoder);
}

/* ---- control ---- */

static void mark_all(void)
{
	uint32_t i;

	for (i = 0; i < table_n(&collector->slots); i++)
		if (atomic_load(&collector->slot[i].state) == ENTRY_READY &&
		    !bit_is_set(burst.idle, i))
			bitmap_set(collector->dirty, i);
	for (i = 0; i < table_n(&collector->hists); i++)
		if (atomic_load(&collector->hist[i].state) == ENTRY_READY)
			bitmap_set(collector->hist_dirty, i);
	launch_configs_mark_all();
}

static void forget_sent(struct burst *s)
{
	uint32_t i;

	s->hello = false;
	s->strings = s->modules = s->frames = s->nodes = s->lanes = s->sets = s->metrics =
		s->notes = 0;
	s->devices = 0;
	memset(s->epoch_sent, 0, atomic_load(&collector->n_epochs) * sizeof(*s->epoch_sent));
	memset((void *)s->session, 0, atomic_load(&collector->n_sessions) * sizeof(*s->session));
	memset(s->slot_sent, 0, (table_n(&collector->slots) + 63) / 64 * sizeof(*s->slot_sent));
	for (i = 0; i < MAX_DEVICES; i++)
		collector->device[i].sent = 0;
	intervals_resend();
	unrecorded_resend();
}

/* True once for each new value of a request counter. */
static bool requested(_Atomic uint32_t *counter, uint32_t *seen)
{
	uint32_t now = atomic_load(counter);

	if (now == *seen)
		return false;
	*seen = now;
	return true;
}

void burst_control(void)
{
	struct control_page *c = collector->control;
	struct burst *s = &burst;
	bool was_paused = is_paused(),
	     pause = atomic_load(&c->paused) || (atomic_load(&c->stop) && collect_on);

	/* Before anything is left out; and a fork's child is paused as its parent was until it looks for the first time. */
	if (pause || was_paused)
		unrecorded_pause(true);
	pause_set(pause);
	if (!pause)
		unrecorded_pause(false);
	if (is_paused() != was_paused)
		intervals_break();
	if (requested(&c->reset, &s->reset)) {
		tables_forget_values(collector, false);
		intervals_reset();
		steps_reset();
		periods_reset();
		mark_all();
	}
	if (requested(&c->resync, &s->resync)) {
		forget_sent(s);
		mark_all();
	}
	if (requested(&c->flush, &s->flush))
		s->period = 0; /* with histograms, which are sent less often */
	if (atomic_load(&c->stop) && collect_on)
		log_debug(1, "sender", "asked to stop");
}

/* ---- the burst ---- */

void burst_init(void)
{
	wire_encoder_init(&burst.encoder, collector->instance, outlet_emit, NULL);
}

int burst_send(bool final)
{
	struct burst *s = &burst;
	struct limits l;
	int r;

	if (!outlet_open())
		return -ENXIO;
	/* Before operations, slots, and their values: a session that was finalized by now has all of it there,
	 * and so has what is asked for. */
	s->n_asks = asks_due(s->ask);
	sessions_read(s);
	intervals_take();
	steps_look();
	s->held = false;
	l = limits_read(s);
	wire_encoder_clear(&s->encoder);
	r = definitions_send(s, &l);
	s->stuck = r == -EINPROGRESS ? s->stuck + 1 : 0;
	r = r ? r : epochs_merge(s);
	r = r ? r : values_send(s, l.slots);
	if (r == 0 && (final || s->period % HIST_EVERY == 0)) {
		r = hists_send(s, l.hists);
		r = r ? r : launch_configs_send(&s->encoder, l.configs, s->devices);
	}
	if (!s->epochs_unread)
		r = r ? r : intervals_send(&s->encoder, l.devices);
	r = r ? r : unrecorded_send(&s->encoder);
	r = r ? r : levels_send(&s->encoder, l.devices);
	if (!s->held && !s->epochs_unread) {
		r = r ? r : sessions_finalize(s, l.sessions);
		r = r ? r : asks_send(s);
	}
	wire_encoder_clear(&s->encoder);
	if (r == 0)
		r = tick_send(s, &l);
	s->blocked = outlet_was_full();
	if (s->blocked)
		lose(LOSS_PIPE_FULL, 1);
	s->period++;
	return r;
}

bool burst_is_due_again(void)
{
	return (burst.blocked || burst.stuck) && outlet_is_open();
}

bool burst_was_blocked(void)
{
	return burst.blocked;
}

void burst_wait(int ms)
{
	outlet_wait(burst.stuck ? 1 : ms);
}

int burst_bye(uint32_t reason)
{
	const struct wire_bye w = {.reason = reason};

	if (!outlet_is_open())
		return -ENXIO;
	wire_encoder_clear(&burst.encoder);
	wire_put(&burst.encoder, WIRE_BYE, &w, sizeof(w));
	return wire_encoder_flush(&burst.encoder);
}

void burst_resume(void)
{
	if (!outlet_resume())
		return;
	forget_sent(&burst);
	mark_all();
}

void burst_forked(void)
{
	outlet_forked();
	forget_sent(&burst);
	memset(burst.slot_known, 0, sizeof(burst.slot_known));
	burst.n_history = burst.period = burst.stuck = 0;
	burst.blocked = false;
}
