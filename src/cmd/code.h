/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CMD_CODE_H
#define PROTON_CMD_CODE_H
/* The code that a profile has samples of: source files, and cubins in a folder (live/disassembly.h).
 * Each is read when it is first asked for, and kept.
 *   thread  one */
#include <stdint.h>
#include "naming/code.h"

struct code;

enum { CODE_FOLDERS_MAX = 16 };

/* Where the user says it is; borrowed. */
struct code_places {
	const char *folders[CODE_FOLDERS_MAX]; /* of source files */
	unsigned n_folders;
	const char *cubins; /* folder; NULL: beside the profile, FILE.cubins */
};

/* Of a profile in `file` that was made at made_ns (CLOCK_REALTIME; 0: not known). NULL: no memory. */
struct code *code_new(const struct code_places *places, const char *file, uint64_t made_ns);
struct code *code_free(struct code *c);
/* Valid as long as the code. */
const struct code_reader *code_reader(struct code *c);

#endif
