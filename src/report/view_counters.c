/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
/* What hardware counters said over the run: of each device a row for each number (core/counter_rows.h); and of kernels and
 * copies what samples said that fell wholly inside one of their executions. */
#include <math.h>
#include <stdio.h>
#include "base/util.h"
#include "core/counter_rows.h"
#include "core/runs.h"
#include "report/rows.h"
#include "report/words.h"

#define COVERED_RATIO 0.9 /* of a run: more is all of it */
#define SAME_RATIO    1.1 /* of an interval: samples come about so often */

struct listed {
	const struct session *s;
	struct counter_rows rows;
};

#define COUNTER_CELL(name, statement)                                                              \
	static void counter_##name(const void *ctx, size_t row, char out[CELL_MAX])                \
	{                                                                                          \
		const struct listed *all = ctx;                                                    \
		const struct counter_row *of = &all->rows.v[row];                                  \
		statement;                                                                         \
	}
COUNTER_CELL(device, session_device_word(all->s, of->device, out))
COUNTER_CELL(mean, counter_row_text(of, of->mean, out))
COUNTER_CELL(min, counter_row_text(of, of->min, out))
COUNTER_CELL(max, counter_row_text(of, of->max, out))
COUNTER_CELL(unit, char number[HUMAN_MAX];
	     snprintf(out, CELL_MAX, "%s", counter_row_text(of, of->mean, number)))
COUNTER_CELL(name, snprintf(out, CELL_MAX, "%s", counter_row_title(of)))

/* ---- kernels ---- */

static double kernel_value(void *ctx, uint32_t row, const struct number_ask *ask)
{
	return flat_value(((struct report *)ctx)->flat, row, ask);
}

static uint32_t kernel_node(void *ctx, uint32_t row)
{
	return flat_row(((struct report *)ctx)->flat, row)->node;
}

/* A round interval of which one at least lies wholly within so long a time; 0: there is none. */
static uint64_t interval_within(double ns)
{
	uint64_t unit = NSEC_PER_SEC;

	for (; unit >= COUNTED_INTERVAL_LEAST_NS / 2; unit /= 10)
		for (unsigned k = 5; k; k /= 2)
			if ((double)(2 * k * unit) <= ns && k * unit >= COUNTED_INTERVAL_LEAST_NS)
				return k * unit;
	return 0;
}

/* How far apart samples were, of the device that has most of them; 0: not known. */
static double sampled_ns(const struct session *s)
{
	double least = 0;

	for (uint32_t d = 0; d < s->n_devices; d++) {
		struct counters_range of;
		double ns;

		if (!session_counters_range(s, d, &of) || !of.mean.n)
			continue;
		ns = (double)of.mean.counted_ns / of.mean.n;
		if (!least || ns < least)
			least = ns;
	}
	return least;
}

/* Of what has no sample to itself the row that took most time, and what would give it some. */
static void put_interval(struct report *r)
{
	static const struct derived samples_beside = ROWS_DERIVED(VALUE, SAMPLES_BESIDE, 1);
	const struct number_ask beside = {.metric = &samples_beside};
	const char *mark = ""; /* of those among the others */
	double most_ns = 0, now_ns;
	uint32_t row = UINT32_MAX;
	uint64_t interval_ns;
	bool is_fine;

	for (uint32_t i = 0; i < flat_n(r->flat); i++) {
		double ns = flat_row(r->flat, i)->time_ns;

		if (flat_usual(r->flat, i, USUAL_SAMPLES) > 0 || kernel_value(r, i, &beside) > 0)
			mark = "-: ";
		else if (ns > most_ns) {
			most_ns = ns;
			row = i;
		}
	}
	if (row == UINT32_MAX)
		return;
	interval_ns = interval_within(flat_usual(r->flat, row, USUAL_AVG));
	if (!interval_ns) {
		out_printf(
			r->out,
			"(%sno sample fell wholly within; what took most is too short for any)\n",
			mark);
		return;
	}
	now_ns = sampled_ns(r->s);
	if (now_ns > 0 && now_ns <= SAME_RATIO * (double)interval_ns) {
		out_printf(r->out,
			   "(%sno sample fell wholly within, though they are near enough: '%s' ran "
			   "beside other work, or shorter than on average)\n",
			   mark, report_name(r, kernel_node(r, row)));
		return;
	}
	is_fine = interval_ns < NSEC_PER_MSEC;
	out_printf(
		r->out,
		"(%sno sample fell wholly within; --counters=%u%s has one in each '%s' of average length)\n",
		mark, (unsigned)(interval_ns / (is_fine ? 1000 : NSEC_PER_MSEC)),
		is_fine ? "us" : "ms", report_name(r, kernel_node(r, row)));
}

static int put_kernels(struct report *r)
{
	ROWS_COLUMN("BESIDE", SAMPLES_BESIDE, COUNT, 14,
		    "samples within, while something else ran, too: they are nobody's");
	static const struct column_spec *const usual[] = {
		&usual_columns[USUAL_TOTAL], &usual_columns[USUAL_CALLS],
		&usual_columns[USUAL_AVG],   &usual_columns[USUAL_SAMPLES],
		&column_SAMPLES_BESIDE,      &usual_columns[USUAL_SM],
		&usual_columns[USUAL_ISSUE], &usual_columns[USUAL_TENSOR],
		&usual_columns[USUAL_DRAM],  &usual_columns[USUAL_L2]};
	static const struct row_kind kind = {.value = kernel_value,
					     .node = kernel_node,
					     .usual = usual,
					     .n_usual = ARRAY_SIZE(usual)};
	struct rows t;
	int e = rows_init(&t, r, &kind, r);

	for (uint32_t i = 0; i < flat_n(r->flat) && e == 0; i++)
		e = rows_add(&t, i);
	if (e == 0)
		e = rows_put(&t);
	rows_done(&t);
	if (e == 0)
		put_interval(r);
	return e;
}

/* What was not counted looks as if nothing had run. */
static void put_coverage(struct report *r)
{
	uint64_t wall_ns = runs_wall_ns(r->s);
	char device[DEVICE_WORD], counted[HUMAN_MAX], wall[HUMAN_MAX];

	for (uint32_t d = 0; d < r->s->n_devices; d++) {
		struct counters_range of;

		if (!session_counters_range(r->s, d, &of) ||
		    (double)of.mean.counted_ns > COVERED_RATIO * (double)wall_ns)
			continue;
		session_device_word(r->s, d, device);
		human_time_ns(counted, (double)of.mean.counted_ns);
		human_time_ns(wall, (double)wall_ns);
		out_printf(r->out, "(%s was counted for %s of the run's %s)\n", device, counted,
			   wall);
	}
}

int view_counters(struct report *r)
{
	static const struct word_column columns[] = {
		{"DEVICE", true, counter_device}, {"MEAN", false, counter_mean},
		{"MIN", false, counter_min},      {"MAX", false, counter_max},
		{"UNIT", true, counter_unit},     {"COUNTER", true, counter_name},
	};
	struct listed all = {.s = r->s};
	int e = counter_rows_make(&all.rows, r->s);

	if (e == 0 && all.rows.n)
		put_words(&(struct word_table){columns, ARRAY_SIZE(columns), all.rows.n, &all},
			  r->o, r->out);
	if (e == 0 && all.rows.n)
		put_coverage(r);
	else if (e == 0)
		out_printf(r->out, "none: %s\n", counter_rows_why_none(r->s));
	if (e == 0 && all.rows.n && flat_n(r->flat)) {
		out_putc(r->out, '\n');
		rows_put_caption(
			r, "By kernel, as samples say that fell wholly within one that ran alone");
		e = put_kernels(r);
	}
	counter_rows_done(&all.rows);
	return e;
}
