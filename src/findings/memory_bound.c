/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <math.h>
#include "base/human.h"
#include "findings/units.h"

#define LIMIT_RATIO 0.8 /* of what device memory can do at most: copies reach little more */
#define LEAST_RUN   0.1

/* Of all kernels that it is about. */
struct bound {
	struct sums sums;
	struct units_looked looked;
	struct most most;
	double memory; /* mean, by time */
};

static void add(struct bound *to, const struct own *own, const struct units *units)
{
	to->sums.time_ns += own->sums.time_ns;
	to->sums.count += own->sums.count;
	to->memory += fmin(units->memory, 1) * own->sums.time_ns;
	units_looked_add(&to->looked, units);
	most_insert(&to->most, own->node, own->sums.time_ns);
}

/* What fewer bytes would save is not known: that these kernels take them is. */
static int tell(const struct evidence *e, struct findings *f, const struct bound *bound)
{
	char count[HUMAN_THINGS_MAX], time[HUMAN_MAX], share[HUMAN_MAX], text[UNITS_LOOKED_TEXT];
	struct finding *finding;

	if (!(bound->sums.time_ns >= LEAST_RUN * e->whole_ns) ||
	    !units_looked_enough(&bound->looked))
		return 0;
	finding = finding_add(f, FINDING_MEMORY_BOUND, FINDING_MEASURED, 0);
	if (!finding)
		return -ENOMEM;
	human_things(count, bound->sums.count, "kernel");
	human_time_ns(time, bound->sums.time_ns);
	human_percent(share, bound->memory / bound->sums.time_ns);
	finding_say(finding, "%s in %s keep device memory %s %% busy, as %s say", count, time,
		    share, units_looked_text(&bound->looked, text));
	finding_name_most(finding, &bound->most);
	return 0;
}

static int find(const struct evidence *e, struct findings *f)
{
	struct bound bound = {.memory = 0};

	for (size_t i = 0; i < e->n_own; i++) {
		const struct own *own = &e->own[i];
		struct units units;

		if (own->kind == FRAME_KERNEL && units_of(e, own->node, &units) &&
		    units.memory >= LIMIT_RATIO)
			add(&bound, own, &units);
	}
	return tell(e, f, &bound);
}

const struct rule rule_MEMORY_BOUND = {
	.title = "kernels are at the limit of device memory",
	.advice =
		"They get faster only by moving fewer bytes: one kernel in place of several that read "
		"what the one before wrote (fusion), narrower types, data that is used again while "
		"it is in shared memory or a cache. More threads or faster arithmetic gain nothing.",
	.find = find,
};
