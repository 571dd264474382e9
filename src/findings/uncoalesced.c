/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "base/human.h"
#include "findings/launch_costs.h"

/* Sectors of 32 bytes that an access of a warp takes: 4 where its threads take 4 bytes each, one behind another, and 16
 * where they take as much as they can. What takes more is not one behind another, whatever it takes. */
#define SECTORS_WIDEST   16
#define SECTORS_USUAL    4
#define SLACK            1.05

#define GLOBAL(what, op) "l1tex__t_" what "_pipe_lsu_mem_global_op_" op ".sum"

static double share(const struct evidence *e, uint32_t node, double *ret_sectors)
{
	static const char *const names[][2] = {{GLOBAL("requests", "ld"), GLOBAL("sectors", "ld")},
					       {GLOBAL("requests", "st"), GLOBAL("sectors", "st")}};
	const struct metric_table *metrics = e->s->metrics;
	double requests = 0, sectors = 0;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		uint32_t of = metric_table_find(metrics, names[i][0]),
			 took = metric_table_find(metrics, names[i][1]);

		if (of == METRIC_NONE || took == METRIC_NONE)
			continue;
		requests += evidence_sum(e, node, of);
		sectors += evidence_sum(e, node, took);
	}
	if (!(sectors > SLACK * SECTORS_WIDEST * requests) || !(requests > 0))
		return 0;
	*ret_sectors = sectors / requests;
	return 1 - SECTORS_USUAL / *ret_sectors;
}

static void say(struct finding *finding, const struct launch_costs *costs)
{
	char count[HUMAN_THINGS_MAX], time[HUMAN_MAX];

	human_things(count, costs->n, "kernel");
	human_time_ns(time, costs->time_ns);
	finding_say(finding,
		    "%s in %s; an access of a warp to global memory takes %.1f pieces of 32 bytes "
		    "on average, where 4 to %d would do",
		    count, time, costs->mean, SECTORS_WIDEST);
}

static int find(const struct evidence *e, struct findings *f)
{
	static const struct counted_rule rule = {share, say};

	return find_counted(e, FINDING_UNCOALESCED, &rule, f);
}

const struct rule rule_UNCOALESCED = {
	.title = "threads of a warp access memory far apart",
	.advice =
		"Neighbouring threads should take neighbouring words (coalesced): swap loops or "
		"indices, store arrays of fields in place of an array of structures, or go through "
		"shared memory. report --view source of a run with --pc-sampling has the lines that "
		"wait for it.",
	.find = find,
};
