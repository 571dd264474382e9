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
static bool is_pageable(const struct evidence *e, const struct own *own)
{
	return own->kind == FRAME_COPY &&
	       strcasestr(session_node_name(e->s, own->node), "pageable");
}

static bool is_pinned(const struct evidence *e, const struct own *own)
{
	return own->kind == FRAME_COPY && own->sums.bytes / own->sums.count >= PINNED_MEAN &&
	       strcasestr(session_node_name(e->s, own->node), "pinned");
}

/* How fast long copies of pinned memory were, bytes a nanosecond. 0: there were none. */
static double pinned_rate(const struct evidence *e)
{
	double bytes = 0, time_ns = 0;

	for (size_t i = 0; i < e->n_own; i++) {
		if (!is_pinned(e, &e->own[i]))
			continue;
		bytes += e->own[i].sums.bytes;
		time_ns += e->own[i].sums.time_ns;
	}
	return time_ns > 0 ? bytes / time_ns : 0;
}

static int find(const struct evidence *e, struct findings *f)
{
	const struct picked *picked = &e->picked[FINDING_PAGEABLE];
	const struct sums sums = picked->sums;
	double rate = sums.time_ns > 0 ? pinned_rate(e) : 0;
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
	finding_say_hidden(finding, e);
	finding_name_nodes(finding, picked);
	return 0;
}

const struct rule rule_PAGEABLE = {
	.title = "copies of pageable memory",
	.advice =
		"The driver copies them twice, and the host waits: pin the memory (cudaHostAlloc, "
		"pin_memory=True) and copy with non_blocking=True.",
	.picks = is_pageable,
	.find = find,
};
