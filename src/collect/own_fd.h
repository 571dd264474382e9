/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_OWN_FD_H
#define PROTON_COLLECT_OWN_FD_H
/* Descriptors in somebody else's process. The program may close any of them at any moment and open
 * something else under its number: what we write then goes into its file.
 *
 * The sender thread, and those that have modules rewritten, therefore have a descriptor table of their own: nothing that the
 * program closes, opens, counts, limits or hands to its children meets what is open there. Only where the kernel
 * refuses that (before 5.9, under some seccomp filters) is the table the program's: then a
 * descriptor is looked at before each write, and has a number that the program hardly reaches.
 *   thread  a descriptor is its thread's; another, or a fork's child, finds that it is not ours there */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct own_fd {
	int fd; /* -1: none */
	dev_t dev;
	ino_t ino;
};

/* Give the calling thread an empty descriptor table, but for /dev/null; false: refused, it goes on with the program's. */
bool own_fd_isolate(void);

/* Opens path (O_CLOEXEC) unless it is open. type: S_IFIFO, S_IFREG: anything else is refused. */
bool own_fd_open(struct own_fd *o, const char *path, int flags, mode_t type);
/* One that is open. -1: none. */
struct own_fd own_fd_of(int fd);
/* Until a write would not block, at most. */
void own_fd_wait(const struct own_fd *o, int ms);
/* The beginning of a file, with a NUL behind it. Its length, or -errno. */
ssize_t own_fd_read_file(const char *path, char *text, size_t size);
/* As read() and write(), not interrupted; -EBADF where the descriptor is not ours any more. */
ssize_t own_fd_read(const struct own_fd *o, void *data, size_t n);
ssize_t own_fd_write(const struct own_fd *o, const void *data, size_t n);
/* All of it at the end of a file that is `*size` long, or nothing. 0, or -errno: it is as before. */
int own_fd_append(const struct own_fd *o, const void *data, size_t n, uint64_t *size);
void own_fd_close(struct own_fd *o); /* unless it is not ours any more */

#endif
