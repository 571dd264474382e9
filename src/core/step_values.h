/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_STEP_VALUES_H
#define PROTON_CORE_STEP_VALUES_H
/* What is told of a loop: the one list of it, by their metrics (metric.h). They are values of one node on one lane, in sets
 * of the collector, a list each, because a set has few places.
 *
 *     a loop ──> struct step_values ── slots of these sets (collect/steps.c) ──> rows ──> core/stepped.c */
#include <stdint.h>

/* clang-format off */
#define STEP_VALUES_TIMES(_)                                                                       \
	_(STEPS) _(STEP_TIME) _(STEP_MIN) _(STEP_MAX)                                              \
	_(STEP_SLOWEST) _(STEP_MEDIAN) _(STEP_P95) _(STEP_DEVIATION)
#define STEP_VALUES_MORE(_)                                                                        \
	_(STEP_FIRST) _(STEP_APART) _(STEP_WORKS) _(STEP_OTHERS)
#define STEP_VALUES_WORK(_)                                                                        \
	_(STEP_KNOWN) _(STEP_BUSY) _(STEP_BUSY_MEDIAN) _(STEP_BUSY_MAX)                            \
	_(STEP_IDLE) _(STEP_IDLE_MEDIAN) _(STEP_IDLE_MAX)
#define STEP_VALUES_SLOWEST(_)                                                                     \
	_(STEP_BUSY_AT) _(STEP_BUSY_SLOWEST)
#define STEP_VALUES_CAUSES(_)                                                                      \
	_(STEP_LATE) _(STEP_LATE_AT) _(STEP_LATE_MAX) _(STEP_LATE_BUSY)                            \
	_(STEP_MORE) _(STEP_MORE_AT) _(STEP_MORE_MAX) _(STEP_MORE_BUSY)
#define STEP_VALUES_HELD(_)                                                                        \
	_(STEP_HELD_KNOWN) _(STEP_HELD) _(STEP_HELD_MAX) _(STEP_HELD_GROWTH)
#define STEP_VALUES_COPIES(_)                                                                      \
	_(STEP_COPIES_KNOWN) _(STEP_TO_DEVICE) _(STEP_TO_HOST) _(STEP_WITHIN)                      \
	_(STEP_TO_DEVICE_MAX) _(STEP_TO_HOST_MAX) _(STEP_WITHIN_MAX)
#define STEP_VALUES_GROWTH(_)                                                                      \
	_(STEP_TO_DEVICE_GROWTH) _(STEP_TO_HOST_GROWTH) _(STEP_WITHIN_GROWTH)
/* The sets, in this order of their numbers. */
#define STEP_SETS(_)                                                                               \
	_(TIMES) _(MORE) _(WORK) _(SLOWEST) _(CAUSES) _(HELD) _(COPIES) _(GROWTH)
/* clang-format on */

enum step_value {
#define _(metric) STEP_VALUE_##metric,
	STEP_VALUES_TIMES(_) STEP_VALUES_MORE(_) STEP_VALUES_WORK(_) STEP_VALUES_SLOWEST(_)
		STEP_VALUES_CAUSES(_) STEP_VALUES_HELD(_) STEP_VALUES_COPIES(_)
			STEP_VALUES_GROWTH(_)
#undef _
				STEP_N_VALUES
};

/* How many each set has. */
#define STEP_ONE(metric) +1
enum {
#define _(set) STEP_N_##set = 0 STEP_VALUES_##set(STEP_ONE),
	STEP_SETS(_)
#undef _
};
#undef STEP_ONE

enum step_set {
#define _(set) STEP_SET_##set,
	STEP_SETS(_)
#undef _
		STEP_N_SETS
};

struct step_values {
	uint64_t v[STEP_N_VALUES];
};

#endif
