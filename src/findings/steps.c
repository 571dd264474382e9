/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/human.h"
#include "core/stepped.h"
#include "findings/rules.h"

#define SPREAD_RATIO 1.5 /* the slowest to the median, from which steps are not alike */

/* What steps take beyond what half of them do with. */
static double excess_ns(const struct stepped *of)
{
	return of->n * (of->mean_ns - of->median_ns);
}

/* Whose fault the slowest is: of the devices, which worked longer, or of who did not give them work. */
static void say_why(struct finding *finding, const struct stepped *of)
{
	static const char *const why[] = {[STEPPED_HOST] = "the host was late",
					  [STEPPED_DEVICE] = "the work itself took longer"};
	enum stepped_why is = stepped_why_slowest(of);
	char busy[HUMAN_MAX], usual[HUMAN_MAX];

	if (is == STEPPED_NOT_KNOWN)
		return;
	human_time_ns(busy, of->slowest_busy_ns);
	human_time_ns(usual, of->busy_median_ns);
	finding_say(finding, "; in #%.0f devices were busy %s (usually %s): %s", of->slowest, busy,
		    usual, why[is]);
}

static int tell(const struct evidence *e, const struct stepped *of, struct findings *f)
{
	struct finding *finding = finding_add(f, FINDING_STEPS, FINDING_MEASURED, excess_ns(of));
	char n[HUMAN_THINGS_MAX], median[HUMAN_MAX], p95[HUMAN_MAX], max[HUMAN_MAX], slowest[32],
		name[STEPPED_NAME];

	if (!finding)
		return -ENOMEM;
	human_things(n, of->n, "step");
	human_time_ns(median, of->median_ns);
	human_time_ns(p95, of->p95_ns);
	human_time_ns(max, of->max_ns);
	if (isnan(of->slowest))
		snprintf(slowest, sizeof(slowest), "one");
	else
		snprintf(slowest, sizeof(slowest), "#%.0f", of->slowest);
	finding_say(finding,
		    "half of %s took %s or less, one in twenty %s or more, %s %s ('%.60s')", n,
		    median, p95, slowest, max, stepped_name(e->s, of, name));
	say_why(finding, of);
	finding->at_most = true;
	if (of->node != SESSION_ROOT) {
		finding->nodes[0] = of->node;
		finding->n_nodes = 1;
	}
	return 0;
}

/* Steps of the likeliest loop that are not alike. */
static int find(const struct evidence *e, struct findings *f)
{
	uint32_t n;
	_cleanup_(freep) struct stepped *v = stepped_new(e->s, &n);

	if (!n || v->max_ns < SPREAD_RATIO * v->median_ns || !evidence_matters(e, excess_ns(v)))
		return 0;
	return tell(e, v, f);
}

const struct rule rule_STEPS = {
	.title = "some steps take longer than others",
	.advice =
		"Look at what is done in some steps only: evaluation, checkpoints, logging, data that "
		"is not there yet, other shapes. --trace shows a slow one beside others; of steps that "
		"have names, --trace-window steps:A-B keeps some alone.",
	.find = find,
};
