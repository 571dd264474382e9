/* SPDX-License-Identifier: MIT */
/* How much of a multiprocessor a kernel has: against figures of NVIDIA's calculator, and where its header is there,
 * against that. */
#include "config.h" // IWYU pragma: keep
#include <check.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"
#include "check_main.h"
#include "core/occupancy.h"
#ifdef PROTON_TEST_CUDA_HEADERS
#include <cuda_occupancy.h>
#endif

static struct launch_config config(uint32_t threads, uint32_t registers, uint32_t shared)
{
	return (struct launch_config){.shape = {{1000, 1, 1}, {threads, 1, 1}},
				      .registers = registers,
				      .dynamic_shared = shared};
}

static struct occupancy of(unsigned capability, uint32_t threads, uint32_t registers,
			   uint32_t shared)
{
	const struct launch_config c = config(threads, registers, shared);

	return occupancy_of(&c, sm_limits_find(capability), 100);
}

START_TEST(test_figures)
{
	static const struct {
		unsigned capability, threads, registers, shared, blocks;
		double percent;
		const char *limits;
	} known[] = {
		{70, 256, 32, 0, 8, 100, "full"},
		{70, 256, 64, 0, 4, 50, "regs"},
		{70, 96, 32, 20000, 4, 18.75, "shared"},
		{75, 256, 64, 0, 4, 100, "full"},
		{75, 64, 32, 0, 16, 100, "full"},
		{75, 32, 32, 0, 16, 50, "blocks"},
		{80, 128, 32, 40960, 4, 25, "shared"},
		{80, 1024, 33, 0, 1, 50, "regs"},
		{86, 1024, 32, 0, 1, 100 * 32 / 48., "warps"},
		{89, 32, 16, 0, 24, 50, "blocks"},
		{90, 128, 168, 0, 3, 18.75, "regs"},
		{90, 384, 168, 204800, 1, 18.75, "regs+shared"},
		{90, 256, 255, 0, 1, 12.5, "regs"},
		{100, 256, 40, 0, 6, 75, "regs"},
		{120, 256, 40, 0, 6, 100, "full"},
		{120, 128, 16, 50000, 2, 100 * 8 / 48., "shared"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		struct occupancy o = of(known[i].capability, known[i].threads, known[i].registers,
					known[i].shared);
		char text[LAUNCH_LIMITS_TEXT];

		ck_assert_msg(o.blocks == known[i].blocks, "row %zu: %u blocks", i, o.blocks);
		ck_assert_double_eq_tol(o.ratio * 100, known[i].percent, 1e-9);
		ck_assert_str_eq(occupancy_limits_text(&o, text), known[i].limits);
	}
}
END_TEST

/* What no device could have launched, and what nobody knows of, has no occupancy. */
START_TEST(test_unknown)
{
	static const struct {
		unsigned capability, threads, registers, shared;
	} unknown[] = {
		{61, 256, 32, 0},   {0, 256, 32, 0},      {90, 0, 32, 0},     {90, 256, 0, 0},
		{90, 1025, 32, 0},  {90, 256, 256, 0},    {90, 1024, 255, 0}, {75, 128, 32, 70000},
		{90, 128, 32, ~0u}, {90, UINT_MAX, 1, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(unknown); i++) {
		struct occupancy o = of(unknown[i].capability, unknown[i].threads,
					unknown[i].registers, unknown[i].shared);
		char text[LAUNCH_LIMITS_TEXT];

		ck_assert_msg(o.blocks == 0, "row %zu: %u blocks", i, o.blocks);
		ck_assert(isnan(o.ratio) && isnan(o.waves) && isnan(o.tail_ratio) &&
			  isnan(o.tail_cost) && isnan(o.unused_ratio));
		ck_assert_str_eq(occupancy_limits_text(&o, text), "-");
	}
}
END_TEST

/* 8 blocks of 256 on each of 100 multiprocessors: 800 are a wave. */
START_TEST(test_waves)
{
	static const struct {
		uint32_t blocks;
		double waves, tail, cost, unused;
	} known[] = {
		{1, 1 / 800., 0, 0, 0.99},
		{99, 99 / 800., 0, 0, 0.01},
		{100, 0.125, 0, 0, 0},
		{800, 1, 0, 0, 0},
		{801, 801 / 800., 799 / 800., 799 / 1600., 0},
		{1000, 1.25, 0.75, 0.375, 0},
		{1600, 2, 0, 0, 0},
		{80001, 80001 / 800., 799 / 800., 799 / 800. / 101, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		struct launch_config c = config(256, 32, 0);
		struct occupancy o;

		c.shape.grid[0] = known[i].blocks;
		o = occupancy_of(&c, sm_limits_find(90), 100);
		ck_assert_double_eq_tol(o.waves, known[i].waves, 1e-12);
		ck_assert_double_eq_tol(o.tail_ratio, known[i].tail, 1e-9);
		ck_assert_double_eq_tol(o.tail_cost, known[i].cost, 1e-9);
		ck_assert_double_eq_tol(o.unused_ratio, known[i].unused, 1e-12);
	}
}
END_TEST

/* A grid may have more blocks than 32 bits count; clusters go where all of their blocks have room; without the number of
 * multiprocessors there are no waves. */
START_TEST(test_waves_unknown)
{
	struct launch_config c = config(256, 32, 0);
	struct occupancy o;

	c.shape.grid[0] = c.shape.grid[1] = 100000;
	o = occupancy_of(&c, sm_limits_find(90), 100);
	ck_assert_double_eq_tol(o.waves, 1e10 / 800, 1e-3);
	o = occupancy_of(&c, sm_limits_find(90), 0);
	ck_assert(o.blocks == 8 && isnan(o.waves) && isnan(o.unused_ratio));
	c.cluster[0] = 2;
	c.cluster[1] = c.cluster[2] = 1;
	o = occupancy_of(&c, sm_limits_find(90), 100);
	ck_assert(o.blocks == 8 && o.ratio == 1 && isnan(o.waves) && isnan(o.tail_ratio) &&
		  isnan(o.tail_cost) && isnan(o.unused_ratio));
}
END_TEST

/* What a file says may be of no grid, or of no block, that there can be. */
START_TEST(test_extents)
{
	static const struct {
		uint32_t of[3];
		uint64_t n;
	} known[] = {
		{{0}, 0},
		{{8, 0, 1}, 0},
		{{2147483647, 65535, 65535}, 2147483647ull * 65535 * 65535},
		{{1u << 31, 1u << 31, 4}, UINT64_MAX},
		{{UINT32_MAX, UINT32_MAX, UINT32_MAX}, UINT64_MAX},
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		struct launch_config c = config(256, 32, 0);
		struct occupancy o;

		ck_assert_msg(launch_extent(known[i].of) == known[i].n, "row %zu", i);
		memcpy(c.shape.grid, known[i].of, sizeof(c.shape.grid));
		o = occupancy_of(&c, sm_limits_find(90), 100);
		ck_assert_uint_eq(o.blocks, 8);
		ck_assert_msg(known[i].n ? o.waves > 1 && o.unused_ratio == 0
					 : isnan(o.waves) && isnan(o.tail_cost) &&
						   isnan(o.unused_ratio),
			      "row %zu: %g waves", i, o.waves);
		memcpy(c.shape.block, known[i].of, sizeof(c.shape.block));
		ck_assert_uint_eq(occupancy_of(&c, sm_limits_find(90), 100).blocks, 0);
	}
}
END_TEST

#ifdef PROTON_TEST_CUDA_HEADERS
static cudaOccResult theirs(const struct sm_limits *l, const struct launch_config *c)
{
	const cudaOccDeviceProp device = {.computeMajor = (int)l->capability / 10,
					  .computeMinor = (int)l->capability % 10,
					  .maxThreadsPerBlock = 1024,
					  .maxThreadsPerMultiprocessor = (int)l->warps * 32,
					  .regsPerBlock = 65536,
					  .regsPerMultiprocessor = 65536,
					  .warpSize = 32,
					  .sharedMemPerBlock = 49152,
					  .sharedMemPerMultiprocessor = l->shared_bytes,
					  .numSms = 100,
					  .sharedMemPerBlockOptin =
						  l->shared_bytes - l->shared_reserved,
					  .reservedSharedMemPerBlock = l->shared_reserved};
	const cudaOccFuncAttributes function = {.maxThreadsPerBlock = 1024,
						.numRegs = (int)c->registers,
						.sharedSizeBytes = c->static_shared,
						.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN,
						.maxDynamicSharedSizeBytes = 1 << 20,
						.numBlockBarriers = 1};
	const cudaOccDeviceState state = {.carveoutConfig = SHAREDMEM_CARVEOUT_DEFAULT};
	cudaOccResult result = {0};

	ck_assert_int_eq(cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &function,
								 &state, (int)c->shape.block[0],
								 c->dynamic_shared),
			 CUDA_OCC_SUCCESS);
	return result;
}

static void same(const struct sm_limits *l, const struct launch_config *c)
{
	static const unsigned limits[][2] = {{LIMIT_REGISTERS, OCC_LIMIT_REGISTERS},
					     {LIMIT_SHARED, OCC_LIMIT_SHARED_MEMORY},
					     {LIMIT_WARPS, OCC_LIMIT_WARPS},
					     {LIMIT_BLOCKS, OCC_LIMIT_BLOCKS}};
	cudaOccResult r = theirs(l, c);
	struct occupancy o = occupancy_of(c, l, 100);

	ck_assert_msg(o.blocks == (unsigned)r.activeBlocksPerMultiprocessor,
		      "%u: %u threads, %u registers, %u+%u bytes: %u blocks, not %d", l->capability,
		      c->shape.block[0], c->registers, c->static_shared, c->dynamic_shared,
		      o.blocks, r.activeBlocksPerMultiprocessor);
	for (size_t i = 0; i < ARRAY_SIZE(limits) && o.blocks; i++)
		ck_assert_msg(!(o.limits & limits[i][0]) == !(r.limitingFactors & limits[i][1]),
			      "%u: %u threads, %u registers, %u+%u bytes: limits %x, not %x",
			      l->capability, c->shape.block[0], c->registers, c->static_shared,
			      c->dynamic_shared, o.limits, r.limitingFactors);
}

START_TEST(test_calculator)
{
	static const unsigned capabilities[] = {70, 75, 80, 86, 87, 89, 90, 100, 103, 110, 120};

	for (uint32_t threads = 1; threads <= 1024; threads += threads < 32 ? 31 : 32)
		for (uint32_t registers = 1; registers <= 255; registers += 7)
			for (uint32_t shared = 0; shared < 240000; shared += 7919) {
				struct launch_config c = config(threads, registers, shared);
				const struct sm_limits *l = sm_limits_find(capabilities[_i]);

				same(l, &c);
				c.static_shared = 4000;
				same(l, &c);
			}
}
END_TEST
#endif

int main(void)
{
	Suite *suite = suite_create("occupancy");
	TCase *tc = tcase_create("occupancy");

	tcase_add_test(tc, test_figures);
	tcase_add_test(tc, test_unknown);
	tcase_add_test(tc, test_waves);
	tcase_add_test(tc, test_waves_unknown);
	tcase_add_test(tc, test_extents);
#ifdef PROTON_TEST_CUDA_HEADERS
	tcase_add_loop_test(tc, test_calculator, 0, 11);
#endif
	suite_add_tcase(suite, tc);
	return check_run(suite);
}
