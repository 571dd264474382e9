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
	char name[64], number[STEPPED_NUMBER];

	if (!(of->slowest >= 0)) {
		snprintf(out, CELL_MAX, "-");
		return;
	}
	stepped_number(of, of->slowest, number);
	if (of->n_processes < 2) {
		snprintf(out, CELL_MAX, "%s", number);
		return;
	}
	rank_name(s, of->process, name, sizeof(name));
	snprintf(out, CELL_MAX, "%s of %s", number, name);
}

static void put_why(const struct stepped *of, char out[CELL_MAX])
{
	const char *word = stepped_why_word(stepped_why_slowest(of));

	snprintf(out, CELL_MAX, "%s", word ? word : "-");
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
#define TIME_CELL(name, field)  CELL(name, human_time_ns(out, of->field))
#define BYTES_CELL(name, field) CELL(name, human_bytes(out, of->field))
CELL(n, human_count(out, of->n))
TIME_CELL(mean, mean_ns)
TIME_CELL(deviation, deviation_ns)
TIME_CELL(median, median_ns)
TIME_CELL(p95, p95_ns)
TIME_CELL(min, min_ns)
TIME_CELL(max, max_ns)
CELL(slowest, put_slowest(all->s, of, out))
CELL(why, put_why(of, out))
CELL(late, stepped_cause_count(of, &of->late, out))
CELL(more, stepped_cause_count(of, &of->more, out))
TIME_CELL(first, first_ns)
TIME_CELL(apart, apart_ns)
CELL(others, human_count(out, or_none(of->others)))
TIME_CELL(busy, busy_ns)
TIME_CELL(busy_median, busy_median_ns)
TIME_CELL(busy_max, busy_max_ns)
TIME_CELL(busy_slowest, slowest_busy_ns)
TIME_CELL(idle, idle_ns)
TIME_CELL(idle_median, idle_median_ns)
TIME_CELL(idle_max, idle_max_ns)
BYTES_CELL(held, held.mean)
BYTES_CELL(held_max, held.max)
BYTES_CELL(held_growth, held.growth)
BYTES_CELL(to_device, to_device.mean)
BYTES_CELL(to_device_max, to_device.max)
BYTES_CELL(to_device_growth, to_device.growth)
BYTES_CELL(to_host, to_host.mean)
BYTES_CELL(to_host_max, to_host.max)
BYTES_CELL(to_host_growth, to_host.growth)
BYTES_CELL(within, within.mean)
BYTES_CELL(within_max, within.max)
BYTES_CELL(within_growth, within.growth)

static void put_loop(const struct session *s, const struct stepped *of, double known,
		     char out[CELL_MAX])
{
	char name[STEPPED_NAME], text[STEPPED_TEXT];

	snprintf(out, CELL_MAX, "%s%s", stepped_name(s, of, name),
		 stepped_known_text(of, known, text));
}

CELL(name, put_loop(all->s, of, of->n, out))
CELL(name_busy, put_loop(all->s, of, of->known, out))
CELL(name_held, put_loop(all->s, of, of->held.known, out))
CELL(name_copied, put_loop(all->s, of, of->to_device.known, out))

/* ---- tables, what is asked first in front ---- */

static const struct word_column times[] = {
	{"STEPS", false, cell_n, 0},
	{"MEAN", false, cell_mean, 0},
	{"DEVIATION", false, cell_deviation, 1},
	{"MEDIAN", false, cell_median, 5},
	{"P95", false, cell_p95, 4},
	{"MIN", false, cell_min, 7},
	{"MAX", false, cell_max, 0},
	{"AT", false, cell_slowest, 1},
	{"WHY", true, cell_why, 2},
	{"FIRST", false, cell_first, 6},
	{"BETWEEN", false, cell_apart, 6},
	{"OTHERS", false, cell_others, 8},
	{"STEP", true, cell_name, 0},
};

static const struct word_column work[] = {
	{"BUSY", false, cell_busy, 0},         {"MED BUSY", false, cell_busy_median, 4},
	{"MAX BUSY", false, cell_busy_max, 3}, {"BUSY AT", false, cell_busy_slowest, 1},
	{"IDLE", false, cell_idle, 0},         {"MED IDLE", false, cell_idle_median, 4},
	{"MAX IDLE", false, cell_idle_max, 3}, {"HOST LATE", false, cell_late, 1},
	{"MORE WORK", false, cell_more, 1},    {"STEP", true, cell_name_busy, 0},
};

static const struct word_column held[] = {
	{"HELD", false, cell_held, 0},
	{"MAX HELD", false, cell_held_max, 1},
	{"GROWTH", false, cell_held_growth, 0},
	{"STEP", true, cell_name_held, 0},
};

static const struct word_column copied[] = {
	{"TO GPU", false, cell_to_device, 0},        {"MAX", false, cell_to_device_max, 2},
	{"GROWTH", false, cell_to_device_growth, 1}, {"TO HOST", false, cell_to_host, 0},
	{"MAX", false, cell_to_host_max, 2},         {"GROWTH", false, cell_to_host_growth, 1},
	{"WITHIN", false, cell_within, 0},           {"MAX", false, cell_within_max, 2},
	{"GROWTH", false, cell_within_growth, 1},    {"STEP", true, cell_name_copied, 0},
};

/* Each but the first where any loop has numbers of it. */
static bool has_busy(const struct stepped *of)
{
	return of->known > 0;
}
static bool has_held(const struct stepped *of)
{
	return of->held.known > 0;
}
static bool has_copies(const struct stepped *of)
{
	return of->to_device.known > 0;
}

static const struct {
	const char *title;
	const struct word_column *columns;
	size_t n_columns;
	bool (*has)(const struct stepped *of);
} tables[] = {
	{NULL, times, ARRAY_SIZE(times), NULL},
	{"What devices did in them, and of how many slow ones which was the cause", work,
	 ARRAY_SIZE(work), has_busy},
	{"Memory of devices that is held at their ends, and how much more with each", held,
	 ARRAY_SIZE(held), has_held},
	{"Bytes copied in them, and how much more with each", copied, ARRAY_SIZE(copied),
	 has_copies},
};

/* Where no other copies were counted, there is no table to say it below. */
static void put_missing(struct report *r)
{
	if (!stepped_misses_copies(r->s))
		return;
	out_putc(r->out, '\n');
	rows_put_caption(r, "Bytes: " STEPPED_MISSES_COPIES " (--graphs nodes)");
}

int view_steps(struct report *r)
{
	uint32_t n, k;
	_cleanup_(freep) struct stepped *v = stepped_new(r->s, &n);

	if (!n) {
		out_puts(r->out, "none were found (see --steps of 'proton record')\n");
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		for (k = 0; k < n && tables[i].has && !tables[i].has(&v[k]);)
			k++;
		if (k == n)
			continue;
		if (tables[i].title) {
			out_putc(r->out, '\n');
			rows_put_caption(r, tables[i].title);
		}
		put_words(&(struct word_table){tables[i].columns, tables[i].n_columns, n,
					       &(struct loops){r->s, v}, .is_known_only = true},
			  r->o, r->out);
	}
	put_missing(r);
	return 0;
}
