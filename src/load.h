/* SPDX-License-Identifier: MIT */
#ifndef PROTON_LOAD_H
#define PROTON_LOAD_H
#include <stdbool.h>
#include "core/session.h"

struct buf;

/* A profile or a tape, told by its content; "-" is standard input. On failure a line on stderr and
 * NULL. */
struct session *load_file(const char *path);

/* How several files are read, and what came of it. */
struct loading {
	bool keep_going; /* name a file that cannot be read, and leave it out */
	bool failed;     /* one was left out */
};

/* One profile of several files: those of ranks, processes and phases become one, as `proton merge`
 * makes it. A single file is taken as it is. On failure a line on stderr and NULL. */
struct session *load_files(char *const *paths, int n, struct loading *how);
/* A single file, too, becomes what `proton merge` makes of it. */
struct session *load_merged(char *const *paths, int n, struct loading *how);

/* The profile of the files, and the one to compare it with, on one tree (core/pair.h). */
struct loaded {
	struct session *s, *before; /* before: NULL unless asked for */
};
/* before: a file or NULL. 0, or -errno and a line on stderr. */
int loaded_open(struct loaded *l, char *const *paths, int n, const char *before,
		struct loading *how);
/* The same of a session, which stays the caller's, and a file. *l is written on success only; else
 * `why` gets a sentence, and nothing is printed. */
int loaded_compare(struct loaded *l, const struct session *s, const char *before, struct buf *why);
void loaded_close(struct loaded *l);

#endif
