/* SPDX-License-Identifier: MIT */
/* Each rule speaks of a run with its flaw planted, with the right price, and is silent about one
 * without it. */
#include "config.h" // IWYU pragma: keep
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"
#include "check_main.h"
#include "core/pc_samples.h"
#include "core/session.h"
#include "core/runs.h"
#include "findings/findings.h"

#define MS UINT64_C(1000000)
#define S  UINT64_C(1000000000)

/* ---- runs ---- */

struct work {
	enum frame_kind kind;
	const char *name;
	uint64_t time_ns, count, bytes, async;
	int rank; /* and its device */
	uint64_t graph_nodes;
};

struct world {
	uint64_t wall_ns, busy_ns[4];
	struct work work[6];
	uint64_t lost;
	uint64_t first_ns, last_ns;
	struct sensors sensors; /* of the first device */
	bool is_trace;          /* of somebody else, who knows to the nanosecond when work ran */
	uint64_t paused_ns;
	uint64_t launches; /* that were counted; 0: nobody did */
	struct {
		uint32_t metric;
		uint64_t n;
	} counted[14];                 /* of the first work */
	uint64_t copies_ns, hidden_ns; /* of the first device; not a sum of times */
	uint64_t aside_ms;
	uint64_t tensors, reserved; /* the most of PyTorch's on the first device */
	struct {
		const char *name, *by; /* by: the name of what allocates from it */
		uint64_t used, unused, grown, fragmented, times;
	} pool;       /* … or of another pool, as large */
	bool is_chip; /* the first device has 100 multiprocessors of 9.0, at 1 GHz */
	struct {
		uint64_t time_ns, bytes, single, half, tensor, requests, sectors, conflicts;
	} measured; /* by metrics, of the first work: operations of 32 and 16 bits, tensor cores' … */
	struct {
		const char *place; /* "+0x10 k@0000000000000001.cubin", or a line */
		enum pc_reason reason;
		uint64_t n;
	} samples[4]; /* of its code */
	struct launch_config
		config; /* of the first work, on 100 multiprocessors of capability 9.0 */
};

static uint32_t add_lane(struct session *s, int rank)
{
	uint32_t process = session_process_add(s, (uint64_t)rank + 1);
	struct session_device device = {.type = strtab_adds(s->strings, "CUDA"), .index = rank};
	struct session_lane lane = {.process = process};

	s->processes[process].rank = rank;
	lane.device = session_device_intern(s, &device);
	return session_lane_intern(s, &lane);
}

static void add_metric(struct session *s, uint32_t node, uint32_t lane, uint32_t metric, uint64_t v)
{
	if (v)
		ck_assert_int_eq(
			session_add(s, node, lane, 0, metric, (union metric_value){.u64 = v}), 0);
}

static void add_work(struct session *s, const struct work *w, const uint32_t *lanes)
{
	uint32_t scope = session_node(s, SESSION_ROOT, FRAME_SCOPE, "step");
	uint32_t node = session_node(s, scope, w->kind, w->name);

	add_metric(s, node, lanes[w->rank], METRIC_TIME, w->time_ns);
	add_metric(s, node, lanes[w->rank], METRIC_COUNT, w->count);
	add_metric(s, node, lanes[w->rank], METRIC_BYTES, w->bytes);
	add_metric(s, node, lanes[w->rank], METRIC_ASYNC, w->async);
	add_metric(s, node, lanes[w->rank], METRIC_GRAPH_NODES, w->graph_nodes);
}

static void add_counted(struct session *s, const struct world *w, uint32_t lane)
{
	uint32_t scope = session_node(s, SESSION_ROOT, FRAME_SCOPE, "step");
	uint32_t node = session_node(s, scope, w->work->kind, w->work->name);

	for (size_t i = 0; i < ARRAY_SIZE(w->counted); i++)
		add_metric(s, node, lane, w->counted[i].metric, w->counted[i].n);
	if (w->is_chip && w->counted[0].metric) /* nothing of a unit is a value, too */
		for (size_t i = 0; i < 5; i++)
			ck_assert_int_eq(session_add(s, node, lane, 0, w->counted[i].metric,
						     (union metric_value){.u64 = 0}),
					 0);
}

static void add_reserved(struct session *s, const struct world *w, uint32_t lane)
{
	uint32_t tensors = session_node(s, SESSION_ROOT, FRAME_ALLOC, "alloc tensors"),
		 pool = session_node(s, SESSION_ROOT, FRAME_ALLOC, "PyTorch's allocator");

	add_metric(s, tensors, lane, METRIC_MEM_PEAK, w->tensors);
	add_metric(s, tensors, lane, METRIC_PEAK_AT, 1);
	add_metric(s, pool, lane, METRIC_POOL_SIZE, w->reserved);
	add_metric(s, pool, lane, METRIC_POOL_PEAK, w->reserved);
}

static void add_pool(struct session *s, const struct world *w, uint32_t lane)
{
	uint32_t scope = session_node(s, SESSION_ROOT, FRAME_SCOPE, "step"),
		 pool = session_node(s, SESSION_ROOT, FRAME_ALLOC, w->pool.name),
		 by = session_node(s, scope, FRAME_ALLOC, w->pool.by),
		 other = session_node(s, SESSION_ROOT, FRAME_ALLOC, "alloc device pool 3");

	add_metric(s, pool, lane, METRIC_POOL_SIZE, w->reserved);
	add_metric(s, pool, lane, METRIC_POOL_PEAK, w->reserved);
	add_metric(s, pool, lane, METRIC_POOL_USED_PEAK, w->pool.used);
	add_metric(s, pool, lane, METRIC_POOL_UNUSED, w->pool.unused);
	add_metric(s, by, lane, METRIC_POOL_GROWN, w->pool.grown);
	add_metric(s, by, lane, METRIC_FRAGMENTED, w->pool.fragmented);
	add_metric(s, by, lane, METRIC_FRAGMENTED_TIMES, w->pool.times);
	add_metric(s, other, lane, METRIC_POOL_GROWN, 100 * w->reserved);
	add_metric(s, other, lane, METRIC_FRAGMENTED, 100 * w->reserved);
	add_metric(s, other, lane, METRIC_FRAGMENTED_TIMES, 1000);
}

static void add_samples(struct session *s, const struct world *w, uint32_t lane)
{
	uint32_t kernel = session_node(s, session_node(s, SESSION_ROOT, FRAME_SCOPE, "step"),
				       w->work->kind, w->work->name);

	for (size_t i = 0; i < ARRAY_SIZE(w->samples) && w->samples[i].place; i++) {
		const char *place = w->samples[i].place;
		uint32_t node = session_node(s, kernel,
					     *place == '+' ? FRAME_INSTRUCTION : FRAME_LINE, place);

		add_metric(s, node, lane, METRIC_PC_SAMPLES, w->samples[i].n);
		add_metric(s, node, lane,
			   METRIC_STALLED_LONG_SCOREBOARD + (uint32_t)w->samples[i].reason,
			   w->samples[i].n);
	}
}

static void set_chip(struct session *s, uint32_t device)
{
	s->devices[device].arch = strtab_adds(s->strings, "90");
	s->devices[device].num_sms = 100;
	s->devices[device].clock_khz = 1000000;
}

static void add_config(struct session *s, const struct world *w, uint32_t lane)
{
	uint32_t scope = session_node(s, SESSION_ROOT, FRAME_SCOPE, "step"),
		 id = s->lanes[lane].device;
	const struct session_config of = {
		.node = session_node(s, scope, w->work->kind, w->work->name),
		.device = id,
		.of = w->config};
	struct session_config *c = session_config_of(s, &of);

	set_chip(s, id);
	c->count = w->work->count;
	c->time_ns = w->work->time_ns;
}

static void add_named(struct session *s, uint32_t node, uint32_t lane, const char *name, uint64_t v)
{
	const struct metric metric = {.name = name, .unit = "", .type = METRIC_F64};

	ck_assert_int_eq(session_add(s, node, lane, 0, session_metric_add(s, &metric),
				     (union metric_value){.f64 = (double)v}),
			 0);
}

static void add_measured(struct session *s, const struct world *w, uint32_t lane)
{
	static const char *const ops[] = {"fadd", "fmul", "ffma", "hadd", "hmul",
					  "hfma", "dadd", "dmul", "dfma"};
	uint32_t node = session_node(s, session_node(s, SESSION_ROOT, FRAME_SCOPE, "step"),
				     w->work->kind, w->work->name);
	char name[80];

	add_named(s, node, lane, "measured_time (ns)", w->measured.time_ns);
	add_named(s, node, lane, "measured", w->work->count);
	add_named(s, node, lane, "dram__bytes.sum", w->measured.bytes);
	add_named(s, node, lane, "sm__inst_executed_pipe_tensor.sum", w->measured.tensor);
	add_named(s, node, lane, "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
		  w->measured.requests);
	add_named(s, node, lane, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
		  w->measured.sectors);
	add_named(s, node, lane, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
		  w->measured.conflicts);
	for (size_t i = 0; i < ARRAY_SIZE(ops); i++) {
		snprintf(name, sizeof(name), "smsp__sass_thread_inst_executed_op_%s_pred_on.sum",
			 ops[i]);
		add_named(s, node, lane, name,
			  i == 2   ? w->measured.single / 2
			  : i == 5 ? w->measured.half / 4
				   : 0);
	}
}

/* Tensor cores multiply 32 bits eight times as fast as the rest of a multiprocessor; a terabyte a second of memory. */
static struct peaks *make_peaks(void)
{
	struct peaks *peaks = peaks_new();
	unsigned line;

	ck_assert_ptr_nonnull(peaks);
	ck_assert_int_eq(peaks_parse(peaks, "CUDA 90 8192 4096 2048 64 1T - 256 -\n", &line), 0);
	return peaks;
}

static struct session *make(const struct world *w)
{
	struct session *s = session_new();
	struct session_run run = {.wall_ns = w->wall_ns,
				  .first_work_ns = w->first_ns,
				  .last_work_ns = w->last_ns,
				  .paused_ns = w->paused_ns,
				  .end = PROCESS_ENDED};
	uint32_t lanes[4] = {0}, n_ranks = 1;

	s->ended = true;
	for (size_t i = 0; i < ARRAY_SIZE(w->work) && w->work[i].name; i++)
		n_ranks = MAX(n_ranks, (uint32_t)w->work[i].rank + 1);
	for (uint32_t i = 0; i < n_ranks; i++)
		lanes[i] = add_lane(s, (int)i);
	for (size_t i = 0; i < ARRAY_SIZE(w->work) && w->work[i].name; i++)
		add_work(s, &w->work[i], lanes);
	add_counted(s, w, lanes[0]);
	if (w->config.registers)
		add_config(s, w, lanes[0]);
	if (w->is_chip)
		set_chip(s, s->lanes[lanes[0]].device);
	if (w->measured.time_ns)
		add_measured(s, w, lanes[0]);
	add_samples(s, w, lanes[0]);
	if (w->pool.name)
		add_pool(s, w, lanes[0]);
	else if (w->reserved)
		add_reserved(s, w, lanes[0]);
	for (uint32_t i = 0; i < n_ranks; i++) {
		struct session_use use = {.process = i,
					  .device = i,
					  .busy_ns = w->busy_ns[i],
					  .copies_ns = i ? 0 : w->copies_ns,
					  .hidden_ns = i ? 0 : w->hidden_ns};

		if (w->busy_ns[i])
			session_use_set(s, &use);
	}
	if (!w->is_trace)
		run.strings[RUN_VERSION] = strtab_adds(s->strings, "1.0");
	if (w->wall_ns)
		session_run_add(s, &run);
	s->losses[LOSS_VANISHED] = w->lost;
	s->processes[0].losses[LOSS_ASIDE] = w->aside_ms;
	s->processes[0].n_records = w->aside_ms ? 1 : 0;
	s->processes[0].launches_counted = w->launches;
	s->processes[0].n_launches = w->launches;
	sensors_add(session_sensors_of(s, s->lanes[lanes[0]].device), &w->sensors);
	return s;
}

/* ---- the rules ---- */

#define KERNEL(name, time, n)                                                                      \
	{                                                                                          \
		FRAME_KERNEL, name, time, n, 0, 0, 0                                               \
	}
#define KERNEL_ON(rank, name, t)                                                                   \
	{                                                                                          \
		FRAME_KERNEL, name, t, 10, 0, 0, rank                                              \
	}
#define IN_GRAPHS(kind, n, nodes)                                                                  \
	{                                                                                          \
		FRAME_##kind, "k", 5 * S, n, 0, 0, 0, nodes                                        \
	}
#define COPY(name, time, n, bytes)                                                                 \
	{                                                                                          \
		FRAME_COPY, name, time, n, bytes, n, 0                                             \
	}

/* A hundred steps in ten seconds. */
#define STEPS_WITHOUT_MOST(mean, median)                                                           \
	{                                                                                          \
		.wall_ns = 10 * S, .busy_ns = {9 * S},                                             \
		.work = {KERNEL("a", 5 * S, 100), KERNEL("b", 4 * S, 100)}, .counted = {           \
			{METRIC_STEPS, 100},                                                       \
			{METRIC_STEP_TIME, 100 * (mean)},                                          \
			{METRIC_STEP_MEDIAN, median},                                              \
		}                                                                                  \
	}
#define STEPS_OF(mean, median, max)                                                                \
	{                                                                                          \
		.wall_ns = 10 * S, .busy_ns = {9 * S},                                             \
		.work = {KERNEL("a", 5 * S, 100), KERNEL("b", 4 * S, 100)}, .counted = {           \
			{METRIC_STEPS, 100},                                                       \
			{METRIC_STEP_TIME, 100 * (mean)},                                          \
			{METRIC_STEP_MEDIAN, median},                                              \
			{METRIC_STEP_MAX, max},                                                    \
		}                                                                                  \
	}

#define STEPS_APART(n, mean, apart, busy_s)                                                        \
	{                                                                                          \
		.wall_ns = 10 * S, .busy_ns = {(busy_s)*S}, .work = {KERNEL("step 0", S, 100)},    \
		.counted = {                                                                       \
			{METRIC_STEPS, n},                                                         \
			{METRIC_STEP_TIME, (n) * (mean)},                                          \
			{METRIC_STEP_MAX, mean},                                                   \
			{METRIC_STEP_APART, (n) * (apart)},                                        \
		}                                                                                  \
	}

/* Eight seconds of work in ten, half of it copies, of which sensors said this. */
#define LOOKED [SENSOR_LOOKS] = 20, [SENSOR_WORKING] = 16
#define SENSED(...)                                                                                \
	{                                                                                          \
		.wall_ns = 10 * S, .busy_ns = {8 * S},                                             \
		.work = {KERNEL("k", 4 * S, 10), COPY("memcpy HtoD pinned", 4 * S, 10, 40)},       \
		.sensors.v = {                                                                     \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}
#define FREE_OF_CHARGE (-1)
#define ALLOCATED(name, times, releases, left)                                                     \
	{                                                                                          \
		.wall_ns = 10 * S, .work = {{FRAME_ALLOC, name}}, .counted = {                     \
			{METRIC_ALLOCS, times},                                                    \
			{METRIC_FREES, releases},                                                  \
			{METRIC_ALLOCATED, 4096 * (times)},                                        \
			{METRIC_MEM_LIVE, left},                                                   \
		}                                                                                  \
	}
#define LEFT_BEHIND(times, bytes, most, held)                                                      \
	{                                                                                          \
		.wall_ns = 10 * S, .work = {{FRAME_ALLOC, "alloc device"}}, .counted = {           \
			{METRIC_LEFT_TIMES, times},                                                \
			{METRIC_LEFT_BYTES, bytes},                                                \
			{METRIC_LEFT_MOST, most},                                                  \
			{METRIC_LEFT_HELD, held},                                                  \
		}                                                                                  \
	}
#define GROWING_MEMORY(known, growth, live)                                                        \
	{                                                                                          \
		.wall_ns = 10 * S, .work = {{FRAME_ALLOC, "alloc device"}}, .counted = {           \
			{METRIC_ALLOCS, 100},                                                      \
			{METRIC_FREES, 60},                                                        \
			{METRIC_MEM_LIVE, live},                                                   \
			{METRIC_STEPS, 100},                                                       \
			{METRIC_STEP_TIME, 100 * 50 * MS},                                         \
			{METRIC_STEP_MAX, 50 * MS},                                                \
			{METRIC_STEP_HELD_KNOWN, known},                                           \
			{METRIC_STEP_HELD, (known)*UINT64_C(80000000)},                            \
			{METRIC_STEP_HELD_MAX, 90000000},                                          \
			{METRIC_STEP_HELD_GROWTH, growth},                                         \
		}                                                                                  \
	}
/* A second of copies to the device, of 200 MB on average. */
#define GROWING_COPIES(known, growth)                                                              \
	{                                                                                          \
		.wall_ns = 10 * S, .work = {COPY("memcpy HtoD pinned", S, 100, 20000000000)},      \
		.counted = {                                                                       \
			{METRIC_STEPS, 100},                                                       \
			{METRIC_STEP_TIME, 100 * 50 * MS},                                         \
			{METRIC_STEP_MAX, 50 * MS},                                                \
			{METRIC_STEP_COPIES_KNOWN, known},                                         \
			{METRIC_STEP_TO_DEVICE, (known)*UINT64_C(200000000)},                      \
			{METRIC_STEP_TO_DEVICE_MAX, 400000000},                                    \
			{METRIC_STEP_TO_DEVICE_GROWTH, growth},                                    \
		}                                                                                  \
	}
#define RESERVED(tensors_mb, reserved_mb)                                                          \
	{                                                                                          \
		.wall_ns = 10 * S, .work = {KERNEL("k", 4 * S, 10)},                               \
		.tensors = (tensors_mb)*UINT64_C(1000000),                                         \
		.reserved = (reserved_mb)*UINT64_C(1000000)                                        \
	}
#define POOL(used_mb, reserved_mb, grown_mb, fragmented_mb)                                        \
	{                                                                                          \
		.wall_ns = 10 * S, .work = {KERNEL("k", 4 * S, 10)},                               \
		.reserved = (reserved_mb)*UINT64_C(1000000), .pool = {                             \
			.name = "pool 2",                                                          \
			.by = "alloc device pool 2 from libx.so",                                  \
			.used = (used_mb)*UINT64_C(1000000),                                       \
			.unused = 250000000,                                                       \
			.grown = (grown_mb)*UINT64_C(1000000),                                     \
			.fragmented = (fragmented_mb)*UINT64_C(1000000),                           \
			.times = 20,                                                               \
		}                                                                                  \
	}
#define REPEATED(again, compared, same)                                                            \
	{                                                                                          \
		.wall_ns = S, .busy_ns = {S},                                                      \
		.work = {COPY("memcpy HtoD pinned", 500 * MS, 1000, S)}, .counted = {              \
			{METRIC_AGAIN, again},                                                     \
			{METRIC_COMPARED, compared},                                               \
			{METRIC_SAME, same},                                                       \
		}                                                                                  \
	}
#define WENT_BACK(n)                                                                               \
	{                                                                                          \
		.wall_ns = S, .busy_ns = {S},                                                      \
		.work = {COPY("memcpy HtoD pinned", 500 * MS, 1000, S)}, .counted = {              \
			{METRIC_BACK, n},                                                          \
		}                                                                                  \
	}
#define CALLED(name, ns, n, longest_ns)                                                            \
	{                                                                                          \
		.wall_ns = S, .busy_ns = {S}, .work = {{FRAME_CALL, name}}, .counted = {           \
			{METRIC_API_TIME, ns},                                                     \
			{METRIC_API_CALLS, n},                                                     \
			{METRIC_API_MAX, longest_ns},                                              \
		}                                                                                  \
	}
#define WAITED(ns, n, idle_ns)                                                                     \
	{                                                                                          \
		.wall_ns = S, .busy_ns = {S}, .work = {{FRAME_SYNC, "cudaStreamSynchronize"}},     \
		.counted = {                                                                       \
			{METRIC_API_TIME, ns},                                                     \
			{METRIC_API_CALLS, n},                                                     \
			{METRIC_IDLE_SYNC, idle_ns},                                               \
		}                                                                                  \
	}
#define MOVED(ns, to_device, asked, thrashings)                                                    \
	{                                                                                          \
		.wall_ns = S, .busy_ns = {S}, .work = {{FRAME_ALLOC, "alloc managed"}},            \
		.counted = {                                                                       \
			{METRIC_MIGRATING, ns},                                                    \
			{METRIC_TO_DEVICE, to_device},                                             \
			{METRIC_ASKED_FOR, asked},                                                 \
			{METRIC_THRASHES, thrashings},                                             \
		}                                                                                  \
	}

/* A kernel that is all of a second's work. */
#define LAUNCHED(name, ...)                                                                        \
	{                                                                                          \
		.wall_ns = S, .busy_ns = {S}, .work = {KERNEL(name, S, 10)}, .config = {           \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}

/* A kernel that is all of a second's work, and samples in 200 ms of it: how long parts of the device were busy in these. */
#define SAMPLED(name, n, tensor_ms, fma_ms, dram_ms)                                               \
	{                                                                                          \
		.wall_ns = S, .busy_ns = {S}, .work = {KERNEL(name, S, 10)}, .is_chip = true,      \
		.counted = {                                                                       \
			{METRIC_SAMPLES, n},                                                       \
			{METRIC_SAMPLED, 200 * MS},                                                \
			{METRIC_TENSOR_ACTIVE, (tensor_ms)*MS},                                    \
			{METRIC_FMA_ISSUE, (fma_ms)*MS},                                           \
			{METRIC_DRAM, (dram_ms)*MS},                                               \
		}                                                                                  \
	}
/* … and what was counted in half of it. */
#define MEASURED(name, ...)                                                                        \
	{                                                                                          \
		.wall_ns = S, .busy_ns = {S}, .work = {KERNEL(name, S, 10)}, .is_chip = true,      \
		.measured = {                                                                      \
			.time_ns = S / 2,                                                          \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}

#define CODE_OF(name, ...)                                                                         \
	{                                                                                          \
		.wall_ns = S, .busy_ns = {S}, .work = {KERNEL(name, S, 10)}, .samples = {          \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}
#define AT(offset) "+0x" offset " k@0000000000000001.cubin"

/* price 0: the rule says nothing. NaN: it speaks without a price. */
static const struct {
	enum finding_rule rule;
	double price;
	struct world world;
} cases[] = {
	{FINDING_LOSSES, NAN, {S, {S}, {KERNEL("k", S, 10), KERNEL("l", S, 10)}, 1}},
	{FINDING_LOSSES, 0, {S, {S}, {KERNEL("k", S, 10), KERNEL("l", S, 10)}, 0}},

	/* 16 of 64 warps; half of them, or by blocks, or of a grid that has no more, or on purpose: no word. */
	{FINDING_LOW_OCCUPANCY, 0.75e9,
	 LAUNCHED("k", {{800, 1, 1}, {256, 1, 1}}, .registers = 128)},
	{FINDING_LOW_OCCUPANCY, 0.75e9,
	 LAUNCHED("k", {{400, 2, 1}, {128, 1, 1}}, .registers = 32, .static_shared = 50000)},
	{FINDING_LOW_OCCUPANCY, 0, LAUNCHED("k", {{800, 1, 1}, {256, 1, 1}}, .registers = 64)},
	{FINDING_LOW_OCCUPANCY, 0, LAUNCHED("k", {{3200, 1, 1}, {8, 1, 1}}, .registers = 16)},
	{FINDING_LOW_OCCUPANCY, 0, LAUNCHED("k", {{100, 1, 1}, {256, 1, 1}}, .registers = 128)},
	{FINDING_LOW_OCCUPANCY, 0,
	 LAUNCHED("sm90_xmma_gemm_bf16", {{800, 1, 1}, {256, 1, 1}}, .registers = 128)},
	/* 800 blocks are a wave. */
	{FINDING_TAIL, 0.375e9, LAUNCHED("k", {{1000, 1, 1}, {256, 1, 1}}, .registers = 32)},
	/* Memory is at its limit for 900 ms of it, which more warps do not make less. */
	{FINDING_LOW_OCCUPANCY,
	 0.1e9,
	 {.wall_ns = S,
	  .busy_ns = {S},
	  .work = {KERNEL("k", S, 10)},
	  .counted = {{METRIC_SAMPLED, 200 * MS}, {METRIC_DRAM, 180 * MS}},
	  .config = {{{800, 1, 1}, {256, 1, 1}}, .registers = 128}}},
	{FINDING_LOCAL_MEMORY,
	 1e9,
	 {.wall_ns = S,
	  .busy_ns = {S},
	  .work = {KERNEL("k", S, 10)},
	  .counted = {{METRIC_SAMPLED, 200 * MS}, {METRIC_DRAM, 180 * MS}},
	  .config = {{{800, 1, 1}, {256, 1, 1}}, .registers = 32, .local = 64}}},
	{FINDING_TAIL, 0, LAUNCHED("k", {{1600, 1, 1}, {256, 1, 1}}, .registers = 32)},
	{FINDING_TAIL, 0, LAUNCHED("k", {{400, 1, 1}, {256, 1, 1}}, .registers = 32)},
	{FINDING_TAIL, 0, LAUNCHED("k", {{80001, 1, 1}, {256, 1, 1}}, .registers = 32)},
	{FINDING_TAIL, 0, LAUNCHED("k", {{1000, 1, 1}, {256, 1, 1}}, {2, 1, 1}, .registers = 32)},
	{FINDING_FEW_BLOCKS, 0.6e9, LAUNCHED("k", {{40, 1, 1}, {256, 1, 1}}, .registers = 32)},
	{FINDING_FEW_BLOCKS, 0, LAUNCHED("k", {{100, 1, 1}, {256, 1, 1}}, .registers = 32)},
	{FINDING_LOCAL_MEMORY, 1e9,
	 LAUNCHED("k", {{800, 1, 1}, {256, 1, 1}}, .registers = 32, .local = 64)},
	{FINDING_LOCAL_MEMORY, 0,
	 LAUNCHED("k", {{800, 1, 1}, {256, 1, 1}}, .registers = 32, .local = 56)},
	{FINDING_LOCAL_MEMORY, 0,
	 LAUNCHED("ncclDevKernel_AllReduce_Sum_f32_RING_LL", {{8, 1, 1}, {512, 1, 1}},
		  .registers = 96, .local = 1752)},

	/* Eight times as fast as without them; no faster than memory is; a little of them is what a product begins with. */
	{FINDING_TENSOR_CORES, 0.875e9, SAMPLED("sm80_xmma_gemm_f32f32", 20, 0, 120, 20)},
	{FINDING_TENSOR_CORES, 0.5e9, SAMPLED("void matmul<float>()", 20, 1, 120, 100)},
	{FINDING_TENSOR_CORES, 0, SAMPLED("gemm", 20, 4, 120, 20)},
	/* Nothing says that it computes with 32 bits; it is no product; too few samples. */
	{FINDING_TENSOR_CORES, 0, SAMPLED("dgemm", 20, 0, 20, 20)},
	{FINDING_TENSOR_CORES, 0, SAMPLED("gemv2T_kernel", 20, 0, 120, 20)},
	{FINDING_TENSOR_CORES, 0, SAMPLED("gemm", 9, 0, 120, 20)},
	{FINDING_TENSOR_CORES, 0.875e9, MEASURED("gemm", .single = S, .bytes = S)},
	{FINDING_TENSOR_CORES, 0.6e9, MEASURED("gemm", .single = S, .bytes = 200 * S)},
	{FINDING_TENSOR_CORES, 0, MEASURED("gemm", .single = S, .half = S)},
	{FINDING_TENSOR_CORES, 0, MEASURED("gemm", .single = S, .tensor = 1)},
	{FINDING_TENSOR_CORES, 0, MEASURED("k", .single = S)},
	{FINDING_MEMORY_BOUND, FREE_OF_CHARGE, SAMPLED("k", 20, 0, 0, 160)},
	{FINDING_MEMORY_BOUND, 0, SAMPLED("k", 20, 0, 0, 158)},
	{FINDING_MEMORY_BOUND, 0, SAMPLED("k", 9, 0, 0, 160)},
	{FINDING_MEMORY_BOUND, FREE_OF_CHARGE, MEASURED("k", .bytes = 400 * S)},
	{FINDING_MEMORY_BOUND, 0, MEASURED("k", .bytes = 390 * S)},

	/* 32 in place of 4; as wide as threads can take words; nobody counted. */
	{FINDING_UNCOALESCED, 0.875e9, MEASURED("k", .requests = 100, .sectors = 3200)},
	{FINDING_UNCOALESCED, 0, MEASURED("k", .requests = 100, .sectors = 1600)},
	{FINDING_UNCOALESCED, 0, MEASURED("k", .tensor = 1)},
	/* To measure it took the run a hundred times as long: its price is still a part of the work, and nobody waits. */
	{FINDING_UNCOALESCED,
	 0.875e9,
	 {.wall_ns = 100 * S,
	  .busy_ns = {S},
	  .work = {KERNEL("k", S, 10)},
	  .is_chip = true,
	  .measured = {.time_ns = S / 2, .requests = 100, .sectors = 3200}}},
	{FINDING_IDLE,
	 0,
	 {.wall_ns = 100 * S,
	  .busy_ns = {S},
	  .work = {KERNEL("k", S, 10)},
	  .is_chip = true,
	  .measured = {.time_ns = S / 2, .tensor = 1}}},
	{FINDING_IDLE, 99e9, {.wall_ns = 100 * S, .busy_ns = {S}, .work = {KERNEL("k", S, 10)}}},
	/* 100 multiprocessors have 5e10 cycles in half a second. */
	{FINDING_BANK_CONFLICTS, 0.4e9, MEASURED("k", .conflicts = 20 * S)},
	{FINDING_BANK_CONFLICTS, 0, MEASURED("k", .conflicts = 4 * S)},
	{FINDING_BANK_CONFLICTS, 0, MEASURED("k", .tensor = 1)},
	/* 600 of 1000 samples; not known where; issued, as the tensor cores' work is; too few; everywhere a bit. */
	{FINDING_HOT_LINES, 0.6e9,
	 CODE_OF("k", {"/k.cu:6@k", PC_LONG_SCOREBOARD, 600}, {"/k.cu:7@k", PC_WAIT, 300},
		 {"/k.cu:8@k", PC_SELECTED, 100})},
	{FINDING_HOT_LINES, 0.6e9,
	 CODE_OF("k", {AT("0010"), PC_BARRIER, 600}, {AT("0020"), PC_WAIT, 400})},
	{FINDING_HOT_LINES, 0,
	 CODE_OF("k", {"/k.cu:6@k", PC_SELECTED, 500}, {"/k.cu:7@k", PC_GMMA, 500})},
	/* Warps that feed others wait on purpose, in kernels that nobody here wrote, or that wait for tensor cores. */
	{FINDING_HOT_LINES, 0, CODE_OF("nvjet_sm90_hsh", {AT("0010"), PC_BARRIER, 1000})},
	{FINDING_HOT_LINES, 0.9e9,
	 CODE_OF("my_gemm", {"/k.cu:6@k", PC_BARRIER, 900}, {"/k.cu:7@k", PC_WAIT, 100})},
	{FINDING_HOT_LINES, 0,
	 CODE_OF("my_gemm", {"/k.cu:6@k", PC_BARRIER, 900}, {"/k.cu:7@k", PC_GMMA, 100})},
	{FINDING_HOT_LINES, 0, CODE_OF("k", {"/k.cu:6@k", PC_LONG_SCOREBOARD, 99})},
	{FINDING_HOT_LINES, 0,
	 CODE_OF("k", {"/k.cu:6@k", PC_WAIT, 90}, {"/k.cu:7@k", PC_SELECTED, 910})},
	{FINDING_HOT_LINES, 0, LAUNCHED("k", {{800, 1, 1}, {256, 1, 1}}, .registers = 32)},

	/* 9 of 10 seconds without work, 100 kernels; then busy all the time; then unknown for how long
	 * the run took. */
	{FINDING_IDLE, 9e9, {10 * S, {S}, {KERNEL("k", S, 100)}, 0}},
	{FINDING_IDLE, 0, {10 * S, {8 * S}, {KERNEL("k", 8 * S, 100)}, 0}},
	{FINDING_IDLE, 0, {0, {S}, {KERNEL("k", S, 100)}, 0}},
	/* Only what lies between the first and the last work counts. */
	{FINDING_IDLE, 2.8e9, {10 * S, {S}, {KERNEL("k", S, 100)}, 0, 5 * S, 9 * S}},
	{FINDING_IDLE, 0, {10 * S, {S}, {KERNEL("k", S, 100)}, 0, 5 * S, 6 * S}},
	{FINDING_IDLE,
	 3e9,
	 {.wall_ns = 10 * S,
	  .busy_ns = {S},
	  .work = {KERNEL("k", S, 100)},
	  .first_ns = 5 * S,
	  .last_ns = 9 * S,
	  .is_trace = true}},
	/* That is known to some tenths of a second: nothing is said of less. */
	{FINDING_IDLE, 0.4e9, {10 * S, {S / 5}, {KERNEL("k", S / 5, 100)}, 0, 5 * S, 58 * S / 10}},
	{FINDING_IDLE, 0, {10 * S, {S / 5}, {KERNEL("k", S / 5, 100)}, 0, 5 * S, 55 * S / 10}},
	/* Nor does what nobody counted. */
	{FINDING_IDLE,
	 6e9,
	 {.wall_ns = 10 * S, .paused_ns = 3 * S, .busy_ns = {S}, .work = {KERNEL("k", S, 100)}}},
	{FINDING_IDLE,
	 0,
	 {.wall_ns = 10 * S,
	  .paused_ns = 3 * S,
	  .busy_ns = {S},
	  .work = {KERNEL("k", S, 100)},
	  .first_ns = 5 * S,
	  .last_ns = 9 * S}},
	{FINDING_IDLE,
	 6e9,
	 {.wall_ns = 10 * S, .aside_ms = 3000, .busy_ns = {S}, .work = {KERNEL("k", S, 100)}}},
	/* Gaps that were measured are known better than the times of the run. */
	{FINDING_IDLE,
	 3.1e9,
	 {.wall_ns = 10 * S,
	  .busy_ns = {S},
	  .work = {KERNEL("k", S, 100)},
	  .first_ns = 5 * S,
	  .last_ns = 9 * S,
	  .counted = {{METRIC_IDLE, 31 * S / 10}, {METRIC_IDLE_LATE, 31 * S / 10}}}},
	{FINDING_STARTUP, 5e9, {10 * S, {S}, {KERNEL("k", S, 100)}, 0, 5 * S, 6 * S}},
	{FINDING_STARTUP, 0, {10 * S, {S}, {KERNEL("k", S, 100)}, 0, S, 6 * S}},
	{FINDING_STARTUP, 0, {60 * S, {S}, {KERNEL("k", S, 100)}, 0, 5 * S, 6 * S}},
	{FINDING_STARTUP, 0, {10 * S, {S}, {KERNEL("k", S, 100)}, 0, 0, 0}},
	/* Times that contradict each other say nothing. */
	{FINDING_STARTUP, 0, {10 * S, {S}, {KERNEL("k", S, 100)}, 0, 50 * S, 60 * S}},
	{FINDING_IDLE, 9e9, {10 * S, {S}, {KERNEL("k", S, 100)}, 0, 5 * S, 60 * S}},
	/* What overlaps is longer than the run: no more than that can be saved. */
	{FINDING_SMALL_COPIES,
	 1e9,
	 {S, {S}, {COPY("memcpy DtoH pinned", 5 * S, 10000, 40000000)}, 0, 0, 0}},
	/* … and where launches explain it, it is these. */
	{FINDING_IDLE, 0, {10 * S, {4 * S}, {KERNEL("k", 4 * S, 1000000)}, 0}},
	{FINDING_LAUNCHES, 6e9, {10 * S, {4 * S}, {KERNEL("k", 4 * S, 1000000)}, 0}},
	{FINDING_LAUNCHES, 0, {10 * S, {9 * S}, {KERNEL("k", 9 * S, 1000000)}, 0}},
	/* In graphs they are launched by the thousand: it is something else. */
	{FINDING_LAUNCHES, 0, {10 * S, {4 * S}, {KERNEL("k", 4 * S, 1000000)}, .launches = 1000}},
	{FINDING_IDLE, 6e9, {10 * S, {4 * S}, {KERNEL("k", 4 * S, 1000000)}, .launches = 1000}},
	{FINDING_LAUNCHES,
	 6e9,
	 {10 * S, {4 * S}, {KERNEL("k", 4 * S, 1000000)}, .launches = 1200000}},
	{FINDING_LAUNCHES, 0, {10 * S, {S}, {KERNEL("k", S, 100)}, 0}},
	/* Between nodes of graphs: recording them may have made it, wherever it stands. */
	{FINDING_IDLE,
	 5e9,
	 {10 * S, {S}, {KERNEL("k", S, 100)}, .counted = {{METRIC_IDLE_GRAPH, 4 * S}}}},
	{FINDING_IDLE,
	 0,
	 {10 * S, {S}, {KERNEL("k", S, 100)}, .counted = {{METRIC_IDLE_GRAPH, 8 * S}}}},
	{FINDING_IDLE,
	 0,
	 {10 * S,
	  {S},
	  {{FRAME_COPY, "c", S / 10, 100}, KERNEL("k", S, 100)},
	  .counted = {{METRIC_IDLE_GRAPH, 8 * S}}}},
	{FINDING_LAUNCHES,
	 0,
	 {10 * S, {4 * S}, {KERNEL("k", 4 * S, 1000000)}, .counted = {{METRIC_IDLE_GRAPH, 6 * S}}}},

	/* 1 GB in 200 ms; pinned memory needs 50 ms for as much. */
	{FINDING_PAGEABLE,
	 150e6,
	 {S,
	  {S},
	  {KERNEL("k", S, 100), COPY("memcpy HtoD pageable", 200 * MS, 10, S),
	   COPY("memcpy HtoD pinned", 50 * MS, 10, S)},
	  0}},
	{FINDING_PAGEABLE,
	 200e6,
	 {S,
	  {S},
	  {KERNEL("k", S, 100), COPY("Memcpy HtoD (Pageable -> Device)", 200 * MS, 10, S)},
	  0}},
	{FINDING_PAGEABLE,
	 0,
	 {S, {S}, {KERNEL("k", S, 100), COPY("memcpy HtoD pinned", 200 * MS, 10, S)}, 0}},
	{FINDING_PAGEABLE, 0, {S, {S}, {COPY("memcpy HtoD pageable", MS, 10, S)}, 0}},

	{FINDING_SYNCHRONOUS,
	 100e6,
	 {S,
	  {S},
	  {COPY("memcpy HtoD pinned", 10 * MS, 100, S),
	   {FRAME_COPY, "memcpy DtoH pinned", 100 * MS, 1000, S, 0, 0}},
	  0}},
	/* Nobody said which were asynchronous. */
	{FINDING_SYNCHRONOUS,
	 0,
	 {S, {S}, {{FRAME_COPY, "memcpy DtoH pinned", 100 * MS, 1000, S, 0, 0}}, 0}},
	{FINDING_SYNCHRONOUS, 0, {S, {S}, {COPY("memcpy DtoH pinned", 100 * MS, 1000, S)}, 0}},

	{FINDING_SMALL_COPIES,
	 100e6,
	 {S, {S}, {COPY("memcpy DtoH pinned", 100 * MS, 10000, 40000000)}, 0}},
	{FINDING_SMALL_COPIES,
	 0,
	 {S, {S}, {COPY("memcpy DtoH pinned", 100 * MS, 10000, 40 * S)}, 0}},
	{FINDING_SMALL_COPIES, 0, {S, {S}, {COPY("memcpy DtoH pinned", 100 * MS, 10, 4000)}, 0}},

	/* Half of them repeat another one, with the same as far as was looked at; or not, or hardly looked at. */
	{FINDING_REPEATED_COPIES, 250e6, REPEATED(500, 10, 10)},
	{FINDING_REPEATED_COPIES, 450e6, REPEATED(1000, 10, 9)},
	{FINDING_REPEATED_COPIES, 0, REPEATED(1000, 10, 8)},
	{FINDING_REPEATED_COPIES, 0, REPEATED(1000, 2, 2)},
	{FINDING_REPEATED_COPIES, 0, REPEATED(0, 0, 0)},
	{FINDING_ROUND_TRIPS, 500e6, WENT_BACK(1000)},
	{FINDING_ROUND_TRIPS, 250e6, WENT_BACK(500)},
	{FINDING_ROUND_TRIPS, 0, WENT_BACK(99)},
	{FINDING_ROUND_TRIPS, 0, WENT_BACK(0)},
	/* What the program asked for is its own wish; what goes to and fro is told once. */
	{FINDING_UNIFIED_MEMORY, 400e6, MOVED(400 * MS, 1000, 0, 0)},
	{FINDING_UNIFIED_MEMORY, 300e6, MOVED(400 * MS, 1000, 250, 0)},
	{FINDING_UNIFIED_MEMORY, 0, MOVED(400 * MS, 1000, 1000, 0)},
	{FINDING_UNIFIED_MEMORY, 0, MOVED(5 * MS, 1000, 0, 0)},
	{FINDING_UNIFIED_MEMORY, 0, MOVED(400 * MS, 1000, 0, 3)},
	{FINDING_STEPS, 1e9, STEPS_OF(50 * MS, 40 * MS, 400 * MS)},
	{FINDING_STEPS, 0, STEPS_OF(50 * MS, 49 * MS, 60 * MS)}, /* all alike */
	{FINDING_STEPS, 0, STEPS_OF(5 * MS, 4500000, 40 * MS)},  /* cheap */
	{FINDING_STEPS, 0, STEPS_WITHOUT_MOST(50 * MS, 40 * MS)},
	/* What lies between is the loop's time, of which devices may use a part: no more than they were idle. */
	{FINDING_BETWEEN_STEPS, 2e9, STEPS_APART(100, 50 * MS, 20 * MS, 5)},
	{FINDING_BETWEEN_STEPS, 1e9, STEPS_APART(100, 50 * MS, 20 * MS, 9)},
	{FINDING_BETWEEN_STEPS, 0, STEPS_APART(100, 50 * MS, 20 * MS, 10)}, /* never idle */
	{FINDING_BETWEEN_STEPS, 0, STEPS_APART(100, 50 * MS, 5 * MS, 5)},   /* a tenth of 50 */
	{FINDING_BETWEEN_STEPS, 6e8, STEPS_APART(100, 50 * MS, 6 * MS, 5)},
	{FINDING_BETWEEN_STEPS, 0, STEPS_APART(15, 50 * MS, 20 * MS, 5)}, /* few */
	{FINDING_BETWEEN_STEPS, 0, STEPS_APART(100, MS / 2, MS / 2, 5)},  /* cheap */
	{FINDING_BETWEEN_STEPS, 0, STEPS_OF(50 * MS, 50 * MS, 50 * MS)},  /* not known */
	{FINDING_THRASHING, 400e6, MOVED(400 * MS, 1000, 0, 3)},
	{FINDING_THRASHING, 0, MOVED(400 * MS, 1000, 0, 0)},
	{FINDING_THRASHING, 0, MOVED(5 * MS, 1000, 0, 3)},

	{FINDING_COPIES,
	 200e6,
	 {S, {S}, {KERNEL("k", 300 * MS, 10), COPY("memcpy HtoD pinned", 500 * MS, 10, S)}, 0}},
	{FINDING_ALLOCATIONS, 400e6, CALLED("cudaMalloc", 400 * MS, 1000, MS)},
	{FINDING_ALLOCATIONS, 400e6, CALLED("cuMemFree_v2", 400 * MS, 100, MS)},
	{FINDING_ALLOCATIONS, 0, CALLED("cudaMalloc", 400 * MS, 99, MS)}, /* at the start */
	{FINDING_ALLOCATIONS, 0, CALLED("cudaMalloc", 5 * MS, 1000, MS)},
	{FINDING_ALLOCATIONS, 0, CALLED("cudaLaunchKernel", 400 * MS, 1000, MS)},
	{FINDING_LOADING, 400e6, CALLED("cuModuleLoadData", 400 * MS, 2, 300 * MS)},
	{FINDING_LOADING, 299.5e6, CALLED("cudaLaunchKernel", 500 * MS, 1000, 300 * MS)},
	{FINDING_LOADING, 0,
	 CALLED("cudaLaunchKernel", 900 * MS, 1000, MS)}, /* all of them are slow */
	{FINDING_LOADING, 0, CALLED("cudaMalloc", 400 * MS, 1000, 300 * MS)},
	{FINDING_WAITS, 300e6, WAITED(500 * MS, 1000, 300 * MS)},
	{FINDING_WAITS, 0, WAITED(500 * MS, 99, 300 * MS)},
	{FINDING_WAITS, 0, WAITED(500 * MS, 1000, 0)}, /* the device did not mind */

	{FINDING_COPIES,
	 0,
	 {S, {S}, {KERNEL("k", 600 * MS, 10), COPY("memcpy HtoD pinned", 500 * MS, 10, S)}, 0}},
	{FINDING_COPIES,
	 0,
	 {S, {S}, {KERNEL("k", 300 * MS, 10), COPY("memcpy DtoD", 500 * MS, 10, S)}, 0}},
	/* No more than what nothing ran beside; of next to nothing no word. */
	{FINDING_COPIES,
	 100e6,
	 {.wall_ns = S,
	  .busy_ns = {S},
	  .work = {KERNEL("k", 300 * MS, 10), COPY("memcpy HtoD pinned", 500 * MS, 10, S)},
	  .copies_ns = 380 * MS,
	  .hidden_ns = 280 * MS}},
	{FINDING_COPIES,
	 200e6,
	 {.wall_ns = S,
	  .busy_ns = {S},
	  .work = {KERNEL("k", 300 * MS, 10), COPY("memcpy HtoD pinned", 500 * MS, 10, S)},
	  .copies_ns = 500 * MS}},
	{FINDING_COPIES,
	 0,
	 {.wall_ns = S,
	  .busy_ns = {S},
	  .work = {KERNEL("k", 300 * MS, 10), COPY("memcpy HtoD pinned", 500 * MS, 10, S)},
	  .copies_ns = 300 * MS,
	  .hidden_ns = 295 * MS}},

	{FINDING_MEMSETS, 50e6, {S, {S}, {{FRAME_SET, "memset", 50 * MS, 5000, S, 0, 0}}, 0}},
	{FINDING_MEMSETS, 0, {S, {S}, {{FRAME_SET, "memset", 50 * MS, 50, S, 0, 0}}, 0}},
	{FINDING_MEMSETS, 0, {S, {S}, {{FRAME_SET, "memset", 5 * MS, 5000, S, 0, 0}}, 0}},

	{FINDING_ONE_KERNEL,
	 700e6,
	 {S, {S}, {KERNEL("k", 700 * MS, 10), KERNEL("l", 300 * MS, 10)}, 0}},
	{FINDING_ONE_KERNEL,
	 0,
	 {S,
	  {S},
	  {KERNEL("k", 400 * MS, 10), KERNEL("l", 300 * MS, 10), KERNEL("m", 300 * MS, 1)},
	  0}},
	{FINDING_ONE_KERNEL, 0, {S, {S}, {KERNEL("k", S, 10)}, 0}}, /* the only one */
	/* Half is not most. */
	{FINDING_ONE_KERNEL,
	 0,
	 {S, {S}, {KERNEL("k", 500 * MS, 10), KERNEL("l", 500 * MS, 10)}, 0}},

	{FINDING_TINY_KERNELS, 200e6, {S, {S}, {KERNEL("k", 200 * MS, 100000)}, 0}},
	{FINDING_TINY_KERNELS, 0, {S, {S}, {KERNEL("k", 200 * MS, 1000)}, 0}},
	{FINDING_TINY_KERNELS,
	 0,
	 {S, {S}, {KERNEL("k", 20 * MS, 10000), KERNEL("l", S, 90000)}, 0}},
	{FINDING_TINY_KERNELS,
	 0,
	 {S, {S}, {KERNEL("k", 90 * MS, 50000), KERNEL("l", 600 * MS, 50000)}, 0}},

	/* 4 and 2 seconds: one more than the mean. */
	{FINDING_UNEVEN,
	 1e9,
	 {5 * S, {4 * S, 2 * S}, {KERNEL_ON(0, "k", 4 * S), KERNEL_ON(1, "k", 2 * S)}, 0}},
	{FINDING_UNEVEN,
	 0,
	 {5 * S, {4 * S, 4 * S}, {KERNEL_ON(0, "k", 4 * S), KERNEL_ON(1, "k", 4 * S)}, 0}},
	/* The rank that waits in a collective is longer there: its own work counts. */
	{FINDING_UNEVEN,
	 1e9,
	 {5 * S,
	  {4 * S, 4 * S},
	  {KERNEL_ON(0, "k", 4 * S), KERNEL_ON(1, "k", 2 * S),
	   KERNEL_ON(1, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 2 * S)},
	  0}},
	{FINDING_COLLECTIVES,
	 1e9,
	 {5 * S,
	  {4 * S, 4 * S},
	  {KERNEL_ON(0, "k", 4 * S), KERNEL_ON(1, "k", 2 * S),
	   KERNEL_ON(0, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 100 * MS),
	   KERNEL_ON(1, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 2100 * MS)},
	  0}},
	{FINDING_COLLECTIVES,
	 0,
	 {5 * S, {4 * S}, {KERNEL("k", 4 * S, 10), KERNEL("ncclDevKernel_AllReduce", MS, 10)}, 0}},
	{FINDING_COLLECTIVES, 0, {5 * S, {4 * S}, {KERNEL("k", 4 * S, 10), KERNEL("l", S, 10)}, 0}},

	/* Half of 8 s at three quarters of the clock; slowed all the time, the device's limit counts. */
	{FINDING_CLOCKS, 1e9,
	 SENSED(LOOKED, [SENSOR_CUT] = 8, [SENSOR_CUT_HEAT] = 8, [SENSOR_CUT_CLOCK] = 1500,
		[SENSOR_CLOCK_MAX] = 2000, [SENSOR_CLOCK_LIMIT] = 3000)},
	{FINDING_CLOCKS, 4e9,
	 SENSED(LOOKED, [SENSOR_CUT] = 16, [SENSOR_CUT_POWER] = 16, [SENSOR_CUT_CLOCK] = 1500,
		[SENSOR_CLOCK_MAX] = 1600, [SENSOR_CLOCK_LIMIT] = 3000)},
	/* Seldom; not at all; nobody knows the clock; hardly looked at. */
	{FINDING_CLOCKS, 0,
	 SENSED(LOOKED, [SENSOR_CUT] = 1, [SENSOR_CUT_CLOCK] = 500, [SENSOR_CLOCK_MAX] = 2000)},
	{FINDING_CLOCKS, 0, SENSED(LOOKED, [SENSOR_CLOCK_MIN] = 500, [SENSOR_CLOCK_MAX] = 2000)},
	{FINDING_CLOCKS, 0, SENSED(LOOKED, [SENSOR_CUT] = 16)},
	/* More cuts than looks at work: a file says so. No more than all of the work was slow. */
	{FINDING_CLOCKS, 4e9,
	 SENSED(LOOKED, [SENSOR_CUT] = 1e9, [SENSOR_CUT_CLOCK] = 1000,
		[SENSOR_CLOCK_LIMIT] = 2000)},
	{FINDING_CLOCKS, 0,
	 SENSED([SENSOR_WORKING] = 6, [SENSOR_CUT] = 3, [SENSOR_CUT_CLOCK] = 1500,
		[SENSOR_CLOCK_MAX] = 3000)},
	{FINDING_CLOCKS, 0,
	 SENSED([SENSOR_WORKING] = 2, [SENSOR_CUT] = 2, [SENSOR_CUT_CLOCK] = 1500,
		[SENSOR_CLOCK_LIMIT] = 3000)},

	/* A generation less is half as fast, as are half the lanes: 4 s of copies could be 2, or 1. */
	{FINDING_LINK, 2e9,
	 SENSED(LOOKED, [SENSOR_PCIE_GENERATION] = 4, [SENSOR_PCIE_GENERATION_LIMIT] = 5,
		[SENSOR_PCIE_WIDTH] = 16, [SENSOR_PCIE_WIDTH_LIMIT] = 16)},
	{FINDING_LINK, 3e9,
	 SENSED(LOOKED, [SENSOR_PCIE_GENERATION] = 4, [SENSOR_PCIE_GENERATION_LIMIT] = 5,
		[SENSOR_PCIE_WIDTH] = 8, [SENSOR_PCIE_WIDTH_LIMIT] = 16)},
	{FINDING_LINK, 0,
	 SENSED(LOOKED, [SENSOR_PCIE_GENERATION] = 5, [SENSOR_PCIE_GENERATION_LIMIT] = 5,
		[SENSOR_PCIE_WIDTH] = 16, [SENSOR_PCIE_WIDTH_LIMIT] = 16)},
	{FINDING_LINK, 0,
	 SENSED(LOOKED, [SENSOR_PCIE_GENERATION_LIMIT] = 5, [SENSOR_PCIE_WIDTH_LIMIT] = 16)},
	/* Copies of another device, and those between devices, do not go over it. */
	{FINDING_LINK,
	 0,
	 {.wall_ns = 10 * S,
	  .busy_ns = {8 * S, 8 * S},
	  .work = {KERNEL("k", 4 * S, 10),
		   {FRAME_COPY, "memcpy HtoD pinned", 4 * S, 10, 40, 10, 1},
		   COPY("memcpy PtoP", 4 * S, 10, 40)},
	  .sensors.v = {LOOKED, [SENSOR_PCIE_GENERATION] = 4, [SENSOR_PCIE_GENERATION_LIMIT] = 5,
			[SENSOR_PCIE_WIDTH] = 16, [SENSOR_PCIE_WIDTH_LIMIT] = 16}}},

	{FINDING_MEMORY_FULL, FREE_OF_CHARGE,
	 SENSED(LOOKED, [SENSOR_MEMORY_MAX] = 96, [SENSOR_MEMORY_TOTAL] = 100)},
	{FINDING_MEMORY_FULL, 0,
	 SENSED(LOOKED, [SENSOR_MEMORY_MAX] = 94, [SENSOR_MEMORY_TOTAL] = 100)},
	{FINDING_MEMORY_FULL, 0, SENSED(LOOKED, [SENSOR_MEMORY_MAX] = 96)},
	{FINDING_UNRELEASED_MEMORY, FREE_OF_CHARGE, ALLOCATED("alloc device", 20, 8, 12000000)},
	{FINDING_UNRELEASED_MEMORY, 0,
	 ALLOCATED("alloc device from libc10_cuda.so", 20, 8, 12000000)},
	{FINDING_LEFT_BEHIND, FREE_OF_CHARGE, LEFT_BEHIND(8, 4000000, 4000000, 4000000)},
	{FINDING_LEFT_BEHIND, FREE_OF_CHARGE, LEFT_BEHIND(8, 4000000, 4000000, 0)},
	{FINDING_LEFT_BEHIND, 0, LEFT_BEHIND(7, 4000000, 4000000, 4000000)},
	{FINDING_LEFT_BEHIND, 0, LEFT_BEHIND(8, 4000000, 1900000, 1900000)},
	{FINDING_LEFT_BEHIND, 0, LEFT_BEHIND(8, 400000, 400000, 400000)},
	{FINDING_LEFT_BEHIND, 0, LEFT_BEHIND(8, 0, 4000000, 4000000)},
	{FINDING_GROWING_MEMORY, FREE_OF_CHARGE, GROWING_MEMORY(100, 1000000, 40000000)},
	{FINDING_GROWING_MEMORY, 0, GROWING_MEMORY(100, 0, 40000000)},
	{FINDING_GROWING_MEMORY, 0, GROWING_MEMORY(15, 1000000, 40000000)},
	{FINDING_GROWING_MEMORY, 0, GROWING_MEMORY(100, 13000, 40000000)},
	/* Who says it and how fast says all. */
	{FINDING_UNRELEASED_MEMORY, 0, GROWING_MEMORY(100, 1000000, 40000000)},
	{FINDING_UNRELEASED_MEMORY, FREE_OF_CHARGE, GROWING_MEMORY(100, 0, 40000000)},
	/* 100 of 200 MB each, on average, are what it grew by. */
	{FINDING_GROWING_COPIES, 500 * MS, GROWING_COPIES(100, 2000000)},
	{FINDING_GROWING_COPIES, 0, GROWING_COPIES(100, 0)},
	{FINDING_GROWING_COPIES, 0, GROWING_COPIES(15, 2000000)},
	{FINDING_GROWING_COPIES, 0, GROWING_COPIES(100, 400000)},
	{FINDING_UNRELEASED_MEMORY, 0, ALLOCATED("alloc device", 20, 13, 7000000)},
	{FINDING_UNRELEASED_MEMORY, 0, ALLOCATED("alloc device", 20, 8, 120000)},
	{FINDING_ALLOCATIONS, FREE_OF_CHARGE, ALLOCATED("alloc device", 2000, 1900, 1000)},
	{FINDING_ALLOCATIONS, 0, ALLOCATED("alloc device", 2000, 1700, 1000)},
	{FINDING_ALLOCATIONS, 0, ALLOCATED("alloc device", 900, 900, 0)},
	/* Tensors come and go at no price, and weights stay. */
	{FINDING_ALLOCATIONS, 0, ALLOCATED("alloc tensors", 2000, 1900, 1000)},
	{FINDING_UNRELEASED_MEMORY, 0, ALLOCATED("alloc tensors", 20, 8, 12000000)},
	{FINDING_RESERVED, FREE_OF_CHARGE, RESERVED(700, 1000)},
	{FINDING_RESERVED, 0, RESERVED(900, 1000)},
	{FINDING_RESERVED, 0, RESERVED(100, 300)},
	{FINDING_RESERVED, FREE_OF_CHARGE, POOL(700, 1000, 0, 0)},
	{FINDING_RESERVED, FREE_OF_CHARGE, POOL(900, 1000, 300, 300)},
	{FINDING_RESERVED, 0, POOL(900, 1000, 200, 200)},
	{FINDING_RESERVED, 0, POOL(1900, 2000, 300, 300)},
	{FINDING_REGROWN_POOLS, FREE_OF_CHARGE, POOL(900, 1000, 4000, 0)},
	{FINDING_REGROWN_POOLS, 0, POOL(900, 1000, 3000, 0)},
	{FINDING_REGROWN_POOLS, 0, POOL(90, 100, 900, 0)},
	{FINDING_ALLOCATIONS, 0, ALLOCATED("alloc device pool", 2000, 2000, 0)},
	{FINDING_MEMORY_ERRORS, NAN, SENSED(LOOKED, [SENSOR_ERRORS] = 1)},
	{FINDING_MEMORY_ERRORS, 0, SENSED(LOOKED)},
	{FINDING_SHARED, NAN, SENSED(LOOKED, [SENSOR_OTHERS] = 10, [SENSOR_OTHERS_MAX] = 2)},
	/* What it leaves of the time may be theirs, else it is idle. */
	{FINDING_IDLE,
	 0,
	 {.wall_ns = 10 * S,
	  .busy_ns = {S},
	  .work = {KERNEL("k", S, 100)},
	  .sensors.v = {[SENSOR_LOOKS] = 20, [SENSOR_OTHERS] = 10, [SENSOR_OTHERS_MAX] = 1}}},
	{FINDING_SHARED, 0, SENSED(LOOKED, [SENSOR_OTHERS] = 2, [SENSOR_OTHERS_MAX] = 2)},

	/* A million nodes: 360 ms of 7.2 s are not more than a twentieth, of 7 s they are; what waits for the first
	 * work does not make them less. */
	{FINDING_GRAPH_NODES, 360e6, {7 * S, {6 * S}, {IN_GRAPHS(KERNEL, 1000000, 1000000)}, 0}},
	{FINDING_GRAPH_NODES, 0, {72 * S / 10, {6 * S}, {IN_GRAPHS(KERNEL, 1000000, 1000000)}, 0}},
	{FINDING_GRAPH_NODES,
	 360e6,
	 {30 * S, {6 * S}, {IN_GRAPHS(KERNEL, 1000000, 1000000)}, 0, 20 * S, 27 * S}},
	/* Kernels outside of graphs, and graphs that are recorded whole, cost nothing of the kind. */
	{FINDING_GRAPH_NODES, 0, {7 * S, {6 * S}, {IN_GRAPHS(KERNEL, 1000000, 100000)}, 0}},
	{FINDING_GRAPH_NODES, 0, {7 * S, {6 * S}, {IN_GRAPHS(GRAPH_RUN, 1000, 1000000)}, 0}},
	/* … and they compute, whatever is copied beside. */
	{FINDING_COPIES,
	 0,
	 {S,
	  {S},
	  {{FRAME_GRAPH_RUN, "<graph: 2 kernels>", 600 * MS, 10, 0, 0, 0, 20},
	   COPY("memcpy HtoD pinned", 500 * MS, 10, S)},
	  0}},
	{FINDING_ONE_KERNEL,
	 0,
	 {S,
	  {S},
	  {{FRAME_GRAPH_RUN, "<graph: 2 kernels>", 600 * MS, 10, 0, 0, 0, 20},
	   KERNEL("k", 200 * MS, 10),
	   KERNEL("l", 50 * MS, 10)},
	  0}},
};

START_TEST(rule)
{
	struct session *s = make(&cases[_i].world);
	struct findings f = {0};
	const struct finding *found = NULL;
	struct peaks *peaks = make_peaks();

	ck_assert_int_eq(findings_make(&f, s, peaks), 0);
	peaks_free(peaks);
	for (size_t i = 0; i < f.n; i++)
		if (f.v[i].rule == cases[_i].rule)
			found = &f.v[i];
	ck_assert_msg((found != NULL) == (cases[_i].price != 0), "case %d (%s): %s", _i,
		      finding_word(cases[_i].rule), found ? found->evidence : "silent");
	ck_assert(!cases[_i].world.measured.time_ns || !f.is_wall);
	if (cases[_i].world.wall_ns &&
	    !cases[_i].world.measured.time_ns) { /* of what was counted, as elsewhere */
		ck_assert(f.is_wall);
		ck_assert_double_eq(f.whole_ns, (double)cases[_i].world.wall_ns -
							(double)cases[_i].world.paused_ns -
							1e6 * (double)cases[_i].world.aside_ms);
	}
	if (found && isnan(cases[_i].price))
		ck_assert_double_nan(found->price_ns);
	else if (found)
		ck_assert_double_eq_tol(found->price_ns, fmax(cases[_i].price, 0), 1);
	for (size_t i = 1; i < f.n; i++)
		ck_assert(isnan(f.v[i - 1].price_ns) || f.v[i - 1].price_ns >= f.v[i].price_ns);
	findings_done(&f);
	session_free(s);
}
END_TEST

/* Its numbers are of all its places; the one that is named has the most, which is said. */
START_TEST(places_of_one_kernel)
{
	const struct world world = {.wall_ns = S, .busy_ns = {S}, .work = {KERNEL("l", S / 10, 1)}};
	struct session *s = make(&world);
	uint32_t most =
		session_node(s, session_node(s, SESSION_ROOT, FRAME_SCOPE, "b"), FRAME_KERNEL, "k");
	struct findings f = {0};

	for (unsigned places = 1; places <= 2; places++) {
		uint32_t node =
			places == 1 ? most : session_node(s, SESSION_ROOT, FRAME_KERNEL, "k");
		const struct finding *found = NULL;

		add_metric(s, node, 0, METRIC_TIME, (places == 1 ? 500 : 300) * MS);
		add_metric(s, node, 0, METRIC_COUNT, 10);
		ck_assert_int_eq(findings_make(&f, s, NULL), 0);
		for (size_t i = 0; i < f.n; i++)
			if (f.v[i].rule == FINDING_ONE_KERNEL)
				found = &f.v[i];
		ck_assert_ptr_nonnull(found);
		ck_assert_uint_eq(found->nodes[0], most);
		ck_assert_str_eq(found->evidence,
				 places == 1
					 ? "500ms, 83.3 % of all kernels: 10 calls of 50.0ms"
					 : "800ms, 88.9 % of all kernels: 20 calls of 40.0ms, in 2 "
					   "places, most in this: 500ms");
		findings_done(&f);
	}
	session_free(s);
}
END_TEST

static void add_to(struct session *s, uint32_t scope, const char *copy, uint64_t copy_ns,
		   uint64_t kernel_ns)
{
	uint32_t lane = 0, node;

	node = session_node(s, scope, FRAME_COPY, copy);
	add_metric(s, node, lane, METRIC_TIME, copy_ns);
	add_metric(s, node, lane, METRIC_COUNT, 10);
	node = session_node(s, scope, FRAME_KERNEL, "k");
	add_metric(s, node, lane, METRIC_TIME, kernel_ns);
	add_metric(s, node, lane, METRIC_COUNT, kernel_ns ? 10 : 0);
}

static void has_evidence(const struct world *world, enum finding_rule rule, const char *evidence)
{
	struct session *s = make(world);
	struct peaks *peaks = make_peaks();
	struct findings f = {0};
	size_t i = 0;

	ck_assert_int_eq(findings_make(&f, s, peaks), 0);
	peaks_free(peaks);
	while (i < f.n && f.v[i].rule != rule)
		i++;
	ck_assert_uint_lt(i, f.n);
	ck_assert_str_eq(f.v[i].evidence, evidence);
	findings_done(&f);
	session_free(s);
}

/* The slowest step took 360 ms more than half of all: was the host late, or was there more to do? */
START_TEST(why_a_step_was_slow)
{
	struct world world = {.wall_ns = 10 * S,
			      .busy_ns = {9 * S},
			      .work = {KERNEL("a", 5 * S, 100)},
			      .counted = {{METRIC_STEPS, 100},
					  {METRIC_STEP_TIME, 100 * 50 * MS},
					  {METRIC_STEP_MEDIAN, 40 * MS},
					  {METRIC_STEP_MAX, 400 * MS},
					  {METRIC_STEP_KNOWN, 100},
					  {METRIC_STEP_IDLE_MEDIAN, 3 * MS},
					  {METRIC_STEP_BUSY_MEDIAN, 37 * MS},
					  {METRIC_STEP_BUSY_SLOWEST, 38 * MS},
					  {METRIC_STEP_BUSY_AT, 7},
					  {METRIC_STEP_SLOWEST, 7}}};

	has_evidence(&world, FINDING_STEPS,
		     "half of 100 steps took 40.0ms or less, #7 400ms ('a'); "
		     "in #7 devices were busy 38.0ms (usually 37.0ms): the host was late");
	world.counted[7].n = 396 * MS;
	has_evidence(&world, FINDING_STEPS,
		     "half of 100 steps took 40.0ms or less, #7 400ms ('a'); "
		     "in #7 devices were busy 396ms (usually 37.0ms): the work itself took longer");
}
END_TEST

/* Both causes are counted, with the slowest of each. */
START_TEST(why_steps_were_slow)
{
	struct world world = {.wall_ns = 10 * S,
			      .busy_ns = {9 * S},
			      .work = {KERNEL("step 0", 5 * S, 100)},
			      .counted = {{METRIC_STEPS, 100},
					  {METRIC_STEP_TIME, 100 * 50 * MS},
					  {METRIC_STEP_MEDIAN, 40 * MS},
					  {METRIC_STEP_MAX, 400 * MS},
					  {METRIC_STEP_KNOWN, 100},
					  {METRIC_STEP_BUSY_MEDIAN, 37 * MS},
					  {METRIC_STEP_SLOWEST, 31},
					  {METRIC_STEP_MORE, 2},
					  {METRIC_STEP_MORE_AT, 47},
					  {METRIC_STEP_MORE_MAX, 120 * MS},
					  {METRIC_STEP_MORE_BUSY, 118 * MS},
					  {METRIC_STEP_LATE, 5},
					  {METRIC_STEP_LATE_AT, 31},
					  {METRIC_STEP_LATE_MAX, 400 * MS}}};

	has_evidence(&world, FINDING_STEPS,
		     "half of 100 steps took 40.0ms or less ('step #'); "
		     "slow by a late host: 5 (#31 took 400ms), by more work: 2 (#47 took "
		     "120ms, busy 118ms); usually busy 37.0ms");
	world.counted[11].n = 254; /* of as many as are remembered: there may be more of each */
	has_evidence(&world, FINDING_STEPS,
		     "half of 100 steps took 40.0ms or less ('step #'); "
		     "slow by a late host: 254+ (#31 took 400ms), by more work: 2+ (#47 took "
		     "120ms, busy 118ms); usually busy 37.0ms");
	world.counted[11].n = 0;
	has_evidence(&world, FINDING_STEPS,
		     "half of 100 steps took 40.0ms or less ('step #'); "
		     "slow by more work: 2 (#47 took 120ms, busy 118ms); usually busy 37.0ms");
}
END_TEST

START_TEST(between_steps_says_whose)
{
	struct world world = STEPS_APART(100, 50 * MS, 20 * MS, 5);

	has_evidence(&world, FINDING_BETWEEN_STEPS,
		     "28.6 % of the loop's time is between its steps: 20.0ms before each of 100 "
		     "steps, which take 50.0ms ('step #')");
}
END_TEST

/* A scope that leaves behind what grows says both. */
START_TEST(a_leak_grows)
{
	struct world world = {.wall_ns = 10 * S,
			      .work = {{FRAME_ALLOC, "alloc device"}},
			      .counted = {{METRIC_LEFT_TIMES, 100},
					  {METRIC_LEFT_BYTES, 400000000},
					  {METRIC_LEFT_HELD, 400000000},
					  {METRIC_STEPS, 100},
					  {METRIC_STEP_TIME, 100 * 50 * MS},
					  {METRIC_STEP_MAX, 50 * MS},
					  {METRIC_STEP_HELD_KNOWN, 100},
					  {METRIC_STEP_HELD, UINT64_C(20000000000)},
					  {METRIC_STEP_HELD_MAX, 400000000},
					  {METRIC_STEP_HELD_GROWTH, 4000000}}};
	struct session *s = make(&world);
	struct findings f = {0};

	has_evidence(
		&world, FINDING_LEFT_BEHIND,
		"100 times it ended and left 4.00MB behind on average; 400MB of all were there "
		"at a time, 400MB were not released since; at the end of steps 4.00MB more with "
		"each of the last 75 steps ('alloc device')");
	ck_assert_int_eq(findings_make(&f, s, NULL), 0);
	for (size_t i = 0; i < f.n; i++)
		ck_assert_int_ne(f.v[i].rule, FINDING_GROWING_MEMORY);
	findings_done(&f);
	session_free(s);
}
END_TEST

/* Of copies it is said how much was hidden, where that is known. */
START_TEST(hidden_copies_are_told)
{
	struct world world = {.wall_ns = S,
			      .busy_ns = {S},
			      .work = {KERNEL("k", 300 * MS, 10),
				       COPY("memcpy HtoD pageable", 500 * MS, 1000, S),
				       {FRAME_COPY, "memcpy DtoH", MS, 200, S, 200}},
			      .copies_ns = 400 * MS,
			      .hidden_ns = 100 * MS};

	world.work[1].async = 0;
	has_evidence(&world, FINDING_COPIES,
		     "501ms for copies (2.00GB), 300ms for kernels; other work ran in 25.0% of the "
		     "time of all copies");
	has_evidence(&world, FINDING_PAGEABLE,
		     "1.00GB in 500ms, 2.00 GB/s; other work ran in 25.0% of the time of all "
		     "copies");
	has_evidence(
		&world, FINDING_SYNCHRONOUS,
		"the host waited for 1000 copies; they took 500ms on the device; other work ran "
		"in 25.0% of the time of all copies");
	world.copies_ns = world.hidden_ns = 0;
	has_evidence(&world, FINDING_COPIES, "501ms for copies (2.00GB), 300ms for kernels");
}
END_TEST

/* What the rule says of a pool, and at which calling context. */
static void advises(const struct world *world, enum finding_rule rule, const char *advice,
		    const char *where)
{
	struct session *s = make(world);
	struct findings f = {0};
	const struct finding *found = NULL;

	ck_assert_int_eq(findings_make(&f, s, NULL), 0);
	for (size_t i = 0; i < f.n; i++)
		found = f.v[i].rule == rule ? &f.v[i] : found;
	ck_assert_ptr_nonnull(found);
	ck_assert_msg(strstr(finding_advice(found), advice), "%s", finding_advice(found));
	ck_assert_uint_eq(found->n_nodes, where ? 1 : 0);
	if (where)
		ck_assert_str_eq(session_node_name(s, found->nodes[0]), where);
	findings_done(&f);
	session_free(s);
}

START_TEST(pools_are_fragmented)
{
	const char *by = "alloc device pool 2 from libx.so";
	struct world world = POOL(700, 1000, 900, 400);

	has_evidence(
		&world, FINDING_RESERVED,
		"pool 2 had 1.00GB of the device, and 700MB of it were allocated at most: 300MB "
		"were never used at a time; 20 times it grew, by 400MB in all, although enough "
		"was free; 25.0% was free when it had most");
	advises(&world, FINDING_RESERVED, "cudaMemPoolCreate", by);
	world = (struct world)POOL(700, 1000, 900, 0);
	has_evidence(
		&world, FINDING_RESERVED,
		"pool 2 had 1.00GB of the device, and 700MB of it were allocated at most: 300MB "
		"were never used at a time");
	advises(&world, FINDING_RESERVED, "cudaMemPoolAttrReleaseThreshold", NULL);
	world = (struct world)POOL(900, 1000, 9000, 0);
	has_evidence(&world, FINDING_REGROWN_POOLS,
		     "pool 2 took 9.00GB of the device in all, and never had more than 1.00GB");
	advises(&world, FINDING_REGROWN_POOLS, "cudaMemPoolAttrReleaseThreshold", by);
	world.pool.name = "PyTorch's allocator";
	world.pool.by = "alloc tensors";
	world.pool.fragmented = 400000000;
	has_evidence(
		&world, FINDING_RESERVED,
		"PyTorch had 1.00GB of the device, and tensors 900MB at most; 20 times it grew, "
		"by 400MB in all, although enough was free; 25.0% was free when it had most");
	advises(&world, FINDING_RESERVED, "expandable_segments:True", "alloc tensors");
	advises(&world, FINDING_REGROWN_POOLS, "torch.cuda.empty_cache()", "alloc tensors");
}
END_TEST

/* The run computes for longer than it copies; one of its contexts does not. */
START_TEST(copies_of_a_context)
{
	const struct world world = {.wall_ns = 10 * S, .busy_ns = {8 * S}};
	struct session *s = make(&world);
	uint32_t step = session_node(s, SESSION_ROOT, FRAME_SCOPE, "step");
	uint32_t load = session_node(s, step, FRAME_SCOPE, "load");
	struct findings f = {0};
	unsigned n = 0;

	add_to(s, load, "memcpy HtoD pinned", 2 * S, S / 2);
	add_to(s, session_node(s, step, FRAME_SCOPE, "move"), "memcpy DtoD", 2 * S, S);
	add_to(s, session_node(s, step, FRAME_SCOPE, "get"), "memcpy DtoH pinned", S, 0);
	add_to(s, session_node(s, step, FRAME_SCOPE, "compute"), "memcpy HtoD pinned", S, 5 * S);
	ck_assert_int_eq(findings_make(&f, s, NULL), 0);
	for (size_t i = 0; i < f.n; i++) {
		if (f.v[i].rule != FINDING_COPIES)
			continue;
		n++;
		ck_assert_double_eq_tol(f.v[i].price_ns, 1.5e9, 1);
		ck_assert_uint_eq(f.v[i].n_nodes, 1);
		ck_assert_uint_eq(f.v[i].nodes[0], load);
		ck_assert_str_eq(f.v[i].evidence, "2.00s for copies, 500ms for kernels");
	}
	ck_assert_uint_eq(n, 1);
	findings_done(&f);
	session_free(s);
}
END_TEST

/* A slow link of one device names the copies that go over it. */
START_TEST(links_name_their_own_copies)
{
	static const struct world world = {
		.wall_ns = 10 * S,
		.busy_ns = {8 * S, 8 * S},
		.work = {KERNEL("k", 4 * S, 10),
			 {FRAME_COPY, "memcpy HtoD pageable", 6 * S, 10, 40, 10, 1},
			 COPY("memcpy HtoD pinned", 4 * S, 10, 40)},
		.sensors.v = {
			LOOKED, [SENSOR_PCIE_GENERATION] = 4, [SENSOR_PCIE_GENERATION_LIMIT] = 5,
			[SENSOR_PCIE_WIDTH] = 16, [SENSOR_PCIE_WIDTH_LIMIT] = 16}};
	struct session *s = make(&world);
	struct findings f = {0};
	size_t i = 0;

	ck_assert_int_eq(findings_make(&f, s, NULL), 0);
	while (i < f.n && f.v[i].rule != FINDING_LINK)
		i++;
	ck_assert_uint_lt(i, f.n);
	ck_assert_double_eq(f.v[i].price_ns, 2e9);
	ck_assert_uint_eq(f.v[i].n_nodes, 1);
	ck_assert_str_eq(session_node_name(s, f.v[i].nodes[0]), "memcpy HtoD pinned");
	findings_done(&f);
	session_free(s);
}
END_TEST

/* Who looked, and at how much. */
START_TEST(what_was_looked_at)
{
	static const struct world sampled = SAMPLED("gemm", 20, 0, 120, 170),
				  measured = MEASURED("gemm", .single = S, .bytes = 400 * S);

	has_evidence(
		&sampled, FINDING_TENSOR_CORES,
		"10 kernels in 1.00s multiply 32 bits without tensor cores, as 20 samples say");
	has_evidence(&sampled, FINDING_MEMORY_BOUND,
		     "10 kernels in 1.00s keep device memory 85.0 % busy, as 20 samples say");
	has_evidence(
		&measured, FINDING_MEMORY_BOUND,
		"10 kernels in 1.00s keep device memory 80.0 % busy, as 10 measured kernels say");
}
END_TEST

/* Who has samples is not told to take some. */
START_TEST(one_kernel_with_samples)
{
	const struct world world = {.wall_ns = S, .busy_ns = {S}, .work = {KERNEL("l", S / 10, 1)}};
	struct session *s = make(&world);
	uint32_t k = session_node(s, SESSION_ROOT, FRAME_KERNEL, "k");

	add_metric(s, k, 0, METRIC_TIME, 500 * MS);
	add_metric(s, k, 0, METRIC_COUNT, 10);
	for (int sampled = 0; sampled < 2; sampled++) {
		const struct finding *found = NULL;
		struct findings f = {0};

		if (sampled)
			add_metric(s, k, 0, METRIC_PC_STALLED_SAMPLES, 10);
		ck_assert_int_eq(findings_make(&f, s, NULL), 0);
		for (size_t i = 0; i < f.n; i++)
			if (f.v[i].rule == FINDING_ONE_KERNEL)
				found = &f.v[i];
		ck_assert_ptr_nonnull(found);
		ck_assert_ptr_nonnull(strstr(finding_advice(found),
					     sampled ? "report --view source" : "--pc-sampling"));
		findings_done(&f);
	}
	session_free(s);
}
END_TEST

/* Where, how often, and why; the advice is about that. */
START_TEST(hot_line)
{
	static const struct world line = CODE_OF("k", {"/src/k.cu:6@k", PC_SHORT_SCOREBOARD, 600},
						 {"/src/k.cu:6@k", PC_MIO_THROTTLE, 200},
						 {"/src/k.cu:7@k", PC_SELECTED, 200});
	static const struct world at = CODE_OF("k", {AT("01d0"), PC_BARRIER, 1000});
	struct session *s = make(&line);
	struct findings f = {0};

	has_evidence(&line, FINDING_HOT_LINES,
		     "k.cu:6: in 80.0 % of 1000 samples a warp waits there; in 75.0 % of these it "
		     "waits for shared memory or a special function (short scoreboard)");
	has_evidence(
		&at, FINDING_HOT_LINES,
		"instruction +0x1d0: in 100.0 % of 1000 samples a warp waits there; in 100.0 % "
		"of these it waits for other warps at a barrier (barrier)");
	ck_assert_int_eq(findings_make(&f, s, NULL), 0);
	ck_assert_uint_eq(f.n, 1);
	ck_assert_ptr_nonnull(strstr(finding_advice(&f.v[0]), "bank conflicts"));
	ck_assert_uint_eq(f.v[0].n_nodes, 1);
	ck_assert_str_eq(session_node_name(s, f.v[0].nodes[0]), "k");
	findings_done(&f);
	session_free(s);
}
END_TEST

/* Every rule is asked about its flaw above, and about a run without it. */
START_TEST(all_rules_are_tried)
{
	bool spoke[FINDING_N_RULES] = {false}, silent[FINDING_N_RULES] = {false};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		*(cases[i].price != 0 ? &spoke[cases[i].rule] : &silent[cases[i].rule]) = true;
	for (unsigned i = 0; i < FINDING_N_RULES; i++) {
		ck_assert_msg(spoke[i] && silent[i], "%s", finding_word((enum finding_rule)i));
		ck_assert_int_eq(finding_parse(finding_word((enum finding_rule)i)), (int)i);
		ck_assert(*finding_title((enum finding_rule)i));
		ck_assert(*finding_advice(&(struct finding){.rule = (enum finding_rule)i}));
	}
	ck_assert_int_eq(finding_parse("nothing"), -1);
}
END_TEST

/* The advice about an idle GPU names what the profile has, or what would have it. */
START_TEST(advice_of_what_is_there)
{
	static const struct {
		bool is_trace, has_host, has_wait;
		const char *text;
	} t[] = {
		{false, false, false, "Scopes in the program, and --sync, show where"},
		{false, true, false, "The panel Host shows where, and what waits if recorded with"},
		{false, true, true, "The panel Host shows where; "},
		{true, true, false, "The panel Host shows where; "},
		{true, false, false, "Where is not in this profile"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		const struct world w = {
			10 * S, {S}, {KERNEL("k", S, 100)}, .is_trace = t[i].is_trace};
		struct session *s = make(&w);
		uint32_t scope = session_node(s, SESSION_ROOT, FRAME_SCOPE, "step");
		struct findings f = {0};

		s->ended = true;
		if (t[i].has_host)
			add_metric(s, scope, 0, METRIC_CPU_TIME, S);
		if (t[i].has_wait)
			session_node(s, scope, FRAME_SYNC, "device");
		ck_assert_int_eq(findings_make(&f, s, NULL), 0);
		ck_assert_uint_ge(f.n, 1);
		ck_assert_int_eq(f.v[0].rule, FINDING_IDLE);
		ck_assert_msg(strstr(finding_advice(&f.v[0]), t[i].text) != NULL, "%zu: %s", i,
			      finding_advice(&f.v[0]));
		findings_done(&f);
		session_free(s);
	}
}
END_TEST

/* Why the device waited, and whose work it waited for, where that was recorded: most of its idle time. */
START_TEST(advice_of_what_it_waited_for)
{
	static const struct {
		uint32_t metric;
		uint64_t ns;
		const char *said, *advised;
	} t[] = {
		{METRIC_IDLE_LATE, 8 * S, "the host was late 8.00s", "Neither kernels nor"},
		{METRIC_IDLE_SYNC, 8 * S, "it had waited for the GPU 8.00s", "wait only where"},
		{METRIC_IDLE_COPY, 8 * S, "it was in copies that block 8.00s", "pinned memory"},
		{METRIC_IDLE_LAUNCH, 8 * S, "launches took 8.00s", "launch ahead"},
		{METRIC_IDLE_QUEUED, 8 * S, "waited for something else 8.00s", "did not start"},
		{METRIC_IDLE_SYNC, S, NULL, "Neither kernels nor"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		const struct world w = {10 * S, {S}, {KERNEL("k", S, 100)}};
		struct session *s = make(&w);
		uint32_t step = session_node(s, SESSION_ROOT, FRAME_SCOPE, "step");
		uint32_t node = session_node(s, step, FRAME_KERNEL, "k"),
			 lane = s->rows[session_first_row(s, node)].lane;
		struct findings f = {0};

		s->ended = true;
		add_metric(s, node, lane, METRIC_IDLE, t[i].ns);
		add_metric(s, node, lane, t[i].metric, t[i].ns);
		ck_assert_int_eq(findings_make(&f, s, NULL), 0);
		ck_assert_uint_ge(f.n, 1);
		ck_assert_int_eq(f.v[0].rule, FINDING_IDLE);
		ck_assert_msg(!t[i].said == !strchr(f.v[0].evidence, ':'), "%zu: %s", i,
			      f.v[0].evidence);
		ck_assert_msg(!t[i].said || strstr(f.v[0].evidence, t[i].said), "%zu: %s", i,
			      f.v[0].evidence);
		ck_assert_msg(strstr(finding_advice(&f.v[0]), t[i].advised) != NULL, "%zu: %s", i,
			      finding_advice(&f.v[0]));
		ck_assert_uint_eq(f.v[0].n_nodes, t[i].said != NULL);
		ck_assert(!t[i].said || f.v[0].nodes[0] == node);
		findings_done(&f);
		session_free(s);
	}
}
END_TEST

/* The contexts with the longest times are named, the longest first. */
START_TEST(where)
{
	static const struct world w = {S,
				       {S},
				       {KERNEL("a", 20 * MS, 10000), KERNEL("b", 40 * MS, 10000),
					KERNEL("c", 10 * MS, 10000), KERNEL("d", 30 * MS, 10000)},
				       0};
	struct session *s = make(&w);
	struct findings f = {0};

	ck_assert_int_eq(findings_make(&f, s, NULL), 0);
	ck_assert_uint_ge(f.n, 1);
	ck_assert_uint_eq(f.v[0].n_nodes, 3);
	ck_assert_str_eq(session_node_name(s, f.v[0].nodes[0]), "b");
	ck_assert_str_eq(session_node_name(s, f.v[0].nodes[1]), "d");
	ck_assert_str_eq(session_node_name(s, f.v[0].nodes[2]), "a");
	findings_done(&f);
	session_free(s);
}
END_TEST

/* A profile in which nothing was measured has nothing to say. */
START_TEST(empty)
{
	struct session *s = session_new();
	struct findings f = {0};

	ck_assert_int_eq(findings_make(&f, s, NULL), 0);
	ck_assert_uint_eq(f.n, 0);
	findings_done(&f);
	session_free(s);
}
END_TEST

/* A million nodes of 0.36 us in six seconds: six percent. */
START_TEST(graph_nodes_have_the_budget)
{
	static const struct {
		int64_t ppm; /* -1: none was given */
		bool is_found;
	} cases[] = {{-1, true}, {50000, true},    {70000, false},
		     {0, false}, {1000000, false}, {1, true}};
	const struct world world = {.wall_ns = 6 * S,
				    .busy_ns = {5 * S},
				    .work = {IN_GRAPHS(KERNEL, 1000000, 1000000)}};
	const struct metric budget = {BUDGET_METRIC,   "",          METRIC_U64,
				      METRIC_PROPERTY, METRIC_LAST, METRIC_NONE};

	for (size_t k = 0; k < ARRAY_SIZE(cases); k++) {
		struct session *s = make(&world);
		struct findings f = {0};
		bool is_found = false;

		if (cases[k].ppm >= 0)
			session_add(s, SESSION_ROOT, session_lane_intern(s, &session_nowhere), 0,
				    session_metric_add(s, &budget),
				    (union metric_value){.u64 = (uint64_t)cases[k].ppm});
		ck_assert_int_eq(findings_make(&f, s, NULL), 0);
		for (size_t i = 0; i < f.n; i++)
			is_found |= f.v[i].rule == FINDING_GRAPH_NODES;
		ck_assert_int_eq(is_found, cases[k].is_found);
		findings_done(&f);
		session_free(s);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("findings");
	TCase *tcase = tcase_create("all");

	tcase_add_loop_test(tcase, rule, 0, (int)ARRAY_SIZE(cases));
	tcase_add_test(tcase, what_was_looked_at);
	tcase_add_test(tcase, hot_line);
	tcase_add_test(tcase, all_rules_are_tried);
	tcase_add_test(tcase, advice_of_what_is_there);
	tcase_add_test(tcase, advice_of_what_it_waited_for);
	tcase_add_test(tcase, places_of_one_kernel);
	tcase_add_test(tcase, one_kernel_with_samples);
	tcase_add_test(tcase, hidden_copies_are_told);
	tcase_add_test(tcase, pools_are_fragmented);
	tcase_add_test(tcase, why_a_step_was_slow);
	tcase_add_test(tcase, why_steps_were_slow);
	tcase_add_test(tcase, between_steps_says_whose);
	tcase_add_test(tcase, a_leak_grows);
	tcase_add_test(tcase, copies_of_a_context);
	tcase_add_test(tcase, links_name_their_own_copies);
	tcase_add_test(tcase, where);
	tcase_add_test(tcase, graph_nodes_have_the_budget);
	tcase_add_test(tcase, empty);
	suite_add_tcase(suite, tcase);
	return check_run(suite);
}
