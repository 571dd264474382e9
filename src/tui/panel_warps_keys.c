/* SPDX-License-Identifier: MIT */
/* What keys do on the timeline within a kernel: where its cursor goes, and how much is in sight. */
#include "config.h" // IWYU pragma: keep
#include <stdlib.h>
#include <string.h>
#include "tui/axis_hits.h"
#include "tui/panel_warps.h"
#include "tui/tui_impl.h"

/* ---- time ---- */

static void do_right(struct panel *p)
{
	axis_step(&as_warps(p)->axis, 1);
}

static void do_left(struct panel *p)
{
	axis_step(&as_warps(p)->axis, -1);
}

static void do_pan_right(struct panel *p)
{
	axis_pan(&as_warps(p)->axis, true);
}

static void do_pan_left(struct panel *p)
{
	axis_pan(&as_warps(p)->axis, false);
}

static void do_zoom_in(struct panel *p)
{
	struct axis *a = &as_warps(p)->axis;

	if (axis_span(a) <= a->n)
		tui_message(p->tui, "a column is a cycle");
	axis_zoom(a, axis_span(a) / 2);
}

static void do_zoom_out(struct panel *p)
{
	struct axis *a = &as_warps(p)->axis;

	if (axis_is_all(a))
		tui_message(p->tui, "this is all of the launch: + zooms in");
	axis_zoom(a, axis_span(a) * 2);
}

static void do_first(struct panel *p)
{
	axis_go(&as_warps(p)->axis, 0);
}

static void do_last(struct panel *p)
{
	axis_go(&as_warps(p)->axis, UINT64_MAX);
}

/* ---- what was seen before ---- */

static void remember(struct panel *p)
{
	struct panel_warps *pw = as_warps(p);

	if (pw->n_before == WARPS_MAX_ZOOM)
		memmove(pw->before, pw->before + 1, --pw->n_before * sizeof(pw->before[0]));
	pw->before[pw->n_before++] = (struct warps_before){pw->axis.from, pw->axis.to, pw->axis.at,
							   p->cursor_key, pw->kind};
}

/* Lanes of another kind; where the cursor is, is said by the caller. */
static void show_kind(struct panel *p, enum warp_lane_kind kind)
{
	struct panel_warps *pw = as_warps(p);

	pw->is_kind_chosen = true;
	if (pw->kind == kind)
		return;
	pw->kind = kind;
	pw->has_rows = false;
	panel_spoil(p);
	panel_refresh(p);
}

static void do_back(struct panel *p)
{
	struct panel_warps *pw = as_warps(p);
	struct warps_before *before;

	if (!pw->n_before) {
		tui_message(p->tui, "there is no view before this one: - zooms out");
		return;
	}
	before = &pw->before[--pw->n_before];
	show_kind(p, before->kind);
	for (size_t row = 0; row < p->n_rows; row++)
		if (warps_row_key(p, row) == before->key)
			panel_goto(p, row);
	axis_show(&pw->axis, before->from, before->to - before->from);
	axis_go(&pw->axis, before->at);
}

static void do_all(struct panel *p)
{
	remember(p);
	axis_show(&as_warps(p)->axis, 0, as_warps(p)->axis.end);
}

/* With some of what is around it. */
static void show_span(struct panel *p, uint64_t from, uint64_t to)
{
	struct axis *a = &as_warps(p)->axis;
	uint64_t span = MAX(to - from, 1);

	axis_show(a, from - MIN(span / 8, from), span + span / 4);
	axis_go(a, from);
}

/* ---- lanes ---- */

static size_t row_of_lane(const struct panel *p, const struct panel_warps *pw, size_t lane)
{
	for (size_t row = 0; row < p->n_rows; row++)
		if (pw->rows[row].kind == WARPS_LANE && pw->rows[row].id == lane)
			return row;
	return 0;
}

/* The lane of a warp, in lanes of whatever kind. */
static void go_to_warp(struct panel *p, uint32_t warp)
{
	struct panel_warps *pw = as_warps(p);
	const struct warp_trace_warp *w = warp_tracks_warp(&pw->tracks, warp);

	for (size_t i = 0; i < pw->lanes.n; i++) {
		const struct warp_lane *lane = &pw->lanes.lanes[i];
		bool is_block = pw->kind == WARP_LANES_SMS
					? lane->multiprocessor == w->multiprocessor
					: lane->block == w->block;

		if (!is_block || w->warp < lane->warp || w->warp > lane->last_warp)
			if (!is_block || pw->kind != WARP_LANES_SMS)
				continue;
		panel_goto(p, row_of_lane(p, pw, i));
		return;
	}
}

/* The first warp of a lane. */
static uint32_t first_warp(const struct panel_warps *pw, const struct warp_lane *lane)
{
	return pw->tracks.tracks[pw->lanes.order[lane->tracks]].warp;
}

/* The warp that the cursor is about. */
static uint32_t warp_here(struct panel *p)
{
	struct warps_here here = warps_here(p);

	return here.spot.segment ? here.spot.warp : first_warp(as_warps(p), here.lane);
}

static const char *const kind_words[WARP_LANES_N] = {
	[WARP_LANES_WARPS] = "warps",
	[WARP_LANES_GROUPS] = "groups of four warps",
	[WARP_LANES_BLOCKS] = "CTAs",
	[WARP_LANES_SMS] = "multiprocessors",
};

static void do_kind(struct panel *p)
{
	uint32_t warp = warp_here(p);

	show_kind(p, (as_warps(p)->kind + 1) % WARP_LANES_N);
	go_to_warp(p, warp);
	tui_message(p->tui, "lanes: %s", kind_words[as_warps(p)->kind]);
}

/* From multiprocessors and blocks into the warps of the block under the cursor, as long as it ran; from warps to a scope. */
static void do_open(struct panel *p)
{
	struct panel_warps *pw = as_warps(p);
	struct warps_here here = warps_here(p);
	uint32_t warp = warp_here(p);
	size_t lane;

	if (here.lane->n_tracks == 1 && !here.spot.segment) {
		tui_message(p->tui, "no scope is here: } and { go to the next one");
		return;
	}
	remember(p);
	if (pw->kind == WARP_LANES_WARPS) {
		show_span(p, here.spot.segment->from, here.spot.segment->to);
		return;
	}
	show_kind(p, WARP_LANES_WARPS);
	go_to_warp(p, warp);
	lane = warp_lanes_find(&pw->lanes, warp_tracks_warp(&pw->tracks, warp)->block);
	show_span(p, pw->lanes.lanes[lane].from, pw->lanes.lanes[lane].to);
}

/* ---- from one to the next ---- */

static void do_next(struct panel *p)
{
	struct panel_warps *pw = as_warps(p);
	struct warp_spot spot =
		warp_lanes_from(&pw->lanes, pw->rows[p->cursor].id, pw->axis.at + 1, NULL);

	if (spot.segment)
		axis_go(&pw->axis, spot.segment->from);
	else
		tui_message(p->tui, "no scope comes after this on this lane");
}

static void do_prev(struct panel *p)
{
	struct panel_warps *pw = as_warps(p);
	struct warp_spot spot =
		warp_lanes_before(&pw->lanes, pw->rows[p->cursor].id, pw->axis.at, NULL);

	if (spot.segment)
		axis_go(&pw->axis, spot.segment->from);
	else
		tui_message(p->tui, "no scope comes before this on this lane");
}

/* What the scope under the cursor was entered in fills the screen. */
static void do_parent(struct panel *p)
{
	struct panel_warps *pw = as_warps(p);
	struct warps_here here = warps_here(p);
	const struct warp_trace_scope *scope;
	int64_t shift;

	if (!here.spot.segment) {
		tui_message(p->tui, "no scope is here: } and { go to the next one");
		return;
	}
	scope = warp_tracks_scope(&pw->tracks, here.spot.warp, here.spot.segment->scope);
	if (scope->parent == WARP_TRACE_NO_PARENT) {
		tui_message(p->tui, "this scope is in no other one");
		return;
	}
	scope = warp_tracks_scope(&pw->tracks, here.spot.warp, scope->parent);
	shift = pw->tracks.clock.shift[here.spot.warp];
	remember(p);
	show_span(p, (uint64_t)((int64_t)scope->enter + shift),
		  scope->is_open ? here.lane->to : (uint64_t)((int64_t)scope->leave + shift));
}

/* ---- outliers ---- */

/* The first scope of an outlier's name in its block. */
static struct warp_spot outlier_spot(struct panel *p, const struct warp_outlier *o)
{
	struct panel_warps *pw = as_warps(p);
	size_t lane = warp_lanes_find(&pw->lanes, o->block);
	uint32_t n = strtab_count(pw->tracks.t->names);
	_cleanup_(freep) bool *names = calloc(n, sizeof(*names));
	struct warp_spot spot = {NULL, 0};

	if (!names || lane == SIZE_MAX)
		return spot;
	names[pw->stats.stats[o->stat].name] = true;
	for (; lane < pw->lanes.n && pw->lanes.lanes[lane].block == o->block && !spot.segment;
	     lane++) {
		spot = warp_lanes_at(&pw->lanes, lane, 0, UINT64_MAX,
				     pw->tracks.class_of[pw->stats.stats[o->stat].name]);
		if (!spot.segment)
			spot = warp_lanes_from(&pw->lanes, lane, 0, names);
	}
	return spot;
}

static void say_outlier(struct panel *p, const struct warp_outlier *o)
{
	const struct panel_warps *pw = as_warps(p);
	char cycles[HUMAN_MAX];

	warps_put_cycles(pw, o->cycles, cycles);
	tui_message(p->tui, "CTA %llu on SM %u: %s takes %s%s, %.1f times the median of all CTAs",
		    (unsigned long long)o->block, o->multiprocessor,
		    warps_name(pw, pw->stats.stats[o->stat].name), cycles,
		    pw->in_ns ? "" : " cycles", o->times);
}

static void go_to_outlier(struct panel *p, bool forward)
{
	struct panel_warps *pw = as_warps(p);
	size_t n = pw->stats.n_outliers;
	const struct warp_outlier *o;
	struct warp_spot spot;

	if (!n) {
		tui_message(p->tui, "no CTA stands out: all take about as long for each scope");
		return;
	}
	if (pw->outlier >= n)
		pw->outlier = forward ? 0 : n - 1;
	else
		pw->outlier = (pw->outlier + (forward ? 1 : n - 1)) % n;
	o = &pw->stats.outliers[pw->worst[pw->outlier]];
	if (pw->kind == WARP_LANES_SMS)
		show_kind(p, WARP_LANES_BLOCKS);
	spot = outlier_spot(p, o);
	if (spot.segment) {
		go_to_warp(p, spot.warp);
		axis_go(&pw->axis, spot.segment->from);
	}
	say_outlier(p, o);
}

static void do_next_outlier(struct panel *p)
{
	go_to_outlier(p, true);
}

static void do_prev_outlier(struct panel *p)
{
	go_to_outlier(p, false);
}

/* ---- search ---- */

/* Which names have the text that is searched for; NULL: none has. */
static bool *wanted_names(struct panel *p)
{
	const struct strtab *names = as_warps(p)->tracks.t->names;
	uint32_t n = strtab_count(names);
	bool *wanted = calloc(n, sizeof(*wanted)), any = false;
	bool match_case = text_is_smart_case(p->tui->search);

	for (uint32_t i = 0; wanted && i < n; i++)
		any |= wanted[i] =
			text_find(strtab_str(names, i), p->tui->search, match_case) != NULL;
	if (!any) {
		free(wanted);
		wanted = NULL;
	}
	return wanted;
}

static struct warp_spot find_on(struct panel *p, size_t row, bool forward, const bool *wanted)
{
	struct panel_warps *pw = as_warps(p);
	size_t lane = pw->rows[row].id;

	if (pw->rows[row].kind != WARPS_LANE)
		return (struct warp_spot){NULL, 0};
	if (row == p->cursor)
		return forward ? warp_lanes_from(&pw->lanes, lane, pw->axis.at + 1, wanted)
			       : warp_lanes_before(&pw->lanes, lane, pw->axis.at, wanted);
	if (!forward)
		return warp_lanes_before(&pw->lanes, lane, UINT64_MAX, wanted);
	return warp_lanes_from(&pw->lanes, lane, 0, wanted);
}

bool warps_find(struct panel *p, bool forward, bool *ret_wrapped)
{
	_cleanup_(freep) bool *wanted = wanted_names(p);
	size_t row = p->cursor;

	for (size_t i = 0; wanted && i <= p->n_rows; i++) {
		struct warp_spot spot = find_on(p, row, forward, wanted);

		if (spot.segment) {
			panel_goto(p, row);
			axis_go(&as_warps(p)->axis, spot.segment->from);
			return true;
		}
		row = panel_step(row, p->n_rows, forward, ret_wrapped);
	}
	return false;
}

/* ---- requests ---- */

static void do_unit(struct panel *p)
{
	struct panel_warps *pw = as_warps(p);

	if (!(pw->tracks.clock.cycle_ns > 0)) {
		tui_message(p->tui, "it is not known how long a cycle of this launch was");
		return;
	}
	pw->in_ns = !pw->in_ns;
	tui_message(p->tui, pw->in_ns ? "times: nanoseconds" : "times: cycles");
}

static void (*const handlers[REQ_N])(struct panel *p) = {
	[REQ_LEFT] = do_left,
	[REQ_RIGHT] = do_right,
	[REQ_SCROLL_LEFT] = do_pan_left,
	[REQ_SCROLL_RIGHT] = do_pan_right,
	[REQ_UNFOLD] = do_zoom_in,
	[REQ_FOLD] = do_zoom_out,
	[REQ_ZOOM] = do_open,
	[REQ_OPEN] = do_open,
	[REQ_ZOOM_OUT] = do_back,
	[REQ_FOLD_AUTO] = do_all,
	[REQ_FIRST] = do_first,
	[REQ_LAST] = do_last,
	[REQ_NEXT_SIBLING] = do_next,
	[REQ_PREV_SIBLING] = do_prev,
	[REQ_HOT_CHILD] = do_next_outlier,
	[REQ_HOT_PATH] = do_prev_outlier,
	[REQ_PARENT] = do_parent,
	[REQ_GROUP] = do_kind,
	[REQ_FORM] = do_unit,
	[REQ_SORT_NEXT] = warps_next_launch,
	[REQ_SORT_PREV] = warps_prev_launch,
	[REQ_SORT_MENU] = warps_choose_launch,
};

/* Where a launch has no warps, another one may have some. */
static bool request_without_rows(struct panel *p, enum request request)
{
	bool is_launch =
		request == REQ_SORT_NEXT || request == REQ_SORT_PREV || request == REQ_SORT_MENU;

	if (!is_launch || !warps_list(p) || !warps_list(p)->n_launches)
		return false;
	handlers[request](p);
	return true;
}

bool warps_request(struct panel *p, enum request request)
{
	if (p->n_rows == 0)
		return request_without_rows(p, request);
	return panel_request_zoomed(p, request, handlers, as_warps(p)->n_before);
}

void warps_pick(struct panel *p, int part)
{
	struct panel_warps *pw = as_warps(p);
	unsigned column;
	size_t row;

	if (!axis_hit(part, p->n_rows, pw->axis.n, &row, &column))
		return;
	panel_goto(p, row);
	pw->axis.at = axis_start(&pw->axis, column);
}
