/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
/* Work of a node and the time that it took, which rates divide: what the profile itself says, and what was counted. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "base/util.h"
#include "core/derive_impl.h"

/* A value is of what is below its node, too: a program gives its operations to a scope, and kernels
 * within have the time. *ret_has: by node, NULL for Triton's viewer, which takes all time there is. */
int derive_find_worked(struct derive *d, uint32_t metric, bool all, bool **ret_has)
{
	const uint32_t *parents = snapshot_parents(d->snap);
	uint32_t n = snapshot_n(d->snap);
	const double *of;

	if (d->totals == TOTALS_UPSTREAM)
		return 0;
	*ret_has = calloc(MAX(n, 1u), sizeof(**ret_has));
	if (!*ret_has)
		return -ENOMEM;
	if (!derive_is_used(d, metric))
		return 0;
	of = derive_raw_of(d, metric, false, all);
	if (!of)
		return -ENOMEM;
	for (uint32_t id = 0; id < n; id++)
		(*ret_has)[id] = !isnan(of[id]) || (id && (*ret_has)[parents[id]]);
	return 0;
}

/* Below groups, the work that a scope's number is of may be in other branches than the scope. A group has a
 * rate of what it has of both; for the root, which has all, they are found as without groups. Does that
 * make a difference? Not where what has the number has the time, too, as copies. */
static bool is_scattered(struct derive *d, const double *of, const double *time)
{
	uint32_t n = snapshot_n(d->snap), id = 0;

	if (snapshot_group(d->snap) == GROUP_NONE || d->totals == TOTALS_UPSTREAM)
		return false;
	while (id < n && (isnan(of[id]) || !isnan(time[id])))
		id++;
	return id < n;
}

/* By node: has it a value, wherever it is? malloc'd; NULL: out of memory. */
uint8_t *derive_mark_values(const struct derive *d, const double *v)
{
	uint32_t n = snapshot_n(d->snap);
	uint8_t *marks = malloc(MAX(n, 1u));

	for (uint32_t id = 0; marks && id < n; id++)
		marks[id] = !isnan(v[id]);
	return marks;
}

/* Has it, or what is around it in whatever group, values of the metric? malloc'd. */
bool *derive_find_worked_anywhere(struct derive *d, uint32_t metric, bool all)
{
	const double *of = derive_is_used(d, metric) ? derive_raw_of(d, metric, false, all) : NULL;
	_cleanup_(freep) uint8_t *marks = of ? derive_mark_values(d, of) : NULL;
	uint32_t n = snapshot_n(d->snap);
	bool *has = calloc(MAX(n, 1u), sizeof(*has));

	if (has && marks && snapshot_mark_below(d->snap, marks) < 0) {
		free(has);
		return NULL;
	}
	for (uint32_t i = 0; has && marks && i < n; i++)
		has[i] = marks[i];
	return has;
}

/* ---- what hardware counters say ---- */

/* May counters tell of the metric? Triton's viewer knows nothing of them. */
bool derive_is_counted(struct derive *d, uint32_t metric)
{
	if (d->totals == TOTALS_UPSTREAM ||
	    (metric != METRIC_BYTES && metric != METRIC_ANY_FLOPS && metric != METRIC_FLOPS &&
	     !(metric >= METRIC_FLOPS8 && metric <= METRIC_FLOPS64)))
		return false;
	return measured_metrics_update(&d->measured, snapshot_session(d->snap)) == 0 &&
	       d->measured.time != METRIC_NONE && snapshot_has(d->snap, d->measured.time);
}

/* By node: does the profile itself say how much its work is? Who gives operations of one width gives all.
 * malloc'd. */
bool *derive_find_given(struct derive *d, uint32_t metric, bool all)
{
	return derive_find_worked_anywhere(
		d, metric == METRIC_BYTES ? METRIC_BYTES : METRIC_ANY_FLOPS, all);
}

/* Of DERIVED_MEASURED what was counted, of DERIVED_MEASURED_TIME how long what has that ran. */
int derive_make_measured(struct derive *d, const struct derived *m, bool all, double *v)
{
	const struct session *s = snapshot_session(d->snap);
	_cleanup_(freep) bool *given = derive_find_given(d, m->metric, all);
	uint32_t n = snapshot_n(d->snap);
	struct measured_work work;

	if (!given)
		return -ENOMEM;
	for (size_t row = 0; row < s->n_rows; row++) {
		uint32_t node = snapshot_row_node(d->snap, row);

		if (node >= n || snapshot_node(d->snap, node)->hidden ||
		    !derive_counts(d, node, all) || given[node] ||
		    !measured_work_of(&d->measured, s, &s->rows[row], &work))
			continue;
		if (!isnan(measured_amount(&work, m->metric)))
			add_present(&v[node], m->op == DERIVED_MEASURED
						      ? measured_amount(&work, m->metric)
						      : work.time_ns);
	}
	if (m->inclusive)
		derive_add_to_parents(d, v);
	return 0;
}

static const double *measured_column(struct derive *d, enum derived_op op, const struct derived *m,
				     bool all)
{
	const struct derived key = {
		.op = (uint8_t)op, .inclusive = m->inclusive, .metric = m->metric, .factor = 1};
	double *v = derive_column_find(d, &key, all);

	if (v)
		return v;
	v = derive_column_new(d, &key, all);
	return v && derive_make_measured(d, &key, all, v) == 0 ? v : NULL;
}

/* To what the profile itself says. */
static int add_measured(struct derive *d, enum derived_op op, const struct derived *m, bool all,
			double *v)
{
	const double *measured;

	if (!derive_is_counted(d, m->metric))
		return 0;
	measured = measured_column(d, op, m, all);
	for (uint32_t id = 0; measured && id < snapshot_n(d->snap); id++)
		add_present(&v[id], measured[id]);
	return measured ? 0 : -ENOMEM;
}

/* ---- rates ---- */

static double sum_marked(const struct derive *d, const double *v, const uint8_t *marks)
{
	double sum = NAN;

	for (uint32_t id = 0; id < snapshot_n(d->snap); id++)
		if (marks[id])
			add_present(&sum, v[id]);
	return sum;
}

/* By node: has it, or what is below it in whatever group, time on a device? malloc'd. */
uint8_t *derive_find_timed(struct derive *d, bool all)
{
	const double *time = derive_raw_of(d, METRIC_TIME, false, all);
	_cleanup_(freep) uint8_t *above = time ? derive_mark_values(d, time) : NULL;
	uint8_t *timed = time ? derive_mark_values(d, time) : NULL;

	if (!above || !timed || snapshot_mark_above(d->snap, above) < 0) {
		free(timed);
		return NULL;
	}
	for (uint32_t id = 0; id < snapshot_n(d->snap); id++)
		timed[id] |= above[id];
	return timed;
}

/* All time of what has values of the metric, in whatever group they are. */
static int find_root_time(struct derive *d, const double *of, const double *time, double *v)
{
	_cleanup_(freep) uint8_t *marks = NULL;

	if (!is_scattered(d, of, time))
		return 0;
	marks = derive_mark_values(d, of);
	if (!marks || snapshot_mark_below(d->snap, marks) < 0)
		return -ENOMEM;
	v[0] = sum_marked(d, time, marks);
	return 0;
}

/* All values of what has time, it or what is below it, in whatever group that is. */
static int find_root_work(struct derive *d, const double *of, const double *time, bool all,
			  double *v)
{
	_cleanup_(freep) uint8_t *timed = NULL;

	if (!time || !is_scattered(d, of, time))
		return 0;
	timed = derive_find_timed(d, all);
	if (!timed)
		return -ENOMEM;
	v[0] = sum_marked(d, of, timed);
	return 0;
}

int derive_make_work_time(struct derive *d, const struct derived *m, bool all, double *v)
{
	const double *time = derive_raw_of(d, METRIC_TIME, false, all), *of;
	_cleanup_(freep) bool *has = NULL;

	if (!time || derive_find_worked(d, m->metric, all, &has) < 0)
		return -ENOMEM;
	for (uint32_t id = 0; id < snapshot_n(d->snap); id++)
		if (!has || has[id])
			v[id] = time[id];
	if (m->inclusive) {
		derive_add_to_parents(d, v);
		of = has && derive_is_used(d, m->metric) ? derive_raw_of(d, m->metric, false, all)
							 : NULL;
		if (of && find_root_time(d, of, time, v) < 0)
			return -ENOMEM;
	}
	return add_measured(d, DERIVED_MEASURED_TIME, m, all, v);
}

/* By node: has neither it nor anything below it time on a device? NULL: out of memory, or all that have
 * values of the metric have time. Triton's viewer does not ask. */
static const double *time_where_some_has_none(struct derive *d, const double *of, bool all)
{
	const double *time =
		d->totals == TOTALS_UPSTREAM ? NULL : derive_raw_of(d, METRIC_TIME, true, all);
	uint32_t n = snapshot_n(d->snap), id = 0;

	while (time && id < n && !(isnan(time[id]) && !isnan(of[id])))
		id++;
	return id < n ? time : NULL;
}

int derive_make_work(struct derive *d, const struct derived *m, bool all, double *v)
{
	const double *of = derive_raw_of(d, m->metric, false, all), *time;

	if (!of)
		return -ENOMEM;
	time = time_where_some_has_none(d, of, all);
	for (uint32_t id = 0; id < snapshot_n(d->snap); id++)
		if (!time || !isnan(time[id]))
			v[id] = of[id];
	if (m->inclusive) {
		derive_add_to_parents(d, v);
		if (find_root_work(d, of, derive_raw_of(d, METRIC_TIME, false, all), all, v) < 0)
			return -ENOMEM;
	}
	return add_measured(d, DERIVED_MEASURED, m, all, v);
}

/* Nearly always that is the metric as it is. */
const double *derive_work_as_it_is(struct derive *d, const struct derived *m, bool all)
{
	const double *of = derive_raw_of(d, m->metric, false, all);

	return of && !derive_is_counted(d, m->metric) && !time_where_some_has_none(d, of, all)
		       ? derive_raw_of(d, m->metric, m->inclusive, all)
		       : NULL;
}
