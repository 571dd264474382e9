/* SPDX-License-Identifier: MIT */
/* A graph of three launches, two of which the program names and measures, and which runs five times:
 * collect_graphs LIBCUDA, with the mock libcupti. See tests/scripts/collect_graphs.sh. */
#include "config.h" // IWYU pragma: keep
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include "programs/mock_graphs.h"
#include "proton/proton.h"

enum {
	N_RUNS = 5,
	RING = 1 << 17 /* of cuda_values.c */
};

static mock_clone_fn *clone_node;

static void capture(const char *kernel, uint64_t node)
{
	const struct mock_op op = {.kind = ABI_KIND_CONCURRENT_KERNEL,
				   .name = kernel,
				   .captured = true,
				   .graph_node = node};

	call(KERNEL_CALL, &op);
}

/* One record a launch of the mock: as if each node were a graph of its own. */
static void run_node(const char *kernel, uint64_t node)
{
	const struct mock_op op = {
		.kind = ABI_KIND_CONCURRENT_KERNEL, .name = kernel, .graph = 9, .graph_node = node};

	call(GRAPH_CALL, &op);
}

/* A graph that computes numbers, which are metrics each time it runs; others are said while it is captured. */
static void numbers(const char *cuda)
{
	uint32_t (*launch)(const char *, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t,
			   uint32_t, void *, void **, void **);
	uint32_t (*begin)(void *, int), (*end)(void *, void **);
	int (*device)(const char *, uint64_t, int, size_t, void *);
	void (*instantiate)(void), (*run)(void), (*run_only)(void), *stream = (void *)1, *graph;
	char name[32];
	double real = 0;
	int32_t whole[2] = {0, 0};

	*(void **)&launch = find(cuda, "cuLaunchKernel");
	*(void **)&begin = find(cuda, "cuStreamBeginCapture_v2");
	*(void **)&end = find(cuda, "cuStreamEndCapture");
	*(void **)&instantiate = find(cuda, "mock_graph_instantiate");
	*(void **)&run = find(cuda, "mock_graph_launch");
	*(void **)&run_only = find(cuda, "mock_graph_run");
	*(void **)&device = find(getenv("PROTON_LIBRARY"), "proton_api_metric_device");
	begin(stream, 0);
	proton_enter_scope("numbers");
	proton_scope_metric_u64("rows", 3);
	proton_launch_begin("owner");
	device("flops", (uintptr_t)&real, 0, 1, stream);
	launch("_owner", 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL);
	proton_launch_end();
	device("part", (uintptr_t)whole, 5, 2, stream);
	device("last (pty)", (uintptr_t)whole, 5, 1, stream);
	proton_scope_metric_u64("columns", 5);
	for (int i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "many %d", i);
		proton_scope_metric_u64(name, 1);
	}
	proton_exit_scope();
	end(stream, &graph);
	instantiate();
	proton_scope_metric_u64("rows", 1000);
	/* Records that are read by two threads at once may take each other's numbers: from here on one buffer will do. */
	proton_session_deactivate(proton_session_start("before", NULL), 1);
	for (int i = 1; i <= N_RUNS; i++) {
		real = 1.5 * i;
		whole[0] = i;
		whole[1] = -i;
		proton_enter_scope(i == 2 ? "second" : "others");
		run();
		proton_exit_scope();
	}
	/* Until here records have come. */
	proton_session_deactivate(proton_session_start("until_here", NULL), 1);
	/* Records are so late that the ring of four numbers a run goes round: those of one run are overwritten. */
	real = 100;
	for (int i = 0; i < RING / 4; i++)
		run_only();
	proton_enter_scope("late");
	run();
	proton_exit_scope();
	/* Contexts come and go, and with them what was loaded there: more of them than can be are refused. */
	for (int i = 0; i < 70; i++) {
		call(RESET_CALL, &(struct mock_op){0});
		begin(stream, 0);
		device("again (pty)", (uintptr_t)&real, 0, 1, stream);
		end(stream, &graph);
	}
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	start(argv[1]);
	*(void **)&clone_node = find(getenv("PROTON_CUPTI_PATH"), "mock_clone");
	proton_enter_scope("capture");
	proton_launch_begin("matmul 64");
	proton_scope_metric("flops", 64);
	proton_scope_metric_u64("bytes", 32);
	capture("_matmul", 100);
	capture("_reduce", 101);
	proton_launch_end();
	capture("plain", 102);
	proton_exit_scope();
	for (uint64_t node = 100; node < 103; node++)
		clone_node(node, node + 100);
	proton_enter_scope("replay");
	for (int i = 0; i < N_RUNS; i++) {
		run_node("_matmul", 200);
		run_node("_reduce", 201);
		run_node("plain", 202);
	}
	proton_exit_scope();
	numbers(argv[1]);
	for (int i = 0; getenv("MANY_METRICS") && i < 300; i++) {
		char name[32];

		snprintf(name, sizeof(name), "one of many %d", i);
		proton_scope_metric_u64(name, 1);
	}
	return 0;
}
