/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_PANEL_TIMELINE_H
#define PROTON_TUI_PANEL_TIMELINE_H
/* The timeline's state, which its files share: panel_timeline.c is about what is shown and answers keys,
 * panel_timeline_draw.c draws it, panel_timeline_counters.c what counters and gaps say, panel_timeline_at.c tells all
 * what is where. Its rows are the strips of core/strips.h, with a heading for
 * each process and device.
 *
 *      12.5ms │1.20s      ▼     │1.21s             the ruler: how much is seen, and when
 *      GPU0 H200  pid 41207 python train.py        a heading
 *      busy ▼63%  ▃█▅█▅▄ l ▇█▇                     a counter: how busy a column is, and that which is the cursor's
 *      stream 7  ▏gemm_bf16   ▏▁▃█▂  ▏relu   ▏     operations that fill columns have boxes,
 *        +1          ▏memcpy HtoD▏                 others the share of a column that was busy
 *
 * The cursor is a row and a moment. */
#include "core/busy.h"
#include "core/levels.h"
#include "core/strips.h"
#include "tui/axis.h"
#include "tui/panel.h"

#define TIMELINE_MAX_ZOOM 32
/* The roles of boxes, by class; behind them what the filter leaves out. */
#define TIMELINE_LEFT_OUT STRIP_LEAST

/* The cursor stands on strips alone. */
enum timeline_row_kind { TIMELINE_STRIP, TIMELINE_HEADING, TIMELINE_BUSY, TIMELINE_MEMORY };

struct timeline_row {
	uint32_t id; /* of a strip; else of the first lane below it */
	uint8_t kind;
};

/* From a launch to its operation, of what is under the cursor. */
struct timeline_flow {
	uint64_t launched_ns, start_ns; /* of the operation; launched_ns 0: nothing is known */
	uint64_t thread;                /* that launched it; 0: not known */
	size_t from, to; /* rows, of the thread and of the operation; SIZE_MAX: none */
	struct strip_place range, work; /* range: the innermost one of the thread then, if any */
};

struct panel_timeline {
	struct panel base;
	struct strips strips;
	uint32_t lanes_moved; /* of the session, when they were made */
	uint64_t generation;  /* of the numbers that the classes are of; 0: there are none */
	bool has_class[STRIP_CLASSES]; /* any interval of it */
	struct timeline_row *rows;
	size_t cap_rows;
	struct busy
		*busy; /* by lane that is the first of its device; without strips: not made yet */
	struct levels *levels; /* of memory, likewise; n 0: none, or not made yet */
	bool is_put_off;       /* they are made when the rest has been shown */
	bool was_put_off;
	struct strip_view view;                    /* what is seen; n: columns */
	uint64_t at_ns;                            /* the cursor's moment */
	bool is_placed;                            /* the two lines above hold */
	struct strip_view zoom[TIMELINE_MAX_ZOOM]; /* the views before */
	unsigned n_zoom;
	struct strip_cell *cells;  /* scratch: a row */
	struct timeline_flow flow; /* while it is drawn */
	size_t cap_cells;
};

static inline struct panel_timeline *as_timeline(struct panel *p)
{
	return (struct panel_timeline *)p;
}

/* The strip of a row; NULL: of a heading, or there is no such row. */
const struct strip *timeline_strip(struct panel *p, size_t row);
/* The calling context of an interval; SNAP_NONE: it is not in the picture. */
uint32_t timeline_node(struct panel *p, const struct session_interval *v);
/* Columns for the names of lanes, and the one where time begins. */
int timeline_label_width(const struct panel *p);
/* The column of a moment that is in the view. */
static inline unsigned timeline_column(const struct strip_view *view, uint64_t ns)
{
	const struct axis seen = {.from = view->from_ns, .to = view->to_ns, .n = view->n};

	return axis_column(&seen, ns);
}

/* What is under the cursor: what runs at its moment, else what comes first in its column, or nothing. */
struct timeline_spot {
	const struct strip *strip; /* NULL: the cursor is on none */
	size_t i;                  /* interval of it */
	size_t n;                  /* so many are in the column from there on; 0: none */
};
struct timeline_spot timeline_spot(struct panel *p);

/* May look far for what a range launched, or at what is near alone. */
struct timeline_flow timeline_flow(struct panel *p, bool far);
/* The calling context of an interval's node, or the node's own name where it is not in the picture. */
const char *timeline_name(struct panel *p, const struct strip *strip, size_t i);

/* All that the process of a lane did on its device. NULL: not made yet, or no memory. */
const struct busy *timeline_busy(struct panel *p, uint32_t lane);
/* … of a strip's device; NULL too: the strip is of the host. */
const struct busy *timeline_busy_of(struct panel *p, const struct strip *strip);
/* The first part of [from, to) of which nothing is known on a strip's device; NULL: there is none, or it is not made yet. */
const struct unrecorded_span *timeline_unrecorded(struct panel *p, const struct strip *strip,
						  uint64_t from_ns, uint64_t to_ns);
/* What its process held of its memory. NULL: that is not known. */
const struct levels *timeline_levels(struct panel *p, uint32_t lane);
/* Nothing runs on a strip at the cursor's moment: "  late 1.05ms, launch 50us", or that others run there. Returns what
 * the device waited for; strip NULL: that is not known, or it did not wait. */
struct strip_place timeline_put_reason(struct panel *p, const struct strip *strip, struct buf *out);
void timeline_draw_memory(struct panel *p, struct pen *pen, uint32_t lane);
void timeline_draw_busy(struct panel *p, struct pen *pen, uint32_t lane);
void timeline_draw_reasons(struct panel *p, struct pen *pen);
void timeline_forget_counters(struct panel_timeline *pt);

/* For the panel's ops. */
bool timeline_later(struct panel *p);
void timeline_draw_head(struct panel *p, struct pen *pen);
void timeline_draw_row(struct panel *p, struct pen *pen, size_t row);
void timeline_draw_foot(struct panel *p, struct pen *pen);
void timeline_draw_below(struct panel *p, const struct canvas *canvas, int y, int rows);

#endif
