/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/whole_graphs.h"
#include <stdio.h>
#include "backends/pages.h"
#include "base/hash.h"
#include "base/util.h"
#include "wire/wire.h"

enum {
	GRAPHS_MAX = 1 << 15, /* a power of two */
	PROBES_MAX = 32,
	NUMBERS_MAX = 1024, /* of graphs that are told apart, by what they are called */
};

#define BEING_WRITTEN UINT32_MAX /* in place of an id */

/* id 0: free. */
struct whole_graph {
	_Atomic uint32_t id;
	_Atomic uint32_t made_at; /* WIRE_NONE: not known */
	_Atomic uint32_t said;    /* 0: nothing */
	_Atomic uint32_t name;    /* string; 0: not made yet */
	_Atomic uint32_t n[GRAPH_N_PARTS];
	_Atomic uint64_t print;     /* a sum over its nodes: the same where the same was captured */
	_Atomic uint32_t n_unknown; /* kernels in it that are not known */
	_Atomic uint32_t form_frame; /* a string, + 1; 0: not made yet */
	_Atomic uint32_t told_at;    /* the slot that has its form, + 1; 0: none */
	_Atomic bool is_copy, is_gone;
	_Atomic uint32_t first_from; /* where the last one that is a first one came from, + 1 */
	_Atomic uint64_t counted_by; /* the node whose runs are launches; 0: none has run */
	_Atomic bool is_changed;     /* it no longer runs what was captured */
	_Atomic bool is_partly;      /* … nor as many nodes */
};

static _Atomic uint32_t n_changes;

static _Atomic(struct whole_graph *) table;

struct whole_graph *whole_graph_find(uint32_t graph)
{
	struct whole_graph *all = atomic_load_explicit(&table, memory_order_acquire);
	uint64_t at = hash_u64(graph);
	uint32_t seen;

	for (unsigned i = 0; all && graph && i < PROBES_MAX; i++, at++) {
		seen = atomic_load_explicit(&all[at % GRAPHS_MAX].id, memory_order_acquire);
		if (seen == graph)
			return &all[at % GRAPHS_MAX];
		if (!seen)
			break;
	}
	return NULL;
}

/* Of what is gone, records may still come where it was a copy: what runs is one. */
static unsigned worth_of(const struct whole_graph *g)
{
	return atomic_load(&g->is_gone) ? atomic_load(&g->is_copy) : 2;
}

/* Which of two places is better given to another: of those that are worth as much that of the older graph. */
static bool is_less_wanted(const struct whole_graph *a, const struct whole_graph *b)
{
	unsigned worth = worth_of(a), other = worth_of(b);

	return worth != other ? worth < other : atomic_load(&a->id) < atomic_load(&b->id);
}

static bool is_whole(void)
{
	return collector->control->wanted.backends.graphs == GRAPHS_WHOLE;
}

static void forget_told(void)
{
	static _Atomic bool told;

	if (is_whole() && !atomic_exchange(&told, true))
		collect_note(NOTE_WARNING,
			     "there are more CUDA graphs than are kept: of the oldest it is not "
			     "known how many kernels they hold");
}

/* A place for a new one, which is being written until it has its id. NULL: others write all of them. */
static struct whole_graph *take_place(struct whole_graph *all, uint32_t graph)
{
	struct whole_graph *least = NULL;
	uint64_t at = hash_u64(graph);
	uint32_t seen;

	for (unsigned i = 0; i < PROBES_MAX; i++, at++) {
		struct whole_graph *g = &all[at % GRAPHS_MAX];

		seen = 0;
		if (atomic_compare_exchange_strong(&g->id, &seen, BEING_WRITTEN))
			return g;
		if (seen != BEING_WRITTEN && (!least || is_less_wanted(g, least)))
			least = g;
	}
	seen = least ? atomic_load(&least->id) : BEING_WRITTEN;
	if (seen == BEING_WRITTEN ||
	    !atomic_compare_exchange_strong(&least->id, &seen, BEING_WRITTEN))
		return NULL;
	if (!atomic_load(&least->is_gone))
		forget_told();
	return least;
}

static void clear(struct whole_graph *g)
{
	atomic_store(&g->made_at, WIRE_NONE);
	atomic_store(&g->said, 0);
	atomic_store(&g->name, 0);
	for (unsigned i = 0; i < GRAPH_N_PARTS; i++)
		atomic_store(&g->n[i], 0);
	atomic_store(&g->print, 0);
	atomic_store(&g->n_unknown, 0);
	atomic_store(&g->form_frame, 0);
	atomic_store(&g->told_at, 0);
	atomic_store(&g->is_copy, false);
	atomic_store(&g->is_gone, false);
	atomic_store(&g->first_from, 0);
	atomic_store(&g->counted_by, 0);
	atomic_store(&g->is_changed, false);
	atomic_store(&g->is_partly, false);
}

/* A graph is made by one thread at a time: CUDA wants it so. */
static struct whole_graph *find_or_make(uint32_t graph)
{
	struct whole_graph *g = whole_graph_find(graph), *all;

	if (g || !graph)
		return g;
	all = pages_once_sparse((_Atomic(void *) *)&table, GRAPHS_MAX * sizeof(*all));
	g = all ? take_place(all, graph) : NULL;
	if (!g) {
		lose(all ? LOSS_SLOTS_FULL : LOSS_NO_MEMORY, 1);
		return NULL;
	}
	clear(g);
	atomic_store_explicit(&g->id, graph, memory_order_release);
	return g;
}

/* ---- where they were made ---- */

static uint32_t depth_of(uint32_t node)
{
	uint32_t n = 0;

	for (; node; node = collector->node[node].parent)
		n++;
	return n;
}

/* The calling context that both are in. */
static uint32_t common(uint32_t a, uint32_t b)
{
	uint32_t depth_a = depth_of(a), depth_b = depth_of(b);

	for (; depth_a > depth_b; depth_a--)
		a = collector->node[a].parent;
	for (; depth_b > depth_a; depth_b--)
		b = collector->node[b].parent;
	while (a != b) {
		a = collector->node[a].parent;
		b = collector->node[b].parent;
	}
	return a;
}

static void made(struct whole_graph *g, uint32_t made_at)
{
	uint32_t old = atomic_load(&g->made_at);

	if (made_at == WIRE_NONE || made_at == old)
		return;
	atomic_store(&g->made_at, old == WIRE_NONE ? made_at : common(old, made_at));
}

static void count_part(struct whole_graph *g, enum graph_part part)
{
	atomic_fetch_add(&g->n[part], 1);
	atomic_store(&g->name, 0);
}

/* Of a kernel that is not known, and of what is none, only what it is. */
static void add_print(struct whole_graph *g, const struct graph_member *m)
{
	bool is_unknown = m->part == GRAPH_KERNEL && !m->what;

	atomic_fetch_add(&g->print, m->part == GRAPH_KERNEL && m->what
					    ? m->what
					    : stable_hash_end((uint64_t)m->part + 1));
	if (is_unknown)
		atomic_fetch_add(&g->n_unknown, 1);
}

/* ---- forms ---- */

/* What makes two graphs read alike: by nodes all do that were captured in one place. */
static uint32_t looks_of(const struct whole_graph *g)
{
	uint64_t h = hash_u64(atomic_load(&g->made_at));

	for (unsigned i = 0; is_whole() && i < GRAPH_N_PARTS; i++)
		h = hash_u64(h ^ atomic_load(&g->n[i]));
	return (uint32_t)(h >> 32) | 1;
}

/* Of graphs that read alike and run other kernels, or grids: the how manieth it is, in the order in which they ran
 * first, from 1 on. 0: more have been told apart than there is room for. */
static uint32_t number_of(const struct whole_graph *g)
{
	static _Atomic uint64_t known[NUMBERS_MAX]; /* looks << 32 | print */
	uint32_t looks = looks_of(g), n = 1;
	uint64_t its = (uint64_t)looks << 32 | hash_u64(atomic_load(&g->print)) >> 32, seen;

	for (uint32_t i = 0; i < NUMBERS_MAX; i++) {
		seen = 0;
		if (atomic_compare_exchange_strong(&known[i], &seen, its) || seen == its)
			return n;
		n += seen >> 32 == looks;
	}
	return 0;
}

/* 0: not known. */
static uint64_t captured_form(const struct whole_graph *g)
{
	if (!g || atomic_load(&g->n_unknown) || atomic_load(&g->is_changed))
		return 0;
	return stable_hash_end(atomic_load(&g->print)) >> 12 | 1;
}

/* ---- for others ---- */

/* Nodes of a copy are told of as made, too, where it is copied. */
void whole_graph_add(const struct graph_member *m, uint32_t made_at, bool is_new)
{
	struct whole_graph *g = find_or_make(m->number);

	if (!g)
		return;
	if (is_new)
		count_part(g, m->part);
	if (atomic_load(&g->is_copy))
		return;
	add_print(g, m);
	made(g, made_at);
}

bool whole_graph_copy(const struct graph_member *m, uint32_t made_at, uint32_t from,
		      uint32_t from_number, bool is_new)
{
	struct whole_graph *g = find_or_make(m->number), *of = whole_graph_find(from);

	if (!g)
		return false;
	if (is_new)
		count_part(g, m->part);
	if (!atomic_exchange(&g->is_copy, true)) {
		atomic_store(&g->made_at, WIRE_NONE);
		atomic_store(&g->print, 0);
		atomic_store(&g->n_unknown, 0);
	}
	add_print(g, m);
	made(g, made_at);
	if (of && !atomic_load(&g->said))
		atomic_store(&g->said, atomic_load(&of->said));
	return m->part <= GRAPH_SET &&
	       atomic_exchange(&g->first_from, from_number + 1) != from_number + 1;
}

/* Any that runs once a launch will do: the first that comes. */
bool whole_graph_counts_by(struct whole_graph *g, uint64_t node)
{
	uint64_t by = 0;

	return g && (atomic_compare_exchange_strong(&g->counted_by, &by, node) || by == node);
}

void whole_graph_gone(uint32_t graph)
{
	struct whole_graph *g = whole_graph_find(graph);

	if (g)
		atomic_store(&g->is_gone, true);
}

bool whole_graph_is_like(uint32_t graph, uint32_t like)
{
	const struct whole_graph *g = whole_graph_find(graph), *of = whole_graph_find(like);
	uint64_t form = captured_form(g);

	return form && form == captured_form(of) &&
	       whole_graph_made_at(g) == whole_graph_made_at(of);
}

/* What is made of what it runs is made anew. */
static void name_anew(struct whole_graph *g)
{
	atomic_store(&g->name, 0);
	atomic_store(&g->form_frame, 0);
	atomic_fetch_add(&n_changes, 1);
}

/* Of one that is changed into what it was, nothing has changed. */
void whole_graph_changed(uint32_t graph, enum graph_change what, uint32_t like)
{
	struct whole_graph *g = whole_graph_find(graph);

	if (!g || whole_graph_is_like(graph, like))
		return;
	atomic_store(&g->is_changed, true);
	if (what == GRAPH_NODES_CHANGED)
		atomic_store(&g->is_partly, true);
	name_anew(g);
}

/* A node that was a kernel is one. */
static void exchange_print(struct whole_graph *g, uint64_t was, uint64_t is)
{
	const uint64_t unknown = stable_hash_end((uint64_t)GRAPH_KERNEL + 1);

	if (!was == !is) {
		atomic_fetch_add(&g->print, is - was);
		return;
	}
	atomic_fetch_add(&g->print, (is ? is : unknown) - (was ? was : unknown));
	atomic_fetch_add(&g->n_unknown, is ? (uint32_t)-1 : 1);
}

void whole_graph_updated(uint32_t graph, const struct whole_update *u)
{
	struct whole_graph *g = whole_graph_find(graph), *of = whole_graph_find(u->from);

	if (!g)
		return;
	if (u->is_first) {
		atomic_store(&g->made_at, WIRE_NONE);
		atomic_store(&g->said, of ? atomic_load(&of->said) : 0);
		atomic_store(&g->is_changed, atomic_load(&g->is_partly));
	}
	if (u->was_forgotten)
		atomic_store(&g->is_changed, true);
	else
		exchange_print(g, u->was, u->is);
	made(g, u->made_at);
	name_anew(g);
}

uint32_t whole_graph_changes(void)
{
	return atomic_load_explicit(&n_changes, memory_order_relaxed);
}

uint64_t whole_graph_form(const struct whole_graph *g)
{
	uint64_t form = captured_form(g);

	return form && number_of(g) ? form : 0;
}

bool whole_graph_form_is_due(struct whole_graph *g, uint32_t slot)
{
	return atomic_load_explicit(&g->told_at, memory_order_relaxed) != slot + 1 &&
	       atomic_exchange(&g->told_at, slot + 1) != slot + 1;
}

uint32_t whole_graph_made_at(const struct whole_graph *g)
{
	return g ? atomic_load_explicit(&g->made_at, memory_order_relaxed) : WIRE_NONE;
}

uint32_t whole_graph_n_kernels(const struct whole_graph *g)
{
	return atomic_load_explicit(&g->n[GRAPH_KERNEL], memory_order_relaxed);
}

uint32_t whole_graph_n_nodes(const struct whole_graph *g)
{
	return whole_graph_n_kernels(g) +
	       atomic_load_explicit(&g->n[GRAPH_COPY], memory_order_relaxed) +
	       atomic_load_explicit(&g->n[GRAPH_SET], memory_order_relaxed);
}

bool whole_graph_is_counted(const struct whole_graph *g)
{
	return g && !atomic_load_explicit(&g->is_partly, memory_order_relaxed);
}

_Atomic uint32_t *whole_graph_said(struct whole_graph *g)
{
	return &g->said;
}

/* ---- names ---- */

/* The first is most often the only one. */
static size_t put_number(const struct whole_graph *g, char *text, size_t size)
{
	bool is_changed = g && atomic_load(&g->is_changed);
	uint32_t number = g && !is_changed ? number_of(g) : 1;

	if (is_changed)
		return (size_t)snprintf(text, size, " changed");
	if (number == 1)
		return 0;
	return number ? (size_t)snprintf(text, size, " %u", number)
		      : (size_t)snprintf(text, size, " other");
}

/* "<graph: 300 kernels, 1 copy>", "<graph 2: 300 kernels, 1 copy>" */
static uint32_t make_name(const struct whole_graph *g)
{
	static const char *const words[GRAPH_N_PARTS][2] = {
		[GRAPH_KERNEL] = {"kernel", "kernels"}, [GRAPH_COPY] = {"copy", "copies"},
		[GRAPH_SET] = {"set", "sets"},          [GRAPH_GRAPH] = {"graph", "graphs"},
		[GRAPH_OTHER] = {"other", "others"},
	};
	char text[160] = GRAPH_RUN_BEGIN;
	size_t len = strlen(text);
	const char *between = ": ";

	len += put_number(g, text + len, sizeof(text) - len);
	for (unsigned i = 0; g && !atomic_load(&g->is_partly) && i < GRAPH_N_PARTS; i++) {
		uint32_t n = atomic_load_explicit(&g->n[i], memory_order_relaxed);

		if (!n)
			continue;
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%u %s", between, n,
					words[i][n != 1]);
		between = ", ";
	}
	len += (size_t)snprintf(text + len, sizeof(text) - len, ">");
	return string_intern(text, len);
}

uint32_t whole_graph_name(struct whole_graph *g)
{
	uint32_t name = g ? atomic_load_explicit(&g->name, memory_order_relaxed) : 0;

	if (name)
		return name;
	name = make_name(g);
	if (g)
		atomic_store_explicit(&g->name, name, memory_order_relaxed);
	return name;
}

static uint32_t make_form_frame(const struct whole_graph *g)
{
	char text[32] = FORM_BEGIN;
	size_t len = strlen(text), number;

	number = put_number(g, text + len, sizeof(text) - len);
	len += number;
	len += (size_t)snprintf(text + len, sizeof(text) - len, ">");
	return number ? string_intern(text, len) : 0;
}

/* Where it was captured must be known: all others are of one place. */
uint32_t whole_graph_form_frame(uint32_t graph)
{
	struct whole_graph *g = whole_graph_find(graph);
	uint32_t frame = g ? atomic_load_explicit(&g->form_frame, memory_order_relaxed) : 1;

	if (!frame) {
		frame = whole_graph_made_at(g) == WIRE_NONE ? 1 : make_form_frame(g) + 1;
		atomic_store_explicit(&g->form_frame, frame, memory_order_relaxed);
	}
	return frame - 1;
}
