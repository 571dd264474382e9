// SPDX-License-Identifier: MIT
// A graph of 100 kernels, 2 copies and 1 set, captured or built by hand, replayed:
// cuda_graph [-r replays] [-m global|thread|relaxed|manual] [-o] [-e] [-u].
//   -o  another thread launches 1000 kernels of its own while this one captures (not global mode)
//   -e  also replays a graph without any node that has a record
//   -u  instead: before each replay an update of the executable graph, to other kernels and back
#include <getopt.h>
#include <string.h>

#include <thread>

#include "cuda_common.cuh"

static const int n_kernels = 100;
static const size_t copy_bytes = 8192, set_bytes = 4096;
static char *device, *host;

__global__ void node_kernel(char *p)
{
	if (threadIdx.x == 0)
		p[blockIdx.x] = 1;
}

__global__ void updated_kernel(char *p)
{
	if (threadIdx.x == 0)
		p[blockIdx.x] = 2;
}

__global__ void outside_kernel()
{
}

static void outside(long n)
{
	cudaStream_t s;

	CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	for (long i = 0; i < n; i++)
		outside_kernel<<<1, 1, 0, s>>>();
	CHECK(cudaStreamSynchronize(s));
}

// Half of the kernels go to a second stream, which the capture reaches through an event.
static cudaGraph_t capture(cudaStreamCaptureMode mode, bool beside)
{
	cudaStream_t s, forked;
	cudaEvent_t fork, join;
	cudaGraph_t graph;
	std::thread other;

	CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&forked, cudaStreamNonBlocking));
	CHECK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
	CHECK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
	CHECK(cudaStreamBeginCapture(s, mode));
	if (beside)
		other = std::thread(outside, 1000);
	CHECK(cudaMemcpyAsync(device, host, copy_bytes, cudaMemcpyHostToDevice, s));
	CHECK(cudaMemsetAsync(device, 0, set_bytes, s));
	CHECK(cudaEventRecord(fork, s));
	CHECK(cudaStreamWaitEvent(forked, fork, 0));
	for (int i = 0; i < n_kernels; i++)
		node_kernel<<<1, 32, 0, i % 2 ? forked : s>>>(device);
	CHECK(cudaEventRecord(join, forked));
	CHECK(cudaStreamWaitEvent(s, join, 0));
	CHECK(cudaMemcpyAsync(host, device, copy_bytes, cudaMemcpyDeviceToHost, s));
	CHECK(cudaStreamEndCapture(s, &graph));
	if (beside)
		other.join();
	return graph;
}

static cudaGraphNode_t add_copy(cudaGraph_t graph, cudaGraphNode_t *after, void *to, void *from,
				cudaMemcpyKind kind)
{
	cudaGraphNode_t node;

	CHECK(cudaGraphAddMemcpyNode1D(&node, graph, after, after ? 1 : 0, to, from, copy_bytes,
				       kind));
	return node;
}

static cudaGraph_t build(void (*function)(char *))
{
	cudaMemsetParams set = {};
	cudaKernelNodeParams kernel = {};
	void *arguments[] = {&device};
	cudaGraphNode_t last, next;
	cudaGraph_t graph;

	CHECK(cudaGraphCreate(&graph, 0));
	last = add_copy(graph, nullptr, device, host, cudaMemcpyHostToDevice);
	set.dst = device;
	set.elementSize = 1;
	set.width = set_bytes;
	set.height = 1;
	CHECK(cudaGraphAddMemsetNode(&next, graph, &last, 1, &set));
	last = next;
	kernel.func = (void *)function;
	kernel.gridDim = dim3(1);
	kernel.blockDim = dim3(32);
	kernel.kernelParams = arguments;
	for (int i = 0; i < n_kernels; i++) {
		CHECK(cudaGraphAddKernelNode(&next, graph, &last, 1, &kernel));
		last = next;
	}
	add_copy(graph, &last, host, device, cudaMemcpyDeviceToHost);
	return graph;
}

static void replay(cudaGraph_t graph, long n)
{
	cudaGraphExec_t exec;
	cudaStream_t s;

	CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	CHECK(cudaGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
	CHECK(cudaGraphLaunch(exec, s)); // uploads
	CHECK(cudaStreamSynchronize(s));
	double start = now_ns();
	for (long i = 1; i < n; i++)
		CHECK(cudaGraphLaunch(exec, s));
	CHECK(cudaStreamSynchronize(s));
	if (n > 1)
		result("ns_per_node", (now_ns() - start) / (double(n - 1) * (n_kernels + 3)));
	CHECK(cudaGraphExecDestroy(exec));
	CHECK(cudaGraphDestroy(graph));
}

static void replay_updated(long n)
{
	cudaGraph_t graphs[] = {build(node_kernel), build(updated_kernel)};
	cudaGraphExecUpdateResultInfo info;
	double updates_ns = 0, start;
	cudaGraphExec_t exec;

	CHECK(cudaGraphInstantiate(&exec, graphs[0], nullptr, nullptr, 0));
	for (long i = 0; i < n; i++) {
		start = now_ns();
		CHECK(cudaGraphExecUpdate(exec, graphs[i % 2], &info));
		updates_ns += now_ns() - start;
		CHECK(cudaGraphLaunch(exec, 0));
		CHECK(cudaStreamSynchronize(0));
	}
	result("us_per_update", updates_ns / 1e3 / double(n));
}

static void nothing(void *)
{
}

static void replay_without_records(long n)
{
	cudaHostNodeParams host_node = {nothing, nullptr};
	cudaGraphNode_t node;
	cudaGraphExec_t exec;
	cudaGraph_t graph;

	CHECK(cudaGraphCreate(&graph, 0));
	CHECK(cudaGraphAddHostNode(&node, graph, nullptr, 0, &host_node));
	CHECK(cudaGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
	for (long i = 0; i < n; i++)
		CHECK(cudaGraphLaunch(exec, 0));
	CHECK(cudaDeviceSynchronize());
}

static cudaGraph_t make(const char *mode, bool beside)
{
	if (!strcmp(mode, "manual"))
		return build(node_kernel);
	if (!strcmp(mode, "thread"))
		return capture(cudaStreamCaptureModeThreadLocal, beside);
	if (!strcmp(mode, "relaxed"))
		return capture(cudaStreamCaptureModeRelaxed, beside);
	return capture(cudaStreamCaptureModeGlobal, false);
}

int main(int argc, char **argv)
{
	const char *mode = "global";
	bool beside = false, empty = false, update = false;
	long n = 100;
	int c;

	while ((c = getopt(argc, argv, "r:m:oeu")) != -1) {
		switch (c) {
		case 'r': n = std::max(1L, atol(optarg)); break;
		case 'm': mode = optarg; break;
		case 'o': beside = true; break;
		case 'e': empty = true; break;
		case 'u': update = true; break;
		default: fprintf(stderr, "usage: %s [-r N] [-m MODE] [-o] [-e] [-u]\n", argv[0]); return 2;
		}
	}
	beside = beside && (!strcmp(mode, "thread") || !strcmp(mode, "relaxed"));
	CHECK(cudaMalloc(&device, copy_bytes));
	CHECK(cudaMallocHost(&host, copy_bytes));
	outside_kernel<<<1, 1>>>(); // loads the module: may not happen in a capture
	node_kernel<<<1, 32>>>(device);
	CHECK(cudaDeviceSynchronize());
	if (update) {
		updated_kernel<<<1, 32>>>(device);
		replay_updated(n);
		return 0;
	}
	replay(make(mode, beside), n);
	if (empty)
		replay_without_records(10);
	expect("kernels", n * n_kernels + 2 + (beside ? 1000 : 0));
	expect("HostToDevice_count", n);
	expect("HostToDevice_bytes", n * copy_bytes);
	expect("DeviceToHost_count", n);
	expect("DeviceToHost_bytes", n * copy_bytes);
	expect("memset_count", n);
	expect("memset_bytes", n * set_bytes);
	expect("in_flight", 0);
	return 0;
}
