/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_GAPS_H
#define PROTON_CORE_GAPS_H
/* When a device had nothing to do, and what it waited for.
 *
 *   work    ├───────┤  ├──┤                 ├─────┤
 *                └──────────┤G             S├──┤             time ─>
 *   gap                     ├───────────────┤
 *   its parts               ├── late ─┬─────┤ launch         L: the call that launched what starts at S
 *                                     L
 *
 * A gap goes from the end of all work so far (G) to the start of the next (S), and is of the work that starts
 * there: who let the device wait is who launched that late. Work of several streams and threads comes in any
 * order, so a gap is none before all that started until its end has come: gaps_settle() says so. Until then
 * pieces of work wait, `max` of them at the most; the oldest of more than these have no gaps, which is counted.
 *   thread  one
 *   errors  none: the memory is the caller's */
#include <stdbool.h>
#include <stdint.h>

struct gaps_work {
	uint64_t start, end;
	uint64_t launched; /* when its call began; 0: not known */
	uint64_t who;      /* the caller's: whose a gap before it is */
	uint32_t thread;   /* that launched it */
	uint32_t graph;    /* that it is a node of, recorded by itself; 0: none */
	bool blocks;       /* the call that launched it returned when it was over */
};

/* Work without a gap in it. */
struct gaps_piece {
	uint64_t start, end;
	struct {
		uint64_t launched, who;
		uint32_t thread, graph;
	} first; /* that began it */
	struct {
		uint64_t launched;
		uint32_t thread, graph;
		bool blocks;
	} last; /* that ended it */
};

/* The parts of a gap. What is in none of them nobody knows. */
enum gap_part {
	GAP_LATE,   /* nothing was launched, for the host did something else */
	GAP_SYNC,   /* … for it had waited until the device was done */
	GAP_COPY,   /* … in a copy or set that does not return before it is over */
	GAP_LAUNCH, /* it was launched, as soon as it could start */
	GAP_QUEUED, /* it was launched before, and did not start: it waited for something else */
	GAP_GRAPH,  /* between nodes of one launch of a graph, which recording them may have made */
	GAP_N_PARTS
};

struct gap {
	uint64_t who, start, end;
	uint64_t parts[GAP_N_PARTS];
};

/* The host waited for a device. */
struct gaps_wait {
	uint64_t start, end;
	uint32_t thread;
};

/* The newest of these, by their end. */
struct gaps_waits {
	struct gaps_wait *v; /* room for max */
	uint32_t n, max;
	uint64_t floor; /* those that ended by then may be forgotten */
	uint64_t
		differ_ns; /* the clocks of host and device, at the most: one that ended before the gap by
			     * less than this may have ended in it */
};

struct gaps {
	struct gaps_piece *v; /* room for max */
	uint32_t n, max;
	bool has_frontier;
	struct gaps_piece frontier; /* all that was settled so far, as one */
	uint64_t least_ns; /* from a call to its work, of all so far; UINT64_MAX: not known */
	uint64_t n_lost;   /* gaps that there was no room for */
};

#define GAPS_CLOCKS_DIFFER_NS UINT64_C(20000) /* those of devices are known so well */

/* room: max of them; max >= 2. */
void gaps_waits_init(struct gaps_waits *w, struct gaps_wait *room, uint32_t max,
		     uint64_t differ_ns);
void gaps_waited(struct gaps_waits *w, const struct gaps_wait *wait);

/* room: max pieces; max >= 2. */
void gaps_init(struct gaps *g, struct gaps_piece *room, uint32_t max);
/* n of them, sorted by start, n <= max / 2. */
void gaps_add(struct gaps *g, const struct gaps_work *run, uint32_t n);
/* All work that started before `until` has come. waits: NULL: nobody looks who waits. charge() gets each gap that
 * is one now, in the order of time. */
void gaps_settle(struct gaps *g, uint64_t until, const struct gaps_waits *waits,
		 void (*charge)(void *user, const struct gap *gap), void *user);
/* Something ran, or may have, that nobody was told of: no gap is known before the next work but one. */
void gaps_forget(struct gaps *g);

#endif
