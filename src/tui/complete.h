/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_COMPLETE_H
#define PROTON_TUI_COMPLETE_H
/* The names of files, completed while one is typed: "~/runs/ba", where there are base1.hatchet and
 * base2.hatchet, gets "se", and the note "base1.hatchet base2.hatchet". */
#include <stddef.h>
#include "base/buf.h"

/* Append what all files that begin with the first len bytes of the text have in common behind
 * these, and a slash behind a folder. note (note_size bytes): their names where there are several,
 * or that there is none. */
void complete_path(const char *text, size_t len, struct buf *ret_rest, char *note,
		   size_t note_size);

#endif
