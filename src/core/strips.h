/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_STRIPS_H
#define PROTON_CORE_STRIPS_H
/* The single executions of a session as strips over time, to be looked at in any width: on a strip nothing
 * overlaps. What ran at the same time on one stream, and ranges of a thread within each other, have
 * further strips of the same lane.
 *
 *     lane "stream 7"       strip 0  ──[gemm]──[relu]────
 *                           strip 1  ─────[copy]─────────
 *     lane "pages to GPU"   strip 0  ──[]─[]─[]──────────   of unified memory (core/pages.h): no work of the device
 *     lane "thread 4711"    strip 0  ─[step             ]
 *                           strip 1  ──[forward]─[back]──
 *
 *     intervals of the session ── strips_init() ──> order: by strip, and on a strip by time
 *                                 strips_sort() ──> classes, and their sums at each 64th interval
 *                                 strips_cells() ─> how busy a strip was in each column of a screen
 *
 * A column costs a binary search and at most 64 intervals, however many there are. Lanes stand by
 * process: its threads, then the streams of its devices, behind those of each its pages. Processes whose clocks are others (of several
 * hosts) are put on that which has run longest.
 *   thread  one */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/session.h"
#include "core/snapshot.h"

#define STRIP_CLASSES 8
#define STRIP_LEAST   (STRIP_CLASSES - 1) /* the class that a column has only where no other ran */

/* A thread of the host, or a stream of a device, whichever threads launched there; or pages of unified memory of either,
 * of one kind. */
struct strip_lane {
	uint32_t rank;            /* of its process; UINT32_MAX: none, which comes last */
	uint32_t process, device; /* indices, or SESSION_NONE */
	uint32_t context, stream;
	uint64_t thread; /* of the host; else 0 */
	bool is_host;
	uint8_t pages;     /* enum pages_lane: PAGES_NONE for threads and streams */
	uint64_t shift_ns; /* from its clock to that of the picture */
	uint32_t first_strip, n_strips;
	size_t first, n; /* of `order` */
};

struct strip {
	uint32_t lane;   /* of the lanes above */
	uint32_t line;   /* 0: the first of its lane */
	size_t first, n; /* of `order` */
	size_t first_block;
};

/* Each 64th interval of a strip. */
struct strip_block {
	uint64_t start_ns;          /* of the first in it */
	uint64_t ns[STRIP_CLASSES]; /* by class: how long those before it on the strip ran */
};

struct strips {
	const struct session *s;
	struct strip_lane *lanes;
	struct strip *strips;
	struct strip_block *blocks;
	uint32_t *order;  /* intervals of the session */
	uint8_t *classes; /* by place in `order` */
	uint32_t *
		earliest; /* by node of the session: its first interval; SESSION_NONE: it has none */
	size_t n_lanes, n_strips, n_blocks, n_intervals, n_nodes;
	uint64_t first_ns, last_ns; /* of all */
	uint64_t zero_ns; /* when the run began, as far as that is known; no later than first_ns */
	size_t cap_lanes, cap_strips;
};

/* 0, -ENOMEM, or -ENODATA: the session has no trace. */
int strips_init(struct strips *t, const struct session *s);
void strips_done(struct strips *t);

/* A class (0 to STRIP_CLASSES - 1) for each interval, of its node and its lane of the session. 0 or
 * -ENOMEM. */
int strips_sort(struct strips *t, uint8_t (*class_of)(void *ctx, uint32_t node, uint32_t lane),
		void *ctx);

/* Interval i of a strip, and its times on the clock of the picture. */
const struct session_interval *strip_interval(const struct strips *t, const struct strip *strip,
					      size_t i);
uint64_t strip_start_ns(const struct strips *t, const struct strip *strip, size_t i);
uint64_t strip_end_ns(const struct strips *t, const struct strip *strip, size_t i);
/* How many intervals of a strip began at `ns` or before. */
size_t strip_begun(const struct strips *t, const struct strip *strip, uint64_t ns);

/* What a strip did in one column. */
struct strip_cell {
	uint64_t busy_ns, least_ns; /* least_ns: of the former, of class STRIP_LEAST */
	size_t n;                   /* intervals that are in it, in part at least */
	size_t first;               /* the first of these */
	uint8_t class;              /* that ran longest, of those but STRIP_LEAST */
};

/* A part of time, as so many columns. */
struct strip_view {
	uint64_t from_ns, to_ns;
	unsigned n;
};

/* Where column `i` begins; that of column n is to_ns. */
uint64_t strip_column_ns(const struct strip_view *view, unsigned i);
/* view->n columns of a strip; the classes were made. */
void strips_cells(const struct strips *t, const struct strip *strip, const struct strip_view *view,
		  struct strip_cell *ret);

/* Are there streams of several contexts on its device, in its process? Then a stream's number alone says too little. */
bool strips_have_contexts(const struct strips *t, const struct strip_lane *lane);

/* Lanes of a device that one process used stand together: the first of them, for one of these. */
uint32_t strips_device_lane(const struct strips *t, uint32_t lane);
/* Are they of the same device and process, or both of the host of one? */
bool strips_same_place(const struct strip_lane *a, const struct strip_lane *b);

/* One interval of a strip. */
struct strip_place {
	const struct strip *strip; /* NULL: none */
	size_t i;
};

/* When interval i of a strip was launched, on the clock of the picture; 0: not known. */
uint64_t strip_launched_ns(const struct strips *t, const struct strip *strip, size_t i);
/* The lane of the host's thread that launched it; NULL: the trace has none of it. */
const struct strip_lane *strip_launcher(const struct strips *t, const struct strip *strip,
					size_t i);
/* The innermost range of a lane of the host at a moment. */
struct strip_place strips_range_at(const struct strips *t, const struct strip_lane *lane,
				   uint64_t ns);
/* The first operation that was launched within range i of a strip of the host. On each strip no more than `most`
 * are looked at. */
struct strip_place strips_first_launched(const struct strips *t, const struct strip *strip,
					 size_t i, size_t most);

/* The view node that an interval counts for: below groups a context is in several branches. SNAP_NONE: it is
 * not in the picture. */
uint32_t interval_node(const struct snapshot *snap, const struct session_interval *v);
/* A range on a thread of the host: no device, no work that a device does, and no pages. */
bool interval_is_host(const struct session *s, const struct session_interval *v);
/* Pages that moved or were missed, of a device or of the host: no work of either. */
bool interval_is_pages(const struct session *s, const struct session_interval *v);
/* Which lane they stand on (enum pages_lane); PAGES_NONE: they are none. */
unsigned interval_pages_lane(const struct session *s, const struct session_interval *v);
/* From the call that launched it to its start; 0: not known, or nobody did. */
uint32_t interval_latency_ns(const struct session *s, const struct session_interval *v);

#endif
