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

static void add_row(struct durations *d, const struct row_times *t)
{
	if (t->count > 0)
		d->n_calls += t->count;
	if (t->min > 0)
		d->min_ns = d->min_ns ? MIN(d->min_ns, (uint64_t)t->min) : (uint64_t)t->min;
	if (t->max > 0)
		d->max_ns = MAX(d->max_ns, (uint64_t)t->max);
	if (t->count == 1 && t->time >= 0)
		count(d, hist_bucket((uint64_t)t->time), 1);
}

/* Nodes that are meant and what is below them: a byte each. NULL: out of memory. */
static uint8_t *mark(const struct session *s, uint32_t node, bool by_name)
{
	uint8_t *marked = calloc(MAX(s->n_nodes, 1u), 1);

	for (uint32_t id = 0; marked && id < s->n_nodes; id++) {
		uint32_t parent = s->nodes[id].parent;

		marked[id] = id == node ||
			     (by_name && s->nodes[id].frame == s->nodes[node].frame) ||
			     (parent != SESSION_NONE && marked[parent]);
	}
	return marked;
}

int durations_make(struct durations *d, const struct session *s, uint32_t node, bool by_name)
{
	_cleanup_(freep) uint8_t *marked = mark(s, node, by_name);

	memset(d, 0, sizeof(*d));
	if (!marked)
		return -ENOMEM;
	for (size_t i = 0; i < s->n_hists; i++)
		for (unsigned b = 0; marked[s->hists[i].node] && b < HIST_BUCKETS; b++)
			count(d, b, s->hists[i].n[b]);
	for (size_t i = 0; i < s->n_rows; i++) {
		struct row_times t;

		if (!marked[s->rows[i].node])
			continue;
		t = row_times(s, &s->rows[i]);
		add_row(d, &t);
	}
	return 0;
}

/* The histograms of frames that have some, summed up. */
struct by_frame {
	uint32_t *index; /* by frame, + 1; 0: none */
	uint32_t (*counts)[HIST_BUCKETS];
	size_t n, cap;
};

static int add_hist(struct by_frame *b, const struct session *s, const struct session_hist *hist)
{
	uint32_t *index = &b->index[s->nodes[hist->node].frame], *to;

	if (!*index) {
		if (array_reserve((void **)&b->counts, &b->cap, b->n + 1, sizeof(*b->counts)) < 0)
			return -ENOMEM;
		memset(b->counts[b->n++], 0, sizeof(*b->counts));
		*index = (uint32_t)b->n;
	}
	to = b->counts[*index - 1];
	for (unsigned i = 0; i < HIST_BUCKETS; i++)
		to[i] += MIN(hist->n[i], UINT32_MAX - to[i]);
	return 0;
}

double *durations_by_frame(const struct session *s, const double *shares, unsigned n)
{
	struct by_frame b = {.index = calloc(MAX(s->n_frames, 1u), sizeof(*b.index))};
	double *v = malloc(MAX(s->n_frames, 1u) * n * sizeof(*v));
	int r = b.index && v ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < s->n_hists; i++)
		r = add_hist(&b, s, &s->hists[i]);
	for (size_t i = 0; r == 0 && i < s->n_frames * n; i++) {
		uint32_t index = b.index[i / n];

		v[i] = index ? (double)hist_quantile(b.counts[index - 1], shares[i % n]) : NAN;
	}
	free(b.index);
	free(b.counts);
	if (r == 0)
		return v;
	free(v);
	return NULL;
}
