/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/usage_chart.h"
#include "base/util.h"
#include "tui/tui_impl.h"

uint64_t usage_window_ns(const struct tui *t)
{
	return t->options.interval_ns ? t->options.interval_ns : NSEC_PER_SEC;
}

struct chart usage_chart(const struct tui *t, const float *past, double full)
{
	return (struct chart){.v = past,
			      .size = USAGE_PAST,
			      .n = t->usage.n_windows,
			      .most = (size_t)(CHART_PAST_NS / usage_window_ns(t)),
			      .full = full};
}
