/* SPDX-License-Identifier: MIT */
/* A program with a CUPTI tool of its own inside: cuda_rival [-f] [-u | -z] [-g]
 *   -f  the tool is there before the driver is
 *   -u  it unsubscribes when it is done, -z: and finalises CUPTI; else it stays, with all switched off
 *   -g  a graph is launched, too
 * Kernels of the tool's time are its own: `expect` counts the others, `result` those that the tool has seen. */
#include <cuda.h>
#include <cupti.h>
#include <unistd.h>

#include "cuda_common.cuh"

enum { BEFORE = 1000, THEIRS = 500, AFTER = 700, BUFFER_BYTES = 1 << 20 };

__global__ void work(void)
{
}

static CUpti_SubscriberHandle subscriber;
static unsigned long n_records;

#define CHECK_CUPTI(call)                                                                          \
	do {                                                                                       \
		CUptiResult result_ = (call);                                                      \
		if (result_ != CUPTI_SUCCESS) {                                                    \
			fprintf(stderr, "%s:%d: %s: error %d\n", __FILE__, __LINE__, #call,        \
				result_);                                                          \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

static void CUPTIAPI requested(uint8_t **buffer, size_t *size, size_t *n_max)
{
	*size = BUFFER_BYTES;
	*buffer = static_cast<uint8_t *>(aligned_alloc(8, BUFFER_BYTES));
	*n_max = 0;
}

static void CUPTIAPI completed(CUcontext, uint32_t, uint8_t *buffer, size_t, size_t valid)
{
	CUpti_Activity *record = nullptr;

	while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS)
		n_records += record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
	free(buffer);
}

static void CUPTIAPI called(void *, CUpti_CallbackDomain, CUpti_CallbackId, const void *)
{
}

static void tool_start(void)
{
	if (!subscriber)
		CHECK_CUPTI(cuptiSubscribe(&subscriber, (CUpti_CallbackFunc)called, nullptr));
	CHECK_CUPTI(cuptiActivityRegisterCallbacks(requested, completed));
	CHECK_CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
}

static void tool_stop(bool unsubscribe, bool finalize)
{
	CHECK_CUPTI(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
	CHECK_CUPTI(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
	if (unsubscribe || finalize) {
		CHECK_CUPTI(cuptiUnsubscribe(subscriber));
		subscriber = nullptr;
	}
	if (finalize)
		CHECK_CUPTI(cuptiFinalize());
}

static void run(int n, cudaGraphExec_t graph)
{
	for (int i = 0; i < n; i++)
		work<<<1, 1>>>();
	for (int i = 0; graph && i < n; i++)
		CHECK(cudaGraphLaunch(graph, 0));
	CHECK(cudaDeviceSynchronize());
}

static cudaGraphExec_t make_graph(void)
{
	cudaStream_t stream;
	cudaGraph_t graph;
	cudaGraphExec_t executable;

	CHECK(cudaStreamCreate(&stream));
	CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
	work<<<1, 1, 0, stream>>>();
	CHECK(cudaStreamEndCapture(stream, &graph));
	CHECK(cudaGraphInstantiate(&executable, graph, 0));
	return executable;
}

int main(int argc, char **argv)
{
	bool first = false, unsubscribe = false, finalize = false, with_graph = false;
	unsigned long kernels = 0;
	cudaGraphExec_t graph = nullptr;

	for (int option; (option = getopt(argc, argv, "fuzg")) != -1;) {
		first |= option == 'f';
		unsubscribe |= option == 'u';
		finalize |= option == 'z';
		with_graph |= option == 'g';
	}
	if (first) {
		tool_start();
	} else {
		graph = with_graph ? make_graph() : nullptr;
		run(BEFORE, graph);
		kernels += graph ? 2 * BEFORE : BEFORE;
	}
	for (int i = 0; i < 3; i++) {
		if (i || !first)
			tool_start();
		n_records = 0;
		run(THEIRS, graph);
		tool_stop(unsubscribe, finalize);
		result("tool_records", n_records);
		usleep(600000); /* more than proton waits for */
		run(AFTER, nullptr);
		kernels += AFTER;
	}
	expect("kernels", kernels);
	result("tool_wanted", graph ? 2 * THEIRS : THEIRS);
	return 0;
}
