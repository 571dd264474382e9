/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/graph_nodes.h"
#include "backends/pages.h"
#include "base/hash.h"
#include "base/util.h"
#include "collect/whole_graphs.h"
#include "wire/wire.h"

enum {
	NODES_MAX = 1 << 18, /* a power of two; of all graphs */
	SAID_MAX = 1 << 17,  /* different things that are said of them */
	PROBES_MAX = 32,
	FRAMES_MAX = 512, /* of a context that a node was made in; outer ones beyond are left out */
};

#define BEING_WRITTEN UINT64_MAX /* in place of an id */

/* What is said of a node, and of contexts that it was made in. Values are added by the thread that made the
 * node, before n. */
struct said {
	_Atomic uint32_t name;
	_Atomic uint32_t n;
	_Atomic uint32_t more;       /* another of these, with values alone; 0: there is none */
	struct node_value values[4]; /* few say more */
};

/* A node; id 0: free. */
struct place {
	_Atomic uint64_t id;
	_Atomic uint32_t made_at;
	_Atomic uint32_t said; /* 0: nothing */
	_Atomic uint32_t
		graph; /* whose it is, where that is recorded whole, and has what is said; else 0 */
	_Atomic uint32_t
		first_of;     /* whose first node it is, where that is not recorded whole; else 0 */
	_Atomic bool is_gone; /* its place is another's when one is wanted */
	uint64_t what;        /* as it was captured; written before the id */
};

static struct {
	_Atomic(struct place *) places;
	_Atomic(struct said *) said;
	_Atomic uint32_t n_said;
	_Atomic bool is_full, is_all_said;
} graphs;

/* ---- nodes ---- */

/* NULL: not known. */
static struct place *find(uint64_t id)
{
	struct place *p = atomic_load_explicit(&graphs.places, memory_order_acquire);
	uint64_t at = hash_u64(id), seen;

	for (unsigned i = 0; p && id && i < PROBES_MAX; i++, at++) {
		seen = atomic_load_explicit(&p[at % NODES_MAX].id, memory_order_acquire);
		if (seen == id)
			return &p[at % NODES_MAX];
		if (!seen)
			break;
	}
	return NULL;
}

static void forget_told(void)
{
	if (!atomic_exchange(&graphs.is_full, true))
		collect_note(NOTE_WARNING,
			     "CUDA graphs have more nodes than are kept: the oldest are shown "
			     "where their graph is launched, not where they were captured");
}

/* What is given to another first: those that are gone, the oldest of them, for ids count up. */
static uint64_t rank_of(const struct place *p, uint64_t id)
{
	return id == BEING_WRITTEN        ? UINT64_MAX
	       : atomic_load(&p->is_gone) ? id
					  : id | UINT64_C(1) << 63;
}

/* A place for it: its own, a free one, or the least wanted of those around. It is being written until it has its
 * id. NULL: others write all of them. */
static struct place *take_place(struct place *all, uint64_t id)
{
	struct place *oldest = NULL;
	uint64_t at = hash_u64(id), seen, least = BEING_WRITTEN, rank, lowest = UINT64_MAX;

	for (unsigned i = 0; i < PROBES_MAX; i++, at++) {
		struct place *p = &all[at % NODES_MAX];

		seen = atomic_load(&p->id);
		if ((!seen || seen == id) &&
		    atomic_compare_exchange_strong(&p->id, &seen, BEING_WRITTEN))
			return p;
		rank = rank_of(p, seen);
		if (rank < lowest) {
			lowest = rank;
			least = seen;
			oldest = p;
		}
	}
	if (!oldest || !atomic_compare_exchange_strong(&oldest->id, &least, BEING_WRITTEN))
		return NULL;
	if (!atomic_load(&oldest->is_gone))
		forget_told();
	return oldest;
}

static void put(uint64_t id, struct place is)
{
	struct place *all = pages_once_sparse((_Atomic(void *) *)&graphs.places,
					      NODES_MAX * sizeof(struct place));
	struct place *p = all ? take_place(all, id) : NULL;

	if (!p) {
		lose(all ? LOSS_SLOTS_FULL : LOSS_NO_MEMORY, 1);
		return;
	}
	atomic_store(&p->made_at, is.made_at);
	atomic_store(&p->said, is.said);
	atomic_store(&p->graph, is.graph);
	atomic_store(&p->first_of, is.first_of);
	atomic_store(&p->is_gone, false);
	p->what = is.what;
	atomic_store_explicit(&p->id, id, memory_order_release);
}

/* ---- what is said ---- */

static struct said *said_at(uint32_t i)
{
	struct said *s = atomic_load_explicit(&graphs.said, memory_order_acquire);

	return s && i && i < SAID_MAX ? &s[i] : NULL;
}

/* A place of its own; 0: all are taken. */
static uint32_t say_nothing(void)
{
	struct said *all =
		pages_once_sparse((_Atomic(void *) *)&graphs.said, SAID_MAX * sizeof(*all));
	uint32_t i;

	if (!all) {
		lose(LOSS_NO_MEMORY, 1);
		return 0;
	}
	i = atomic_fetch_add(&graphs.n_said, 1) + 1;
	if (i < SAID_MAX)
		return i;
	atomic_fetch_sub(&graphs.n_said, 1);
	if (!atomic_exchange(&graphs.is_all_said, true))
		collect_note(NOTE_WARNING,
			     "names and metrics are said of more nodes of CUDA graphs than are "
			     "kept: those of later captures are left out");
	return 0;
}

/* False: no room is left. */
static bool say_value(struct said *s, uint32_t node, const struct launch_value *v)
{
	uint32_t n;

	while (s && (n = atomic_load(&s->n)) == ARRAY_SIZE(s->values)) {
		if (!atomic_load(&s->more))
			atomic_store(&s->more, say_nothing());
		s = said_at(atomic_load(&s->more));
	}
	if (!s)
		return false;
	s->values[n] = (struct node_value){*v, node};
	atomic_store_explicit(&s->n, n + 1, memory_order_release);
	return true;
}

/* What is said of this node, or of its graph, for more. NULL: nothing can be. */
static struct said *said_of(struct place *p)
{
	uint32_t graph = p ? atomic_load(&p->graph) : 0;
	struct whole_graph *g = whole_graph_find(graph);
	_Atomic uint32_t *said = g ? whole_graph_said(g) : p && !graph ? &p->said : NULL;

	if (!said)
		return NULL;
	if (!atomic_load(said))
		atomic_store(said, say_nothing());
	return said_at(atomic_load(said));
}

/* ---- calling contexts ---- */

static uint32_t join(uint32_t launched_at, uint32_t made_at)
{
	uint32_t frames[FRAMES_MAX], n = 0, node;

	node = node_intern(
		launched_at,
		frame_intern(FRAME_GRAPH, string_intern(CAPTURED_AT, sizeof(CAPTURED_AT) - 1)));
	for (uint32_t at = made_at; at && n < FRAMES_MAX; at = collector->node[at].parent)
		frames[n++] = collector->node[at].frame;
	while (n)
		node = node_intern(node, frames[--n]);
	return node;
}

/* What a thread that delivers records remembers of it: it is the same for many. */
struct join {
	uint32_t launched_at, made_at, node; /* 0: none, for nothing is joined to the root */
};
enum { JOINS_MAX = 1024 };

uint32_t graph_node_context(struct thread_state *t, uint32_t launched_at, uint32_t made_at)
{
	uint64_t key = (uint64_t)launched_at << 32 | made_at;
	struct join *j;

	if (!t->joins)
		t->joins = pages_reserve(JOINS_MAX * sizeof(*t->joins));
	if (!t->joins)
		return join(launched_at, made_at);
	j = &t->joins[hash_u64(key) % JOINS_MAX];
	if (!j->node || j->launched_at != launched_at || j->made_at != made_at)
		*j = (struct join){launched_at, made_at, join(launched_at, made_at)};
	return j->node;
}

/* ---- for others ---- */

/* Is it known as a node of this graph? */
static bool is_known(const struct graph_member *m)
{
	const struct place *p = find(m->node);

	return p && atomic_load(&p->graph) == m->graph;
}

void graph_node_put(const struct graph_member *m, uint32_t made_at)
{
	whole_graph_add(m, made_at, !is_known(m));
	put(m->node, (struct place){.made_at = made_at, .graph = m->graph, .what = m->what});
}

void graph_node_copy(uint64_t from, const struct graph_member *m)
{
	const struct place *p = find(from);
	struct place is = {.made_at = WIRE_NONE, .graph = m->graph};
	struct graph_member copy = *m;

	if (p) {
		is.made_at = atomic_load(&p->made_at);
		is.said = atomic_load(&p->said);
		is.what = copy.what = p->what;
	}
	if (m->node &&
	    whole_graph_copy(&copy, is.made_at, p ? atomic_load(&p->graph) : 0,
			     (uint32_t)(from >> 32), !is_known(m)) &&
	    p && !m->graph)
		is.first_of = m->number;
	if (m->node && (p || m->graph))
		put(m->node, is);
}

void graph_node_updated(uint64_t from, const struct graph_member *m, bool is_first)
{
	struct place *p = find(m->node);
	const struct place *of = find(from);
	uint32_t made_at = of ? atomic_load(&of->made_at) : WIRE_NONE,
		 said = of ? atomic_load(&of->said) : 0;
	uint64_t what = of ? of->what : 0;

	whole_graph_updated(m->number,
			    &(struct whole_update){.made_at = made_at,
						   .from = of ? atomic_load(&of->graph) : 0,
						   .was = p ? p->what : 0,
						   .is = what,
						   .is_first = is_first,
						   .was_forgotten = !p});
	if (!p) { /* its place became another's: it has one again */
		put(m->node,
		    (struct place){
			    .made_at = made_at, .said = said, .graph = m->graph, .what = what});
		return;
	}
	p->what = what;
	atomic_store(&p->said, said);
	atomic_store(&p->made_at, made_at);
}

void graph_node_removed(const struct graph_member *m)
{
	struct place *p = find(m->node);

	whole_graph_gone(m->number);
	if (p)
		atomic_store(&p->is_gone, true);
}

void graph_node_changed(uint64_t id)
{
	struct place *p = find(id);

	if (p)
		p->what = 0;
}

/* The kernels of a graph that is recorded whole are not told apart: values of one are its context's. */
void graph_node_say(uint64_t id, uint32_t node, const struct launch_value *v)
{
	struct place *p = find(id);

	if (p && node == WIRE_NONE && atomic_load(&p->graph))
		node = atomic_load(&p->made_at) == WIRE_NONE ? 0 : atomic_load(&p->made_at);
	if (!say_value(said_of(p), node, v))
		lose(LOSS_SLOTS_FULL, 1);
}

void graph_node_call(uint64_t id, uint32_t name)
{
	struct place *p = find(id);
	struct said *s = p && !atomic_load(&p->graph) ? said_of(p) : NULL;

	if (s)
		atomic_store(&s->name, name);
}

void graph_value(struct thread_state *t, uint32_t node, const struct launch_value *v)
{
	struct capture_info *c = &t->capture;

	if (c->node)
		graph_node_say(c->node, node, v);
	else if (c->n_values < ARRAY_SIZE(c->values))
		c->values[c->n_values++] = (struct node_value){*v, node};
	else
		lose(LOSS_SLOTS_FULL, 1);
}

struct graph_node graph_node_find(uint64_t id)
{
	const struct place *p = find(id);

	if (!p)
		return (struct graph_node){WIRE_NONE, NULL, 0};
	return (struct graph_node){atomic_load_explicit(&p->made_at, memory_order_relaxed),
				   said_at(atomic_load_explicit(&p->said, memory_order_relaxed)),
				   atomic_load_explicit(&p->first_of, memory_order_relaxed)};
}

struct graph_node graph_node_of_whole(uint32_t graph)
{
	struct whole_graph *g = whole_graph_find(graph);

	if (!g)
		return (struct graph_node){WIRE_NONE, NULL, 0};
	return (struct graph_node){
		whole_graph_made_at(g),
		said_at(atomic_load_explicit(whole_graph_said(g), memory_order_relaxed)), 0};
}

uint32_t graph_node_name(const struct graph_node *node)
{
	return node->said ? atomic_load_explicit(&node->said->name, memory_order_relaxed) : 0;
}

const struct node_value *graph_node_values(const struct said **part, uint32_t *ret_n)
{
	const struct said *s = *part;

	*ret_n = atomic_load_explicit(&s->n, memory_order_acquire);
	*part = said_at(atomic_load_explicit(&s->more, memory_order_relaxed));
	return s->values;
}
