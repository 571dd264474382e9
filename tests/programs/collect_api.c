/* SPDX-License-Identifier: MIT */
/* A program that makes known calls of CUDA: collect_api LIBCUDA [left], with the mock libcupti. It prints of each, by scope,
 * how often, and the least that its calls take in us. See tests/scripts/collect_api.sh. */
#include "config.h" // IWYU pragma: keep
#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "backends/cupti_abi.h"
#include "mocks/mock_cupti.h"
#include "programs/symbols.h"
#include "proton/proton.h"

enum { N_STEPS = 50, N_THREADS = 4, MALLOC_US = 3000, WAIT_US = 5000 };
/* Numbers of calls of the runtime, and of the driver. */
enum { MALLOC = 20, DEVICE = 17, FREE = 22, MEMCPY = 31, STREAM_SYNC = 131, LAUNCH = 211 };
enum { DRIVER_SYNC = 126, DRIVER_ALLOC = 243, DRIVER_COPY = 276, DRIVER_LAUNCH = 307 };

static mock_call_fn *call;
static mock_runtime_fn *runtime;

static void spend(int64_t us)
{
	struct timespec from, now;

	clock_gettime(CLOCK_REALTIME, &from);
	do
		clock_gettime(CLOCK_REALTIME, &now);
	while ((now.tv_sec - from.tv_sec) * 1000000 + (now.tv_nsec - from.tv_nsec) / 1000 < us);
}

static void spend_malloc(void)
{
	spend(MALLOC_US);
}

static void spend_wait(void)
{
	spend(WAIT_US);
}

static void drive_launch(void)
{
	call(DRIVER_LAUNCH, &(struct mock_op){.kind = ABI_KIND_CONCURRENT_KERNEL, .name = "work"});
}

/* One call of the runtime may be several of the driver. */
static void drive_copy(void)
{
	call(DRIVER_COPY, &(struct mock_op){.kind = ABI_KIND_MEMCPY,
					    .bytes = 4096,
					    .copy_kind = ABI_COPY_HTOD,
					    .src_kind = ABI_MEMORY_PINNED,
					    .dst_kind = ABI_MEMORY_DEVICE});
	call(DRIVER_LAUNCH + 1, &(struct mock_op){.kind = 0});
}

static void drive_alloc(void)
{
	call(DRIVER_ALLOC, &(struct mock_op){.inside = spend_malloc});
}

static void drive_sync(void)
{
	call(DRIVER_SYNC, &(struct mock_op){.kind = ABI_KIND_SYNCHRONIZATION,
					    .sync_type = ABI_SYNC_STREAM,
					    .inside = spend_wait});
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void launch_at(int64_t start_ns, int64_t end_ns)
{
	call(DRIVER_LAUNCH, &(struct mock_op){.kind = ABI_KIND_CONCURRENT_KERNEL,
					      .name = "timed",
					      .device = 1,
					      .context = 2,
					      .start_ns = (uint64_t)start_ns,
					      .end_ns = (uint64_t)end_ns});
}

/* It runs, and ends, while the host waits; however slow that is. */
static void drive_and_wait(void)
{
	int64_t now = now_ns();

	launch_at(now, now + 1000);
	drive_sync();
}

/* The device has nothing to do from then on, up to this. */
static void let_wait(void)
{
	int64_t start;

	proton_enter_scope("idle");
	runtime(STREAM_SYNC, "cudaStreamSynchronize", drive_and_wait);
	start = now_ns() + 100000000;
	launch_at(start, start + 1000);
	proton_exit_scope();
}

static void *step(void *arg)
{
	proton_enter_scope(arg);
	for (unsigned i = 0; i < N_STEPS; i++) {
		runtime(DEVICE, "cudaGetDevice", NULL); /* is not timed */
		runtime(LAUNCH, "cudaLaunchKernel", drive_launch);
		runtime(LAUNCH, "cudaLaunchKernel", drive_launch);
		drive_launch();
	}
	proton_exit_scope();
	return NULL;
}

static void expect(const char *scope, const char *name, unsigned n, unsigned least_us)
{
	printf("%s %s %u %u\n", scope, name, n, least_us);
}

static void alone(void)
{
	proton_enter_scope("load");
	runtime(MALLOC, "cudaMalloc", drive_alloc);
	runtime(MALLOC, "cudaMalloc", drive_alloc);
	runtime(FREE, "cudaFree", NULL);
	proton_exit_scope();
	proton_enter_scope("read");
	runtime(STREAM_SYNC, "cudaStreamSynchronize", drive_sync);
	drive_sync();
	proton_exit_scope();
	expect("load", "cudaMalloc", 2, 2 * MALLOC_US);
	expect("load", "cudaFree", 1, 0);
	expect("read", "cudaStreamSynchronize", 1, WAIT_US);
	expect("read", "cuStreamSynchronize", 1, WAIT_US);
}

static sigjmp_buf out_of_it;

static void jump(void)
{
	spend(MALLOC_US);
	siglongjmp(out_of_it, 1);
}

/* Calls that a handler of a signal leaves by a jump, one of the driver and one of the runtime: what follows them is none
 * of theirs, and has none of their time. */
static void left(void)
{
	proton_enter_scope("left");
	if (!sigsetjmp(out_of_it, 1))
		call(DRIVER_ALLOC, &(struct mock_op){.inside = jump});
	runtime(FREE, "cudaFree", NULL);
	if (!sigsetjmp(out_of_it, 1))
		call(DRIVER_ALLOC, &(struct mock_op){.inside = jump});
	call(DRIVER_ALLOC, &(struct mock_op){.kind = 0});
	drive_launch();
	proton_exit_scope();
	expect("left", "cudaFree", 1, 0);
	expect("left", "cuMemAlloc_v2", 1, 0);
	expect("left", "cuLaunchKernel", 1, 0);
}

int main(int argc, char **argv)
{
	static char names[N_THREADS][16];
	const char *cupti = getenv("PROTON_CUPTI_PATH");
	pthread_t threads[N_THREADS];
	uint32_t (*init)(uint32_t);

	if (argc < 2 || !cupti)
		return 2;
	*(void **)&init = find(argv[1], "cuInit");
	init(0);
	*(void **)&call = find(cupti, "mock_call");
	*(void **)&runtime = find(cupti, "mock_runtime");
	if (argc > 2) {
		left();
		return 0;
	}
	for (unsigned i = 0; i < N_THREADS; i++) {
		snprintf(names[i], sizeof(names[i]), "worker%c", 'a' + (char)i);
		pthread_create(&threads[i], NULL, step, names[i]);
	}
	for (unsigned i = 0; i < N_THREADS; i++) {
		pthread_join(threads[i], NULL);
		expect(names[i], "cudaLaunchKernel", 2 * N_STEPS, 0);
		expect(names[i], "cuLaunchKernel", N_STEPS, 0);
	}
	alone();
	let_wait();
	expect("idle", "cudaStreamSynchronize", 1, WAIT_US);
	expect("idle", "cuLaunchKernel", 1, 0);
	proton_enter_scope("copy");
	runtime(MEMCPY, "cudaMemcpy", drive_copy);
	proton_exit_scope();
	expect("copy", "cudaMemcpy", 1, 0);
	return 0;
}
