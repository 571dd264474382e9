/* SPDX-License-Identifier: MIT */
#ifndef PROTON_FORMAT_PLACE_H
#define PROTON_FORMAT_PLACE_H
/* The place where a file is written: a folder, a name in it, and what is there already.
 *
 *   path ── opened by the kernel, which follows links ──> file ── its folder, its name ──> place
 *           by its rules (protected_symlinks, …)
 *
 * We never read a link to find out where to write: what the kernel would not let a shell's "> PATH"
 * open is not written either. The file that was opened is then replaced where it is, by a name in a
 * folder that is held open; see docs/adr/0012.
 *   errors  -errno
 *   thread  one */
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

struct place {
	int folder;     /* -1: not known; then only `file` can be written */
	int file;       /* what is there, opened for writing and not changed; -1: nothing */
	bool made;      /* `file` was not there: a link named it, and open() made it, empty */
	struct stat st; /* of file */
	char name[NAME_MAX + 1];
	char temp[64]; /* name of what is to take its place; "": none */
};

/* Opens what is at the path, links followed. A FIFO waits for its reader. 0 or -errno. */
int place_open(struct place *p, const char *path);
void place_close(struct place *p); /* removes a file that was made and not used */
/* A new file beside it, open for writing: its descriptor, or -errno. Its name is made of our pid
 * and the tag. */
int place_begin(struct place *p, uint64_t tag);
int place_commit(struct place *p);   /* the new file takes the name */
void place_abandon(struct place *p); /* removes the new file */

/* Could something be written there? Nothing is changed. 0 or -errno. */
int place_check(const char *path);
/* Remove what a process left behind that was killed while it wrote there. */
void place_forget(const char *path, pid_t pid, uint64_t tag);

#endif
