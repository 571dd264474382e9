/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_OUTLET_H
#define PROTON_COLLECT_OUTLET_H
/* Where frames go: into the pipe of the session, and at the end of a process, when proton does not
 * read for a while (it is stopped, or held up itself), into a file that it reads when the process is
 * gone. So an end neither waits for long nor loses anything.
 *
 *   thread  one at a time: the sender */
#include <stdbool.h>
#include <stddef.h>

/* Open where it is not; false: there is no pipe. */
bool outlet_open(void);
/* For an encoder: 0, -EAGAIN (full), or what write said. */
int outlet_emit(void *unused, const void *frame, size_t n);
/* Since the last call: was it full? */
bool outlet_was_full(void);
/* Until it has room again, at most. */
void outlet_wait(int ms);
bool outlet_is_open(void);
/* From now on into the file. 0, or -errno: then it stays as it is. */
int outlet_overflow(void);
/* The process goes on after all: again into the pipe, and what the file held is to be sent anew. False:
 * it was never left. */
bool outlet_resume(void);
void outlet_close(void);
/* In a fork child: all of it is the parent's. */
void outlet_forked(void);

#endif
