/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include "base/human.h"
#include "findings/rules.h"

#define START_SHARE 0.2 /* of the run */
#define LEAST_NS    2e9 /* libraries that are loaded, a context that is made */

/* A long way to the first work. */
static int find(const struct evidence *e, struct findings *f)
{
	double first = e->s->n_runs == 1 ? (double)e->s->runs[0].first_work_ns : 0;
	char first_text[HUMAN_MAX], wall[HUMAN_MAX];
	struct finding *finding;

	if (first < LEAST_NS || first < START_SHARE * e->wall_ns || first > e->wall_ns)
		return 0;
	finding = finding_add(f, FINDING_STARTUP, FINDING_MEASURED, first);
	if (!finding)
		return -ENOMEM;
	human_time_ns(first_text, first);
	human_time_ns(wall, e->wall_ns);
	finding_say(finding, "%s, in which no device had work; the run took %s", first_text, wall);
	return 0;
}

const struct rule rule_STARTUP = {
	.title = "the run begins long before its first work",
	.advice =
		"Modules are imported, data and weights are read, kernels compiled: measure a longer "
		"run, or make the start shorter (caches of compiled kernels, lazy imports).",
	.find = find,
	.is_of_times = true,
};
