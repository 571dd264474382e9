/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_COUNTER_PAST_H
#define PROTON_TUI_COUNTER_PAST_H
/* The past of a device's hardware counters as charts: while they come of the last two minutes, else of the whole run; and
 * of what its sensors said at each picture, which is not kept in profiles. */
#include "core/counted.h"
#include "core/sensors.h"
#include "tui/draw.h"

struct tui;

/* The sum of n of them, which have one unit, in so many columns, of which the last is blank. */
void counter_past_draw(const struct tui *t, struct pen *pen, uint32_t device,
		       const enum counter_id *ids, unsigned n, int width);
/* limit: what a full column stands for, where that is told; else and for SENSOR_N the highest of them. */
void sensor_past_draw(const struct tui *t, struct pen *pen, uint32_t device, enum sensor sensor,
		      enum sensor limit, int width);

#endif
