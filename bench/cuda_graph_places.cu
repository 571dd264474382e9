// SPDX-License-Identifier: MIT
// Graphs of all kinds, made in scopes and run in others: cuda_graph_places. Where a profiler must show what ran
// is said in lines for a script:
//   place PATH METRIC=VALUE
// With a library of proton's in PROTON_LIBRARY numbers that a graph computes are metrics, too.
#include <dlfcn.h>
#include <stdint.h>

#include "cuda_common.cuh"
#include "proton/proton.h"

typedef int metric_device_fn(const char *, uint64_t, int, size_t, void *);

static metric_device_fn *metric_device;
static cudaStream_t stream;
static double *number;

extern "C" __global__ void argument_kernel(int)
{
}

extern "C" __global__ void captured_kernel()
{
}

extern "C" __global__ void built_kernel()
{
}

extern "C" __global__ void count_kernel(double *p)
{
	*p += 1;
}

static void place(const char *path, const char *metric, double value)
{
	printf("place %s %s=%.0f\n", path, metric, value);
}

struct scope {
	explicit scope(const char *name)
	{
		proton_enter_scope(name);
	}
	~scope()
	{
		proton_exit_scope();
	}
};

static cudaGraph_t capture(const char *name, int n)
{
	cudaGraph_t graph;
	scope s(name);

	CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	for (int i = 0; i < n; i++)
		captured_kernel<<<1, 1, 0, stream>>>();
	proton_scope_metric_u64("rows", 3);
	CHECK(cudaStreamEndCapture(stream, &graph));
	return graph;
}

static cudaGraph_t capture_number(void)
{
	cudaGraph_t graph;
	scope s("number");

	CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	count_kernel<<<1, 1, 0, stream>>>(number);
	if (metric_device && metric_device("loss", (uintptr_t)number, 0, 1, stream)) {
		fprintf(stderr, "a number of a graph is refused\n");
		exit(1);
	}
	CHECK(cudaStreamEndCapture(stream, &graph));
	return graph;
}

static cudaGraph_t capture_argument(const char *name, int argument)
{
	cudaGraph_t graph;
	scope s(name);

	CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	for (int i = 0; i < 2; i++)
		argument_kernel<<<1, 1, 0, stream>>>(argument);
	proton_scope_metric_u64("rows", 3);
	CHECK(cudaStreamEndCapture(stream, &graph));
	return graph;
}

static cudaGraph_t build(int n)
{
	cudaKernelNodeParams params = {};
	cudaGraphNode_t node;
	cudaGraph_t graph;
	scope s("built");

	params.func = (void *)built_kernel;
	params.gridDim = params.blockDim = dim3(1);
	CHECK(cudaGraphCreate(&graph, 0));
	for (int i = 0; i < n; i++)
		CHECK(cudaGraphAddKernelNode(&node, graph, NULL, 0, &params));
	return graph;
}

static cudaGraphExec_t executable(cudaGraph_t graph)
{
	cudaGraphExec_t exec;

	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	return exec;
}

static void run(const char *name, cudaGraphExec_t exec, int times)
{
	scope s(name);

	for (int i = 0; i < times; i++)
		CHECK(cudaGraphLaunch(exec, stream));
	CHECK(cudaStreamSynchronize(stream));
}

static void kinds(void)
{
	cudaGraph_t graph = capture("made", 2), other = capture("other", 2), clone;
	cudaGraphExecUpdateResultInfo info;
	cudaGraphExec_t exec = executable(graph);

	run("captured", exec, 10);
	place("captured/<captured_at>/made/captured_kernel", "count", 20);
	place("captured/<captured_at>/made", "rows", 30);
	run("by hand", executable(build(3)), 5);
	place("by hand/<captured_at>/built/built_kernel", "count", 15);
	CHECK(cudaGraphClone(&clone, graph));
	run("cloned", executable(clone), 4);
	place("cloned/<captured_at>/made/captured_kernel", "count", 8);
	place("cloned/<captured_at>/made", "rows", 12);
	run("twice", executable(graph), 2);
	place("twice/<captured_at>/made/captured_kernel", "count", 4);
	// What does not differ is not told of: it stays where it was captured, and is marked.
	CHECK(cudaGraphExecUpdate(exec, other, &info));
	run("updated alike", exec, 2);
	place("updated alike/<captured_at>/made/captured_kernel", "count", 4);
	place("updated alike/<captured_at>/made", "rows", 6);
	CHECK(cudaGraphExecDestroy(exec));
	CHECK(cudaGraphDestroy(graph));
}

// What differs runs in the place of the graph that it came from: CUPTI tells of it from CUDA 13.0 on.
static void updated(void)
{
	cudaGraph_t graph = capture_argument("first", 1), other = capture_argument("second", 2);
	cudaGraphExecUpdateResultInfo info;
	cudaGraphExec_t exec = executable(graph);

	run("as made", exec, 1);
	place("as made/<captured_at>/first/argument_kernel", "count", 2);
	CHECK(cudaGraphExecUpdate(exec, other, &info));
	run("updated", exec, 2);
#if CUDART_VERSION >= 13000
	place("updated/<captured_at>/second/argument_kernel", "count", 4);
	place("updated/<captured_at>/second", "rows", 6);
	place("updated/<captured_at>/first/argument_kernel", "count", 0);
	place("updated/<captured_at>/first", "rows", 0);
#endif
	CHECK(cudaGraphExecDestroy(exec));
	CHECK(cudaGraphDestroy(graph));
	CHECK(cudaGraphDestroy(other));
}

static cudaGraph_t with(cudaGraph_t inner, cudaGraph_t after)
{
	cudaGraph_t graph = build(1);
	cudaGraphNode_t node, next;

	CHECK(cudaGraphAddChildGraphNode(&node, graph, NULL, 0, inner));
	CHECK(cudaGraphAddChildGraphNode(&next, graph, &node, 1, after));
	return graph;
}

// Graphs in graphs; what is in them may be given other parameters.
static void nested(void)
{
	cudaGraph_t made = capture("made", 2), other = capture("other", 1);
	cudaGraphExec_t exec;

	run("nested", executable(with(made, other)), 3);
	place("nested/<captured_at>/made/captured_kernel", "count", 6);
	place("nested/<captured_at>/made", "rows", 9);
	place("nested/<captured_at>/other/captured_kernel", "count", 3);
	place("nested/<captured_at>/built/built_kernel", "count", 3);
	exec = executable(with(with(made, made), other));
	run("twice nested", exec, 2);
	place("twice nested/<captured_at>/made/captured_kernel", "count", 8);
	place("twice nested/<captured_at>/other/captured_kernel", "count", 2);
	place("twice nested/<captured_at>/built/built_kernel", "count", 4);
	CHECK(cudaGraphExecDestroy(exec));
}

#if CUDART_VERSION >= 12030
// The body of a node that always runs: its kernels are launched by the device.
static void conditional(void)
{
	cudaGraphConditionalHandle always;
	cudaGraphNodeParams params = {};
	cudaGraphExec_t exec;
	cudaGraphNode_t node;
	cudaGraph_t graph;

	CHECK(cudaGraphCreate(&graph, 0));
	CHECK(cudaGraphConditionalHandleCreate(&always, graph, 1, cudaGraphCondAssignDefault));
	params.type = cudaGraphNodeTypeConditional;
	params.conditional.handle = always;
	params.conditional.type = cudaGraphCondTypeIf;
	params.conditional.size = 1;
#if CUDART_VERSION >= 13000
	CHECK(cudaGraphAddNode(&node, graph, NULL, NULL, 0, &params));
#else
	CHECK(cudaGraphAddNode(&node, graph, NULL, 0, &params));
#endif
	{
		scope s("body");

		CHECK(cudaStreamBeginCaptureToGraph(stream, params.conditional.phGraph_out[0], NULL, NULL, 0,
						    cudaStreamCaptureModeGlobal));
		captured_kernel<<<1, 1, 0, stream>>>();
		built_kernel<<<1, 1, 0, stream>>>();
		CHECK(cudaStreamEndCapture(stream, NULL));
	}
	exec = executable(graph);
	run("conditional", exec, 4);
	CHECK(cudaDeviceSynchronize());
	place("conditional/<captured_at>/body/captured_kernel", "count", 4);
	place("conditional/<captured_at>/body/built_kernel", "count", 4);
}
#else
static void conditional(void)
{
}
#endif

static void numbers(const char *name, int times)
{
	char path[128];

	CHECK(cudaMalloc(&number, sizeof(*number)));
	CHECK(cudaMemset(number, 0, sizeof(*number)));
	CHECK(cudaDeviceSynchronize());
	run(name, executable(capture_number()), times);
	snprintf(path, sizeof(path), "%s/<captured_at>/number/count_kernel", name);
	place(path, "count", times);
	snprintf(path, sizeof(path), "%s/<captured_at>/number", name);
	if (metric_device)
		place(path, "loss", 0.5 * times * (times + 1));
}

int main()
{
	const char *path = getenv("PROTON_LIBRARY");
	void *library = path ? dlopen(path, RTLD_NOW) : NULL;

	if (library)
		metric_device = (metric_device_fn *)dlsym(library, "proton_api_metric_device");
	CHECK(cudaStreamCreate(&stream));
	kinds();
	updated();
	nested();
	conditional();
	numbers("numbers", 1000);
	// What was loaded goes with the context.
	CHECK(cudaDeviceReset());
	CHECK(cudaStreamCreate(&stream));
	numbers("after a reset", 7);
	for (int i = 0; i < 300; i++) { // more than anybody keeps in a cache
		cudaGraph_t graph = capture("again", 20);
		cudaGraphExec_t exec = executable(graph);

		run("many", exec, 1);
		CHECK(cudaGraphExecDestroy(exec));
		CHECK(cudaGraphDestroy(graph));
	}
	place("many/<captured_at>/again/captured_kernel", "count", 6000);
	place("many/<captured_at>/again", "rows", 900);
	return 0;
}
