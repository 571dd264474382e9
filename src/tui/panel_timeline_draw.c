/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <string.h>
#include "base/buf.h"
#include "core/pages.h"
#include "tui/axis_hits.h"
#include "tui/flame_box.h"
#include "tui/names.h"
#include "tui/panel_timeline.h"
#include "tui/ruler.h"
#include "tui/tui_impl.h"

#define NEARLY_FULL(busy, of) ((busy) >= (of) - (of) / 16)
#define TIME_TEXT             40
#define BOX_LEAST             2 /* columns: a box has a mark at its side */

/* ---- times ---- */

/* A moment of the run, in a unit that fits the last one, so exact that moments `step_ns` apart differ. */
static void print_moment(const struct strips *t, uint64_t ns, uint64_t step_ns, char out[TIME_TEXT])
{
	static const struct {
		uint64_t ns;
		int decimals;
		const char *word;
	} units[] = {{1, 0, "ns"},
		     {NSEC_PER_USEC, 3, "us"},
		     {NSEC_PER_MSEC, 6, "ms"},
		     {NSEC_PER_SEC, 9, "s"}};
	size_t u = ARRAY_SIZE(units) - 1;
	int decimals;

	while (u > 0 && t->last_ns - t->zero_ns < units[u].ns)
		u--;
	decimals = units[u].decimals;
	for (; decimals > 0 && step_ns >= 10; step_ns /= 10)
		decimals--;
	snprintf(out, TIME_TEXT, "%.*f%s", decimals,
		 (double)(ns - t->zero_ns) / (double)units[u].ns, units[u].word);
}

static uint64_t column_ns(const struct panel_timeline *pt)
{
	return MAX((pt->view.to_ns - pt->view.from_ns) / pt->view.n, 1);
}

/* ---- the ruler ---- */

/* How far apart marks stand: their texts are as long as it asks for. */
static uint64_t mark_step(const struct panel_timeline *pt)
{
	uint64_t step_ns = ruler_step(column_ns(pt) * 6);
	char text[TIME_TEXT];

	for (int turn = 0; turn < 16; turn++) {
		print_moment(&pt->strips, pt->view.to_ns, step_ns, text);
		if (step_ns / column_ns(pt) >= strlen(text) + 2)
			break;
		step_ns = ruler_step(step_ns + 1);
	}
	return step_ns;
}

static void draw_ruler(struct panel *p, struct pen *pen)
{
	const struct panel_timeline *pt = as_timeline(p);
	const struct strips *t = &pt->strips;
	uint64_t step_ns = mark_step(pt), ns;
	int x = 1 + timeline_label_width(p), end = x + (int)pt->view.n;
	int cursor = x + (int)timeline_column(&pt->view, pt->at_ns);
	char text[TIME_TEXT];

	human_time_ns(text, (double)(pt->view.to_ns - pt->view.from_ns));
	pen_printf(pen, ROLE_HEAD, " %s", text);
	pen_fill(pen, ROLE_HEAD);
	ns = pt->view.from_ns - t->zero_ns;
	for (ns += (step_ns - ns % step_ns) % step_ns; ns < pt->view.to_ns - t->zero_ns;
	     ns += step_ns) {
		print_moment(t, ns + t->zero_ns, step_ns, text);
		ruler_mark(pen, x + (int)timeline_column(&pt->view, ns + t->zero_ns), end, cursor,
			   text);
	}
	ruler_cursor(pen, cursor);
}

/* ---- what is under the cursor ---- */

/* "  in forward > linear" */
static void put_context(struct panel *p, const struct strip *strip, size_t i, struct buf *out)
{
	uint32_t node = timeline_node(p, strip_interval(&as_timeline(p)->strips, strip, i));

	if (node == SNAP_NONE || node == 0 || snapshot_node(p->tui->snap, node)->parent == 0)
		return;
	buf_puts(out, "  in ");
	tui_put_path(p->tui, snapshot_node(p->tui->snap, node)->parent, out);
}

/* "not recorded for 1.2s: paused"; "idle for 12us". Of a lane that is idle in part it is not known how long. */
static void put_how_long(struct panel *p, const struct strip *strip, size_t i, struct buf *out)
{
	const struct panel_timeline *pt = as_timeline(p);
	const struct strips *t = &pt->strips;
	const struct unrecorded_span *span =
		timeline_unrecorded(p, strip, pt->at_ns, pt->at_ns + 1);
	uint64_t from_ns = i > 0 ? strip_end_ns(t, strip, i - 1) : pt->at_ns;
	bool is_pages = t->lanes[strip->lane].pages;
	char ns[HUMAN_MAX];

	if (span) {
		human_time_ns(ns, (double)(MIN(span->end_ns, t->last_ns) -
					   MAX(span->start_ns, t->zero_ns)));
		buf_printf(out, "not recorded for %s: %s", ns, unrecorded_words[span->reason]);
	} else if (i > 0 && i < strip->n &&
		   !timeline_unrecorded(p, strip, from_ns, strip_start_ns(t, strip, i))) {
		human_time_ns(ns, (double)(strip_start_ns(t, strip, i) - from_ns));
		buf_printf(out, "%s for %s", is_pages ? "nothing" : "idle", ns);
	} else {
		buf_puts(out, is_pages ? "nothing moved" : "idle");
	}
}

/* "idle for 12us  late 10us, launch 2us  after gemm  before relu  in forward > linear" */
static void draw_idle(struct panel *p, struct pen *pen, enum role role, const struct strip *strip)
{
	const struct panel_timeline *pt = as_timeline(p);
	const struct strips *t = &pt->strips;
	size_t i = strip_begun(t, strip, pt->at_ns);
	struct strip_place late;
	struct buf text = {0};

	buf_init(&text, 1024);
	put_how_long(p, strip, i, &text);
	late = timeline_put_reason(p, strip, &text);
	if (i > 0)
		buf_printf(&text, "  after %s", timeline_name(p, strip, i - 1));
	if (!late.strip && i < strip->n)
		buf_printf(&text, "  before %s", timeline_name(p, strip, i));
	if (late.strip) {
		buf_printf(&text, "  before %s", timeline_name(p, late.strip, late.i));
		put_context(p, late.strip, late.i, &text);
	}
	pen_name(pen, role, &(struct pen_name){.text = buf_str(&text)});
	buf_done(&text);
}

/* "launched 12.3us before by thread 4  ", or of a scope "launches first after 12.3us  " */
static void draw_launch(struct panel *p, struct pen *pen, enum role role,
			const struct timeline_spot *spot)
{
	const struct panel_timeline *pt = as_timeline(p);
	const struct timeline_flow *flow = &pt->flow;
	char ns[HUMAN_MAX];

	if (!flow->launched_ns || p->width < 60)
		return;
	if (pt->strips.lanes[spot->strip->lane].is_host) {
		human_time_ns(ns, (double)(flow->launched_ns -
					   strip_start_ns(&pt->strips, spot->strip, spot->i)));
		pen_printf(pen, role, "launches first after %s  ", ns);
		return;
	}
	human_time_ns(ns, (double)(flow->start_ns - flow->launched_ns));
	pen_printf(pen, role, "launched %s before", ns);
	if (flow->thread && p->width >= 100)
		pen_printf(pen, role, " by thread %llu", (unsigned long long)flow->thread);
	pen_put(pen, role, "  ");
}

/* "2.00M  ", "5 times  ": how much moved, or was missed. */
static void draw_amount(struct panel *p, struct pen *pen, enum role role,
			const struct timeline_spot *spot)
{
	const struct strips *t = &as_timeline(p)->strips;
	const struct session_interval *v = strip_interval(t, spot->strip, spot->i);
	char amount[HUMAN_MAX];

	if (!t->lanes[spot->strip->lane].pages)
		return;
	switch (pages_kind(session_node_name(t->s, v->node)).unit) {
	case PAGES_BYTES:
		human_bytes(amount, v->amount);
		pen_printf(pen, role, "%sB  ", amount);
		break;
	case PAGES_NUMBER:
		human_count(amount, v->amount);
		pen_printf(pen, role, "%s of them  ", amount);
		break;
	}
}

/* "took 12.3us  launched 5us before  gemm  in forward > linear" */
static void draw_interval(struct panel *p, struct pen *pen, enum role role,
			  const struct timeline_spot *spot)
{
	const struct strips *t = &as_timeline(p)->strips;
	struct buf text;
	char took[HUMAN_MAX];

	human_time_ns(took, (double)(strip_end_ns(t, spot->strip, spot->i) -
				     strip_start_ns(t, spot->strip, spot->i)));
	pen_printf(pen, role, "took %s  ", took);
	if (spot->n > 1)
		pen_printf(pen, role, "1 of %zu here  ", spot->n);
	draw_amount(p, pen, role, spot);
	draw_launch(p, pen, role, spot);
	buf_init(&text, 4096);
	buf_puts(&text, timeline_name(p, spot->strip, spot->i));
	put_context(p, spot->strip, spot->i, &text);
	pen_name(pen, role == ROLE_NORMAL ? ROLE_TITLE : role,
		 &(struct pen_name){.text = buf_str(&text), .cut = TEXT_CUT_MIDDLE});
	buf_done(&text);
}

static void draw_spot(struct panel *p, struct pen *pen, enum role role)
{
	const struct panel_timeline *pt = as_timeline(p);
	struct timeline_spot spot = timeline_spot(p);
	uint64_t ns = spot.n ? strip_start_ns(&pt->strips, spot.strip, spot.i) : pt->at_ns;
	char at[TIME_TEXT];

	print_moment(&pt->strips, ns, spot.n ? 1 : column_ns(pt), at);
	pen_printf(pen, role == ROLE_NORMAL ? ROLE_NUMBER : role, " %s  ", at);
	if (spot.n)
		draw_interval(p, pen, role, &spot);
	else if (spot.strip)
		draw_idle(p, pen, role, spot.strip);
}

void timeline_draw_head(struct panel *p, struct pen *pen)
{
	as_timeline(p)->flow = timeline_flow(p, false);
	if (p->height >= 11) {
		draw_ruler(p, pen);
		return;
	}
	draw_spot(p, pen, ROLE_HEAD); /* there is no foot that says it */
	pen_fill(pen, ROLE_HEAD);
}

void timeline_draw_foot(struct panel *p, struct pen *pen)
{
	draw_spot(p, pen, ROLE_NORMAL);
}

/* ---- lanes ---- */

static void put_heading(struct panel *p, const struct strip_lane *lane, struct buf *out)
{
	if (lane->is_host)
		buf_puts(out, "host");
	else if (lane->device == SESSION_NONE)
		buf_puts(out, "a device");
	else
		tui_put_device(p->tui, lane->device, out);
	if (lane->process == SESSION_NONE)
		return;
	buf_puts(out, "  ");
	tui_put_process(p->tui, lane->process, out);
}

/* "stream 7", or "s7" where there is less room, "c2 stream 7" where contexts have the same; "  +1" for a further line. */
static void put_label(struct panel *p, const struct strip *strip, bool is_short, struct buf *out)
{
	const struct strips *t = &as_timeline(p)->strips;
	const struct strip_lane *lane = &t->lanes[strip->lane];
	char stream[STREAM_WORD];

	if (strip->line) {
		buf_printf(out, "  +%u", strip->line);
	} else if (lane->pages) {
		buf_puts(out, (is_short ? pages_lane_briefs : pages_lane_words)[lane->pages]);
	} else if (lane->is_host) {
		buf_printf(out, "%s%llu", is_short ? "t" : "thread ",
			   (unsigned long long)lane->thread);
	} else {
		if (strips_have_contexts(t, lane))
			buf_printf(out, "c%u ", lane->context);
		if (is_short && lane->stream != SESSION_NONE)
			buf_printf(out, "s%u", lane->stream);
		else
			buf_puts(out, session_stream_word(lane->stream, stream));
	}
}

/* Numbers of streams are told apart by their ends. */
static void draw_label(struct panel *p, struct pen *pen, const struct strip *strip)
{
	int width = timeline_label_width(p);
	struct pen label = pen_at(pen->canvas, pen->y, pen->x, width - 1);
	struct buf text;

	buf_init(&text, 256);
	put_label(p, strip, false, &text);
	if (text.len > (size_t)width - 1) {
		buf_clear(&text);
		put_label(p, strip, true, &text);
	}
	label.selected = pen->selected;
	pen_name(&label, ROLE_NORMAL,
		 &(struct pen_name){.text = buf_str(&text), .cut = TEXT_CUT_MIDDLE});
	pen_fill(&label, ROLE_NORMAL);
	buf_done(&text);
}

/* ---- columns ---- */

/* A row while it is drawn. */
struct line {
	struct panel *p;
	struct pen *pen;
	const struct strip *strip;
	const struct busy *busy;   /* of its device; NULL: it has none, or it is not made yet */
	struct timeline_spot spot; /* of the cursor's row; n is 0 elsewhere */
	bool is_here;              /* the cursor's row */
	unsigned cursor;           /* column */
	int x;                     /* of column 0 */
};

static uint64_t width_ns(const struct panel_timeline *pt, unsigned k)
{
	return strip_column_ns(&pt->view, k + 1) - strip_column_ns(&pt->view, k);
}

static bool is_full(const struct panel_timeline *pt, unsigned k)
{
	return NEARLY_FULL(pt->cells[k].busy_ns, width_ns(pt, k));
}

static enum role ink_of(uint8_t class)
{
	static const unsigned char roles[] = {ROLE_KERNEL, ROLE_COPY, ROLE_COPY, ROLE_SCOPE,
					      ROLE_SCOPE,  ROLE_CODE, ROLE_GROUP};

	return class < ARRAY_SIZE(roles) ? roles[class] : ROLE_DIM;
}

static enum role ground_of(uint8_t class)
{
	return class == TIMELINE_LEFT_OUT ? ROLE_DIM : ROLE_BOX_KERNEL + class;
}

static uint64_t known_ns(const struct line *l, unsigned k)
{
	const struct strip_view *view = &as_timeline(l->p)->view;

	return l->busy ? busy_known_ns(l->busy, strip_column_ns(view, k),
				       strip_column_ns(view, k + 1))
		       : width_ns(as_timeline(l->p), k);
}

/* What several operations leave of a column, or one that is shorter: what is little is seen. */
static void draw_cell(struct line *l, unsigned k)
{
	const struct panel_timeline *pt = as_timeline(l->p);
	const struct strip_cell *cell = &pt->cells[k];
	const char *const *levels = l->pen->canvas->look->glyphs->levels;
	uint64_t ns = cell->busy_ns - (cell->class == TIMELINE_LEFT_OUT ? 0 : cell->least_ns);
	double share = (double)ns / (double)MAX(known_ns(l, k), 1);
	struct pen pen = pen_at(l->pen->canvas, l->pen->y, l->x + (int)k, 1);

	pen.selected = l->is_here && k == l->cursor;
	if (!cell->n && l->busy && busy_unrecorded(l->busy, &pt->view, k) != UNRECORDED_N) {
		pen_put(&pen, ROLE_DIM, l->pen->canvas->look->glyphs->unknown);
		return;
	}
	pen_put(&pen, cell->n ? ink_of(cell->class) : ROLE_NORMAL,
		cell->n ? levels[CLAMP((int)(share * 8 + 0.5) - 1, 0, 7)] : " ");
}

/* An operation that fills columns [k, end). */
static void draw_box(struct line *l, unsigned k, unsigned end)
{
	const struct panel_timeline *pt = as_timeline(l->p);
	const struct strip_cell *cell = &pt->cells[k];
	const struct session_interval *v = strip_interval(&pt->strips, l->strip, cell->first);
	const char *needle = l->p->tui->search;
	uint32_t node = timeline_node(l->p, v);
	struct flame_box_look look = {
		.role = ground_of(cell->class),
		.name = timeline_name(l->p, l->strip, cell->first),
		.is_selected = l->spot.n && l->spot.i == cell->first,
		.is_found = *needle && node != SNAP_NONE &&
			    tui_node_has(l->p->tui, node, needle, text_is_smart_case(needle)),
	};
	struct pen pen = pen_at(l->pen->canvas, l->pen->y, l->x + (int)k, (int)(end - k));

	flame_box_draw(&pen, &look, 0, 1);
}

/* The columns that one operation fills alone, from column k on; k: too few for a box. */
static unsigned box_end(const struct panel_timeline *pt, unsigned k)
{
	size_t first = pt->cells[k].first;
	unsigned end = k;

	while (end < pt->view.n && pt->cells[end].n == 1 && pt->cells[end].first == first &&
	       is_full(pt, end))
		end++;
	return end - k < BOX_LEAST ? k : end;
}

/* ---- from a launch to its operation ---- */

/* The column of a moment; false: it is not in the view. */
static bool column_of(const struct panel_timeline *pt, uint64_t ns, unsigned *ret_k)
{
	if (ns < pt->view.from_ns || ns >= pt->view.to_ns)
		return false;
	*ret_k = timeline_column(&pt->view, ns);
	return true;
}

static void put_at(struct panel *p, struct pen *pen, unsigned k, enum role role, const char *text)
{
	struct pen at = pen_at(pen->canvas, pen->y, 1 + timeline_label_width(p) + (int)k, 1);

	pen_put(&at, role, text);
}

/* From where it waits to where it starts, as far as that is seen. */
static void draw_wait(struct panel *p, struct pen *pen)
{
	const struct panel_timeline *pt = as_timeline(p);
	const struct timeline_flow *flow = &pt->flow;
	uint64_t from_ns = MAX(flow->launched_ns, pt->view.from_ns);

	if (from_ns >= pt->view.to_ns || flow->start_ns < pt->view.from_ns)
		return;
	for (unsigned k = timeline_column(&pt->view, from_ns);
	     k < pt->view.n && strip_column_ns(&pt->view, k + 1) <= flow->start_ns; k++)
		if (!pt->cells[k].n)
			put_at(p, pen, k, ROLE_TITLE, pen->canvas->look->glyphs->rule);
}

/* The part of the line in a row: down from the thread at the launch, and along the lane of the operation until that
 * starts. What is there is not drawn over, but where the launch was. */
static void draw_flow(struct panel *p, struct pen *pen, size_t row)
{
	const struct panel_timeline *pt = as_timeline(p);
	const struct timeline_flow *flow = &pt->flow;
	unsigned k = 0;
	bool is_seen;

	if (!flow->launched_ns)
		return;
	is_seen = column_of(pt, flow->launched_ns, &k);
	if (row == flow->to)
		draw_wait(p, pen);
	else if (row == flow->from && is_seen)
		put_at(p, pen, k, ROLE_TITLE, pen->canvas->look->glyphs->descending);
	else if (is_seen && flow->from != SIZE_MAX && row > MIN(flow->from, flow->to) &&
		 row < MAX(flow->from, flow->to) && !pt->cells[k].n)
		put_at(p, pen, k, ROLE_TITLE, pen->canvas->look->glyphs->edge);
}

static void draw_strip(struct panel *p, struct pen *pen, size_t row)
{
	struct panel_timeline *pt = as_timeline(p);
	struct line l = {.p = p,
			 .pen = pen,
			 .strip = timeline_strip(p, row),
			 .is_here = row == p->cursor,
			 .x = 1 + timeline_label_width(p)};

	l.busy = timeline_busy_of(p, l.strip);
	if (l.is_here) {
		l.spot = timeline_spot(p);
		l.cursor = timeline_column(&pt->view, pt->at_ns);
	}
	draw_label(p, pen, l.strip);
	strips_cells(&pt->strips, l.strip, &pt->view, pt->cells);
	for (unsigned k = 0, end; k < pt->view.n; k = end) {
		end = box_end(pt, k);
		if (end > k)
			draw_box(&l, k, end);
		else
			draw_cell(&l, end++);
	}
	draw_flow(p, pen, row);
	axis_hits_add(pen, l.x, pt->view.n, p->height, row);
}

static void draw_heading(struct panel *p, struct pen *pen, const struct strip_lane *lane)
{
	struct buf text;

	buf_init(&text, 1024);
	put_heading(p, lane, &text);
	pen_name(pen, ROLE_TITLE, &(struct pen_name){.text = buf_str(&text)});
	buf_done(&text);
}

void timeline_draw_row(struct panel *p, struct pen *pen, size_t row)
{
	struct panel_timeline *pt = as_timeline(p);
	struct pen rest = pen_at(pen->canvas, pen->y, pen->x, pen->end);

	pen_fill(&rest, ROLE_NORMAL);
	switch (pt->rows[row].kind) {
	case TIMELINE_HEADING:
		draw_heading(p, pen, &pt->strips.lanes[pt->rows[row].id]);
		break;
	case TIMELINE_BUSY:
		timeline_draw_busy(p, pen, pt->rows[row].id);
		break;
	case TIMELINE_MEMORY:
		timeline_draw_memory(p, pen, pt->rows[row].id);
		break;
	default:
		draw_strip(p, pen, row);
	}
	pen->selected = false;
	pen->x = pen->end;
}

/* ---- what empty lines are good for ---- */

/* clang-format off */
static const struct {
	uint8_t class;
	const char *word, *mono; /* NULL: without colours it looks like another one */
} legend[] = {
	{0, "kernel",     "kernel"},
	{1, "copy",       "copy, set"},
	{2, "set, sync",  NULL},
	{3, "scope",      "of the host"},
	{4, "NVTX",       NULL},
	{5, "code",       NULL},
	{6, "pages",      "pages"},
};
/* clang-format on */

static void draw_legend(struct panel *p, struct pen *pen)
{
	const struct panel_timeline *pt = as_timeline(p);
	const struct look *look = pen->canvas->look;
	bool there[STRIP_CLASSES];

	memcpy(there, pt->has_class, sizeof(there));
	if (look->mono) { /* these look the same */
		there[1] |= there[2];
		there[3] |= there[4] || there[5];
	}
	pen_skip(pen, ROLE_NORMAL, 1);
	for (size_t i = 0; i < ARRAY_SIZE(legend); i++) {
		const char *word = look->mono ? legend[i].mono : legend[i].word;

		if (there[legend[i].class] && word && pen_left(pen) >= 4 + (int)strlen(word))
			flame_box_sample(pen, ground_of(legend[i].class), word);
	}
	for (unsigned i = 1; i < 8; i += 3)
		pen_put(pen, ROLE_NORMAL, look->glyphs->levels[i]);
	pen_put(pen, ROLE_NORMAL, " share of the column");
	if (there[TIMELINE_LEFT_OUT])
		pen_put(pen, ROLE_DIM, "  dim: left out by the filter");
}

static void draw_keys(struct panel *p, struct pen *pen)
{
	pen_skip(pen, ROLE_NORMAL, 1);
	panel_draw_key(p, pen, REQ_UNFOLD, "zoom in");
	panel_draw_key(p, pen, REQ_FOLD, "out");
	panel_draw_key(p, pen, REQ_FOLD_AUTO, "all");
	panel_draw_key(p, pen, REQ_NEXT_SIBLING, "next operation");
	panel_draw_key(p, pen, REQ_HOT_CHILD, "next gap");
	if (as_timeline(p)->flow.launched_ns)
		panel_draw_key(p, pen, REQ_PARENT, "launch");
	panel_draw_key(p, pen, REQ_OPEN, "fill the screen with it");
	panel_draw_key(p, pen, REQ_REVEAL, "show it in the tree");
}

void timeline_draw_below(struct panel *p, const struct canvas *canvas, int y, int rows)
{
	struct pen last = pen_at(canvas, y + rows - 1, 0, canvas->cols);
	struct pen keys = pen_at(canvas, y + rows - 2, 0, canvas->cols);
	struct pen reasons = pen_at(canvas, y + rows - 3, 0, canvas->cols);

	draw_legend(p, &last);
	if (rows >= 3)
		draw_keys(p, &keys);
	if (rows >= 4)
		timeline_draw_reasons(p, &reasons);
}
