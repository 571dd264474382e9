/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <stdlib.h>
#include "base/human.h"
#include "findings/rules.h"

/* Less of it is what frameworks do while they settle. */
#define LEAST_BYTES 1e6
#define LEAST_STEPS 16

/* Over how many steps it is known that it grows: a trend is that of the last three quarters (core/step_trend.h). */
static double grown_steps(const struct stepped_bytes *b)
{
	return b->known / 4 * 3;
}

bool stepped_bytes_grow(const struct stepped_bytes *b)
{
	return b->growth > 0 && b->known >= LEAST_STEPS &&
	       b->growth * grown_steps(b) >= LEAST_BYTES;
}

bool evidence_growing(const struct evidence *e, struct stepped *ret)
{
	uint32_t n, i = 0;
	_cleanup_(freep) struct stepped *v = stepped_new(e->s, &n);

	while (i < n && !stepped_bytes_grow(&v[i].held))
		i++;
	if (i < n)
		*ret = v[i];
	return i < n;
}

void finding_say_growth(struct finding *finding, const struct evidence *e, const struct stepped *of,
			const struct stepped_bytes *b)
{
	char each[HUMAN_MAX], n[HUMAN_THINGS_MAX], name[STEPPED_NAME];

	human_bytes(each, b->growth);
	human_things(n, grown_steps(b), "step");
	finding_say(finding, "%sB more with each of the last %s ('%.40s')", each, n,
		    stepped_name(e->s, of, name));
}

/* Who holds what may have grown: blocks of as many steps are there. */
static void name_holders(const struct evidence *e, struct finding *finding, double least_bytes)
{
	struct most most = {.n = 0};

	for (uint32_t i = 0; i < e->s->n_nodes; i++) {
		double bytes;

		if (session_node_kind(e->s, i) != FRAME_ALLOC || is_of_tensors(e->s, i) ||
		    evidence_sum(e, i, METRIC_ALLOCS) - evidence_sum(e, i, METRIC_FREES) <
			    LEAST_STEPS / 2)
			continue;
		bytes = evidence_sum(e, i, METRIC_MEM_LIVE) + evidence_sum(e, i, METRIC_NOT_FREED);
		if (bytes >= least_bytes)
			most_insert(&most, i, bytes);
	}
	finding_name_most(finding, &most);
}

/* Of the device that has least room left; NaN: not known. */
static double steps_until_full(const struct evidence *e, double growth)
{
	double least = NAN;

	for (size_t i = 0; i < e->s->n_sensors; i++) {
		const double *v = e->s->sensors[i].of.v;

		if (v[SENSOR_MEMORY_TOTAL] > 0 && v[SENSOR_MEMORY_MAX] > 0)
			least = fmin(least, v[SENSOR_MEMORY_TOTAL] - v[SENSOR_MEMORY_MAX]);
	}
	return least / growth;
}

/* A leak that has a scope, or blocks in one place, is told there (left_behind.c). */
static int find(const struct evidence *e, struct findings *f)
{
	struct stepped of;
	struct finding *finding;
	char max[HUMAN_MAX], left[HUMAN_THINGS_MAX];
	double until_full;

	if (left_behind_node(e) != SESSION_NONE || !evidence_growing(e, &of))
		return 0;
	finding = finding_add(f, FINDING_GROWING_MEMORY, FINDING_LIKELY, 0);
	if (!finding)
		return -ENOMEM;
	human_bytes(max, of.held.max);
	finding_say_growth(finding, e, &of, &of.held);
	finding_say(finding, ", %sB in the end", max);
	until_full = steps_until_full(e, of.held.growth);
	if (until_full >= 0) {
		human_things(left, floor(until_full), "step");
		finding_say(finding, "; a device is full %s later", left);
	}
	name_holders(e, finding, of.held.growth * grown_steps(&of.held) / 4);
	return 0;
}

const struct rule rule_GROWING_MEMORY = {
	.title = "memory that is held grows from step to step",
	.advice =
		"What a step allocates and nobody releases adds up until an allocation fails: results "
		"that are kept with what they were computed from (a loss that is summed up, outputs in "
		"a list), caches without a bound, handles that are made anew. report --view memory says who "
		"holds what is there now.",
	.find = find,
};
