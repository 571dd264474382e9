/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_ADVICE_H
#define PROTON_TUI_ADVICE_H
/* The findings of what is on the screen, and the line that has the first of them: in the header, or where
 * that has no room for it, in the line of messages while there is none. They are of the whole run,
 * whatever is filtered. */
#include <stdbool.h>
#include <stdint.h>
#include "findings/findings.h"
#include "tui/draw.h"

struct tui;

struct advice {
	struct findings findings;
	uint64_t made_ns;    /* when; 0: not yet */
	uint64_t generation; /* of the session that they are of */
	bool is_in_header;   /* the first one is drawn there */
};

/* With each picture: anew when some time has passed and something has come. A large profile gets them
 * when somebody looks at them. */
void advice_age(struct tui *t);
/* Now, unless they are of the present picture. */
void advice_make(struct tui *t);
void advice_done(struct advice *a);
/* The calling context in the picture where most of a finding is, or SNAP_NONE. */
uint32_t advice_node(struct tui *t, const struct finding *finding);
/* One line: there must be a finding. */
void advice_draw(struct tui *t, const struct canvas *canvas, int y);

#endif
