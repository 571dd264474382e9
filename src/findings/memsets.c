/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "base/human.h"
#include "findings/rules.h"

#define LEAST_CALLS 1000 /* of each */

static bool is_often(const struct evidence *e, const struct own *own)
{
	(void)e;
	return own->kind == FRAME_SET && own->sums.count >= LEAST_CALLS;
}

static void say(struct finding *finding, const struct sums *sums)
{
	char count[HUMAN_MAX], time[HUMAN_MAX];

	human_count(count, sums->count);
	human_time_ns(time, sums->time_ns);
	finding_say(finding, "%s memsets in %s", count, time);
}

const struct rule rule_MEMSETS = {
	.title = "memory is set again and again",
	.advice =
		"Set it once, let the kernel that writes it first do it (zero_grad(set_to_none=True), "
		"empty() instead of zeros()), or set one large block.",
	.picks = is_often,
	.nodes = {.at_most = true, .say = say},
};
