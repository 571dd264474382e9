/* SPDX-License-Identifier: MIT */
#ifndef PROTON_LIVE_ATTEND_H
#define PROTON_LIVE_ATTEND_H
/* The receiver of a program that nobody started to profile: it profiles itself (collect/alone.h). Its
 * library starts us, reads where the session directory is, and goes on as under `proton record`; of what
 * is received only the files of the program's own sessions are made.
 *   thread  one */
#include <sys/types.h>

struct recording_options;
/* What the program's first session asks of the run. */
typedef void attend_wants_fn(struct recording_options *options, void *ctx);

/* Print "session DIRECTORY" and serve the process until it has ended, or runs another program. An exit
 * status, after a message on standard error where it could not begin. */
int attend(pid_t pid, attend_wants_fn *wants, void *ctx);

#endif
