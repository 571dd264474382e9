/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <math.h>
#include "base/human.h"
#include "findings/launch_costs.h"

#define CONFLICTS   "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"
#define LEAST_RATIO 0.1 /* of the time: less is also counted where accesses only meet */

/* Each takes a cycle of the multiprocessor's shared memory; as if all multiprocessors had as many. */
static double share(const struct evidence *e, uint32_t node, double *ret_ratio)
{
	uint32_t conflicts = metric_table_find(e->s->metrics, CONFLICTS), device;
	double n = conflicts == METRIC_NONE ? 0 : evidence_sum(e, node, conflicts);
	double seconds = evidence_sum(e, node, e->measured.time) * 1e-9;
	const struct session_device *d;

	if (!(n > 0) || !(seconds > 0))
		return 0;
	device = session_lane_at(e->s, e->s->rows[session_first_row(e->s, node)].lane)->device;
	if (device >= e->s->n_devices)
		return 0;
	d = &e->s->devices[device];
	if (!d->num_sms || !d->clock_khz)
		return 0;
	*ret_ratio = fmin(n / (d->num_sms * (d->clock_khz * 1e3) * seconds), 1);
	return *ret_ratio >= LEAST_RATIO ? *ret_ratio : 0;
}

static void say(struct finding *finding, const struct launch_costs *costs)
{
	char count[HUMAN_THINGS_MAX], time[HUMAN_MAX], ratio[HUMAN_MAX];

	human_things(count, costs->n, "kernel");
	human_time_ns(time, costs->time_ns);
	human_percent(ratio, costs->mean);
	finding_say(finding, "%s in %s; conflicts take shared memory %s %% of the time on average",
		    count, time, ratio);
}

static int find(const struct evidence *e, struct findings *f)
{
	static const struct counted_rule rule = {share, say};

	return find_counted(e, FINDING_BANK_CONFLICTS, &rule, f);
}

const struct rule rule_BANK_CONFLICTS = {
	.title = "threads of a warp meet in banks of shared memory",
	.advice =
		"Words that are 32 apart are in one bank, which gives them one after another: a row of "
		"33 words in place of 32 (padding), or indices that are mixed (swizzling), spread "
		"them. report --view source of a run with --pc-sampling has the lines that wait for "
		"it.",
	.find = find,
};
