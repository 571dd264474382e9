/* SPDX-License-Identifier: MIT */
/* A rank of a job of training, with the mock libcupti: collect_ranks LIBCUDA BASE_NS [STEPS]. Which it is and how many there
 * are say RANK and WORLD_SIZE, its device LOCAL_RANK. All ranks are given the same base, so that their times are of one
 * clock. What is planted: rank SLOW has twice the work in its forward pass, and what rank LINK copies to its device goes at
 * a tenth of the others' speed. See tests/scripts/collect_ranks.sh. */
#include "config.h" // IWYU pragma: keep
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "backends/cupti_abi.h"
#include "mocks/mock_cupti.h"
#include "programs/symbols.h"
#include "proton/proton.h"

enum { KERNEL_CALL = 307, COPY_CALL = 276, PEER_CALL = 318, SLOW = 5, LINK = 2, LAYERS = 4 };
enum { BATCH_BYTES = 4000000, ACTIVATION_BYTES = 2000000, STEP_US = 5000 };
/* How long each takes, in us. */
enum { LOAD = 80, GEMM = 200, GRADIENT = 300, REDUCE = 100, SEND = 400 };

static mock_call_fn *call;

struct rank {
	uint32_t number, device, world;
	uint64_t at_ns; /* what it launches next begins there */
};

static uint32_t load_us(uint32_t rank)
{
	return rank == LINK ? 10 * LOAD : LOAD;
}

static uint32_t gemm_us(uint32_t rank)
{
	return rank == SLOW ? 2 * GEMM : GEMM;
}

/* When the last rank comes to the collective of a step. */
static uint32_t last_us(uint32_t world)
{
	uint32_t last = 0;

	for (uint32_t i = 0; i < world; i++) {
		uint32_t us = load_us(i) + LAYERS * (gemm_us(i) + GRADIENT);

		last = us > last ? us : last;
	}
	return last;
}

static void run(struct rank *r, uint32_t cbid, struct mock_op op, uint64_t us)
{
	op.device = r->device;
	op.context = r->device + 1;
	op.stream = 7;
	op.start_ns = r->at_ns;
	op.end_ns = r->at_ns + 1000 * us;
	call(cbid, &op);
	r->at_ns = op.end_ns;
}

static void kernel(struct rank *r, const char *name, uint64_t us)
{
	run(r, KERNEL_CALL, (struct mock_op){.kind = ABI_KIND_CONCURRENT_KERNEL, .name = name}, us);
}

static void load(struct rank *r)
{
	const struct mock_op op = {.kind = ABI_KIND_MEMCPY,
				   .bytes = BATCH_BYTES,
				   .copy_kind = ABI_COPY_HTOD,
				   .src_kind = ABI_MEMORY_PINNED,
				   .dst_kind = ABI_MEMORY_DEVICE,
				   .async = true};

	proton_enter_scope("load");
	run(r, COPY_CALL, op, load_us(r->number));
	proton_exit_scope();
}

/* To the next device: the mock's copies between devices go there. */
static void pass_on(struct rank *r)
{
	const struct mock_op op = {.kind = ABI_KIND_MEMCPY2,
				   .bytes = ACTIVATION_BYTES,
				   .copy_kind = ABI_COPY_PTOP,
				   .src_kind = ABI_MEMORY_DEVICE,
				   .dst_kind = ABI_MEMORY_DEVICE,
				   .async = true};

	proton_enter_scope("send");
	run(r, PEER_CALL, op, SEND);
	proton_exit_scope();
}

static void step(struct rank *r, uint64_t from_ns)
{
	uint64_t done_ns = from_ns + UINT64_C(1000) * (last_us(r->world) + REDUCE);

	r->at_ns = from_ns;
	proton_enter_scope("step");
	load(r);
	proton_enter_scope("forward");
	for (unsigned i = 0; i < LAYERS; i++)
		kernel(r, "sm90_xmma_gemm_bf16", gemm_us(r->number));
	proton_exit_scope();
	proton_enter_scope("backward");
	for (unsigned i = 0; i < LAYERS; i++)
		kernel(r, "sm90_xmma_gemm_wgrad", GRADIENT);
	/* Who comes early waits in it: it ends on all ranks at once. */
	kernel(r, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", (done_ns - r->at_ns) / 1000);
	proton_exit_scope();
	if (r->number + 1 < r->world)
		pass_on(r);
	if (r->number == SLOW) /* no other rank does */
		kernel(r, "checkpoint", 20);
	proton_exit_scope();
}

static uint64_t realtime_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint32_t number_of(const char *variable)
{
	const char *s = getenv(variable);

	if (s)
		return (uint32_t)strtoul(s, NULL, 10);
	fprintf(stderr, "collect_ranks: there is no %s\n", variable);
	exit(2);
}

int main(int argc, char **argv)
{
	const char *cupti = getenv("PROTON_CUPTI_PATH");
	uint32_t (*init)(uint32_t);
	struct rank r = {.number = number_of("RANK"),
			 .device = number_of("LOCAL_RANK"),
			 .world = number_of("WORLD_SIZE")};
	const struct timespec moment = {.tv_nsec = 1000000};
	uint64_t base_ns;
	unsigned n;

	if (argc < 3 || !cupti)
		return 2;
	base_ns = strtoull(argv[2], NULL, 10);
	n = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 6;
	*(void **)&init = find(argv[1], "cuInit");
	init(0);
	*(void **)&call = find(cupti, "mock_call");
	for (unsigned i = 0; i < n; i++)
		step(&r, base_ns + UINT64_C(1000) * STEP_US * i);
	while (realtime_ns() < r.at_ns) /* what it launched is over then */
		nanosleep(&moment, NULL);
	return 0;
}
