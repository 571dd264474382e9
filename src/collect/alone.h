/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_ALONE_H
#define PROTON_COLLECT_ALONE_H
/* A program that nobody started to profile, and that starts sessions all the same: it profiles itself. The
 * first of its sessions starts `proton receive`, which makes the session directory and writes the files; from
 * there on all is as under `proton record`. Not where the program was started by proton, even if that is gone
 * by now.
 *
 *     proton_session_start() ── alone_start() ── spawn ──> proton receive
 *                                    │ <── "session DIRECTORY" ──┘
 *                                    └── the collector starts, late: what it missed is said in notes
 *
 *   thread  any; not from a signal handler */
#include <stdbool.h>

struct proton_session_options;

/* The collector is on after it, and what runs is received by a process of our own, which looks up the hardware metrics
 * that this session asks for (NULL: it asks for none). 0, or -errno: it is tried once a process, alone_error() says why
 * it failed, and so does one line on the program's standard error. */
int alone_start(const struct proton_session_options *options);
/* NULL: it was not tried, or did not fail. */
const char *alone_error(void);
/* Does the program profile itself? */
bool alone_is_on(void);
/* Does whoever receives still live? */
bool alone_is_attended(void);
/* A session begins: what it is to see is looked at from now on, its contexts and the work of its backend. */
void alone_begin(const struct proton_session_options *options);

#endif
