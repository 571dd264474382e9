/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "cmd/replay_groups.h"
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/util.h"
#include "cmd/commands.h"
#include "cmd/metrics_asked.h"
#include "core/ranges_wanted.h"
#include "report/print_line.h"

struct groups {
	struct ranges_wanted all; /* to be divided */
	struct ranges_runs made;
	const char *left[RANGES_METRICS_MAX]; /* names of all that are in no group yet */
	size_t n_left;
	const char *alone[RANGES_METRICS_MAX]; /* that no group can have */
	size_t n_alone;
};

static const struct range_metric *metric_of(const struct groups *g, const char *name)
{
	size_t i = 0;

	while (strcmp(g->all.metrics[i].name, name) != 0)
		i++;
	return &g->all.metrics[i];
}

static bool take(struct groups *g, const struct counters_answer *a, struct ranges_wanted *group)
{
	const char *left[RANGES_METRICS_MAX];
	size_t n = 0, k = 0;

	for (size_t i = 0; i < a->n; i++) {
		const struct counter_metric *m = &a->metrics[i];
		const struct range_metric *of;

		if (m->role != COUNTER_PLANNED || k == g->n_left)
			continue;
		of = metric_of(g, g->left[k++]);
		if (m->state == PLAN_COUNTED &&
		    !ranges_wanted_add(group, of->name, of->unit, of->add))
			return false;
		if (m->state != PLAN_COUNTED && m->passes == 1)
			left[n++] = of->name;
		else if (m->state != PLAN_COUNTED)
			g->alone[g->n_alone++] = of->name;
	}
	memcpy(g->left, left, n * sizeof(*left));
	g->n_left = n;
	return true;
}

/* One group more, of those that are left. */
static int make_group(struct groups *g)
{
	_cleanup_(metric_set_freep) struct metric_set *set =
		metric_set_of(g->left, g->n_left, COUNTING_RANGE);
	struct counters_question q = {.counting = COUNTING_RANGE, .set = set};
	struct ranges_wanted *group = set ? ranges_runs_new(&g->made) : NULL;
	struct counters_answer a;
	int status = STATUS_OK;

	if (!group)
		return STATUS_OURS;
	group->of = g->all.of;
	set->most_passes = 1;
	counters_ask(&q, &a);
	if (a.why || a.error)
		status = metrics_complain(&a);
	else if (!take(g, &a, group))
		status = STATUS_OURS;
	counters_answer_done(&a);
	if (!group->n) /* all were of several passes */
		g->made.n--;
	return status;
}

static int tell_alone(const struct groups *g, bool is_set)
{
	_cleanup_(buf_done) struct buf names = {0};
	const char *take = g->n_alone == 1 ? "takes" : "take";

	for (size_t i = 0; i < g->n_alone; i++)
		buf_printf(&names, "%s'%s'", i ? ", " : "", g->alone[i]);
	if (!g->n_alone)
		return STATUS_OK;
	complain(
		is_set && g->made.n
			? "--replay application: left out: %s, which %s several passes by %s: only --replay "
			  "kernel counts %s"
			: "--replay application: %s %s several passes by %s, and a run of APP is one: only "
			  "--replay kernel counts %s",
		buf_str(&names), take, g->n_alone == 1 ? "itself" : "themselves",
		g->n_alone == 1 ? "it" : "them");
	return is_set && g->made.n ? STATUS_OK : STATUS_USAGE;
}

int replay_groups_make(struct ranges_runs *runs, bool is_set)
{
	struct groups g = {.all = runs->of[0]};
	int status = STATUS_OK;

	for (; g.n_left < g.all.n; g.n_left++)
		g.left[g.n_left] = g.all.metrics[g.n_left].name;
	while (g.n_left && status == STATUS_OK)
		status = make_group(&g);
	status = status ? status : tell_alone(&g, is_set);
	if (status == STATUS_OK)
		print_line(stderr, "proton: the metrics take %zu pass%s: APP runs %zu time%s",
			   g.made.n, g.made.n == 1 ? "" : "es", g.made.n, g.made.n == 1 ? "" : "s");
	ranges_runs_done(runs);
	*runs = g.made;
	return status;
}
