/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <math.h>
#include "base/human.h"
#include "core/ranks.h"
#include "findings/rules.h"

#define LEAST_SPREAD 0.1 /* of the mean */

struct extremes {
	double sum, most, least;
	uint32_t n, slowest; /* index of who has the most */
};

static void take(struct extremes *x, double v, uint32_t who)
{
	if (!x->n || v > x->most) {
		x->most = v;
		x->slowest = who;
	}
	x->least = x->n ? fmin(x->least, v) : v;
	x->sum += v;
	x->n++;
}

static bool has_ranks(const struct session *s)
{
	for (size_t i = 0; i < s->n_processes; i++)
		if (s->processes[i].rank >= 0)
			return true;
	return false;
}

/* What each rank's own work takes: what it waits for others in collectives is left out. */
static int of_ranks(const struct evidence *e, struct extremes *ret)
{
	struct ranks ranks;
	int r;

	if (!has_ranks(e->s))
		return 0;
	r = ranks_init(&ranks, e->s, METRIC_TIME, NULL);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < ranks.n; i++)
		if (ranks.totals[i].process < e->s->n_processes &&
		    e->s->processes[ranks.totals[i].process].rank >= 0)
			take(ret, ranks.totals[i].sum, ranks.totals[i].process);
	ranks_done(&ranks);
	return 0;
}

static void of_devices(const struct evidence *e, struct extremes *ret)
{
	for (uint32_t i = 0; i < e->s->n_devices; i++)
		if (e->devices[i].count > 0)
			take(ret, e->devices[i].time_ns, i);
}

static int tell(const struct evidence *e, const struct extremes *x, bool is_rank,
		struct findings *f)
{
	double mean = x->sum / x->n;
	char most[HUMAN_MAX], mean_text[HUMAN_MAX], least[HUMAN_MAX], name[64];
	struct finding *finding = finding_add(f, FINDING_UNEVEN, FINDING_MEASURED, x->most - mean);

	if (!finding)
		return -ENOMEM;
	human_time_ns(most, x->most);
	human_time_ns(mean_text, mean);
	human_time_ns(least, x->least);
	if (is_rank)
		rank_name(e->s, x->slowest, name, sizeof(name));
	else
		finding->device = x->slowest;
	if (is_rank)
		finding_say(finding, "rank %s ", name);
	finding_say(finding, "works %s; the mean of %u is %s, the least %s", most, x->n, mean_text,
		    least);
	return 0;
}

static int find(const struct evidence *e, struct findings *f)
{
	struct extremes x = {0};
	bool is_rank;
	int r = of_ranks(e, &x);

	is_rank = x.n > 1;
	if (r == 0 && !is_rank) {
		x = (struct extremes){0};
		of_devices(e, &x);
	}
	if (r < 0 || x.n < 2 || x.most - x.sum / x.n < LEAST_SPREAD * x.sum / x.n ||
	    !evidence_matters(e, x.most - x.sum / x.n))
		return r;
	return tell(e, &x, is_rank, f);
}

const struct rule rule_UNEVEN = {
	.title = "work is spread unevenly",
	.advice =
		"All wait for the slowest: give it less (shapes, experts, stages of a pipeline), or see "
		"whether it is slower hardware (clocks, another process on it).",
	.find = find,
};
