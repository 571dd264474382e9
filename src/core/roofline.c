/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/roofline.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"

void roofline_done(struct roofline *r)
{
	free(r->points);
}

/* The columns that points are made from; NULL: the profile has no such values. */
struct sources {
	const double *time, *flops, *bytes;
	const double *flops_ns, *bytes_ns; /* the time of what has these */
	const double *at_peak; /* seconds that the operations take at the peaks of who does them */
};

static double at(const double *v, uint32_t id)
{
	return v ? v[id] : NAN;
}

/* What of a metric its rates divide, or by what (op); NULL: no row has any of it, or no memory. */
static const double *part_of(struct derive *derive, enum derived_op op, uint32_t metric,
			     bool inclusive)
{
	const struct derived rate = {
		.op = DERIVED_RATE, .metric = metric, .inclusive = inclusive, .factor = 1};
	const struct derived part = {
		.op = (uint8_t)op, .metric = metric, .inclusive = inclusive, .factor = 1};

	return derive_has_terms(derive, &rate) ? derive_column(derive, &part) : NULL;
}

/* The width of most of a node's operations. */
static uint8_t width_of(struct derive *derive, uint32_t node, bool inclusive)
{
	uint8_t width = ROOFLINE_NO_ROOF;
	double most = 0;

	for (uint8_t i = 0; i < PEAK_WIDTHS; i++) {
		const double *v = part_of(derive, DERIVED_WORK, METRIC_FLOPS8 + i, inclusive);

		if (v && v[node] > most) {
			most = v[node];
			width = i;
		}
	}
	return width;
}

double roofline_peak(const struct peaks *peaks, const struct session *s, uint32_t device,
		     unsigned roof)
{
	return roof < ROOFLINE_CORES ? peaks_flops(peaks, s, device, roof)
				     : peaks_core_flops(peaks, s, device, roof - ROOFLINE_CORES);
}

/* Of the two of a width, the one nearer to the rate at which its operations would be at their peaks. */
static uint8_t roof_of(const struct peaks *peaks, const struct session *s, uint32_t device,
		       uint8_t width, double rate)
{
	double all, cores;

	if (width >= PEAK_WIDTHS)
		return ROOFLINE_NO_ROOF;
	all = roofline_peak(peaks, s, device, width);
	cores = roofline_peak(peaks, s, device, ROOFLINE_CORES + width);
	return (uint8_t)(fabs(rate - cores) < fabs(rate - all) ? ROOFLINE_CORES + width : width);
}

/* Where a node itself ran. Values that a program gave name no device. */
static uint32_t device_of(const struct snapshot *snap, uint32_t node)
{
	const struct session *s = snapshot_session(snap);
	uint32_t id = snapshot_node(snap, node)->session_node, row, device;

	if (s->n_devices == 1) /* then it is that */
		return 0;
	row = id == SESSION_NONE ? SESSION_NONE : session_first_row(s, id);
	for (; row != SESSION_NONE; row = session_next_row(s, row)) {
		device = session_lane_at(s, s->rows[row].lane)->device;
		if (device != SESSION_NONE)
			return device;
	}
	return SESSION_NONE;
}

static struct roofline_point *new_point(struct roofline *r, uint32_t node, uint32_t frame)
{
	if (ARRAY_ROOM(r->points, r->cap, r->n + 1) < 0)
		return NULL;
	r->points[r->n] = (struct roofline_point){.node = node,
						  .frame = frame,
						  .time_ns = NAN,
						  .flops = NAN,
						  .bytes = NAN,
						  .flops_ns = NAN,
						  .bytes_ns = NAN,
						  .heaviest_ns = -1};
	return &r->points[r->n++];
}

/* What of its work a kernel does in a time, from what it does in another. Work in no time says nothing of longer ones. */
static double scaled(double work, double its_ns, double ns)
{
	return its_ns == ns ? work : its_ns > 0 ? work * (ns / its_ns) : NAN;
}

/* Operations may be counted of all executions of a kernel, and bytes of those that were measured alone: their mean is
 * taken of all then, so that operations a byte are of the same executions. */
static void add_kernel(struct roofline_point *p, const struct sources *from, uint32_t id)
{
	double flops_ns = at(from->flops_ns, id), bytes_ns = at(from->bytes_ns, id);
	double ns = fmax(flops_ns, bytes_ns); /* of two, the one that is known */
	double flops = scaled(at(from->flops, id), flops_ns, ns);
	double bytes = scaled(at(from->bytes, id), bytes_ns, ns);

	add_present(&p->flops, flops);
	add_present(&p->bytes, bytes);
	add_present(&p->flops_ns, isnan(flops) ? NAN : ns);
	add_present(&p->bytes_ns, isnan(bytes) ? NAN : ns);
}

/* A point for each name of nodes that have time of their own. */
static int add_kernels(struct roofline *r, struct snapshot *snap, struct numbers *numbers,
		       const struct sources *from)
{
	uint32_t n_frames, n = snapshot_n(snap);
	const uint32_t *frames = numbers_functions(numbers, &n_frames);
	_cleanup_(freep) uint32_t *by_frame = frames ? calloc(n_frames, sizeof(*by_frame)) : NULL;

	if (!by_frame)
		return -ENOMEM;
	for (uint32_t id = 0; id < n; id++) {
		struct roofline_point *p;

		tick_at(snapshot_tick(snap), id, n);
		if (isnan(at(from->time, id)))
			continue;
		if (!by_frame[frames[id]]) {
			if (!new_point(r, id, frames[id]))
				return -ENOMEM;
			by_frame[frames[id]] = (uint32_t)r->n;
		}
		p = &r->points[by_frame[frames[id]] - 1];
		add_present(&p->time_ns, from->time[id]);
		add_kernel(p, from, id);
		if (from->time[id] > p->heaviest_ns) {
			p->heaviest_ns = from->time[id];
			p->node = id;
		}
	}
	return 0;
}

/* Calling contexts with something below them, each by itself. */
static int add_scopes(struct roofline *r, struct snapshot *snap, struct numbers *numbers,
		      const struct sources *from)
{
	uint32_t n_frames, n = snapshot_n(snap);
	const uint32_t *frames = numbers_functions(numbers, &n_frames);

	if (!frames)
		return -ENOMEM;
	for (uint32_t id = 1; id < n; id++) {
		struct roofline_point *p;

		tick_at(snapshot_tick(snap), id, n);
		if (isnan(at(from->time, id)) || snapshot_node(snap, id)->n_children == 0)
			continue;
		p = new_point(r, id, frames[id]);
		if (!p)
			return -ENOMEM;
		p->time_ns = from->time[id];
		p->flops = at(from->flops, id);
		p->bytes = at(from->bytes, id);
		p->flops_ns = at(from->flops_ns, id);
		p->bytes_ns = at(from->bytes_ns, id);
	}
	return 0;
}

/* Count the points that lack operations or bytes, and remove those that lack any of the three. */
static void keep_complete(struct roofline *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++) {
		const struct roofline_point *p = &r->points[i];

		if (!(p->time_ns > 0))
			continue;
		r->n_without_flops += !(p->flops > 0);
		r->n_without_bytes += !(p->bytes > 0);
		if (p->flops > 0 && p->bytes > 0 && p->flops_ns > 0 && p->bytes_ns > 0)
			r->points[n++] = *p;
	}
	r->n = n;
}

static int point_compare(const void *a, const void *b)
{
	const struct roofline_point *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? 1 : -1;
	return x->node < y->node ? -1 : x->node > y->node;
}

int roofline_make(struct roofline *r, struct snapshot *snap, struct numbers *numbers,
		  const struct peaks *peaks, enum roofline_of of)
{
	bool inclusive = of == ROOFLINE_SCOPES;
	struct derive *derive = numbers_derive(numbers);
	const struct derived at_peak = {
		.op = DERIVED_AT_COMPUTE, .inclusive = inclusive, .metric = METRIC_NONE};
	struct sources from = {
		.time = derive_used(derive, METRIC_TIME, inclusive),
		.flops = part_of(derive, DERIVED_WORK, METRIC_ANY_FLOPS, inclusive),
		.bytes = part_of(derive, DERIVED_WORK, METRIC_BYTES, inclusive),
		.flops_ns = part_of(derive, DERIVED_WORK_TIME, METRIC_ANY_FLOPS, inclusive),
		.bytes_ns = part_of(derive, DERIVED_WORK_TIME, METRIC_BYTES, inclusive),
		.at_peak = derive_column(derive, &at_peak),
	};
	int error;

	r->n = r->n_without_flops = r->n_without_bytes = 0;
	if (snapshot_n(snap) == 0)
		return 0;
	error = inclusive ? add_scopes(r, snap, numbers, &from)
			  : add_kernels(r, snap, numbers, &from);
	if (error < 0)
		return error;
	keep_complete(r);
	for (size_t i = 0; i < r->n; i++) {
		struct roofline_point *p = &r->points[i];

		p->device = device_of(snap, p->node);
		p->roof = roof_of(peaks, snapshot_session(snap), p->device,
				  width_of(derive, p->node, inclusive),
				  at(from.flops, p->node) / at(from.at_peak, p->node));
	}
	if (r->n > 1)
		qsort(r->points, r->n, sizeof(*r->points), point_compare);
	return 0;
}
