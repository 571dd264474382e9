/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_OWN_FD_H
#define PROTON_COLLECT_OWN_FD_H
/* A descriptor in somebody else's process: the program may close it at any moment and have opened
 * something else under its number, so it is looked at before each burst of writes.
 *   thread  one each */
#include <stdbool.h>
#include <sys/types.h>

struct own_fd {
	int fd; /* -1: none */
	dev_t dev;
	ino_t ino;
};

/* Is it there, and still what was opened? */
bool own_fd_is_ours(const struct own_fd *o);
/* Opens path (O_CLOEXEC, away from low numbers) unless it is open. type: S_IFIFO, S_IFREG: anything
 * else is refused. */
bool own_fd_open(struct own_fd *o, const char *path, int flags, mode_t type);
void own_fd_close(struct own_fd *o); /* unless it is not ours any more */

#endif
