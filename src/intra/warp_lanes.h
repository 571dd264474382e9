/* SPDX-License-Identifier: MIT */
#ifndef PROTON_INTRA_WARP_LANES_H
#define PROTON_INTRA_WARP_LANES_H
/* A launch as lanes over time, of which each is a warp, some warps of a block, a block or a multiprocessor.
 *
 *     warps      block 17  w0 ──────      a lane for each track: what warps do asynchronously has lanes of its own
 *                          w0 ~ ─────
 *     groups     block 17  w0-3 ────      four warps, which tensor cores take together
 *     blocks     block 17  ─────────      what is asynchronous stands here where there is nothing else
 *     SMs        SM 41     ─────────
 *
 *   thread  one */
#include "intra/warp_tracks.h"

#define WARP_GROUP 4 /* warps */

enum warp_lane_kind {
	WARP_LANES_WARPS,
	WARP_LANES_GROUPS,
	WARP_LANES_BLOCKS,
	WARP_LANES_SMS,
	WARP_LANES_N
};

struct warp_lane {
	uint64_t block;           /* the first one; of a multiprocessor: that began first */
	uint32_t multiprocessor;  /* UINT32_MAX and more: not known */
	uint32_t warp, last_warp; /* numbers within the block */
	uint32_t line;            /* 0: the innermost scopes; else asynchronous ones */
	size_t tracks, n_tracks;  /* in `order` */
	uint64_t from, to;        /* of all of its warps */
};

struct warp_lanes {
	const struct warp_tracks *of;
	enum warp_lane_kind kind;
	struct warp_lane *lanes; /* by block and warp; those of multiprocessors by their numbers */
	size_t *order;           /* tracks */
	size_t n, cap;
};

/* Of a kind, which may be another one than before. 0 or -ENOMEM. */
int warp_lanes_make(struct warp_lanes *l, const struct warp_tracks *of, enum warp_lane_kind kind);
void warp_lanes_done(struct warp_lanes *l);

/* view->n columns of a lane. */
void warp_lanes_cells(const struct warp_lanes *l, size_t lane, const struct warp_view *view,
		      struct warp_cell *ret);
/* The class that had most of a column; WARP_CLASSES: none had any. */
unsigned warp_cell_class(const struct warp_cell *cell);
/* How much of the time of its warps was in scopes, 0…1; NaN: no warp was there. */
double warp_cell_share(const struct warp_cell *cell);

/* A segment of a lane. */
struct warp_spot {
	const struct warp_segment *segment; /* NULL: there is none */
	uint32_t warp;                      /* within the launch's */
};

/* What runs at `at`, on the first track that has something of this class (WARP_CLASSES: any), else what begins first before
 * `to`. */
struct warp_spot warp_lanes_at(const struct warp_lanes *l, size_t lane, uint64_t at, uint64_t to,
			       unsigned class);
/* The segment of a lane that begins first at `at` or behind it, or the last one that begins before it. names: by name, which are
 * looked for; NULL: all. */
struct warp_spot warp_lanes_from(const struct warp_lanes *l, size_t lane, uint64_t at,
				 const bool *names);
struct warp_spot warp_lanes_before(const struct warp_lanes *l, size_t lane, uint64_t at,
				   const bool *names);
/* The first mark or value of a lane in [from, to), of which it is said which warp it is of. Lanes of more than a group of warps
 * show none. */
const struct warp_instant *warp_lanes_instant(const struct warp_lanes *l, size_t lane,
					      uint64_t from, uint64_t to, uint32_t *ret_warp);
/* The first lane that has this block; SIZE_MAX: none. */
size_t warp_lanes_find(const struct warp_lanes *l, uint64_t block);

#endif
