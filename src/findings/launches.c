/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include "base/human.h"
#include "findings/rules.h"

#define SHORT_NS 15000 /* a mean below which launching is what limits */

/* The device waits while the host launches many short kernels. */
static int find(const struct evidence *e, struct findings *f)
{
	char count[HUMAN_THINGS_MAX], mean[HUMAN_MAX], rate[HUMAN_MAX], idle_text[HUMAN_MAX];

	for (uint32_t i = 0; i < e->s->n_devices; i++) {
		double idle = evidence_idle(e, i), n = e->devices[i].count;
		struct finding *finding;

		if (!(idle > 0) || !(n > 0) || e->devices[i].time_ns / n > SHORT_NS ||
		    evidence_launching(e, i) < idle / 2)
			continue;
		finding = finding_add(f, FINDING_LAUNCHES, FINDING_LIKELY, idle);
		if (!finding)
			return -ENOMEM;
		finding->device = i;
		finding->at_most = true;
		human_things(count, n, "kernel");
		human_time_ns(mean, e->devices[i].time_ns / n);
		human_count(rate, n * e->launches_ratio / e->used_ns * 1e9);
		human_time_ns(idle_text, idle);
		finding_say(finding, "idle for %s%s, beside %s of %s each, %s launches a second",
			    idle_text, e->blur_ns > 0 ? " or more" : "", count, mean, rate);
	}
	return 0;
}

const struct rule rule_LAUNCHES = {
	.title = "the GPU waits for launches",
	.advice =
		"Kernels end sooner than the host launches the next ones: capture them in a CUDA graph "
		"(torch.compile with mode=\"reduce-overhead\"), fuse them, or give each more work.",
	.find = find,
	.is_of_times = true,
};
