/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "report/diff_impl.h"
#include <math.h>
#include "base/human.h"
#include "base/util.h"
#include "report/table.h"

#define WORDS_MOST 1000 /* columns of what was run, where no width limits it */

static bool is_markdown(const struct diff_printer *x)
{
	return x->p->format == DIFF_MARKDOWN;
}

static void begin(struct diff_printer *x)
{
	out_puts(x->out, is_markdown(x) ? "> " : "");
}

static void end(struct diff_printer *x)
{
	out_puts(x->out, is_markdown(x) ? "  \n" : "\n");
}

/* Words of a program or a user: in Markdown they are code, however they read. */
static void put_words(struct diff_printer *x, const char *words)
{
	size_t room = x->p->width ? MAX(x->p->width / 2, 40) - 20 : WORDS_MOST;

	if (is_markdown(x))
		put_code(x->out, words, WORDS_MOST);
	else
		put_name(x->out, words, room, x->p->ascii);
}

/* What was run is not the same. */
static bool put_fact(struct diff_printer *x, enum run_fact fact)
{
	const struct run_facts *facts = x->p->facts;

	if (!run_facts_differ(&facts[DIFF_A], &facts[DIFF_B], fact))
		return false;
	begin(x);
	out_printf(x->out, "B: %s: ", run_fact_words(fact));
	put_words(x, facts[DIFF_B].text[fact]);
	out_puts(x->out, " (A: ");
	put_words(x, facts[DIFF_A].text[fact]);
	out_puts(x->out, ")");
	end(x);
	return true;
}

/* "88.1 % (1.00us of 1.13us)" */
static void put_share(struct diff_printer *x, enum diff_side side)
{
	double left = diff_fact(x->d, side, DIFF_LEFT)->median;
	double whole = diff_fact(x->d, side, DIFF_TIME)->median;
	char share[HUMAN_MAX], part[HUMAN_MAX], of[HUMAN_MAX];

	if (diff_is_empty(x->d, side)) {
		out_puts(x->out, "nothing");
		return;
	}
	human_percent(share, isnan(left) ? 0 / whole : left / whole);
	human_time_ns(part, isnan(left) ? 0 : left);
	human_time_ns(of, whole);
	out_printf(x->out, "%s %% (%s of %s)", share, part, of);
}

/* How much of the time expressions leave. */
static bool put_left_time(struct diff_printer *x)
{
	if (!x->p->include && !x->p->exclude)
		return false;
	begin(x);
	out_puts(x->out, "left of the time: A ");
	put_share(x, DIFF_A);
	out_puts(x->out, ", B ");
	put_share(x, DIFF_B);
	end(x);
	return true;
}

/* "4", and of several runs "2 to 4" */
static void put_calls(struct diff_printer *x, enum diff_side side)
{
	const struct diff_range *calls = diff_fact(x->d, side, DIFF_CALLS);

	out_printf(x->out, "%.15g", calls->min);
	if (calls->max > calls->min)
		out_printf(x->out, " to %.15g", calls->max);
}

/* How often what values are divided by was called. */
static bool put_per(struct diff_printer *x)
{
	if (!x->p->per)
		return false;
	begin(x);
	put_words(x, x->p->per);
	out_puts(x->out, ": A ");
	put_calls(x, DIFF_A);
	out_puts(x->out, ", B ");
	put_calls(x, DIFF_B);
	out_puts(x->out, " times");
	end(x);
	return true;
}

/* Nodes of graphs would all be gone, or new. */
static bool put_graphs(struct diff_printer *x)
{
	if (!x->p->graphs_differ)
		return false;
	begin(x);
	out_puts(
		x->out,
		"CUDA graphs were recorded by their nodes in one and whole in the other: all that they "
		"took is compared, where they were launched, and no kernels or calls within");
	end(x);
	return true;
}

bool diff_put_head(struct diff_printer *x)
{
	bool any = false;

	for (unsigned i = 0; i < RUN_FACT_N; i++)
		any |= put_fact(x, (enum run_fact)i);
	any |= put_graphs(x);
	any |= put_left_time(x);
	any |= put_per(x);
	return any;
}
