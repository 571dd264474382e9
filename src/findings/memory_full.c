/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include "base/human.h"
#include "findings/rules.h"

#define FULL_SHARE 0.95

/* It costs nothing until an allocation fails: the price is 0. */
static int find(const struct evidence *e, struct findings *f)
{
	char used[HUMAN_MAX], total[HUMAN_MAX];

	for (size_t i = 0; i < e->s->n_sensors; i++) {
		const double *v = e->s->sensors[i].of.v;
		struct finding *finding;

		if (!(v[SENSOR_MEMORY_TOTAL] > 0) ||
		    v[SENSOR_MEMORY_MAX] < FULL_SHARE * v[SENSOR_MEMORY_TOTAL])
			continue;
		finding = finding_add(f, FINDING_MEMORY_FULL, FINDING_MEASURED, 0);
		if (!finding)
			return -ENOMEM;
		finding->device = e->s->sensors[i].device;
		human_bytes(used, v[SENSOR_MEMORY_MAX]);
		human_bytes(total, v[SENSOR_MEMORY_TOTAL]);
		finding_say(finding, "%sB of %sB used at most, by all who use it", used, total);
	}
	return 0;
}

const struct rule rule_MEMORY_FULL = {
	.title = "the memory of the GPU is nearly full",
	.advice =
		"The next allocation may fail, and allocators of frameworks free and ask again, which "
		"waits for the device. Smaller batches, recomputing, smaller types.",
	.find = find,
};
