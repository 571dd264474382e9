/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "intra/warp_lanes.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

void warp_lanes_done(struct warp_lanes *l)
{
	free(l->lanes);
	free(l->order);
	*l = (struct warp_lanes){.of = NULL};
}

/* ---- which tracks are on one lane ---- */

/* Of blocks and multiprocessors it would be drawn over each other. */
static bool has_nested(const struct warp_tracks *s)
{
	for (size_t i = 0; i < s->n_tracks; i++)
		if (!s->tracks[i].line && s->tracks[i].n)
			return true;
	return false;
}

/* What tells lanes apart, in the order that they stand in, and then what tells their tracks apart. */
struct place {
	uint64_t major, minor, line, from;
	size_t track;
};

static struct place place_of(const struct warp_tracks *s, enum warp_lane_kind kind, size_t track)
{
	const struct warp_track *k = &s->tracks[track];
	const struct warp_trace_warp *w = warp_tracks_warp(s, k->warp);
	struct place place = {.major = w->block, .from = k->from, .track = track};

	switch (kind) {
	case WARP_LANES_WARPS:
		place.minor = w->warp;
		place.line = k->line;
		break;
	case WARP_LANES_GROUPS:
		place.minor = w->warp / WARP_GROUP;
		place.line = k->line > 0;
		break;
	case WARP_LANES_SMS:
		place.major = w->multiprocessor;
		break;
	default:
		break;
	}
	return place;
}

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->major != y->major)
		return COMPARE(x->major, y->major);
	if (x->minor != y->minor)
		return COMPARE(x->minor, y->minor);
	if (x->line != y->line)
		return COMPARE(x->line, y->line);
	return x->from != y->from ? COMPARE(x->from, y->from) : COMPARE(x->track, y->track);
}

static bool is_same(const struct place *a, const struct place *b)
{
	return a->major == b->major && a->minor == b->minor && a->line == b->line;
}

static void begin_lane(struct warp_lanes *l, const struct place *at, size_t i)
{
	const struct warp_trace_warp *w = warp_tracks_warp(l->of, l->of->tracks[at->track].warp);

	l->lanes[l->n++] = (struct warp_lane){.block = w->block,
					      .multiprocessor = w->multiprocessor,
					      .warp = w->warp,
					      .last_warp = w->warp,
					      .line = (uint32_t)at->line,
					      .tracks = i,
					      .from = UINT64_MAX};
}

static void add_track(struct warp_lanes *l, size_t track)
{
	const struct warp_track *k = &l->of->tracks[track];
	const struct warp_trace_warp *w = warp_tracks_warp(l->of, k->warp);
	struct warp_lane *lane = &l->lanes[l->n - 1];

	lane->n_tracks++;
	lane->from = MIN(lane->from, k->from);
	lane->to = MAX(lane->to, k->to);
	lane->warp = MIN(lane->warp, w->warp);
	lane->last_warp = MAX(lane->last_warp, w->warp);
}

static int fill(struct warp_lanes *l, const struct place *places, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (i == 0 || !is_same(&places[i], &places[i - 1])) {
			if (ARRAY_ROOM(l->lanes, l->cap, l->n + 1) < 0)
				return -ENOMEM;
			begin_lane(l, &places[i], i);
		}
		l->order[i] = places[i].track;
		add_track(l, places[i].track);
	}
	return 0;
}

static size_t take_places(const struct warp_tracks *of, enum warp_lane_kind kind,
			  struct place *places)
{
	bool all = kind == WARP_LANES_WARPS || kind == WARP_LANES_GROUPS || !has_nested(of);
	size_t n = 0;

	for (size_t i = 0; i < of->n_tracks; i++)
		if (all || !of->tracks[i].line)
			places[n++] = place_of(of, kind, i);
	return n;
}

int warp_lanes_make(struct warp_lanes *l, const struct warp_tracks *of, enum warp_lane_kind kind)
{
	size_t n = of->n_tracks;
	struct place *places = malloc((n + 1) * sizeof(*places));
	int r = -ENOMEM;

	free(l->order);
	l->order = malloc((n + 1) * sizeof(*l->order));
	l->n = 0;
	l->of = of;
	l->kind = kind;
	if (places && l->order) {
		n = take_places(of, kind, places);
		qsort(places, n, sizeof(*places), compare_places);
		r = fill(l, places, n);
	}
	free(places);
	if (r < 0)
		l->n = 0;
	return r;
}

/* ---- columns ---- */

void warp_lanes_cells(const struct warp_lanes *l, size_t lane, const struct warp_view *view,
		      struct warp_cell *ret)
{
	const struct warp_lane *k = &l->lanes[lane];

	memset(ret, 0, view->n * sizeof(*ret));
	for (size_t i = 0; i < k->n_tracks; i++)
		warp_tracks_add(l->of, l->order[k->tracks + i], view, ret);
}

unsigned warp_cell_class(const struct warp_cell *cell)
{
	unsigned best = WARP_CLASSES;

	for (unsigned c = 0; cell->n && c < WARP_CLASSES; c++)
		if (cell->cycles[c] &&
		    (best == WARP_CLASSES || cell->cycles[c] > cell->cycles[best]))
			best = c;
	return best;
}

double warp_cell_share(const struct warp_cell *cell)
{
	uint64_t sum = 0;

	for (unsigned c = 0; c < WARP_CLASSES; c++)
		sum += cell->cycles[c];
	return cell->present ? (double)sum / (double)cell->present : NAN;
}

/* ---- segments ---- */

static const struct warp_track *track_of(const struct warp_lanes *l, const struct warp_lane *lane,
					 size_t i)
{
	return &l->of->tracks[l->order[lane->tracks + i]];
}

static const struct warp_segment *segment_of(const struct warp_lanes *l,
					     const struct warp_track *track, size_t i)
{
	return i < track->n ? &l->of->segments[track->first + i] : NULL;
}

struct warp_spot warp_lanes_at(const struct warp_lanes *l, size_t lane, uint64_t at, uint64_t to,
			       unsigned class)
{
	const struct warp_lane *k = &l->lanes[lane];
	struct warp_spot best = {NULL, 0};

	for (size_t i = 0; i < k->n_tracks; i++) {
		const struct warp_track *track = track_of(l, k, i);
		size_t first = track->to > at && track->from < to
				       ? warp_tracks_find(l->of, l->order[k->tracks + i], at)
				       : track->n;
		const struct warp_segment *v;

		for (; (v = segment_of(l, track, first)) && v->from < to; first++) {
			if (class != WARP_CLASSES && v->class != class)
				continue;
			if (!best.segment || v->from < best.segment->from)
				best = (struct warp_spot){v, track->warp};
			break;
		}
		if (best.segment && best.segment->from <= at)
			break;
	}
	return best;
}

static bool is_wanted(const struct warp_lanes *l, const struct warp_track *track,
		      const struct warp_segment *v, const bool *names)
{
	return !names || names[warp_tracks_scope(l->of, track->warp, v->scope)->name];
}

struct warp_spot warp_lanes_from(const struct warp_lanes *l, size_t lane, uint64_t at,
				 const bool *names)
{
	const struct warp_lane *k = &l->lanes[lane];
	struct warp_spot best = {NULL, 0};

	for (size_t i = 0; i < k->n_tracks; i++) {
		const struct warp_track *track = track_of(l, k, i);
		size_t first = warp_tracks_find(l->of, l->order[k->tracks + i], at);
		const struct warp_segment *v;

		while ((v = segment_of(l, track, first)) &&
		       (v->from < at || !is_wanted(l, track, v, names)) &&
		       (!best.segment || v->from < best.segment->from))
			first++;
		if (v && (!best.segment || v->from < best.segment->from))
			best = (struct warp_spot){v, track->warp};
	}
	return best;
}

struct warp_spot warp_lanes_before(const struct warp_lanes *l, size_t lane, uint64_t at,
				   const bool *names)
{
	const struct warp_lane *k = &l->lanes[lane];
	struct warp_spot best = {NULL, 0};

	for (size_t i = 0; i < k->n_tracks; i++) {
		const struct warp_track *track = track_of(l, k, i);
		size_t end =
			MIN(warp_tracks_find(l->of, l->order[k->tracks + i], at) + 1, track->n);
		const struct warp_segment *v = NULL;

		for (; end > 0; end--) {
			v = segment_of(l, track, end - 1);
			if (v->from < at && is_wanted(l, track, v, names))
				break;
		}
		if (end > 0 && (!best.segment || v->from > best.segment->from))
			best = (struct warp_spot){v, track->warp};
	}
	return best;
}

const struct warp_instant *warp_lanes_instant(const struct warp_lanes *l, size_t lane,
					      uint64_t from, uint64_t to, uint32_t *ret_warp)
{
	const struct warp_lane *k = &l->lanes[lane];
	const struct warp_instant *first = NULL;

	if (l->kind > WARP_LANES_GROUPS || k->line)
		return NULL;
	for (size_t i = 0; i < k->n_tracks; i++) {
		uint32_t warp = track_of(l, k, i)->warp;
		const struct warp_instant *v = warp_tracks_instant(l->of, warp, from, to);

		if (!v || (first && first->at <= v->at))
			continue;
		first = v;
		*ret_warp = warp;
	}
	return first;
}

size_t warp_lanes_find(const struct warp_lanes *l, uint64_t block)
{
	for (size_t i = 0; i < l->n; i++)
		for (size_t k = 0; k < l->lanes[i].n_tracks; k++)
			if (warp_tracks_warp(l->of, track_of(l, &l->lanes[i], k)->warp)->block ==
			    block)
				return i;
	return SIZE_MAX;
}
