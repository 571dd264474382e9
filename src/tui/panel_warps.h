/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_PANEL_WARPS_H
#define PROTON_TUI_PANEL_WARPS_H
/* The timeline within a kernel, whose files share this: panel_warps.c is the panel, with its rows,
 * panel_warps_launch.c chooses the launch that is shown, panel_warps_keys.c answers keys within it, panel_warps_at.c tells what is
 * under the cursor, panel_warps_draw.c draws lanes, panel_warps_table.c the table of scopes below them.
 *
 *      36.1K cycles  │0       ▼ │10k                   the ruler
 *      flash_fwd  launch 3812 (2 of 7)  rank 3  GPU0   facts
 *      264 CTAs  132 SMs  2 waves  tail 7%
 *      running       ███████▇▇▇███▅▂▁                  how many blocks ran
 *      CTA 17        softmaxQQQQQSSS...    86%         lanes: which scope, by its letter and colour; how much of its time
 *      …
 *      SHARE  COUNT  MEAN …  SCOPE    LATE CTAS        the table, which is the legend
 *
 * The cursor is a lane and a moment. */
#include "intra/warp_grid.h"
#include "intra/warp_lanes.h"
#include "intra/warp_source.h"
#include "intra/warp_stats.h"
#include "tui/axis.h"
#include "tui/panel.h"

#define WARPS_MAX_ZOOM 32
#define WARPS_MOMENT   24

/* The cursor stands on lanes alone. */
enum warps_row_kind { WARPS_LANE, WARPS_FACTS, WARPS_GRID, WARPS_RUNNING, WARPS_BLOCK };

struct warps_row {
	uint32_t id; /* of a lane; of WARPS_BLOCK the first lane below it */
	uint8_t kind;
};

/* What was seen before. */
struct warps_before {
	uint64_t from, to, at, key;
	enum warp_lane_kind kind;
};

struct panel_warps {
	struct panel base;
	size_t launch;      /* of those there are … */
	uint64_t id;        /* … which stays where that moves: */
	bool is_chosen;     /* it holds */
	bool is_latest;     /* there was none of its kernel behind it when it was chosen */
	uint64_t follow_ns; /* before, the next one does not take its place */
	int error;          /* why it cannot be shown; 0: it can */
	bool is_made;       /* what follows, for this launch */
	struct warp_tracks tracks;
	struct warp_grid grid;
	struct warp_stats stats;
	struct warp_lanes lanes;
	enum warp_lane_kind kind; /* of the lanes that are wanted */
	char letters[WARP_CLASSES];
	uint8_t colours[WARP_CLASSES]; /* waits have none, and take none from others */
	uint64_t *late;                /* blocks that stand out, ascending */
	size_t n_late;
	struct warps_row *rows;
	size_t cap_rows;
	bool has_rows; /* of these lanes */
	struct axis axis;
	struct warps_before before[WARPS_MAX_ZOOM];
	unsigned n_before;
	uint32_t *worst; /* outliers, those first that took longest beside others */
	size_t outlier;  /* of these the last one that the cursor was brought to; SIZE_MAX: none */
	bool in_ns;      /* times are shown as nanoseconds */
	bool is_kind_chosen;
	uint32_t node;           /* of the launch's kernel, or SNAP_NONE */
	bool has_node;           /* the line above holds */
	struct warp_cell *cells; /* scratch: a row */
	size_t cap_cells;
	int foot; /* lines of the table and what is under the cursor, when last laid out */
};

static inline struct panel_warps *as_warps(struct panel *p)
{
	return (struct panel_warps *)p;
}

/* ---- panel_warps_launch.c ---- */

/* Where is the launch that is shown by now, and is it another one? */
void warps_find_launch(struct panel *p);
/* All of a launch but its lanes. False: there is none, or no memory. */
bool warps_make(struct panel *p);
void warps_unmake(struct panel_warps *pw);
/* Choose another one: of a list of kernels, or where there is one, of its launches. */
void warps_choose_launch(struct panel *p);
void warps_next_launch(struct panel *p);
void warps_prev_launch(struct panel *p);

/* ---- panel_warps_at.c ---- */

/* All launches that can be shown; NULL: nothing is known of warps. */
const struct warp_trace *warps_list(const struct panel *p);

/* The lane of a row; NULL: of a heading, or there is no such row. */
const struct warp_lane *warps_lane(struct panel *p, size_t row);
/* The same for the lanes of a block, of whatever kind they are, as far as that can be: what a lane is of. */
uint64_t warps_row_key(struct panel *p, size_t row);
/* Columns for the names of lanes, and behind them for their shares. */
int warps_label_width(const struct panel *p);
int warps_busy_width(const struct panel *p);
struct warp_view warps_view(const struct panel_warps *pw);

/* What is under the cursor: what runs on its lane at its moment, else what begins first in its column. Where several warps share
 * a lane, it is what most of their time goes to. */
struct warps_here {
	const struct warp_lane *lane;       /* NULL: the cursor is on none */
	struct warp_spot spot;              /* its segment is NULL: no scope */
	const struct warp_instant *instant; /* a mark or value that is in the column; NULL: none */
	uint32_t instant_warp;
	double share;    /* of the time of the lane's warps in this column, that went to it */
	bool is_present; /* a warp of the lane is there … */
	bool is_unknown; /* … and it is not known what it did */
};
struct warps_here warps_here(struct panel *p);
const char *warps_name(const struct panel_warps *pw, uint32_t name);
/* "CTA 17", "w4-7", "SM 41". */
void warps_put_lane(const struct panel_warps *pw, const struct warp_lane *lane, struct buf *out);
/* The stat of a scope of a warp: the one of its name in its place. NULL: none. */
const struct warp_stat *warps_stat(const struct panel_warps *pw, uint32_t warp, uint32_t scope);
/* The context of the launch's kernel in the tree, or SNAP_NONE. */
uint32_t warps_kernel_node(struct panel *p);
/* The name of a launch's kernel, as the tree shows it if it stands there. */
const char *warps_kernel_name(struct panel *p, size_t launch);
/* Does the launch belong to a kernel that stands at this node? */
bool warps_is_of(struct panel *p, size_t launch, uint32_t node);
/* Does any? */
bool warps_are_of(struct panel *p, uint32_t node);

/* A moment, or how long something takes, as it is shown: cycles, or nanoseconds where these are known and wanted. */
void warps_put_cycles(const struct panel_warps *pw, double cycles, char out[HUMAN_MAX]);

/* ---- for the panel's ops ---- */

bool warps_request(struct panel *p, enum request request);
void warps_pick(struct panel *p, int part);
/* Of what is searched for the next, on this lane, then on the next ones. */
bool warps_find(struct panel *p, bool forward, bool *ret_wrapped);
/* The kernel that stands there, if it has a launch. Of the one that is shown, the launch stays. */
bool warps_go_to(struct panel *p, uint32_t node);
void warps_draw_head(struct panel *p, struct pen *pen);
void warps_draw_row(struct panel *p, struct pen *pen, size_t row);
void warps_draw_foot(struct panel *p, struct pen *pen);
int warps_foot_rows(struct panel *p, int rows);
void warps_draw_below(struct panel *p, const struct canvas *canvas, int y, int rows);
/* "12.8k  softmax  1920 cycles, 970ns  …": what is under the cursor. */
void warps_draw_here(struct panel *p, struct pen *pen, enum role role);
/* The ground of boxes of a class of names: of waits there is none. */
enum role warps_ground(const struct panel_warps *pw, unsigned class);

#endif
