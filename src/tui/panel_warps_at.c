/* SPDX-License-Identifier: MIT */
/* What is where on the timeline within a kernel: for those who draw it and for those who answer keys. */
#include "config.h" // IWYU pragma: keep
#include <math.h>
#include <string.h>
#include "base/buf.h"
#include "base/hash.h"
#include "tui/names.h"
#include "tui/panel_warps.h"
#include "tui/tui_impl.h"

#define NARROW 60 /* columns of a screen */
#define WIDE   100

const struct warp_trace *warps_list(const struct panel *p)
{
	return p->tui->options.warps ? p->tui->options.warps->list : NULL;
}

const struct warp_lane *warps_lane(struct panel *p, size_t row)
{
	const struct panel_warps *pw = as_warps(p);

	if (row >= p->n_rows || pw->rows[row].kind != WARPS_LANE)
		return NULL;
	return &pw->lanes.lanes[pw->rows[row].id];
}

uint64_t warps_row_key(struct panel *p, size_t row)
{
	const struct panel_warps *pw = as_warps(p);
	const struct warp_lane *lane = &pw->lanes.lanes[pw->rows[row].id];
	uint64_t of = pw->kind == WARP_LANES_SMS ? lane->multiprocessor : lane->block;

	if (pw->rows[row].kind != WARPS_LANE)
		return ~hash_pair(pw->rows[row].kind, pw->rows[row].id);
	return hash_pair(of, hash_pair((uint64_t)pw->kind << 32 | lane->warp, lane->line));
}

int warps_label_width(const struct panel *p)
{
	return p->width < NARROW ? 8 : p->width < WIDE ? 11 : 18;
}

int warps_busy_width(const struct panel *p)
{
	return p->width < NARROW ? 0 : 6;
}

struct warp_view warps_view(const struct panel_warps *pw)
{
	return (struct warp_view){pw->axis.from, pw->axis.to, pw->axis.n};
}

const char *warps_name(const struct panel_warps *pw, uint32_t name)
{
	const char *text = strtab_str(pw->tracks.t->names, name);

	return *text ? text : "(no name)";
}

/* ---- the cursor ---- */

static unsigned class_here(const struct warp_cell *cell, double *ret_share)
{
	unsigned class = warp_cell_class(cell);

	*ret_share = class == WARP_CLASSES || !cell->present
			     ? NAN
			     : (double)cell->cycles[class] / (double)cell->present;
	return class;
}

struct warps_here warps_here(struct panel *p)
{
	struct panel_warps *pw = as_warps(p);
	struct warps_here here = {.lane = warps_lane(p, p->cursor), .share = NAN};
	unsigned column = axis_column(&pw->axis, pw->axis.at), class;
	struct warp_view view = {axis_start(&pw->axis, column), axis_start(&pw->axis, column + 1),
				 1};
	struct warp_cell cell;
	size_t lane;

	if (!here.lane)
		return here;
	lane = pw->rows[p->cursor].id;
	warp_lanes_cells(&pw->lanes, lane, &view, &cell);
	class = class_here(&cell, &here.share);
	here.is_present = cell.present > 0;
	here.is_unknown = cell.unknown > 0;
	if (here.lane->n_tracks == 1)
		class = WARP_CLASSES; /* the moment says more than the column */
	here.spot = warp_lanes_at(&pw->lanes, lane, pw->axis.at, view.to, class);
	if (!here.spot.segment) /* it is over by then */
		here.spot = warp_lanes_at(&pw->lanes, lane, view.from, view.to, class);
	here.instant = warp_lanes_instant(&pw->lanes, lane, view.from, view.to, &here.instant_warp);
	return here;
}

/* ---- words ---- */

void warps_put_lane(const struct panel_warps *pw, const struct warp_lane *lane, struct buf *out)
{
	switch (pw->lanes.kind) {
	case WARP_LANES_SMS:
		buf_printf(out, "SM %u", lane->multiprocessor);
		break;
	case WARP_LANES_BLOCKS:
		buf_printf(out, "CTA %llu", (unsigned long long)lane->block);
		break;
	case WARP_LANES_GROUPS:
		if (lane->last_warp > lane->warp) {
			buf_printf(out, " w%u-%u", lane->warp, lane->last_warp);
			break;
		}
		/* fall through */
	default:
		buf_printf(out, " w%u", lane->warp);
	}
	if (lane->line)
		buf_puts(out, " ~");
}

void warps_put_cycles(const struct panel_warps *pw, double cycles, char out[HUMAN_MAX])
{
	if (pw->in_ns && pw->tracks.clock.cycle_ns > 0)
		human_time_ns(out, cycles * pw->tracks.clock.cycle_ns);
	else if (cycles < 10 && cycles != floor(cycles))
		snprintf(out, HUMAN_MAX, "%.1f", cycles);
	else
		human_count(out, cycles);
}

/* ---- the table's rows ---- */

static const struct warp_stat *child_of(const struct panel_warps *pw, uint32_t parent,
					const struct warp_trace_scope *scope)
{
	for (size_t i = 0; i < pw->stats.n_stats; i++) {
		const struct warp_stat *stat = &pw->stats.stats[i];

		if (stat->parent == parent && stat->name == scope->name &&
		    stat->event == scope->event)
			return stat;
	}
	return NULL;
}

const struct warp_stat *warps_stat(const struct panel_warps *pw, uint32_t warp, uint32_t scope)
{
	const struct warp_trace_scope *v = warp_tracks_scope(&pw->tracks, warp, scope);
	const struct warp_stat *parent = NULL;

	if (v->parent != WARP_TRACE_NO_PARENT) {
		parent = warps_stat(pw, warp, v->parent);
		if (!parent)
			return NULL;
	}
	return child_of(pw, parent ? (uint32_t)(parent - pw->stats.stats) : WARP_TRACE_NO_PARENT,
			v);
}

/* ---- the kernel in the tree ---- */

/* Are the names above a node those of a path, of which there is one a line? */
static bool has_path(struct panel *p, uint32_t node, const char *path)
{
	const struct session *s = panel_session(p);
	size_t len = strlen(path);

	for (node = snapshot_node(p->tui->snap, node)->parent; node != 0 && node != SNAP_NONE;
	     node = snapshot_node(p->tui->snap, node)->parent) {
		uint32_t of = snapshot_node(p->tui->snap, node)->session_node;
		const char *name = of == SESSION_NONE ? "" : session_node_name(s, of);
		size_t n = strlen(name);

		if (n > len || memcmp(path + len - n, name, n) != 0)
			return false;
		len -= n;
		if (len > 0 && path[len - 1] == '\n')
			len--;
	}
	return len == 0;
}

static bool is_kernel(struct panel *p, uint32_t node, const char *name)
{
	const struct snap_node *of = snapshot_node(p->tui->snap, node);

	return of->kind == FRAME_KERNEL && of->session_node != SESSION_NONE &&
	       !strcmp(session_node_name(panel_session(p), of->session_node), name);
}

bool warps_is_of(struct panel *p, size_t launch, uint32_t node)
{
	const struct warp_trace *t = warps_list(p);

	return is_kernel(p, node, strtab_str(t->names, t->launches[launch].kernel));
}

bool warps_are_of(struct panel *p, uint32_t node)
{
	const struct warp_trace *t = warps_list(p);

	for (size_t i = 0; t && i < t->n_launches; i++)
		if (warps_is_of(p, i, node))
			return true;
	return false;
}

/* Where its path is not in the tree, any of its kernel. */
static uint32_t find_kernel(struct panel *p, size_t launch)
{
	const struct warp_trace *t = warps_list(p);
	const char *path = strtab_str(t->names, t->launches[launch].path);
	uint32_t found = SNAP_NONE;

	for (uint32_t node = 1; node < snapshot_n(p->tui->snap); node++) {
		if (!warps_is_of(p, launch, node))
			continue;
		if (*path && has_path(p, node, path))
			return node;
		if (found == SNAP_NONE)
			found = node;
	}
	return found;
}

uint32_t warps_kernel_node(struct panel *p)
{
	struct panel_warps *pw = as_warps(p);

	if (!pw->has_node) {
		pw->node = find_kernel(p, pw->launch);
		pw->has_node = true;
	}
	return pw->node;
}

const char *warps_kernel_name(struct panel *p, size_t launch)
{
	const struct warp_trace *t = warps_list(p);
	uint32_t node =
		launch == as_warps(p)->launch ? warps_kernel_node(p) : find_kernel(p, launch);
	const char *name = strtab_str(t->names, t->launches[launch].kernel);

	if (node != SNAP_NONE)
		return tui_node_name(p->tui, node);
	return *name ? name : "(no name)";
}
