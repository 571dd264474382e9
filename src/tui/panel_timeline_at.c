/* SPDX-License-Identifier: MIT */
/* What is where on the timeline: for those who draw it and for those who answer keys. */
#include "config.h" // IWYU pragma: keep
#include "tui/names.h"
#include "tui/panel_timeline.h"
#include "tui/tui_impl.h"

#define NARROW 60 /* columns of a screen on which names of lanes are short */
#define WIDE   100

const struct strip *timeline_strip(struct panel *p, size_t row)
{
	const struct panel_timeline *pt = as_timeline(p);

	if (row >= p->n_rows || pt->rows[row].kind != TIMELINE_STRIP)
		return NULL;
	return &pt->strips.strips[pt->rows[row].id];
}

int timeline_label_width(const struct panel *p)
{
	return p->width < NARROW ? 8 : p->width < WIDE ? 13 : 18;
}

uint32_t timeline_node(struct panel *p, const struct session_interval *v)
{
	return interval_node(p->tui->snap, v);
}

const char *timeline_name(struct panel *p, const struct strip *strip, size_t i)
{
	const struct session_interval *v = strip_interval(&as_timeline(p)->strips, strip, i);
	uint32_t node = timeline_node(p, v);

	return node == SNAP_NONE || interval_is_pages(panel_session(p), v)
		       ? session_node_name(panel_session(p), v->node)
		       : tui_node_name(p->tui, node);
}

/* Of what is in the cursor's column from its moment on the first. */
struct timeline_spot timeline_spot(struct panel *p)
{
	struct panel_timeline *pt = as_timeline(p);
	struct timeline_spot spot = {.strip = timeline_strip(p, p->cursor)};
	struct strip_view rest = {.from_ns = pt->at_ns, .n = 1};
	struct strip_cell cell;

	if (!spot.strip)
		return spot;
	rest.to_ns = strip_column_ns(&pt->view, timeline_column(&pt->view, pt->at_ns) + 1);
	strips_cells(&pt->strips, spot.strip, &rest, &cell);
	spot.i = cell.first;
	spot.n = cell.n;
	return spot;
}

/* ---- from launches to operations ---- */

#define NEAR                                                                                       \
	8192 /* operations that are looked at while the screen is drawn, on all streams about */

/* SIZE_MAX: it has none. */
static size_t row_of(struct panel *p, const struct strip *strip)
{
	for (size_t row = 0; strip && row < p->n_rows; row++)
		if (timeline_strip(p, row) == strip)
			return row;
	return SIZE_MAX;
}

/* Of a launch when nothing was recorded it is not known what it was made in. */
static bool is_launch_unrecorded(const struct panel_timeline *pt, struct strip_place work,
				 uint64_t launched_ns)
{
	uint32_t lane = strips_device_lane(&pt->strips, work.strip->lane);

	return pt->busy && unrecorded_at(&pt->busy[lane].told, launched_ns);
}

static struct timeline_flow flow_to(struct panel *p, struct strip_place work)
{
	const struct strips *t = &as_timeline(p)->strips;
	const struct strip_lane *host = strip_launcher(t, work.strip, work.i);
	struct timeline_flow flow = {.launched_ns = strip_launched_ns(t, work.strip, work.i),
				     .start_ns = strip_start_ns(t, work.strip, work.i),
				     .from = SIZE_MAX,
				     .to = row_of(p, work.strip),
				     .work = work};

	flow.thread = t->s->lanes[strip_interval(t, work.strip, work.i)->lane].thread;
	if (!flow.launched_ns || !host ||
	    is_launch_unrecorded(as_timeline(p), work, flow.launched_ns))
		return flow;
	flow.range = strips_range_at(t, host, flow.launched_ns);
	flow.from = row_of(p, flow.range.strip ? flow.range.strip : &t->strips[host->first_strip]);
	return flow;
}

struct timeline_flow timeline_flow(struct panel *p, bool far)
{
	const struct strips *t = &as_timeline(p)->strips;
	struct timeline_spot spot = timeline_spot(p);
	struct strip_place at = {spot.strip, spot.i};

	if (!spot.n || t->lanes[spot.strip->lane].pages)
		return (struct timeline_flow){0};
	if (t->lanes[spot.strip->lane].is_host)
		at = strips_first_launched(t, spot.strip, spot.i,
					   far ? SIZE_MAX : 16 + NEAR / t->n_strips);
	return at.strip ? flow_to(p, at) : (struct timeline_flow){0};
}
