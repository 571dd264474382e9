/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "report/diff_impl.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/human.h"
#include "base/util.h"
#include "report/table.h"

#define VALUE_WIDTH 8
#define DELTA_WIDTH 9

const struct diff_value *diff_line_value(const struct diff_printer *x, uint32_t id, size_t metric)
{
	return id ? diff_value(x->d, id, metric) : &diff_metric(x->d, metric)->total;
}

static size_t format_value(const struct diff_metric *m, double v, bool sign,
			   char out[COLUMN_TEXT + 1])
{
	bool has_sign = sign && (v < 0 || v > 0);

	*out = v < 0 ? '-' : '+';
	column_print(&m->column, NULL, sign ? fabs(v) : v, true, out + has_sign);
	return strlen(out);
}

void diff_put_value(struct diff_printer *x, size_t metric, double v, bool sign, size_t width)
{
	char text[COLUMN_TEXT + 1];

	format_value(diff_metric(x->d, metric), v, sign, text);
	put_right(x->out, text, width);
}

static void make_room(const struct diff_metric *m, struct diff_widths *w,
		      const struct diff_value *v)
{
	char text[COLUMN_TEXT + 1];

	for (unsigned side = 0; side < DIFF_N_SIDES; side++) {
		w->value = MAX(w->value, format_value(m, v->side[side].min, false, text));
		w->value = MAX(w->value, format_value(m, v->side[side].median, false, text));
	}
	w->delta = MAX(w->delta, format_value(m, v->delta, true, text));
}

/* Numbers in a fixed unit may have any length. */
static void measure(const struct diff_printer *x, size_t metric)
{
	const struct diff_metric *m = diff_metric(x->d, metric);
	struct diff_widths *w = &x->widths[metric];

	*w = (struct diff_widths){VALUE_WIDTH, DELTA_WIDTH};
	if (m->column.form != FORM_PLAIN)
		return;
	make_room(m, w, &m->total);
	for (uint32_t i = 0; i < x->n; i++)
		make_room(m, w, diff_value(x->d, x->ids[i], metric));
}

int diff_measure(struct diff_printer *x)
{
	x->widths = calloc(diff_n_metrics(x->d), sizeof(*x->widths));
	if (!x->widths)
		return -ENOMEM;
	for (size_t m = 0; m < diff_n_metrics(x->d); m++)
		measure(x, m);
	return 0;
}

void diff_format_ratio(char out[HUMAN_MAX], const struct diff_value *v)
{
	char times[HUMAN_MAX];

	if (v->status == DIFF_NEW || v->status == DIFF_GONE)
		snprintf(out, HUMAN_MAX, "%s", diff_status_word((enum diff_status)v->status));
	else if (isnan(v->ratio) || isinf(v->ratio))
		snprintf(out, HUMAN_MAX, "-");
	else if (fabs(v->ratio) >= 99.995) {
		human_count(times, round(fabs(v->ratio)));
		snprintf(out, HUMAN_MAX, "%c%.*sx", v->ratio < 0 ? '-' : '+', HUMAN_MAX - 3, times);
	} else
		snprintf(out, HUMAN_MAX, v->ratio == 0 ? "%.1f" : "%+.1f", v->ratio * 100);
}

/* Does a value differ, but by no more than the runs of one side do? */
static bool is_noise(const struct diff_printer *x, const struct diff_value *v)
{
	return x->several && v->status == DIFF_SAME && v->delta != 0 && !isnan(v->delta);
}

const char *diff_status_of(const struct diff_printer *x, const struct diff_value *v)
{
	if (!v->side[DIFF_A].n && !v->side[DIFF_B].n)
		return "-"; /* nothing is not the same as nothing */
	return is_noise(x, v) ? "noise" : diff_status_word((enum diff_status)v->status);
}

const char *diff_sum_word(const struct diff_printer *x, size_t metric)
{
	if (x->p->flat)
		return "by kernel, copy and set";
	return diff_metric(x->d, metric)->exclusive ? "exclusive" : "inclusive";
}

void diff_put_values(struct diff_printer *x, size_t metric, const struct diff_value *v,
		     const char *between)
{
	const struct diff_widths *w = &x->widths[metric];
	unsigned side;
	char ratio[HUMAN_MAX];

	for (side = 0; side < DIFF_N_SIDES; side++) {
		const struct diff_range *r = &v->side[side];

		if (x->several) {
			diff_put_value(x, metric, r->n ? r->min : NAN, false, w->value);
			out_puts(x->out, between);
		}
		diff_put_value(x, metric, r->n ? r->median : NAN, false, w->value);
		out_puts(x->out, between);
	}
	diff_put_value(x, metric, v->delta, true, w->delta);
	out_puts(x->out, between);
	diff_format_ratio(ratio, v);
	put_right(x->out, ratio, DIFF_PERCENT_WIDTH);
	out_puts(x->out, between);
}

/* Small changes that are the same each by itself may change the whole, which has a row, too. */
static bool is_whole_alone(struct diff_printer *x, size_t metric, const uint32_t *counts)
{
	const struct diff_value *v = diff_value(x->d, 0, metric);

	return !counts[DIFF_CHANGED] && v->status == DIFF_CHANGED && !is_noise(x, v);
}

static void put_metric_counts(struct diff_printer *x, size_t metric)
{
	static const uint8_t order[] = {DIFF_CHANGED, DIFF_NEW, DIFF_GONE, DIFF_SAME};
	uint32_t counts[DIFF_N_STATUS] = {0}, noise = 0, i;

	for (i = 1; i < diff_n(x->d); i++) {
		const struct diff_value *v = diff_value(x->d, i, metric);

		if (is_noise(x, v))
			noise++;
		else if (!isnan(v->delta))
			counts[v->status]++;
	}
	for (i = 0; i < ARRAY_SIZE(order); i++)
		out_printf(x->out, "%s%u %s%s", i ? ", " : "", counts[order[i]],
			   diff_status_word((enum diff_status)order[i]),
			   order[i] == DIFF_CHANGED && is_whole_alone(x, metric, counts)
				   ? " besides ROOT"
				   : "");
	if (x->several)
		out_printf(x->out, ", %u noise", noise);
}

void diff_put_counts(struct diff_printer *x)
{
	const char *end = x->p->format == DIFF_MARKDOWN ? "  \n" : "\n";
	size_t n = diff_n_metrics(x->d);

	for (size_t m = 0; m < n; m++) {
		out_puts(x->out, m ? end : "");
		if (n > 1) {
			if (x->p->format == DIFF_MARKDOWN)
				put_code(x->out, diff_metric(x->d, m)->name, 0);
			else
				put_name(x->out, diff_metric(x->d, m)->name, 0, x->p->ascii);
			out_puts(x->out, ": ");
		}
		put_metric_counts(x, m);
	}
	if (x->n_left_out)
		out_printf(x->out, "; %u more lines", x->n_left_out);
	if (x->n_elsewhere)
		out_printf(x->out, "; %u follow%s from these (--all)", x->n_elsewhere,
			   x->n_elsewhere == 1 ? "s" : "");
	out_putc(x->out, '\n');
}
