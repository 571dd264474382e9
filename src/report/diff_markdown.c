/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "report/diff_impl.h"
#include <string.h>
#include "base/human.h"
#include "report/table.h"

/* What was run is not the same: a line that says so, where it is no more than text. False: it is, or
 * nobody knows. */
static bool put_fact_as_code(struct diff_printer *x, enum run_fact fact)
{
	const struct run_facts *facts = x->p->facts;

	if (!run_facts_differ(&facts[DIFF_A], &facts[DIFF_B], fact))
		return false;
	out_printf(x->out, "> B: %s: ", run_fact_words(fact));
	put_code(x->out, facts[DIFF_B].text[fact], DIFF_FACT_MOST);
	out_puts(x->out, " (A: ");
	put_code(x->out, facts[DIFF_A].text[fact], DIFF_FACT_MOST);
	out_puts(x->out, ")  \n");
	return true;
}

static void markdown_row(struct diff_printer *x, uint32_t id, const struct diff_value *v)
{
	out_puts(x->out, "| ");
	diff_put_values(x, v, " | ");
	put_left(x->out, diff_status_of(x, v), DIFF_STATUS_WIDTH);
	out_puts(x->out, " | ");
	put_code(x->out, diff_row_name(x, id), 0);
	out_puts(x->out, " |\n");
}

void diff_print_markdown(struct diff_printer *x)
{
	const struct diff_value *total = diff_total(x->d);
	char ratio[HUMAN_MAX];
	bool any = false;
	uint32_t i;

	for (i = 0; i < RUN_FACT_N; i++)
		any |= put_fact_as_code(x, (enum run_fact)i);
	out_puts(x->out, any ? "\n" : "");
	diff_format_ratio(ratio, total);
	out_puts(x->out, "**");
	put_name(x->out, diff_metric(x->d), 0, x->p->ascii);
	out_printf(x->out, "**, %s: ", diff_is_exclusive(x->d) ? "exclusive" : "inclusive");
	diff_put_value(x, total->side[DIFF_A].median, false, 0);
	out_puts(x->out, " → ");
	diff_put_value(x, total->side[DIFF_B].median, false, 0);
	out_puts(x->out, " (");
	diff_put_value(x, total->delta, true, 0);
	out_printf(x->out, ", %s%s, %s)\n\n", ratio,
		   strspn(ratio, "+-") && ratio[1] && !strchr(ratio, 'x') ? " %" : "",
		   diff_status_of(x, total));
	out_puts(x->out,
		 x->several ? "| A min | A | B min | B | Δ | Δ% | status | path |\n"
			      "|--:|--:|--:|--:|--:|--:|:--|:--|\n"
			    : "| A | B | Δ | Δ% | status | path |\n|--:|--:|--:|--:|:--|:--|\n");
	markdown_row(x, 0, total);
	for (i = 0; i < x->n; i++)
		markdown_row(x, x->ids[i], &diff_node(x->d, x->ids[i])->value);
	out_putc(x->out, '\n');
	diff_put_counts(x);
}
