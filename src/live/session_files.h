/* SPDX-License-Identifier: MIT */
#ifndef PROTON_LIVE_SESSION_FILES_H
#define PROTON_LIVE_SESSION_FILES_H
/* Writes the profiles of sessions that the program has started and finalized (proton.h): cut out of what is
 * received, by a forked child, one at a time. The program waits for the answer, a file in the session
 * directory that it has made: without one nothing is written.
 *   thread  one */
#include <stdint.h>
#include <sys/types.h>

struct receiver;

struct session_files {
	pid_t child; /* that writes; 0: none */
	int answer;  /* descriptor of the file that the program waits for */
	unsigned n_written, n_failed;
};

/* Begin what is due, and notice what has ended. Call it again and again. */
void session_files_poll(struct session_files *f, struct receiver *r);
/* All that is due, until it is done. */
void session_files_finish(struct session_files *f, struct receiver *r);

#endif
