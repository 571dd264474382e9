/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_EDITOR_H
#define PROTON_TUI_EDITOR_H
/* The user's editor at a line of a file: $VISUAL, else $EDITOR, else vi, as a shell runs it. */
#include <limits.h>
#include <stdbool.h>

/* A line of source. */
struct place {
	char file[PATH_MAX];
	unsigned line;
};

/* Where a frame's name points to: "dir/file.py:123@function", as Proton writes it now,
 * "file.py:function@123", as it did before, or "file.c:123". False: nowhere. */
bool place_of_name(const char *name, struct place *ret);

/* Words behind the editor's command: how it is told a line differs. "%f" is the file, "%l" the
 * line. */
const char *const *editor_arguments(const char *command);

/* Run it on a terminal that is as it should be, and wait. The status of waitpid(), or -errno.
 * Ctrl-C typed there is not ours. */
int editor_run(const char *tty, const struct place *place);

#endif
