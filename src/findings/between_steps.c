/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "base/human.h"
#include "findings/rules.h"

#define LEAST_APART 0.1 /* of the loop's time */
#define LEAST_STEPS 16

/* Of one process: those of several pass at the same time. */
static double apart_ns(const struct stepped *of)
{
	return of->n * of->apart_ns / of->n_processes;
}

/* How long the device that had least to do may have had nothing; infinite: not known. Work that was launched in a step
 * may run on between two, and then these cost nothing. */
static double most_idle_ns(const struct evidence *e)
{
	double busy = INFINITY, used = e->used_ns + e->blur_ns;

	for (uint32_t i = 0; i < e->s->n_devices; i++) {
		double ns = session_busy_ns(e->s, i);

		if (ns > 0)
			busy = fmin(busy, ns);
	}
	return used > 0 && isfinite(busy) ? fmax(used - busy, 0) : INFINITY;
}

static int tell(const struct evidence *e, const struct stepped *of, double price_ns,
		struct findings *f)
{
	struct finding *finding = finding_add(f, FINDING_BETWEEN_STEPS, FINDING_MAYBE, price_ns);
	char share[HUMAN_MAX], n[HUMAN_THINGS_MAX], apart[HUMAN_MAX], mean[HUMAN_MAX],
		name[STEPPED_NAME];

	if (!finding)
		return -ENOMEM;
	human_percent(share, of->apart_ns / (of->apart_ns + of->mean_ns));
	human_things(n, of->n, "step");
	human_time_ns(apart, of->apart_ns);
	human_time_ns(mean, of->mean_ns);
	finding_say(finding,
		    "%s %% of the loop's time is between its steps: %s before each of %s, which "
		    "take %s ('%.40s')",
		    share, apart, n, mean, stepped_name(e->s, of, name));
	finding->at_most = true;
	finding->nodes[0] = e->s->nodes[of->node].parent; /* whose time it is: no step has it */
	finding->n_nodes = finding->nodes[0] != SESSION_ROOT;
	return 0;
}

/* Of the likeliest loop; of steps that are found by what is launched one ends where the next one starts. */
static int find(const struct evidence *e, struct findings *f)
{
	uint32_t n;
	_cleanup_(freep) struct stepped *v = stepped_new(e->s, &n);
	double price_ns;

	if (!n || !(v->n >= LEAST_STEPS) ||
	    !(v->apart_ns >= LEAST_APART * (v->apart_ns + v->mean_ns)))
		return 0;
	price_ns = fmin(apart_ns(v), most_idle_ns(e));
	return evidence_matters(e, price_ns) ? tell(e, v, price_ns, f) : 0;
}

const struct rule rule_BETWEEN_STEPS = {
	.title = "much time is between steps",
	.advice =
		"What is between steps belongs to none of them: waiting for the next data, logging, "
		"checkpoints, evaluation. Do it in another thread, ahead or less often; scopes around its "
		"parts show which of them takes the time.",
	.find = find,
	.is_of_times = true,
};
