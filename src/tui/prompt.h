/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_PROMPT_H
#define PROTON_TUI_PROMPT_H
/* One line of input at the bottom. What is typed takes effect at once; Esc puts back what was.
 *
 *     find: gemm_bf16|█           keys are those of a shell's line: EDITS in keys.h
 *
 * What was accepted is kept, for each question by itself, and comes back with Up. */
#include <stdbool.h>
#include <stddef.h>
#include "tui/draw.h"

struct tui;

#define PROMPT_MAX     512 /* longest text, with its zero */
#define PROMPT_KINDS   8   /* questions that have a history */
#define PROMPT_HISTORY 32  /* lines of it */

/* Called after each change, for Ctrl-D on an empty line (it stays open), and at the end: accepted,
 * or cancelled. */
enum prompt_event { PROMPT_CHANGED, PROMPT_EOF, PROMPT_ACCEPTED, PROMPT_CANCELLED };

typedef void prompt_event_fn(struct tui *t, enum prompt_event event, const char *text);

struct prompt_history {
	prompt_event_fn *of;         /* the question's; NULL: free */
	char *lines[PROMPT_HISTORY]; /* the oldest first */
	unsigned n;
};

struct prompt {
	const char *label; /* NULL: no prompt is open */
	char text[PROMPT_MAX];
	size_t len, at;   /* at: the byte that the cursor is on */
	char note[224];   /* drawn at the right end */
	bool for_program; /* what is typed is meant for it: closed when it ends */
	bool takes_file;  /* Tab completes its name */
	prompt_event_fn *on_event;
	struct prompt_history histories[PROMPT_KINDS];
	unsigned back;          /* lines back in its history; 0: what is typed now */
	char typed[PROMPT_MAX]; /* what was, when going back began */
};

/* Ask for a line, which begins as `text`. label is borrowed. on_event stands for the question, too: each
 * has a history of its own. */
void prompt_open(struct prompt *p, const char *label, const char *text, prompt_event_fn *on_event);
static inline bool prompt_is_open(const struct prompt *p)
{
	return p->label != NULL;
}
void prompt_key(struct prompt *p, struct tui *t, int key);
/* Draw it; *ret_x is the cursor's column. */
void prompt_draw(const struct prompt *p, const struct canvas *canvas, int y, int *ret_x);
/* Take the histories of another prompt, which has none from then on. */
void prompt_take_histories(struct prompt *p, struct prompt *from);
void prompt_done(struct prompt *p);

#endif
