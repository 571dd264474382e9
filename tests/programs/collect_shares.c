/* SPDX-License-Identifier: MIT */
/* CUDA graphs, to be recorded by nodes once and whole another time: collect_shares LIBCUDA nodes|whole, with the mock
 * libcupti. Which it is decides how long they take and how often they run, and what is different between the two runs.
 * See tests/scripts/collect_shares.sh. */
#include "config.h" // IWYU pragma: keep
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "programs/mock_graphs.h"
#include "proton/proton.h"

enum { NODES_MAX = 8 };
/* Of calls that change a graph. */
enum { UPDATE_CALL = 696, EXEC_KERNEL_CALL = 692, NODE_CALL = 691, ENABLE_CALL = 650 };

static bool whole;
static uint32_t n_graphs, grid;

/* A graph, while it is captured, and then what runs. */
struct graph {
	uint32_t number;
	unsigned n;
	struct {
		uint64_t id;
		uint32_t kind;
		const char *name;
		uint64_t ns;
	} node[NODES_MAX];
};

static struct graph begin(void)
{
	return (struct graph){.number = ++n_graphs};
}

static void put(struct graph *g, uint64_t id, uint32_t kind, const char *name, uint64_t ns)
{
	g->node[g->n].id = id;
	g->node[g->n].kind = kind;
	g->node[g->n].name = name;
	g->node[g->n++].ns = ns;
}

static void capture(struct graph *g, uint32_t kind, const char *name, uint64_t ns)
{
	put(g, capture_node(g->number, kind, name, grid), kind, name, ns);
}

/* By hand: no launch, so nobody says which kernel it is. */
static void build(struct graph *g, const char *name, uint64_t ns)
{
	put(g, add_node(g->number, ABI_NODE_KERNEL), ABI_KIND_CONCURRENT_KERNEL, name, ns);
}

static void capture_in(struct graph *g, const char *scope, const char *kernel, uint64_t ns)
{
	proton_enter_scope(scope);
	capture(g, ABI_KIND_CONCURRENT_KERNEL, kernel, ns);
	proton_exit_scope();
}

static struct graph instantiate(const struct graph *of)
{
	struct graph g = *of;

	g.number = ++n_graphs;
	for (unsigned i = 0; i < g.n; i++)
		g.node[i].id = copy_node(g.number, of->node[i].id,
					 of->node[i].kind == ABI_KIND_MEMCPY ? ABI_NODE_MEMCPY
									     : ABI_NODE_KERNEL);
	made_executable(g.number);
	return g;
}

static void run(const struct graph *g, unsigned i, uint64_t ns)
{
	struct mock_op op = {.kind = g->node[i].kind,
			     .name = g->node[i].name,
			     .graph = g->number,
			     .graph_node = g->node[i].id,
			     .stream = 7,
			     .bytes = 100,
			     .lasts_ns = ns};

	call(GRAPH_CALL, &op);
}

/* One record of all, or one of each node. */
static void launch(const char *scope, const struct graph *g, unsigned times, uint64_t whole_ns)
{
	proton_enter_scope(scope);
	for (unsigned t = 0; t < times; t++)
		for (unsigned i = 0; i < (whole ? 1 : g->n); i++)
			run(g, i, whole ? whole_ns : g->node[i].ns);
	proton_exit_scope();
}

static void run_model(void)
{
	struct graph g = begin();

	proton_enter_scope("model");
	proton_enter_scope("layer 0");
	capture(&g, ABI_KIND_CONCURRENT_KERNEL, "gemm", 29000);
	capture(&g, ABI_KIND_CONCURRENT_KERNEL, "relu", 7000);
	proton_exit_scope();
	proton_enter_scope("layer 1");
	capture(&g, ABI_KIND_CONCURRENT_KERNEL, "gemm", 11000);
	capture(&g, ABI_KIND_CONCURRENT_KERNEL, "gemm", 13000);
	capture(&g, ABI_KIND_MEMCPY, NULL, 5000);
	proton_exit_scope();
	proton_exit_scope();
	g = instantiate(&g);
	launch("replay", &g, whole ? 7 : 10, 20001);
	/* Launched from elsewhere than by nodes. */
	if (whole)
		launch("elsewhere", &g, 3, 1000);
}

/* Of another size in each run; the numbers of executions would fit. */
static void run_resized(void)
{
	struct graph g = begin();

	proton_enter_scope("resized");
	for (unsigned i = 0; i < (whole ? 2 : 4); i++)
		capture_in(&g, i % 2 ? "odd" : "even", "step", 1000);
	proton_exit_scope();
	g = instantiate(&g);
	launch("other size", &g, 10, 4000);
}

static void run_new(void)
{
	struct graph g = begin();

	capture_in(&g, "only whole", "new", 1000);
	g = instantiate(&g);
	if (whole)
		launch("new", &g, 2, 3000);
}

/* Sizes of a batch: the same kernels. */
static void run_sizes(void)
{
	for (unsigned size = 1; size <= 2; size++) {
		struct graph g = begin();

		proton_enter_scope("sizes");
		capture(&g, ABI_KIND_CONCURRENT_KERNEL, "attention", 1000 * size);
		capture(&g, ABI_KIND_CONCURRENT_KERNEL, "mlp", 3000 * size);
		proton_exit_scope();
		g = instantiate(&g);
		launch("decode", &g, 4, 1001 * size);
	}
}

static const char *const names[][2] = {{"a", "b"}, {"c", "d"}};

static struct graph capture_mixed(const char *scope, unsigned i)
{
	struct graph g = begin();

	proton_enter_scope(scope);
	capture(&g, ABI_KIND_CONCURRENT_KERNEL, names[i][0], 1000);
	capture(&g, ABI_KIND_CONCURRENT_KERNEL, names[i][1], 1000 + 2000 * i);
	proton_exit_scope();
	return g;
}

/* Captured in one place, with other kernels, and in another order. */
static void run_mixed(void)
{
	for (unsigned i = 0; i < 2; i++) {
		struct graph g = capture_mixed("mixed", whole ? 1 - i : i);

		g = instantiate(&g);
		launch("mixed", &g, 6, 2000);
	}
}

/* The same kernels with other grids, of which one ran in both runs; its shares are its own. */
static void run_grids(void)
{
	for (unsigned i = 0; i < 2; i++) {
		struct graph g = begin();

		grid = whole ? 32 >> 2 * i : 1 << 3 * i;
		proton_enter_scope("grids");
		capture(&g, ABI_KIND_CONCURRENT_KERNEL, "attention", 1000 * grid);
		capture(&g, ABI_KIND_CONCURRENT_KERNEL, "mlp", 8000);
		proton_exit_scope();
		g = instantiate(&g);
		launch("grids", &g, 5, 3000);
	}
	grid = 0;
}

/* As mixed, by hand. */
static void run_built(void)
{
	for (unsigned i = 0; i < 2; i++) {
		struct graph g = begin();

		proton_enter_scope("hand");
		build(&g, names[i][0], 1000);
		build(&g, names[i][1], 1000);
		proton_exit_scope();
		g = instantiate(&g);
		launch("built", &g, 3, 2000);
	}
}

/* Captured in one run, added by hand in the other. */
static void run_either(void)
{
	for (unsigned i = 0; i < 2; i++) {
		struct graph g = begin();

		proton_enter_scope("either");
		for (unsigned k = 0; k < 2; k++) {
			const char *name = names[whole ? 1 - i : i][k];
			uint64_t ns = 1000 + 2000 * k;

			name_kernel(handle(100), name);
			if (whole)
				put(&g, add_kernel(g.number, ADD_CALL, handle(100), NULL, 0),
				    ABI_KIND_CONCURRENT_KERNEL, name, ns);
			else
				capture(&g, ABI_KIND_CONCURRENT_KERNEL, name, ns);
		}
		proton_exit_scope();
		g = instantiate(&g);
		launch("either", &g, 2, 2000);
	}
}

static void change(uint32_t how, const struct graph *g, uintptr_t second)
{
	call(how, &(struct mock_op){.executable = handle(g->number), .src = handle(second)});
}

/* Made like another capture, of the same form; then of another one, and it runs that. */
static void run_updated(void)
{
	struct graph first = capture_mixed("update", 0), same = capture_mixed("update", 0),
		     other = capture_mixed("update", 1), g = instantiate(&first);

	launch("updated", &g, 2, 1000);
	change(UPDATE_CALL, &g, same.number);
	launch("updated", &g, 2, 1000);
	/* It fails: nothing has changed. */
	call(UPDATE_CALL, &(struct mock_op){.executable = handle(g.number),
					    .src = handle(other.number),
					    .result = 910});
	launch("updated", &g, 2, 1000);
	change(UPDATE_CALL, &g, other.number);
	for (unsigned i = 0; i < 2; i++) {
		g.node[i].name = names[1][i];
		g.node[i].ns = 1000;
	}
	launch("updated", &g, 4, 1000);
}

/* A kernel of an executable graph is given another grid; a node of what it is made of, before it is made; a node is
 * switched off. */
static void run_changed(void)
{
	static const uint32_t calls[] = {EXEC_KERNEL_CALL, NODE_CALL, ENABLE_CALL};
	static const char *const scopes[] = {"set", "set before", "off"};

	for (unsigned i = 0; i < 3; i++) {
		struct graph of = capture_mixed(scopes[i], 0), g;

		if (calls[i] == NODE_CALL)
			call(NODE_CALL, &(struct mock_op){.executable = handle(of.node[0].id)});
		g = instantiate(&of);
		if (calls[i] != NODE_CALL)
			change(calls[i], &g, of.node[1].id);
		g.n = calls[i] == ENABLE_CALL ? 1 : 2;
		launch("changed", &g, 3, 1000);
	}
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	whole = !strcmp(argv[2], "whole");
	start(argv[1]);
	run_model();
	run_resized();
	run_new();
	run_sizes();
	run_mixed();
	run_grids();
	run_built();
	run_either();
	run_updated();
	run_changed();
	call(KERNEL_CALL, &(struct mock_op){.kind = ABI_KIND_CONCURRENT_KERNEL, .name = "gemm"});
	return 0;
}
