/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_WORK_H
#define PROTON_TUI_WORK_H
/* Work that a key has begun and that takes longer than a picture may: the message line says what
 * and how far, and Esc stops it where it can be stopped. A letter typed into a prompt stops it too:
 * what it looks for has changed.
 *
 *     key ── work_begin() ── the loops of core ── tick ──> a line, a look at the keyboard
 *                         └─ -ECANCELED: put back what was ── work_end() */
#include <stdbool.h>
#include <stdint.h>
#include "core/tick.h"

struct tui;

struct work {
	struct tick tick; /* for the snapshot */
	const char *what; /* NULL: nothing that can be named */
	uint64_t key_ns;  /* when the key came; 0: none is being served */
	uint64_t drawn_ns;
	bool can_stop;
	bool stopped; /* the last that could be, until the next begins */
};

void work_init(struct tui *t);
/* Keys are read from now on (true), or have been. */
void work_serve(struct tui *t, bool on);
/* What the present key does, until the next key. It can be stopped. */
void work_begin(struct tui *t, const char *what);
/* The part that can be stopped is over; work.stopped says whether it was. */
void work_end(struct tui *t);

#endif
