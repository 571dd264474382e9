/* SPDX-License-Identifier: MIT */
#ifndef PROTON_LIVE_SESSION_FILES_H
#define PROTON_LIVE_SESSION_FILES_H
/* What the program asks of its sessions (proton.h): the profile of one that it has finalized, and phases of one
 * that goes on, into a file or into the answer. They are cut out of what is received by forked children, a few
 * at a time. The program waits for the answer, a file in the session directory that it has made: without one
 * nothing is written.
 *   thread  one */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "live/session_names.h"

struct receiver;

enum { SESSION_JOBS = 4 };

struct session_files {
	struct session_job {
		pid_t child;      /* that writes; 0: none */
		int answer;       /* descriptor of the file that the program waits for */
		const char *form; /* of the answer: how it went, as a number */
	} jobs[SESSION_JOBS];
	struct session_names names;
	bool unwritten; /* files are said to be written, and are not: those of a run before stay (live/replays.h) */
	bool all; /* nobody ends any session any more */
	unsigned n_written, n_failed;
};

/* Begin what is due, and notice what has ended. Call it again and again. */
void session_files_poll(struct session_files *f, struct receiver *r);
/* Is any being written? */
bool session_files_busy(const struct session_files *f);
/* The run is over: all that is due, and as far as they got, the sessions that were not finalized. */
void session_files_finish(struct session_files *f, struct receiver *r);
/* The files of sessions once more, after session_files_finish(): there is more in what was received. Not of those that a
 * later one with the same number has followed: what was theirs is not known any more. */
void session_files_again(struct session_files *f, struct receiver *r);
void session_files_done(struct session_files *f);

#endif
