/* SPDX-License-Identifier: MIT */
/* A graph of three launches, two of which the program names and measures, and which runs five times:
 * collect_graphs LIBCUDA, with the mock libcupti. See tests/scripts/collect_graphs.sh. */
#include "config.h" // IWYU pragma: keep
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include "backends/cupti_abi.h"
#include "mocks/mock_cupti.h"
#include "proton/proton.h"

enum { KERNEL_CALL = 307, GRAPH_CALL = 514, N_RUNS = 5 };

static mock_call_fn *call;
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

static void *find(const char *path, const char *name)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL), *symbol = NULL;

	if (library)
		symbol = dlsym(library, name);
	if (!symbol) {
		fprintf(stderr, "collect_graphs: no %s in %s\n", name, path);
		exit(2);
	}
	return symbol;
}

int main(int argc, char **argv)
{
	uint32_t (*init)(uint32_t flags);

	if (argc != 2)
		return 2;
	*(void **)&init = find(argv[1], "cuInit");
	init(0);
	*(void **)&call = find(getenv("PROTON_CUPTI_PATH"), "mock_call");
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
	return 0;
}
