/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_COUNTER_PAST_H
#define PROTON_TUI_COUNTER_PAST_H
/* The past of a device's hardware counters as charts: while they come of the last two minutes, else of the whole run. */
#include "core/counted.h"
#include "tui/draw.h"

struct tui;

/* The sum of n of them, which have one unit, in so many columns, of which the last is blank. */
void counter_past_draw(const struct tui *t, struct pen *pen, uint32_t device,
		       const enum counter_id *ids, unsigned n, int width);

#endif
