/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "base/human.h"
#include "findings/rules.h"

#define LEAST_CALLS 100

/* That at least half of them made the host wait. Who does not say which were asynchronous does not say
 * which were not. */
static bool is_synchronous(const struct evidence *e, const struct own *own)
{
	return e->has_async && own->kind == FRAME_COPY && own->sums.async <= own->sums.count / 2;
}

static void say(struct finding *finding, const struct sums *sums)
{
	char count[HUMAN_MAX], time[HUMAN_MAX];

	human_count(count, sums->count - sums->async);
	human_time_ns(time, sums->time_ns);
	finding_say(finding, "the host waited for %s copies; they took %s on the device", count,
		    time);
}

const struct rule rule_SYNCHRONOUS = {
	.title = "copies that the host waits for",
	.advice =
		"Each drains the queue, and the GPU then waits for the host: copy asynchronously, and "
		"read results (.item(), .cpu()) seldom and late.",
	.picks = is_synchronous,
	.nodes = {.least_calls = LEAST_CALLS, .are_copies = true, .say = say},
};
