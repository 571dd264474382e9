/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_CHANGE_H
#define PROTON_TUI_CHANGE_H
/* How much a number has changed, as text with a sign. NaN: absent on its side. */
#include "base/human.h"
#include "core/column.h"

/* Of what was there before; of what is new, infinite. NaN: it is not known. */
double change_of(double before, double now);
/* "+50.0%", "new", "gone", "" where nothing has changed that one would see. */
void change_print(double before, double now, char out[HUMAN_MAX]);
/* "+1.50s" */
void change_print_delta(const struct column_spec *spec, const struct session *s, double delta,
			char out[COLUMN_TEXT]);

#endif
