/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_SENSOR_TEXTS_H
#define PROTON_TUI_SENSOR_TEXTS_H
/* What a device's sensors say, in words: now where the program runs, else of the whole run. */
#include "core/sensors.h"
#include "tui/draw.h"

struct tui;

struct sensor_text {
	char text[96];
	enum role role;
	int priority; /* 0 stays longest where there is no room for all */
	enum sensor
		past; /* what it is about while the program runs; SENSOR_N: nothing that has one */
	enum sensor limit; /* what that is at most; SENSOR_N: nobody knows */
	int columns; /* … with the longest number, so that what is behind it does not move */
};
#define SENSOR_TEXTS 8

/* How many there are; 0: nothing is known. */
unsigned sensor_texts(const struct tui *t, uint32_t device, struct sensor_text out[SENSOR_TEXTS]);

#endif
