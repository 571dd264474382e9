/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_ALONE_SPAWN_H
#define PROTON_COLLECT_ALONE_SPAWN_H
/* Start a program that is nobody's child:
 *
 *     this process ── clone ──> one that ends at once ── clone ──> exec: the program
 *
 * The program that we live in waits for its children, and has handlers for their end: neither of these is
 * one that it could meet. The first is made without a signal for its end, so that wait() does not see it, and
 * we take it; the second is an orphan. Where orphans come back, to process 1 of a container and to who asked
 * for that, the first one stays as its parent, a process in our memory that sleeps.
 *
 * Both run in our memory until exec, as children of vfork() do: they make system calls and nothing else. */

/* The program's environment without what is loaded into every program: it may print, or fail there. With more privileges than
 * the caller's, nothing that the caller says. free() it; NULL: no memory. */
char **spawn_environment(void);

/* It reads `input`; -1: nothing. What it prints can be read from *ret_fd; "exec N" is errno N of the exec. It is in a session of
 * its own, with no other descriptor of ours, and with our signal mask. 0 or -errno.
 *   thread  any, with all signals blocked */
int spawn_detached(const char *path, char *const argv[], char *const envp[], int input,
		   int *ret_fd);

#endif
