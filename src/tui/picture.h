/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_PICTURE_H
#define PROTON_TUI_PICTURE_H
/* The picture that panels are made of: a new one from the session, or the same one grouped or
 * filtered otherwise. */
#include "core/snapshot.h"

struct tui;

void tui_spoil(struct tui *t);   /* every panel is to be made anew */
void tui_picture(struct tui *t); /* a new one, through the filters */
/* Ids start anew: panels forget theirs. 0 or -ENOMEM. */
int tui_regroup(struct tui *t, enum group group);
int tui_show_contexts(struct tui *t, enum context_view view);
/* Say what the filters leave, if there are any. */
void tui_say_left(struct tui *t);
/* The filters have changed: apply them. Where that fails or is stopped, a message says so. */
void tui_refilter(struct tui *t);

#endif
