/* SPDX-License-Identifier: MIT */
/* What happens to CUPTI when its user changes while three threads launch: cuda_turns [-q] [-f] [-g] [-n TURNS]
 *   -q  launches wait at their entry while the first user leaves
 *   -f  it leaves by cuptiFinalize() at the exit of a driver call, in place of cuptiUnsubscribe()
 *   -g  one of the threads launches a graph of three kernels
 * Without proton. Results: threads that had no record in somebody's turn (missing), how long the first user took to
 * leave, and the next one to come, and how long a launch waited (us). Errors of CUPTI end it. */
#include <cuda.h>
#include <cupti.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>

#include "cuda_common.cuh"

enum { N_THREADS = 3, BUFFER_BYTES = 1 << 16, TURN_US = 40000, SETTLE_US = 300, GATE_NS = 20000000 };

__global__ void brief(void)
{
}

__global__ void longer(long long clocks)
{
	for (long long begin = clock64(); clock64() - begin < clocks;)
		;
}

struct user {
	CUpti_SubscriberHandle handle;
	std::atomic<long> n_out;
	std::atomic<long> n_records[N_THREADS]; /* by stream */
};

static user users[2];
static user *const ours = &users[0], *const theirs = &users[1];
static std::atomic<bool> over, gate, finalizes;
static std::atomic<double> waited_ns;
static bool with_graph, by_finalize, waits;
static __thread bool is_main;
static uint32_t stream_ids[N_THREADS];

#define CHECK_CUPTI(call)                                                                          \
	do {                                                                                       \
		CUptiResult result_ = (call);                                                      \
		if (result_ != CUPTI_SUCCESS) {                                                    \
			printf("result error=%d\n", result_);                                      \
			fprintf(stderr, "%s:%d: %s: error %d\n", __FILE__, __LINE__, #call,        \
				result_);                                                          \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

/* ---- buffers ---- */

static void request(user *u, uint8_t **buffer, size_t *size, size_t *n_max)
{
	*buffer = static_cast<uint8_t *>(calloc(1, BUFFER_BYTES));
	*size = BUFFER_BYTES;
	*n_max = 0;
	u->n_out++;
}

static void complete(user *u, uint8_t *buffer, size_t valid)
{
	CUpti_Activity *record = nullptr;

	while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS)
		for (int i = 0; i < N_THREADS; i++)
			if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL &&
			    reinterpret_cast<CUpti_ActivityKernel9 *>(record)->streamId ==
				    stream_ids[i])
				u->n_records[i]++;
	free(buffer);
	u->n_out--;
}

static void CUPTIAPI our_request(uint8_t **b, size_t *s, size_t *n)
{
	request(ours, b, s, n);
}

static void CUPTIAPI their_request(uint8_t **b, size_t *s, size_t *n)
{
	request(theirs, b, s, n);
}

static void CUPTIAPI our_complete(CUcontext, uint32_t, uint8_t *b, size_t, size_t valid)
{
	complete(ours, b, valid);
}

static void CUPTIAPI their_complete(CUcontext, uint32_t, uint8_t *b, size_t, size_t valid)
{
	complete(theirs, b, valid);
}

/* ---- turns ---- */

static void CUPTIAPI called(void *data, CUpti_CallbackDomain, CUpti_CallbackId id, const void *info)
{
	const CUpti_CallbackData *call = static_cast<const CUpti_CallbackData *>(info);
	double begin_ns = now_ns();

	if (id == CUPTI_DRIVER_TRACE_CBID_cuDriverGetVersion) {
		if (call->callbackSite == CUPTI_API_EXIT && is_main && finalizes.exchange(false)) {
			CHECK_CUPTI(cuptiUnsubscribe(static_cast<user *>(data)->handle));
			CHECK_CUPTI(cuptiFinalize());
		}
		return;
	}
	if (call->callbackSite != CUPTI_API_ENTER || is_main || !gate)
		return;
	while (gate && now_ns() - begin_ns < GATE_NS)
		;
	if (now_ns() - begin_ns > waited_ns)
		waited_ns = now_ns() - begin_ns;
}

static void buffers_by_thread(uint8_t on)
{
	size_t size = sizeof(on);

	CHECK_CUPTI(cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, &size, &on));
}

static double come(user *u)
{
	static const CUpti_CallbackId calls[] = {
		CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
		CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch,
		CUPTI_DRIVER_TRACE_CBID_cuDriverGetVersion};
	double begin_ns = now_ns();

	for (int i = 0; i < N_THREADS; i++)
		u->n_records[i] = 0;
	CHECK_CUPTI(cuptiSubscribe(&u->handle, (CUpti_CallbackFunc)called, u));
	if (u == ours) {
		CHECK_CUPTI(cuptiActivityRegisterCallbacks(our_request, our_complete));
		buffers_by_thread(1);
	} else {
		CHECK_CUPTI(cuptiActivityRegisterCallbacks(their_request, their_complete));
	}
	CHECK_CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
	for (CUpti_CallbackId id : calls)
		CHECK_CUPTI(cuptiEnableCallback(1, u->handle, CUPTI_CB_DOMAIN_DRIVER_API, id));
	return (now_ns() - begin_ns) / 1e3;
}

static double leave(user *u)
{
	double begin_ns = now_ns();
	int version;

	if (waits && u == ours) {
		gate = true;
		usleep(SETTLE_US);
	}
	CHECK_CUPTI(cuptiActivityFlushAll(0));
	CHECK_CUPTI(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
	for (int i = 0; i < 500 && u->n_out; i++) {
		CHECK_CUPTI(cuptiActivityFlushAll(0));
		if (u->n_out)
			usleep(1000);
	}
	if (u->n_out)
		CHECK_CUPTI(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
	if (u == ours)
		buffers_by_thread(0);
	if (by_finalize) {
		finalizes = true;
		cuDriverGetVersion(&version);
	} else {
		CHECK_CUPTI(cuptiUnsubscribe(u->handle));
	}
	gate = false;
	return (now_ns() - begin_ns) / 1e3;
}

/* ---- work ---- */

static cudaGraphExec_t make_graph(cudaStream_t stream)
{
	cudaGraph_t graph;
	cudaGraphExec_t executable;

	CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
	for (int i = 0; i < 3; i++)
		brief<<<1, 1, 0, stream>>>();
	CHECK(cudaStreamEndCapture(stream, &graph));
	CHECK(cudaGraphInstantiate(&executable, graph, 0));
	return executable;
}

static cudaStream_t streams[N_THREADS];

static void *launcher(void *number)
{
	long self = reinterpret_cast<long>(number);
	cudaGraphExec_t graph = with_graph && self == 0 ? make_graph(streams[self]) : nullptr;

	for (int n = 1; !over; n++) {
		if (graph)
			CHECK(cudaGraphLaunch(graph, streams[self]));
		else if (self == 1)
			longer<<<1, 1, 0, streams[self]>>>(20000);
		else
			brief<<<1, 1, 0, streams[self]>>>();
		if (n % 64 == 0)
			CHECK(cudaStreamSynchronize(streams[self]));
		if (n % 8 == 0)
			usleep(100);
	}
	CHECK(cudaStreamSynchronize(streams[self]));
	return nullptr;
}

static int missing(const user *u)
{
	int n = 0;

	for (int i = 0; i < N_THREADS; i++)
		n += u->n_records[i] == 0;
	return n;
}

int main(int argc, char **argv)
{
	std::vector<double> leaves, comes;
	pthread_t threads[N_THREADS];
	int turns = 4, n_missing = 0;
	CUcontext context;

	for (int option; (option = getopt(argc, argv, "qfgn:")) != -1;) {
		waits |= option == 'q';
		by_finalize |= option == 'f';
		with_graph |= option == 'g';
		if (option == 'n')
			turns = atoi(optarg);
	}
	is_main = true;
	come(ours);
	CHECK(cudaFree(nullptr));
	cuCtxGetCurrent(&context);
	for (int i = 0; i < N_THREADS; i++) {
		CHECK(cudaStreamCreate(&streams[i]));
		CHECK_CUPTI(cuptiGetStreamIdEx(context, streams[i], 0, &stream_ids[i]));
	}
	for (long i = 0; i < N_THREADS; i++)
		pthread_create(&threads[i], nullptr, launcher, reinterpret_cast<void *>(i));
	usleep(300000);
	for (int i = 0; i < turns; i++) {
		usleep(TURN_US);
		leaves.push_back(leave(ours));
		n_missing += missing(ours);
		comes.push_back(come(theirs));
		usleep(TURN_US);
		leave(theirs);
		n_missing += missing(theirs);
		comes.push_back(come(ours));
	}
	over = true;
	for (pthread_t thread : threads)
		pthread_join(thread, nullptr);
	result("missing", n_missing);
	result_spread("leave_us", leaves);
	result_spread("come_us", comes);
	result("launch_waited_us", waited_ns / 1e3);
	return 0;
}
