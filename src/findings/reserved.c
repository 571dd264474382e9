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

struct looked {
	const struct evidence *e;
	const struct held_list *list;
	const struct held *pool;
	double used; /* the most; NaN: not known */
};

static const char *name_of(const struct looked *l)
{
	return session_node_name(l->e->s, l->pool->node);
}

static bool is_of_torch(const struct looked *l)
{
	return !strcmp(name_of(l), TORCH_POOL);
}

/* Of profiles that tell it of tensors alone. */
static double most_of_tensors(const struct looked *l)
{
	for (size_t i = 0; i < l->list->n; i++) {
		const struct held *h = &l->list->v[i];

		if (!held_is_pool(h) && h->device == l->pool->device &&
		    h->process == l->pool->process &&
		    !strcmp(session_node_name(l->e->s, h->node), ALLOC_TENSORS))
			return h->peak;
	}
	return NAN;
}

static double most_used(const struct looked *l)
{
	return isnan(l->pool->used_peak) && is_of_torch(l) ? most_of_tensors(l)
							   : l->pool->used_peak;
}

static bool is_much(const struct looked *l, double bytes)
{
	return bytes >= LEAST_BYTES && bytes >= LEAST_SHARE_KEPT * l->pool->reserved_peak;
}

static double never_used(const struct looked *l)
{
	return l->pool->reserved_peak - l->used;
}

static void say_size(struct finding *finding, const struct looked *l)
{
	char reserved[HUMAN_MAX], most[HUMAN_MAX], rest[HUMAN_MAX];

	human_bytes(reserved, l->pool->reserved_peak);
	human_bytes(most, l->used);
	human_bytes(rest, never_used(l));
	if (is_of_torch(l))
		finding_say(finding, "PyTorch had %sB of the device, and tensors %sB at most",
			    reserved, most);
	else
		finding_say(finding,
			    "%s had %sB of the device, and %sB of it were allocated at most",
			    name_of(l), reserved, most);
	if (is_much(l, never_used(l)))
		finding_say(finding, ": %sB were never used at a time", rest);
}

/* Where, too. */
static void say_fragmented(struct finding *finding, const struct looked *l)
{
	char times[HUMAN_MAX], bytes[HUMAN_MAX], share[HUMAN_MAX];

	human_count(times, l->pool->fragmented_times);
	human_bytes(bytes, l->pool->fragmented);
	human_percent(share, l->pool->unused / l->pool->reserved_peak);
	finding_say(
		finding,
		"; %s times it grew, by %sB in all, although enough was free; %s%% was free when "
		"it had most",
		times, bytes, share);
	finding_name_of_pool(finding, l->e, l->pool, METRIC_FRAGMENTED);
}

static const char *advice_of(const struct looked *l)
{
	if (is_of_torch(l))
		return NULL;
	if (l->pool->fragmented > 0)
		return "Its holes are too small for what is asked for, or another stream has not come to "
		       "their release: fewer different sizes, the largest first, and a pool of its "
		       "own (cudaMemPoolCreate) for what stays.";
	return "It keeps what is free: a lower cudaMemPoolAttrReleaseThreshold, or "
	       "cudaMemPoolTrimTo() where others need it.";
}

/* Bytes are no time: the price is 0. */
static int say(struct findings *f, const struct looked *l)
{
	struct finding *finding = finding_add(f, FINDING_RESERVED, FINDING_MEASURED, 0);

	if (!finding)
		return -ENOMEM;
	finding->device = l->pool->device;
	finding->advice = advice_of(l);
	say_size(finding, l);
	if (l->pool->fragmented > 0)
		say_fragmented(finding, l);
	return 0;
}

static int look(const struct evidence *e, const struct held_list *list, struct findings *f)
{
	for (size_t i = 0; i < list->n; i++) {
		struct looked l = {.e = e, .list = list, .pool = &list->v[i]};

		if (!held_is_pool(l.pool))
			continue;
		l.used = most_used(&l);
		if ((is_much(&l, never_used(&l)) || is_much(&l, l.pool->fragmented)) &&
		    say(f, &l) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int find(const struct evidence *e, struct findings *f)
{
	struct held_list list = {0};
	int r = held_make(&list, e->s);

	if (r == 0)
		r = look(e, &list, f);
	held_done(&list);
	return r;
}

const struct rule rule_RESERVED = {
	.title = "an allocator has much more memory than is used",
	.advice =
		"Blocks that are kept do not fit what is asked for: "
		"PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True (PYTORCH_ALLOC_CONF where it is new), "
		"fewer different sizes, or no torch.cuda.empty_cache() in between.",
	.find = find,
};
