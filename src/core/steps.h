/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_STEPS_H
#define PROTON_CORE_STEPS_H
/* How long the steps of a loop took, and with what spread.
 *
 *     step 0    step 1   step 2   step 3          first: 0; n: 3; slowest: 2
 *     ├────────┤├──────┤ ├───────┤├──────┤        the first one warms up: it is told by itself, and
 *                                                is in none of the other numbers
 *
 * and by whose names a loop is told from what only carries a number: steps count up, "layer 7" begins anew.
 *   thread  one adds at a time; others may read meanwhile, and may see a step in part
 *   errors  none: no memory is asked for */
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/hist.h"

/* Fewer than these, without the first, are no loop; of one that restarts more often than each so many it is not
 * known what it is. */
enum { STEPS_LEAST = 4, STEPS_A_RESTART = 8, STEPS_A_RESTART_UNNAMED = 100 };

struct steps {
	_Atomic uint64_t n;        /* without the first */
	_Atomic uint64_t first_ns; /* + 1; 0: there was none */
	_Atomic uint64_t sum_ns, min_ns, max_ns;
	_Atomic uint64_t slowest;          /* its number */
	_Atomic uint64_t n_restarts, last; /* last: number, + 1 */
	_Atomic uint64_t off_sum,
		off_squares;      /* doubles, by their bits: of what is off from min at the time */
	_Atomic uint64_t near_ns; /* what these are held against: the second step */
	_Atomic uint32_t bins[HIST_BINS];
};

struct steps_told {
	uint64_t n, first_ns, sum_ns, min_ns, max_ns, slowest, n_restarts;
	uint64_t median_ns, p95_ns, deviation_ns;
};

void steps_clear(struct steps *s);
void steps_add(struct steps *s, uint64_t number, uint64_t ns);
void steps_tell(const struct steps *s, struct steps_told *ret);

/* How sure a name is that of a step, by its words ("iter" before "batch", "epoch" last, for it holds steps); 0: it
 * does not say. From STEPS_RANK_ITERATION on it is called one in so many words. */
enum { STEPS_RANK_ITERATION = 3 };
unsigned steps_rank(const char *name, size_t len);
/* Of two loops that of the larger one is likelier to be what is asked for: words say more than a number does; epochs
 * hold steps. Never 0. */
unsigned steps_order(const char *name, size_t len);
/* Are so many steps, that began anew so often, a loop's? is_named: by a word, or by who asked. */
static inline bool steps_are_a_loop(uint64_t n, uint64_t n_restarts, bool is_named)
{
	return n >= STEPS_LEAST &&
	       n_restarts * (is_named ? STEPS_A_RESTART : STEPS_A_RESTART_UNNAMED) <= n;
}

#endif
