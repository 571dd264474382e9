/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_EDITOR_H
#define PROTON_TUI_EDITOR_H
/* The user's editor at a line of a file: $VISUAL, else $EDITOR, else vi, as a shell runs it. */
#include <limits.h>
#include <stdbool.h>

/* A line of source. */
struct source_place {
	char file[PATH_MAX];
	unsigned line;
};

/* Where a frame's name points to: "dir/file.py:123@function", as Proton writes it now,
 * "file.py:function@123", as it did before, or "file.c:123". False: nowhere. */
bool place_of_name(const char *name, struct source_place *ret);

/* Make the file an absolute path without links: of a regular file that can be read. 0 or -errno;
 * -EINVAL: it is no file to edit. The place stays as it is then. */
int place_resolve(struct source_place *place);

/* Words behind the editor's command: how it is told a line differs. "%f" is the file, "%l" the
 * line, "%q" the file as Emacs quotes it, for "/ssh:host:/x" is another machine's. */
const char *const *editor_arguments(const char *command);

/* Run the editor on the terminal `tty`, which curses must have given back, and wait for it. Returns
 * the status of waitpid(), or -errno. The place must have passed place_resolve(). A shell splits
 * the user's command into words; the place is passed behind them as arguments and is never text
 * that the shell reads. Ctrl-C typed meanwhile goes to the editor alone. */
int editor_run(const char *tty, const struct source_place *place);

#endif
