/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <math.h>
#include "core/crowd.h"
#include "findings/rules.h"

/* Something was not measured: every other number is of less than all. One finding a kind. */
static int find(const struct evidence *e, struct findings *f)
{
	char text[LOSS_TEXT_MAX];

	for (unsigned i = 0; i < LOSS_N; i++) {
		uint64_t n = session_loss(e->s, (enum loss)i);
		struct finding *finding;

		if (!n || !loss_is_loss((enum loss)i))
			continue;
		finding = finding_add(f, FINDING_LOSSES, FINDING_MEASURED, NAN);
		if (!finding)
			return -ENOMEM;
		finding_say(finding, "%llu %s", (unsigned long long)n,
			    crowd_loss_text(e->s, (enum loss)i, n, text));
	}
	return 0;
}

const struct rule rule_LOSSES = {
	.title = "not everything was measured",
	.advice = "Numbers are of less than the whole. proton-report(1) says what is missing under "
		  "Losses; proton doctor looks for the reason.",
	.find = find,
};
