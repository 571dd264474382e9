/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "base/human.h"
#include "findings/rules.h"

#define TINY_NS     5000
#define LEAST_CALLS 10000
#define MOST_SHARE  0.5  /* of the kernels */
#define TINY_SHARE  0.05 /* of the whole */

static bool is_tiny(const struct evidence *e, const struct own *own)
{
	(void)e;
	return own->kind == FRAME_KERNEL && own->sums.time_ns / own->sums.count < TINY_NS;
}

static void say(struct finding *finding, const struct sums *sums)
{
	char count[HUMAN_MAX], mean[HUMAN_MAX], time[HUMAN_MAX];

	human_count(count, sums->count);
	human_time_ns(mean, sums->time_ns / sums->count);
	human_time_ns(time, sums->time_ns);
	finding_say(finding, "%s kernels of %s on average in %s", count, mean, time);
}

const struct rule rule_TINY_KERNELS = {
	.title = "most kernels are shorter than 5 us",
	.advice = "Beginning and ending is a large part of each: fuse them (torch.compile, foreach "
		  "optimizers), or give each more work (larger batches).",
	.picks = is_tiny,
	.nodes = {.least_calls = LEAST_CALLS,
		  .above_ratio = MOST_SHARE,
		  .least_share = TINY_SHARE,
		  .at_most = true,
		  .say = say},
};
