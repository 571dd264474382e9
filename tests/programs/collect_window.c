/* SPDX-License-Identifier: MIT */
/* Kernels before, in and after a range of NVTX, and between calls that start and stop a profiler:
 * collect_window LIBCUDA, with the mock libcupti. See tests/scripts/collect_window.sh. */
#include "config.h" // IWYU pragma: keep
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include "backends/cupti_abi.h"
#include "mocks/mock_cupti.h"
#include "programs/nvtx_core.h"
#include "programs/symbols.h"

enum { KERNEL_CALL = 307, PROFILER_START = 308, PROFILER_STOP = 309 };

static mock_call_fn *call;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* One that takes a moment, now. The host waits until the clock has gone on. */
static void kernel(const char *name)
{
	struct mock_op op = {
		.kind = ABI_KIND_CONCURRENT_KERNEL, .name = name, .context = 1, .stream = 7};
	uint64_t begin = now_ns();

	while (now_ns() < begin + 2000000)
		;
	op.start_ns = begin + 1000000;
	op.end_ns = begin + 1001000;
	call(KERNEL_CALL, &op);
}

static void profiler(uint32_t cbid)
{
	call(cbid, &(struct mock_op){.name = "profiler"});
}

/* A range of another name is open all the time. */
int main(int argc, char **argv)
{
	const char *cupti = getenv("PROTON_CUPTI_PATH");
	int (*push)(const char *), (*pop)(void);
	uint64_t (*start)(const char *);
	void (*end)(uint64_t);
	uint32_t (*init)(uint32_t);
	uint64_t range;

	if (argc != 2 || !cupti)
		return 2;
	*(void **)&init = find(argv[1], "cuInit");
	init(0);
	*(void **)&call = find(cupti, "mock_call");
	nvtx_init();
	push = (int (*)(const char *))core[NVTX_CORE_RANGE_PUSH_A];
	pop = (int (*)(void))core[NVTX_CORE_RANGE_POP];
	start = (uint64_t(*)(const char *))core[NVTX_CORE_RANGE_START_A];
	end = (void (*)(uint64_t))core[NVTX_CORE_RANGE_END];
	push("all of it");
	kernel("before");
	push("step");
	kernel("pushed");
	pop();
	kernel("between");
	range = start("step");
	profiler(PROFILER_START);
	kernel("started");
	end(range);
	kernel("profiled");
	profiler(PROFILER_STOP);
	kernel("after");
	pop();
	return 0;
}
