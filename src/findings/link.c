/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <math.h>
#include <string.h>
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

/* Between devices there are other links, and within the host none. */
static bool is_with_host(const struct evidence *e, const struct own *own)
{
	const char *name = session_node_name(e->s, own->node);

	return own->kind == FRAME_COPY && (strcasestr(name, "HtoD") || strcasestr(name, "DtoH"));
}

static double time_on(const struct session *s, uint32_t node, uint32_t device)
{
	double sum = 0;

	for (uint32_t row = session_first_row(s, node); row != SESSION_NONE;
	     row = session_next_row(s, row)) {
		double time = session_row_number(s, &s->rows[row], METRIC_TIME);

		if (session_lane_at(s, s->rows[row].lane)->device == device && time > 0)
			sum += time;
	}
	return sum;
}

/* This device's copies from and to the host; of the sums, their time on it. */
static struct picked copies_of(const struct evidence *e, uint32_t device)
{
	struct picked picked = {.n_longest = 0};

	for (size_t i = 0; i < e->n_own; i++) {
		double time =
			is_with_host(e, &e->own[i]) ? time_on(e->s, e->own[i].node, device) : 0;

		if (time > 0)
			picked_insert(&picked, &e->own[i]);
		picked.sums.time_ns += time;
	}
	return picked;
}

static int find(const struct evidence *e, struct findings *f)
{
	for (size_t i = 0; i < e->s->n_sensors; i++) {
		const struct session_sensors *on = &e->s->sensors[i];
		struct picked copies = copies_of(e, on->device);
		double price = copies.sums.time_ns * lost_share(&on->of);
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
		finding_name_nodes(finding, &copies);
	}
	return 0;
}

const struct rule rule_LINK = {
	.title = "the link to the host is below its maximum",
	.advice =
		"Copies between host and device could be faster: the slot, a riser, another card on "
		"the same lanes, or power saving of the link; who runs the machine can tell.",
	.find = find,
};
