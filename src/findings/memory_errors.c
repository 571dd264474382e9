/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <math.h>
#include "findings/rules.h"

static int find(const struct evidence *e, struct findings *f)
{
	for (size_t i = 0; i < e->s->n_sensors; i++) {
		double errors = e->s->sensors[i].of.v[SENSOR_ERRORS];
		struct finding *finding;

		if (!(errors > 0))
			continue;
		finding = finding_add(f, FINDING_MEMORY_ERRORS, FINDING_MEASURED, NAN);
		if (!finding)
			return -ENOMEM;
		finding->device = e->s->sensors[i].device;
		finding_say(finding, "%.0f error%s that could not be corrected, during the run",
			    errors, errors == 1 ? "" : "s");
	}
	return 0;
}

const struct rule rule_MEMORY_ERRORS = {
	.title = "the memory of the GPU has errors",
	.advice = "Do not trust results of this run, and give the device to who runs the machine "
		  "(nvidia-smi -q -d ECC,ROW_REMAPPER).",
	.find = find,
};
