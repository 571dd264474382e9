/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_HOST_H
#define PROTON_CORE_HOST_H
/* What the host does: scopes and waits by name, each with the contexts of one frame.
 *
 *     step 10 { load 3, step 4 }    step: own 3 + 4 (less load, less the inner step), whole 10
 *
 * Whole time counts what is nested in itself once. It is as it was measured, from the beginning to the
 * end, also where nested contexts do not count: so is how often it was entered, and a mean needs both to be
 * of the same. What the tree has, without the time of contexts that do not count, is what is left of it.
 *   thread  one */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/column.h"
#include "core/numbers.h"

struct host_row {
	uint32_t node; /* one of its contexts; SNAP_NONE: there is none */
	double own;    /* nanoseconds on the host, without what is nested and measured, too */
	double whole;  /* with it, as measured; what is nested in itself counts once */
	double left;   /* of `whole`: without what is nested and does not count */
	double count;  /* NaN: absent */
	double on_cpu; /* of `own`, nanoseconds on a processor; NaN: absent */
};

/* What is above its tables. */
#define HOST_BY_OWN  "Scopes by their own time on the host; TIME, AVG: with what is within"
#define HOST_BY_TIME "Scopes by time on the host, with what is within"
#define HOST_BY_LEFT "Scopes by what the filter leaves of their time; TIME, AVG: as measured"

/* All zero at first. */
struct host {
	struct host_row *rows; /* by frame (numbers_functions()) */
	uint32_t n;
	size_t cap;
	uint32_t *open; /* scratch, by frame: contexts of it around the node that is looked at */
	size_t cap_open;
};

/* The contexts that count in `kept`; their own time is that in `all`, of the same snapshot. 0 or
 * -ENOMEM (there are no rows then). */
int host_update(struct host *h, struct numbers *kept, struct numbers *all);
void host_done(struct host *h);

/* Elapsed time of the nodes, and how often each was entered; NULL: no memory. */
const double *host_elapsed(struct snapshot *snap);
const double *host_entered(struct snapshot *snap);

/* Has every scope that was entered its time? Not while it is open, nor when it was open at the end of
 * what is known: then its time is missing, and that of the scopes within is there. Own time means
 * nothing then. */
bool host_has_all_times(const struct session *s);
/* Has it recorded any wait for a device? */
bool host_has_wait(const struct session *s);

#endif
