/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_PROMPT_H
#define PROTON_TUI_PROMPT_H
/* One line of input at the bottom. What is typed takes effect at once; Esc puts back what was. */
#include <stdbool.h>
#include <stddef.h>
#include "tui/draw.h"

struct tui;

#define PROMPT_MAX 512 /* longest text, with its zero */

/* Called after each change, for Ctrl-D on an empty line (it stays open), and at the end: accepted,
 * or cancelled. */
enum prompt_event { PROMPT_CHANGED, PROMPT_EOF, PROMPT_ACCEPTED, PROMPT_CANCELLED };

struct prompt {
	const char *label; /* NULL: no prompt is open */
	char text[PROMPT_MAX];
	size_t len;
	char note[128]; /* drawn at the right end */
	bool for_program; /* what is typed is meant for it: closed when it ends */
	void (*on_event)(struct tui *t, enum prompt_event event, const char *text);
};

void prompt_open(struct prompt *p, const char *label, const char *text,
		 void (*on_event)(struct tui *, enum prompt_event, const char *));
static inline bool prompt_is_open(const struct prompt *p)
{
	return p->label != NULL;
}
void prompt_key(struct prompt *p, struct tui *t, int key);
/* Draw it; *ret_x is the cursor's column. */
void prompt_draw(const struct prompt *p, const struct canvas *canvas, int y, int *ret_x);

#endif
