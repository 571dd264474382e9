/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_ACTIONS_H
#define PROTON_TUI_ACTIONS_H
/* Requests about the row under the cursor; each says why when there is nothing to be done. */

struct tui;

void action_list(struct tui *t); /* add what fits the row to the menu, which may be nothing */
void action_only_this(struct tui *t);
void action_without_this(struct tui *t);
void action_copy_name(struct tui *t);
void action_copy_row(struct tui *t);
void action_edit(struct tui *t); /* open its source in the user's editor */

#endif
