/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/change.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "core/pair.h"

double change_of(double before, double now)
{
	double delta = pair_delta(before, now);

	return delta == 0 || isnan(delta) ? delta
	       : before > 0               ? delta / before
					  : copysign(INFINITY, delta);
}

void change_print(double before, double now, char out[HUMAN_MAX])
{
	double change = change_of(before, now);

	if (isnan(now) && !isnan(before))
		memcpy(out, "gone", sizeof("gone"));
	else if (isinf(change))
		memcpy(out, "new", sizeof("new"));
	else if (isnan(change) || fabs(change) < 0.0005)
		out[0] = '\0';
	else if (fabs(change) < 99.995)
		snprintf(out, HUMAN_MAX, "%+.1f%%", change * 100);
	else
		snprintf(out, HUMAN_MAX, "%+.3gx", change);
}

void change_print_delta(const struct column_spec *spec, const struct session *s, double delta,
			char out[COLUMN_TEXT])
{
	char text[COLUMN_TEXT];

	column_print(spec, s, delta, false, text);
	snprintf(out, COLUMN_TEXT, "%s%.*s", delta > 0 ? "+" : "", COLUMN_TEXT - 2, text);
}
