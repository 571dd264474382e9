/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <stdlib.h>
#include "base/human.h"
#include "findings/rules.h"

#define MOST_SHARE 0.5

/* Kernels are told apart by their frames. */
static int sum_frames(const struct evidence *e, struct sums **ret)
{
	struct sums *sums = calloc(e->s->n_frames, sizeof(*sums));

	if (!sums)
		return -ENOMEM;
	for (uint32_t i = 0; i < e->s->n_nodes; i++) {
		struct sums *s = &sums[e->s->nodes[i].frame];

		if (!evidence_is(e, i, FRAME_KERNEL))
			continue;
		s->time_ns += e->nodes[i].time_ns;
		s->count += e->nodes[i].count;
	}
	*ret = sums;
	return 0;
}

/* Its calling context with the longest time. */
static uint32_t heaviest(const struct evidence *e, uint32_t frame)
{
	uint32_t best = SESSION_ROOT;

	for (uint32_t i = 0; i < e->s->n_nodes; i++)
		if (e->s->nodes[i].frame == frame &&
		    (best == SESSION_ROOT || e->nodes[i].time_ns > e->nodes[best].time_ns))
			best = i;
	return best;
}

static int tell(const struct evidence *e, uint32_t frame, const struct sums *sums,
		struct findings *f)
{
	struct finding *finding =
		finding_add(f, FINDING_ONE_KERNEL, FINDING_MEASURED, sums->time_ns);
	char time[HUMAN_MAX], share[HUMAN_MAX], count[HUMAN_MAX], mean[HUMAN_MAX];

	if (!finding)
		return -ENOMEM;
	finding->at_most = true;
	human_time_ns(time, sums->time_ns);
	human_percent(share, sums->time_ns / e->kernels.time_ns);
	human_count(count, sums->count);
	human_time_ns(mean, sums->time_ns / sums->count);
	finding_say(finding, "%s, %s %% of all kernels: %s calls of %s", time, share, count, mean);
	finding->nodes[0] = heaviest(e, frame);
	finding->n_nodes = 1;
	return 0;
}

static int find(const struct evidence *e, struct findings *f)
{
	_cleanup_(freep) struct sums *sums = NULL;
	unsigned n_kernels = 0;
	uint32_t most = 0;
	int r = sum_frames(e, &sums);

	for (uint32_t i = 0; r == 0 && i < e->s->n_frames; i++) {
		n_kernels += sums[i].count > 0;
		if (sums[i].time_ns > sums[most].time_ns)
			most = i;
	}
	/* The only one is most of the time wherever there is one. */
	if (r < 0 || n_kernels < 2 || sums[most].time_ns < MOST_SHARE * e->kernels.time_ns ||
	    sums[most].time_ns < e->whole_ns / 10)
		return r;
	return tell(e, most, &sums[most], f);
}

const struct rule rule_ONE_KERNEL = {
	.title = "one kernel is most of the time",
	.advice =
		"It is the first to look at: the roofline says how far from the device's limits it is "
		"where bytes and flops are known.",
	.find = find,
};
