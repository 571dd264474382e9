/* SPDX-License-Identifier: MIT */
/* Known traffic of unified memory: collect_unified LIBCUDA [WHAT], with the mock libcupti. See
 * tests/scripts/collect_unified.sh. */
#include "config.h" // IWYU pragma: keep
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "backends/cupti_abi.h"
#include "mocks/mock_cupti.h"
#include "programs/symbols.h"
#include "proton/proton.h"

enum {
	PAGE = 4096,
	DEADLINE_MS = 20000,
	N_MANY = 70000, /* more than are told apart */
};

static struct {
	uint32_t (*init)(uint32_t flags);
	uint32_t (*alloc)(uint64_t *ret, size_t bytes, uint32_t flags);
	uint32_t (*release)(uint64_t address);
	uint32_t (*launch)(const char *, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t,
			   uint32_t, void *, void **, void **);
} cuda;
static mock_call_fn *call;
static mock_counters_fn *counters;

static uint64_t alloc(const char *scope)
{
	uint64_t address = 0;

	proton_enter_scope(scope);
	if (cuda.alloc(&address, PAGE, 1))
		exit(3);
	proton_exit_scope();
	return address;
}

/* It is switched on by the first flush: so many kinds are on then. */
static void wait_until_on(void)
{
	const struct timespec nap = {0, 1000000};
	const char *kinds = getenv("UNIFIED_KINDS");
	struct mock_counters c;

	if (!kinds)
		exit(2);
	for (int ms = 0; ms < DEADLINE_MS; ms++) {
		counters(&c);
		if (c.n_kinds_enabled >= strtoul(kinds, NULL, 10))
			return;
		nanosleep(&nap, NULL);
	}
	exit(4);
}

static void happens(uint32_t what, uint64_t address, uint64_t value, uint32_t flags)
{
	struct timespec t;
	struct mock_op op = {
		.kind = ABI_KIND_UNIFIED,
		.operation = what,
		.address = address,
		.bytes = value,
		.flags = flags,
	};

	clock_gettime(CLOCK_REALTIME, &t);
	op.start_ns = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
	op.end_ns = op.start_ns + 1000;
	/* The host stands at the other end. */
	op.device = what == ABI_UNIFIED_HTOD || what == ABI_UNIFIED_CPU_FAULT ? UINT32_MAX : 0;
	op.dst_device = what == ABI_UNIFIED_DTOH ? UINT32_MAX : what == ABI_UNIFIED_DTOD;
	call(0, &op);
}

static void known(void)
{
	uint64_t a = alloc("a"), b = alloc("b"), c;

	happens(ABI_UNIFIED_HTOD, a, PAGE, 2);
	happens(ABI_UNIFIED_HTOD, a, PAGE, ABI_MOVED_BY_USER);
	happens(ABI_UNIFIED_DTOD, a, PAGE, 2);
	for (int i = 0; i < 3; i++)
		happens(ABI_UNIFIED_CPU_FAULT, a + 100, 0x401000, 1);
	happens(ABI_UNIFIED_DTOH, b, 2048, ABI_MOVED_BY_EVICTION);
	happens(ABI_UNIFIED_GPU_FAULT, b + PAGE - 1, 5, 1);
	happens(ABI_UNIFIED_THRASHING, a, PAGE, 0);
	happens(ABI_UNIFIED_THROTTLING, b, 0, 0);
	happens(ABI_UNIFIED_REMOTE_MAP, b, PAGE, 3);
	happens(ABI_UNIFIED_HTOD, a - 1024, 2048, 3);  /* what moves begins before it */
	happens(ABI_UNIFIED_HTOD, 0x12345000, 512, 2); /* nobody's */
	happens(77, a, 1, 0);                          /* of a later CUPTI */
	cuda.release(b);
	happens(ABI_UNIFIED_DTOH, b, 1024, 2); /* late */
	c = alloc("c");
	if (c != b)
		exit(5);
	happens(ABI_UNIFIED_DTOH, c, 512, 2);
	cuda.launch("kernel", 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
}

static void many(void)
{
	uint64_t first = alloc("first"), last = first;

	proton_enter_scope("many");
	for (int i = 1; i < N_MANY; i++)
		if (cuda.alloc(&last, PAGE, 1))
			exit(3);
	proton_exit_scope();
	happens(ABI_UNIFIED_HTOD, first, PAGE, 2);
	happens(ABI_UNIFIED_HTOD, last, PAGE, 2);
	cuda.launch("kernel", 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
}

int main(int argc, char **argv)
{
	const char *cupti = getenv("PROTON_CUPTI_PATH");

	if (argc != 3 || !cupti)
		return 2;
	*(void **)&cuda.init = find(argv[1], "cuInit");
	*(void **)&cuda.alloc = find(argv[1], "cuMemAllocManaged");
	*(void **)&cuda.release = find(argv[1], "cuMemFree_v2");
	*(void **)&cuda.launch = find(argv[1], "cuLaunchKernel");
	*(void **)&call = find(cupti, "mock_call");
	*(void **)&counters = find(cupti, "mock_counters");
	cuda.init(0);
	if (strcmp(argv[2], "off") != 0)
		wait_until_on();
	if (!strcmp(argv[2], "many"))
		many();
	else
		known();
	return 0;
}
