/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COUNTERS_COUNTING_H
#define PROTON_COUNTERS_COUNTING_H
/* What hardware counters of the devices say while a session runs (core/counted.h): a helper process
 * counts (counters/counter.h). Why there are none, or no more, is a note of the session.
 *   thread  one */
#include <stdbool.h>
#include <stdint.h>
#include "base/clock.h"
#include "core/session.h"
#include "launch/probe.h"

#define COUNTERS_USUAL_NS (10 * NSEC_PER_MSEC) /* between samples: of the helper 1.6 % of a core */

struct counting {
	struct probe_child child;  /* pid 0: it was not begun, or is over */
	struct probe told;         /* its lines so far */
	struct counter_page *page; /* NULL: nothing was begun */
	unsigned n_notes;          /* of its lines */
	bool is_over;              /* the run: no more is taken */
	bool has_counted;          /* times of a device of the session have come */
	uint64_t begun_ns, next_ns;
	uint64_t new_ns;         /* when times came last */
	uint64_t beats, beat_ns; /* and signs of life */
};

/* Start the helper. interval_ns: of the samples; dir: where it puts them for collectors (core/counted_samples.h).
 * counting_begin_known(): it samples the devices that the session has, and no others, for nobody but us. */
void counting_begin_known(struct counting *c, uint64_t interval_ns, struct session *s);
void counting_begin(struct counting *c, uint64_t interval_ns, const char *dir, struct session *s);
/* Wait until it counts, or has nothing to count, three seconds at most: opening a device takes one, and what runs meanwhile has no
 * counters. Whose driver takes longer begins late. */
void counting_await(struct counting *c, struct session *s);
/* Take what was counted into the session. True: there was something. Call it as often as you like. */
bool counting_update(struct counting *c, struct session *s);
/* Tell the helper to end, without waiting for it. */
void counting_stop(struct counting *c);
/* The same; wait until it has given the hardware back, and take the rest. What is left of it is a process that ends:
 * counting_done() takes that away. */
void counting_finish(struct counting *c, struct session *s);
void counting_done(struct counting *c);

#endif
