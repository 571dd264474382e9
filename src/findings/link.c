/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <math.h>
#include "findings/rules.h"

/* Each generation is twice as fast as the one before. */
static double speed(const struct sensors *s, enum sensor generation, enum sensor width)
{
	return s->v[generation] > 0 ? exp2(s->v[generation]) * s->v[width] : 0;
}

/* The share of a copy's time that the whole link would save. */
static double lost_share(const struct sensors *s)
{
	double now = speed(s, SENSOR_PCIE_GENERATION, SENSOR_PCIE_WIDTH);
	double whole = speed(s, SENSOR_PCIE_GENERATION_LIMIT, SENSOR_PCIE_WIDTH_LIMIT);

	return now > 0 && whole > now ? 1 - now / whole : 0;
}

static int find(const struct evidence *e, struct findings *f)
{
	for (size_t i = 0; i < e->s->n_sensors; i++) {
		const struct session_sensors *on = &e->s->sensors[i];
		double price = e->picked[FINDING_LINK].sums.time_ns * lost_share(&on->of);
		struct finding *finding;

		if (on->of.v[SENSOR_WORKING] < LEAST_LOOKS || !evidence_matters(e, price))
			continue;
		finding = finding_add(f, FINDING_LINK, FINDING_MAYBE, price);
		if (!finding)
			return -ENOMEM;
		finding->at_most = true;
		finding->device = on->device;
		finding_say(finding, "PCIe generation %.0f, %.0f lanes; it can %.0f, %.0f",
			    on->of.v[SENSOR_PCIE_GENERATION], on->of.v[SENSOR_PCIE_WIDTH],
			    on->of.v[SENSOR_PCIE_GENERATION_LIMIT],
			    on->of.v[SENSOR_PCIE_WIDTH_LIMIT]);
		finding_name_nodes(finding, &e->picked[FINDING_LINK]);
	}
	return 0;
}

const struct rule rule_LINK = {
	.title = "the link to the host is below its maximum",
	.advice =
		"Copies between host and device could be faster: the slot, a riser, another card on "
		"the same lanes, or power saving of the link; who runs the machine can tell.",
	.picks = evidence_is_transfer,
	.find = find,
};
