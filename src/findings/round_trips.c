/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include "base/human.h"
#include "findings/rules.h"

#define LEAST_CALLS 100 /* of all such nodes */

static double n_back(const struct evidence *e, const struct own *own)
{
	return own->kind == FRAME_COPY ? evidence_sum(e, own->node, METRIC_BACK) : 0;
}

/* That at least half of them went the other way than the copy before. */
static bool goes_back(const struct evidence *e, const struct own *own)
{
	return n_back(e, own) >= own->sums.count / 2;
}

static int find(const struct evidence *e, struct findings *f)
{
	char count[HUMAN_MAX], time[HUMAN_MAX];
	struct finding *finding;
	double n = 0, price_ns = 0;

	for (size_t i = 0; i < e->n_own; i++) {
		const struct own *own = &e->own[i];

		if (!goes_back(e, own))
			continue;
		n += n_back(e, own);
		price_ns += own->sums.time_ns * MIN(n_back(e, own) / own->sums.count, 1);
	}
	if (n < LEAST_CALLS || !evidence_matters(e, price_ns))
		return 0;
	finding = finding_add(f, FINDING_ROUND_TRIPS, FINDING_MAYBE, price_ns);
	if (!finding)
		return -ENOMEM;
	finding->at_most = true;
	human_count(count, n);
	human_time_ns(time, price_ns);
	finding_say(
		finding,
		"%s copies in %s went back between two buffers that the copy before went between",
		count, time);
	finding_name_nodes(finding, &e->picked[FINDING_ROUND_TRIPS]);
	return 0;
}

const struct rule rule_ROUND_TRIPS = {
	.title = "data goes to and fro",
	.advice =
		"Keep it where the next step needs it: do on the device what the host does in between, "
		"or copy back only the result.",
	.picks = goes_back,
	.find = find,
};
