/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/human.h"
#include "findings/rules.h"

#define MOST_SHARE 0.5
#define PLACES_MAX 64

/* Kernels, which are told apart by their frames. */
struct kernels {
	struct sums *sums; /* by frame */
	unsigned n;
	uint32_t most; /* the frame with the longest time */
};

static int sum_frames(const struct evidence *e, struct kernels *ret)
{
	ret->sums = calloc(e->s->n_frames, sizeof(*ret->sums));
	if (!ret->sums)
		return -ENOMEM;
	for (size_t i = 0; i < e->n_own; i++) {
		const struct own *own = &e->own[i];
		uint32_t frame = e->s->nodes[own->node].frame;
		struct sums *s = &ret->sums[frame];

		if (own->kind != FRAME_KERNEL)
			continue;
		ret->n += !(s->count > 0);
		s->time_ns += own->sums.time_ns;
		s->count += own->sums.count;
		if (s->time_ns > ret->sums[ret->most].time_ns)
			ret->most = frame;
	}
	return 0;
}

/* Its calling context with the longest time, and how many it has. */
static const struct own *heaviest(const struct evidence *e, uint32_t frame, unsigned *ret_n)
{
	const struct own *best = NULL;

	*ret_n = 0;
	for (size_t i = 0; i < e->n_own; i++) {
		if (e->s->nodes[e->own[i].node].frame != frame)
			continue;
		++*ret_n;
		if (!best || e->own[i].sums.time_ns > best->sums.time_ns)
			best = &e->own[i];
	}
	return best;
}

/* The numbers are of all places, of which one is named. */
static const char *say_places(const struct own *most, unsigned n, char out[PLACES_MAX])
{
	char time[HUMAN_MAX];

	*out = '\0';
	if (n < 2)
		return out;
	human_time_ns(time, most->sums.time_ns);
	snprintf(out, PLACES_MAX, ", in %u places, most in this: %s", n, time);
	return out;
}

static const char sampled_advice[] =
	"It is the first to look at: report --view source and the panel Source (M-7) have its lines, and what "
	"its warps wait for there.";

static int tell(const struct evidence *e, uint32_t frame, const struct sums *sums,
		struct findings *f)
{
	struct finding *finding =
		finding_add(f, FINDING_ONE_KERNEL, FINDING_MEASURED, sums->time_ns);
	char time[HUMAN_MAX], share[HUMAN_MAX], count[HUMAN_THINGS_MAX], mean[HUMAN_MAX];
	char places[PLACES_MAX];
	unsigned n;
	const struct own *most = heaviest(e, frame, &n);

	if (!finding)
		return -ENOMEM;
	finding->at_most = true;
	if (session_has_values(e->s, METRIC_PC_STALLED_SAMPLES))
		finding->advice = sampled_advice;
	human_time_ns(time, sums->time_ns);
	human_percent(share, sums->time_ns / evidence_computing(e));
	human_things(count, sums->count, "call");
	human_time_ns(mean, sums->time_ns / sums->count);
	finding_say(finding, "%s, %s %% of all kernels: %s of %s%s", time, share, count, mean,
		    say_places(most, n, places));
	finding->nodes[0] = most ? most->node : SESSION_ROOT;
	finding->n_nodes = 1;
	return 0;
}

static int find(const struct evidence *e, struct findings *f)
{
	struct kernels kernels = {0};
	const struct sums *most;
	int r = sum_frames(e, &kernels);

	if (r < 0)
		return r;
	most = &kernels.sums[kernels.most];
	/* The only one is most of the time wherever there is one. */
	if (kernels.n > 1 && most->time_ns > MOST_SHARE * evidence_computing(e) &&
	    most->time_ns >= e->whole_ns / 10)
		r = tell(e, kernels.most, most, f);
	free(kernels.sums);
	return r;
}

const struct rule rule_ONE_KERNEL = {
	.title = "one kernel is most of the time",
	.advice =
		"It is the first to look at: the roofline says how far from the device's limits it is "
		"where bytes and flops are known, and a run with --pc-sampling at which lines it waits.",
	.find = find,
};
