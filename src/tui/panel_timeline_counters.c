/* SPDX-License-Identifier: MIT */
/* What is said of a device as a whole: how busy each column is, and why nothing ran. */
#include "config.h" // IWYU pragma: keep
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "tui/names.h"
#include "tui/panel_timeline.h"
#include "tui/tui_impl.h"

#define MANY 1000000 /* operations that take so long to be added up that the rest is shown before */

/* ---- devices as one ---- */

static struct busy *make(struct panel_timeline *pt, uint32_t lane)
{
	struct busy *b;

	if (!pt->busy)
		pt->busy = calloc(pt->strips.n_lanes, sizeof(*pt->busy));
	if (!pt->busy)
		return NULL;
	b = &pt->busy[lane];
	return b->t || busy_init(b, &pt->strips, lane) == 0 ? b : NULL;
}

const struct busy *timeline_busy(struct panel *p, uint32_t lane)
{
	struct panel_timeline *pt = as_timeline(p);

	if (!pt->was_put_off && pt->strips.n_intervals >= MANY) {
		pt->is_put_off = true;
		return NULL;
	}
	return make(pt, lane);
}

const struct levels *timeline_levels(struct panel *p, uint32_t lane)
{
	struct panel_timeline *pt = as_timeline(p);
	const struct strip_lane *of = &pt->strips.lanes[lane];
	struct levels *l;

	if (!pt->levels)
		pt->levels = calloc(pt->strips.n_lanes, sizeof(*pt->levels));
	if (!pt->levels)
		return NULL;
	l = &pt->levels[lane];
	if (!l->n && levels_init(l, pt->strips.s, of->process, of->device, of->shift_ns) < 0)
		levels_done(l);
	return l->n ? l : NULL;
}

bool timeline_later(struct panel *p)
{
	struct panel_timeline *pt = as_timeline(p);
	bool is_put_off = pt->is_put_off;

	pt->is_put_off = false;
	pt->was_put_off |= is_put_off;
	return is_put_off;
}

void timeline_forget_counters(struct panel_timeline *pt)
{
	for (size_t i = 0; pt->busy && i < pt->strips.n_lanes; i++)
		busy_done(&pt->busy[i]);
	for (size_t i = 0; pt->levels && i < pt->strips.n_lanes; i++)
		levels_done(&pt->levels[i]);
	free(pt->busy);
	free(pt->levels);
	pt->busy = NULL;
	pt->levels = NULL;
	pt->is_put_off = pt->was_put_off = false;
}

/* ---- the row ---- */

/* "busy ▼  63%": the number is that of the cursor's column, whose mark it has. */
static void draw_label(struct panel *p, struct pen *pen, const char *word, const char *value)
{
	int width = timeline_label_width(p) - 1;
	struct pen label = pen_at(pen->canvas, pen->y, pen->x, width);
	int room = width - 1 - (int)strlen(value);
	int n = (int)strlen(word) <= room ? (int)strlen(word) : 1;

	pen_printf(&label, ROLE_NORMAL, "%.*s", n, word);
	if (n < room)
		pen_skip(&label, ROLE_NORMAL, 1);
	pen_put(&label, ROLE_HEAD_SORT, pen->canvas->look->glyphs->descending);
	pen_skip(&label, ROLE_NORMAL, room - n - (n < room));
	pen_put(&label, ROLE_NUMBER, value);
}

static void put_cell(struct panel *p, struct pen *pen, unsigned k, enum role role, const char *text)
{
	struct pen at = pen_at(pen->canvas, pen->y, 1 + timeline_label_width(p) + (int)k, 1);

	pen_put(&at, role, text);
}

static void draw_columns(struct panel *p, struct pen *pen, const struct busy *b)
{
	const struct strip_view *view = &as_timeline(p)->view;
	const char *const *levels = pen->canvas->look->glyphs->levels;
	struct busy_run run;

	for (unsigned k = 0; k < view->n; k = run.end) {
		run = busy_run(b, view, k);
		if (run.unrecorded != UNRECORDED_N)
			for (; k < run.end; k++)
				put_cell(p, pen, k, ROLE_DIM, pen->canvas->look->glyphs->unknown);
		else if (run.share > 0)
			put_cell(p, pen, k, ROLE_BAR,
				 levels[CLAMP((int)(run.share * 8 + 0.5) - 1, 0, 7)]);
		else if (run.reason < GAP_N_PARTS)
			put_cell(p, pen, run.middle, ROLE_DIM, gap_words[run.reason].letter);
	}
}

void timeline_draw_busy(struct panel *p, struct pen *pen, uint32_t lane)
{
	const struct panel_timeline *pt = as_timeline(p);
	const struct busy *b = timeline_busy(p, lane);
	char percent[HUMAN_MAX], value[HUMAN_MAX + 2] = "-";

	if (b) {
		unsigned k = timeline_column(&pt->view, pt->at_ns);

		human_percent(percent, busy_share(b, strip_column_ns(&pt->view, k),
						  strip_column_ns(&pt->view, k + 1)));
		snprintf(value, sizeof(value), "%s%s", percent,
			 strcmp(percent, "-") != 0 ? "%" : "");
		draw_columns(p, pen, b);
	}
	draw_label(p, pen, "busy", value);
}

static double bytes_at(const struct levels *l, const struct strip_view *view, unsigned k)
{
	return levels_most(l, strip_column_ns(view, k), strip_column_ns(view, k + 1));
}

/* The most of each column, of the most that there ever was. */
void timeline_draw_memory(struct panel *p, struct pen *pen, uint32_t lane)
{
	const struct panel_timeline *pt = as_timeline(p);
	const struct levels *l = timeline_levels(p, lane);
	const char *const *levels = pen->canvas->look->glyphs->levels;
	char value[HUMAN_MAX] = "-";

	for (unsigned k = 0; l && k < pt->view.n; k++) {
		double share = bytes_at(l, &pt->view, k) / l->peak;

		if (share > 0)
			put_cell(p, pen, k, ROLE_COPY,
				 levels[CLAMP((int)(share * 8 + 0.5) - 1, 0, 7)]);
	}
	if (l)
		human_bytes(value, bytes_at(l, &pt->view, timeline_column(&pt->view, pt->at_ns)));
	draw_label(p, pen, "mem", value);
}

/* ---- why ---- */

const struct busy *timeline_busy_of(struct panel *p, const struct strip *strip)
{
	const struct strips *t = &as_timeline(p)->strips;

	return t->lanes[strip->lane].is_host ? NULL
					     : timeline_busy(p, strips_device_lane(t, strip->lane));
}

const struct unrecorded_span *timeline_unrecorded(struct panel *p, const struct strip *strip,
						  uint64_t from_ns, uint64_t to_ns)
{
	const struct busy *b = timeline_busy_of(p, strip);

	return b ? unrecorded_within(&b->unrecorded, from_ns, to_ns) : NULL;
}

struct strip_place timeline_put_reason(struct panel *p, const struct strip *strip, struct buf *out)
{
	static const struct strip_place none = {NULL, 0};
	const struct panel_timeline *pt = as_timeline(p);
	const struct busy *b = timeline_busy_of(p, strip);
	struct busy_gap gap;
	char ns[HUMAN_MAX];

	if (!b || as_timeline(p)->strips.lanes[strip->lane].pages)
		return none;
	if (!busy_gap_at(b, pt->at_ns, &gap)) {
		if (busy_until(b, pt->at_ns + 1) > busy_until(b, pt->at_ns))
			buf_puts(out, "  others run");
		return none;
	}
	if (gap.before.strip != strip || gap.after.strip != strip) {
		human_time_ns(ns, (double)(gap.of.end - gap.of.start));
		buf_printf(out, "  device idle for %s", ns);
	}
	if (busy_has_parts(&gap)) {
		buf_puts(out, "  ");
		busy_put_parts(&gap, out);
	}
	return gap.after;
}

/* Is there a time in the picture in which not all was recorded? */
static bool has_unrecorded(const struct panel_timeline *pt)
{
	for (size_t i = 0; pt->busy && i < pt->strips.n_lanes; i++)
		if (unrecorded_within(&pt->busy[i].unrecorded, pt->view.from_ns, pt->view.to_ns))
			return true;
	return false;
}

/* Of any process: the last one may have ranges of the host alone. */
static bool has_device(const struct strips *t)
{
	for (size_t i = 0; i < t->n_lanes; i++)
		if (!t->lanes[i].is_host)
			return true;
	return false;
}

void timeline_draw_reasons(struct panel *p, struct pen *pen)
{
	if (!has_device(&as_timeline(p)->strips))
		return;
	pen_skip(pen, ROLE_NORMAL, 1);
	pen_put(pen, ROLE_NORMAL, "nothing ran: ");
	for (size_t i = 0; i < GAP_N_PARTS; i++) {
		if (!gap_words[i].letter)
			continue;
		pen_printf(pen, ROLE_TITLE, "%s", gap_words[i].letter);
		pen_printf(pen, ROLE_NORMAL, " %s  ", gap_words[i].word);
	}
	if (has_unrecorded(as_timeline(p))) {
		pen_put(pen, ROLE_DIM, pen->canvas->look->glyphs->unknown);
		pen_put(pen, ROLE_NORMAL, " not recorded");
	}
}
