/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/stepped.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/human.h"
#include "base/util.h"
#include "core/alike.h"
#include "core/step_slow.h"
#include "core/steps.h"

#define DIGITS "0123456789"
/* clang-format off */
#define NO_CAUSE {NAN, NAN, -1, NAN}
#define NO_BYTES {NAN, NAN, NAN, NAN}
/* clang-format on */

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

/* Those in the name of a step. */
static bool numbers_of(const struct stepped *of, double number, uint64_t ret[ALIKE_NUMBERS_MAX])
{
	return number >= 0 && number < 0x1p63 &&
	       alike_numbers((uint64_t)number, of->n_numbers, ret);
}

/* The number of a step, where it says which one it is. */
static double step_beside(const struct session *s, const struct session_row *row, uint32_t metric,
			  const struct stepped *of)
{
	double v = value_beside(s, row, metric);
	uint64_t numbers[ALIKE_NUMBERS_MAX];

	return numbers_of(of, v, numbers) ? v : NAN;
}

static void add_cause(const struct session *s, const struct session_row *row, uint32_t first,
		      const struct stepped *of, struct stepped_cause *cause)
{
	double n = value_beside(s, row, first), max = value_beside(s, row, first + 2);

	add_present(&cause->n, n);
	/* A row of a file may lack any value: then another's slowest is the one that is known. */
	if (!(n > 0) || !(max > cause->max_ns))
		return;
	cause->at = step_beside(s, row, first + 1, of);
	cause->max_ns = max;
	cause->busy_ns = value_beside(s, row, first + 3);
}

/* The mean is a sum meanwhile. */
static void add_bytes(const struct session *s, const struct session_row *row, uint32_t known,
		      uint32_t first, struct stepped_bytes *bytes)
{
	double n = value_beside(s, row, known), growth = value_beside(s, row, first + 2);

	if (!(n > 0))
		return;
	add_present(&bytes->known, n);
	add_present(&bytes->mean, value_beside(s, row, first));
	bytes->max = fmax(bytes->max, value_beside(s, row, first + 1));
	bytes->growth = fmax(bytes->growth, isnan(growth) ? 0 : growth);
}

static void add_all_bytes(const struct session *s, const struct session_row *row,
			  struct stepped *of)
{
	add_bytes(s, row, METRIC_STEP_HELD_KNOWN, METRIC_STEP_HELD, &of->held);
	add_bytes(s, row, METRIC_STEP_COPIES_KNOWN, METRIC_STEP_TO_DEVICE, &of->to_device);
	add_bytes(s, row, METRIC_STEP_COPIES_KNOWN, METRIC_STEP_TO_HOST, &of->to_host);
	add_bytes(s, row, METRIC_STEP_COPIES_KNOWN, METRIC_STEP_WITHIN, &of->within);
}

/* Values of one set: all are there, or none is. */
static void add_busy(const struct session *s, const struct session_row *row, struct stepped *of)
{
	double n = value_beside(s, row, METRIC_STEP_KNOWN);

	if (!(n > 0))
		return;
	add_present(&of->known, n);
	add_cause(s, row, METRIC_STEP_LATE, of, &of->late);
	add_cause(s, row, METRIC_STEP_MORE, of, &of->more);
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
	add_all_bytes(s, row, of);
	if (isnan(max) || max <= of->max_ns)
		return;
	of->max_ns = max;
	of->slowest = step_beside(s, row, METRIC_STEP_SLOWEST, of);
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
	of->held.mean /= of->held.known;
	of->to_device.mean /= of->to_device.known;
	of->to_host.mean /= of->to_host.known;
	of->within.mean /= of->within.known;
	if (of->node == SESSION_ROOT) /* when that was found steps had been before */
		of->first_ns = of->apart_ns = NAN;
	square = of->deviation_ns / of->n - of->mean_ns * of->mean_ns;
	of->deviation_ns = square < 0 ? 0 : sqrt(square);
}

/* ---- loops ---- */

/* A number is its digits; where the name is folded, "#" (and what stood before it: "ProfilerStep##"). */
static unsigned count_numbers(const char *name)
{
	bool has_digits = strpbrk(name, DIGITS);
	const char *of = has_digits ? DIGITS : "#";
	unsigned n = 0;

	while (*(name += strcspn(name, of))) {
		n++;
		name += strspn(name, of);
	}
	return n;
}

/* The loop of a node, made when absent; v has room for it. */
static struct stepped *loop_of(const struct session *s, struct stepped *v, uint32_t *n,
			       uint32_t node)
{
	uint32_t i = 0;

	while (i < *n && v[i].node != node)
		i++;
	if (i == *n)
		v[(*n)++] = (struct stepped){.node = node,
					     .n_numbers = count_numbers(session_node_name(s, node)),
					     .late = NO_CAUSE,
					     .more = NO_CAUSE,
					     .held = NO_BYTES,
					     .to_device = NO_BYTES,
					     .to_host = NO_BYTES,
					     .within = NO_BYTES,
					     .process = SESSION_NONE,
					     .p95_ns = NAN,
					     .min_ns = NAN,
					     .max_ns = NAN,
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
		add_times(s, &s->rows[i], loop_of(s, v, &n, s->rows[i].node));
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

bool stepped_misses_copies(const struct session *s)
{
	for (size_t i = 0; i < s->n_rows; i++) {
		uint32_t node = s->rows[i].node;

		if (session_node_kind(s, node) == FRAME_GRAPH_RUN &&
		    graph_run_may_copy(session_node_name(s, node)) &&
		    session_row_number(s, &s->rows[i], METRIC_COUNT) > 0)
			return true;
	}
	return false;
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
	char mean[HUMAN_MAX], deviation[HUMAN_MAX], max[HUMAN_MAX], number[STEPPED_NUMBER];

	human_time_ns(mean, of->mean_ns);
	human_time_ns(deviation, of->deviation_ns);
	human_time_ns(max, of->max_ns);
	if (isnan(of->slowest))
		snprintf(out, STEPPED_TEXT, "%s %s%s (max %s)", mean, ascii ? "+-" : "±", deviation,
			 max);
	else
		snprintf(out, STEPPED_TEXT, "%s %s%s (max %s at #%s)", mean, ascii ? "+-" : "±",
			 deviation, max, stepped_number(of, of->slowest, number));
	return out;
}

/* What is missing then changes nothing that is shown. */
#define KNOWN_ENOUGH 0.99

const char *stepped_cause_count(const struct stepped *of, const struct stepped_cause *cause,
				char out[STEPPED_NUMBER])
{
	char n[HUMAN_MAX];

	human_count(n, cause->n);
	snprintf(out, STEPPED_NUMBER, "%s%s", n,
		 of->late.n + of->more.n >= STEP_SLOW_MAX ? "+" : "");
	return out;
}

const char *stepped_known_text(const struct stepped *of, double known, char out[STEPPED_TEXT])
{
	char n[HUMAN_THINGS_MAX];

	out[0] = '\0';
	if (!(known < KNOWN_ENOUGH * of->n))
		return out;
	human_things(n, known, "step");
	snprintf(out, STEPPED_TEXT, ", known of %s", n);
	return out;
}

const char *stepped_busy_text(const struct stepped *of, char out[STEPPED_TEXT])
{
	char mean[HUMAN_MAX], slowest[HUMAN_MAX], known[STEPPED_TEXT], number[STEPPED_NUMBER];
	size_t len;

	out[0] = '\0';
	if (isnan(of->busy_ns))
		return out;
	human_time_ns(mean, of->busy_ns);
	human_time_ns(slowest, of->slowest_busy_ns);
	snprintf(out, STEPPED_TEXT, "devices busy %s a step", mean);
	if (!isnan(of->slowest_busy_ns)) {
		len = strlen(out);
		snprintf(out + len, STEPPED_TEXT - len, " (%s of #%s, the slowest)", slowest,
			 stepped_number(of, of->slowest, number));
	}
	len = strlen(out);
	snprintf(out + len, STEPPED_TEXT - len, "%s", stepped_known_text(of, of->known, known));
	return out;
}

/* Between nodes of graphs, which is neither busy nor idle: in the mean, for of the slowest it is not told. 0 where not all
 * steps are known, of which the mean is. */
static double in_graphs_ns(const struct stepped *of)
{
	return of->known < of->n ? 0 : fmax(round(of->mean_ns - of->busy_ns - of->idle_ns), 0);
}

enum stepped_why stepped_why_slowest(const struct stepped *of)
{
	if (isnan(of->slowest_busy_ns) || isnan(of->idle_median_ns) || of->max_ns <= of->median_ns)
		return STEPPED_NOT_KNOWN;
	return step_slow_is_of_host(of->max_ns, of->max_ns - of->slowest_busy_ns - in_graphs_ns(of),
				    of->median_ns, of->idle_median_ns)
		       ? STEPPED_HOST
		       : STEPPED_DEVICE;
}

const char *stepped_why_word(enum stepped_why why)
{
	static const char *const words[STEPPED_N_WHYS] = {
		[STEPPED_HOST] = "late host", [STEPPED_DEVICE] = "more work"};

	return words[why];
}

/* One of another loop, or of none, has another kind or other letters. */
static bool is_alike(const struct session *s, uint32_t node, enum frame_kind kind,
		     const char *pattern)
{
	char its[STEPPED_NAME];

	if (session_node_kind(s, node) != kind)
		return false;
	alike_pattern(session_node_name(s, node), its, sizeof(its));
	return !strcmp(its, pattern);
}

uint32_t stepped_node(const struct session *s, const struct stepped *of, double number)
{
	char pattern[STEPPED_NAME];
	uint32_t its = SESSION_NONE, all = SESSION_NONE;
	unsigned n = 0;
	uint64_t one;

	if (of->node == SESSION_ROOT)
		return SESSION_NONE;
	alike_pattern(session_node_name(s, of->node), pattern, sizeof(pattern));
	for (uint32_t i = 0; i < s->n_nodes; i++) {
		const char *name = session_node_name(s, i);

		if (!is_alike(s, i, session_node_kind(s, of->node), pattern))
			continue;
		if (!alike_number(name, strlen(name), &one))
			all = all == SESSION_NONE ? i : all;
		else if ((double)one == number && n++ == 0)
			its = i;
	}
	return n == 1 ? its : n ? SESSION_NONE : all;
}

const char *stepped_number(const struct stepped *of, double number, char out[STEPPED_NUMBER])
{
	uint64_t parts[ALIKE_NUMBERS_MAX];
	size_t len = 0;

	if (!numbers_of(of, number, parts)) {
		snprintf(out, STEPPED_NUMBER, "-");
		return out;
	}
	for (unsigned i = 0; i < MAX(of->n_numbers, 1u); i++)
		len += (size_t)snprintf(out + len, STEPPED_NUMBER - len, "%s%" PRIu64, i ? "," : "",
					parts[i]);
	return out;
}

const char *stepped_growth_text(const struct stepped *of, char out[STEPPED_TEXT])
{
	char more[HUMAN_MAX];

	out[0] = '\0';
	if (!(of->held.growth > 0))
		return out;
	human_bytes(more, of->held.growth);
	snprintf(out, STEPPED_TEXT, "with each %sB more of devices' memory is held", more);
	return out;
}
