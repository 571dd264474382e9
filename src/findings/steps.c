/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/human.h"
#include "core/step_slow.h"
#include "findings/rules.h"

/* What steps take beyond what half of them do with. */
static double excess_ns(const struct stepped *of)
{
	return of->n * (of->mean_ns - of->median_ns);
}

/* Whose fault the slowest is: of the devices, which worked longer, or of who did not give them work. */
static void say_why(struct finding *finding, const struct stepped *of)
{
	static const char *const why[STEPPED_N_WHYS] = {[STEPPED_HOST] = "the host was late",
							[STEPPED_DEVICE] =
								"the work itself took longer"};
	enum stepped_why is = stepped_why_slowest(of);
	char busy[HUMAN_MAX], usual[HUMAN_MAX], number[STEPPED_NUMBER];

	if (is == STEPPED_NOT_KNOWN)
		return;
	human_time_ns(busy, of->slowest_busy_ns);
	human_time_ns(usual, of->busy_median_ns);
	finding_say(finding, "; in #%s devices were busy %s (usually %s): %s",
		    stepped_number(of, of->slowest, number), busy, usual, why[is]);
}

/* What is known of the slowest for a cause. */
static void say_slowest_of(struct finding *finding, const struct stepped *of,
			   const struct stepped_cause *cause)
{
	char max[HUMAN_MAX], busy[HUMAN_MAX], number[STEPPED_NUMBER];

	if (cause->max_ns < 0)
		return;
	human_time_ns(max, cause->max_ns);
	human_time_ns(busy, cause->busy_ns);
	finding_say(finding, " (%s%s took %s%s%s)", isnan(cause->at) ? "the slowest" : "#",
		    isnan(cause->at) ? "" : stepped_number(of, cause->at, number), max,
		    isnan(cause->busy_ns) ? "" : ", busy ", isnan(cause->busy_ns) ? "" : busy);
}

static void say_cause(struct finding *finding, const struct stepped *of, const char *words,
		      const struct stepped_cause *cause)
{
	char n[STEPPED_NUMBER];

	if (!(cause->n > 0))
		return;
	finding_say(finding, "%s: %s", words, stepped_cause_count(of, cause, n));
	say_slowest_of(finding, of, cause);
}

/* How many steps were slow for each cause, with the slowest of them. */
static void say_causes(struct finding *finding, const struct stepped *of)
{
	char usual[HUMAN_MAX];

	say_cause(finding, of, "; slow by a late host", &of->late);
	say_cause(finding, of, of->late.n > 0 ? ", by more work" : "; slow by more work",
		  &of->more);
	human_time_ns(usual, of->busy_median_ns);
	if (!isnan(of->busy_median_ns))
		finding_say(finding, "; usually busy %s", usual);
}

static void say_slowest(struct finding *finding, const struct stepped *of)
{
	char max[HUMAN_MAX], number[STEPPED_NUMBER];

	human_time_ns(max, of->max_ns);
	if (isnan(of->slowest))
		finding_say(finding, ", one %s", max);
	else
		finding_say(finding, ", #%s %s", stepped_number(of, of->slowest, number), max);
}

static int tell(const struct evidence *e, const struct stepped *of, struct findings *f)
{
	struct finding *finding = finding_add(f, FINDING_STEPS, FINDING_MEASURED, excess_ns(of));
	bool has_causes = of->late.n > 0 || of->more.n > 0;
	char n[HUMAN_THINGS_MAX], median[HUMAN_MAX], p95[HUMAN_MAX], name[STEPPED_NAME];

	if (!finding)
		return -ENOMEM;
	human_things(n, of->n, "step");
	human_time_ns(median, of->median_ns);
	human_time_ns(p95, of->p95_ns);
	finding_say(finding, "half of %s took %s or less", n, median);
	if (!isnan(of->p95_ns))
		finding_say(finding, ", one in twenty %s or more", p95);
	if (!has_causes)
		say_slowest(finding, of);
	finding_say(finding, " ('%.40s')", stepped_name(e->s, of, name));
	if (has_causes)
		say_causes(finding, of);
	else
		say_why(finding, of);
	finding->at_most = true;
	finding->nodes[0] = stepped_node(e->s, of, of->slowest);
	finding->n_nodes = finding->nodes[0] != SESSION_NONE;
	return 0;
}

/* Steps of the likeliest loop that are not alike. */
static int find(const struct evidence *e, struct findings *f)
{
	uint32_t n;
	_cleanup_(freep) struct stepped *v = stepped_new(e->s, &n);

	if (!n || !(v->max_ns >= STEP_SLOW_RATIO * v->median_ns) ||
	    !evidence_matters(e, excess_ns(v)))
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
	.is_of_times = true,
};
