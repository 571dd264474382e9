/* SPDX-License-Identifier: MIT */
#ifndef PROTON_INTRA_WARP_TRACKS_H
#define PROTON_INTRA_WARP_TRACKS_H
/* What each warp of a launch was doing when: on a track nothing overlaps.
 *
 *     scopes    [tile                      ]          segments of its first track: the innermost scope
 *                   [load ]     [mma    ]        ──>  [tile][load ][tile][mma    ][tile]
 *     async         [copy        ]                    further tracks
 *                        [copy        ]          ──>  [copy        ]   and   [copy        ]
 *     marks               ^                           beside the first track
 *
 * Names of scopes are in classes: each of those with the most time is one of its own. A column of a screen costs a search and at
 * most 64 segments, however many there are: each 64th knows the sums of all before it.
 *   thread  one */
#include <stdbool.h>
#include "intra/warp_clock.h"
#include "intra/warp_trace.h"

#define WARP_CLASSES 16
#define WARP_OTHERS  (WARP_CLASSES - 1) /* the class of all names that have none */

/* Times are cycles of the launch's one clock. */
struct warp_segment {
	uint64_t from, to;
	uint32_t scope; /* within the warp's */
	uint8_t class;
};

struct warp_track {
	uint32_t warp;   /* within the launch's */
	uint32_t line;   /* 0: the innermost scopes; from 1 on: asynchronous ones */
	size_t first, n; /* segments, by time */
	size_t first_block;
	uint64_t from, to; /* its warp's; line > 0: its own */
	uint64_t known;    /* what was before it was overwritten; from: nothing was */
};

struct warp_instant {
	uint64_t at;
	uint32_t scope; /* a mark or a value, within the warp's */
};

struct warp_class {
	uint32_t name;
	bool waits;      /* … as its name says (intra/warp_waits.h) */
	uint64_t cycles; /* of segments */
};

struct warp_tracks {
	const struct warp_trace *t;
	const struct warp_trace_launch *launch;
	struct warp_clock clock;
	struct warp_segment *segments;
	struct warp_track *tracks;      /* by warp, and within by line */
	uint64_t (*sums)[WARP_CLASSES]; /* before each 64th segment of a track */
	struct warp_instant *instants;
	size_t *first_instant;                   /* by warp of the launch, and one more */
	uint8_t *class_of;                       /* by name */
	struct warp_class classes[WARP_CLASSES]; /* those with the most time first */
	unsigned n_classes;
	size_t n_segments, n_tracks, n_sums, n_instants;
	size_t cap_segments, cap_tracks, cap_sums, cap_instants;
};

/* 0, -ENOMEM, or -ENODATA: the trace has no such launch. The trace must live longer. */
int warp_tracks_init(struct warp_tracks *s, const struct warp_trace *t, size_t launch);
void warp_tracks_done(struct warp_tracks *s);

static inline const struct warp_trace_warp *warp_tracks_warp(const struct warp_tracks *s,
							     uint32_t warp)
{
	return &s->t->warps[s->launch->warps + warp];
}

static inline const struct warp_trace_scope *warp_tracks_scope(const struct warp_tracks *s,
							       uint32_t warp, uint32_t scope)
{
	return &s->t->scopes[warp_tracks_warp(s, warp)->scopes + scope];
}

/* A part of time, as so many columns. */
struct warp_view {
	uint64_t from, to;
	unsigned n;
};

static inline uint64_t warp_view_start(const struct warp_view *view, unsigned column)
{
	return view->from +
	       (uint64_t)((unsigned __int128)(view->to - view->from) * column / view->n);
}

/* What was done in a column, on all tracks that were added to it. */
struct warp_cell {
	uint64_t cycles[WARP_CLASSES];
	uint64_t present; /* cycles that warps were there, of which it is known what they did … */
	uint64_t unknown; /* … or is not: records were overwritten */
	size_t track,
		segment; /* the first segment that is in it; of several tracks: of the first that has one */
	uint32_t n; /* segments that are in it, in part at least: 0, 1, or more */
};

/* Add a track to the cells of a view, which were cleared. */
void warp_tracks_add(const struct warp_tracks *s, size_t track, const struct warp_view *view,
		     struct warp_cell *cells);
/* The first segment of a track that ends behind `at`; its n: there is none. */
size_t warp_tracks_find(const struct warp_tracks *s, size_t track, uint64_t at);
/* The first instant of a warp in [from, to); NULL: there is none. */
const struct warp_instant *warp_tracks_instant(const struct warp_tracks *s, uint32_t warp,
					       uint64_t from, uint64_t to);

#endif
