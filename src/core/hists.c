/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/hists.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"
#include "core/durations.h"

#define FEW_PLACES 8 /* passed one by one, before they are looked for */

/* A histogram of a node, by the node's place in a walk. */
struct place {
	uint32_t order, hist;
};

struct hists {
	struct snapshot *snap;
	struct place *places; /* sorted */
	size_t n, cap;
	uint32_t *first, *end; /* by node: its place, and the one behind what is below it */
	size_t cap_first, cap_end;
	uint32_t *turns; /* by histogram: the sum that it was last in */
	size_t cap_turns;
	uint32_t turn;
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
	free(h);
	return NULL;
}

static int make_room(struct hists *h)
{
	uint32_t n = snapshot_n(h->snap);
	size_t n_hists = snapshot_session(h->snap)->n_hists;

	if (array_reserve((void **)&h->first, &h->cap_first, MAX(n, 1u), sizeof(*h->first)) < 0 ||
	    array_reserve((void **)&h->end, &h->cap_end, MAX(n, 1u), sizeof(*h->end)) < 0 ||
	    array_reserve((void **)&h->turns, &h->cap_turns, n_hists + 1, sizeof(*h->turns)) < 0)
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

static int add_places(struct hists *h, uint32_t hist, const uint8_t *kept)
{
	const struct session_hist *from = &snapshot_session(h->snap)->hists[hist];
	uint32_t iter = 0, node;

	while ((node = durations_next_node(h->snap, from, &iter)) != SNAP_NONE) {
		if (snapshot_node(h->snap, node)->hidden || (kept && !kept[node]))
			continue;
		if (array_reserve((void **)&h->places, &h->cap, h->n + 1, sizeof(*h->places)) < 0)
			return -ENOMEM;
		h->places[h->n++] = (struct place){h->first[node], hist};
	}
	return 0;
}

static int place_compare(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return x->order != y->order ? (x->order < y->order ? -1 : 1)
				    : (x->hist > y->hist) - (x->hist < y->hist);
}

int hists_update(struct hists *h, const uint8_t *kept)
{
	size_t n_hists = snapshot_session(h->snap)->n_hists;
	int r = n_hists ? make_room(h) : 0;

	h->n = 0;
	if (r < 0 || n_hists == 0)
		return r;
	make_order(h);
	for (uint32_t i = 0; r == 0 && i < n_hists; i++)
		r = add_places(h, i, kept);
	if (r < 0)
		h->n = 0;
	else if (h->n)
		qsort(h->places, h->n, sizeof(*h->places), place_compare);
	return r;
}

/* The first one from a place on. */
static size_t lower_bound(const struct hists *h, uint32_t order)
{
	size_t from = 0, to = h->n;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (h->places[middle].order < order)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

static void add(struct hists *h, uint32_t hist, uint32_t counts[HIST_BUCKETS])
{
	const uint32_t *from = snapshot_session(h->snap)->hists[hist].n;

	if (h->turns[hist] == h->turn) /* one for several nodes: see durations_next_node() */
		return;
	h->turns[hist] = h->turn;
	for (unsigned b = 0; b < HIST_BUCKETS; b++)
		counts[b] += MIN(from[b], UINT32_MAX - counts[b]);
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

static void add_range(struct hists *h, const struct range *r, uint32_t counts[HIST_BUCKETS])
{
	for (size_t at = r->from; at < r->to; at++)
		add(h, h->places[at].hist, counts);
}

bool hists_sum(struct hists *h, const uint32_t *nodes, uint32_t n, bool below,
	       uint32_t counts[HIST_BUCKETS])
{
	bool any = false;

	memset(counts, 0, HIST_BUCKETS * sizeof(*counts));
	h->turn++;
	for (uint32_t i = 0; h->n && i < n; i++) {
		struct range r = range_of(h, nodes[i], below);

		add_range(h, &r, counts);
		any |= r.from < r.to;
	}
	return any;
}

/* Children come before their parents: a chain of nodes that have the same ones is told once. */
void hists_quantiles(struct hists *h, double share, bool below, double *v)
{
	struct range last = {0, 0};
	double last_v = NAN;

	for (uint32_t id = snapshot_n(h->snap); id-- > 0;) {
		struct range r = range_of(h, id, below);
		uint32_t counts[HIST_BUCKETS];

		v[id] = NAN;
		if (r.from == r.to)
			continue;
		if (r.from != last.from || r.to != last.to) {
			hists_sum(h, &id, 1, below, counts);
			last_v = (double)hist_quantile(counts, share);
			last = r;
		}
		v[id] = last_v;
	}
}
