// SPDX-License-Identifier: MIT
// What CUPTI tells of graphs, in lines: each callback while they are made, changed and launched, with the numbers of
// nodes, and each record with the number that it has. Nothing of proton is in it; it is for whoever changes
// src/backends/cupti_graphs.c.
//   cupti_graphs [-w] [-e] [update|same|params|device|plain]...
//   -w whole graphs have records, not their nodes; -e records of graphs that the device launches are asked for
#include <cupti.h>
#include <unistd.h>

#include "cuda_common.cuh"

#define CUPTI(call)                                                                   \
	do {                                                                          \
		CUptiResult r_ = (call);                                              \
		if (r_ != CUPTI_SUCCESS)                                              \
			printf("refused: %s: error %d\n", #call, (int)r_);            \
	} while (0)

static cudaStream_t stream;
static bool is_whole, is_asked, is_quiet;

extern "C" __global__ void first_kernel(int n)
{
}

extern "C" __global__ void second_kernel(int n)
{
}

extern "C" __global__ void third_kernel(int n)
{
}

// Long enough to be seen in times.
extern "C" __global__ void inner_kernel(int n)
{
	for (long long start = clock64(); clock64() - start < n;)
		;
}

extern "C" __global__ void launcher_kernel(cudaGraphExec_t exec)
{
	cudaGraphLaunch(exec, cudaStreamGraphFireAndForget);
}

extern "C" __global__ void tail_kernel(cudaGraphExec_t exec)
{
	cudaGraphLaunch(exec, cudaStreamGraphTailLaunch);
}

// ---- what is told

static unsigned long long id_of(CUgraphNode node)
{
	uint64_t id = 0;

	return node && cuptiGetGraphNodeId(node, &id) == CUPTI_SUCCESS ? id : 0;
}

static unsigned number_of(CUgraph graph)
{
	uint32_t id = 0;

	return graph && cuptiGetGraphId(graph, &id) == CUPTI_SUCCESS ? id : 0;
}

static unsigned number_of_executable(CUgraphExec executable)
{
	uint32_t id = 0;

	return executable && cuptiGetGraphExecId(executable, &id) == CUPTI_SUCCESS ? id : 0;
}

static const char *const resources[] = {
	NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, "GRAPH_CREATED", "GRAPH_DESTROY_STARTING", "GRAPH_CLONED",
	"NODE_CREATE_STARTING", "NODE_CREATED", "NODE_DESTROY_STARTING", NULL, NULL, "EXEC_CREATE_STARTING",
	"EXEC_CREATED", "EXEC_DESTROY_STARTING", "NODE_CLONED", NULL, "NODE_UPDATED", "NODE_SET_PARAMS"};
enum { N_RESOURCES = sizeof(resources) / sizeof(resources[0]) };

static void tell_resource(CUpti_CallbackId id, const CUpti_ResourceData *data)
{
	const CUpti_GraphData *g = (const CUpti_GraphData *)data->resourceDescriptor;

	if (id >= N_RESOURCES || !resources[id])
		return;
	if (!g) {
		printf("  %s: no data\n", resources[id]);
		return;
	}
	printf("  %s graph=%p(%u) original=%p(%u) node=%p(0x%llx) originalNode=%p(0x%llx) type=%d exec=%p(%u)\n",
	       resources[id], (void *)g->graph, number_of(g->graph), (void *)g->originalGraph,
	       number_of(g->originalGraph), (void *)g->node, id_of(g->node), (void *)g->originalNode,
	       id_of(g->originalNode), (int)g->nodeType, (void *)g->graphExec,
	       number_of_executable(g->graphExec));
}

static void CUPTIAPI told(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data)
{
	const CUpti_CallbackData *call = (const CUpti_CallbackData *)data;

	if (is_quiet)
		return;
	if (domain == CUPTI_CB_DOMAIN_RESOURCE)
		tell_resource(id, (const CUpti_ResourceData *)data);
	else if (strstr(call->functionName, "Graph") || strstr(call->functionName, "Launch"))
		printf(" %s %s (cbid %u) correlation=%u%s%s\n",
		       call->callbackSite == CUPTI_API_ENTER ? ">" : "<", call->functionName, id, call->correlationId,
		       call->symbolName ? " symbol=" : "", call->symbolName ? call->symbolName : "");
}

// ---- records

static void CUPTIAPI requested(uint8_t **buffer, size_t *size, size_t *max)
{
	*size = 1 << 18;
	*buffer = (uint8_t *)aligned_alloc(8, *size);
	*max = 0;
}

static void print_record(const CUpti_Activity *record)
{
	switch (record->kind) {
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
		const CUpti_ActivityKernel9 *k = (const CUpti_ActivityKernel9 *)record;
		printf("  record kernel %s correlation=%u graphId=%u graphNodeId=0x%llx ns=%llu\n", k->name,
		       k->correlationId, k->graphId, (unsigned long long)k->graphNodeId,
		       (unsigned long long)(k->end - k->start));
		break;
	}
	case CUPTI_ACTIVITY_KIND_GRAPH_TRACE: {
		const CUpti_ActivityGraphTrace2 *g = (const CUpti_ActivityGraphTrace2 *)record;
		printf("  record graph correlation=%u graphId=%u stream=%u start=%llu end=%llu ns=%llu\n",
		       g->correlationId, g->graphId, g->streamId, (unsigned long long)g->start,
		       (unsigned long long)g->end, (unsigned long long)(g->end - g->start));
		break;
	}
	case CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE: {
		const CUpti_ActivityDeviceGraphTrace *g = (const CUpti_ActivityDeviceGraphTrace *)record;
		printf("  record device-graph graphId=%u launcherGraphId=%u mode=%u context=%u stream=%llu start=%llu end=%llu ns=%llu\n",
		       g->graphId, g->launcherGraphId, g->deviceLaunchMode, g->contextId,
		       (unsigned long long)g->streamId, (unsigned long long)g->start, (unsigned long long)g->end,
		       (unsigned long long)(g->end - g->start));
		break;
	}
	default:
		printf("  record of kind %d\n", (int)record->kind);
	}
}

static void CUPTIAPI completed(CUcontext context, uint32_t id, uint8_t *buffer, size_t size, size_t valid)
{
	CUpti_Activity *record = NULL;

	while (valid && cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS)
		if (!is_quiet)
			print_record(record);
	free(buffer);
}

static void start(void)
{
	CUpti_SubscriberHandle subscriber;

	if (is_asked)
		CUPTI(cuptiActivityEnableDeviceGraph(1));
	CUPTI(cuptiSubscribe(&subscriber, (CUpti_CallbackFunc)told, NULL));
	CUPTI(cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE));
	CUPTI(cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API));
	CUPTI(cuptiActivityRegisterCallbacks(requested, completed));
	if (is_whole)
		CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE));
	CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
}

// ---- cases

static void step(const char *what)
{
	printf("== %s\n", what);
}

static void run(cudaGraphExec_t exec, int times)
{
	for (int i = 0; i < times; i++)
		CHECK(cudaGraphLaunch(exec, stream));
	CHECK(cudaStreamSynchronize(stream));
	CHECK(cudaDeviceSynchronize());
	CUPTI(cuptiActivityFlushAll(1));
}

static cudaGraph_t capture(bool swapped)
{
	cudaGraph_t graph;

	CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	if (!swapped)
		first_kernel<<<1, 1, 0, stream>>>(1);
	second_kernel<<<1, 1, 0, stream>>>(2);
	if (swapped)
		third_kernel<<<2, 1, 0, stream>>>(3);
	CHECK(cudaStreamEndCapture(stream, &graph));
	return graph;
}

static cudaGraphExec_t executable(cudaGraph_t graph, unsigned flags)
{
	cudaGraphExec_t exec;

	CHECK(cudaGraphInstantiate(&exec, graph, flags));
	return exec;
}

static cudaGraph_t nest(cudaGraph_t inner)
{
	cudaGraphNode_t node;
	cudaGraph_t graph;

	CHECK(cudaGraphCreate(&graph, 0));
	CHECK(cudaGraphAddChildGraphNode(&node, graph, NULL, 0, inner));
	return graph;
}

static void update(void)
{
	cudaGraphExecUpdateResultInfo info;
	cudaGraph_t graph, other, longer, outer, outer_other;
	cudaGraphExec_t exec;

	step("update: capture first, second");
	graph = capture(false);
	step("update: capture second, third");
	other = capture(true);
	step("update: make executable the first");
	exec = executable(graph, 0);
	step("update: launch");
	run(exec, 1);
	step("update: cudaGraphExecUpdate to the second");
	CHECK(cudaGraphExecUpdate(exec, other, &info));
	step("update: launch, twice");
	run(exec, 2);
	step("update: cudaGraphExecUpdate to one that does not fit");
	longer = nest(graph);
	if (cudaGraphExecUpdate(exec, longer, &info) != cudaSuccess)
		printf("  refused, result %d\n", (int)info.result), cudaGetLastError();
	step("update: launch");
	run(exec, 1);
	step("update: the second is destroyed");
	CHECK(cudaGraphDestroy(other));
	step("update: launch");
	run(exec, 1);
	step("update nested: make outer graphs, and one executable");
	other = capture(true);
	outer = nest(graph);
	outer_other = nest(other);
	exec = executable(outer, 0);
	step("update nested: cudaGraphExecUpdate");
	CHECK(cudaGraphExecUpdate(exec, outer_other, &info));
	step("update nested: launch");
	run(exec, 1);
	step("update nested: cudaGraphExecChildGraphNodeSetParams back");
	{
		cudaGraphNode_t node;
		size_t n = 1;
		CHECK(cudaGraphGetNodes(outer, &node, &n));
		CHECK(cudaGraphExecChildGraphNodeSetParams(exec, node, graph));
	}
	step("update nested: launch");
	run(exec, 1);
}

// Is a node told of that does not differ?
static void same(void)
{
	cudaGraphExecUpdateResultInfo info;
	cudaGraph_t graph, equal, half;
	cudaGraphExec_t exec;

	step("same: capture first, second; the same; first with another argument, second");
	graph = capture(false);
	equal = capture(false);
	CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	first_kernel<<<1, 1, 0, stream>>>(9);
	second_kernel<<<1, 1, 0, stream>>>(2);
	CHECK(cudaStreamEndCapture(stream, &half));
	exec = executable(graph, 0);
	step("same: cudaGraphExecUpdate to the same");
	CHECK(cudaGraphExecUpdate(exec, equal, &info));
	step("same: cudaGraphExecUpdate where one node differs");
	CHECK(cudaGraphExecUpdate(exec, half, &info));
	run(exec, 1);
}

static void params(void)
{
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	cudaGraphNode_t nodes[4];
	size_t n = 4;
	cudaKernelNodeParams p = {};
	int three = 3;
	void *arguments[] = {&three};

	step("params: capture first, second");
	graph = capture(false);
	CHECK(cudaGraphGetNodes(graph, nodes, &n));
	printf("  its nodes: %p %p\n", (void *)nodes[0], (void *)nodes[1]);
	p.func = (void *)third_kernel;
	p.gridDim = dim3(3);
	p.blockDim = dim3(1);
	p.kernelParams = arguments;
	step("params: make executable");
	exec = executable(graph, 0);
	step("params: cudaGraphExecKernelNodeSetParams to third");
	CHECK(cudaGraphExecKernelNodeSetParams(exec, nodes[0], &p));
	step("params: launch");
	run(exec, 1);
	step("params: cudaGraphNodeSetEnabled(second, 0)");
	CHECK(cudaGraphNodeSetEnabled(exec, nodes[1], 0));
	step("params: launch");
	run(exec, 1);
	step("params: cudaGraphKernelNodeSetParams of the graph");
	CHECK(cudaGraphKernelNodeSetParams(nodes[0], &p));
	step("params: make executable again");
	exec = executable(graph, 0);
	step("params: launch");
	run(exec, 1);
}

static cudaGraph_t capture_inner(void)
{
	cudaGraph_t graph;

	CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	inner_kernel<<<1, 1, 0, stream>>>(2000000);
	inner_kernel<<<1, 1, 0, stream>>>(1000000);
	CHECK(cudaStreamEndCapture(stream, &graph));
	return graph;
}

static void device(void)
{
	cudaGraph_t launcher;
	cudaGraphExec_t inner, exec;

	step("device: capture what the device launches, make it executable for the device, upload");
	inner = executable(capture_inner(), cudaGraphInstantiateFlagDeviceLaunch);
	CHECK(cudaGraphUpload(inner, stream));
	CHECK(cudaStreamSynchronize(stream));
	step("device: capture who launches it, by fire and forget");
	CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	launcher_kernel<<<1, 1, 0, stream>>>(inner);
	CHECK(cudaStreamEndCapture(stream, &launcher));
	exec = executable(launcher, 0);
	step("device: launch, three times");
	run(exec, 3);
	step("device: as a tail");
	CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	tail_kernel<<<1, 1, 0, stream>>>(inner);
	CHECK(cudaStreamEndCapture(stream, &launcher));
	exec = executable(launcher, 0);
	step("device: launch, twice");
	run(exec, 2);
	step("device: the host launches the same");
	run(inner, 1);
}

// What it costs to ask.
static void plain(void)
{
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	float ms;
	cudaEvent_t begin, end;

	is_quiet = true;
	CHECK(cudaEventCreate(&begin));
	CHECK(cudaEventCreate(&end));
	CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	for (int i = 0; i < 300; i++)
		first_kernel<<<1, 1, 0, stream>>>(1);
	CHECK(cudaStreamEndCapture(stream, &graph));
	exec = executable(graph, 0);
	for (int i = 0; i < 50; i++)
		CHECK(cudaGraphLaunch(exec, stream));
	CHECK(cudaStreamSynchronize(stream));
	for (int round = 0; round < 5; round++) {
		CHECK(cudaEventRecord(begin, stream));
		for (int i = 0; i < 1000; i++)
			CHECK(cudaGraphLaunch(exec, stream));
		CHECK(cudaEventRecord(end, stream));
		CHECK(cudaStreamSynchronize(stream));
		CHECK(cudaEventElapsedTime(&ms, begin, end));
		fprintf(stderr, "plain: %.0f ns a node\n", ms * 1e6 / 300000);
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} cases[] = {{"update", update}, {"same", same}, {"params", params}, {"device", device}, {"plain", plain}};
	int option;

	while ((option = getopt(argc, argv, "we")) != -1) {
		is_whole |= option == 'w';
		is_asked |= option == 'e';
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	start();
	CHECK(cudaSetDevice(0));
	CHECK(cudaStreamCreate(&stream));
	for (int i = optind; i < argc; i++)
		for (const auto &c : cases)
			if (!strcmp(c.name, argv[i]))
				c.run();
	CHECK(cudaDeviceSynchronize());
	CUPTI(cuptiActivityFlushAll(1));
	return 0;
}
