/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_DIFF_H
#define PROTON_CORE_DIFF_H
/* Two sides compared, path by path and metric by metric; each side is one run or several of the same
 * thing.
 *
 *   A: a1 a2 a3 ──┐ paths matched by the names on them     node: A  [min median max]
 *                 ├─────────────────────────────────>            B  [min median max]
 *   B: b1 b2 b3 ──┘ a value a node, metric and run               B - A, same or not
 *
 * Two values differ when the intervals from minimum to maximum of the two sides do not overlap (with
 * one run a side: when they are not equal), and by more than the noise. A path that one side does not have counts there as 0, so
 * what is new is positive and what is gone negative.
 *
 * Expressions and groups are applied to each run before it is compared: all values are of what is left.
 *
 * Instead of paths, kernels, copies and sets can be compared (core/flat.h), each with what it has in all
 * contexts: nodes below the root are one each, and have what is their own. Runs of different lengths
 * compare by the step: what adds up is divided by how often something was called in each.
 *   thread  one */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/column.h"
#include "core/filter.h"
#include "core/name_pattern.h"
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
};

/* One of the metrics that are compared. */
struct diff_metric {
	char *word; /* as it was asked for */
	/* As the first run says that has it; a derived one is called as asked for, and its unit, if
	 * any, is part of that. */
	char *name, *unit;
	struct column_spec column; /* for column_print() */
	/* The whole of each side: the root's value, or the sum over all nodes where the metric is
	 * exclusive and adds up. Of diff_compare(). */
	struct diff_value total;
	bool is_known;   /* a run has the metric, with values or without */
	bool is_refused; /* a run has it as a text or a property, or without this unit */
	bool has_values;
	bool exclusive;  /* a path has its own value only */
	bool differs;    /* it is inclusive in some runs and exclusive in others */
	bool is_divided; /* by how often `per` was called */
};

struct diff_options {
	/* Names of column.h, separated by commas; NULL: the first run's derive_time(). The first one
	 * decides the order. */
	const char *metrics;
	double noise;   /* of A: a change up to this share is none, 0..1 */
	bool exclusive; /* own values, not those of the nodes below too */
	/* Which paths count, as those of a report; NULL: all. */
	const struct selector *include, *exclude;
	const struct naming *naming; /* of names that expressions match; NULL: they are raw */
	enum group group;            /* what stands above the paths (core/regroup.h) */
	const struct peaks *peaks;   /* for util; may be NULL */
	bool flat; /* kernels, copies and sets instead of paths; without a group */
	const struct name_pattern *per; /* divide by how often this was called; NULL: by nothing */
};

/* What is known of a run beside its values. */
enum diff_fact {
	DIFF_TIME,  /* derive_time() of the whole, in nanoseconds */
	DIFF_LEFT,  /* of what expressions leave */
	DIFF_CALLS, /* how often `per` was entered or launched, whatever expressions leave */
	DIFF_N_FACTS
};
struct diff_run {
	double facts[DIFF_N_FACTS]; /* NaN: not known, or not asked for */
	bool is_empty;              /* expressions leave nothing of it … */
	uint8_t hint;               /* … and this may be why: enum filter_hint */
};

struct diff; /* opaque */

struct diff *diff_new(const struct diff_options *options); /* NULL: out of memory */
struct diff *diff_free(struct diff *d);
static inline void diff_freep(struct diff **d)
{
	*d = diff_free(*d);
}

/* One more run of a side; the session may be freed afterwards. Launch metadata is left out, paths
 * that occur twice are one. A run may lack metrics. 0, -EINVAL (one is a text or a property, or has
 * no such unit), -ENODATA (nothing in it is called as `per`, or that has no count) or -ENOMEM. */
int diff_add(struct diff *d, enum diff_side side, const struct session *s);

/* Compare what has been added. 0 or -ENOMEM. */
int diff_compare(struct diff *d);

/* After diff_compare(). Node 0 is the root; a parent's id is smaller than its children's. */
uint32_t diff_n(const struct diff *d);
const struct diff_node *diff_node(const struct diff *d, uint32_t id);
const char *diff_name(const struct diff *d, uint32_t id); /* raw */
const struct diff_value *diff_value(const struct diff *d, uint32_t id, size_t metric);
size_t diff_n_metrics(const struct diff *d); /* of those asked for, as the first run reads them */
const struct diff_metric *diff_metric(const struct diff *d, size_t i);
size_t diff_n_runs(const struct diff *d, enum diff_side side);
const struct diff_run *diff_run(const struct diff *d, enum diff_side side, size_t i);
/* What the runs of a side have of it; after diff_compare(). */
const struct diff_range *diff_fact(const struct diff *d, enum diff_side side, enum diff_fact fact);
/* Do expressions leave nothing of any run of a side? */
bool diff_is_empty(const struct diff *d, enum diff_side side);

/* Where the change of a node arises: in the node below that has most of it, with the node above that is
 * as new or gone as it, or there. Of values that do not add up along paths: always there. */
uint32_t diff_cause(const struct diff *d, uint32_t id, size_t metric);

/* Ids of all nodes but the root by |delta| of the first metric, largest first, equal ones as they came;
 * malloc'd. NULL: out of memory. */
uint32_t *diff_sorted(const struct diff *d);

#endif
