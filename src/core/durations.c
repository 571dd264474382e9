/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/durations.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"

/* The values of a row that tell of its executions; NaN: absent. */
struct row_times {
	double time, count, min, max;
};

static void count(struct durations *d, unsigned bucket, uint32_t n)
{
	d->n[bucket] += MIN(n, UINT32_MAX - d->n[bucket]);
	d->n_all += n;
}

static struct row_times row_times(const struct session *s, const struct session_row *row)
{
	const struct session_set *set = &s->sets[row->set];
	struct row_times t = {NAN, NAN, NAN, NAN};

	for (uint32_t i = 0; i < set->n; i++) {
		uint32_t metric = set->metrics[i];
		double *to = metric == METRIC_TIME       ? &t.time
			     : metric == METRIC_COUNT    ? &t.count
			     : metric == METRIC_TIME_MIN ? &t.min
			     : metric == METRIC_TIME_MAX ? &t.max
							 : NULL;

		if (to && s->present[row->values + i])
			*to = metric_number(metric_table_get(s->metrics, metric),
					    s->values[row->values + i]);
	}
	return t;
}

static bool is_single(const struct row_times *t)
{
	return t->count == 1 && t->time >= 0;
}

bool durations_single(const struct session *s, size_t row, uint64_t *ret_ns)
{
	struct row_times t = row_times(s, &s->rows[row]);

	*ret_ns = is_single(&t) ? (uint64_t)t.time : 0;
	return is_single(&t);
}

static void add_row(struct durations *d, const struct row_times *t)
{
	if (t->count > 0)
		d->n_calls += t->count;
	if (t->min > 0)
		d->min_ns = d->min_ns ? MIN(d->min_ns, (uint64_t)t->min) : (uint64_t)t->min;
	if (t->max > 0)
		d->max_ns = MAX(d->max_ns, (uint64_t)t->max);
	if (is_single(t))
		count(d, hist_bucket((uint64_t)t->time), 1);
}

static bool is_of_hist(const struct session *s, const struct session_row *row,
		       const struct session_hist *hist)
{
	const struct session_lane *lane = row->lane < s->n_lanes ? &s->lanes[row->lane] : NULL;

	return lane && (hist->device == SESSION_NONE || lane->device == hist->device) &&
	       (hist->process == SESSION_NONE || lane->process == hist->process);
}

/* Without grouping a node is its own view. *iter: 0 to begin, then a row + 1, SESSION_NONE to end.
 */
uint32_t durations_next_node(const struct snapshot *snap, const struct session_hist *hist,
			     uint32_t *iter)
{
	const struct session *s = snapshot_session(snap);
	uint32_t row;

	if (*iter == SESSION_NONE)
		return SNAP_NONE;
	if (snapshot_group(snap) == GROUP_NONE) {
		*iter = SESSION_NONE;
		return hist->node < snapshot_n(snap) ? hist->node : SNAP_NONE;
	}
	row = *iter ? s->rows[*iter - 1].next : s->nodes[hist->node].first_row;
	for (; row != SESSION_NONE; row = s->rows[row].next) {
		uint32_t node = snapshot_row_node(snap, row);

		if (node == SNAP_NONE || !is_of_hist(s, &s->rows[row], hist))
			continue;
		*iter = row + 1;
		return node;
	}
	*iter = SESSION_NONE;
	return SNAP_NONE;
}

/* Nodes that are meant and what is below them: a byte each. NULL: out of memory. */
static uint8_t *mark(struct snapshot *snap, struct numbers *numbers, uint32_t node, bool by_name)
{
	uint32_t n = snapshot_n(snap), n_frames;
	const uint32_t *frames = numbers_frames(numbers, &n_frames);
	uint8_t *marked = frames ? calloc(MAX(n, 1u), 1) : NULL;

	for (uint32_t id = 0; marked && id < n; id++) {
		uint32_t parent = snapshot_node(snap, id)->parent;

		marked[id] = id == node || (by_name && frames[id] == frames[node]) ||
			     (parent != SNAP_NONE && marked[parent]);
	}
	for (uint32_t id = 0; marked && id < n; id++)
		marked[id] &= numbers_counts(numbers, id);
	return marked;
}

static void add_hist(struct durations *d, const struct snapshot *snap,
		     const struct session_hist *hist, const uint8_t *marked)
{
	uint32_t iter = 0, node;
	bool any = false, others = false;

	while ((node = durations_next_node(snap, hist, &iter)) != SNAP_NONE) {
		any |= marked[node];
		others |= !marked[node];
	}
	if (!any)
		return;
	d->is_shared |= others;
	for (unsigned b = 0; b < HIST_BUCKETS; b++)
		count(d, b, hist->n[b]);
}

int durations_make(struct durations *d, struct snapshot *snap, struct numbers *numbers,
		   uint32_t node, bool by_name)
{
	_cleanup_(freep) uint8_t *marked = mark(snap, numbers, node, by_name);
	const struct session *s = snapshot_session(snap);

	memset(d, 0, sizeof(*d));
	if (!marked)
		return -ENOMEM;
	for (size_t i = 0; i < s->n_hists; i++)
		add_hist(d, snap, &s->hists[i], marked);
	for (size_t i = 0; i < s->n_rows; i++) {
		uint32_t at = snapshot_row_node(snap, i);
		struct row_times t;

		tick_at(snapshot_tick(snap), i, s->n_rows);
		if (at == SNAP_NONE || !marked[at])
			continue;
		t = row_times(s, &s->rows[i]);
		add_row(d, &t);
	}
	return 0;
}

/* Does any node that it is of belong to the picture? */
static bool is_shown(const struct snapshot *snap, const struct session_hist *hist)
{
	uint32_t iter = 0, node;

	while ((node = durations_next_node(snap, hist, &iter)) != SNAP_NONE)
		if (!snapshot_node(snap, node)->hidden)
			return true;
	return false;
}

/* What is known of the executions of each frame. Where there are several, their buckets. */
struct by_frame {
	struct frame_times {
		uint32_t sums;   /* index + 1; 0: none */
		uint32_t single; /* executions once on their lane */
		double single_ns, calls;
	} * v;
	uint32_t (*sums)[HIST_BUCKETS];
	size_t n, cap;
};

/* NULL: out of memory. */
static uint32_t *sums_of(struct by_frame *b, uint32_t frame)
{
	uint32_t *index = &b->v[frame].sums;

	if (*index)
		return b->sums[*index - 1];
	if (array_reserve((void **)&b->sums, &b->cap, b->n + 1, sizeof(*b->sums)) < 0)
		return NULL;
	memset(b->sums[b->n++], 0, sizeof(*b->sums));
	*index = (uint32_t)b->n;
	return b->sums[*index - 1];
}

static int add_hists(struct by_frame *b, const struct snapshot *snap)
{
	const struct session *s = snapshot_session(snap);

	for (size_t i = 0; i < s->n_hists; i++) {
		const struct session_hist *hist = &s->hists[i];
		uint32_t *to;

		if (!is_shown(snap, hist))
			continue;
		to = sums_of(b, s->nodes[hist->node].frame);
		if (!to)
			return -ENOMEM;
		for (unsigned k = 0; k < HIST_BUCKETS; k++)
			to[k] += MIN(hist->n[k], UINT32_MAX - to[k]);
	}
	return 0;
}

/* One execution alone needs no buckets: its time is all percentiles. */
static int add_single(struct by_frame *b, uint32_t frame, double ns)
{
	struct frame_times *f = &b->v[frame];
	uint32_t *to;

	if (f->single++ == 0 && !f->sums) {
		f->single_ns = ns;
		return 0;
	}
	to = sums_of(b, frame);
	if (!to)
		return -ENOMEM;
	if (f->single == 2 && !isnan(f->single_ns))
		to[hist_bucket((uint64_t)f->single_ns)]++;
	f->single_ns = NAN;
	to[hist_bucket((uint64_t)ns)]++;
	return 0;
}

static int add_rows(struct by_frame *b, const struct snapshot *snap)
{
	const struct session *s = snapshot_session(snap);
	int r = 0;

	for (size_t i = 0; r == 0 && i < s->n_rows; i++) {
		uint32_t node = snapshot_row_node(snap, i), frame = s->nodes[s->rows[i].node].frame;
		struct row_times t;

		if (node == SNAP_NONE || snapshot_node(snap, node)->hidden)
			continue;
		t = row_times(s, &s->rows[i]);
		if (t.count > 0)
			b->v[frame].calls += t.count;
		if (is_single(&t))
			r = add_single(b, frame, t.time);
	}
	return r;
}

/* At the end, a percentile of some of the executions would be a wrong number. */
static double frame_share(const struct by_frame *b, const struct session *s, uint32_t frame,
			  double share)
{
	const struct frame_times *f = &b->v[frame];
	double n = 0;

	if (!f->sums)
		return f->single && f->calls <= 1 ? f->single_ns : NAN;
	for (unsigned k = 0; k < HIST_BUCKETS; k++)
		n += b->sums[f->sums - 1][k];
	return s->ended && n < f->calls ? NAN : (double)hist_quantile(b->sums[f->sums - 1], share);
}

double *durations_by_frame(const struct snapshot *snap, const double *shares, unsigned n)
{
	const struct session *s = snapshot_session(snap);
	struct by_frame b = {.v = calloc(MAX(s->n_frames, 1u), sizeof(*b.v))};
	double *v = malloc(MAX(s->n_frames, 1u) * n * sizeof(*v));
	int r = b.v && v ? add_hists(&b, snap) : -ENOMEM;

	if (r == 0)
		r = add_rows(&b, snap);
	for (size_t i = 0; r == 0 && i < s->n_frames * n; i++)
		v[i] = frame_share(&b, s, (uint32_t)(i / n), shares[i % n]);
	free(b.v);
	free(b.sums);
	if (r == 0)
		return v;
	free(v);
	return NULL;
}
