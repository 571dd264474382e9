/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/stepped.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/human.h"
#include "base/util.h"
#include "core/alike.h"
#include "core/steps.h"

/* ---- sums over processes ---- */

/* Of a node, on the lane of a row of it. */
static double value_beside(const struct session *s, const struct session_row *row, uint32_t metric)
{
	double v = session_row_number(s, row, metric);

	for (uint32_t i = session_first_row(s, row->node); isnan(v) && i != SESSION_NONE;
	     i = session_next_row(s, i))
		if (s->rows[i].lane == row->lane)
			v = session_row_number(s, &s->rows[i], metric);
	return v;
}

/* Values of one set: all are there, or none is. */
static void add_busy(const struct session *s, const struct session_row *row, struct stepped *of)
{
	double n = value_beside(s, row, METRIC_STEP_KNOWN);

	if (!(n > 0))
		return;
	add_present(&of->known, n);
	add_present(&of->busy_ns, value_beside(s, row, METRIC_STEP_BUSY));
	add_present(&of->idle_ns, value_beside(s, row, METRIC_STEP_IDLE));
	add_present(&of->busy_median_ns, n * value_beside(s, row, METRIC_STEP_BUSY_MEDIAN));
	add_present(&of->idle_median_ns, n * value_beside(s, row, METRIC_STEP_IDLE_MEDIAN));
	of->busy_max_ns = fmax(of->busy_max_ns, value_beside(s, row, METRIC_STEP_BUSY_MAX));
	of->idle_max_ns = fmax(of->idle_max_ns, value_beside(s, row, METRIC_STEP_IDLE_MAX));
}

/* The slowest of all may be one of which it is not known. */
static double busy_in_slowest(const struct session *s, const struct session_row *row,
			      double slowest)
{
	return value_beside(s, row, METRIC_STEP_KNOWN) > 0 &&
			       value_beside(s, row, METRIC_STEP_BUSY_AT) == slowest
		       ? value_beside(s, row, METRIC_STEP_BUSY_SLOWEST)
		       : NAN;
}

/* of->deviation_ns is the mean of squares meanwhile, and means are sums. */
static void add_times(const struct session *s, const struct session_row *row, struct stepped *of)
{
	double n = session_row_number(s, row, METRIC_STEPS),
	       mean = value_beside(s, row, METRIC_STEP_TIME) / n,
	       deviation = value_beside(s, row, METRIC_STEP_DEVIATION),
	       max = value_beside(s, row, METRIC_STEP_MAX);

	of->n += n;
	of->n_processes++;
	of->mean_ns += n * mean;
	of->median_ns += n * value_beside(s, row, METRIC_STEP_MEDIAN);
	of->deviation_ns += n * (deviation * deviation + mean * mean);
	of->p95_ns = fmax(of->p95_ns, value_beside(s, row, METRIC_STEP_P95));
	of->min_ns = fmin(of->min_ns, value_beside(s, row, METRIC_STEP_MIN));
	add_busy(s, row, of);
	if (max <= of->max_ns)
		return;
	of->max_ns = max;
	of->slowest = value_beside(s, row, METRIC_STEP_SLOWEST);
	of->slowest_busy_ns = busy_in_slowest(s, row, of->slowest);
	of->process = session_lane_at(s, row->lane)->process;
}

static void add_more(const struct session *s, const struct session_row *row, struct stepped *of)
{
	of->first_ns = fmax(of->first_ns, session_row_number(s, row, METRIC_STEP_FIRST));
	of->works = fmax(of->works, session_row_number(s, row, METRIC_STEP_WORKS));
	add_present(&of->apart_ns, session_row_number(s, row, METRIC_STEP_APART));
	add_present(&of->others, session_row_number(s, row, METRIC_STEP_OTHERS));
}

static void make_means(struct stepped *of)
{
	double square;

	of->mean_ns /= of->n;
	of->median_ns /= of->n;
	of->apart_ns /= of->n;
	of->busy_ns /= of->known;
	of->idle_ns /= of->known;
	of->busy_median_ns /= of->known;
	of->idle_median_ns /= of->known;
	if (of->node == SESSION_ROOT) /* when that was found steps had been before */
		of->first_ns = of->apart_ns = NAN;
	square = of->deviation_ns / of->n - of->mean_ns * of->mean_ns;
	of->deviation_ns = square > 0 ? sqrt(square) : 0;
}

/* ---- loops ---- */

/* The loop of a node, made when absent; v has room for it. */
static struct stepped *loop_of(struct stepped *v, uint32_t *n, uint32_t node)
{
	uint32_t i = 0;

	while (i < *n && v[i].node != node)
		i++;
	if (i == *n)
		v[(*n)++] = (struct stepped){.node = node,
					     .process = SESSION_NONE,
					     .p95_ns = NAN,
					     .min_ns = NAN,
					     .max_ns = -1,
					     .slowest = NAN,
					     .first_ns = NAN,
					     .apart_ns = NAN,
					     .works = NAN,
					     .others = NAN,
					     .known = NAN,
					     .busy_ns = NAN,
					     .busy_median_ns = NAN,
					     .busy_max_ns = NAN,
					     .idle_ns = NAN,
					     .idle_median_ns = NAN,
					     .idle_max_ns = NAN,
					     .slowest_busy_ns = NAN};
	return &v[i];
}

/* What repeats says less than any name. */
static unsigned rank_of(const struct session *s, const struct stepped *of)
{
	const char *name = session_node_name(s, of->node);

	return of->node == SESSION_ROOT ? 0 : steps_order(name, strlen(name));
}

struct ranked {
	struct stepped of;
	unsigned rank;
};

static int by_rank(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	double time_x = x->of.n * x->of.mean_ns, time_y = y->of.n * y->of.mean_ns;

	if (x->rank != y->rank)
		return x->rank > y->rank ? -1 : 1;
	if (time_x != time_y)
		return time_x > time_y ? -1 : 1;
	return x->of.node < y->of.node ? -1 : x->of.node > y->of.node;
}

static int sort(const struct session *s, struct stepped *v, uint32_t n)
{
	struct ranked *ranked = malloc(n * sizeof(*ranked));

	if (!ranked)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		ranked[i] = (struct ranked){v[i], rank_of(s, &v[i])};
	qsort(ranked, n, sizeof(*ranked), by_rank);
	for (uint32_t i = 0; i < n; i++)
		v[i] = ranked[i].of;
	free(ranked);
	return 0;
}

/* The next row with steps from this one on, of few among many; s->n_rows: there is none. */
static size_t next_row(const struct session *s, size_t i)
{
	uint32_t set = SESSION_NONE;

	for (; i < s->n_rows; i++) {
		if (s->rows[i].set == set)
			continue;
		if (session_row_number(s, &s->rows[i], METRIC_STEPS) > 0)
			return i;
		if (session_row_place(s, &s->rows[i], METRIC_STEPS) == SESSION_NONE)
			set = s->rows[i].set;
	}
	return i;
}

/* At the most as many as there are loops. */
static uint32_t count_rows(const struct session *s)
{
	uint32_t n = 0;

	for (size_t i = next_row(s, 0); i < s->n_rows; i = next_row(s, i + 1))
		n++;
	return n;
}

static uint32_t collect(const struct session *s, struct stepped *v)
{
	uint32_t n = 0;

	for (size_t i = next_row(s, 0); i < s->n_rows; i = next_row(s, i + 1))
		add_times(s, &s->rows[i], loop_of(v, &n, s->rows[i].node));
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t row = session_first_row(s, v[i].node); row != SESSION_NONE;
		     row = session_next_row(s, row))
			add_more(s, &s->rows[row], &v[i]);
		make_means(&v[i]);
	}
	return n;
}

struct stepped *stepped_new(const struct session *s, uint32_t *ret_n)
{
	uint32_t n = session_has_values(s, METRIC_STEPS) ? count_rows(s) : 0;
	struct stepped *v = n ? malloc(n * sizeof(*v)) : NULL;

	*ret_n = 0;
	if (!v)
		return NULL;
	n = collect(s, v);
	if (sort(s, v, n) < 0) {
		free(v);
		return NULL;
	}
	*ret_n = n;
	return v;
}

/* ---- words ---- */

const char *stepped_name(const struct session *s, const struct stepped *of, char out[STEPPED_NAME])
{
	char number[HUMAN_MAX];

	if (of->node != SESSION_ROOT) {
		alike_pattern(session_node_name(s, of->node), out, STEPPED_NAME);
		return out;
	}
	human_count(number, of->works);
	snprintf(out, STEPPED_NAME, "%s operations, again and again", number);
	return out;
}

const char *stepped_text(const struct stepped *of, bool ascii, char out[STEPPED_TEXT])
{
	char mean[HUMAN_MAX], deviation[HUMAN_MAX], max[HUMAN_MAX];

	human_time_ns(mean, of->mean_ns);
	human_time_ns(deviation, of->deviation_ns);
	human_time_ns(max, of->max_ns);
	if (isnan(of->slowest))
		snprintf(out, STEPPED_TEXT, "%s %s%s (max %s)", mean, ascii ? "+-" : "±", deviation,
			 max);
	else
		snprintf(out, STEPPED_TEXT, "%s %s%s (max %s at #%.0f)", mean, ascii ? "+-" : "±",
			 deviation, max, of->slowest);
	return out;
}

/* What is missing then changes nothing that is shown. */
#define KNOWN_ENOUGH 0.99

const char *stepped_busy_text(const struct stepped *of, char out[STEPPED_TEXT])
{
	char mean[HUMAN_MAX], slowest[HUMAN_MAX], known[HUMAN_MAX];
	size_t len;

	out[0] = '\0';
	if (isnan(of->busy_ns))
		return out;
	human_time_ns(mean, of->busy_ns);
	human_time_ns(slowest, of->slowest_busy_ns);
	human_count(known, of->known);
	snprintf(out, STEPPED_TEXT, "devices busy %s a step", mean);
	if (!isnan(of->slowest_busy_ns)) {
		len = strlen(out);
		snprintf(out + len, STEPPED_TEXT - len, " (%s of #%.0f, the slowest)", slowest,
			 of->slowest);
	}
	if (of->known < KNOWN_ENOUGH * of->n) {
		len = strlen(out);
		snprintf(out + len, STEPPED_TEXT - len, ", known of %s steps", known);
	}
	return out;
}

/* Half of what it took beyond the median, or more. */
enum stepped_why stepped_why_slowest(const struct stepped *of)
{
	double excess = of->max_ns - of->median_ns,
	       idle = of->max_ns - of->slowest_busy_ns - of->idle_median_ns;

	if (isnan(idle) || excess <= 0)
		return STEPPED_NOT_KNOWN;
	return 2 * idle >= excess ? STEPPED_HOST : STEPPED_DEVICE;
}
