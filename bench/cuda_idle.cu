// SPDX-License-Identifier: MIT
// A device that waits, each time for a reason that is known: cuda_idle [-n TIMES]. Each reason has a scope of its own
// and prints a line: planted SCOPE PART LEAST MOST, the time in ms that devices waited for what is launched in the
// scope, of that part of idle time, at least and at most, by the host's clock beside the calls. To be recorded with
// --sync; bench/cuda_idle.py compares.
#include <string.h>
#include <unistd.h>

#include <thread>

#include "cuda_common.cuh"
#include "proton/proton.h"

#define SPIN_NS     100000 // of each kernel
#define AWAY_NS     1000000
#define SLACK_NS    150000 // from the end of work to what the host knows of it, and from a call to its work
#define N_IN_GRAPH  20

static int n_times = 100;
static cudaStream_t stream, other;

static __device__ unsigned long long device_ns(void)
{
	unsigned long long t;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
	return t;
}

static __global__ void spin(unsigned long long ns)
{
	unsigned long long end = device_ns() + ns;

	while (device_ns() < end)
		;
}

static __global__ void empty(void)
{
}

static void launch(cudaStream_t on)
{
	spin<<<1, 1, 0, on>>>(SPIN_NS);
	CHECK(cudaGetLastError());
}

// The host does something else.
static void be_away(double ns)
{
	double end = now_ns() + ns;

	while (now_ns() < end)
		;
}

static void planted(const char *scope, const char *part, double least_ns, double most_ns)
{
	printf("planted %s %s %.3f %.3f\n", scope, part, least_ns > 0 ? least_ns / 1e6 : 0,
	       most_ns / 1e6);
}

// What is before the first work of a scope is not its own.
static void begin(const char *scope)
{
	CHECK(cudaDeviceSynchronize());
	proton_enter_scope("between");
	launch(stream);
	proton_exit_scope();
	proton_enter_scope(scope);
}

static void end(void)
{
	CHECK(cudaDeviceSynchronize());
	proton_exit_scope();
}

// The work is over long before the host launches again; it does not wait for it.
static void late(void)
{
	double from = now_ns(), sum;

	begin("late");
	for (int i = 0; i < n_times; i++) {
		be_away(AWAY_NS);
		launch(stream);
	}
	sum = now_ns() - from;
	planted("late", "late", n_times * (AWAY_NS - SPIN_NS - (double)SLACK_NS), sum - n_times * (double)SPIN_NS);
	end();
}

static void after_sync(void)
{
	double away = 0, from;

	begin("sync");
	for (int i = 0; i < n_times; i++) {
		CHECK(cudaStreamSynchronize(stream));
		from = now_ns();
		be_away(AWAY_NS);
		away += now_ns() - from;
		launch(stream);
	}
	planted("sync", "sync", away, away + n_times * (double)SLACK_NS);
	end();
}

static void after_copy(void)
{
	double away = 0, from;
	void *device, *host;

	CHECK(cudaMalloc(&device, 1 << 20));
	CHECK(cudaMallocHost(&host, 1 << 20));
	begin("copy");
	for (int i = 0; i < n_times; i++) {
		CHECK(cudaMemcpy(host, device, 1 << 20, cudaMemcpyDeviceToHost));
		from = now_ns();
		be_away(AWAY_NS);
		away += now_ns() - from;
		launch(stream);
		CHECK(cudaStreamSynchronize(stream));
	}
	/* From its end on the device on it takes the call some us to return: what CUPTI tells of is its own copy. */
	planted("copy", "copy", 0.99 * away, away + n_times * (double)SLACK_NS);
	end();
}

static void CUDART_CB sleep_on_host(void *arg)
{
	(void)arg;
	usleep(AWAY_NS / 1000);
}

// All is launched at once; a function of the host is between the kernels.
static void queued(void)
{
	double from;

	begin("queued");
	CHECK(cudaDeviceSynchronize());
	launch(stream);
	from = now_ns();
	for (int i = 0; i < n_times; i++) {
		CHECK(cudaLaunchHostFunc(stream, sleep_on_host, NULL));
		launch(stream);
	}
	CHECK(cudaStreamSynchronize(stream));
	planted("queued", "queued", n_times * (AWAY_NS - (double)SLACK_NS),
		now_ns() - from - n_times * (double)SPIN_NS);
	end();
}

// A stream waits for another one, which works meanwhile: the device does not.
static void other_stream(void)
{
	cudaEvent_t event;

	CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
	begin("event");
	for (int i = 0; i < n_times; i++) {
		launch(stream);
		CHECK(cudaEventRecord(event, stream));
		CHECK(cudaStreamWaitEvent(other, event, 0));
		launch(other);
		CHECK(cudaEventRecord(event, other));
		CHECK(cudaStreamWaitEvent(stream, event, 0));
	}
	CHECK(cudaDeviceSynchronize());
	planted("event", "idle", 0, 2 * n_times * 20000.0);
	end();
}

// Another thread's work fills what would be a gap, and is told of after it.
static void filled(void)
{
	begin("filled");
	for (int i = 0; i < 10; i++) {
		std::thread([] {
			proton_enter_scope("beside");
			spin<<<1, 1, 0, other>>>(300000000ull);
			proton_exit_scope();
		}).join();
		for (int k = 0; k < 10; k++) {
			launch(stream);
			be_away(20e6);
		}
	}
	CHECK(cudaDeviceSynchronize());
	planted("filled", "idle", 0, 10 * (double)SLACK_NS);
	end();
}

// Gaps within a graph that is recorded by its nodes, and before each replay.
static void graph(void)
{
	cudaGraph_t captured;
	cudaGraphExec_t executable;
	double away = 0, from;

	CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
	for (int i = 0; i < N_IN_GRAPH; i++)
		empty<<<1, 1, 0, stream>>>();
	CHECK(cudaStreamEndCapture(stream, &captured));
	CHECK(cudaGraphInstantiate(&executable, captured, 0));
	begin("graph");
	for (int i = 0; i < n_times; i++) {
		CHECK(cudaStreamSynchronize(stream));
		from = now_ns();
		be_away(AWAY_NS);
		away += now_ns() - from;
		CHECK(cudaGraphLaunch(executable, stream));
	}
	planted("graph", "sync", away, away + n_times * (double)SLACK_NS);
	planted("graph", "in_graphs", n_times * N_IN_GRAPH * 100.0, n_times * N_IN_GRAPH * 20000.0);
	end();
}

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "-n"))
		n_times = atoi(argv[2]);
	CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
	late();
	after_sync();
	after_copy();
	queued();
	other_stream();
	filled();
	graph();
	return 0;
}
