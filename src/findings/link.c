/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <math.h>
#include <string.h>
#include "base/human.h"
#include "core/activity.h"
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

static double sum_on(const struct session *s, uint32_t node, uint32_t device, uint32_t metric)
{
	double sum = 0;

	for (uint32_t row = session_first_row(s, node); row != SESSION_NONE;
	     row = session_next_row(s, row)) {
		double v = session_row_number(s, &s->rows[row], metric);

		if (session_lane_at(s, s->rows[row].lane)->device == device && v > 0)
			sum += v;
	}
	return sum;
}

/* This device's copies from and to the host; of the sums, their time on it. */
static struct picked copies_of(const struct evidence *e, uint32_t device)
{
	struct picked picked = {.n_longest = 0};

	for (size_t i = 0; i < e->n_own; i++) {
		double time = is_with_host(e, &e->own[i])
				      ? sum_on(e->s, e->own[i].node, device, METRIC_TIME)
				      : 0;

		if (time > 0)
			picked_insert(&picked, &e->own[i]);
		picked.sums.time_ns += time;
	}
	return picked;
}

/* By sensors: what the whole link would save. */
static int find_narrow(const struct evidence *e, const struct session_sensors *on,
		       struct findings *f)
{
	struct picked copies = copies_of(e, on->device);
	double price = copies.sums.time_ns * lost_share(&on->of);
	struct finding *finding;

	if (on->of.v[SENSOR_WORKING] < LEAST_LOOKS || !evidence_matters(e, price))
		return 0;
	finding = finding_add(f, FINDING_LINK, FINDING_MAYBE, price);
	if (!finding)
		return -ENOMEM;
	finding->at_most = true;
	finding->device = on->device;
	finding_say(finding, "PCIe generation %.0f, %.0f lanes; it can %.0f, %.0f",
		    on->of.v[SENSOR_PCIE_GENERATION], on->of.v[SENSOR_PCIE_WIDTH],
		    on->of.v[SENSOR_PCIE_GENERATION_LIMIT], on->of.v[SENSOR_PCIE_WIDTH_LIMIT]);
	finding_name_nodes(finding, &copies);
	return 0;
}

/* ---- against what was measured ---- */

#define LONG_MEAN  1048576 /* bytes: copies as long as this show what the link can do */
#define SLOW_RATIO 0.8

/* Copies of pinned memory one way on a device. */
struct way {
	double bytes, time_ns;
	struct picked picked;
};

static struct way way_of(const struct evidence *e, uint32_t device, unsigned direction)
{
	struct way way = {.bytes = 0};

	for (size_t i = 0; i < e->n_own; i++) {
		const struct own *own = &e->own[i];
		const char *name = session_node_name(e->s, own->node);
		double time;

		if (own->kind != FRAME_COPY || copy_direction_of(name) != direction ||
		    !strcasestr(name, "pinned") || own->sums.bytes < LONG_MEAN * own->sums.count)
			continue;
		time = sum_on(e->s, own->node, device, METRIC_TIME);
		if (!(time > 0))
			continue;
		way.time_ns += time;
		way.bytes += sum_on(e->s, own->node, device, METRIC_BYTES);
		picked_insert(&way.picked, own);
	}
	return way;
}

static int say_slow(struct findings *f, const struct way *way, uint32_t device, double measured,
		    bool is_down, double price)
{
	struct finding *finding = finding_add(f, FINDING_LINK, FINDING_LIKELY, price);
	char rate[HUMAN_MAX], best[HUMAN_MAX];

	if (!finding)
		return -ENOMEM;
	finding->at_most = true;
	finding->device = device;
	human_rate(rate, way->bytes / way->time_ns);
	human_rate(best, measured / 1e9);
	finding_say(finding, "long pinned copies %s it at %s GB/s; proton doctor measured %s",
		    is_down ? "to" : "from", rate, best);
	finding_name_nodes(finding, &way->picked);
	return 0;
}

static int find_slow(const struct evidence *e, uint32_t device, bool is_down, struct findings *f)
{
	double measured = peaks_measured(e->peaks, e->s, device,
					 is_down ? MEASURED_TO_DEVICE : MEASURED_TO_HOST);
	struct way way;
	double ratio, price;

	if (isnan(measured))
		return 0;
	way = way_of(e, device, is_down ? COPY_HOST_TO_DEVICE : COPY_DEVICE_TO_HOST);
	ratio = way.bytes / way.time_ns * 1e9 / measured;
	price = way.time_ns * (1 - ratio);
	if (!(ratio < SLOW_RATIO) || !evidence_matters(e, price))
		return 0;
	return say_slow(f, &way, device, measured, is_down, price);
}

/* What was measured says more than lanes and generations. */
static int find(const struct evidence *e, struct findings *f)
{
	int r = 0;

	for (uint32_t i = 0; i < e->s->n_devices && r == 0; i++) {
		r = find_slow(e, i, true, f);
		r = r ? r : find_slow(e, i, false, f);
	}
	for (size_t i = 0; i < e->s->n_sensors && r == 0; i++)
		if (isnan(peaks_measured(e->peaks, e->s, e->s->sensors[i].device,
					 MEASURED_TO_DEVICE)))
			r = find_narrow(e, &e->s->sensors[i], f);
	return r;
}

const struct rule rule_LINK = {
	.title = "the link to the host is below its maximum",
	.advice =
		"Copies between host and device could be faster: the slot, a riser, another card on "
		"the same lanes, or power saving of the link; who runs the machine can tell.",
	.find = find,
};
