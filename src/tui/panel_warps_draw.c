/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <math.h>
#include <string.h>
#include "base/buf.h"
#include "tui/axis_hits.h"
#include "tui/flame_box.h"
#include "tui/names.h"
#include "tui/panel_warps.h"
#include "tui/ruler.h"
#include "tui/tui_impl.h"

#define NEARLY_FULL 15 / 16
#define BOX_LEAST   2    /* columns */
#define MANY_RUN    0.75 /* of the most blocks: what is less stands out */

static bool is_late(const struct panel_warps *pw, uint64_t block)
{
	size_t low = 0;

	BISECT(low, pw->n_late, i, pw->late[i] < block)
	return low < pw->n_late && pw->late[low] == block;
}

/* ---- times ---- */

/* A moment in the largest unit in which moments a step apart differ by a tenth, with no more digits than that needs. */
static void print_moment(const struct panel_warps *pw, double value, double step,
			 char out[WARPS_MOMENT])
{
	static const char *const words[2][3] = {{"", "k", "M"}, {"ns", "us", "ms"}};
	double unit = 1;
	bool has_tenths;
	int u = 0;

	while (u < 2 && step >= unit * 100) {
		unit *= 1000;
		u++;
	}
	has_tenths = step < unit * 0.999;
	if (value / unit < (has_tenths ? 0.05 : 0.5))
		snprintf(out, WARPS_MOMENT, "0");
	else
		snprintf(out, WARPS_MOMENT, "%.*f%s", has_tenths, value / unit,
			 words[pw->in_ns][u]);
}

/* What a cycle is in the unit that is shown. */
static double scale(const struct panel_warps *pw)
{
	return pw->in_ns ? pw->tracks.clock.cycle_ns : 1;
}

static double column_width(const struct panel_warps *pw)
{
	return (double)axis_span(&pw->axis) / pw->axis.n * scale(pw);
}

/* How far apart marks stand: their texts are as long as it asks for. */
static uint64_t mark_step(const struct panel_warps *pw)
{
	uint64_t step = ruler_step((uint64_t)ceil(column_width(pw) * 6));
	char text[WARPS_MOMENT];

	for (int turn = 0; turn < 16; turn++) {
		print_moment(pw, (double)pw->axis.to * scale(pw), (double)step, text);
		if ((double)step / column_width(pw) >= (double)strlen(text) + 2)
			break;
		step = ruler_step(step + 1);
	}
	return step;
}

static void draw_ruler(struct panel *p, struct pen *pen)
{
	const struct panel_warps *pw = as_warps(p);
	const struct axis *a = &pw->axis;
	uint64_t step = mark_step(pw);
	int x = 1 + warps_label_width(p), end = x + (int)a->n;
	int cursor = x + (int)axis_column(a, a->at);
	char text[WARPS_MOMENT], span[HUMAN_MAX];
	struct pen at;

	warps_put_cycles(pw, (double)axis_span(a), span);
	pen_printf(pen, ROLE_HEAD, " %s%s", span, pw->in_ns ? "" : p->width < 60 ? "" : " cyc");
	pen_fill(pen, ROLE_HEAD);
	for (uint64_t v = (uint64_t)ceil((double)a->from * scale(pw) / (double)step) * step;;
	     v += step) {
		uint64_t cycle = (uint64_t)((double)v / scale(pw) + 0.5);

		if (cycle >= a->to)
			break;
		print_moment(pw, (double)v, (double)step, text);
		if (cycle >= a->from)
			ruler_mark(pen, x + (int)axis_column(a, cycle), end, cursor, text);
	}
	ruler_cursor(pen, cursor);
	if (warps_busy_width(p)) {
		at = pen_at(pen->canvas, pen->y, end, warps_busy_width(p));
		pen_right(&at, ROLE_HEAD, warps_busy_width(p), "BUSY");
	}
}

/* ---- what is under the cursor ---- */

/* "  in tile > main" */
static void put_parents(const struct panel_warps *pw, uint32_t warp, uint32_t scope,
			struct buf *out)
{
	uint32_t chain[16];
	unsigned n = 0;

	while ((scope = warp_tracks_scope(&pw->tracks, warp, scope)->parent) !=
		       WARP_TRACE_NO_PARENT &&
	       n < ARRAY_SIZE(chain))
		chain[n++] = scope;
	if (n)
		buf_puts(out, "  in ");
	for (; n > 0; n--)
		buf_printf(out, "%s%s",
			   warps_name(pw, warp_tracks_scope(&pw->tracks, warp, chain[n - 1])->name),
			   n > 1 ? " > " : "");
}

/* "w4, CTA 17 on SM 41" */
static void put_warp(const struct panel_warps *pw, uint32_t warp, struct buf *out)
{
	const struct warp_trace_warp *w = warp_tracks_warp(&pw->tracks, warp);

	buf_printf(out, "  w%u of CTA %llu, SM %u", w->warp, (unsigned long long)w->block,
		   w->multiprocessor);
}

/* "1920 cycles 970ns"; of what has no end it is not known. */
static void put_length(const struct panel_warps *pw, const struct warp_trace_scope *scope,
		       struct buf *out)
{
	uint64_t cycles = scope->leave - scope->enter;
	char ns[HUMAN_MAX];

	if (scope->is_open) {
		buf_puts(out, "  not left while it recorded");
		return;
	}
	buf_printf(out, "  %llu %s", (unsigned long long)cycles, cycles == 1 ? "cycle" : "cycles");
	if (pw->tracks.clock.cycle_ns > 0) {
		human_time_ns(ns, (double)cycles * pw->tracks.clock.cycle_ns);
		buf_printf(out, " %s", ns);
	}
}

static void put_instant(const struct panel_warps *pw, const struct warps_here *here,
			struct buf *out)
{
	const struct warp_trace_scope *v =
		warp_tracks_scope(&pw->tracks, here->instant_warp, here->instant->scope);

	buf_puts(out, warps_name(pw, v->name));
	if (v->event == WARP_EVENT_VALUE)
		buf_printf(out, " = %g", v->value);
	else
		buf_puts(out, "  a mark");
	put_warp(pw, here->instant_warp, out);
}

static void put_scope(const struct panel_warps *pw, const struct warps_here *here, struct buf *out)
{
	const struct warp_trace_scope *v =
		warp_tracks_scope(&pw->tracks, here->spot.warp, here->spot.segment->scope);

	buf_puts(out, warps_name(pw, v->name));
	if (here->lane->n_tracks > 1 && !isnan(here->share))
		buf_printf(out, " %.0f%% here, e.g.", here->share * 100);
	put_length(pw, v, out);
	put_parents(pw, here->spot.warp, here->spot.segment->scope, out);
	put_warp(pw, here->spot.warp, out);
}

void warps_draw_here(struct panel *p, struct pen *pen, enum role role)
{
	const struct panel_warps *pw = as_warps(p);
	struct warps_here here = warps_here(p);
	char at[WARPS_MOMENT];
	struct buf text;

	print_moment(pw, (double)pw->axis.at * scale(pw), column_width(pw), at);
	pen_printf(pen, role == ROLE_NORMAL ? ROLE_NUMBER : role, " %s  ", at);
	buf_init(&text, 1024);
	if (here.instant)
		put_instant(pw, &here, &text);
	else if (here.spot.segment)
		put_scope(pw, &here, &text);
	else
		buf_puts(&text, here.is_present   ? "in no scope"
				: here.is_unknown ? "not known: records of it were overwritten"
						  : "no warp of this lane is there");
	pen_name(pen, role == ROLE_NORMAL ? ROLE_TITLE : role,
		 &(struct pen_name){.text = buf_str(&text)});
	buf_done(&text);
}

void warps_draw_head(struct panel *p, struct pen *pen)
{
	if (p->height >= 9) {
		draw_ruler(p, pen);
		return;
	}
	warps_draw_here(p, pen, ROLE_HEAD); /* there is no foot that says it */
	pen_fill(pen, ROLE_HEAD);
}

/* ---- headings ---- */

/* "  launch 3812 (2 of 7)  rank 3  GPU0  1.98 GHz": processes number launches and devices each from the start. */
static void put_launch(struct panel *p, struct buf *out)
{
	const struct panel_warps *pw = as_warps(p);
	const struct warp_trace *list = warps_list(p);
	const struct warp_trace_launch *l = pw->tracks.launch;
	size_t n = list->n_launches;
	char process[WARP_PROCESS_TEXT];

	if (l->launch)
		buf_printf(out, "  launch %llu", (unsigned long long)l->launch);
	if (n > 1)
		buf_printf(out, "%s%zu of %zu%s", l->launch ? " (" : "  launch ", pw->launch + 1, n,
			   l->launch ? ")" : "");
	warp_trace_process_text(list, &list->launches[pw->launch], process);
	buf_printf(out, "%s%s", *process ? "  " : "", process);
	if (l->device >= 0)
		buf_printf(out, "  GPU%d", l->device);
	if (pw->tracks.clock.cycle_ns > 0)
		buf_printf(out, "  %.2f GHz", 1 / pw->tracks.clock.cycle_ns);
}

/* The name has what the rest leaves. */
static void draw_facts(struct panel *p, struct pen *pen)
{
	struct buf rest;
	int left;

	buf_init(&rest, 256);
	put_launch(p, &rest);
	left = pen_left(pen) - (int)rest.len;
	if (left >= 8) {
		struct pen name = pen_at(pen->canvas, pen->y, pen->x, left);

		pen_name(&name, ROLE_TITLE,
			 &(struct pen_name){.text = warps_kernel_name(p, as_warps(p)->launch),
					    .cut = TEXT_CUT_MIDDLE});
		pen->x = name.x;
	}
	pen_put(pen, ROLE_NORMAL, buf_str(&rest));
	buf_done(&rest);
}

/* "  740 records lost, 28.6% of time": of that much it is not known what warps did. */
static void put_lost(const struct panel_warps *pw, struct buf *out)
{
	const struct warp_kernel *k = pw->stats.n_kernels ? &pw->stats.kernels[0] : NULL;
	char n[HUMAN_MAX];

	if (k && k->n_lost) {
		human_count(n, (double)k->n_lost);
		buf_printf(out, "  %s records lost", n);
	}
	if (k && k->unknown_cycles > k->warp_cycles * 0.0005)
		buf_printf(out, ", %.1f%% of time", 100 * k->unknown_cycles / k->warp_cycles);
	if (pw->tracks.launch->n_dropped) {
		human_count(n, (double)pw->tracks.launch->n_dropped);
		buf_printf(out, "  %s warps missing", n);
	}
}

/* "264 CTAs on 132 SMs  2 waves  tail 1.2us, 7.1% empty": what is not known is left out. Of some blocks nobody knows when the
 * others ran. */
static void put_grid(const struct panel_warps *pw, struct buf *out)
{
	const struct warp_kernel *k = pw->stats.n_kernels ? &pw->stats.kernels[0] : NULL;
	char ns[HUMAN_MAX];
	bool is_all;

	buf_printf(out, "%zu", pw->grid.n);
	if (pw->tracks.launch->n_blocks > pw->grid.n)
		buf_printf(out, " of %llu", (unsigned long long)pw->tracks.launch->n_blocks);
	buf_printf(out, " CTA%s", pw->grid.n == 1 ? "" : "s");
	if (!k)
		return;
	is_all = pw->tracks.launch->n_blocks <= pw->grid.n;
	buf_printf(out, " on %u SM%s", k->n_multiprocessors, k->n_multiprocessors == 1 ? "" : "s");
	if (!pw->tracks.clock.is_common && k->n_multiprocessors > 1)
		buf_puts(out, "  each SM from its own start");
	if (is_all && k->waves > 0)
		buf_printf(out, "  %.3g wave%s", k->waves, k->waves > 1 ? "s" : "");
	if (is_all && k->tail_ns > 0 && k->tail_share >= 0.0005) {
		human_time_ns(ns, k->tail_ns);
		buf_printf(out, "  tail %s, %.1f%% empty", ns, k->tail_share * 100);
	}
}

static void draw_grid(struct panel *p, struct pen *pen)
{
	const struct panel_warps *pw = as_warps(p);
	struct buf text, lost;

	buf_init(&text, 256);
	buf_init(&lost, 256);
	put_grid(pw, &text);
	put_lost(pw, &lost);
	pen_put(pen, ROLE_NORMAL, buf_str(&text));
	pen_put(pen, ROLE_WARNING, buf_str(&lost));
	buf_done(&text);
	buf_done(&lost);
}

/* How many blocks ran in each column, of the most that did. */
static void draw_running(struct panel *p, struct pen *pen)
{
	const struct panel_warps *pw = as_warps(p);
	const char *const *levels = pen->canvas->look->glyphs->levels;
	int width = warps_label_width(p);
	char most[HUMAN_MAX + 8];

	pen_field(pen, ROLE_DIM, width - 1, p->width < 60 ? "CTAs" : "running");
	pen_skip(pen, ROLE_NORMAL, 1);
	for (unsigned k = 0; k < pw->axis.n; k++) {
		uint64_t at = axis_start(&pw->axis, k) / 2 + axis_start(&pw->axis, k + 1) / 2;
		double share =
			(double)warp_grid_running(&pw->grid, at) / (double)MAX(pw->grid.most, 1);

		pen_put(pen, share < MANY_RUN ? ROLE_HOT : ROLE_BAR,
			share > 0 ? levels[CLAMP((int)(share * 8 + 0.5) - 1, 0, 7)] : " ");
	}
	if (warps_busy_width(p)) {
		snprintf(most, sizeof(most), "/%zu", pw->grid.most);
		pen_right(pen, ROLE_DIM, warps_busy_width(p), most);
	}
}

/* "CTA 17  SM 41  from 1.2k on  36.1k cycles" */
static void draw_block(struct panel *p, struct pen *pen, const struct warp_lane *lane)
{
	const struct panel_warps *pw = as_warps(p);
	uint64_t from = lane->from, to = lane->to;
	char begins[HUMAN_MAX], length[HUMAN_MAX];

	for (const struct warp_lane *l = lane;
	     l < pw->lanes.lanes + pw->lanes.n && l->block == lane->block; l++) {
		from = MIN(from, l->from);
		to = MAX(to, l->to);
	}
	warps_put_cycles(pw, (double)from, begins);
	warps_put_cycles(pw, (double)(to - from), length);
	pen_printf(pen, ROLE_TITLE, "CTA %llu", (unsigned long long)lane->block);
	pen_printf(pen, ROLE_NORMAL, "  SM %u  from %s on, for %s%s", lane->multiprocessor, begins,
		   length, pw->in_ns ? "" : " cycles");
	if (is_late(pw, lane->block))
		pen_put(pen, ROLE_WARNING, "  stands out");
}

/* ---- lanes ---- */

/* A row while it is drawn. */
struct line {
	struct panel *p;
	struct pen *pen;
	size_t lane;
	bool is_here;   /* the cursor's row */
	bool is_single; /* one warp's */
	unsigned
		cursor; /* column, in which all lanes are marked: what do others do at this moment? */
	int x;          /* of column 0 */
};

/* Roles of classes: grounds, and inks for what is little of a column. */
static const struct {
	uint8_t ground, ink;
} class_roles[] = {
	{ROLE_BOX_KERNEL, ROLE_KERNEL}, {ROLE_BOX_SCOPE, ROLE_GROUP}, {ROLE_BOX_COPY, ROLE_COPY},
	{ROLE_BOX_CODE, ROLE_CODE},     {ROLE_BOX_SET, ROLE_COPY},
};

/* Colours are for work. */
enum role warps_ground(const struct panel_warps *pw, unsigned class)
{
	if (pw->tracks.classes[class].waits)
		return ROLE_DIM;
	return class == WARP_OTHERS
		       ? ROLE_BOX_SAME
		       : class_roles[pw->colours[class] % ARRAY_SIZE(class_roles)].ground;
}

static enum role ink_of(const struct panel_warps *pw, unsigned class)
{
	if (pw->tracks.classes[class].waits || class == WARP_OTHERS)
		return ROLE_DIM;
	return class_roles[pw->colours[class] % ARRAY_SIZE(class_roles)].ink;
}

static void put_column(struct line *l, unsigned k, enum role role, const char *text)
{
	struct pen at = pen_at(l->pen->canvas, l->pen->y, l->x + (int)k, 1);

	at.selected = k == l->cursor;
	pen_put(&at, role, text);
}

/* The letter of what had most of it; what is little of it has no ground. */
static void draw_cell(struct line *l, unsigned k)
{
	const struct panel_warps *pw = as_warps(l->p);
	const struct warp_cell *cell = &pw->cells[k];
	unsigned class = warp_cell_class(cell);

	if (class == WARP_CLASSES) {
		put_column(l, k, ROLE_DIM,
			   cell->present   ? "."
			   : cell->unknown ? l->pen->canvas->look->glyphs->unknown
					   : " ");
		return;
	}
	put_column(l, k, warp_cell_share(cell) >= 0.5 ? warps_ground(pw, class) : ink_of(pw, class),
		   (const char[]){pw->letters[class], '\0'});
}

static const struct warp_segment *segment_at(const struct panel_warps *pw,
					     const struct warp_cell *cell, size_t segment)
{
	return &pw->tracks.segments[pw->tracks.tracks[cell->track].first + segment];
}

/* The scope that goes on behind a column, of one track. */
static size_t last_of(const struct warp_cell *cell)
{
	return cell->segment + cell->n - 1;
}

static uint64_t width_of(const struct panel_warps *pw, unsigned k)
{
	return axis_start(&pw->axis, k + 1) - axis_start(&pw->axis, k);
}

/* Half of a column, and more than any other. */
static bool has_most(const struct panel_warps *pw, unsigned k, size_t segment)
{
	const struct warp_cell *cell = &pw->cells[k];
	unsigned class = warp_cell_class(cell);

	return cell->n && class == segment_at(pw, cell, segment)->class &&
	       cell->cycles[class] * 2 >= width_of(pw, k);
}

static bool is_full(const struct panel_warps *pw, unsigned k)
{
	const struct warp_cell *cell = &pw->cells[k];
	unsigned class = warp_cell_class(cell);

	return class < WARP_CLASSES && cell->n == 1 &&
	       cell->cycles[class] >= width_of(pw, k) * NEARLY_FULL;
}

/* The columns that one scope fills from column k on, with those at its ends that it has the most of; k: too few for a box. */
static unsigned box_end(const struct line *l, unsigned k)
{
	const struct panel_warps *pw = as_warps(l->p);
	const struct warp_cell *cells = pw->cells;
	size_t segment = last_of(&cells[k]);
	unsigned end = k + 1;

	if (!l->is_single || !cells[k].n || !has_most(pw, k, segment))
		return k;
	while (end < pw->axis.n && is_full(pw, end) && cells[end].segment == segment)
		end++;
	if (end < pw->axis.n && cells[end].n && cells[end].segment == segment &&
	    has_most(pw, end, segment))
		end++;
	return end - k < BOX_LEAST ? k : end;
}

static void put_box_name(struct pen *pen, enum role role, const char *name)
{
	pen_name(pen, role, &(struct pen_name){.text = name});
	pen_repeat(pen, role, " ", MIN(1, pen_left(pen)));
}

/* Its name where there is room for it, else its letter; without a ground, its letter all along, behind the name. A side parts it
 * from the one before, where that is of the same letter. */
static void draw_box(struct line *l, unsigned k, unsigned end)
{
	const struct panel_warps *pw = as_warps(l->p);
	const struct warp_cell *cell = &pw->cells[k];
	const struct look *look = l->pen->canvas->look;
	unsigned class = warp_cell_class(cell);
	const struct warp_track *track = &pw->tracks.tracks[cell->track];
	const struct warp_segment *v = segment_at(pw, cell, last_of(cell));
	const char *name =
		warps_name(pw, warp_tracks_scope(&pw->tracks, track->warp, v->scope)->name);
	struct pen pen = pen_at(l->pen->canvas, l->pen->y, l->x + (int)k, (int)(end - k));
	const char letter[] = {pw->letters[class], '\0'};
	bool has_ground = !look->mono && !pw->tracks.classes[class].waits;
	unsigned filled;

	if (k > 0 && warp_cell_class(&cell[-1]) == class && last_of(&cell[-1]) != last_of(cell))
		pen_put(&pen, warps_ground(pw, class), look->glyphs->side);
	if (!look->mono && text_columns(name, strlen(name), look->ascii) < pen_left(&pen))
		put_box_name(&pen, warps_ground(pw, class), name);
	else
		pen_put(&pen, warps_ground(pw, class), letter);
	filled = (unsigned)(pen.x - l->x); /* on other lanes names stay readable */
	pen_repeat(&pen, warps_ground(pw, class), has_ground ? " " : letter, pen_left(&pen));
	if (l->cursor >= (l->is_here ? k : filled) && l->cursor < end)
		put_column(l, l->cursor, warps_ground(pw, class),
			   l->is_here || !has_ground ? letter : " ");
}

/* Over what is there: they have no length. */
static void draw_instants(struct line *l)
{
	const struct panel_warps *pw = as_warps(l->p);
	const struct glyphs *g = l->pen->canvas->look->glyphs;
	uint32_t warp;

	if (!pw->tracks.n_instants)
		return;
	for (unsigned k = 0; k < pw->axis.n; k++) {
		const struct warp_instant *v =
			warp_lanes_instant(&pw->lanes, l->lane, axis_start(&pw->axis, k),
					   axis_start(&pw->axis, k + 1), &warp);

		if (v)
			put_column(l, k, ROLE_TITLE,
				   warp_tracks_scope(&pw->tracks, warp, v->scope)->event ==
						   WARP_EVENT_MARK
					   ? g->ascending
					   : g->found);
	}
}

static void draw_label(struct panel *p, struct pen *pen, const struct warp_lane *lane)
{
	const struct panel_warps *pw = as_warps(p);
	int width = warps_label_width(p);
	struct pen label = pen_at(pen->canvas, pen->y, pen->x, width - 1);
	bool late = pw->kind == WARP_LANES_BLOCKS && is_late(pw, lane->block);
	struct buf text;

	buf_init(&text, 64);
	warps_put_lane(pw, lane, &text);
	if (late)
		buf_puts(&text, "!");
	if (pw->kind == WARP_LANES_BLOCKS && width >= 18 && !lane->line)
		buf_printf(&text, "%*sSM %u", MAX(10 - (int)text.len, 1), "", lane->multiprocessor);
	label.selected = pen->selected;
	pen_put(&label, late ? ROLE_WARNING : ROLE_NORMAL, buf_str(&text));
	pen_fill(&label, ROLE_NORMAL);
	buf_done(&text);
}

/* How much of what is in sight the lane's warps were in scopes, and did not wait. */
static void draw_busy(struct panel *p, struct pen *pen, int x)
{
	const struct panel_warps *pw = as_warps(p);
	struct pen at = pen_at(pen->canvas, pen->y, x, warps_busy_width(p));
	struct warp_cell all = {.present = 0};
	char percent[HUMAN_MAX];

	for (unsigned k = 0; k < pw->axis.n; k++) {
		all.present += pw->cells[k].present;
		for (unsigned c = 0; c < WARP_CLASSES; c++)
			all.cycles[c] += pw->tracks.classes[c].waits ? 0 : pw->cells[k].cycles[c];
	}
	snprintf(percent, sizeof(percent), all.present ? "%.0f%%" : "-",
		 warp_cell_share(&all) * 100);
	pen_right(&at, ROLE_NUMBER, warps_busy_width(p), percent);
}

static void draw_lane(struct panel *p, struct pen *pen, size_t row)
{
	struct panel_warps *pw = as_warps(p);
	const struct warp_lane *lane = warps_lane(p, row);
	struct line l = {.p = p,
			 .pen = pen,
			 .lane = pw->rows[row].id,
			 .is_here = row == p->cursor,
			 .is_single = lane->n_tracks == 1,
			 .cursor = axis_column(&pw->axis, pw->axis.at),
			 .x = 1 + warps_label_width(p)};
	struct warp_view view = warps_view(pw);

	draw_label(p, pen, lane);
	warp_lanes_cells(&pw->lanes, l.lane, &view, pw->cells);
	for (unsigned k = 0, end; k < pw->axis.n; k = end) {
		end = box_end(&l, k);
		if (end > k)
			draw_box(&l, k, end);
		else
			draw_cell(&l, end++);
	}
	draw_instants(&l);
	if (warps_busy_width(p))
		draw_busy(p, pen, l.x + (int)pw->axis.n);
	axis_hits_add(pen, l.x, pw->axis.n, p->height, row);
}

void warps_draw_row(struct panel *p, struct pen *pen, size_t row)
{
	struct panel_warps *pw = as_warps(p);
	struct pen rest = pen_at(pen->canvas, pen->y, pen->x, pen->end);

	pen_fill(&rest, ROLE_NORMAL);
	switch (pw->rows[row].kind) {
	case WARPS_FACTS:
		draw_facts(p, pen);
		break;
	case WARPS_GRID:
		draw_grid(p, pen);
		break;
	case WARPS_RUNNING:
		draw_running(p, pen);
		break;
	case WARPS_BLOCK:
		draw_block(p, pen, &pw->lanes.lanes[pw->rows[row].id]);
		break;
	default:
		draw_lane(p, pen, row);
	}
	pen->selected = false;
	pen->x = pen->end;
}

/* ---- what empty lines are good for ---- */

void warps_draw_below(struct panel *p, const struct canvas *canvas, int y, int rows)
{
	struct pen keys = pen_at(canvas, y + rows - 1, 0, canvas->cols);

	if (rows < 2)
		return;
	pen_skip(&keys, ROLE_NORMAL, 1);
	panel_draw_key(p, &keys, REQ_UNFOLD, "zoom in");
	panel_draw_key(p, &keys, REQ_FOLD, "out");
	panel_draw_key(p, &keys, REQ_FOLD_AUTO, "all");
	panel_draw_key(p, &keys, REQ_GROUP, "lanes");
	panel_draw_key(p, &keys, REQ_NEXT_SIBLING, "next scope");
	if (as_warps(p)->stats.n_outliers)
		panel_draw_key(p, &keys, REQ_HOT_CHILD, "next late CTA");
	panel_draw_key(p, &keys, REQ_OPEN, "into it");
	if (as_warps(p)->tracks.clock.cycle_ns > 0)
		panel_draw_key(p, &keys, REQ_FORM, as_warps(p)->in_ns ? "cycles" : "ns");
}
