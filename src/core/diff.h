/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_DIFF_H
#define PROTON_CORE_DIFF_H
/* Two sides compared, path by path; each side is one run or several of the same thing.
 *
 *   A: a1 a2 a3 ──┐ paths matched by the names on them     node: A  [min median max]
 *                 ├─────────────────────────────────>            B  [min median max]
 *   B: b1 b2 b3 ──┘ one value a node and run                     B - A, same or not
 *
 * Two values differ when the intervals from minimum to maximum of the two sides do not overlap (with
 * one run a side: when they are not equal), and by more than the noise. A path that one side does not have counts there as 0, so
 * what is new is positive and what is gone negative.
 *   thread  one */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/column.h"
#include "core/peaks.h"
#include "core/session.h"
#include "core/snapshot.h"

#define DIFF_NONE UINT32_MAX

enum diff_side { DIFF_A = 0, DIFF_B = 1, DIFF_N_SIDES };

enum diff_status {
	DIFF_SAME = 0, /* or within the noise */
	DIFF_CHANGED,
	DIFF_NEW,  /* only B has it */
	DIFF_GONE, /* only A has it */
	DIFF_N_STATUS
};
const char *diff_status_word(enum diff_status status); /* "same" … */

struct diff_range {
	uint32_t n; /* runs of the side that have a value; 0: the rest is NaN */
	double min, median, max;
};

struct diff_value {
	struct diff_range side[DIFF_N_SIDES];
	double delta;   /* median of B - median of A; NaN: neither has a value */
	double ratio;   /* delta / median of A; infinite from 0 or nothing; NaN: no delta */
	uint8_t status; /* enum diff_status */
	bool overlaps; /* the sides' intervals do: with the spread of the runs there is no telling */
};

struct diff_node {
	uint32_t parent, first_child, last_child,
		next_sibling; /* DIFF_NONE ends; A's order, then B's */
	uint32_t name;        /* string id, raw */
	uint16_t depth;       /* saturates */
	uint8_t kind;         /* enum frame_kind, of the run that had it first */
	struct diff_value value;
};

struct diff_options {
	const char *metric;        /* any name of column.h; NULL: the first run's derive_time() */
	double noise;              /* of A: a change up to this share is none, 0..1 */
	bool exclusive;            /* own values, not those of the nodes below too */
	const struct peaks *peaks; /* for util; may be NULL */
};

struct diff; /* opaque */

struct diff *diff_new(const struct diff_options *options); /* NULL: out of memory */
struct diff *diff_free(struct diff *d);
static inline void diff_freep(struct diff **d)
{
	*d = diff_free(*d);
}

/* One more run of a side; the session may be freed afterwards. Launch metadata is left out, paths
 * that occur twice are one. A run may lack the metric. 0, -EINVAL (it is a text or a property, or has
 * no such unit) or -ENOMEM. */
int diff_add(struct diff *d, enum diff_side side, const struct session *s);

/* Compare what has been added. 0 or -ENOMEM. */
int diff_compare(struct diff *d);

/* After diff_compare(). Node 0 is the root; a parent's id is smaller than its children's. */
uint32_t diff_n(const struct diff *d);
const struct diff_node *diff_node(const struct diff *d, uint32_t id);
const char *diff_name(const struct diff *d, uint32_t id); /* raw */
/* The whole of each side: the root's value, or the sum over all nodes where what is compared is
 * exclusive and adds up. */
const struct diff_value *diff_total(const struct diff *d);
/* Name and unit of the metric: as the first run that has it says; a derived one is called as asked
 * for, and its unit, if any, is part of that. */
const char *diff_metric(const struct diff *d);
const char *diff_unit(const struct diff *d);
const struct column_spec *diff_column(const struct diff *d); /* for column_print() */
bool diff_is_exclusive(const struct diff *d);                /* a path has its own value only */
bool diff_differs(const struct diff *d); /* it is inclusive in some runs and exclusive in others */
bool diff_has_values(const struct diff *d);
size_t diff_n_runs(const struct diff *d, enum diff_side side);

/* Does the change of a node arise there? Not where one node below has most of it, nor below a node that
 * is as new or gone as it. Of values that do not add up along paths: always. */
bool diff_is_cause(const struct diff *d, uint32_t id);

/* Ids of all nodes but the root by |delta|, largest first, equal ones as they came; malloc'd.
 * NULL: out of memory. */
uint32_t *diff_sorted(const struct diff *d);

#endif
