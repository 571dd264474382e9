/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_STEP_TREND_H
#define PROTON_CORE_STEP_TREND_H
/* A number that each step of a loop has, such as what is held at its end: how much, and does it grow from step to step?
 *
 *     bytes           ┌─┐ ┌─┐ ┌─┐         What counts is the least of each quarter of the steps, but for the first, in
 *               ┌─┐ ┌─┘ └─┘ └─┘ └─        which caches fill: where it is more in the third and in the fourth, and about
 *       ┌─┐ ┌─┐─┘ └─┘                     as much more each time, the number grows.
 *       │ └─┘ └─
 *       ┤   1   │   2   │   3   │   4
 *
 *   thread  one
 *   errors  none: no memory is asked for */
#include <stdint.h>

/* Of fewer steps nobody knows whether they grow. */
enum { STEP_TREND_PARTS = 64, STEP_TREND_LEAST = 8 };

struct step_trend {
	uint64_t n, sum, max;
	uint64_t least[STEP_TREND_PARTS];  /* of `stride` steps each */
	uint64_t begins[STEP_TREND_PARTS]; /* … with the how manieth of the loop */
	uint64_t stride, n_within; /* of the newest part, which is not whole where that is less */
	unsigned n_parts;          /* begun */
};

void step_trend_clear(struct step_trend *t);
/* nth: which step of the loop, ever more; of those between nothing is known. */
void step_trend_add(struct step_trend *t, uint64_t nth, uint64_t value);
/* How much more it is with each step, over the last three quarters of them; 0: it does not grow. */
uint64_t step_trend_growth(const struct step_trend *t);

#endif
