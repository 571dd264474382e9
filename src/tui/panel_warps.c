/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/panel_warps.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "tui/axis_hits.h"
#include "tui/tui_impl.h"

/* ---- rows ---- */

/* On a small screen, as few as there is room for. */
static size_t put_heads(const struct panel *p, struct warps_row *rows)
{
	static const uint8_t heads[] = {WARPS_FACTS, WARPS_GRID, WARPS_RUNNING};
	size_t n = p->height >= 9 ? 3 : p->height >= 4;

	for (size_t i = 0; i < n; i++)
		rows[i] = (struct warps_row){0, heads[3 - n + i]};
	return n;
}

/* Blocks have a heading where their warps are the lanes. */
static bool make_rows(struct panel *p)
{
	struct panel_warps *pw = as_warps(p);
	const struct warp_lanes *l = &pw->lanes;
	bool has_blocks = pw->kind == WARP_LANES_WARPS || pw->kind == WARP_LANES_GROUPS;
	size_t n;

	if (l->of != &pw->tracks || l->kind != pw->kind || !pw->has_rows) {
		if (warp_lanes_make(&pw->lanes, &pw->tracks, pw->kind) < 0)
			return false;
		pw->has_rows = false;
	}
	if (ARRAY_ROOM(pw->rows, pw->cap_rows, 3 + 2 * l->n) < 0)
		return false;
	n = put_heads(p, pw->rows);
	for (uint32_t i = 0; i < l->n; i++) {
		if (has_blocks && (i == 0 || l->lanes[i].block != l->lanes[i - 1].block))
			pw->rows[n++] = (struct warps_row){i, WARPS_BLOCK};
		pw->rows[n++] = (struct warps_row){i, WARPS_LANE};
	}
	pw->has_rows = true;
	p->n_rows = l->n ? n : 0;
	return true;
}

static bool is_heading(struct panel *p, size_t row)
{
	return as_warps(p)->rows[row].kind != WARPS_LANE;
}

/* Of lanes that are warps, their block stays in sight. */
static size_t head_of(struct panel *p, size_t row)
{
	const struct panel_warps *pw = as_warps(p);

	if (pw->rows[row].kind != WARPS_LANE)
		return SIZE_MAX;
	while (row > 0 && pw->rows[row].kind == WARPS_LANE)
		row--;
	return pw->rows[row].kind == WARPS_BLOCK ? row : SIZE_MAX;
}

static uint32_t row_node(struct panel *p, size_t row)
{
	(void)row;
	return warps_kernel_node(p);
}

static const char *row_name(struct panel *p, size_t row)
{
	struct panel_warps *pw = as_warps(p);
	struct warps_here here;

	if (row != p->cursor)
		return "";
	here = warps_here(p);
	return here.spot.segment ? warps_name(pw, warp_tracks_scope(&pw->tracks, here.spot.warp,
								    here.spot.segment->scope)
							  ->name)
				 : "";
}

/* ---- what is shown ---- */

static void update(struct panel *p)
{
	struct panel_warps *pw = as_warps(p);
	int columns = p->width - 1 - warps_label_width(p) - warps_busy_width(p) - 1;

	p->n_rows = 0;
	warps_find_launch(p);
	if (!warps_list(p) || columns < 1 || !warps_make(p) || !make_rows(p))
		return;
	columns = MIN(columns, AXIS_COLUMNS - 1);
	if (ARRAY_ROOM(pw->cells, pw->cap_cells, (size_t)columns) < 0) {
		p->n_rows = 0;
		return;
	}
	axis_fit(&pw->axis, pw->tracks.clock.end, (unsigned)columns);
}

static void done(struct panel *p)
{
	struct panel_warps *pw = as_warps(p);

	warps_unmake(pw);
	free(pw->rows);
	free(pw->cells);
}

static int init(struct panel *p)
{
	as_warps(p)->outlier = SIZE_MAX;
	return 0;
}

static void forget(struct panel *p)
{
	as_warps(p)->has_node = false;
}

/* ---- the panel ---- */

static const char *why_none(const struct tui *t)
{
	if (t->options.warps)
		return "no launch of a kernel with scopes has been kept so far\nscopes are those of "
		       "<proton/kernel.cuh>, of Triton's Proton, or what --intra puts in";
	if (tui_has_program(t))
		return "single scopes of warps are not kept\n'proton top --intra-trace' keeps what "
		       "each warp did when, within kernels, and shows it here while the program "
		       "runs";
	if (t->options.live && t->options.source == TUI_OF_STREAMS)
		return "single scopes of warps stay where the program runs\n'proton record "
		       "--intra-trace' keeps them there, and 'proton view run.warps' shows them";
	return "no single scopes of warps are known: what each warp did when, within "
	       "kernels\n'proton record --intra-trace' keeps them, and 'proton view run.warps' "
	       "shows a file of them";
}

static const char *why_not(int error)
{
	switch (error) {
	case 0:
		return "no warp of this launch recorded";
	case -ENOENT:
		return "this launch is not kept any more";
	case -EFBIG:
		return "this launch has too many scopes to be shown while the program runs";
	default:
		return strerror(-error);
	}
}

static void explain(struct panel *p, struct buf *out)
{
	size_t n = warps_list(p) ? warps_list(p)->n_launches : 0;
	char none[WARP_NONE_KEPT_TEXT];

	if (n)
		buf_printf(out, "%s%s", why_not(as_warps(p)->error),
			   n > 1 ? "\n> and < go to other launches" : "");
	else if (warps_list(p) && warps_list(p)->n_left_out) {
		warp_trace_none_kept_text(warps_list(p), none);
		buf_puts(out, none);
	} else {
		buf_puts(out, why_none(p->tui));
	}
}

static bool is_there(const struct tui *t)
{
	return t->options.warps && t->options.warps->list->n_launches > 0;
}

static const struct panel_key keys[] = {
	{REQ_LEFT, NULL, "a column to the left"},
	{REQ_RIGHT, NULL, "a column to the right"},
	{REQ_SCROLL_LEFT, NULL, "half a screen earlier"},
	{REQ_SCROLL_RIGHT, NULL, "half a screen later"},
	{REQ_UNFOLD, NULL, "zoom in, around the cursor"},
	{REQ_FOLD, NULL, "zoom out, around the cursor"},
	{REQ_GROUP, "Lanes", "lanes: warps, groups of four warps, CTAs, multiprocessors"},
	{REQ_OPEN, NULL, "the warps of this CTA; of a warp, the scope under the cursor"},
	{REQ_ZOOM, NULL, "the same"},
	{REQ_ZOOM_OUT, NULL, "back to the view before"},
	{REQ_FOLD_AUTO, NULL, "all of the launch"},
	{REQ_HOT_CHILD, NULL, "next CTA that stands out: far slower in a scope than others"},
	{REQ_HOT_PATH, NULL, "previous one"},
	{REQ_NEXT_SIBLING, NULL, "next scope on this lane"},
	{REQ_PREV_SIBLING, NULL, "previous scope on this lane"},
	{REQ_PARENT, NULL, "the scope that this one was entered in"},
	{REQ_SORT_MENU, "Kernel", "choose a kernel; where there is one, a launch"},
	{REQ_SORT_NEXT, NULL, "next launch"},
	{REQ_SORT_PREV, NULL, "previous launch"},
	{REQ_FORM, NULL, "times as cycles or as nanoseconds"},
	{REQ_FIRST, NULL, "to the first moment"},
	{REQ_LAST, NULL, "to the last moment"},
	{REQ_TOGGLE, "Tree", "show the kernel in the tree"},
	{REQ_NONE, NULL, NULL},
};

static const struct panel_sign signs[] = {
	{"A", "most of the time of this column is in the scope of this letter, see the table below",
	 NULL},
	{"a", "the same of a scope that waits for others, as its name says", NULL},
	{".", "warps are there and in no scope", NULL},
	{" ", "no warp of this lane is there", NULL},
	{"░", "it is not known what warps did: their records were overwritten by later ones", "/"},
	{"▲", "a mark", "^"},
	{"●", "a value", "*"},
	{"w4 ~", "what this warp does asynchronously, which may overlap", NULL},
	{"!", "a CTA that stands out: a scope takes far longer there than in most", NULL},
	{"CTA", "a block of threads; SM: the multiprocessor that it ran on", NULL},
	{"BUSY", "how long a lane's warps were in scopes and did not wait", NULL},
	{"SHARE", "percent of the time of all the kernel's warps", NULL},
	{"P99", "99 of 100 took no longer, in cycles (x: nanoseconds)", NULL},
	{.sign = NULL},
};

const struct panel_ops panel_warps_ops = {
	.title = "Warps",
	.is_there = is_there,
	.size = sizeof(struct panel_warps),
	.init = init,
	.done = done,
	.update = update,
	.row_key = warps_row_key,
	.row_name = row_name,
	.row_node = row_node,
	.is_heading = is_heading,
	.head_of = head_of,
	.draw_head = warps_draw_head,
	.draw_row = warps_draw_row,
	.draw_foot = warps_draw_foot,
	.foot_rows = warps_foot_rows,
	.draw_below = warps_draw_below,
	.explain = explain,
	.request = warps_request,
	.pick = warps_pick,
	.go_to = warps_go_to,
	.forget = forget,
	.find = warps_find,
	.keys = keys,
	.signs = signs,
	.is_of_run = true,
};
