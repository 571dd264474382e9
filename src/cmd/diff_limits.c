/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "cmd/diff_limits.h"
#include <math.h>
#include "base/buf.h"
#include "base/util.h"
#include "cmd/commands.h"
#include "cmd/profile_options.h"
#include "report/table.h"

/* What is judged, and by what. */
struct trial {
	const struct diff *d;
	const struct diff_print *p;
	const struct diff_limits *limits;
};

void diff_complain_inside(const struct diff *d, const char *include)
{
	enum filter_hint hint = FILTER_NO_HINT;

	for (unsigned side = 0; side < DIFF_N_SIDES; side++)
		for (size_t i = 0; i < diff_n_runs(d, side); i++)
			hint = MAX(hint, (enum filter_hint)diff_run(d, side, i)->hint);
	complain_hint(hint, include);
}

bool diff_limits_any(const struct diff_limits *limits)
{
	return limits->over >= 0 || limits->under >= 0;
}

static bool is_over(const struct diff_limits *limits, const struct diff_value *v)
{
	if (v->overlaps)
		return false;
	if (v->delta > 0)
		return limits->over >= 0 && v->ratio > limits->over;
	return v->delta < 0 && limits->under >= 0 && -v->ratio > limits->under;
}

/* The path that changed most beyond a limit, of all or of those where the change arises; 0: none. */
static uint32_t worst_of(const struct trial *t, bool causes)
{
	const struct diff *d = t->d;
	double least = diff_least(d, t->p), most = 0;
	uint32_t i, worst = 0;

	for (i = 1; i < diff_n(d); i++) {
		const struct diff_value *v = diff_value(d, i, 0);

		if (is_over(t->limits, v) && fabs(v->delta) >= least && fabs(v->delta) > most &&
		    (!causes || diff_cause(d, i, 0) == i)) {
			most = fabs(v->delta);
			worst = i;
		}
	}
	return worst;
}

/* A path may be beyond the limit though none of those that its change arises in is. */
static uint32_t worst_path(const struct trial *t)
{
	uint32_t worst = worst_of(t, true);

	return worst ? worst : worst_of(t, false);
}

static void say_over(const struct diff_limits *limits, const char *name, const struct diff_value *v)
{
	bool grown = v->delta > 0;
	double percent = (grown ? limits->over : limits->under) * 100;

	if (isinf(v->ratio) && v->side[DIFF_A].n)
		complain("'%s' has %s from 0, more than %g%%", name, grown ? "grown" : "shrunk",
			 percent);
	else if (v->status == DIFF_NEW || v->status == DIFF_GONE)
		complain("'%s' is %s, more than the %g%% it may %s", name, grown ? "new" : "gone",
			 percent, grown ? "grow" : "shrink");
	else
		complain("'%s' has %s by %.1f%%, more than %g%%", name, grown ? "grown" : "shrunk",
			 fabs(v->ratio) * 100, percent);
}

/* A side without values, or without any time, was not measured: no limit was kept. */
static bool has_nothing(const struct diff *d, enum diff_side side)
{
	const struct diff_range *total = &diff_metric(d, 0)->total.side[side];
	uint32_t metric = diff_metric(d, 0)->column.derived.metric;
	bool is_time = metric == METRIC_TIME || metric == METRIC_CPU_TIME;

	return total->n == 0 || (is_time && !(total->max > 0));
}

/* "train > forward > kernel"; of a deep one the end. */
static void put_names(const struct diff *d, uint32_t id, struct buf *out)
{
	const char *names[64];
	size_t n = 0;

	for (; id && n < ARRAY_SIZE(names); id = diff_node(d, id)->parent)
		names[n++] = diff_name(d, id);
	if (id)
		buf_puts(out, "... > ");
	put_path(out, names, n, true);
}

/* "A", "B" or "A and B"; NULL: both sides have something. */
static const char *sides_of_nothing(const struct diff *d)
{
	static const char *const words[] = {NULL, "A", "B", "A and B"};

	return words[has_nothing(d, DIFF_A) + 2 * has_nothing(d, DIFF_B)];
}

static int complain_nothing(const struct trial *t, const char *sides)
{
	const char *name = diff_metric(t->d, 0)->name;

	if (t->p->include || t->p->exclude) {
		diff_complain_inside(t->d, t->p->include);
		complain(
			"the filter leaves nothing of '%s' in %s: there is nothing to hold to a limit",
			name, sides);
	} else {
		complain("nothing of '%s' was measured in %s: there is nothing to hold to a limit",
			 name, sides);
	}
	return STATUS_TROUBLE;
}

int diff_limits_judge(const struct diff_limits *limits, const struct diff *d,
		      const struct diff_print *p)
{
	const struct trial t = {d, p, limits};
	const struct diff_metric *m = diff_metric(d, 0);
	_cleanup_(buf_done) struct buf path = {0};
	const char *nothing = sides_of_nothing(d);
	uint32_t worst;

	if (!diff_limits_any(limits))
		return STATUS_WITHIN;
	if (nothing)
		return complain_nothing(&t, nothing);
	if (is_over(limits, &m->total)) {
		say_over(limits, m->name, &m->total);
		return STATUS_OVER;
	}
	worst = limits->each ? worst_path(&t) : 0;
	if (!worst)
		return STATUS_WITHIN;
	put_names(d, worst, &path);
	say_over(limits, buf_str(&path), diff_value(d, worst, 0));
	return STATUS_OVER;
}
