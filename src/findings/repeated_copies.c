/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "base/human.h"
#include "findings/rules.h"

#define LEAST_COMPARED 3
#define SAME_SHARE     0.9
#define IN_EACH        0.9 /* so many a step, or more, are in each */

/* Of the copies of a node that repeat another one: how many, and of those that were compared. */
struct repeats {
	double again, compared, same;
};

static struct repeats repeats_of(const struct evidence *e, const struct own *own)
{
	return (struct repeats){evidence_sum(e, own->node, METRIC_AGAIN),
				evidence_sum(e, own->node, METRIC_COMPARED),
				evidence_sum(e, own->node, METRIC_SAME)};
}

static bool is_repeated(const struct evidence *e, const struct own *own)
{
	struct repeats r = {0};

	if (own->kind == FRAME_COPY)
		r = repeats_of(e, own);
	return r.compared >= LEAST_COMPARED && r.same >= SAME_SHARE * r.compared;
}

/* How many of them there are in each step of the likeliest loop, where that is so. */
static void say_steps(const struct evidence *e, struct finding *finding, double again)
{
	uint32_t n;
	_cleanup_(freep) struct stepped *v = stepped_new(e->s, &n);
	char name[STEPPED_NAME], each[HUMAN_MAX];

	if (!n || again < IN_EACH * v->n)
		return;
	human_count(each, round(again / v->n));
	finding_say(finding, "; %s with each step ('%.40s')", each, stepped_name(e->s, v, name));
}

static int find(const struct evidence *e, struct findings *f)
{
	struct repeats all = {0};
	char count[HUMAN_MAX], bytes[HUMAN_MAX];
	struct finding *finding;
	double price_ns = 0, moved = 0;

	for (size_t i = 0; i < e->n_own; i++) {
		const struct own *own = &e->own[i];
		struct repeats r;
		double share;

		if (!is_repeated(e, own))
			continue;
		r = repeats_of(e, own);
		share = MIN(r.again / own->sums.count, 1) * (r.same / r.compared);
		price_ns += own->sums.time_ns * share;
		moved += own->sums.bytes * share;
		all.again += r.again;
		all.compared += r.compared;
		all.same += r.same;
	}
	if (!evidence_matters(e, price_ns))
		return 0;
	finding = finding_add(f, FINDING_REPEATED_COPIES, FINDING_LIKELY, price_ns);
	if (!finding)
		return -ENOMEM;
	human_count(count, all.again);
	human_bytes(bytes, moved);
	finding_say(finding,
		    "%s copies (%sB) from and to the same places as before; what was looked at had "
		    "not changed %.0f times of %.0f",
		    count, bytes, all.same, all.compared);
	say_steps(e, finding, all.again);
	finding_name_nodes(finding, &e->picked[FINDING_REPEATED_COPIES]);
	return 0;
}

const struct rule rule_REPEATED_COPIES = {
	.title = "the same is copied again and again",
	.advice = "Copy it once and keep it on the device, or copy only what has changed.",
	.picks = is_repeated,
	.find = find,
};
