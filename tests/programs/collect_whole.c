/* SPDX-License-Identifier: MIT */
/* CUDA graphs of all kinds, to be recorded whole or by node: collect_whole LIBCUDA [REPLAYS], with the mock libcupti.
 * See tests/scripts/collect_whole.sh. */
#include "config.h" // IWYU pragma: keep
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include "programs/mock_graphs.h"
#include "proton/proton.h"

enum { NO_CALL = 1, UPDATE_CALL = 696, N_AGAIN = 40000 };

static uint32_t (*begin_capture)(void *, int), (*end_capture)(void *, void **);
static uint32_t grid = 1;

static uint64_t capture(uint32_t graph, uint32_t kind, const char *name)
{
	return capture_node(graph, kind, name, grid);
}

/* Kernels from first on, a copy behind them. Returns the first node of the executable graph. */
static uint64_t instantiate(uint32_t graph, uint64_t first, unsigned n_kernels, unsigned n_copies)
{
	uint64_t node, made = 0;

	for (unsigned i = 0; i < n_kernels + n_copies; i++) {
		node = copy_node(graph, first + i,
				 i < n_kernels ? ABI_NODE_KERNEL : ABI_NODE_MEMCPY);
		made = made ? made : node;
	}
	made_executable(graph);
	return made;
}

static void destroy(uint64_t first, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		destroy_node(first + i);
}

static void destroy_exec(uint32_t graph, uint64_t first, unsigned n)
{
	destroy(first, n);
	destroy_executable(graph);
}

static struct mock_op launch_of(uint32_t graph, unsigned n)
{
	return (struct mock_op){.kind = ABI_KIND_CONCURRENT_KERNEL,
				.name = "node",
				.n_records = n,
				.stream = 7,
				.graph = graph};
}

static void launch(const char *scope, uint32_t graph, unsigned n, unsigned times)
{
	const struct mock_op op = launch_of(graph, n);

	proton_enter_scope(scope);
	for (unsigned i = 0; i < times; i++)
		call(GRAPH_CALL, &op);
	proton_exit_scope();
}

/* Two layers of a model, one of which says how many rows it has. Returns the first node. */
static uint64_t capture_model(uint32_t graph, void *stream)
{
	void *captured;
	uint64_t first;

	begin_capture(stream, 0);
	proton_enter_scope("model");
	proton_enter_scope("layer 0");
	first = capture(graph, ABI_KIND_CONCURRENT_KERNEL, "gemm");
	proton_scope_metric_u64("rows", 3);
	proton_exit_scope();
	proton_enter_scope("layer 1");
	proton_launch_begin("named");
	proton_scope_metric("flops", 8);
	capture(graph, ABI_KIND_CONCURRENT_KERNEL, "gemm");
	proton_launch_end();
	capture(graph, ABI_KIND_MEMCPY, NULL);
	proton_exit_scope();
	proton_exit_scope();
	end_capture(stream, &captured);
	return first;
}

static uint64_t capture_two(uint32_t graph)
{
	uint64_t first = capture(graph, ABI_KIND_CONCURRENT_KERNEL, "gemm");

	capture(graph, ABI_KIND_CONCURRENT_KERNEL, "gemm");
	return first;
}

/* As for batches of several sizes, each captured twice. */
static void run_sizes(uint32_t graph)
{
	static const uint32_t sizes[] = {1, 8, 32, 8, 1, 32};
	uint64_t first;

	for (unsigned i = 0; i < 6; i++, graph += 2) {
		grid = sizes[i];
		proton_enter_scope("capture");
		first = capture_two(graph);
		proton_exit_scope();
		instantiate(graph + 1, first, 2, 0);
		launch("sizes", graph + 1, 2, sizes[i]);
	}
	grid = 1;
}

/* Its nodes one by one, as if each were launched by itself. */
static void launch_nodes(const char *scope, uint32_t graph, uint64_t first, unsigned n)
{
	struct mock_op op = launch_of(graph, 1);

	proton_enter_scope(scope);
	for (unsigned i = 0; i < n; i++) {
		op.graph_node = first + i;
		call(GRAPH_CALL, &op);
	}
	proton_exit_scope();
}

static uint64_t capture_said(uint32_t graph, const char *scope, uint64_t rows)
{
	void *captured;
	uint64_t first;

	begin_capture(handle(6), 0);
	proton_enter_scope(scope);
	first = capture_two(graph);
	proton_scope_metric_u64("rows", rows);
	proton_exit_scope();
	end_capture(handle(6), &captured);
	return first;
}

static uint64_t updated_from, updated_to;

static void tell_updated(void)
{
	for (unsigned i = 2; i-- > 0;)
		graph_event(ABI_RESOURCE_GRAPH_NODE_UPDATED,
			    &(struct mock_node){.node = updated_from + i, .from = updated_to + i});
}

static void update(uint32_t graph, uint32_t like, void (*inside)(void))
{
	call(UPDATE_CALL,
	     &(struct mock_op){.executable = handle(graph), .src = handle(like), .inside = inside});
}

/* It runs what another one was captured as from now on, and what a third one was. Before CUDA 13.0 nobody tells which
 * of its nodes runs what. */
static void run_updated(uint32_t graph)
{
	uint64_t first = capture_said(graph, "one", 1), other, same;

	grid = 4;
	other = capture_said(graph + 1, "another", 10);
	same = capture_said(graph + 2, "a third", 100);
	grid = 1;
	updated_to = instantiate(graph + 3, first, 2, 0);
	launch_nodes("updated", graph + 3, updated_to, 2);
	updated_from = other;
	update(graph + 3, graph + 1, tell_updated);
	launch_nodes("updated", graph + 3, updated_to, 2);
	launch_nodes("updated", graph + 3, updated_to, 2);
	destroy(other, 2);
	launch_nodes("updated", graph + 3, updated_to, 2);
	updated_from = same;
	update(graph + 3, graph + 2, tell_updated);
	launch_nodes("again updated", graph + 3, updated_to, 2);
	/* The same kernels, and a place that is another. */
	update(graph + 3, graph, NULL);
	launch_nodes("untold", graph + 3, updated_to, 2);
}

/* A kernel of one graph launches another: twice, as the host launched the first here and there. */
static void run_by_kernel(uint32_t graph)
{
	static const char *const scopes[] = {"here", "there"};
	const struct mock_op inner = {
		.kind = ABI_KIND_DEVICE_GRAPH, .graph = graph + 1, .flags = graph + 3};
	struct mock_op outer = launch_of(graph + 3, 1);
	uint64_t first;

	proton_enter_scope("inner");
	first = capture_two(graph);
	proton_exit_scope();
	instantiate(graph + 1, first, 2, 0);
	proton_enter_scope("outer");
	first = capture_two(graph + 2);
	proton_exit_scope();
	instantiate(graph + 3, first, 2, 0);
	outer.executable = handle(graph + 3);
	for (unsigned i = 0; i < 2; i++) {
		proton_enter_scope(scopes[i]);
		call(GRAPH_CALL, &outer);
		proton_exit_scope();
		call(NO_CALL, &inner);
		wait_for_records();
	}
}

/* By hand; one node is taken out again. */
static void build(uint32_t graph, uint32_t executable)
{
	static const uint32_t types[] = {ABI_NODE_KERNEL, ABI_NODE_KERNEL, ABI_NODE_KERNEL,
					 ABI_NODE_KERNEL, ABI_NODE_GRAPH,  ABI_NODE_HOST};
	uint64_t nodes[6];

	proton_enter_scope("hand");
	for (unsigned i = 0; i < 6; i++)
		nodes[i] = add_node(graph, types[i]);
	proton_exit_scope();
	destroy(nodes[0], 1);
	for (unsigned i = 1; i < 6; i++)
		copy_node(executable, nodes[i], types[i]);
}

static void bad_times(uint32_t graph)
{
	struct mock_op op = launch_of(graph, 1);

	proton_enter_scope("bad");
	op.start_ns = UINT64_MAX; /* never gets any */
	call(GRAPH_CALL, &op);
	op.start_ns = 2;
	op.end_ns = 1;
	call(GRAPH_CALL, &op);
	op.start_ns = 1; /* long before its launch */
	op.end_ns = 1000000001;
	call(GRAPH_CALL, &op);
	call(GRAPH_CALL, &op);
	proton_exit_scope();
}

/* The record comes when the graph is gone. */
static void run_late(uint32_t graph, uint64_t first)
{
	automatic(false);
	launch("late", graph, 2, 1);
	destroy_exec(graph, first, 2);
	complete(100, false);
	automatic(true);
}

/* Made, run once and destroyed, as programs do that have no better way. */
static void again_and_again(uint32_t graph)
{
	uint64_t first, made;

	for (unsigned i = 0; i < N_AGAIN; i++, graph += 2) {
		proton_enter_scope("again");
		first = capture_two(graph);
		made = instantiate(graph + 1, first, 2, 0);
		proton_exit_scope();
		destroy(first, 2);
		launch("many", graph + 1, 2, 1);
		destroy_exec(graph + 1, made, 2);
		if (i % 1000 == 999)
			wait_for_records();
	}
}

static long rss_kib(void)
{
	FILE *f = fopen("/proc/self/status", "re");
	char line[256];
	long kib = 0;

	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "VmRSS: %ld", &kib);
	if (f)
		fclose(f);
	return kib;
}

/* Now and then until all records have come: buffers do not grow then. By nodes a node of it has a record. */
static void replay(const char *scope, uint64_t node, unsigned long times)
{
	struct mock_op op = launch_of(2, 1);

	op.graph_node = node;
	proton_enter_scope(scope);
	for (unsigned long i = 0; i < times; i++) {
		if (i % 20000 == 0)
			wait_for_records();
		call(GRAPH_CALL, &op);
	}
	proton_exit_scope();
}

int main(int argc, char **argv)
{
	unsigned long replays = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	uint64_t first, node;
	long before;

	if (argc < 2)
		return 2;
	*(void **)&begin_capture = find(argv[1], "cuStreamBeginCapture_v2");
	*(void **)&end_capture = find(argv[1], "cuStreamEndCapture");
	start(argv[1]);
	first = capture_model(1, handle(5));
	node = instantiate(2, first, 2, 1);
	launch("replay", 2, 3, 5);
	/* Once more, and the original is gone: what runs is the copy. */
	instantiate(3, first, 2, 1);
	destroy(first, 3);
	launch("twice", 3, 3, 4);
	run_sizes(20);
	build(4, 5);
	launch("built", 5, 3, 3);
	launch_nodes("before us", 77, (uint64_t)77 << 32 | 1, 2);
	run_updated(60);
	run_by_kernel(80);
	first = instantiate(9, capture_two(8), 2, 0);
	bad_times(9);
	run_late(9, first);
	again_and_again(100);
	/* Rings of launches go round once. */
	replay("warm", node, replays);
	before = rss_kib();
	replay("long", node, replays);
	printf("grown %ld KiB\n", replays ? rss_kib() - before : 0);
	call(KERNEL_CALL, &(struct mock_op){.kind = ABI_KIND_CONCURRENT_KERNEL, .name = "outside"});
	return 0;
}
