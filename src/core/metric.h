/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_METRIC_H
#define PROTON_CORE_METRIC_H
/* Metrics: what is measured, how it adds up, how it prints.
 *
 * A metric is known by its name (the key in a Hatchet file, with its unit in parentheses as
 * upstream writes it: "time (ns)"). Ids are per session, dense; the built-in ones come first and
 * have the same id in every session. Absent is not zero. */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum metric_type {
	METRIC_U64 = 0,
	METRIC_F64 = 1,
	METRIC_TEXT = 2, /* the value is a string id */
};

enum metric_scope {
	METRIC_INCLUSIVE = 0, /* a node's value is its own plus its descendants' */
	METRIC_EXCLUSIVE = 1, /* own value only */
	METRIC_PROPERTY = 2,  /* describes the node; never added */
};

enum metric_add {
	METRIC_SUM = 0,
	METRIC_MIN = 1,
	METRIC_MAX = 2,
	METRIC_LAST = 3,
	METRIC_WMEAN = 4, /* mean weighted by the metric `weight` of the same set */
	/* How much there is now (allocated bytes). It goes up and down, a reset does not change it,
	 * and it has no rate. The values of lanes, processes and nodes are added. */
	METRIC_GAUGE = 5,
	/* The highest value of a gauge since the program began; a reset does not change it. Lanes
	 * reach theirs at different times, so the highest of them is taken, not their sum. */
	METRIC_PEAK = 6,
	METRIC_N_ADDS
};

/* The nearest rule among the first five, for readers that know only these. */
static inline enum metric_add metric_add_plain(unsigned add)
{
	return add == METRIC_GAUGE  ? METRIC_SUM
	       : add == METRIC_PEAK ? METRIC_MAX
				    : (enum metric_add)add;
}

/* How many copies there were of which size, and their bytes: a metric each for sizes from one power of two on to the
 * next. A copy is of one of them.
 *    place, numbers (of how many, of bytes), name */
/* clang-format off */
#define METRICS_OF_SIZES(_)                                                                        \
	_(0, 46, 47, "below_1KiB")                                                                 \
	_(1, 48, 49, "of_1KiB")                                                                    \
	_(2, 50, 51, "of_2KiB")                                                                    \
	_(3, 52, 53, "of_4KiB")                                                                    \
	_(4, 54, 55, "of_8KiB")                                                                    \
	_(5, 56, 57, "of_16KiB")                                                                   \
	_(6, 58, 59, "of_32KiB")                                                                   \
	_(7, 60, 61, "of_64KiB")                                                                   \
	_(8, 62, 63, "of_128KiB")                                                                  \
	_(9, 64, 65, "of_256KiB")                                                                  \
	_(10, 66, 67, "of_512KiB")                                                                 \
	_(11, 68, 69, "of_1MiB")                                                                   \
	_(12, 70, 71, "of_2MiB")                                                                   \
	_(13, 72, 73, "of_4MiB")                                                                   \
	_(14, 74, 75, "of_8MiB")                                                                   \
	_(15, 76, 77, "of_16MiB")                                                                  \
	_(16, 78, 79, "of_32MiB")                                                                  \
	_(17, 80, 81, "of_64MiB")                                                                  \
	_(18, 82, 83, "of_128MiB")                                                                 \
	_(19, 84, 85, "of_256MiB")                                                                 \
	_(20, 86, 87, "of_512MiB")                                                                 \
	_(21, 88, 89, "from_1GiB")
enum { N_COPY_SIZES = 22, COPY_SIZE_LEAST = 10 /* 2 to the power of it is where the second one begins */ };
#define METRIC_OF_SIZE(k, n, bytes_n, name)                                                        \
	_(COPIES_##k, n, "copies_" name, U64, INCLUSIVE, SUM, "", name)                            \
	_(COPIES_##k##_BYTES, bytes_n, "copies_" name "_bytes", U64, INCLUSIVE, SUM, "B", name)
/* clang-format on */

/* The number of a built-in metric is its id, and crosses the wire: never used again, never moved.
 *         id       number  name           type  scope      add   unit  short title */
/* clang-format off */
#define METRICS_BUILTIN(_)                                                                         \
	_(TIME,       0, "time (ns)",     U64,  INCLUSIVE, SUM,  "ns",   "TIME")                   \
	_(COUNT,      1, "count",         U64,  INCLUSIVE, SUM,  "",     "CALLS")                  \
	_(TIME_MIN,   2, "time_min (ns)", U64,  INCLUSIVE, MIN,  "ns",   "MIN")                    \
	_(TIME_MAX,   3, "time_max (ns)", U64,  INCLUSIVE, MAX,  "ns",   "MAX")                    \
	_(BYTES,      4, "bytes",         U64,  INCLUSIVE, SUM,  "B",    "BYTES")                  \
	_(ASYNC,      5, "async",         U64,  INCLUSIVE, SUM,  "",     "ASYNC")                  \
	_(DIRECTION,  6, "direction",     TEXT, PROPERTY,  LAST, "",     "DIRECTION")              \
	_(CPU_TIME,   7, "cpu_time (ns)", U64,  EXCLUSIVE, SUM,  "ns",   "HOST")                    \
	_(CPU_COUNT,  8, "cpu_count",     U64,  EXCLUSIVE, SUM,  "",     "ENTERED")                \
	_(FLOPS,      9, "flops",         F64,  INCLUSIVE, SUM,  "",     "FLOPS")                  \
	_(FLOPS8,    10, "flops8",        F64,  INCLUSIVE, SUM,  "",     "FLOPS8")                 \
	_(FLOPS16,   11, "flops16",       F64,  INCLUSIVE, SUM,  "",     "FLOPS16")                \
	_(FLOPS32,   12, "flops32",       F64,  INCLUSIVE, SUM,  "",     "FLOPS32")                \
	_(FLOPS64,   13, "flops64",       F64,  INCLUSIVE, SUM,  "",     "FLOPS64")                \
	_(ON_CPU,    14, "on_cpu (ns)",   U64,  INCLUSIVE, SUM,  "ns",   "ON-CPU")                 \
	_(GUESSED,   15, "guessed",       U64,  INCLUSIVE, SUM,  "",     "GUESSED")                \
	_(ALLOCS,    16, "allocations",   U64,  INCLUSIVE, SUM,  "",     "ALLOCS")                 \
	_(ALLOCATED, 17, "allocated_bytes", U64, INCLUSIVE, SUM, "B",    "ALLOCATED")              \
	_(FREES,     18, "releases",      U64,  INCLUSIVE, SUM,  "",     "FREES")                  \
	_(FREED,     19, "released_bytes", U64, INCLUSIVE, SUM,  "B",    "FREED")                  \
	_(NOT_FREED, 20, "left_bytes",    U64,  INCLUSIVE, SUM,  "B",    "GONE")                   \
	_(MEM_LIVE,  21, "live_bytes",    U64,  INCLUSIVE, GAUGE, "B",   "LIVE")                   \
	_(MEM_PEAK,  22, "peak_bytes",    U64,  INCLUSIVE, PEAK, "B",    "PEAK")                   \
	_(AT_PEAK,   23, "at_peak_bytes", U64,  INCLUSIVE, GAUGE, "B",   "OF PEAK")                \
	_(PEAK_AT,   24, "peak_at (ns)",  U64,  PROPERTY,  PEAK, "ns",   "WHEN PEAK")                \
	_(POOL_SIZE, 25, "pool_bytes",    U64,  INCLUSIVE, GAUGE, "B",   "RESERVED")               \
	_(POOL_USED, 26, "pool_used_bytes", U64, INCLUSIVE, GAUGE, "B",  "USED")                   \
	_(POOL_PEAK, 27, "pool_peak_bytes", U64, INCLUSIVE, PEAK, "B",   "POOL PEAK")              \
	_(GRAPH_NODES, 28, "graph_nodes", U64,  INCLUSIVE, SUM,  "",     "NODES")                  \
	_(GRAPH_KERNELS, 29, "graph_kernels", U64, INCLUSIVE, SUM, "",   "KERNELS")                \
	_(AGAIN,     30, "copies_again",  U64,  INCLUSIVE, SUM,  "",     "AGAIN")                  \
	_(COMPARED,  31, "copies_compared", U64, INCLUSIVE, SUM, "",     "COMPARED")               \
	_(SAME,      32, "copies_same",   U64,  INCLUSIVE, SUM,  "",     "SAME")                   \
	_(BACK,      33, "copies_back",   U64,  INCLUSIVE, SUM,  "",     "BACK")                   \
	_(MIGRATIONS, 34, "migrations",   U64,  INCLUSIVE, SUM,  "",     "MOVES")                  \
	_(MIGRATING, 35, "migration_time (ns)", U64, INCLUSIVE, SUM, "ns", "MOVING")               \
	_(TO_DEVICE, 36, "migrated_to_device_bytes", U64, INCLUSIVE, SUM, "B", "TO GPU")           \
	_(TO_HOST,   37, "migrated_to_host_bytes", U64, INCLUSIVE, SUM, "B", "TO HOST")            \
	_(TO_PEER,   38, "migrated_to_peer_bytes", U64, INCLUSIVE, SUM, "B", "TO PEER")            \
	_(ASKED_FOR, 39, "migrated_as_asked_bytes", U64, INCLUSIVE, SUM, "B", "ASKED")             \
	_(EVICTED,   40, "evicted_bytes", U64,  INCLUSIVE, SUM,  "B",    "EVICTED")                \
	_(CPU_FAULTS, 41, "cpu_page_faults", U64, INCLUSIVE, SUM, "",    "CPU FAULTS")             \
	_(GPU_FAULTS, 42, "gpu_page_faults", U64, INCLUSIVE, SUM, "",    "GPU FAULTS")             \
	_(THRASHES,  43, "thrashings",    U64,  INCLUSIVE, SUM,  "",     "THRASH")                 \
	_(THROTTLED, 44, "throttled (ns)", U64, INCLUSIVE, SUM,  "ns",   "THROTTLED")              \
	_(REMOTE,    45, "remote_maps",   U64,  INCLUSIVE, SUM,  "",     "REMOTE")                 \
	METRICS_OF_SIZES(METRIC_OF_SIZE) \
	_(IDLE_GAPS, 90, "idle_gaps",     U64,  INCLUSIVE, SUM,  "",     "GAPS")                   \
	_(IDLE,      91, "idle (ns)",     U64,  INCLUSIVE, SUM,  "ns",   "IDLE")                   \
	_(IDLE_LATE, 92, "idle_late (ns)", U64, INCLUSIVE, SUM,  "ns",   "LATE")                   \
	_(IDLE_SYNC, 93, "idle_sync (ns)", U64, INCLUSIVE, SUM,  "ns",   "SYNC")                   \
	_(IDLE_COPY, 94, "idle_copy (ns)", U64, INCLUSIVE, SUM,  "ns",   "COPY")                   \
	_(IDLE_LAUNCH, 95, "idle_launch (ns)", U64, INCLUSIVE, SUM, "ns", "LAUNCH")                \
	_(IDLE_QUEUED, 96, "idle_queued (ns)", U64, INCLUSIVE, SUM, "ns", "QUEUED")                \
	_(IDLE_GRAPH, 97, "idle_in_graphs (ns)", U64, INCLUSIVE, SUM, "ns", "IN GRAPHS")           \
	_(LATENCY,   98, "launch_latency (ns)", U64, INCLUSIVE, SUM, "ns", "LATENCY")              \
	_(LATENCY_N, 99, "launches_timed", U64, INCLUSIVE, SUM,  "",     "TIMED")                  \
	_(LATENCY_MAX, 100, "launch_latency_max (ns)", U64, INCLUSIVE, MAX, "ns", "MAX LATENCY") \
	_(BESIDES,   101, "copies_besides", U64, INCLUSIVE, SUM, "",     "BESIDES")                    \
	_(STEPS,     102, "steps",        U64,  EXCLUSIVE, SUM,  "",     "STEPS")                  \
	_(STEP_TIME, 103, "step_time (ns)", U64, EXCLUSIVE, SUM, "ns",   "IN STEPS")               \
	_(STEP_MIN,  104, "step_min (ns)", U64, EXCLUSIVE, MIN,  "ns",   "MIN STEP")               \
	_(STEP_MAX,  105, "step_max (ns)", U64, EXCLUSIVE, MAX,  "ns",   "MAX STEP")               \
	_(STEP_SLOWEST, 106, "step_slowest", U64, PROPERTY, LAST, "",    "SLOWEST STEP")           \
	_(STEP_MEDIAN, 107, "step_median (ns)", U64, PROPERTY, LAST, "ns", "MEDIAN STEP")          \
	_(STEP_P95,  108, "step_p95 (ns)", U64, PROPERTY,  LAST, "ns",   "P95 STEP")               \
	_(STEP_DEVIATION, 109, "step_deviation (ns)", U64, PROPERTY, LAST, "ns", "STEP DEVIATION") \
	_(STEP_FIRST, 110, "step_first (ns)", U64, EXCLUSIVE, MAX, "ns", "FIRST STEP")             \
	_(STEP_APART, 111, "between_steps (ns)", U64, EXCLUSIVE, SUM, "ns", "BETWEEN STEPS")       \
	_(STEP_WORKS, 112, "step_works",  U64,  PROPERTY,  LAST, "",     "WORKS A STEP")           \
	_(STEP_OTHERS, 113, "steps_otherwise", U64, EXCLUSIVE, SUM, "",  "OTHER STEPS")                \
	_(ESTIMATED, 114, "estimated (ns)", U64, INCLUSIVE, SUM, "ns",   "ESTIMATED")              \
	_(ESTIMATED_RUNS, 115, "estimated_runs", U64, INCLUSIVE, SUM, "", "RUNS")                  \
	_(GRAPH_LAUNCHES, 116, "graph_launches", U64, INCLUSIVE, SUM, "", "LAUNCHES") \
	_(API_TIME, 117, "api_time (ns)", U64,  INCLUSIVE, SUM,  "ns",   "API")                    \
	_(API_CALLS, 118, "api_calls",    U64,  INCLUSIVE, SUM,  "",     "API CALLS")              \
	_(API_MIN, 119, "api_time_min (ns)", U64, INCLUSIVE, MIN, "ns",  "API MIN")                \
	_(API_MAX, 120, "api_time_max (ns)", U64, INCLUSIVE, MAX, "ns",  "API MAX")                \
	_(STEP_KNOWN, 121, "steps_known", U64,  EXCLUSIVE, SUM,  "",     "KNOWN STEPS")            \
	_(STEP_BUSY, 122, "step_busy (ns)", U64, EXCLUSIVE, SUM, "ns",   "BUSY IN STEPS")          \
	_(STEP_BUSY_MEDIAN, 123, "step_busy_median (ns)", U64, PROPERTY, LAST, "ns", "MEDIAN BUSY") \
	_(STEP_BUSY_MAX, 124, "step_busy_max (ns)", U64, EXCLUSIVE, MAX, "ns", "MAX BUSY")         \
	_(STEP_IDLE, 125, "step_idle (ns)", U64, EXCLUSIVE, SUM, "ns",   "IDLE IN STEPS")          \
	_(STEP_IDLE_MEDIAN, 126, "step_idle_median (ns)", U64, PROPERTY, LAST, "ns", "MEDIAN IDLE") \
	_(STEP_IDLE_MAX, 127, "step_idle_max (ns)", U64, EXCLUSIVE, MAX, "ns", "MAX IDLE")         \
	_(STEP_BUSY_AT, 128, "step_slowest_known", U64, PROPERTY, LAST, "", "SLOWEST KNOWN")       \
	_(STEP_BUSY_SLOWEST, 129, "step_slowest_busy (ns)", U64, PROPERTY, LAST, "ns", "BUSY IN SLOWEST") \
	_(LEFT_BYTES, 130, "left_behind_bytes", U64, EXCLUSIVE, SUM, "B", "LEFT BEHIND")           \
	_(LEFT_BLOCKS, 131, "left_behind_blocks", U64, EXCLUSIVE, SUM, "", "BLOCKS")               \
	_(LEFT_TIMES, 132, "left_behind_times", U64, EXCLUSIVE, SUM, "", "TIMES")                  \
	_(LEFT_HELD, 133, "left_behind_live_bytes", U64, EXCLUSIVE, GAUGE, "B", "NOT FREED")       \
	_(LEFT_MOST, 134, "left_behind_peak_bytes", U64, EXCLUSIVE, PEAK, "B", "AT MOST")          \
	_(GRAPH_FORM, 135, "graph_form", U64, PROPERTY, LAST, "", "FORM")                      \
	_(STEP_LATE, 136, "steps_host_late", U64, EXCLUSIVE, SUM, "",    "HOST LATE")              \
	_(STEP_LATE_AT, 137, "steps_host_late_slowest", U64, PROPERTY, LAST, "", "SLOWEST LATE")   \
	_(STEP_LATE_MAX, 138, "steps_host_late_max (ns)", U64, EXCLUSIVE, MAX, "ns", "MAX LATE")   \
	_(STEP_LATE_BUSY, 139, "steps_host_late_busy (ns)", U64, PROPERTY, LAST, "ns", "BUSY IN LATE") \
	_(STEP_MORE, 140, "steps_more_work", U64, EXCLUSIVE, SUM, "",    "MORE WORK")              \
	_(STEP_MORE_AT, 141, "steps_more_work_slowest", U64, PROPERTY, LAST, "", "SLOWEST MORE")   \
	_(STEP_MORE_MAX, 142, "steps_more_work_max (ns)", U64, EXCLUSIVE, MAX, "ns", "MAX MORE")   \
	_(STEP_MORE_BUSY, 143, "steps_more_work_busy (ns)", U64, PROPERTY, LAST, "ns", "BUSY IN MORE") \
	_(STEP_HELD_KNOWN, 144, "steps_memory_known", U64, EXCLUSIVE, SUM, "", "MEMORY KNOWN")     \
	_(STEP_HELD, 145, "step_memory_bytes", U64, EXCLUSIVE, SUM, "B", "STEP MEMORY")            \
	_(STEP_HELD_MAX, 146, "step_memory_max_bytes", U64, EXCLUSIVE, MAX, "B", "MAX MEMORY")     \
	_(STEP_HELD_GROWTH, 147, "step_memory_growth_bytes", U64, PROPERTY, LAST, "B", "MEMORY GROWTH") \
	_(STEP_COPIES_KNOWN, 148, "steps_copies_known", U64, EXCLUSIVE, SUM, "", "COPIES KNOWN")   \
	_(STEP_TO_DEVICE, 149, "step_to_device_bytes", U64, EXCLUSIVE, SUM, "B", "STEP TO GPU")    \
	_(STEP_TO_DEVICE_MAX, 150, "step_to_device_max_bytes", U64, EXCLUSIVE, MAX, "B", "MAX TO GPU") \
	_(STEP_TO_DEVICE_GROWTH, 151, "step_to_device_growth_bytes", U64, PROPERTY, LAST, "B", "TO GPU GROWTH") \
	_(STEP_TO_HOST, 152, "step_to_host_bytes", U64, EXCLUSIVE, SUM, "B", "STEP TO HOST")       \
	_(STEP_TO_HOST_MAX, 153, "step_to_host_max_bytes", U64, EXCLUSIVE, MAX, "B", "MAX TO HOST") \
	_(STEP_TO_HOST_GROWTH, 154, "step_to_host_growth_bytes", U64, PROPERTY, LAST, "B", "TO HOST GROWTH") \
	_(STEP_WITHIN, 155, "step_within_bytes", U64, EXCLUSIVE, SUM, "B", "STEP WITHIN")          \
	_(STEP_WITHIN_MAX, 156, "step_within_max_bytes", U64, EXCLUSIVE, MAX, "B", "MAX WITHIN")   \
	_(STEP_WITHIN_GROWTH, 157, "step_within_growth_bytes", U64, PROPERTY, LAST, "B", "WITHIN GROWTH") \
	_(POOL_USED_PEAK, 158, "pool_used_peak_bytes", U64, INCLUSIVE, PEAK, "B", "USED PEAK")     \
	_(POOL_UNUSED, 159, "pool_unused_at_peak_bytes", U64, INCLUSIVE, PEAK, "B", "UNUSED")      \
	_(POOL_GROWN, 160, "pool_grown_bytes", U64, INCLUSIVE, SUM, "B", "GROWN")                  \
	_(FRAGMENTED, 161, "pool_fragmented_bytes", U64, INCLUSIVE, SUM, "B", "FRAGMENTED")        \
	_(FRAGMENTED_TIMES, 162, "pool_fragmented_times", U64, INCLUSIVE, SUM, "", "FRAG TIMES")   \
	_(SAMPLES, 163, "counter_samples", U64, INCLUSIVE, SUM, "", "SAMPLES")                     \
	_(SAMPLED, 164, "counter_samples_time (ns)", U64, INCLUSIVE, SUM, "ns", "SAMPLED")         \
	_(SAMPLES_BESIDE, 165, "counter_samples_beside", U64, INCLUSIVE, SUM, "", "BESIDE")        \
	_(SM_ACTIVE, 166, "sm_active_time (ns)", U64, INCLUSIVE, SUM, "ns", "SM ACTIVE")           \
	_(SM_ISSUE, 167, "sm_issue_time (ns)", U64, INCLUSIVE, SUM, "ns", "SM ISSUE")              \
	_(TENSOR_ACTIVE, 168, "tensor_active_time (ns)", U64, INCLUSIVE, SUM, "ns", "TENSOR ACTIVE") \
	_(FMA_ISSUE, 169, "fma_issue_time (ns)", U64, INCLUSIVE, SUM, "ns", "FMA ISSUE")           \
	_(DRAM_READ, 170, "dram_read_time (ns)", U64, INCLUSIVE, SUM, "ns", "DRAM READ")           \
	_(DRAM_WRITE, 171, "dram_write_time (ns)", U64, INCLUSIVE, SUM, "ns", "DRAM WRITE")        \
	_(L2_HIT, 172, "l2_hit_time (ns)", U64, INCLUSIVE, SUM, "ns", "L2 HIT")                    \
	_(WARPS_ACTIVE, 173, "warps_active_time (ns)", U64, INCLUSIVE, SUM, "ns", "WARPS ACTIVE") \
	_(DRAM, 174, "dram_time (ns)", U64, INCLUSIVE, SUM, "ns", "DRAM") \
	_(PC_SAMPLES, 175, "num_samples", U64, INCLUSIVE, SUM, "", "SAMPLES") \
	_(PC_STALLED_SAMPLES, 176, "num_stalled_samples", U64, INCLUSIVE, SUM, "", "STALLED") \
	_(STALLED_LONG_SCOREBOARD, 177, "stalled_long_scoreboard", U64, INCLUSIVE, SUM, "", "LONG SCOREBOARD") \
	_(STALLED_WAIT, 178, "stalled_wait", U64, INCLUSIVE, SUM, "", "WAIT") \
	_(STALLED_SHORT_SCOREBOARD, 179, "stalled_short_scoreboard", U64, INCLUSIVE, SUM, "", "SHORT SCOREBOARD") \
	_(STALLED_SELECTED, 180, "stalled_selected", U64, INCLUSIVE, SUM, "", "SELECTED") \
	_(STALLED_NOT_SELECTED, 181, "stalled_not_Selected", U64, INCLUSIVE, SUM, "", "NOT SELECTED") \
	_(STALLED_MATH_PIPE, 182, "stalled_math_pipe_throttle", U64, INCLUSIVE, SUM, "", "MATH PIPE THROTTLE") \
	_(STALLED_BRANCH_RESOLVING, 183, "stalled_branch_resolving", U64, INCLUSIVE, SUM, "", "BRANCH RESOLVING") \
	_(STALLED_NO_INSTRUCTION, 184, "stalled_no_instruction", U64, INCLUSIVE, SUM, "", "NO INSTRUCTION") \
	_(STALLED_TEX_THROTTLE, 185, "stalled_tex_throttle", U64, INCLUSIVE, SUM, "", "TEX THROTTLE") \
	_(STALLED_BARRIER, 186, "stalled_barrier", U64, INCLUSIVE, SUM, "", "BARRIER") \
	_(STALLED_MEMBAR, 187, "stalled_membar", U64, INCLUSIVE, SUM, "", "MEMBAR") \
	_(STALLED_IMC_MISS, 188, "stalled_imc_miss", U64, INCLUSIVE, SUM, "", "IMC MISS") \
	_(STALLED_MIO_THROTTLE, 189, "stalled_mio_throttle", U64, INCLUSIVE, SUM, "", "MIO THROTTLE") \
	_(STALLED_DRAIN, 190, "stalled_drain", U64, INCLUSIVE, SUM, "", "DRAIN") \
	_(STALLED_LG_THROTTLE, 191, "stalled_lg_throttle", U64, INCLUSIVE, SUM, "", "LG THROTTLE") \
	_(STALLED_MISC, 192, "stalled_misc", U64, INCLUSIVE, SUM, "", "MISC") \
	_(STALLED_DISPATCH, 193, "stalled_dispatch_stall", U64, INCLUSIVE, SUM, "", "DISPATCH STALL") \
	_(STALLED_SLEEPING, 194, "stalled_sleeping", U64, INCLUSIVE, SUM, "", "SLEEPING") \
	_(STALLED_GMMA, 195, "stalled_gmma", U64, INCLUSIVE, SUM, "", "GMMA") \
	_(STALLED_WARPGROUP, 196, "stalled_warpgroup_arrive", U64, INCLUSIVE, SUM, "", "WARPGROUP ARRIVE") \
	_(STALLED_OTHER, 197, "stalled_other", U64, INCLUSIVE, SUM, "", "OTHER") \
	_(CYCLES, 198, "cycles", U64, EXCLUSIVE, SUM, "", "CYCLES") \
	_(NORMALIZED_CYCLES, 199, "normalized_cycles", F64, EXCLUSIVE, SUM, "", "CYCLES/WARP") \
	_(SCOPE_ENTRIES, 200, "scope_entries", U64, EXCLUSIVE, SUM, "", "ENTRIES") \
	_(CYCLES_MIN, 201, "cycles_min", U64, EXCLUSIVE, MIN, "", "MIN CYC") \
	_(CYCLES_MAX, 202, "cycles_max", U64, EXCLUSIVE, MAX, "", "MAX CYC") \
	_(SCOPE_VALUE, 203, "scope_value", F64, EXCLUSIVE, SUM, "", "VALUE") \
	_(SCOPE_VALUE_MIN, 204, "scope_value_min", F64, EXCLUSIVE, MIN, "", "MIN VALUE") \
	_(SCOPE_VALUE_MAX, 205, "scope_value_max", F64, EXCLUSIVE, MAX, "", "MAX VALUE")
/* clang-format on */

enum metric_builtin {
#define _(id, number, name, type, scope, add, unit, title) METRIC_##id = number,
	METRICS_BUILTIN(_)
#undef _
		METRIC_N_BUILTIN = 206
};

#define METRIC_NONE UINT32_MAX

struct metric {
	const char *name; /* lives in the table */
	const char *unit; /* "ns", "B", "" */
	uint8_t type, scope, add;
	uint32_t weight; /* of METRIC_WMEAN: the metric that weighs it, else METRIC_NONE */
};

union metric_value {
	uint64_t u64;
	double f64;
	uint32_t text; /* string id of the session */
};

/* Combine b into a, both present. wa and wb are the weights (METRIC_WMEAN only). */
union metric_value metric_combine(const struct metric *m, union metric_value a, double wa,
				  union metric_value b, double wb);
/* Convert a value from one type to another. False: not possible (between text and numbers; negative
 * or too large for a whole number). */
bool metric_convert(enum metric_type from, enum metric_type to, union metric_value *v);
/* As a number; text is NaN. */
static inline double metric_number(const struct metric *m, union metric_value v)
{
	if (m->type == METRIC_TEXT)
		return NAN;
	return m->type == METRIC_F64 ? v.f64 : (double)v.u64;
}

/* b into a by the metric's rule; NaN is absent. The weights, wa and wb, only matter to a weighted
 * mean. Inline: columns do it a million times. */
static inline void metric_add_number(const struct metric *m, double *a, double *wa, double b,
				     double wb)
{
	if (isnan(b))
		return;
	if (isnan(*a)) {
		*a = b;
		*wa = wb;
		return;
	}
	switch (metric_add_plain(m->add)) {
	case METRIC_SUM:
		*a += b;
		break;
	case METRIC_MIN:
		*a = fmin(*a, b);
		break;
	case METRIC_MAX:
		*a = fmax(*a, b);
		break;
	case METRIC_WMEAN:
		*a = *wa + wb > 0 ? (*a * *wa + b * wb) / (*wa + wb) : *a;
		*wa += wb;
		break;
	default:
		*a = b;
		break;
	}
}

/* Add b to a number that may be absent (NaN) so far; an absent b adds nothing. */
static inline void add_present(double *a, double b)
{
	if (!isnan(b))
		*a = isnan(*a) ? b : *a + b;
}

/* A shortest time; where there is none yet it is UINT64_MAX in a slot, not 0. */
static inline bool metric_is_shortest(uint32_t id)
{
	return id == METRIC_TIME_MIN || id == METRIC_API_MIN || id == METRIC_CYCLES_MIN;
}

/* A number that may be below 0, of which there is none until the first: UINT64_MAX in a slot, too, which is no number. */
static inline bool metric_begins_absent(uint32_t id)
{
	return id == METRIC_SCOPE_VALUE_MIN || id == METRIC_SCOPE_VALUE_MAX;
}

/* What a slot of it has before the first value. */
static inline uint64_t metric_seed(uint32_t id)
{
	return metric_is_shortest(id) || metric_begins_absent(id) ? UINT64_MAX : 0;
}

/* Of unified memory: what moved, faults. */
static inline bool metric_is_of_unified(uint32_t id)
{
	return id >= METRIC_MIGRATIONS && id <= METRIC_REMOTE;
}

/* Of what is allocated, or of pools? */
static inline bool metric_is_of_memory(uint32_t id)
{
	return (id >= METRIC_ALLOCS && id <= METRIC_POOL_PEAK) ||
	       (id >= METRIC_LEFT_BYTES && id <= METRIC_LEFT_MOST) ||
	       (id >= METRIC_POOL_USED_PEAK && id <= METRIC_FRAGMENTED_TIMES) ||
	       metric_is_of_unified(id);
}

/* Of calls of the GPU's library? */
static inline bool metric_is_of_calls(uint32_t id)
{
	return id >= METRIC_API_TIME && id <= METRIC_API_MAX;
}

/* The short title of a built-in metric; NULL: it is none. */
const char *metric_title(uint32_t id);
/* Of scopes within kernels, what most ask for? Whoever has these put them there. */
static inline bool metric_is_of_warps(uint32_t id)
{
	return (id >= METRIC_CYCLES && id <= METRIC_SCOPE_ENTRIES) ||
	       (id >= METRIC_SCOPE_VALUE && id <= METRIC_SCOPE_VALUE_MAX);
}

/* … and of these, what each scope has? */
static inline bool metric_is_of_cycles(uint32_t id)
{
	return id >= METRIC_CYCLES && id <= METRIC_CYCLES_MAX;
}

/* Of graphs as such, not of what runs in them? */
static inline bool metric_is_of_graphs(uint32_t id)
{
	return id == METRIC_GRAPH_LAUNCHES || id == METRIC_GRAPH_FORM;
}

/* Samples of code, and why its warps waited (core/pc_samples.h). */
static inline bool metric_is_of_code(uint32_t id)
{
	return id >= METRIC_PC_SAMPLES && id <= METRIC_STALLED_OTHER;
}

/* … of which Triton's Proton writes all, where it writes any. */
static inline bool metric_is_of_their_code(uint32_t id)
{
	return id >= METRIC_PC_SAMPLES && id <= METRIC_STALLED_SLEEPING;
}

static inline uint32_t metric_of_copies(unsigned size)
{
	return METRIC_COPIES_0 + 2 * size;
}
static inline uint32_t metric_of_copied_bytes(unsigned size)
{
	return metric_of_copies(size) + 1;
}
static inline bool metric_is_of_sizes(uint32_t id)
{
	return id >= METRIC_COPIES_0 && id < METRIC_COPIES_0 + 2 * N_COPY_SIZES;
}
/* The least bytes of a copy of this size. */
static inline uint64_t copy_size_from(unsigned size)
{
	return size ? UINT64_C(1) << (COPY_SIZE_LEAST + size - 1) : 0;
}
/* Which of them a copy of so many bytes is of. */
static inline unsigned copy_size(uint64_t bytes)
{
	unsigned power = bytes >> COPY_SIZE_LEAST ? 63 - (unsigned)__builtin_clzll(bytes) : 0;

	if (!power)
		return 0;
	power -= COPY_SIZE_LEAST - 1;
	return power < N_COPY_SIZES ? power : N_COPY_SIZES - 1;
}

/* How much of a metric's name is left without its unit, "(ns)". */
size_t metric_bare_len(const char *name);

/* python/proton/metric.py has the first, too. */
enum { METRIC_VECTOR_MAX = 64, METRIC_VECTOR_NAME_MAX = 200 };
/* Of a vector's elements: "name[3] (unit)". */
void metric_element_name(char out[METRIC_VECTOR_NAME_MAX + 16], const char *name, size_t i);

/* Does the name, whatever unit or mark stands behind it, mean what proton measures, or where that ran? What programs
 * give under such a name must not be taken for it. Flops and bytes are theirs to give. */
bool metric_is_measured(const char *name);

struct metric_table;
struct metric_table *metric_table_new(void); /* holds the built-in ones; NULL: no memory */
struct metric_table *metric_table_free(struct metric_table *t);
/* The id of the metric of this name, added as described when new; METRIC_NONE: no memory. "" is
 * "<unnamed>", here and in metric_table_find().
 * When it is known with another type: the known one wins, and the caller converts. In a session,
 * session_metric_add() is for that. */
uint32_t metric_table_add(struct metric_table *t, const struct metric *m);
/* Whole numbers become numbers with a fraction. Only for session_metric_add(), which converts what
 * is there. */
void metric_table_widen(struct metric_table *t, uint32_t id);
uint32_t metric_table_find(const struct metric_table *t, const char *name);
const struct metric *metric_table_get(const struct metric_table *t, uint32_t id);
uint32_t metric_table_count(const struct metric_table *t);
/* Guess how a metric behaves from its key in a file: its unit from "(ns)", exclusive for
 * "cpu_time (ns)" and names ending in "(exc)", property for "(pty)" and texts, else inclusive. */
void metric_guess(const char *name, enum metric_type type, struct metric *ret);

#endif
