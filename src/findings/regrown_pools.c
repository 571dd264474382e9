/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <string.h>
#include "base/human.h"
#include "core/held.h"
#include "findings/rules.h"

#define LEAST_TIMES 4 /* all that it ever had at a time */
#define LEAST_BYTES 1e9

static bool is_regrown(const struct held *pool)
{
	return held_is_pool(pool) && pool->grown >= LEAST_BYTES &&
	       pool->grown >= LEAST_TIMES * pool->reserved_peak;
}

/* What the driver took for it is not known. */
static int say(const struct evidence *e, struct findings *f, const struct held *pool)
{
	struct finding *finding = finding_add(f, FINDING_REGROWN_POOLS, FINDING_MEASURED, 0);
	const char *name = session_node_name(e->s, pool->node);
	char grown[HUMAN_MAX], most[HUMAN_MAX];

	if (!finding)
		return -ENOMEM;
	human_bytes(grown, pool->grown);
	human_bytes(most, pool->reserved_peak);
	finding->device = pool->device;
	if (!strcmp(name, TORCH_POOL))
		finding->advice =
			"No torch.cuda.empty_cache() in between. Where memory is short PyTorch gives "
			"back all that is free before it takes more: smaller batches.";
	finding_say(finding, "%s took %sB of the device in all, and never had more than %sB", name,
		    grown, most);
	finding_name_of_pool(finding, e, pool, METRIC_POOL_GROWN);
	return 0;
}

static int find(const struct evidence *e, struct findings *f)
{
	struct held_list list = {0};
	int r = held_make(&list, e->s);

	for (size_t i = 0; i < list.n && r == 0; i++)
		if (is_regrown(&list.v[i]))
			r = say(e, f, &list.v[i]);
	held_done(&list);
	return r;
}

const struct rule rule_REGROWN_POOLS = {
	.title = "a pool gives memory back that it takes again",
	.advice =
		"By default a pool gives back what is free whenever something waits for the device: "
		"let it keep what it needs (cudaMemPoolSetAttribute(), cudaMemPoolAttrReleaseThreshold).",
	.find = find,
};
