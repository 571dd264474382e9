/* SPDX-License-Identifier: MIT */
/* Forms of CUDA graphs where it is easy to mistake one for another: collect_forms LIBCUDA nodes|whole, with the mock
 * libcupti. Both runs do the same. See tests/scripts/collect_forms.sh. */
#include "config.h" // IWYU pragma: keep
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "programs/mock_graphs.h"
#include "proton/proton.h"

enum { MAKE_CALL = 643, UPDATE_CALL = 696 };
enum { NODES_MAX = 8, N_MANY = 10000, N_OTHERS = 1500 };

static bool whole;
static _Atomic uint32_t n_graphs;

struct graph {
	uint32_t number;
	uintptr_t handle; /* where it is executable; 0: its number */
	unsigned n;
	uint64_t node[NODES_MAX];
	const char *name[NODES_MAX];
};

static struct graph begin(void)
{
	return (struct graph){.number = ++n_graphs};
}

static void capture(struct graph *g, const char *name)
{
	g->node[g->n] = capture_node(g->number, ABI_KIND_CONCURRENT_KERNEL, name, 0);
	g->name[g->n++] = name;
}

static struct graph capture_two(const char *scope, const char *first, const char *second)
{
	struct graph g = begin();

	proton_enter_scope(scope);
	capture(&g, first);
	capture(&g, second);
	proton_exit_scope();
	return g;
}

static struct graph copy(const struct graph *of)
{
	struct graph g = *of;

	g.number = ++n_graphs;
	for (unsigned i = 0; i < g.n; i++)
		g.node[i] = copy_node(g.number, of->node[i], ABI_NODE_KERNEL);
	return g;
}

/* At a handle, which another one may have had. */
static struct graph instantiate_at(const struct graph *of, uintptr_t at)
{
	struct graph g = copy(of);

	g.handle = at ? at : g.number;
	if (at)
		move_node(at, g.number);
	made_executable(g.handle);
	return g;
}

static struct graph instantiate(const struct graph *of)
{
	return instantiate_at(of, 0);
}

static void destroy(const struct graph *g)
{
	for (unsigned i = 0; i < g->n; i++)
		destroy_node(g->node[i]);
	if (g->handle)
		destroy_executable(g->handle);
}

/* One record of all, or one of each node. */
static void launch(const char *scope, const struct graph *g, unsigned times)
{
	struct mock_op op = {.kind = ABI_KIND_CONCURRENT_KERNEL,
			     .graph = g->number,
			     .stream = 7,
			     .executable = handle(g->handle)};

	proton_enter_scope(scope);
	for (unsigned t = 0; t < times; t++)
		for (unsigned i = 0; i < (whole ? 1 : g->n); i++) {
			op.name = g->name[i];
			op.graph_node = g->node[i];
			call(GRAPH_CALL, &op);
		}
	proton_exit_scope();
}

/* One goes while its replays are due, and another one has its handle. */
static void run_reused(void)
{
	enum { HANDLE = 0x7f0010 };
	struct graph a = capture_two("reused", "a", "b"), c = capture_two("reused", "c", "d");
	struct graph run = instantiate_at(&a, HANDLE);

	automatic(false);
	launch("reused", &run, 3);
	destroy(&run);
	run = instantiate_at(&c, HANDLE);
	/* As it is, which says that it is the new one that is meant. */
	call(UPDATE_CALL, &(struct mock_op){.executable = handle(HANDLE), .src = handle(c.number)});
	launch("reused", &run, 2);
	complete(100, true); /* those of the new one first */
	automatic(true);
}

/* Captured in one place, run once and destroyed: two forms by turns. */
static void run_many(void)
{
	for (unsigned i = 0; i < N_MANY; i++) {
		struct graph g = i % 2 ? capture_two("many", "a", "b")
				       : capture_two("many", "c", "d"),
			     run = instantiate(&g);

		destroy(&g);
		launch("many", &run, 1);
		destroy(&run);
		if (i % 500 == 499)
			wait_for_records();
	}
}

/* More forms than are told apart. */
static void run_others(void)
{
	static char names[N_OTHERS][16];

	for (unsigned i = 0; i < N_OTHERS; i++) {
		struct graph g = begin(), run;

		snprintf(names[i], sizeof(names[i]), "kernel_%u", i % 100);
		proton_enter_scope("others");
		for (unsigned k = 0; k < 3; k++)
			capture(&g, names[(i / (k ? 10 * k : 1)) % N_OTHERS]);
		proton_exit_scope();
		run = instantiate(&g);
		launch("others", &run, 1);
		if (i % 500 == 499)
			wait_for_records();
	}
}

/* Threads that capture at once, a node each in turn. */
struct capturer {
	pthread_barrier_t *turn;
	const char *names[2];
	struct graph g;
};

static void *capture_by_turns(void *arg)
{
	struct capturer *c = arg;

	c->g = begin();
	proton_enter_scope("threads");
	for (unsigned i = 0; i < 2; i++) {
		pthread_barrier_wait(c->turn);
		capture(&c->g, c->names[i]);
	}
	proton_exit_scope();
	pthread_barrier_wait(c->turn);
	c->g = instantiate(&c->g);
	return NULL;
}

static void run_threads(void)
{
	pthread_barrier_t turn;
	struct capturer c[] = {{.turn = &turn, .names = {"a", "b"}},
			       {.turn = &turn, .names = {"c", "d"}}};
	pthread_t thread[2];

	pthread_barrier_init(&turn, NULL, 2);
	for (unsigned i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, capture_by_turns, &c[i]);
	for (unsigned i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	pthread_barrier_destroy(&turn);
	launch("threads", &c[0].g, 3);
	launch("threads", &c[1].g, 4);
}

/* A graph of a kernel and of another graph, whose nodes move into it when it is made executable. */
static struct graph outer, child, made;

static void make_nested(void)
{
	uint32_t inner = ++n_graphs;

	made = (struct graph){.number = ++n_graphs, .n = 3};
	made.handle = made.number;
	for (unsigned i = 0; i < 2; i++) {
		uint64_t node = copy_node(inner, child.node[i], ABI_NODE_KERNEL);

		made.node[1 + i] = new_node(made.number);
		made.name[1 + i] = child.name[i];
		move_node(node, made.node[1 + i]);
	}
	made.node[0] = copy_node(made.number, outer.node[0], ABI_NODE_KERNEL);
	made.name[0] = outer.name[0];
	made_executable(made.handle);
}

static void run_nested(void)
{
	outer = begin();
	proton_enter_scope("nested");
	capture(&outer, "outer");
	proton_exit_scope();
	child = capture_two("nested", "a", "b");
	call(MAKE_CALL, &(struct mock_op){.inside = make_nested});
	launch("nested", &made, 3);
}

/* A kernel and the body of a conditional node, which another kernel of it runs four times; and a body alone. */
static void launch_conditional(const char *scope, unsigned times)
{
	struct mock_op op = {.kind = ABI_KIND_CONCURRENT_KERNEL,
			     .graph = made.number,
			     .stream = 7,
			     .executable = handle(made.handle)};

	for (unsigned t = 0; t < times; t++)
		for (unsigned i = 0; i < (whole ? 1 : 1 + 4 * (made.n - 1)); i++) {
			unsigned node = i ? 1 + (i - 1) % (made.n - 1) : 0;

			proton_enter_scope(scope);
			op.by_kernel = i;
			op.name = made.name[node];
			op.graph_node = made.node[node];
			call(GRAPH_CALL, &op);
			proton_exit_scope();
		}
}

static void run_conditional(void)
{
	outer = begin();
	proton_enter_scope("conditional");
	capture(&outer, "outer");
	proton_exit_scope();
	child = capture_two("conditional", "a", "b");
	call(MAKE_CALL, &(struct mock_op){.inside = make_nested});
	launch_conditional("conditional", 3);
}

/* A copy of what was captured is made executable, and the copy's other copy. */
static void run_cloned(void)
{
	struct graph g = capture_two("cloned", "a", "b"), clone = copy(&g),
		     run = instantiate(&clone), again = copy(&clone);

	destroy(&g);
	again = instantiate(&again);
	launch("cloned", &run, 2);
	launch("cloned", &again, 3);
}

/* ---- by hand ---- */

/* What the driver gives: functions are 100 and more, kernels 200 and more. */
static void name_all(void)
{
	static const char *const names[] = {"a", "b"};

	for (unsigned i = 0; i < 2; i++) {
		name_kernel(handle(100 + i), names[i]);
		name_kernel(handle(200 + i), names[i]);
		same_kernel(handle(300 + i), handle(200 + i));
	}
}

static struct graph build_two(const char *scope, uint32_t by, uintptr_t function, uintptr_t kernel,
			      uint32_t grid)
{
	struct graph g = begin();

	proton_enter_scope(scope);
	for (unsigned i = 0; i < 2; i++) {
		g.node[g.n] = add_kernel(g.number, by, function ? handle(function + i) : NULL,
					 kernel ? handle(kernel + i) : NULL, grid);
		g.name[g.n++] = i ? "b" : "a";
	}
	proton_exit_scope();
	return g;
}

/* As threads() captures "a" and "b", by each call that adds a kernel; and where it is not known which one. */
static void run_built(void)
{
	static const struct {
		const char *scope;
		uint32_t by;
		uintptr_t function, kernel;
		uint32_t grid;
	} built[] = {
		{"built", ADD_V1_CALL, 100, 0, 0},   {"built", ADD_V1_CALL, 100, 999, 0},
		{"built", ADD_CALL, 100, 0, 0},      {"built", ADD_CALL, 300, 0, 0},
		{"built", ADD_CALL, 0, 200, 0},      {"built", ADD_ANY_CALL, 100, 0, 0},
		{"built", ADD_ANY_CALL, 0, 200, 0},  {"built", ADD_ANY_V2_CALL, 0, 200, 0},
		{"built", ADD_CALL, 100, 0, 7},      {"unnamed", ADD_CALL, 500, 0, 0},
		{"unnamed", ADD_V1_CALL, 0, 200, 0},
	};

	name_all();
	for (unsigned i = 0; i < sizeof(built) / sizeof(*built); i++) {
		struct graph g = build_two(built[i].scope, built[i].by, built[i].function,
					   built[i].kernel, built[i].grid),
			     run = instantiate(&g);

		launch(built[i].scope, &run, 1);
	}
}

/* A handle of a kernel that is gone may be another's. What had a handle last is what it is. */
static void run_unloaded(void)
{
	static const uint32_t calls[] = {UNLOAD_CALL, RESET_CALL};
	struct graph g, run;

	for (unsigned i = 0; i < 2; i++) {
		name_all();
		call(calls[i], &(struct mock_op){.n_records = 0});
		g = build_two("unloaded", ADD_CALL, 100, 0, 0);
		run = instantiate(&g);
		launch("unloaded", &run, 1);
	}
	name_kernel(handle(100), "a");
	name_kernel(handle(101), "other");
	name_kernel(handle(101), "b");
	g = build_two("renamed", ADD_CALL, 100, 0, 0);
	run = instantiate(&g);
	launch("renamed", &run, 1);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	whole = !strcmp(argv[2], "whole");
	start(argv[1]);
	run_reused();
	run_threads();
	run_nested();
	run_conditional();
	run_cloned();
	run_built();
	run_unloaded();
	run_many();
	run_others();
	return 0;
}
