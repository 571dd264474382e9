/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "report/diff_impl.h"
#include <string.h>
#include "base/human.h"
#include "report/table.h"

/* "`time (ns)`, inclusive: 1.51us → 1.61us (+100ns, +6.6 %, changed)" */
static void put_total(struct diff_printer *x, size_t metric)
{
	const struct diff_metric *m = diff_metric(x->d, metric);
	const struct diff_value *total = &m->total;
	char ratio[HUMAN_MAX];

	diff_format_ratio(ratio, total);
	put_code(x->out, m->name, 0);
	out_printf(x->out, ", %s", diff_sum_word(x, metric));
	if (m->is_divided) {
		out_puts(x->out, ", per ");
		put_code(x->out, x->p->per, 0);
	}
	out_puts(x->out, ": ");
	diff_put_value(x, metric, total->side[DIFF_A].median, false, 0);
	out_puts(x->out, " → ");
	diff_put_value(x, metric, total->side[DIFF_B].median, false, 0);
	out_puts(x->out, " (");
	diff_put_value(x, metric, total->delta, true, 0);
	out_printf(x->out, ", %s%s, %s)%s\n", ratio,
		   strspn(ratio, "+-") && ratio[1] && !strchr(ratio, 'x') ? " %" : "",
		   diff_status_of(x, total), metric + 1 < diff_n_metrics(x->d) ? "  " : "");
}

/* Which metric the first column of each is of, where there are several. */
static void put_titles(struct diff_printer *x)
{
	size_t n = diff_n_metrics(x->d);

	out_puts(x->out, "| ");
	for (size_t m = 0; m < n; m++) {
		if (n > 1) {
			put_code(x->out, diff_metric(x->d, m)->name, 0);
			out_putc(x->out, ' ');
		}
		out_puts(x->out, x->several ? "A min | A | B min | B | Δ | Δ% | status | "
					    : "A | B | Δ | Δ% | status | ");
	}
	out_puts(x->out, "path |\n|");
	for (size_t m = 0; m < n; m++)
		out_puts(x->out,
			 x->several ? "--:|--:|--:|--:|--:|--:|:--|" : "--:|--:|--:|--:|:--|");
	out_puts(x->out, ":--|\n");
}

static void put_row(struct diff_printer *x, uint32_t id)
{
	out_puts(x->out, "| ");
	for (size_t m = 0; m < diff_n_metrics(x->d); m++) {
		const struct diff_value *v = diff_line_value(x, id, m);

		diff_put_values(x, m, v, " | ");
		put_left(x->out, diff_status_of(x, v), DIFF_STATUS_WIDTH);
		out_puts(x->out, " | ");
	}
	put_code(x->out, diff_row_name(x, id), 0);
	out_puts(x->out, " |\n");
}

void diff_print_markdown(struct diff_printer *x)
{
	out_puts(x->out, diff_put_head(x) ? "\n" : "");
	for (size_t m = 0; m < diff_n_metrics(x->d); m++)
		put_total(x, m);
	out_putc(x->out, '\n');
	put_titles(x);
	put_row(x, 0);
	for (uint32_t i = 0; i < x->n; i++)
		put_row(x, x->ids[i]);
	out_putc(x->out, '\n');
	diff_put_counts(x);
}
