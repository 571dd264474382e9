/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_DERIVE_IMPL_H
#define PROTON_CORE_DERIVE_IMPL_H
/* Within core/derive*.c: columns and what they are made of; each file uses those before it.
 *
 *     derive_columns.c ── raw metrics ──> derive_work.c ── work, its time ──> derive_roofline.c ──> derive.c: all others
 *
 * all: count what is not shown, too. Columns have a value a node, NaN: absent; those that are returned are d's, and NULL is
 * out of memory. What is malloc'd is the caller's.
 *   thread  one */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/derive.h"
#include "core/measured_work.h"

/* A column made so far; raw ones have factor 0. */
struct made {
	struct derived key;
	bool all; /* counts what is not shown, too */
	double *v;
};

struct derive {
	struct snapshot *snap;
	const struct peaks *peaks;
	const uint8_t *removed, *shown;
	enum totals totals;
	struct made *made;
	size_t n_made, cap_made;
	uint64_t generation;
	struct hists *hists; /* NULL: not asked for yet */
	bool hists_fresh, hists_all;
	struct measured_metrics measured;
	char why[160];
};

/* ---- derive_columns.c ---- */

bool derive_counts(const struct derive *d, uint32_t node, bool all);
/* Has any row values of the metric? */
bool derive_is_used(struct derive *d, uint32_t metric);
/* A raw metric, METRIC_ANY_FLOPS too. */
const double *derive_raw_of(struct derive *d, uint32_t metric, bool inclusive, bool all);
/* A column that was made before; NULL: there is none. */
double *derive_column_find(const struct derive *d, const struct derived *key, bool all);
/* A new one, all absent. */
double *derive_column_new(struct derive *d, const struct derived *key, bool all);
void derive_add_to_parents(const struct derive *d, double *v);
/* By node: does what is not counted part what a program says of it? *ret is malloc'd; NULL: nothing is.
 * 0 or -ENOMEM. */
int derive_find_parted(struct derive *d, bool all, uint8_t **ret);

/* ---- derive_work.c ---- */

/* May counters tell of the metric? */
bool derive_is_counted(struct derive *d, uint32_t metric);
/* By node, malloc'd: has it values of the metric, or what is above it (*ret_has NULL: nobody asks), or what is
 * around it in whatever group; does the profile itself say how much its work is; has it, or what is below it, time on a
 * device; is a value there. 0 or -ENOMEM, NULL: out of memory. */
int derive_find_worked(struct derive *d, uint32_t metric, bool all, bool **ret_has);
bool *derive_find_worked_anywhere(struct derive *d, uint32_t metric, bool all);
bool *derive_find_given(struct derive *d, uint32_t metric, bool all);
uint8_t *derive_find_timed(struct derive *d, bool all);
uint8_t *derive_mark_values(const struct derive *d, const double *v);

/* Fill a column with what DERIVED_MEASURED, DERIVED_WORK, DERIVED_WORK_TIME … say. 0 or -ENOMEM. */
int derive_make_measured(struct derive *d, const struct derived *m, bool all, double *v);
int derive_make_work(struct derive *d, const struct derived *m, bool all, double *v);
int derive_make_work_time(struct derive *d, const struct derived *m, bool all, double *v);
/* The column where work is the metric as it is; NULL: it is not. */
const double *derive_work_as_it_is(struct derive *d, const struct derived *m, bool all);

/* ---- derive_roofline.c ---- */

int derive_make_roofline(struct derive *d, const struct derived *m, bool all, double *v);

#endif
