/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BASE_SAID_RULES_H
#define PROTON_BASE_SAID_RULES_H
/* Rules that somebody said in an option: these themselves, or the name of a file with them, which has a slash, or ".rules" at its end. Rules,
 * too, may have slashes, but then they have a blank, a comma or "=".
 *   thread  any */
#include <stdbool.h>
#include "base/buf.h"

/* Appends their text. 0 or -errno with a sentence in *ret_why, which is not filled where memory is out. */
int said_rules_read(const char *said, struct buf *ret_text, struct buf *ret_why);
/* Appends, of a word that turned out to be no rule, that it may be meant as a file. False: there is none of that name. */
bool said_rules_hint(const char *said, struct buf *why);

#endif
