/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_REFUSALS_H
#define PROTON_TUI_REFUSALS_H
/* What a screen cannot do, whatever happens on it: who presses such a key is told why, and who asks for help is not
 * offered it. */
#include <stdbool.h>
#include "tui/keys.h"
#include "tui/tui.h"

/* Why a request is refused; NULL: it is not. */
const char *request_refusal(const struct tui *t, enum request request);
/* Would it be refused, or is it about a program that runs, or a panel, where there never is one? */
bool request_is_useless(const struct tui *t, enum request request);

#endif
