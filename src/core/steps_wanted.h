/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_STEPS_WANTED_H
#define PROTON_CORE_STEPS_WANTED_H
/* Which scopes of the program are its steps (--steps). */
#include <stdint.h>

enum steps_wanted_kind {
	STEPS_WANTED_AUTO = 0, /* they are found */
	STEPS_WANTED_OFF,
	STEPS_WANTED_NAMED,
};

#define STEPS_WANTED_NAME 120 /* bytes, no zero behind them */

/* A part of the control page (wire/control.h). */
struct steps_wanted {
	uint32_t kind; /* enum steps_wanted_kind */
	uint32_t
		name_len; /* STEPS_WANTED_NAMED: "train step", or "step #" for all that differ in numbers */
	char name[STEPS_WANTED_NAME];
};
_Static_assert(sizeof(struct steps_wanted) == 128, "steps_wanted");

#endif
