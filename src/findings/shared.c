/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <math.h>
#include "base/human.h"
#include "findings/rules.h"

bool evidence_is_shared(const struct evidence *e, uint32_t device)
{
	const struct sensors *s = session_sensors_find(e->s, device);

	return s && s->v[SENSOR_OTHERS] >= LEAST_LOOKS && s->v[SENSOR_OTHERS_MAX] > 0;
}

/* Others have it, too: how much of it they take is not seen, so all times may be longer than alone. */
static int find(const struct evidence *e, struct findings *f)
{
	char share[HUMAN_MAX];

	for (size_t i = 0; i < e->s->n_sensors; i++) {
		const double *v = e->s->sensors[i].of.v;
		struct finding *finding;

		if (!evidence_is_shared(e, e->s->sensors[i].device))
			continue;
		finding = finding_add(f, FINDING_SHARED, FINDING_LIKELY, NAN);
		if (!finding)
			return -ENOMEM;
		finding->device = e->s->sensors[i].device;
		human_percent(share, fmin(v[SENSOR_OTHERS] / v[SENSOR_LOOKS], 1));
		finding_say(finding, "%.0f other process%s there, for %s%% of the time",
			    v[SENSOR_OTHERS_MAX], v[SENSOR_OTHERS_MAX] == 1 ? "" : "es", share);
	}
	return 0;
}

const struct rule rule_SHARED = {
	.title = "somebody else uses the GPU",
	.advice =
		"Times may be longer than they would be alone. nvidia-smi says who it is; measure "
		"again when they have gone.",
	.find = find,
};
