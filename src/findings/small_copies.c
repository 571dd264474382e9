/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "base/human.h"
#include "findings/rules.h"

#define LEAST_CALLS 1000
#define SMALL_BYTES 65536

static bool is_small(const struct evidence *e, const struct own *own)
{
	(void)e;
	return own->kind == FRAME_COPY && own->sums.bytes > 0 &&
	       own->sums.bytes / own->sums.count < SMALL_BYTES;
}

static void say(struct finding *finding, const struct sums *sums)
{
	char count[HUMAN_MAX], mean[HUMAN_MAX], time[HUMAN_MAX];

	human_count(count, sums->count);
	human_bytes(mean, sums->bytes / sums->count);
	human_time_ns(time, sums->time_ns);
	finding_say(finding, "%s copies of %sB on average in %s", count, mean, time);
}

const struct rule rule_SMALL_COPIES = {
	.title = "many small copies",
	.advice =
		"A copy costs about the same up to some ten thousand bytes: gather what is copied into "
		"one buffer, or keep it on the device.",
	.picks = is_small,
	.nodes = {.least_calls = LEAST_CALLS, .at_most = true, .say = say},
};
