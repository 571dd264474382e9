/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_STEPS_H
#define PROTON_TUI_STEPS_H
/* How long the steps of the program's loop take: a line of the header, or where that has no room for it, a part
 * of its first line. Of the whole run, whatever is filtered. */
#include <stdbool.h>
#include <stdint.h>
#include "core/stepped.h"
#include "tui/draw.h"
#include "tui/parts.h"

struct tui;

struct steps_known {
	bool any;
	uint64_t generation; /* of the session that they are of */
	struct stepped of;   /* the likeliest loop */
	char name[STEPPED_NAME];
};

/* With each picture. */
void steps_age(struct tui *t);
/* One line: there must be any. */
void steps_draw(struct tui *t, const struct canvas *canvas, int y);
void steps_add_part(struct tui *t, struct line_parts *parts);

#endif
