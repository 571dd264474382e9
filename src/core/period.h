/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_PERIOD_H
#define PROTON_CORE_PERIOD_H
/* Whether what runs on a stream repeats: operations as symbols, in the order in which they ran.
 *
 *     … b  A c b b  A c b b  A c b b  A c b b  A c b b  x  A c b b …
 *          ├────────┤├───────┤├───────┤ …                              A: the rarest symbol that comes again and again
 *
 * What stands from one A to the next is a step, once it was the same PERIOD_REPEATS times. From then on each
 * operation is held against it: one that does not fit ends the step, which is not counted, and the next A begins
 * another one. Steps of which too many do not fit are none. What does not fit again and again after as many operations
 * is the end of something larger (the layers of one step): that is looked for then, and where it is too long to be
 * seen, nothing is known.
 *   thread  one
 *   errors  none: the memory is the caller's */
#include <stdbool.h>
#include <stdint.h>

enum {
	PERIOD_SEEN = 1 << 15, /* operations that are looked through */
	PERIOD_REPEATS = 5,    /* beside the first */
	PERIOD_LONGEST = PERIOD_SEEN / (PERIOD_REPEATS + 2),
	PERIOD_SYMBOLS = 1 << 12, /* places of a hash table */
};

struct period_symbol {
	uint32_t what; /* + 1; 0: free */
	uint32_t n, last, first;
};

struct period {
	uint32_t seen[PERIOD_SEEN];
	uint32_t n_seen, n_until_look, n_looks;
	struct period_symbol symbols[PERIOD_SYMBOLS];
	uint32_t step[PERIOD_LONGEST];
	uint32_t length;            /* of it; 0: none was found */
	uint32_t at;                /* the next operation's place in it */
	bool is_lost;               /* what came did not fit: A is waited for */
	uint64_t start_ns;          /* of the step that runs */
	uint32_t least;             /* what is shorter is none */
	uint64_t n_steps, n_others; /* of what was found */
	uint64_t n,
		broken_at[4]; /* operations; at which of them it did not fit, the newest first */
	uint32_t n_broken;
};

enum period_news {
	PERIOD_NOTHING = 0,
	PERIOD_FOUND, /* from now on steps are told */
	PERIOD_STEP,  /* one is over: from *ret_start_ns to this operation's start */
	PERIOD_OVER,  /* what was told were no steps */
};

/* p is zeroed at first. */
enum period_news period_add(struct period *p, uint32_t what, uint64_t start_ns,
			    uint64_t *ret_start_ns);
/* Operations are missing. */
void period_break(struct period *p);

#endif
