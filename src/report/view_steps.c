/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
/* How long the steps of the program's loops took, the likeliest loop first. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/human.h"
#include "base/util.h"
#include "core/ranks.h"
#include "core/stepped.h"
#include "report/report_impl.h"
#include "report/rows.h"
#include "report/words.h"

struct loops {
	const struct session *s;
	const struct stepped *v;
};

/* Where more than one process has steps, whose. */
static void put_slowest(const struct session *s, const struct stepped *of, char out[CELL_MAX])
{
	char name[64];

	if (!(of->slowest >= 0)) {
		snprintf(out, CELL_MAX, "-");
		return;
	}
	if (of->n_processes < 2) {
		snprintf(out, CELL_MAX, "%.0f", of->slowest);
		return;
	}
	rank_name(s, of->process, name, sizeof(name));
	snprintf(out, CELL_MAX, "%.0f of %s", of->slowest, name);
}

/* A count that is nothing where there was none. */
static double or_none(double n)
{
	return n > 0 ? n : NAN;
}

#define CELL(name, statement)                                                                      \
	static void cell_##name(const void *ctx, size_t row, char out[CELL_MAX])                   \
	{                                                                                          \
		const struct loops *all = ctx;                                                     \
		const struct stepped *of = &all->v[row];                                           \
		statement;                                                                         \
	}
CELL(n, human_count(out, of->n))
CELL(mean, human_time_ns(out, of->mean_ns))
CELL(deviation, human_time_ns(out, of->deviation_ns))
CELL(median, human_time_ns(out, of->median_ns))
CELL(p95, human_time_ns(out, of->p95_ns))
CELL(min, human_time_ns(out, of->min_ns))
CELL(max, human_time_ns(out, of->max_ns))
CELL(slowest, put_slowest(all->s, of, out))
CELL(first, human_time_ns(out, of->first_ns))
CELL(apart, human_time_ns(out, of->apart_ns))
CELL(others, human_count(out, or_none(of->others)))
CELL(busy, human_time_ns(out, of->busy_ns))
CELL(busy_median, human_time_ns(out, of->busy_median_ns))
CELL(busy_max, human_time_ns(out, of->busy_max_ns))
CELL(busy_slowest, human_time_ns(out, of->slowest_busy_ns))
CELL(idle, human_time_ns(out, of->idle_ns))
CELL(idle_median, human_time_ns(out, of->idle_median_ns))
CELL(idle_max, human_time_ns(out, of->idle_max_ns))
CELL(name, char name[STEPPED_NAME]; snprintf(out, CELL_MAX, "%s", stepped_name(all->s, of, name)))

int view_steps(struct report *r)
{
	static const struct word_column columns[] = {
		{"STEPS", false, cell_n, 0},
		{"MEAN", false, cell_mean, 0},
		{"DEVIATION", false, cell_deviation, 4},
		{"MEDIAN", false, cell_median, 2},
		{"P95", false, cell_p95, 3},
		{"MIN", false, cell_min, 5},
		{"MAX", false, cell_max, 0},
		{"AT", false, cell_slowest, 1},
		{"BUSY", false, cell_busy, 2},
		{"MED BUSY", false, cell_busy_median, 9},
		{"MAX BUSY", false, cell_busy_max, 9},
		{"BUSY AT", false, cell_busy_slowest, 2},
		{"IDLE", false, cell_idle, 3},
		{"MED IDLE", false, cell_idle_median, 9},
		{"MAX IDLE", false, cell_idle_max, 9},
		{"FIRST", false, cell_first, 6},
		{"BETWEEN", false, cell_apart, 7},
		{"OTHERS", false, cell_others, 8},
		{"STEP", true, cell_name, 0},
	};
	uint32_t n;
	_cleanup_(freep) struct stepped *v = stepped_new(r->s, &n);

	if (!n) {
		out_puts(r->out, "none were found (see --steps of 'proton record')\n");
		return 0;
	}
	put_words(&(struct word_table){columns, ARRAY_SIZE(columns), n, &(struct loops){r->s, v}},
		  r->o, r->out);
	return 0;
}
