/* SPDX-License-Identifier: MIT */
/* What CUPTI tells of CUDA graphs as they are made: which node is made by whom, and after which other one.
 *
 * Records are of nodes of executable graphs, and an executable graph has no other graphs in it: of an inner graph CUPTI
 * tells of a copy, whose nodes then move into the outermost one and get other ids there. That it does not tell (CUPTI
 * 13.0, on an H100). But they stay the same objects: once the graph is made they are asked for their ids again.
 *
 * Of what type a node is it says before the node is made alone; later, and of copies, that field is nothing. Nodes of an
 * executable graph that are no copies are the driver's own, and have no records.
 *
 * An executable graph that is made like another one runs what that was captured as: CUPTI (13.0) tells of each node which
 * one that is, within the call. An older one does not: what it runs is not known then.
 *
 * What stands in the body of a conditional node runs when a kernel says so: its records have correlation id 0. They
 * are charged to the newest launch of their graph. */
#include "config.h" // IWYU pragma: keep

#include <string.h>
#include <sys/mman.h>

#include "backends/cupti.h"
#include "backends/pages.h"
#include "backends/ptrmap.h"
#include "base/hash.h"
#include "base/util.h"

enum {
	COPIES_MAX = 1 << 18, /* in one executable graph: as many as the collector knows nodes */
	GONE_MAX = 1 << 16,   /* nodes that went meanwhile */
	NEWEST_N = 4096,      /* executable graphs with others in them; a power of two */
};

/* Nodes that are copied while this thread makes an executable graph. */
struct cupti_making {
	const void *graph; /* of the first */
	bool is_nested;    /* others are of another graph */
	void *created;     /* the newest node: the driver's own unless it is told to be a copy */
	uint32_t n, n_gone;
	const void *gone[2 * GONE_MAX]; /* a set */
	struct {
		void *node;
		uint64_t id;
		enum graph_part part;
	} copy[COPIES_MAX];
};

static struct {
	struct ptrmap number;              /* of an executable graph: what its records say */
	atomic_bool is_used;               /* there is one in it */
	_Atomic uint64_t newest[NEWEST_N]; /* number << 32 | launch context */
} nested;

/* 0: not known. */
static uint64_t node_id(const struct cupti *c, void *node)
{
	uint64_t id = 0;

	return node && c->api.cuptiGetGraphNodeId && c->api.cuptiGetGraphNodeId(node, &id) == ABI_OK
		       ? id
		       : 0;
}

/* The number of its graph, as records have it, is a part of a node's. */
static struct graph_member member(const struct cupti *c, uint64_t id, enum graph_part part)
{
	return (struct graph_member){.node = id,
				     .graph = c->whole_graphs ? (uint32_t)(id >> 32) : 0,
				     .number = (uint32_t)(id >> 32),
				     .part = part};
}

/* This node is made next by this thread; others come between where it is to hold them. */
static void on_creating(struct cupti *c, const struct abi_graph_data *g)
{
	struct cupti_node_type *t = &cupti_thread.making_node;

	(void)c;
	if (!g)
		return;
	if (g->node_type == ABI_NODE_GRAPH || g->node_type == ABI_NODE_CONDITIONAL) {
		t = cupti_thread.making_outer;
		memmove(&t[1], &t[0], (CUPTI_OUTER_MAX - 1) * sizeof(*t));
	}
	*t = (struct cupti_node_type){g->node, g->node_type};
}

static uint32_t type_of(const void *node)
{
	const struct cupti_node_type *t = &cupti_thread.making_node;

	for (unsigned i = 0; t->node != node && i < CUPTI_OUTER_MAX; i++)
		t = &cupti_thread.making_outer[i];
	return t->node == node ? t->type : ABI_NODE_UNKNOWN;
}

static enum graph_part part_of(const struct abi_graph_data *g)
{
	uint32_t type = type_of(g->node);
	static const uint8_t parts[] = {[ABI_NODE_KERNEL] = GRAPH_KERNEL,
					[ABI_NODE_MEMCPY] = GRAPH_COPY,
					[ABI_NODE_MEMSET] = GRAPH_SET,
					[ABI_NODE_HOST] = GRAPH_OTHER,
					[ABI_NODE_GRAPH] = GRAPH_GRAPH};

	return type < ARRAY_SIZE(parts) ? (enum graph_part)parts[type] : GRAPH_OTHER;
}

static struct graph_member told(const struct cupti *c, const struct abi_graph_data *g)
{
	return member(c, node_id(c, g->node), part_of(g));
}

/* ---- an executable graph is made ---- */

void cupti_graphs_making(struct cupti_thread *t, bool on)
{
	if (on && !t->making) {
		t->making = pages_reserve_sparse(sizeof(*t->making));
	} else if (!on && t->making) {
		munmap(t->making, sizeof(*t->making));
		t->making = NULL;
	}
}

static void remember(struct cupti_making *m, const struct abi_graph_data *g, uint64_t id)
{
	if (!m || !id || m->n == COPIES_MAX)
		return;
	if (!m->n)
		m->graph = g->graph;
	m->is_nested |= m->graph != g->graph;
	m->copy[m->n].node = g->node;
	m->copy[m->n].part = part_of(g);
	m->copy[m->n++].id = id;
}

/* Its place in the set of those that went, or where that would be. */
static const void **gone_at(struct cupti_making *m, const void *node)
{
	uint64_t i = hash_u64((uintptr_t)node);

	while (m->gone[i % ARRAY_SIZE(m->gone)] && m->gone[i % ARRAY_SIZE(m->gone)] != node)
		i++;
	return &m->gone[i % ARRAY_SIZE(m->gone)];
}

/* Nobody may be asked about it any more. */
static void forget(struct cupti_making *m, const void *node)
{
	const void **at = gone_at(m, node);

	if (m->n_gone == GONE_MAX) {
		m->n = 0;
	} else if (!*at) {
		*at = node;
		m->n_gone++;
	}
}

static void forget_executable(const void *executable)
{
	uint64_t number;

	if (atomic_load(&nested.is_used))
		ptrmap_take(&nested.number, executable, &number);
}

/* The newest launch of it is to be known. */
static void number_executable(const void *executable, uint64_t number)
{
	if (!executable || !number)
		return;
	forget_executable(executable);
	if (ptrmap_add(&nested.number, executable, number))
		atomic_store(&nested.is_used, true);
}

/* Its nodes are where they will stay. */
static void made(struct cupti *c, struct cupti_making *m, const void *executable)
{
	uint64_t number = 0, id;
	struct graph_member moved;

	if (!m || !m->is_nested)
		return;
	for (uint32_t i = 0; i < m->n; i++) {
		id = *gone_at(m, m->copy[i].node) ? 0 : node_id(c, m->copy[i].node);
		if (!id)
			continue;
		number = id >> 32;
		moved = member(c, id, m->copy[i].part);
		if (id != m->copy[i].id && c->sink->ops->cloned)
			c->sink->ops->cloned(c->sink, m->copy[i].id, &moved);
	}
	number_executable(executable, number);
}

/* ---- launches ---- */

/* Behind its name. */
static uint64_t what_of(uint64_t h, const struct abi_launch_shape *s)
{
	for (unsigned i = 0; i < 3; i++)
		h = stable_hash_u32(stable_hash_u32(h, s->grid[i]), s->block[i]);
	return stable_hash_end(h) | 1;
}

/* By its name, which CUPTI tells of launches alone: the driver, which would say it of others, may not be called from
 * here. 0: not known. */
static uint64_t launched_what(const struct cupti_thread *t)
{
	const struct abi_launch_shape *s = cupti_launched(t).shape;

	if (!s || !t->launching_symbol)
		return 0;
	return what_of(stable_hash(STABLE_HASH_BEGIN, t->launching_symbol,
				   strlen(t->launching_symbol) + 1),
		       s);
}

void cupti_graphs_add(struct cupti_thread *t, const struct abi_kernel_node *node, bool with_kernel)
{
	uint64_t name = cupti_functions_name(node ? abi_node_function(node, with_kernel) : NULL);

	t->adding_what = name ? what_of(name, &node->shape) : 0;
}

void cupti_graphs_launch(const void *executable, uint32_t launch)
{
	uint64_t number;

	if (atomic_load_explicit(&nested.is_used, memory_order_relaxed) &&
	    ptrmap_get(&nested.number, executable, &number))
		atomic_store_explicit(&nested.newest[number % NEWEST_N], number << 32 | launch,
				      memory_order_relaxed);
}

uint32_t cupti_graphs_newest(uint32_t number)
{
	uint64_t newest =
		atomic_load_explicit(&nested.newest[number % NEWEST_N], memory_order_relaxed);

	return newest >> 32 == number ? (uint32_t)newest : 0;
}

void cupti_graphs_pass(uint32_t from, uint32_t to)
{
	atomic_store_explicit(&nested.newest[to % NEWEST_N],
			      (uint64_t)to << 32 | cupti_graphs_newest(from), memory_order_relaxed);
}

/* ---- changes ---- */

static uint32_t executable_number(const struct cupti *c, void *executable)
{
	uint32_t number = 0;

	return executable && c->api.cuptiGetGraphExecId &&
			       c->api.cuptiGetGraphExecId(executable, &number) == ABI_OK
		       ? number
		       : 0;
}

static uint32_t graph_number(const struct cupti *c, void *graph)
{
	uint32_t number = 0;

	return graph && c->api.cuptiGetGraphId && c->api.cuptiGetGraphId(graph, &number) == ABI_OK
		       ? number
		       : 0;
}

/* Where CUPTI has told of each node there is nothing more to say. */
static bool has_changed(const struct cupti *c, const struct abi_call *call)
{
	if (call->site == ABI_ENTER)
		cupti_thread.n_updated = 0;
	return call->site == ABI_EXIT && call->params && c->sink->ops->changed &&
	       !cupti_thread.n_updated &&
	       (!call->result || *(const uint32_t *)call->result == ABI_CALL_OK);
}

void cupti_graphs_change(struct cupti *c, const struct abi_call *call, enum graph_change what)
{
	void *const *params = call->params;
	struct graph_member m = {0};

	if (!has_changed(c, call))
		return;
	if (what == GRAPH_NODE_CHANGED)
		m = member(c, node_id(c, params[0]), GRAPH_OTHER);
	else
		m.number = executable_number(c, params[0]);
	c->sink->ops->changed(c->sink, what, &m, 0);
}

bool cupti_graphs_update(struct cupti *c, const struct abi_call *call)
{
	const struct activity_sink_ops *ops = c->sink->ops;
	void *const *params = call->params;
	struct graph_member m = {0};
	bool has = has_changed(c, call);

	if (!params)
		return false;
	m.number = executable_number(c, params[0]);
	if (has)
		ops->changed(c->sink, GRAPH_KERNELS_CHANGED, &m, graph_number(c, params[1]));
	return call->site == ABI_ENTER && ops->is_like &&
	       !ops->is_like(c->sink, m.number, graph_number(c, params[1]));
}

/* ---- what CUPTI tells ---- */

static void on_created(struct cupti *c, const struct abi_graph_data *g)
{
	const struct activity_sink_ops *ops = c->sink->ops;
	struct graph_member m = g ? told(c, g) : (struct graph_member){0};

	if (cupti_thread.making) {
		cupti_thread.making->created = g ? g->node : NULL;
		return;
	}
	/* While this thread launches, the stream is being captured. Another one is made by the program, or by a copy
	 * into such a stream. */
	if (cupti_thread.launching) {
		m.what = m.part == GRAPH_KERNEL ? launched_what(&cupti_thread) : 0;
		cupti_launches_take_back(c);
		if (ops->captured)
			ops->captured(c->sink, &m);
	} else if (ops->built) {
		m.what = m.part == GRAPH_KERNEL ? cupti_thread.adding_what : 0;
		ops->built(c->sink, &m);
	}
}

/* A graph is copied, or made executable: records are of the new node. */
static void on_cloned(struct cupti *c, const struct abi_graph_data *g)
{
	struct graph_member m;

	if (!g)
		return;
	m = told(c, g);
	if (cupti_thread.making && cupti_thread.making->created == g->node && c->sink->ops->built)
		c->sink->ops->built(c->sink, &m);
	if (c->sink->ops->cloned)
		c->sink->ops->cloned(c->sink, node_id(c, g->original_node), &m);
	remember(cupti_thread.making, g, m.node);
}

/* Of a call that fails nothing is told. */
static void on_updated(struct cupti *c, const struct abi_graph_data *g)
{
	uint64_t id = g ? node_id(c, g->original_node) : 0;
	struct graph_member m = member(c, id, GRAPH_OTHER);

	if (id && c->sink->ops->updated)
		c->sink->ops->updated(c->sink, node_id(c, g->node), &m, !cupti_thread.n_updated++);
}

static void on_destroyed(struct cupti *c, const struct abi_graph_data *g)
{
	struct graph_member m;

	if (!g)
		return;
	if (cupti_thread.making)
		forget(cupti_thread.making, g->node);
	m = told(c, g);
	if (c->sink->ops->removed)
		c->sink->ops->removed(c->sink, &m);
}

/* Any may be launched with a kernel in it that launches another. */
static void on_made(struct cupti *c, const struct abi_graph_data *g)
{
	if (!g)
		return;
	made(c, cupti_thread.making, g->executable);
	if (c->device_graphs)
		number_executable(g->executable, executable_number(c, g->executable));
}

static void on_unmade(struct cupti *c, const struct abi_graph_data *g)
{
	uint32_t number;

	if (!g)
		return;
	forget_executable(g->executable);
	number = c->whole_graphs ? executable_number(c, g->executable) : 0;
	if (number && c->sink->ops->gone)
		c->sink->ops->gone(c->sink, number);
}

static void (*const tell[ABI_N_RESOURCES])(struct cupti *, const struct abi_graph_data *) = {
	[ABI_RESOURCE_GRAPH_NODE_CREATING] = on_creating,
	[ABI_RESOURCE_GRAPH_NODE_CREATED] = on_created,
	[ABI_RESOURCE_GRAPH_NODE_CLONED] = on_cloned,
	[ABI_RESOURCE_GRAPH_NODE_UPDATED] = on_updated,
	[ABI_RESOURCE_GRAPH_NODE_DESTROYED] = on_destroyed,
	[ABI_RESOURCE_GRAPH_EXEC_CREATED] = on_made,
	[ABI_RESOURCE_GRAPH_EXEC_DESTROYED] = on_unmade,
};

bool cupti_graphs_wants(uint32_t id)
{
	return id < ABI_N_RESOURCES && tell[id];
}

void cupti_graphs_on(struct cupti *c, uint32_t id, const struct abi_graph_data *g)
{
	if (cupti_graphs_wants(id))
		tell[id](c, g);
}
