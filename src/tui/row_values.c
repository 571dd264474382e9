/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/row_values.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "core/pair.h"
#include "tui/tui_impl.h"

/* ---- values ---- */

static double ask(struct panel *p, struct row_column *c, uint32_t i, bool before)
{
	bool of_parent = c->of_parent.op && p->tui->percent_of_parent;
	const struct row_ask a = {
		{of_parent ? &c->of_parent : &c->spec.derived, before, c->slot + before},
		&c->terms[before]};

	return c->is_missing ? NAN : p->ops->value(p, i, &a);
}

/* Words are not subtracted. */
static double delta(struct panel *p, struct row_column *c, uint32_t i)
{
	if (c->spec.form == FORM_WORD)
		return NAN;
	return pair_delta(ask(p, c, i, true), ask(p, c, i, false));
}

/* Of what was there before; new ones are above all others. */
static double ratio(struct panel *p, struct row_column *c, uint32_t i)
{
	double a = ask(p, c, i, true), d = delta(p, c, i);

	if (d == 0 || isnan(d))
		return d;
	return isnan(a) || a == 0 ? copysign(INFINITY, d) : d / fabs(a);
}

enum status { STATUS_SAME, STATUS_CHANGED, STATUS_NEW, STATUS_GONE };

/* The same word may have other numbers in two profiles. */
static bool is_same(struct panel *p, const struct row_column *c, double a, double b)
{
	const struct session *before = snapshot_session(p->tui->options.before);
	const struct session *now = panel_session(p);
	char text[2][COLUMN_TEXT];

	if (c->spec.form != FORM_WORD)
		return a == b;
	column_print(&c->spec, before, a, false, text[0]);
	column_print(&c->spec, now, b, false, text[1]);
	return !strcmp(text[0], text[1]);
}

static double status(struct panel *p, struct row_column *c, uint32_t i)
{
	double a = ask(p, c, i, true), b = ask(p, c, i, false);

	if (isnan(a) && isnan(b))
		return NAN;
	if (isnan(a) || isnan(b))
		return isnan(a) ? STATUS_NEW : STATUS_GONE;
	return is_same(p, c, a, b) ? STATUS_SAME : STATUS_CHANGED;
}

double row_value(struct panel *p, struct row_column *c, uint32_t i)
{
	switch ((enum row_part)c->part) {
	case PART_DELTA:
		return fabs(delta(p, c, i));
	case PART_RATIO:
		return fabs(ratio(p, c, i));
	case PART_STATUS:
		return status(p, c, i);
	default:
		return ask(p, c, i, c->part == PART_BEFORE);
	}
}

double row_order(struct panel *p, struct row_column *c, double value)
{
	if (c->spec.form != FORM_WORD || c->spec.derived.op != DERIVED_VALUE ||
	    c->part != PART_NOW || isnan(value))
		return value;
	return tui_word_place(p->tui, &c->words, c->spec.derived.metric, (uint32_t)value);
}

/* ---- as text ---- */

static void put_sign(double v, char out[COLUMN_TEXT])
{
	if (!(v > 0) || isinf(v))
		return;
	memmove(out + 1, out, COLUMN_TEXT - 2);
	out[0] = '+';
	out[COLUMN_TEXT - 1] = '\0';
}

static void print_ratio(double v, char out[COLUMN_TEXT])
{
	if (!isfinite(v))
		snprintf(out, COLUMN_TEXT, "-");
	else if (fabs(v) >= 99.995)
		snprintf(out, COLUMN_TEXT, "%.3gx", v);
	else
		snprintf(out, COLUMN_TEXT, "%.1f", v * 100);
	put_sign(v, out);
}

static void print_status(double v, char out[COLUMN_TEXT])
{
	static const char *const words[] = {"same", "changed", "new", "gone"};

	snprintf(out, COLUMN_TEXT, "%s", isnan(v) ? "-" : words[(unsigned)v]);
}

/* What only one side has is no hundred percent of anything: it is called so, as in a report. */
static void print_change(struct panel *p, struct row_column *c, uint32_t i, char out[COLUMN_TEXT])
{
	double is = status(p, c, i);

	if (is == STATUS_NEW || is == STATUS_GONE)
		print_status(is, out);
	else
		print_ratio(ratio(p, c, i), out);
}

void row_print(struct panel *p, struct row_column *c, uint32_t i, char out[COLUMN_TEXT])
{
	const struct snapshot *snap =
		c->part == PART_BEFORE ? p->tui->options.before : p->tui->snap;
	double v;

	switch ((enum row_part)c->part) {
	case PART_DELTA:
		v = delta(p, c, i);
		column_print(&c->spec, snapshot_session(snap), v, false, out);
		put_sign(v, out);
		break;
	case PART_RATIO:
		print_change(p, c, i, out);
		break;
	case PART_STATUS:
		print_status(status(p, c, i), out);
		break;
	default:
		column_print(&c->spec, snapshot_session(snap), row_value(p, c, i), false, out);
	}
}

/* ---- whether there are any ---- */

bool row_has(struct panel *p, const struct derived *metric)
{
	struct derived m = *metric;

	if (p->ops->own_numbers && !m.is_said)
		m.inclusive = false;
	return derive_has(numbers_derive(p->ops->numbers(p)), &m);
}

/* Right after a reset there are no values: the columns stay, but for those that get none. */
static bool comes_again(struct panel *p, struct row_column *c, bool has_values)
{
	if (!snapshot_is_reset(p->tui->snap))
		c->was_there = has_values;
	return c->was_there && c->spec.derived.op != DERIVED_QUANTILE;
}

bool row_is_absent(struct panel *p, struct row_column *c)
{
	bool has_values;

	if (c->spec.form == FORM_TREND && !p->ops->has_past)
		return true;
	if (c->is_asked)
		return false;
	if (c->is_empty && !snapshot_is_reset(p->tui->snap))
		return true;
	if (c->spec.derived.op == DERIVED_NOW && !p->tui->options.live)
		return true;
	/* Beside time on the device it would be one percentage too many. */
	if (c->spec.derived.op == DERIVED_SHARE && c->spec.derived.metric == METRIC_CPU_TIME &&
	    row_has(p, &usual_columns[USUAL_TOTAL].derived))
		return true;
	has_values = row_has(p, &c->spec.derived);
	return !comes_again(p, c, has_values) && !has_values;
}
