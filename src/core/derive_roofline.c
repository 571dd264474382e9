/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
/* util and bound: how near work is to what its device could do at most. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/util.h"
#include "core/derive_impl.h"

/* By node: seconds that its work would take at the peak rate of each kind (NaN: no such work), and those
 * that what has such work took: as rates divide, so that a rate by its peak is the share that is told. */
struct roofs {
	double *compute, *memory, *computing, *moving;
	double *given, *counted;               /* seconds of what has either, by who says it */
	const bool *has_flops, *has_bytes;     /* NULL: all time is of both, in Triton's viewer */
	const bool *given_flops, *given_bytes; /* NULL: nothing was counted */
	const uint8_t *time_alone;             /* what else it has does not count */
	bool *on_device;
	bool for_root; /* all is added to the first */
};

enum { ROOFS_COLUMNS = 6 };

static void say_why(struct derive *d, uint32_t device, const char *what)
{
	const struct session *s = snapshot_session(d->snap);
	const struct session_device *dev;

	if (*d->why)
		return;
	if (device >= s->n_devices) {
		snprintf(d->why, sizeof(d->why), "%s are not of a known device", what);
		return;
	}
	dev = &s->devices[device];
	snprintf(d->why, sizeof(d->why),
		 "no peak for %s of %.40s %.40s is known (--peaks gives one)", what,
		 strtab_str(s->strings, dev->type), strtab_str(s->strings, dev->arch));
}

/* Add one value of a row to the time at the roof that it counts for. */
static void roof_value(struct derive *d, struct roofs *r, uint32_t node, uint32_t device,
		       uint32_t metric, double value)
{
	const struct session *s = snapshot_session(d->snap);
	uint32_t at = r->for_root ? 0 : node;
	double peak, *to = metric == METRIC_BYTES ? &r->memory[at] : &r->compute[at];

	if (metric == METRIC_TIME) {
		bool computes = !r->has_flops || r->has_flops[node];
		bool moves = !r->has_bytes || r->has_bytes[node];

		if (computes)
			add_present(&r->computing[at], value * 1e-9);
		if (moves)
			add_present(&r->moving[at], value * 1e-9);
		if (computes || moves)
			add_present(&r->given[at], value * 1e-9);
		return;
	}
	if (!d->peaks || value == 0)
		peak = value == 0 ? 1 : NAN;
	else if (metric == METRIC_BYTES)
		peak = peaks_bandwidth(d->peaks, s, device);
	else
		peak = peaks_flops(d->peaks, s, device, metric - METRIC_FLOPS8);
	if (isnan(peak)) {
		say_why(d, device, metric == METRIC_BYTES ? "bytes" : "operations");
		return;
	}
	add_present(to, value / peak);
}

static uint32_t row_device(const struct session *s, const struct session_row *row)
{
	uint32_t device = session_lane_at(s, row->lane)->device;

	/* Metrics that a program gave name no device. If there is only one, take that. */
	return device == SESSION_NONE && s->n_devices == 1 ? 0 : device;
}

/* Of operations that were counted it is known who did them, and so what could be done at most. */
static void roof_counted(struct derive *d, double *to, uint32_t device,
			 const struct measured_work *work)
{
	double s =
		d->peaks ? measured_compute_time(work, d->peaks, snapshot_session(d->snap), device)
			 : NAN;

	if (isnan(s))
		say_why(d, device, "operations");
	else
		add_present(to, s);
}

/* What was counted of kernels of which nobody else says how much they do. */
static void roof_measured(struct derive *d, struct roofs *r, uint32_t node,
			  const struct session_row *row)
{
	const struct session *s = snapshot_session(d->snap);
	uint32_t at = r->for_root ? 0 : node, device = row_device(s, row);
	struct measured_work work;
	bool computes, moves;

	if (!r->given_flops || !measured_work_of(&d->measured, s, row, &work))
		return;
	computes = !r->given_flops[node] && !isnan(measured_amount(&work, METRIC_ANY_FLOPS));
	moves = !r->given_bytes[node] && !isnan(measured_amount(&work, METRIC_BYTES));
	if (computes) {
		roof_counted(d, &r->compute[at], device, &work);
		add_present(&r->computing[at], work.time_ns * 1e-9);
	}
	if (moves) {
		roof_value(d, r, node, device, METRIC_BYTES, work.bytes);
		add_present(&r->moving[at], work.time_ns * 1e-9);
	}
	if (computes || moves)
		add_present(&r->counted[at], work.time_ns * 1e-9);
}

static void roof_row(struct derive *d, struct roofs *r, uint32_t node,
		     const struct session_row *row)
{
	const struct session *s = snapshot_session(d->snap);
	const struct session_set *set = &s->sets[row->set];
	bool on_device = session_lane_at(s, row->lane)->device != SESSION_NONE;

	r->on_device[node] |= on_device;
	roof_measured(d, r, node, row);
	for (uint32_t i = 0; i < set->n; i++) {
		uint32_t metric = set->metrics[i];

		if (!s->present[row->values + i] ||
		    (metric != METRIC_TIME && metric != METRIC_BYTES &&
		     (metric < METRIC_FLOPS8 || metric > METRIC_FLOPS64)))
			continue;
		if (r->time_alone[node] && metric != METRIC_TIME)
			continue;
		roof_value(d, r, node, row_device(s, row), metric,
			   metric_number(metric_table_get(s->metrics, metric),
					 s->values[row->values + i]));
	}
}

static void roofs_roll_up(const struct derive *d, struct roofs *r)
{
	const uint32_t *parents = snapshot_parents(d->snap);

	derive_add_to_parents(d, r->compute);
	derive_add_to_parents(d, r->memory);
	derive_add_to_parents(d, r->computing);
	derive_add_to_parents(d, r->moving);
	derive_add_to_parents(d, r->given);
	derive_add_to_parents(d, r->counted);
	for (uint32_t id = snapshot_n(d->snap); id-- > 1;)
		r->on_device[parents[id]] |= r->on_device[id];
}

double derive_source(double given, double counted)
{
	if (isnan(given))
		return isnan(counted) ? NAN : WORK_COUNTED;
	return isnan(counted) ? WORK_GIVEN : WORK_OF_BOTH;
}

double derive_roofline(enum derived_op op, double compute, double memory)
{
	double util = fmax(compute, memory);

	if (op == DERIVED_UTIL || isnan(util))
		return util;
	if (util < BOUND_AT_LEAST)
		return BOUND_NEITHER;
	return isnan(memory) || compute >= memory ? BOUND_COMPUTE : BOUND_MEMORY;
}

static double roofs_value(const struct roofs *r, enum derived_op op, uint32_t node)
{
	switch (op) {
	case DERIVED_AT_COMPUTE:
		return r->compute[node];
	case DERIVED_COMPUTING:
		return r->computing[node];
	case DERIVED_AT_MEMORY:
		return r->memory[node];
	case DERIVED_MOVING:
		return r->moving[node];
	case DERIVED_GIVEN:
		return r->given[node];
	case DERIVED_COUNTED:
		return r->counted[node];
	case DERIVED_SOURCE:
		return derive_source(r->given[node], r->counted[node]);
	default:
		return derive_roofline(op, r->compute[node] / r->computing[node],
				       r->memory[node] / r->moving[node]);
	}
}

static void roofs_result(const struct derive *d, const struct derived *m, const struct roofs *r,
			 double *v)
{
	for (uint32_t i = 0; i < snapshot_n(d->snap); i++) {
		if (r->on_device[i])
			v[i] = roofs_value(r, m->op, i);
	}
}

static void roof_rows(struct derive *d, struct roofs *r, bool all)
{
	const struct session *s = snapshot_session(d->snap);
	uint32_t n = snapshot_n(d->snap);

	for (size_t row = 0; row < s->n_rows; row++) {
		uint32_t node = snapshot_row_node(d->snap, row);

		if (node < n && !snapshot_node(d->snap, node)->hidden &&
		    derive_counts(d, node, all))
			roof_row(d, r, node, &s->rows[row]);
	}
}

/* By node: is what a program says of it parted, or is there no time to divide it by (timed; NULL: nobody
 * asks)? malloc'd. */
static uint8_t *find_time_alone(struct derive *d, const uint8_t *timed, bool all)
{
	_cleanup_(freep) uint8_t *parted = NULL;
	const uint8_t *also = snapshot_parted(d->snap);
	uint32_t n = snapshot_n(d->snap);
	uint8_t *alone = calloc(MAX(n, 1u), 1);

	if (!alone || derive_find_parted(d, all, &parted) < 0) {
		free(alone);
		return NULL;
	}
	for (uint32_t i = 0; i < n; i++)
		alone[i] = (parted && parted[i]) || (also && also[i]) || (timed && !timed[i]);
	return alone;
}

/* As without groups: find_root_work(), find_root_time() of derive_work.c. */
static int root_roofline(struct derive *d, bool all, struct roofs *of)
{
	_cleanup_(freep) bool *has_flops = NULL, *has_bytes = NULL;
	_cleanup_(freep) uint8_t *alone = NULL, *timed = derive_find_timed(d, all);
	struct roofs r = *of;

	has_flops = derive_find_worked_anywhere(d, METRIC_ANY_FLOPS, all);
	has_bytes = derive_find_worked_anywhere(d, METRIC_BYTES, all);
	alone = timed ? find_time_alone(d, timed, all) : NULL;
	if (!has_flops || !has_bytes || !alone)
		return -ENOMEM;
	for (unsigned i = 0; i < ROOFS_COLUMNS; i++) /* they are one after another */
		r.compute[i * snapshot_n(d->snap)] = NAN;
	r.has_flops = has_flops;
	r.has_bytes = has_bytes;
	r.time_alone = alone;
	r.for_root = true;
	roof_rows(d, &r, all);
	return 0;
}

int derive_make_roofline(struct derive *d, const struct derived *m, bool all, double *v)
{
	uint32_t n = snapshot_n(d->snap), i;
	_cleanup_(freep) double *numbers = malloc(MAX(n, 1u) * ROOFS_COLUMNS * sizeof(*numbers));
	_cleanup_(freep) bool *flags = calloc(MAX(n, 1u), sizeof(*flags));
	_cleanup_(freep) bool *has_flops = NULL, *has_bytes = NULL;
	_cleanup_(freep) bool *given_flops = NULL, *given_bytes = NULL;
	_cleanup_(freep) uint8_t *timed = NULL, *alone = NULL;
	const double *time =
		d->totals == TOTALS_UPSTREAM ? NULL : derive_raw_of(d, METRIC_TIME, true, all);
	struct roofs r;

	timed = time ? derive_mark_values(d, time) : NULL;
	alone = time && !timed ? NULL : find_time_alone(d, timed, all);
	if (!numbers || !flags || !alone)
		return -ENOMEM;
	for (i = 0; i < ROOFS_COLUMNS * n; i++)
		numbers[i] = NAN;
	if (derive_find_worked(d, METRIC_ANY_FLOPS, all, &has_flops) < 0 ||
	    derive_find_worked(d, METRIC_BYTES, all, &has_bytes) < 0)
		return -ENOMEM;
	if (derive_is_counted(d, METRIC_BYTES)) {
		given_flops = derive_find_given(d, METRIC_ANY_FLOPS, all);
		given_bytes = derive_find_given(d, METRIC_BYTES, all);
		if (!given_flops || !given_bytes)
			return -ENOMEM;
	}
	r = (struct roofs){.compute = numbers,
			   .memory = numbers + n,
			   .computing = numbers + 2 * n,
			   .moving = numbers + 3 * n,
			   .given = numbers + 4 * n,
			   .counted = numbers + 5 * n,
			   .has_flops = has_flops,
			   .has_bytes = has_bytes,
			   .given_flops = given_flops,
			   .given_bytes = given_bytes,
			   .time_alone = alone,
			   .on_device = flags};
	roof_rows(d, &r, all);
	if (m->inclusive)
		roofs_roll_up(d, &r);
	if (m->inclusive && has_flops && snapshot_group(d->snap) != GROUP_NONE &&
	    root_roofline(d, all, &r) < 0)
		return -ENOMEM;
	roofs_result(d, m, &r, v);
	return 0;
}
