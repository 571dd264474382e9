/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>
#include "base/human.h"
#include "findings/rules.h"

#define PINNED_MEAN 262144 /* bytes: copies as long as this show what the link can do */

/* Ours are "memcpy HtoD pageable", those of traces "Memcpy HtoD (Pageable -> Device)". */
static bool is_pageable(const struct evidence *e, uint32_t node)
{
	return evidence_is(e, node, FRAME_COPY) &&
	       strcasestr(session_node_name(e->s, node), "pageable");
}

static bool is_pinned(const struct evidence *e, uint32_t node)
{
	return evidence_is(e, node, FRAME_COPY) &&
	       strcasestr(session_node_name(e->s, node), "pinned") &&
	       e->nodes[node].bytes / e->nodes[node].count >= PINNED_MEAN;
}

static int find(const struct evidence *e, struct findings *f)
{
	struct sums sums = evidence_sum(e, is_pageable), pinned = evidence_sum(e, is_pinned);
	double rate = pinned.time_ns > 0 ? pinned.bytes / pinned.time_ns : 0;
	double price = rate > 0 ? sums.time_ns - sums.bytes / rate : sums.time_ns;
	char time[HUMAN_MAX], bytes[HUMAN_MAX], speed[HUMAN_MAX];
	struct finding *finding;

	if (!evidence_matters(e, price))
		return 0;
	finding = finding_add(f, FINDING_PAGEABLE, rate > 0 ? FINDING_MEASURED : FINDING_LIKELY,
			      price);
	if (!finding)
		return -ENOMEM;
	finding->at_most = !(rate > 0);
	human_time_ns(time, sums.time_ns);
	human_bytes(bytes, sums.bytes);
	human_rate(speed, sums.bytes / sums.time_ns);
	finding_say(finding, "%sB in %s, %s GB/s", bytes, time, speed);
	human_rate(speed, rate);
	if (rate > 0)
		finding_say(finding, "; pinned copies of this run: %s GB/s", speed);
	finding_name_nodes(finding, e, is_pageable);
	return 0;
}

const struct rule rule_PAGEABLE = {
	.title = "copies of pageable memory",
	.advice =
		"The driver copies them twice, and the host waits: pin the memory (cudaHostAlloc, "
		"pin_memory=True) and copy with non_blocking=True.",
	.find = find,
};
