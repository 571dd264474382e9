/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "report/diff_impl.h"
#include <stdio.h>
#include <string.h>
#include "base/shown.h"
#include "base/util.h"
#include "report/table.h"

static void put_title(struct diff_printer *x, const char *text, size_t width)
{
	put_right(x->out, text, width);
	out_puts(x->out, " ");
}

/* What was run is not the same: a line that says so. False: it is, or nobody knows. */
static bool put_fact(struct diff_printer *x, enum run_fact fact)
{
	const struct run_facts *facts = x->p->facts;
	size_t room = x->p->width ? MAX(x->p->width / 2, 40) - 20 : DIFF_FACT_MOST;

	if (!run_facts_differ(&facts[DIFF_A], &facts[DIFF_B], fact))
		return false;
	out_printf(x->out, "B: %s: ", run_fact_words(fact));
	put_name(x->out, facts[DIFF_B].text[fact], room, x->p->ascii);
	out_puts(x->out, " (A: ");
	put_name(x->out, facts[DIFF_A].text[fact], room, x->p->ascii);
	out_puts(x->out, ")\n");
	return true;
}

static void text_header(struct diff_printer *x)
{
	static const char names[] = "AB";
	const char *delta = x->p->ascii ? "DIFF" : "\xce\x94";
	const char *percent = x->p->ascii ? "DIFF%" : "\xce\x94%";
	unsigned side, i;
	char title[8];

	for (side = 0; side < DIFF_N_SIDES; side++)
		for (i = 0; i < x->p->n_files[side]; i++) {
			out_printf(x->out, "%c  ", names[side]);
			put_name(x->out, x->p->files[side][i], 0, x->p->ascii);
			out_putc(x->out, '\n');
		}
	for (i = 0; i < RUN_FACT_N; i++)
		put_fact(x, (enum run_fact)i);
	put_name(x->out, diff_metric(x->d), 0, x->p->ascii);
	out_printf(x->out, ", %s%s\n\n", diff_is_exclusive(x->d) ? "exclusive" : "inclusive",
		   x->several ? "; changed: the runs of A and of B do not overlap" : "");
	for (side = 0; side < DIFF_N_SIDES; side++) {
		if (x->several) {
			snprintf(title, sizeof(title), "%c MIN", names[side]);
			put_title(x, title, x->value_width);
		}
		snprintf(title, sizeof(title), "%c%s", names[side], x->several ? " MED" : "");
		put_title(x, title, x->value_width);
	}
	put_title(x, delta, x->delta_width);
	put_title(x, percent, DIFF_PERCENT_WIDTH);
	out_puts(x->out, " STATUS   NAME\n");
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

static void text_row(struct diff_printer *x, uint32_t id, const struct diff_value *v)
{
	size_t columns = (x->several ? 4 : 2) * (x->value_width + 1) + x->delta_width + 1 +
			 DIFF_PERCENT_WIDTH + 1 + DIFF_STATUS_WIDTH + 2;
	size_t room = !x->p->width ? 0 : x->p->width > columns + 8 ? x->p->width - columns - 1 : 8;
	const char *color = color_of(x, v), *name = diff_row_name(x, id),
		   *shown = cut_front(x, name, room);

	out_puts(x->out, color);
	diff_put_values(x, v, " ");
	out_puts(x->out, *color ? "\033[m " : " ");
	put_left(x->out, diff_status_of(x, v), DIFF_STATUS_WIDTH);
	out_putc(x->out, ' ');
	if (shown != name)
		out_puts(x->out, x->p->ascii ? "... " : "\xe2\x80\xa6 ");
	put_name(x->out, shown, room, x->p->ascii);
	out_putc(x->out, '\n');
}

void diff_print_text(struct diff_printer *x)
{
	uint32_t i;

	text_header(x);
	text_row(x, 0, diff_total(x->d));
	for (i = 0; i < x->n; i++)
		text_row(x, x->ids[i], &diff_node(x->d, x->ids[i])->value);
	out_putc(x->out, '\n');
	diff_put_counts(x);
}
