/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/panel_timeline.h"
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/hash.h"
#include "tui/axis_hits.h"
#include "tui/flame_box.h"
#include "tui/names.h"
#include "tui/tui_impl.h"

/* ---- what is shown ---- */

static uint8_t class_of(void *ctx, uint32_t node, uint32_t lane)
{
	struct panel *p = ctx;
	struct panel_timeline *pt = as_timeline(p);
	const struct session_interval v = {.node = node, .lane = lane};
	uint32_t id = timeline_node(p, &v);
	uint8_t class = flame_box_role(session_node_kind(panel_session(p), node)) - ROLE_BOX_KERNEL;

	if (id != SNAP_NONE && !numbers_counts(tui_numbers(p->tui), id))
		class = TIMELINE_LEFT_OUT;
	pt->has_class[class] = true;
	return class;
}

/* Has more been traced since the strips were made? What is held stands still. */
static bool has_more(struct panel *p)
{
	const struct panel_timeline *pt = as_timeline(p);
	const struct session *s = panel_session(p);

	if (pt->strips.s != s)
		return true;
	return !p->tui->frozen &&
	       (pt->strips.n_intervals != s->n_intervals || pt->lanes_moved != s->lanes_moved);
}

/* What was traced, and what of it the filter leaves. False: nothing, or no memory. */
static bool make_strips(struct panel *p)
{
	struct panel_timeline *pt = as_timeline(p);
	const struct session *s = panel_session(p);
	uint64_t generation = numbers_generation(tui_numbers(p->tui));

	if (has_more(p)) {
		timeline_forget_counters(pt);
		strips_done(&pt->strips);
		pt->generation = 0;
		if (strips_init(&pt->strips, s) < 0)
			return false;
		pt->lanes_moved = s->lanes_moved;
	}
	if (pt->generation == generation)
		return true;
	memset(pt->has_class, 0, sizeof(pt->has_class));
	if (strips_sort(&pt->strips, class_of, p) < 0)
		return false;
	pt->generation = generation;
	return true;
}

/* What stands above the strips of a process's threads, or of a device. */
static size_t put_heads(struct panel *p, struct timeline_row *rows, uint32_t lane)
{
	size_t n = 0;

	rows[n++] = (struct timeline_row){lane, TIMELINE_HEADING};
	if (as_timeline(p)->strips.lanes[lane].is_host)
		return n;
	rows[n++] = (struct timeline_row){lane, TIMELINE_BUSY};
	if (timeline_levels(p, lane))
		rows[n++] = (struct timeline_row){lane, TIMELINE_MEMORY};
	return n;
}

static bool make_rows(struct panel *p)
{
	struct panel_timeline *pt = as_timeline(p);
	const struct strips *t = &pt->strips;
	const struct strip_lane *last = NULL;
	size_t n = 0;

	if (ARRAY_ROOM(pt->rows, pt->cap_rows, t->n_strips + 3 * t->n_lanes) < 0)
		return false;
	for (uint32_t i = 0; i < t->n_strips; i++) {
		const struct strip_lane *lane = &t->lanes[t->strips[i].lane];

		if (!last || !strips_same_place(last, lane))
			n += put_heads(p, pt->rows + n, t->strips[i].lane);
		pt->rows[n++] = (struct timeline_row){i, TIMELINE_STRIP};
		last = lane;
	}
	p->n_rows = n;
	return true;
}

/* ---- the view ---- */

/* All there is, a nanosecond a column at least. */
static struct strip_view whole(struct panel *p)
{
	const struct panel_timeline *pt = as_timeline(p);
	uint64_t first_ns = pt->strips.first_ns;

	return (struct strip_view){first_ns, MAX(pt->strips.last_ns + 1, first_ns + pt->view.n),
				   pt->view.n};
}

/* What is seen of all there is, as an axis that begins where that does; and what became of it. What was seen may have gone by now. */
static struct axis axis_of(struct panel *p)
{
	const struct panel_timeline *pt = as_timeline(p);
	struct strip_view all = whole(p);

	return (struct axis){.end = all.to_ns - all.from_ns,
			     .from = MAX(pt->view.from_ns, all.from_ns) - all.from_ns,
			     .to = MAX(pt->view.to_ns, all.from_ns) - all.from_ns,
			     .n = pt->view.n,
			     .at = MAX(pt->at_ns, all.from_ns) - all.from_ns};
}

static void take_axis(struct panel *p, const struct axis *a)
{
	struct panel_timeline *pt = as_timeline(p);
	uint64_t first_ns = pt->strips.first_ns;

	pt->view = (struct strip_view){first_ns + a->from, first_ns + a->to, a->n};
	pt->at_ns = first_ns + a->at;
}

/* From `from_ns` on as far as that is within all there is. */
static void show_from(struct panel *p, uint64_t from_ns, uint64_t span_ns)
{
	struct axis a = axis_of(p);
	uint64_t first_ns = as_timeline(p)->strips.first_ns;

	axis_show(&a, from_ns - MIN(first_ns, from_ns), span_ns);
	take_axis(p, &a);
}

static uint64_t span(const struct panel_timeline *pt)
{
	return pt->view.to_ns - pt->view.from_ns;
}

static uint64_t column_ns(const struct panel_timeline *pt)
{
	return MAX(span(pt) / pt->view.n, 1);
}

/* The cursor goes to a moment; the view follows where that is out of sight. */
static void go(struct panel *p, uint64_t ns)
{
	struct axis a = axis_of(p);
	uint64_t first_ns = as_timeline(p)->strips.first_ns;

	axis_go(&a, ns - MIN(first_ns, ns));
	take_axis(p, &a);
}

/* A run goes on: who sees all of it goes on doing so, and who is at its end stays there. */
static void place_view(struct panel *p, const struct strip_view *all_before)
{
	struct panel_timeline *pt = as_timeline(p);
	struct strip_view all = whole(p);
	bool saw_all =
		pt->view.from_ns == all_before->from_ns && pt->view.to_ns == all_before->to_ns;

	if (!pt->is_placed) {
		pt->at_ns = all.from_ns;
		pt->n_zoom = 0;
	} else if (pt->at_ns == all_before->to_ns - 1 && all.to_ns > all_before->to_ns) {
		pt->at_ns = all.to_ns - 1;
		pt->view.from_ns += all.to_ns - all_before->to_ns;
		pt->view.to_ns += all.to_ns - all_before->to_ns;
	}
	if (!pt->is_placed || saw_all)
		pt->view = all;
	show_from(p, pt->view.from_ns, span(pt));
	pt->at_ns = CLAMP(pt->at_ns, pt->view.from_ns, pt->view.to_ns - 1);
	pt->is_placed = true;
}

static void update(struct panel *p)
{
	struct panel_timeline *pt = as_timeline(p);
	struct strip_view before = whole(p);
	int columns = p->width - 2 - timeline_label_width(p);

	p->n_rows = 0;
	if (!make_strips(p) || !make_rows(p) || columns < 1) {
		p->n_rows = 0;
		return;
	}
	pt->view.n = (unsigned)MIN(columns, AXIS_COLUMNS - 1);
	if (ARRAY_ROOM(pt->cells, pt->cap_cells, pt->view.n) < 0) {
		p->n_rows = 0;
		return;
	}
	place_view(p, &before);
}

static void done(struct panel *p)
{
	struct panel_timeline *pt = as_timeline(p);

	timeline_forget_counters(pt);
	strips_done(&pt->strips);
	free(pt->rows);
	free(pt->cells);
}

static void forget(struct panel *p)
{
	as_timeline(p)->generation = 0;
}

/* ---- rows ---- */

/* Lanes and their lines come and go; what they are stays. */
static uint64_t row_key(struct panel *p, size_t row)
{
	const struct panel_timeline *pt = as_timeline(p);
	const struct strip *strip = timeline_strip(p, row);
	const struct strip_lane *lane = &pt->strips.lanes[strip ? strip->lane : pt->rows[row].id];
	uint64_t place = hash_pair(lane->process, lane->device);
	uint64_t on = lane->is_host ? lane->thread : hash_pair(lane->context, lane->stream);

	on = hash_pair(on, lane->pages);
	return strip ? hash_u64(place ^ hash_u64(on)) + strip->line + lane->is_host
		     : ~place + lane->is_host + 2 * pt->rows[row].kind;
}

static bool is_heading(struct panel *p, size_t row)
{
	return as_timeline(p)->rows[row].kind != TIMELINE_STRIP;
}

static uint32_t row_node(struct panel *p, size_t row)
{
	struct timeline_spot spot = timeline_spot(p);

	(void)row;
	return spot.n ? timeline_node(p,
				      strip_interval(&as_timeline(p)->strips, spot.strip, spot.i))
		      : SNAP_NONE;
}

static const char *row_name(struct panel *p, size_t row)
{
	uint32_t node = row == p->cursor ? row_node(p, row) : SNAP_NONE;

	return node == SNAP_NONE ? "" : tui_node_name(p->tui, node);
}

/* ---- requests ---- */

static void step(struct panel *p, int by)
{
	struct axis a = axis_of(p);

	axis_step(&a, by);
	take_axis(p, &a);
}

static void do_right(struct panel *p)
{
	step(p, 1);
}

static void do_left(struct panel *p)
{
	step(p, -1);
}

static void pan(struct panel *p, bool forward)
{
	struct axis a = axis_of(p);

	axis_pan(&a, forward);
	take_axis(p, &a);
}

static void do_pan_right(struct panel *p)
{
	pan(p, true);
}

static void do_pan_left(struct panel *p)
{
	pan(p, false);
}

static void zoom_to_span(struct panel *p, uint64_t span_ns)
{
	struct axis a = axis_of(p);

	axis_zoom(&a, span_ns);
	take_axis(p, &a);
}

static void do_zoom_in(struct panel *p)
{
	struct panel_timeline *pt = as_timeline(p);

	if (span(pt) <= pt->view.n)
		tui_message(p->tui, "a column is a nanosecond");
	zoom_to_span(p, span(pt) / 2);
}

static void do_zoom_out(struct panel *p)
{
	struct panel_timeline *pt = as_timeline(p);
	struct strip_view all = whole(p);

	if (span(pt) == all.to_ns - all.from_ns)
		tui_message(p->tui, "this is everything: + zooms in");
	zoom_to_span(p, MIN(span(pt), all.to_ns - all.from_ns) * 2);
}

/* To be gone back to. */
static void remember(struct panel *p)
{
	struct panel_timeline *pt = as_timeline(p);

	if (pt->n_zoom == TIMELINE_MAX_ZOOM)
		memmove(pt->zoom, pt->zoom + 1, --pt->n_zoom * sizeof(pt->zoom[0]));
	pt->zoom[pt->n_zoom++] = pt->view;
}

/* With some of what is around it. */
static void do_zoom(struct panel *p)
{
	struct panel_timeline *pt = as_timeline(p);
	struct timeline_spot spot = timeline_spot(p);
	uint64_t start_ns, length_ns;

	if (!spot.n) {
		tui_message(p->tui, "nothing runs here: } and { go to the next operation");
		return;
	}
	start_ns = strip_start_ns(&pt->strips, spot.strip, spot.i);
	length_ns = strip_end_ns(&pt->strips, spot.strip, spot.i) - start_ns;
	remember(p);
	pt->at_ns = start_ns;
	show_from(p, start_ns - MIN(length_ns / 8, start_ns), length_ns + length_ns / 4);
}

static void do_zoom_back(struct panel *p)
{
	struct panel_timeline *pt = as_timeline(p);
	const struct strip_view *back;

	if (!pt->n_zoom) {
		tui_message(p->tui, "there is no view before this one: - zooms out");
		return;
	}
	back = &pt->zoom[--pt->n_zoom];
	show_from(p, back->from_ns, back->to_ns - back->from_ns);
	pt->at_ns = CLAMP(pt->at_ns, pt->view.from_ns, pt->view.to_ns - 1);
}

static void do_all(struct panel *p)
{
	struct strip_view all = whole(p);

	remember(p);
	show_from(p, all.from_ns, all.to_ns - all.from_ns);
}

static void do_first(struct panel *p)
{
	go(p, 0);
}

static void do_last(struct panel *p)
{
	go(p, UINT64_MAX);
}

/* ---- from one to the next ---- */

static void do_next(struct panel *p)
{
	struct panel_timeline *pt = as_timeline(p);
	const struct strip *strip = timeline_strip(p, p->cursor);
	size_t i = strip ? strip_begun(&pt->strips, strip, pt->at_ns) : 0;

	if (strip && i < strip->n)
		go(p, strip_start_ns(&pt->strips, strip, i));
	else
		tui_message(p->tui, "nothing comes after this on this lane");
}

/* Within an operation its own beginning is the one before. */
static void do_prev(struct panel *p)
{
	struct panel_timeline *pt = as_timeline(p);
	const struct strip *strip = timeline_strip(p, p->cursor);
	size_t i = strip && pt->at_ns ? strip_begun(&pt->strips, strip, pt->at_ns - 1) : 0;

	if (i > 0)
		go(p, strip_start_ns(&pt->strips, strip, i - 1));
	else
		tui_message(p->tui, "nothing comes before this on this lane");
}

/* From an operation to its launch, from a range to what it launched first: there and back. */
static void do_follow(struct panel *p)
{
	struct timeline_spot spot = timeline_spot(p);
	struct timeline_flow flow = timeline_flow(p, true);
	const struct strip_lane *lane =
		spot.strip ? &as_timeline(p)->strips.lanes[spot.strip->lane] : NULL;
	bool on_host = lane && lane->is_host, is_pages = lane && lane->pages;

	if (!spot.n) {
		tui_message(p->tui, "nothing runs here: } and { go to the next operation");
	} else if (is_pages) {
		tui_message(p->tui, "no call launched this: the line below says who allocated it");
	} else if (on_host && !flow.launched_ns) {
		tui_message(p->tui, "of nothing it is known that it was launched in here");
	} else if (on_host) {
		panel_goto(p, flow.to);
		go(p, flow.start_ns);
	} else if (!flow.launched_ns) {
		tui_message(p->tui, "it is not known when this was launched");
	} else if (flow.from == SIZE_MAX) {
		tui_message(p->tui, "no scopes of the thread that launched this are in the trace");
	} else {
		panel_goto(p, flow.from);
		go(p, flow.launched_ns);
	}
}

/* Is there a gap before interval i that has a column of its own? None where not all was recorded. */
static bool is_gap(struct panel *p, const struct strip *strip, size_t i, uint64_t *ret_from_ns)
{
	const struct panel_timeline *pt = as_timeline(p);
	uint64_t to_ns = strip_start_ns(&pt->strips, strip, i);

	*ret_from_ns = strip_end_ns(&pt->strips, strip, i - 1);
	return to_ns - *ret_from_ns >= column_ns(pt) &&
	       !timeline_unrecorded(p, strip, *ret_from_ns, to_ns);
}

/* What a scope launched is to it what a gap is to a stream: what there is to be seen of it. */
static void do_next_gap(struct panel *p)
{
	struct panel_timeline *pt = as_timeline(p);
	const struct strip *strip = timeline_strip(p, p->cursor);
	size_t i = strip ? MAX(strip_begun(&pt->strips, strip, pt->at_ns), 1) : 0;
	uint64_t from_ns;

	if (strip && pt->strips.lanes[strip->lane].is_host &&
	    !pt->strips.lanes[strip->lane].pages) {
		do_follow(p);
		return;
	}
	for (; strip && i < strip->n; i++)
		if (is_gap(p, strip, i, &from_ns) && from_ns > pt->at_ns) {
			go(p, from_ns);
			return;
		}
	tui_message(p->tui,
		    "no gap of a column comes after this on this lane; + shows shorter ones");
}

static void do_prev_gap(struct panel *p)
{
	struct panel_timeline *pt = as_timeline(p);
	const struct strip *strip = timeline_strip(p, p->cursor);
	size_t i = strip ? MIN(strip_begun(&pt->strips, strip, pt->at_ns), strip->n - 1) : 0;
	uint64_t from_ns;

	for (; i > 0; i--)
		if (is_gap(p, strip, i, &from_ns) && from_ns < pt->at_ns) {
			go(p, from_ns);
			return;
		}
	tui_message(p->tui,
		    "no gap of a column comes before this on this lane; + shows shorter ones");
}

static void (*const handlers[REQ_N])(struct panel *p) = {
	[REQ_LEFT] = do_left,
	[REQ_RIGHT] = do_right,
	[REQ_SCROLL_LEFT] = do_pan_left,
	[REQ_SCROLL_RIGHT] = do_pan_right,
	[REQ_UNFOLD] = do_zoom_in,
	[REQ_FOLD] = do_zoom_out,
	[REQ_ZOOM] = do_zoom,
	[REQ_OPEN] = do_zoom,
	[REQ_ZOOM_OUT] = do_zoom_back,
	[REQ_FOLD_AUTO] = do_all,
	[REQ_FIRST] = do_first,
	[REQ_LAST] = do_last,
	[REQ_NEXT_SIBLING] = do_next,
	[REQ_PREV_SIBLING] = do_prev,
	[REQ_HOT_CHILD] = do_next_gap,
	[REQ_HOT_PATH] = do_prev_gap,
	[REQ_PARENT] = do_follow,
};

static bool request(struct panel *p, enum request request)
{
	return panel_request_zoomed(p, request, handlers, as_timeline(p)->n_zoom);
}

static void pick(struct panel *p, int part)
{
	struct panel_timeline *pt = as_timeline(p);
	unsigned column;
	size_t row;

	if (!axis_hit(part, p->n_rows, pt->view.n, &row, &column))
		return;
	panel_goto(p, row);
	pt->at_ns = strip_column_ns(&pt->view, column);
}

/* ---- to a calling context ---- */

/* Put the cursor on an interval of the session. */
static bool go_to_interval(struct panel *p, uint32_t id)
{
	const struct panel_timeline *pt = as_timeline(p);
	const struct strips *t = &pt->strips;

	for (size_t row = 0; row < p->n_rows; row++) {
		const struct strip *strip = timeline_strip(p, row);
		const struct strip_lane *lane = strip ? &t->lanes[strip->lane] : NULL;
		uint64_t ns = lane ? t->s->intervals[id].start_ns + lane->shift_ns : 0;
		size_t i = lane ? strip_begun(t, strip, ns) : 0;

		while (i > 0 && strip_start_ns(t, strip, i - 1) == ns &&
		       t->order[strip->first + i - 1] != id)
			i--;
		if (i == 0 || t->order[strip->first + i - 1] != id)
			continue;
		panel_goto(p, row);
		go(p, ns);
		return true;
	}
	return false;
}

/* By node of the snapshot: is it this one, or below it? */
static uint8_t *mark_below(struct panel *p, uint32_t node)
{
	const uint32_t *parents = snapshot_parents(p->tui->snap);
	uint32_t n = snapshot_n(p->tui->snap);
	uint8_t *below = calloc(n, 1);

	if (!below)
		return NULL;
	below[node] = 1;
	for (uint32_t id = node + 1; id < n; id++) /* a parent's id is smaller */
		below[id] = parents[id] != SNAP_NONE && below[parents[id]];
	return below;
}

/* The first interval of what is marked. Where all intervals of a context are in one branch, its earliest
 * is known. */
static uint32_t first_of(struct panel *p, const uint8_t *below)
{
	const struct strips *t = &as_timeline(p)->strips;
	bool plain = snapshot_is_plain(p->tui->snap);
	size_t n = plain ? t->n_nodes : t->n_intervals;
	uint32_t first = SESSION_NONE;

	for (size_t i = 0; i < n; i++) {
		uint32_t id = plain ? t->earliest[i] : (uint32_t)i, node;

		if (id == SESSION_NONE ||
		    (first != SESSION_NONE &&
		     t->s->intervals[id].start_ns >= t->s->intervals[first].start_ns))
			continue;
		node = timeline_node(p, &t->s->intervals[id]);
		if (node != SNAP_NONE && below[node])
			first = id;
	}
	return first;
}

static bool go_to(struct panel *p, uint32_t node)
{
	_cleanup_(freep) uint8_t *below = mark_below(p, node);
	uint32_t first = below ? first_of(p, below) : SESSION_NONE;

	return first != SESSION_NONE && go_to_interval(p, first);
}

/* ---- search ---- */

/* What a search has found out so far. */
struct search {
	struct panel *p;
	const uint8_t *matches;
	uint8_t *known;   /* by node of the session: not looked at, no, yes */
	uint64_t from_ns; /* what begins there or later, … */
	size_t from_row;  /* … and at that moment in a row behind this one */
	uint64_t best_ns; /* the best so far */
	size_t best_row;  /* SIZE_MAX: none */
	bool forward;
};

static bool search_matches(struct search *f, const struct session_interval *v)
{
	uint8_t *known = &f->known[v->node];

	if (!*known) {
		uint32_t node = timeline_node(f->p, v);

		*known = node != SNAP_NONE && f->matches[node] & MATCH_SELF ? 2 : 1;
	}
	return *known == 2;
}

/* The first match of a row behind the place that the search begins at, if it is the best. */
static void search_forward(struct search *f, size_t row, const struct strip *strip)
{
	const struct strips *t = &as_timeline(f->p)->strips;
	bool with_now = row > f->from_row;
	size_t i = with_now && f->from_ns ? strip_begun(t, strip, f->from_ns - 1)
		   : with_now             ? 0
					  : strip_begun(t, strip, f->from_ns);

	for (; i < strip->n; i++) {
		uint64_t ns = strip_start_ns(t, strip, i);

		if (f->best_row != SIZE_MAX && ns >= f->best_ns)
			return;
		if (!search_matches(f, strip_interval(t, strip, i)))
			continue;
		f->best_ns = ns;
		f->best_row = row;
		return;
	}
}

static void search_back(struct search *f, size_t row, const struct strip *strip)
{
	const struct strips *t = &as_timeline(f->p)->strips;
	bool with_now = row < f->from_row;
	size_t i = with_now     ? strip_begun(t, strip, f->from_ns)
		   : f->from_ns ? strip_begun(t, strip, f->from_ns - 1)
				: 0;

	for (; i > 0; i--) {
		uint64_t ns = strip_start_ns(t, strip, i - 1);

		if (f->best_row != SIZE_MAX && ns < f->best_ns)
			return;
		if (!search_matches(f, strip_interval(t, strip, i - 1)))
			continue;
		f->best_ns = ns;
		f->best_row = row;
		return;
	}
}

static void search_all(struct search *f)
{
	for (size_t row = 0; row < f->p->n_rows; row++) {
		const struct strip *strip = timeline_strip(f->p, row);

		if (strip && f->forward)
			search_forward(f, row, strip);
		else if (strip)
			search_back(f, row, strip);
	}
}

/* The next in time, on whichever lane. */
static bool find(struct panel *p, bool forward, bool *ret_wrapped)
{
	struct panel_timeline *pt = as_timeline(p);
	_cleanup_(freep) uint8_t *known = calloc(pt->strips.n_nodes, 1);
	struct search f = {.p = p,
			   .matches = tui_matches(p->tui),
			   .known = known,
			   .from_ns = pt->at_ns,
			   .from_row = p->cursor,
			   .best_row = SIZE_MAX,
			   .forward = forward};

	if (!f.matches || !known || !p->tui->matches.n)
		return false;
	search_all(&f);
	*ret_wrapped = f.best_row == SIZE_MAX;
	if (*ret_wrapped) {
		f.from_ns = forward ? 0 : UINT64_MAX;
		f.from_row = forward ? 0 : SIZE_MAX;
		search_all(&f);
	}
	if (f.best_row == SIZE_MAX)
		return false;
	panel_goto(p, f.best_row);
	go(p, f.best_ns);
	return true;
}

/* ---- the panel ---- */

static void explain(struct panel *p, struct buf *out)
{
	if (p->tui->options.live)
		buf_puts(out,
			 "no operation was traced so far\n'proton top --trace' keeps when each "
			 "of them ran, and shows it here while the program runs");
	else
		buf_puts(out,
			 "this profile holds sums, and not when each operation ran\n'proton "
			 "record --trace' and 'proton top --trace' keep that, and files of other "
			 "tools may hold it: Chrome's traces, Nsight Systems, rocpd");
}

static bool is_there(const struct tui *t)
{
	return snapshot_session(t->snap)->n_intervals > 0;
}

static const struct panel_key keys[] = {
	{REQ_LEFT, NULL, "a column to the left"},
	{REQ_RIGHT, NULL, "a column to the right"},
	{REQ_SCROLL_LEFT, NULL, "half a screen earlier"},
	{REQ_SCROLL_RIGHT, NULL, "half a screen later"},
	{REQ_UNFOLD, NULL, "zoom in, around the cursor"},
	{REQ_FOLD, NULL, "zoom out, around the cursor"},
	{REQ_OPEN, NULL, "zoom to the operation under the cursor"},
	{REQ_ZOOM, NULL, "the same"},
	{REQ_ZOOM_OUT, NULL, "back to the view before"},
	{REQ_FOLD_AUTO, NULL, "all of the run"},
	{REQ_NEXT_SIBLING, NULL, "next operation on this lane"},
	{REQ_PREV_SIBLING, NULL, "previous operation on this lane"},
	{REQ_HOT_CHILD, NULL,
	 "next gap on this stream that has a column of its own; from a scope to what it launched"},
	{REQ_HOT_PATH, NULL, "previous gap"},
	{REQ_PARENT, "Launch",
	 "to the launch of this operation; from a scope to what it launched first"},
	{REQ_FIRST, NULL, "to the first moment"},
	{REQ_LAST, NULL, "to the last moment"},
	{REQ_TOGGLE, "Tree", "show what is under the cursor in the tree"},
	{REQ_MENU, NULL, "what can be done with what is under the cursor"},
	{REQ_NONE, NULL, NULL},
};

/* The letters are those of core/busy.c, the fill is that of tui/theme.c. */
static const struct panel_sign signs[] = {
	{"busy", "share of the cursor's column in which the device had work, all streams as one"},
	{"mem", "the most memory of the device that the program held in the cursor's column"},
	{"l", "nothing ran: nothing was launched, for the host was late or in a copy that blocks"},
	{"s", "nothing ran: the host had waited until the device was done (--sync)"},
	{"n", "nothing ran: the next was being launched"},
	{"q", "nothing ran: the next had been launched, and waited for something else"},
	{"g", "nothing ran: between nodes of a graph"},
	{"pages",
	 "unified memory that moved or was missed (--unified): no work of the device, and no part of busy"},
	{"░", "not all that ran was recorded: the line below says why, and for how long", "/"},
	{.sign = NULL},
};

const struct panel_ops panel_timeline_ops = {
	.title = "Timeline",
	.tab = "Time",
	.size = sizeof(struct panel_timeline),
	.is_there = is_there,
	.done = done,
	.update = update,
	.row_key = row_key,
	.row_name = row_name,
	.row_node = row_node,
	.is_heading = is_heading,
	.draw_head = timeline_draw_head,
	.draw_row = timeline_draw_row,
	.draw_foot = timeline_draw_foot,
	.draw_below = timeline_draw_below,
	.later = timeline_later,
	.explain = explain,
	.request = request,
	.pick = pick,
	.go_to = go_to,
	.forget = forget,
	.find = find,
	.keys = keys,
	.signs = signs,
	.is_filtered = true,
	.is_grouped = true,
};
