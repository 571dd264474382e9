/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_SENSOR_METERS_H
#define PROTON_TUI_SENSOR_METERS_H
/* What a device's sensors say, on a line, while the program runs: the words of sensor_texts.h, and behind those of
 * which the last minutes are known these, where there is room once all words are there. */
#include <stdbool.h>
#include "tui/draw.h"

struct tui;

/* "clock 1980 of 1980 MHz ▆▆▇▇  power 612 of 700 W ▂▃▅▆  …" in the rest of the line. False: there is no room for a
 * past, or none. */
bool sensor_meters_draw(const struct tui *t, struct pen *pen, uint32_t device);

#endif
