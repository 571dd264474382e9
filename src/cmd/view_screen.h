/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CMD_VIEW_SCREEN_H
#define PROTON_CMD_VIEW_SCREEN_H
/* The screen on profiles that were saved: what `view` and `diff` open.
 *
 *   files ──> session ─────────────────> snapshot ──────────> tui
 *                └─ with another file ─> two of them (D) ──> another tui, with the view of the first
 *
 * What the files say is read once; the key D reads the other file only. */
#include <stdint.h>
#include "cmd/code.h"
#include "cmd/load.h"
#include "cmd/screen_options.h"

struct view_screen {
	const char *command;           /* "view", "diff": as the header calls it */
	struct screen_options *screen; /* settled */
	char *const *paths;
	int n_paths;
	struct loading *loading;
	const struct code_places *code; /* of the first file */
	const char *before;             /* the file to compare with at first; NULL: none */
	uint8_t format;                 /* enum name_format: how names of frames are cut */
};

/* Exit status; a line on stderr says why it is not 0. */
int view_screen_run(const struct view_screen *o);

#endif
