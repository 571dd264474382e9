/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "report/diff_impl.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/human.h"
#include "base/util.h"
#include "report/table.h"

#define VALUE_WIDTH 8
#define DELTA_WIDTH 9

static size_t format_value(const struct diff *d, double v, bool sign, char out[COLUMN_TEXT + 1])
{
	bool has_sign = sign && (v < 0 || v > 0);

	*out = v < 0 ? '-' : '+';
	column_print(diff_column(d), NULL, sign ? fabs(v) : v, true, out + has_sign);
	return strlen(out);
}

void diff_put_value(struct diff_printer *x, double v, bool sign, size_t width)
{
	char text[COLUMN_TEXT + 1];

	format_value(x->d, v, sign, text);
	put_right(x->out, text, width);
}

static void make_room(struct diff_printer *x, const struct diff_value *v)
{
	char text[COLUMN_TEXT + 1];

	for (unsigned side = 0; side < DIFF_N_SIDES; side++) {
		x->value_width =
			MAX(x->value_width, format_value(x->d, v->side[side].min, false, text));
		x->value_width =
			MAX(x->value_width, format_value(x->d, v->side[side].median, false, text));
	}
	x->delta_width = MAX(x->delta_width, format_value(x->d, v->delta, true, text));
}

/* Widths of the columns. Numbers in a fixed unit may have any length. */
void diff_measure(struct diff_printer *x)
{
	x->value_width = VALUE_WIDTH;
	x->delta_width = DELTA_WIDTH;
	if (diff_column(x->d)->form != FORM_PLAIN)
		return;
	make_room(x, diff_total(x->d));
	for (uint32_t i = 0; i < x->n; i++)
		make_room(x, &diff_node(x->d, x->ids[i])->value);
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
	return is_noise(x, v) ? "noise" : diff_status_word((enum diff_status)v->status);
}

/* The values of both sides (two each where there are several runs) and the change. */
void diff_put_values(struct diff_printer *x, const struct diff_value *v, const char *between)
{
	unsigned side;
	char ratio[HUMAN_MAX];

	for (side = 0; side < DIFF_N_SIDES; side++) {
		const struct diff_range *r = &v->side[side];

		if (x->several) {
			diff_put_value(x, r->n ? r->min : NAN, false, x->value_width);
			out_puts(x->out, between);
		}
		diff_put_value(x, r->n ? r->median : NAN, false, x->value_width);
		out_puts(x->out, between);
	}
	diff_put_value(x, v->delta, true, x->delta_width);
	out_puts(x->out, between);
	diff_format_ratio(ratio, v);
	put_right(x->out, ratio, DIFF_PERCENT_WIDTH);
	out_puts(x->out, between);
}

/* "3 changed, 1 new, 0 gone, 96 same", and of several runs ", 12 noise". */
void diff_put_counts(struct diff_printer *x)
{
	static const uint8_t order[] = {DIFF_CHANGED, DIFF_NEW, DIFF_GONE, DIFF_SAME};
	uint32_t counts[DIFF_N_STATUS] = {0}, noise = 0, i;

	for (i = 1; i < diff_n(x->d); i++) {
		const struct diff_value *v = &diff_node(x->d, i)->value;

		if (is_noise(x, v))
			noise++;
		else if (!isnan(v->delta))
			counts[v->status]++;
	}
	for (i = 0; i < ARRAY_SIZE(order); i++)
		out_printf(x->out, "%s%u %s", i ? ", " : "", counts[order[i]],
			   diff_status_word((enum diff_status)order[i]));
	if (x->several)
		out_printf(x->out, ", %u noise", noise);
	if (x->n_left_out)
		out_printf(x->out, "; %u more lines", x->n_left_out);
	if (x->n_elsewhere)
		out_printf(x->out, "; %u follow%s from these (--all)", x->n_elsewhere,
			   x->n_elsewhere == 1 ? "s" : "");
	out_putc(x->out, '\n');
}
