/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_COUNTER_PAST_H
#define PROTON_TUI_COUNTER_PAST_H
/* The past of a device's hardware counters as charts: while they come of the last two minutes, else of the whole run. */
#include "core/counted.h"
#include "tui/draw.h"

struct tui;

/* One of them in so many columns. */
void counter_past_draw(const struct tui *t, struct pen *pen, uint32_t device, enum counter_id id,
		       int width);

#endif
