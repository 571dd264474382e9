/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_COUNTER_METERS_H
#define PROTON_TUI_COUNTER_METERS_H
/* What a device's hardware counters say, on a line: while they come as meters, numbers of now with their past; else in
 * words, of the whole run. */
#include <stdbool.h>
#include "tui/draw.h"
#include "tui/sensor_texts.h"

/* How many there are; 0: nothing is known. */
unsigned counter_texts(const struct tui *t, uint32_t device, struct sensor_text out[SENSOR_TEXTS]);

/* What has room of "SM 62% ▁▃▅▆  tensor 50% ▁▂▃▄  …" in the rest of the line. False: they do not come just now. */
bool counter_meters_draw(const struct tui *t, struct pen *pen, uint32_t device);
/* " SM 62% ▁▃▅▆" of a device that shares its line with others, in so many columns; false as above. */
bool counter_meters_put_first(const struct tui *t, struct pen *pen, uint32_t device, int width);

#endif
