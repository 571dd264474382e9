/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <stdlib.h>
#include "base/human.h"
#include "findings/rules.h"

#define LEAST_GROWN 0.25 /* of what a step copies, over the steps in which it grows */

/* Copies of a direction, or two. */
struct way {
	const char *words;
	unsigned directions[2];
	size_t bytes; /* place in struct stepped */
};

static const struct way ways[] = {
	{"from host to device",
	 {COPY_HOST_TO_DEVICE, COPY_HOST_TO_DEVICE},
	 offsetof(struct stepped, to_device)},
	{"from device to host",
	 {COPY_DEVICE_TO_HOST, COPY_DEVICE_TO_HOST},
	 offsetof(struct stepped, to_host)},
	{"within and between devices",
	 {COPY_DEVICE_TO_DEVICE, COPY_PEER_TO_PEER},
	 offsetof(struct stepped, within)},
};

static const struct stepped_bytes *bytes_of(const struct stepped *of, const struct way *way)
{
	return (const void *)((const char *)of + way->bytes);
}

static bool is_of(const struct evidence *e, const struct own *own, const struct way *way)
{
	unsigned direction = own->kind == FRAME_COPY
				     ? copy_direction_of(session_node_name(e->s, own->node))
				     : COPY_UNKNOWN;

	return direction && (direction == way->directions[0] || direction == way->directions[1]);
}

/* What it would take less, did a step copy what it did in the beginning. */
static double price_of(const struct evidence *e, const struct stepped_bytes *b,
		       const struct way *way)
{
	double time_ns = 0, more = b->growth * b->known / 2;

	for (size_t i = 0; i < e->n_own; i++)
		if (is_of(e, &e->own[i], way))
			time_ns += e->own[i].sums.time_ns;
	return time_ns * fmin(more / b->mean, 1);
}

static bool grows(const struct stepped_bytes *b)
{
	return stepped_bytes_grow(b) && b->growth * b->known >= LEAST_GROWN * b->mean;
}

static int say(const struct evidence *e, struct findings *f, const struct stepped *of,
	       const struct way *way)
{
	const struct stepped_bytes *b = bytes_of(of, way);
	struct finding *finding =
		finding_add(f, FINDING_GROWING_COPIES, FINDING_LIKELY, price_of(e, b, way));
	char mean[HUMAN_MAX], max[HUMAN_MAX];
	struct most most = {.n = 0};

	if (!finding)
		return -ENOMEM;
	human_bytes(mean, b->mean);
	human_bytes(max, b->max);
	finding_say(finding, "%s: ", way->words);
	finding_say_growth(finding, e, of, b);
	finding_say(finding, "; %sB a step on average, %sB at most", mean, max);
	if (stepped_misses_copies(e->s))
		finding_say(finding, "; " STEPPED_MISSES_COPIES);
	finding->at_most = true;
	for (size_t i = 0; i < e->n_own; i++)
		if (is_of(e, &e->own[i], way))
			most_insert(&most, e->own[i].node, e->own[i].sums.bytes);
	finding_name_most(finding, &most);
	return 0;
}

/* Of the likeliest loop. */
static int find(const struct evidence *e, struct findings *f)
{
	uint32_t n;
	_cleanup_(freep) struct stepped *v = stepped_new(e->s, &n);
	int r = 0;

	for (size_t i = 0; n && r == 0 && i < ARRAY_SIZE(ways); i++) {
		const struct stepped_bytes *b = bytes_of(v, &ways[i]);

		if (grows(b) && evidence_matters(e, price_of(e, b, &ways[i])))
			r = say(e, f, v, &ways[i]);
	}
	return r;
}

const struct rule rule_GROWING_COPIES = {
	.title = "more is copied with each step",
	.advice =
		"A buffer that grows is copied as a whole each time, where what is new would do: keep the "
		"rest on the device, or copy only what was added.",
	.find = find,
};
