/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_USAGE_CHART_H
#define PROTON_TUI_USAGE_CHART_H
/* What was kept of each window of time (tui/usage.h), as charts. */
#include <stdint.h>
#include "tui/chart.h"

struct tui;

/* How long one is. */
uint64_t usage_window_ns(const struct tui *t);
/* full: what a whole column stands for; 0: the highest of them. */
struct chart usage_chart(const struct tui *t, const float *past, double full);

#endif
