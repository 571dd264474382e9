/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "report/diff_impl.h"
#include <stdio.h>
#include <string.h>
#include "base/shown.h"
#include "base/util.h"
#include "report/table.h"

static const char side_names[] = "AB";

static void put_title(struct diff_printer *x, const char *text, size_t width)
{
	put_right(x->out, text, width);
	out_puts(x->out, " ");
}

static void put_head(struct diff_printer *x)
{
	unsigned side, i;

	for (side = 0; side < DIFF_N_SIDES; side++)
		for (i = 0; i < x->p->n_files[side]; i++) {
			out_printf(x->out, "%c  ", side_names[side]);
			put_name(x->out, x->p->files[side][i], 0, x->p->ascii);
			out_putc(x->out, '\n');
		}
	diff_put_head(x);
}

/* ---- tables ---- */

/* Metrics that stand side by side, and how wide all of their columns are. */
struct metrics {
	size_t from, to;
	size_t width;
};

static size_t metric_width(const struct diff_printer *x, size_t metric)
{
	const struct diff_widths *w = &x->widths[metric];

	return (x->several ? 4 : 2) * (w->value + 1) + w->delta + 1 + DIFF_PERCENT_WIDTH + 1 +
	       DIFF_STATUS_WIDTH + 2;
}

/* As many metrics as leave room for names, at least one. */
static struct metrics side_by_side(const struct diff_printer *x, size_t from)
{
	struct metrics t = {from, from, 0};
	size_t room = MIN(NAME_ROOM, x->p->width * 2 / 5);

	while (t.to < diff_n_metrics(x->d)) {
		size_t width = t.width + metric_width(x, t.to);

		if (t.to > from && x->p->width && width + room > x->p->width)
			break;
		t.width = width;
		t.to++;
	}
	return t;
}

/* "time (ns), inclusive": a line by itself for one metric, else above the columns of each. */
static void put_names(struct diff_printer *x, const struct metrics *t)
{
	bool alone = t->to - t->from == 1;

	for (size_t m = t->from; m < t->to; m++) {
		const struct diff_metric *metric = diff_metric(x->d, m);
		_cleanup_(buf_done) struct buf text = {0};
		size_t width = metric_width(x, m) - 1;

		buf_printf(&text, "%s, %s", metric->name, diff_sum_word(x, m));
		if (metric->is_divided)
			buf_printf(&text, ", per %s", x->p->per);
		put_name(x->out, buf_str(&text), alone ? 0 : width, x->p->ascii);
		if (m + 1 < t->to)
			out_spaces(x->out, 1 + width - MIN(name_width(buf_str(&text)), width));
	}
	if (x->several)
		out_puts(x->out, "; changed: the runs of A and of B do not overlap");
	out_puts(x->out, alone ? "\n\n" : "\n");
}

static void put_titles(struct diff_printer *x, size_t metric)
{
	const char *delta = x->p->ascii ? "DIFF" : "\xce\x94";
	const char *percent = x->p->ascii ? "DIFF%" : "\xce\x94%";
	const struct diff_widths *w = &x->widths[metric];
	char title[8];

	for (unsigned side = 0; side < DIFF_N_SIDES; side++) {
		if (x->several) {
			snprintf(title, sizeof(title), "%c MIN", side_names[side]);
			put_title(x, title, w->value);
		}
		snprintf(title, sizeof(title), "%c%s", side_names[side], x->several ? " MED" : "");
		put_title(x, title, w->value);
	}
	put_title(x, delta, w->delta);
	put_title(x, percent, DIFF_PERCENT_WIDTH);
	out_puts(x->out, " STATUS   ");
}

/* Cut a path at its front: its end is what matters. */
static const char *cut_front(const struct diff_printer *x, const char *name, size_t room)
{
	size_t width = name_width(name), left;
	const char *end = name + strlen(name);
	struct shown s = {0};

	if (!room || width <= room || x->p->tree)
		return name;
	for (left = room > 4 ? room - 4 : 0; width > left && name < end; width -= s.columns)
		name = shown_next(name, end, &s);
	return name + strspn(name, " ");
}

/* Growth is red, shrinking is green. The sign says the same to those who do not see colours. */
static const char *color_of(const struct diff_printer *x, const struct diff_value *v)
{
	if (!x->p->color || v->status == DIFF_SAME || !(v->delta > 0 || v->delta < 0))
		return "";
	return v->delta > 0 ? "\033[31m" : "\033[32m";
}

static void put_line_name(struct diff_printer *x, const struct metrics *t, uint32_t id)
{
	size_t width = x->p->width, room = !width                 ? 0
					   : width > t->width + 8 ? width - t->width - 1
								  : 8;
	const char *name = diff_row_name(x, id), *shown = cut_front(x, name, room);

	if (shown != name)
		out_puts(x->out, x->p->ascii ? "... " : "\xe2\x80\xa6 ");
	put_name(x->out, shown, room, x->p->ascii);
	out_putc(x->out, '\n');
}

static void put_line(struct diff_printer *x, const struct metrics *t, uint32_t id)
{
	for (size_t m = t->from; m < t->to; m++) {
		const struct diff_value *v = diff_line_value(x, id, m);
		const char *color = color_of(x, v);

		out_puts(x->out, color);
		diff_put_values(x, m, v, " ");
		out_puts(x->out, *color ? "\033[m " : " ");
		put_left(x->out, diff_status_of(x, v), DIFF_STATUS_WIDTH);
		out_putc(x->out, ' ');
	}
	put_line_name(x, t, id);
}

static void put_table(struct diff_printer *x, const struct metrics *t)
{
	put_names(x, t);
	for (size_t m = t->from; m < t->to; m++)
		put_titles(x, m);
	out_puts(x->out, "NAME\n");
	put_line(x, t, 0);
	for (uint32_t i = 0; i < x->n; i++)
		put_line(x, t, x->ids[i]);
	out_putc(x->out, '\n');
}

void diff_print_text(struct diff_printer *x)
{
	put_head(x);
	for (size_t m = 0; m < diff_n_metrics(x->d);) {
		const struct metrics t = side_by_side(x, m);

		put_table(x, &t);
		m = t.to;
	}
	diff_put_counts(x);
}
