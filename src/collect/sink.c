/* SPDX-License-Identifier: MIT */
/* Activity record -> slot. Runs on the backends' threads; launch() on the application's. */
#include "config.h" // IWYU pragma: keep
#include <string.h>
#include <sys/mman.h>
#include "backends/pages.h"
#include "backends/cuda_arena.h"
#include "base/hash.h"
#include "base/util.h"
#include "collect/allocations.h"
#include "collect/allocators.h"
#include "collect/epochs.h"
#include "collect/host_clock.h"
#include "collect/graph_runs.h"
#include "collect/futex.h"
#include "collect/idle.h"
#include "collect/internal.h"
#include "collect/launch_configs.h"
#include "collect/kernel_slices.h"
#include "collect/launch_records.h"
#include "collect/local_memory.h"
#include "collect/measured.h"
#include "collect/rewriting.h"
#include "collect/sampled_code.h"
#include "collect/slots.h"
#include "collect/trace_windows.h"
#include "collect/unrecorded.h"
#include "collect/whole_graphs.h"
#include "wire/wire.h"

enum { CACHE_SIZE = 1024 };

/* All that decides which slot a record adds to. */
struct record_key {
	const char *name;
	uint32_t launch, context, stream;
	int32_t device;
	uint32_t made_at; /* of a node of a graph; WIRE_NONE: no node, or not known */
	uint16_t source, kind;
	struct launch_shape shape; /* 0 where kernels are not told apart by it */
	uint32_t form;             /* string of the frame for it; 0: none */
	uint32_t unused;
};
_Static_assert(sizeof(struct record_key) == sizeof(char *) + 14 * sizeof(uint32_t),
	       "compared whole");

/* What a thread that delivers records remembers: the slot of the last such record. The name is
 * compared byte for byte, for its address may come to hold another after a module was unloaded. */
struct record_cache {
	struct {
		struct record_key key;
		const char *text;
		uint32_t slot;
	} entry[CACHE_SIZE];
};

/* A histogram is made at the second sample: most contexts of a long tail have one. */
static void slot_histogram(uint32_t slot, uint64_t ns)
{
	struct slot_entry *e = &collector->slot[slot];
	uint32_t id = atomic_load_explicit(&e->hist, memory_order_acquire);
	unsigned bin = hist_bin(ns), octave = bin / HIST_WIDTH;

	if (collector->lane[e->lane].device == WIRE_NONE)
		return; /* no lane was left for it: its device is not known */
	if (!id || collector->hist[id - 1].octave != octave) {
		id = hist_intern(e->node, collector->lane[e->lane].device, octave);
		if (id == WIRE_NONE)
			return;
		atomic_store_explicit(&e->hist, ++id, memory_order_release);
	}
	atomic_fetch_add_explicit(&collector->hist[id - 1].n[bin % HIST_WIDTH], 1,
				  memory_order_relaxed);
	bitmap_set(collector->hist_dirty, id - 1);
}

/* The first four values of all sets of activities: time, count, min, max. */
static void slot_add_time(uint32_t slot, uint64_t ns)
{
	_Atomic uint64_t *v = &collector->value[collector->slot[slot].values];
	uint64_t before = atomic_fetch_add_explicit(&v[1], 1, memory_order_relaxed);
	uint64_t first;

	atomic_fetch_add_explicit(&v[0], ns, memory_order_relaxed);
	first = before == 1 ? atomic_load_explicit(&v[2], memory_order_relaxed) : UINT64_MAX;
	value_lower(&v[2], ns);
	value_raise(&v[3], ns);
	if (before == 1 && first != UINT64_MAX)
		slot_histogram(slot, first);
	if (before)
		slot_histogram(slot, ns);
}

/* ---- what an activity is ---- */

/* A kind of activity: the frame that its work hangs under its calling context, the set of its values,
 * and what goes there. */
struct kind {
	enum frame_kind frame;
	uint32_t set;
	bool is_symbol; /* the vendor names it, by a text that lives on; else we make the name */
	bool on_host;   /* on the lane of the thread, not on a device's: keeps none busy */
	void (*fill)(uint32_t slot, const struct activity *a);
};

static void fill_timed(uint32_t slot, const struct activity *a)
{
	slot_add_time(slot, a->end_ns - a->start_ns);
}

static void fill_kernel(uint32_t slot, const struct activity *a)
{
	fill_timed(slot, a);
	launch_configs_count(slot, &a->config, a->end_ns - a->start_ns);
}

static void fill_sync(uint32_t slot, const struct activity *a)
{
	slot_add_time(slot, a->end_ns - a->start_ns);
	slot_add_u64(slot, WAIT_HOST_NS, a->end_ns - a->start_ns);
	slot_add_u64(slot, WAIT_HOST_N, 1);
}

static void fill_set(uint32_t slot, const struct activity *a)
{
	slot_add_time(slot, a->end_ns - a->start_ns);
	slot_add_u64(slot, TRANSFER_BYTES, a->bytes);
	if (a->async)
		slot_add_u64(slot, TRANSFER_ASYNC, 1);
}

/* … beside them, by its size; several that ran as one have the same, as far as anybody knows. */
static void add_size(uint32_t slot, uint64_t bytes, uint64_t n)
{
	const struct slot_entry *e = &collector->slot[slot];
	uint32_t at = slot_intern(e->node, e->lane, SET_ID_SIZES + copy_size(bytes / n), e->epoch);

	if (at == WIRE_NONE)
		return;
	slot_add_u64(at, 0, n);
	slot_add_u64(at, 1, bytes);
	slot_touch(at);
}

static void fill_copy(uint32_t slot, const struct activity *a)
{
	const char *word = copy_direction_word(a->direction);

	fill_set(slot, a);
	add_size(slot, a->bytes, 1 + a->n_besides);
	slot_store(slot, TRANSFER_DIRECTION, string_intern(word, strlen(word)));
}

/* What runs in a graph counts as a node of one, too. */
static void fill_graph_kernel(uint32_t slot, const struct activity *a)
{
	fill_kernel(slot, a);
	slot_add_u64(slot, KERNEL_GRAPH_NODES, 1);
}

static void fill_graph_set(uint32_t slot, const struct activity *a)
{
	fill_set(slot, a);
	slot_add_u64(slot, TRANSFER_GRAPH_NODES, 1);
}

static void fill_graph_copy(uint32_t slot, const struct activity *a)
{
	fill_copy(slot, a);
	slot_add_u64(slot, TRANSFER_GRAPH_NODES, 1);
}

static void fill_graph(uint32_t slot, const struct activity *a)
{
	const struct whole_graph *g = whole_graph_find(a->graph);

	fill_timed(slot, a);
	if (!g)
		return;
	slot_add_u64(slot, KERNEL_GRAPH_NODES, whole_graph_n_nodes(g));
	slot_add_u64(slot, GRAPH_KERNELS, whole_graph_n_kernels(g));
}

/* Behind the kinds of activities the same where they are of a graph; of one that is recorded whole: where it is
 * known what it holds. */
enum { OF_GRAPH = ACTIVITY_N_KINDS };
static const struct kind kinds[2 * ACTIVITY_N_KINDS] = {
	[ACTIVITY_KERNEL] = {FRAME_KERNEL, SET_ID_KERNEL, true, false, fill_kernel},
	[ACTIVITY_COPY] = {FRAME_COPY, SET_ID_TRANSFER, false, false, fill_copy},
	[ACTIVITY_SET] = {FRAME_SET, SET_ID_TRANSFER, false, false, fill_set},
	[ACTIVITY_SYNC] = {FRAME_SYNC, SET_ID_WAIT, true, true, fill_sync},
	[ACTIVITY_CALL] = {FRAME_CALL, SET_ID_CALL, true, true, fill_timed},
	[ACTIVITY_GRAPH] = {FRAME_GRAPH_RUN, SET_ID_KERNEL, true, false, fill_timed},
	[OF_GRAPH + ACTIVITY_KERNEL] = {FRAME_KERNEL, SET_ID_GRAPH_KERNEL, true, false,
					fill_graph_kernel},
	[OF_GRAPH +
		ACTIVITY_COPY] = {FRAME_COPY, SET_ID_GRAPH_TRANSFER, false, false, fill_graph_copy},
	[OF_GRAPH +
		ACTIVITY_SET] = {FRAME_SET, SET_ID_GRAPH_TRANSFER, false, false, fill_graph_set},
	[OF_GRAPH + ACTIVITY_GRAPH] = {FRAME_GRAPH_RUN, SET_ID_GRAPH, true, false, fill_graph},
};

static uint16_t kind_of(const struct activity *a)
{
	if (_likely_(!a->graph))
		return (uint16_t)a->kind;
	if (a->kind == ACTIVITY_GRAPH && !whole_graph_is_counted(whole_graph_find(a->graph)))
		return ACTIVITY_GRAPH;
	return (uint16_t)(OF_GRAPH + a->kind);
}

enum { NAME_MAX_MADE = 48 }; /* of activity_transfer_name() */

/* The name is borrowed: the vendor's, or what is in `text`. */
static struct record_key record_key(const struct activity_sink *sink, const struct activity *a,
				    char text[NAME_MAX_MADE])
{
	const char *name = a->name ? a->name : "<unnamed>";

	if (!kinds[a->kind].is_symbol) {
		activity_transfer_name(a, text, NAME_MAX_MADE);
		name = text;
	}
	return (struct record_key){
		.name = name,
		.launch = a->launch,
		.context = a->context,
		.stream = a->stream,
		.device = a->device,
		.made_at = WIRE_NONE,
		.source = (uint16_t)sink->source,
		.kind = kind_of(a),
		.shape = _unlikely_(collector->control->wanted.by_shape)
				 ? a->config.shape
				 : (struct launch_shape){{0}, {0}},
	};
}

static uint32_t record_lane(const struct record_key *r, uint32_t thread)
{
	if (kinds[r->kind].on_host)
		return lane_intern(WIRE_NONE, 0, 0, thread);
	return lane_intern(device_intern((uint8_t)r->source, r->device), r->context, r->stream,
			   thread);
}

/* Names that are longer are put together in pages of their own: threads of others have small stacks. */
#define SHAPED_MAX 6144

static uint32_t shaped_string(const struct record_key *r, size_t len, char *text)
{
	memcpy(text, r->name, len);
	activity_shape(&r->shape, text + len);
	return string_intern(text, len + strlen(text + len));
}

static uint32_t long_shaped_string(const struct record_key *r, size_t len)
{
	size_t size = len + ACTIVITY_SHAPE_MAX;
	char *text = pages_reserve(size);
	uint32_t string = text ? shaped_string(r, len, text) : string_intern(r->name, len);

	if (text)
		munmap(text, size);
	return string;
}

/* The name of a record's frame, with its shape where that is asked for. */
static uint32_t record_string(const struct record_key *r)
{
	size_t len = strlen(r->name);
	char text[SHAPED_MAX + ACTIVITY_SHAPE_MAX];

	if (_likely_(!r->shape.grid[0]))
		return string_intern(r->name, len);
	if (len > SHAPED_MAX)
		return long_shaped_string(r, len);
	return shaped_string(r, len, text);
}

static struct record_cache *cache_of(struct thread_state *t)
{
	if (!t->cache)
		t->cache = pages_reserve(sizeof(*t->cache));
	return t->cache;
}

/* The launch context of a record: 1, the root's, where it is not known. */
static uint32_t launch_context(uint32_t launch)
{
	return launch && launch < table_n(&collector->contexts) ? launch : 1;
}

static uint32_t launched_at(uint32_t launch)
{
	return collector->context[launch_context(launch)].node;
}

/* Where it stands that is of a form. */
static uint32_t form_node(uint32_t node, uint32_t form)
{
	return _unlikely_(form) ? node_intern(node, frame_intern(FRAME_GRAPH, form)) : node;
}

static uint32_t record_slot(const struct record_key *r, struct thread_state *t)
{
	const struct kind *k = &kinds[r->kind];
	const struct context_entry *ctx;
	struct record_key named = *r;
	uint32_t node;

	ctx = &collector->context[launch_context(r->launch)];
	if (ctx->name && k->frame == FRAME_KERNEL)
		named.name = collector->string[ctx->name].s;
	node = ctx->node;
	if (_unlikely_(r->made_at != WIRE_NONE))
		node = graph_node_context(t, node, r->made_at);
	node = node_intern(form_node(node, r->form), frame_intern(k->frame, record_string(&named)));
	return slot_intern(node, record_lane(r, ctx->thread), k->set, ctx->epoch);
}

/* Does the program name the kernels of this launch (proton_launch_begin())? */
static bool is_named(uint32_t launch)
{
	return launch < table_n(&collector->contexts) && collector->context[launch].name;
}

/* Does the text of a frame begin with the name, and is nothing behind it but a shape? */
static bool is_text_of(const char *text, const struct record_key *r)
{
	size_t len;

	if (_likely_(!r->shape.grid[0]))
		return !strcmp(text, r->name);
	len = strlen(r->name);
	return !strncmp(text, r->name, len) && activity_bare_len(text, strlen(text)) == len;
}

/* The slot of a record with a symbol for a name: as a rule that of the last such record. */
static uint32_t cached_slot(const struct record_key *r, struct thread_state *t)
{
	struct record_cache *c = cache_of(t);
	uint64_t hash =
		hash_u64((uintptr_t)r->name ^ ((uint64_t)r->launch << 40) ^
			 ((uint64_t)r->stream << 32) ^ (uint32_t)r->device ^
			 ((uint64_t)r->made_at << 32 | r->form) * UINT64_C(0xd6e8feb86659fd93) ^
			 r->shape.grid[0] * UINT64_C(0x9e3779b97f4a7c15));
	unsigned i = hash & (CACHE_SIZE - 1);
	uint32_t slot;

	if (!c)
		return record_slot(r, t);
	if (!memcmp(&c->entry[i].key, r, sizeof(*r)) &&
	    (is_text_of(c->entry[i].text, r) || is_named(r->launch)))
		return c->entry[i].slot;
	slot = record_slot(r, t);
	if (slot == WIRE_NONE)
		return slot;
	c->entry[i].key = *r;
	c->entry[i].slot = slot;
	c->entry[i].text =
		collector
			->string[collector->frame[collector->node[collector->slot[slot].node].frame]
					 .string]
			.s;
	return slot;
}

/* Its context is that of a launch before (context_budget.h). */
static bool is_guessed(uint32_t launch)
{
	return launch < table_n(&collector->contexts) &&
	       collector->context[launch].flags & CONTEXT_GUESSED;
}

/* The slot of this metric alone at a node, on the lane of another slot. */
static uint32_t slot_at(uint32_t node, uint32_t slot, uint32_t metric)
{
	const struct slot_entry *e = &collector->slot[slot];
	uint32_t set = set_intern_one(metric);

	return set == WIRE_NONE ? WIRE_NONE : slot_intern(node, e->lane, set, e->epoch);
}

/* n more of this metric at a node. */
static void add_at(uint32_t node, uint32_t slot, uint32_t metric, uint64_t n)
{
	slot = slot_at(node, slot, metric);
	if (slot == WIRE_NONE)
		return;
	slot_add_u64(slot, 0, n);
	slot_touch(slot);
}

/* What form a graph has that was launched once more, once where it is told; 0 is told, too: nothing else will come. */
static void tell_form(struct whole_graph *g, uint32_t node, uint32_t slot)
{
	slot = g && whole_graph_form_is_due(g, slot) ? slot_at(node, slot, METRIC_GRAPH_FORM)
						     : WIRE_NONE;
	if (slot == WIRE_NONE)
		return;
	slot_store(slot, 0, whole_graph_form(g));
	slot_touch(slot);
}

/* … beside the values of a slot. */
static void add_beside(uint32_t slot, uint32_t metric, uint64_t n)
{
	add_at(collector->slot[slot].node, slot, metric, n);
}

/* A graph by nodes was launched once more: told where all of them were captured. */
static void add_graph_launch(struct thread_state *t, uint32_t graph, uint32_t launch, uint32_t slot)
{
	struct whole_graph *g = whole_graph_find(graph);
	uint32_t node, made_at = whole_graph_made_at(g);

	if (made_at == WIRE_NONE)
		return;
	node = form_node(graph_node_context(t, launched_at(launch), made_at),
			 whole_graph_form_frame(graph));
	add_at(node, slot, METRIC_GRAPH_LAUNCHES, 1);
	tell_form(g, node, slot);
}

/* What is special about a copy, where it ran. */
static void add_pattern(uint32_t slot, unsigned pattern)
{
	static const struct {
		enum copy_pattern pattern;
		uint32_t metric;
	} all[] = {
		{COPY_AGAIN, METRIC_AGAIN},
		{COPY_COMPARED, METRIC_COMPARED},
		{COPY_SAME, METRIC_SAME},
		{COPY_BACK, METRIC_BACK},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(all); i++)
		if (pattern & all[i].pattern)
			add_beside(slot, all[i].metric, 1);
}

/* Its values are where they belong: one launch less is waited for. */
static void launch_ended(uint32_t launch)
{
	uint32_t epoch;

	if (launch >= table_n(&collector->contexts))
		return;
	epoch = collector->context[launch].epoch;
	if (epoch)
		epoch_end(epoch, 1);
}

static struct graph_node graph_node_of(const struct activity *a)
{
	if (_unlikely_(a->kind == ACTIVITY_GRAPH))
		return graph_node_of_whole(a->graph);
	if (_unlikely_(a->graph_node))
		return graph_node_find(a->graph_node);
	return (struct graph_node){WIRE_NONE, NULL, 0};
}

/* Of the graph of a node that ran: most often that of the one before. */
static uint32_t form_of(struct thread_state *t, uint32_t graph)
{
	uint32_t changes = whole_graph_changes();

	if (_unlikely_(t->form.graph != graph || t->form.changes != changes)) {
		t->form.graph = graph;
		t->form.changes = changes;
		t->form.frame = whole_graph_form_frame(graph);
	}
	return t->form.frame;
}

/* The slot of a record, and the node of a graph that it is of. */
static uint32_t find_slot(struct activity_sink *sink, const struct activity *a,
			  struct thread_state *t, struct graph_node *ret_node)
{
	char text[NAME_MAX_MADE];
	struct record_key key = record_key(sink, a, text);
	struct graph_node node = graph_node_of(a);
	uint32_t name;

	name = a->kind == ACTIVITY_GRAPH ? whole_graph_name(whole_graph_find(a->graph))
					 : graph_node_name(&node);
	if (name)
		key.name = collector->string[name].s;
	key.made_at = node.made_at;
	if (_unlikely_(a->graph_node))
		key.form =
			node.made_at == WIRE_NONE ? whole_graph_name(NULL) : form_of(t, a->graph);
	*ret_node = node;
	return kinds[key.kind].is_symbol ? cached_slot(&key, t) : record_slot(&key, t);
}

static void add_record(struct activity_sink *sink, const struct activity *a, struct thread_state *t)
{
	const struct kind *k = &kinds[kind_of(a)];
	struct graph_node node;
	uint32_t slot = find_slot(sink, a, t, &node);

	if (_unlikely_(node.said))
		graph_ran(t, &node, launched_at(a->launch), slot);
	if (slot == WIRE_NONE) {
		idle_missed();
		return;
	}
	k->fill(slot, a);
	if (_unlikely_(atomic_load_explicit(&collector->sampling, memory_order_relaxed)) &&
	    a->kind == ACTIVITY_KERNEL)
		sampled_code_ran(slot, a);
	if (_unlikely_(cuda_arena_is_used()) && a->kind == ACTIVITY_KERNEL && a->number)
		kernel_slices_ran(a, slot);
	if (_unlikely_(launch_records_are_wanted()) && a->correlation)
		launch_records_add(a, collector->slot[slot].node);
	if (_unlikely_(is_guessed(a->launch)) && a->kind != ACTIVITY_CALL)
		add_beside(slot, METRIC_GUESSED, 1);
	if (_unlikely_(a->kind == ACTIVITY_GRAPH))
		tell_form(whole_graph_find(a->graph), collector->slot[slot].node, slot);
	if (_unlikely_(node.first_of) && !a->by_kernel &&
	    whole_graph_counts_by(whole_graph_find(node.first_of), a->graph_node))
		add_graph_launch(t, node.first_of, a->launch, slot);
	if (_unlikely_(a->pattern))
		add_pattern(slot, a->pattern);
	if (_unlikely_(a->n_besides))
		add_beside(slot, METRIC_BESIDES, a->n_besides);
	if (!k->on_host || (a->kind == ACTIVITY_SYNC && idle_is_wanted()))
		interval_deliver(a, slot);
	slot_touch(slot);
}

/* While collection pauses. */
static void miss_record(const struct activity *a, struct thread_state *t)
{
	struct graph_node node;

	if (!kinds[a->kind].on_host)
		unrecorded_paused(a->start_ns, a->end_ns);
	if (_unlikely_(cuda_arena_is_used()) && a->kind == ACTIVITY_KERNEL && a->number)
		kernel_slices_ran(a, WIRE_NONE);
	if (!a->graph)
		return;
	node = graph_node_of(a);
	graph_ran(t, &node, 0, WIRE_NONE);
}

static void sink_record(struct activity_sink *sink, const struct activity *a)
{
	struct thread_state *t;

	if (!collect_on)
		return;
	t = thread_state();
	if (!a->uncounted)
		count(&t->n_records, 1);
	backends_tell(sink->source, a);
	if (!is_paused())
		add_record(sink, a, t);
	else
		miss_record(a, t);
	if (!a->uncounted)
		launch_ended(a->launch);
}

static uint32_t sink_launch(struct activity_sink *sink, const void *what)
{
	struct thread_state *t;

	if (_unlikely_(!collect_on))
		return 1;
	t = thread_state();
	count(&t->n_launches, 1);
	return thread_context(t, what);
}

static uint32_t sink_graph_launch(struct activity_sink *sink)
{
	(void)sink;
	return collect_on ? thread_exact_context(thread_state(), false) : 1;
}

static uint32_t sink_allocating(struct activity_sink *sink)
{
	(void)sink;
	return collect_on ? allocator_context(thread_state()) : 1;
}

static void sink_unlaunch(struct activity_sink *sink, uint64_t n)
{
	if (collect_on)
		count(&thread_state()->n_unlaunched, n);
}

/* Is something of what ran on a device, or when, not known for it? */
static bool hides_work(enum loss loss)
{
	return loss == LOSS_DROPPED || loss == LOSS_BUFFERS_FULL || loss == LOSS_ZERO_TIME ||
	       loss == LOSS_REVERSED_TIME || loss == LOSS_EARLY || loss == LOSS_ASIDE;
}

static void sink_lose(struct activity_sink *sink, enum loss loss, uint64_t n)
{
	if (!collect_on)
		return;
	lose(loss, n);
	if (hides_work(loss))
		idle_missed();
}

static uint32_t text(const char *s)
{
	return s ? string_intern(s, strlen(s)) : 0;
}

static void sink_device(struct activity_sink *sink, const struct device_info *info)
{
	struct device_entry *d;

	if (!collect_on)
		return;
	d = &collector->device[device_intern(sink->source, info->index)];
	d->type = text(info->type);
	d->name = text(info->name);
	d->arch = text(info->arch);
	d->uuid = text(info->uuid);
	d->driver = text(info->driver);
	d->num_sms = info->num_sms;
	d->clock_khz = info->clock_khz;
	d->memory_clock_khz = info->memory_clock_khz;
	d->bus_width_bits = info->bus_width_bits;
	d->memory_bytes = info->memory_bytes;
	atomic_fetch_add(&d->version, 1);
	if (collector->control)
		atomic_store(&collector->control->gpu_connected, 1);
}

static void sink_note(struct activity_sink *sink, const char *sentence)
{
	collect_note(NOTE_WARNING, sentence);
}

static void sink_connect(struct activity_sink *sink)
{
	if (!collect_on)
		return;
	exit_watch();
	sender_start();
}

static uint64_t scope_tag(const struct activity_sink *sink)
{
	return (uint64_t)(uintptr_t)sink;
}

static void sink_enter(struct activity_sink *sink, const char *name, size_t len)
{
	collect_push_adopted(FRAME_SCOPE, scope_tag(sink), name, len);
}

static void sink_leave(struct activity_sink *sink)
{
	collect_pop(scope_tag(sink));
}

static void sink_captured(struct activity_sink *sink, const struct graph_member *m)
{
	(void)sink;
	if (collect_on)
		graph_captured(thread_state(), m);
}

static void sink_built(struct activity_sink *sink, const struct graph_member *m)
{
	(void)sink;
	if (collect_on)
		graph_built(thread_state(), m);
}

static void sink_profiler(struct activity_sink *sink, bool on)
{
	if (collect_on)
		trace_window_profiler(on);
}

static void sink_capturing(struct activity_sink *sink, const void *stream, bool on)
{
	(void)sink;
	if (collect_on)
		graph_capturing(thread_state(), stream, on);
}

static void sink_cloned(struct activity_sink *sink, uint64_t from, const struct graph_member *m)
{
	(void)sink;
	if (collect_on)
		graph_node_copy(from, m);
}

static void sink_removed(struct activity_sink *sink, const struct graph_member *m)
{
	(void)sink;
	if (collect_on)
		graph_node_removed(m);
}

static void sink_gone(struct activity_sink *sink, uint32_t graph)
{
	(void)sink;
	if (collect_on)
		whole_graph_gone(graph);
}

static void sink_updated(struct activity_sink *sink, uint64_t from, const struct graph_member *m,
			 bool is_first)
{
	(void)sink;
	graph_node_updated(from, m, is_first);
}

static bool sink_is_like(struct activity_sink *sink, uint32_t graph, uint32_t like)
{
	(void)sink;
	return whole_graph_is_like(graph, like);
}

static void sink_changed(struct activity_sink *sink, enum graph_change what,
			 const struct graph_member *m, uint32_t like)
{
	(void)sink;
	if (!collect_on)
		return;
	if (what == GRAPH_NODE_CHANGED)
		graph_node_changed(m->node);
	else
		whole_graph_changed(m->number, what, like);
}

static void sink_memory(struct activity_sink *sink, const struct memory_event *e)
{
	if (collect_on)
		allocations_add(sink->source, e);
}

static void sink_memory_until(struct activity_sink *sink, uint64_t until_ns)
{
	if (collect_on)
		allocations_settle(sink->source, until_ns);
}

static void sink_settled(struct activity_sink *sink, uint64_t until_ns)
{
	if (collect_on)
		idle_settled(sink->source, until_ns);
}

/* What was launched before, and not told of by then, is not recorded either. */
static void sink_aside(struct activity_sink *sink, bool on, uint64_t since_ns)
{
	uint64_t told_ns = idle_told_ns(sink->source);

	if (!collect_on)
		return;
	if (told_ns)
		since_ns = MIN(since_ns, told_ns + clock_to_monotonic_ns());
	if (on)
		unrecorded_begin(UNRECORDED_ASIDE, since_ns);
	else
		unrecorded_end(UNRECORDED_ASIDE, clock_monotonic_ns());
}

static const struct ranges_wanted *sink_ranges(struct activity_sink *sink)
{
	(void)sink;
	return collect_on ? measured_wanted() : NULL;
}

static bool sink_range_at(struct activity_sink *sink, uint32_t launch, struct range_place *ret)
{
	(void)sink;
	return collect_on && !is_paused() &&
	       measured_place(&collector->context[launch_context(launch)], ret);
}

/* Where its values are, but of another set. */
static bool sink_measured_at(struct activity_sink *sink, const struct activity *a,
			     struct range_place *ret)
{
	struct graph_node node;

	return collect_on && !is_paused() &&
	       measured_beside(find_slot(sink, a, thread_state(), &node), ret);
}

static void sink_measured(struct activity_sink *sink, const struct range_place *at,
			  uint64_t time_ns, const double *values)
{
	(void)sink;
	if (collect_on)
		measured_add(at, time_ns, values);
}

static void sink_sampled(struct activity_sink *sink, const struct pc_sampled *s)
{
	if (collect_on && !is_paused())
		sampled_code_add(sink->source, s);
}

static void sink_sampled_all(struct activity_sink *sink, bool last)
{
	(void)sink;
	if (collect_on)
		sampled_code_divide(last);
}

static void sink_cubin(struct activity_sink *sink, uint64_t cubin, const void *data, size_t size)
{
	(void)sink;
	if (collect_on)
		sampled_code_cubin(cubin, data, size);
}

static void sink_local_memory(struct activity_sink *sink, const char *kernel, uint32_t bytes)
{
	(void)sink;
	if (collect_on)
		local_memory_put(kernel, bytes);
}

static void sink_kernel_scope(struct activity_sink *sink, uint32_t scope, const char *name,
			      size_t len)
{
	(void)sink;
	if (collect_on)
		kernel_slices_name(scope, name, len);
}

static void sink_slices_due(struct activity_sink *sink, bool now)
{
	(void)sink;
	if (collect_on && now)
		kernel_slices_flush(FLUSH_COMPLETE);
	else if (collect_on)
		futex_ring(&collector->wake);
}

static bool sink_rewrite(struct activity_sink *sink, const struct module_load *load,
			 struct module_instead *ret)
{
	(void)sink;
	return collect_on && rewriting_run(load, ret);
}

static const struct activity_sink_ops sink_ops = {
	.launch = sink_launch,
	.graph_launch = sink_graph_launch,
	.allocating = sink_allocating,
	.record = sink_record,
	.unlaunch = sink_unlaunch,
	.lose = sink_lose,
	.device = sink_device,
	.note = sink_note,
	.connect = sink_connect,
	.captured = sink_captured,
	.built = sink_built,
	.capturing = sink_capturing,
	.profiler = sink_profiler,
	.cloned = sink_cloned,
	.memory = sink_memory,
	.memory_until = sink_memory_until,
	.settled = sink_settled,
	.aside = sink_aside,
	.ranges = sink_ranges,
	.range_at = sink_range_at,
	.measured_at = sink_measured_at,
	.measured = sink_measured,
	.sampled = sink_sampled,
	.sampled_all = sink_sampled_all,
	.cubin = sink_cubin,
	.local_memory = sink_local_memory,
	.kernel_scope = sink_kernel_scope,
	.slices_due = sink_slices_due,
	.rewrite = sink_rewrite,
	.removed = sink_removed,
	.gone = sink_gone,
	.updated = sink_updated,
	.is_like = sink_is_like,
	.changed = sink_changed,
	.enter = sink_enter,
	.leave = sink_leave,
};

struct activity_sink sinks[N_SOURCES] = {
#define _(id, ...) [SOURCE_##id] = {&sink_ops, SOURCE_##id},
	BACKENDS(_)
#undef _
};

struct activity_sink *collect_sink(unsigned source)
{
	return source < N_SOURCES ? &sinks[source] : NULL;
}
