/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_OWN_FD_H
#define PROTON_COLLECT_OWN_FD_H
/* Descriptors in somebody else's process. The program may close any of them at any moment and open
 * something else under its number: what we write then goes into its file.
 *
 * The sender thread therefore has a descriptor table of its own: nothing that the program closes,
 * opens, counts, limits or hands to its children meets what is open there. Only where the kernel
 * refuses that (before 5.9, under some seccomp filters) is the table the program's: then a
 * descriptor is looked at before each write, and has a number that the program hardly reaches.
 *   thread  the sender alone */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct own_fd {
	int fd; /* -1: none */
	dev_t dev;
	ino_t ino;
};

/* Give the calling thread an empty descriptor table; refused, it goes on with the program's. */
void own_fd_isolate(void);
/* The thread with a table of its own is gone, with all that was open in it: what this one opens from
 * now on is in the program's. After own_fd_drop() of each. */
void own_fd_share(void);

/* Opens path (O_CLOEXEC) unless it is open. type: S_IFIFO, S_IFREG: anything else is refused. */
bool own_fd_open(struct own_fd *o, const char *path, int flags, mode_t type);
/* Until a write would not block, at most. */
void own_fd_wait(const struct own_fd *o, int ms);
/* The beginning of a file, with a NUL behind it. Its length, or -errno. */
ssize_t own_fd_read_file(const char *path, char *text, size_t size);
/* As write(), not interrupted; -EBADF where the descriptor is not ours any more. */
ssize_t own_fd_write(const struct own_fd *o, const void *data, size_t n);
/* All of it at the end of a file that is `*size` long, or nothing. 0, or -errno: it is as before. */
int own_fd_append(const struct own_fd *o, const void *data, size_t n, uint64_t *size);
void own_fd_close(struct own_fd *o); /* unless it is not ours any more */
void own_fd_drop(struct own_fd *o);  /* in a fork child, whose table need not have it */

#endif
