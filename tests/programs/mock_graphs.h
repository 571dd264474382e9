/* SPDX-License-Identifier: MIT */
#ifndef TESTS_PROGRAMS_MOCK_GRAPHS_H
#define TESTS_PROGRAMS_MOCK_GRAPHS_H
/* What programs with CUDA graphs do first, on the mock of libcupti. */
#include <stdint.h>
#include <stdlib.h>
#include "backends/cupti_abi.h"
#include "mocks/mock_cupti.h"
#include "programs/symbols.h"
#include "proton/proton.h"

enum { KERNEL_CALL = 307, GRAPH_CALL = 514 };
enum { NAMED_CALL = 23, SAME_CALL = 683, UNLOAD_CALL = 22, RESET_CALL = 389 };
/* Of a node: of a kernel as it was once and is, and of any kind, without and with data of its edges. */
enum { ADD_V1_CALL = 502, ADD_CALL = 689, ADD_ANY_CALL = 712, ADD_ANY_V2_CALL = 723 };

static mock_call_fn *call;
static mock_graph_fn *graph_event;
static mock_auto_fn *automatic;
static mock_complete_fn *complete;
static mock_move_fn *move_node;

/* The driver first: it is what opens our door. */
static inline void start(const char *libcuda)
{
	const char *cupti = getenv("PROTON_CUPTI_PATH");
	uint32_t (*init)(uint32_t flags);

	*(void **)&init = find(libcuda, "cuInit");
	init(0);
	*(void **)&call = find(cupti, "mock_call");
	*(void **)&graph_event = find(cupti, "mock_graph");
	*(void **)&automatic = find(cupti, "mock_auto");
	*(void **)&complete = find(cupti, "mock_complete");
	*(void **)&move_node = find(cupti, "mock_move");
}

static inline void *handle(uintptr_t id)
{
	return (void *)id;
}

/* The number of its graph is a part of a node's. */
static inline uint64_t new_node(uint32_t graph)
{
	static _Atomic uint32_t n_nodes;

	return (uint64_t)graph << 32 | ++n_nodes;
}

/* A launch into a stream that is captured; grid 0: of another call. Returns the node. */
static inline uint64_t capture_node(uint32_t graph, uint32_t kind, const char *name, uint32_t grid)
{
	const struct mock_op op = {.kind = kind,
				   .name = name,
				   .captured = true,
				   .graph = graph,
				   .graph_node = new_node(graph),
				   .grid = grid};

	call(KERNEL_CALL, &op);
	return op.graph_node;
}

/* A node that a program adds by itself. */
static inline uint64_t add_node(uint32_t graph, uint32_t type)
{
	const struct mock_node node = {.graph = graph, .node = new_node(graph), .type = type};

	graph_event(ABI_RESOURCE_GRAPH_NODE_CREATED, &node);
	return node.node;
}

/* The program asks for a kernel by its name, or for another handle of one. */
static inline void name_kernel(const void *kernel, const char *name)
{
	const struct abi_get_function get = {.ret = &kernel, .name = name};

	call(NAMED_CALL, &(struct mock_op){.params = &get});
}

static inline void same_kernel(const void *function, const void *kernel)
{
	const struct abi_get_function get = {.ret = &function, .of = kernel};

	call(SAME_CALL, &(struct mock_op){.params = &get});
}

static __thread struct mock_node adding;

static inline void tell_adding(void)
{
	graph_event(ABI_RESOURCE_GRAPH_NODE_CREATED, &adding);
}

/* A node of a kernel that a program adds by itself, by one of these calls; as capture_node() of the same grid. */
static inline uint64_t add_kernel(uint32_t graph, uint32_t by, const void *function,
				  const void *kernel, uint32_t grid)
{
	const struct abi_any_node any = {
		.type = ABI_NODE_KERNEL,
		.kernel = {.function = function, .kernel = kernel, .shape = {.grid = {grid}}}};
	const void *node =
		by == ADD_ANY_CALL || by == ADD_ANY_V2_CALL ? (const void *)&any : &any.kernel;
	const struct abi_add_node add = {.params = node};
	const struct abi_add_node_v2 add_v2 = {.params = node};

	adding = (struct mock_node){
		.graph = graph, .node = new_node(graph), .type = ABI_NODE_KERNEL};
	call(by, &(struct mock_op){.params = by == ADD_ANY_V2_CALL ? (const void *)&add_v2 : &add,
				   .inside = tell_adding});
	return adding.node;
}

/* CUPTI tells of both. */
static inline uint64_t copy_node(uint32_t graph, uint64_t from, uint32_t type)
{
	const struct mock_node node = {
		.graph = graph, .node = add_node(graph, type), .from = from, .type = type};

	graph_event(ABI_RESOURCE_GRAPH_NODE_CLONED, &node);
	return node.node;
}

static inline void destroy_node(uint64_t node)
{
	graph_event(ABI_RESOURCE_GRAPH_NODE_DESTROYED, &(struct mock_node){.node = node});
}

/* All its nodes have been copied. */
static inline void made_executable(uintptr_t executable)
{
	graph_event(ABI_RESOURCE_GRAPH_EXEC_CREATED, &(struct mock_node){.executable = executable});
}

static inline void destroy_executable(uintptr_t executable)
{
	graph_event(ABI_RESOURCE_GRAPH_EXEC_DESTROYED,
		    &(struct mock_node){.executable = executable});
}

/* All that were made have come: the end of a session asks for them. */
static inline void wait_for_records(void)
{
	static int session = -1;

	if (session < 0)
		session = proton_session_start("until_here", NULL);
	proton_session_activate(session);
	proton_session_deactivate(session, 1);
}

#endif
