/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_SENSORS_H
#define PROTON_CORE_SENSORS_H
/* What a device's own sensors said while a run lasted: clocks, power, heat, memory, the link to the
 * host, who else was there. Somebody looks again and again, and each look is added to the ones before
 * by the rules of this table; so are the sums of several profiles of one device.
 *
 * A number that is 0 was not told. Means are of the looks at which the device was working: a
 * clock that falls while there is nothing to do is no finding. */
#include <stdbool.h>
#include <stdint.h>
#include "base/buf.h"

#define SENSORS_NOTES "sensors " /* what is told of those who look begins so */

enum sensor_rule {
	SENSOR_SUM,
	SENSOR_LEAST,
	SENSOR_MOST,
	SENSOR_LATEST,
	SENSOR_MEAN, /* weighted by another number of the table */
};

/* In the order of the keys, which files have. The numbers cross the wire: never used again.
 *    id,                number, key,                     rule,   weight */
#define SENSORS(_)                                                                                 \
	_(CUT_CLOCK, 0, "clock_mhz_cut", MEAN, CUT)   /* mean while cut */                         \
	_(CLOCK_LIMIT, 1, "clock_mhz_limit", MOST, N) /* of the multiprocessors */                 \
	_(CLOCK_MAX, 2, "clock_mhz_max", MOST, N)                                                  \
	_(CLOCK_MEAN, 3, "clock_mhz_mean", MEAN, WORKING)                                          \
	_(CLOCK_MIN, 4, "clock_mhz_min", LEAST, N)                                                 \
	_(CLOCK, 5, "clock_mhz_now", LATEST, N)                                                    \
	_(CUT, 6, "cut", SUM, N)                      /* looks: slower than wanted */              \
	_(CUT_BRAKE, 7, "cut_by_brake", SUM, N)       /* the power brake */                        \
	_(CUT_HARDWARE, 8, "cut_by_hardware", SUM, N) /* it does not say why */                    \
	_(CUT_POWER, 9, "cut_by_power", SUM, N)       /* the limit of power */                     \
	_(CUT_HEAT, 10, "cut_by_heat", SUM, N)                                                     \
	_(ERRORS, 11, "errors", SUM, N) /* of memory, not corrected */                             \
	_(LOOKS, 12, "looks", SUM, N)                                                              \
	_(MEMORY_MAX, 13, "memory_bytes_max", MOST, N)                                             \
	_(MEMORY, 14, "memory_bytes_now", LATEST, N)                                               \
	_(MEMORY_TOTAL, 15, "memory_bytes_total", MOST, N)                                         \
	_(OTHERS, 16, "others", SUM, N)          /* looks: with others there */                    \
	_(OTHERS_MAX, 17, "others_max", MOST, N) /* processes not of this run */                   \
	_(PCIE_GENERATION, 18, "pcie_generation", MOST, N)                                         \
	_(PCIE_GENERATION_LIMIT, 19, "pcie_generation_limit", MOST, N)                             \
	_(PCIE_WIDTH, 20, "pcie_width", MOST, N) /* lanes */                                       \
	_(PCIE_WIDTH_LIMIT, 21, "pcie_width_limit", MOST, N)                                       \
	_(POWER_LIMIT, 22, "power_w_limit", MOST, N)                                               \
	_(POWER_MAX, 23, "power_w_max", MOST, N)                                                   \
	_(POWER_MEAN, 24, "power_w_mean", MEAN, WORKING)                                           \
	_(POWER, 25, "power_w_now", LATEST, N)                                                     \
	_(TEMPERATURE_MAX, 26, "temperature_c_max", MOST, N)                                       \
	_(TEMPERATURE, 27, "temperature_c_now", LATEST, N)                                         \
	_(WORKING, 28, "working", SUM, N) /* looks: it had work */

enum sensor {
#define _(id, number, ...) SENSOR_##id = number,
	SENSORS(_)
#undef _
		SENSOR_N = 29
};

struct sensors {
	double v[SENSOR_N];
};

/* Add later looks to earlier ones. Numbers that are negative, or beyond what any sensor tells, are not
 * taken. */
void sensors_add(struct sensors *sum, const struct sensors *more);
/* What was told last is no more how things are. */
void sensors_forget_now(struct sensors *s);

/* Why it was slowed: "heat, power limit"; nothing where it was not. */
void sensors_put_cuts(const struct sensors *s, struct buf *out);
/* The share of its work for which it was slowed, 0 to 1. NaN: nobody has seen it work. */
double sensors_cut_share(const struct sensors *s);

#endif
