/* SPDX-License-Identifier: MIT */
#ifndef PROTON_FINDINGS_LAUNCH_COSTS_H
#define PROTON_FINDINGS_LAUNCH_COSTS_H
/* What kernels may lose by how they are launched, or by what was counted of them: each rule says which launches, or
 * kernels, it is about, and how large a share of their time at the most. */
#include "core/occupancy.h"
#include "findings/rules.h"

/* Of all launches that a rule is about. */
struct launch_costs {
	double cost_ns, time_ns, n;
	double mean, most; /* of the rule's figure: by time, and the largest */
};

struct launch_rule {
	/* The share of its time that it may lose; 0, or NaN: the rule is not about it. */
	double (*share)(const struct session *s, const struct session_config *c,
			const struct occupancy *is);
	double (*figure)(const struct session_config *c, const struct occupancy *is);
	void (*say)(struct finding *finding, const struct launch_costs *costs);
	bool same_bytes; /* it moves as many without the loss: what device memory takes for them stays */
};

/* By metrics that record --metrics counted of launches, of which as much is said as of all. */
struct counted_rule {
	/* The share of its time that a kernel may lose, and the rule's figure; 0, or NaN: the rule is not about it. */
	double (*share)(const struct evidence *e, uint32_t node, double *ret_figure);
	void (*say)(struct finding *finding, const struct launch_costs *costs);
};

int find_counted(const struct evidence *e, enum finding_rule id, const struct counted_rule *rule,
		 struct findings *f);

/* 0 or -ENOMEM, as the one above. */
int find_launches(const struct evidence *e, enum finding_rule id, const struct launch_rule *rule,
		  struct findings *f);

#endif
