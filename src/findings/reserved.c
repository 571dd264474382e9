/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <math.h>
#include <string.h>
#include "base/human.h"
#include "core/held.h"
#include "findings/rules.h"

/* An allocator rounds up, and keeps some for later on purpose. */
#define LEAST_SHARE_KEPT 0.2
#define LEAST_BYTES      256e6

static bool is_of_torch(const struct session *s, const struct held *h)
{
	return held_is_pool(h) && !strcmp(session_node_name(s, h->node), TORCH_POOL);
}

/* The most that tensors had on the device of a pool, in its process; NaN: not known. */
static double most_used(const struct session *s, const struct held_list *list,
			const struct held *pool)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct held *h = &list->v[i];

		if (!held_is_pool(h) && h->device == pool->device && h->process == pool->process &&
		    !strcmp(session_node_name(s, h->node), ALLOC_TENSORS))
			return h->peak;
	}
	return NAN;
}

/* Bytes are no time: the price is 0. */
static int say(struct findings *f, const struct held *pool, double used)
{
	struct finding *finding = finding_add(f, FINDING_RESERVED, FINDING_MEASURED, 0);
	char reserved[HUMAN_MAX], most[HUMAN_MAX], rest[HUMAN_MAX];

	if (!finding)
		return -ENOMEM;
	finding->device = pool->device;
	human_bytes(reserved, pool->reserved_peak);
	human_bytes(most, used);
	human_bytes(rest, pool->reserved_peak - used);
	finding_say(finding,
		    "PyTorch had %sB of the device, and tensors %sB at most: %sB were never used "
		    "at a time",
		    reserved, most, rest);
	return 0;
}

static int look(const struct session *s, const struct held_list *list, struct findings *f)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct held *pool = &list->v[i];
		double used = is_of_torch(s, pool) ? most_used(s, list, pool) : NAN;
		double rest = pool->reserved_peak - used;

		if (rest >= LEAST_BYTES && rest >= LEAST_SHARE_KEPT * pool->reserved_peak &&
		    say(f, pool, used) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int find(const struct evidence *e, struct findings *f)
{
	struct held_list list = {0};
	int r = held_make(&list, e->s);

	if (r == 0)
		r = look(e->s, &list, f);
	held_done(&list);
	return r;
}

const struct rule rule_RESERVED = {
	.title = "an allocator has much more memory than tensors use",
	.advice =
		"Blocks that are kept do not fit what is asked for: fewer different sizes, "
		"PYTORCH_ALLOC_CONF=expandable_segments:True, or no torch.cuda.empty_cache() in between.",
	.find = find,
};
