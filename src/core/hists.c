/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/hists.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"
#include "core/samples.h"

#define FEW_PLACES 8 /* step over so many before a binary search for the end */

/* A sample of a node. order: the node's place in a walk of the tree. sample: the index of a
 * histogram, or the number of histograms plus the bin of a single execution. */
struct place {
	uint32_t order, sample;
};

struct hists {
	struct snapshot *snap;
	struct place *places; /* sorted */
	size_t n, cap;
	uint32_t *first, *end; /* by node: its place, and the one behind what is below it */
	size_t cap_first, cap_end;
	double *calls; /* by place in the walk: counted executions before it */
	size_t cap_calls;
	struct place *spare; /* scratch */
	size_t cap_spare;
	uint32_t *turns; /* by histogram: `turn` of the last sum that it was added to */
	size_t cap_turns;
	uint32_t turn;
	struct hist_sums sums; /* scratch: of the nodes that were asked for last */
};

struct hists *hists_new(struct snapshot *snap)
{
	struct hists *h = calloc(1, sizeof(*h));

	if (h)
		h->snap = snap;
	return h;
}

struct hists *hists_free(struct hists *h)
{
	if (!h)
		return NULL;
	free(h->places);
	free(h->first);
	free(h->end);
	free(h->turns);
	free(h->calls);
	free(h->spare);
	free(h);
	return NULL;
}

static int make_room(struct hists *h)
{
	uint32_t n = snapshot_n(h->snap);
	size_t n_hists = snapshot_session(h->snap)->n_hists;

	if (ARRAY_ROOM(h->first, h->cap_first, MAX(n, 1u)) < 0 ||
	    ARRAY_ROOM(h->end, h->cap_end, MAX(n, 1u)) < 0 ||
	    ARRAY_ROOM(h->calls, h->cap_calls, n + 1u) < 0 ||
	    ARRAY_ROOM(h->turns, h->cap_turns, n_hists + 1) < 0)
		return -ENOMEM;
	memset(h->turns, 0, n_hists * sizeof(*h->turns));
	h->turn = 0;
	return 0;
}

/* A parent's id is smaller than its children's: sizes from the end, places from the beginning.
 * Until all of its children have one, `end` of a node is where the next child goes. */
static void make_order(struct hists *h)
{
	uint32_t n = snapshot_n(h->snap), *size = h->first;

	for (uint32_t id = 0; id < n; id++)
		size[id] = 1;
	for (uint32_t id = n; id-- > 1;)
		size[snapshot_node(h->snap, id)->parent] += size[id];
	for (uint32_t id = 0; id < n; id++) {
		uint32_t up = snapshot_node(h->snap, id)->parent, own = size[id];

		h->first[id] = up == SNAP_NONE ? 0 : h->end[up];
		h->end[id] = h->first[id] + 1;
		if (up != SNAP_NONE)
			h->end[up] += own;
	}
}

static bool counts(const struct hists *h, uint32_t node, const uint8_t *kept)
{
	return !snapshot_node(h->snap, node)->hidden && (!kept || kept[node]);
}

static int add_place(struct hists *h, uint32_t node, size_t sample)
{
	if (ARRAY_ROOM(h->places, h->cap, h->n + 1) < 0)
		return -ENOMEM;
	h->places[h->n++] = (struct place){h->first[node], (uint32_t)sample};
	return 0;
}

static int add_hists(struct hists *h, const uint8_t *kept)
{
	const struct session *s = snapshot_session(h->snap);
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < s->n_hists; i++) {
		uint32_t iter = 0, node;

		while (r == 0 && (node = hist_next_node(h->snap, &s->hists[i], &iter)) != SNAP_NONE)
			if (counts(h, node, kept))
				r = add_place(h, node, i);
	}
	return r;
}

static int add_singles(struct hists *h, const uint8_t *kept)
{
	const struct session *s = snapshot_session(h->snap);
	int r = 0;

	for (size_t i = 0; r == 0 && i < s->n_rows; i++) {
		uint32_t node = snapshot_row_node(h->snap, i);
		struct row_times t;

		if (node == SNAP_NONE || !counts(h, node, kept))
			continue;
		t = row_times(s, &s->rows[i]);
		if (row_is_single(&t))
			r = add_place(h, node, s->n_hists + hist_bin((uint64_t)t.time));
	}
	return r;
}

/* Counting sort by the order of the nodes. Stable. */
static int sort_places(struct hists *h)
{
	uint32_t n = snapshot_n(h->snap);
	_cleanup_(freep) uint32_t *at = calloc(n + 1u, sizeof(*at));
	struct place *swap = h->places;
	size_t cap = h->cap;

	if (!at || ARRAY_ROOM(h->spare, h->cap_spare, h->n + 1) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < h->n; i++)
		at[h->places[i].order + 1]++;
	for (uint32_t k = 0; k < n; k++)
		at[k + 1] += at[k];
	for (size_t i = 0; i < h->n; i++)
		h->spare[at[h->places[i].order]++] = h->places[i];
	h->places = h->spare;
	h->cap = h->cap_spare;
	h->spare = swap;
	h->cap_spare = cap;
	return 0;
}

static void count_calls(struct hists *h, const uint8_t *kept)
{
	const struct snap_column *count = snapshot_column(h->snap, METRIC_COUNT, false);
	uint32_t n = snapshot_n(h->snap);

	h->calls[0] = 0;
	for (uint32_t id = 0; id < n; id++) {
		double own = count && counts(h, id, kept) ? count->v[id] : 0;

		h->calls[h->first[id] + 1] = own > 0 ? own : 0;
	}
	for (uint32_t k = 0; k < n; k++)
		h->calls[k + 1] += h->calls[k];
}

int hists_update(struct hists *h, const uint8_t *kept)
{
	size_t n_hists = snapshot_session(h->snap)->n_hists;
	int r = n_hists ? make_room(h) : 0;

	h->n = 0;
	if (r < 0 || n_hists == 0)
		return r;
	make_order(h);
	r = add_hists(h, kept);
	if (r == 0)
		r = add_singles(h, kept);
	if (r == 0)
		r = sort_places(h);
	if (r < 0)
		h->n = 0;
	else
		count_calls(h, kept);
	return r;
}

/* The first one from a place on. */
static size_t lower_bound(const struct hists *h, uint32_t order)
{
	size_t from = 0;

	BISECT(from, h->n, middle, h->places[middle].order < order)
	return from;
}

static void add(struct hists *h, uint32_t sample)
{
	const struct session *s = snapshot_session(h->snap);

	if (sample >= s->n_hists) {
		hist_sums_count(&h->sums, sample - (uint32_t)s->n_hists, 1);
		return;
	}
	if (h->turns[sample] == h->turn) /* one for several nodes: see hist_next_node() */
		return;
	h->turns[sample] = h->turn;
	hist_sums_add(&h->sums, &s->hists[sample].hist);
}

/* The places of a node: [from, to). */
struct range {
	size_t from, to;
};

static struct range range_of(const struct hists *h, uint32_t node, bool below)
{
	uint32_t first = h->first[node], end = below ? h->end[node] : first + 1;
	struct range r = {.from = h->n ? lower_bound(h, first) : 0};

	for (r.to = r.from;
	     r.to < h->n && h->places[r.to].order < end && r.to < r.from + FEW_PLACES;)
		r.to++;
	if (r.to == r.from + FEW_PLACES)
		r.to = lower_bound(h, end);
	return r;
}

static void add_range(struct hists *h, const struct range *r)
{
	for (size_t at = r->from; at < r->to; at++)
		add(h, h->places[at].sample);
}

/* What is known of the executions of a set of nodes. */
struct known {
	const struct hist_sums *sums;
	double n, calls;    /* samples; executions that were counted */
	double time;        /* of those that were counted; NaN: not known */
	double least, most; /* NaN: not known */
};

static void know(struct hists *h, const uint32_t *nodes, uint32_t n, bool below, struct known *k)
{
	const struct snap_column *least = snapshot_column(h->snap, METRIC_TIME_MIN, below);
	const struct snap_column *most = snapshot_column(h->snap, METRIC_TIME_MAX, below);
	const struct snap_column *time = snapshot_column(h->snap, METRIC_TIME, below);

	*k = (struct known){.sums = &h->sums, .least = NAN, .most = NAN};
	hist_sums_clear(&h->sums);
	h->turn++;
	for (uint32_t i = 0; h->n && i < n; i++) {
		uint32_t first = h->first[nodes[i]];
		struct range r = range_of(h, nodes[i], below);

		add_range(h, &r);
		k->calls += h->calls[below ? h->end[nodes[i]] : first + 1] - h->calls[first];
		k->time += time ? time->v[nodes[i]] : NAN;
		k->least = least ? fmin(k->least, least->v[nodes[i]]) : NAN;
		k->most = most ? fmax(k->most, most->v[nodes[i]]) : NAN;
	}
	k->n = (double)hist_sums_total(&h->sums);
}

/* Add up the distances from `from` of a bin's executions, and their squares. The exact durations of the shortest
 * and the longest execution are used where they are known, and the others are taken to be spread evenly over
 * what of the bin is between these: kernels that always take about as long have but one bin. */
static void add_bin(const struct known *k, unsigned b, double from, double *sum, double *squares)
{
	const double ends[] = {k->least, k->most};
	double n = k->sums->n[b], first, last, off, width;

	for (unsigned i = 0; i < ARRAY_SIZE(ends) && n > 0; i++) {
		if (isnan(ends[i]) || hist_bin((uint64_t)ends[i]) != b)
			continue;
		*sum += ends[i] - from;
		*squares += (ends[i] - from) * (ends[i] - from);
		n--;
	}
	hist_bin_ends(b, k->least, k->most, &first, &last);
	off = (first + last) / 2 - from;
	width = last - first + 1;
	*sum += n * off;
	*squares += n * (off * off + (width * width - 1) / 12); /* of whole nanoseconds */
}

/* No numbers have a mean that is farther from half of them than they deviate. Where these seem to, the spread
 * is below what bins tell: NaN. */
static double deviation(const struct known *k)
{
	double sum = 0, off = 0, squares = 0, mean, half, deviation;

	for (unsigned b = k->sums->from; b < k->sums->to; b++)
		add_bin(k, b, 0, &sum, &squares);
	mean = sum / k->n;
	squares = 0;
	for (unsigned b = k->sums->from; b < k->sums->to; b++)
		add_bin(k, b, mean, &off, &squares);
	half = hist_quantile(k->sums, 0.5, k->least, k->most);
	deviation = sqrt(squares / k->n);
	if (k->calls > 0 && fabs(k->time / k->calls - half) > deviation * (1 + 1e-9))
		return NAN;
	return deviation;
}

/* A percentile of fewer executions than these would be of another part of them than it says. Who loses
 * launches, or is killed, has them none the less, and samples_text() says of how many they are. */
#define LEAST_COVERED 0.5

/* While a session grows, its histograms lag behind its counts. Once it has ended, histograms with
 * much fewer executions than were counted are incomplete: a percentile of them would be wrong. After
 * a reset there are only histograms of the whole run. */
double hists_share(struct hists *h, const uint32_t *nodes, uint32_t n, bool below, double share)
{
	struct known k;

	if (snapshot_is_reset(h->snap))
		return NAN;
	know(h, nodes, n, below, &k);
	if (k.n == 0 || (snapshot_session(h->snap)->ended && k.n < LEAST_COVERED * k.calls))
		return NAN;
	if (share != HISTS_DEVIATION)
		return hist_quantile(k.sums, share, k.least, k.most);
	return deviation(&k);
}

/* From the last node to the first: nodes of a chain with the same samples are computed once. */
void hists_quantiles(struct hists *h, double share, bool below, double *v)
{
	struct range last = {0, 0};
	double last_v = NAN;

	for (uint32_t id = snapshot_n(h->snap); id-- > 0;) {
		struct range r = h->n ? range_of(h, id, below) : last;

		v[id] = NAN;
		if (r.from == r.to)
			continue;
		if (r.from != last.from || r.to != last.to) {
			last_v = hists_share(h, &id, 1, below, share);
			last = r;
		}
		v[id] = last_v;
	}
}
