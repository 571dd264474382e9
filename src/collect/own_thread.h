/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_OWN_THREAD_H
#define PROTON_COLLECT_OWN_THREAD_H
#include <pthread.h>
/* Threads of ours in somebody else's program: small. They inherit which signals are blocked, so one is made
 * within own_stack_run(), by a thread of the program: pthread_create() allocates, and in one of ours that would be an arena of
 * its own. */

/* 0 or an errno. ret: to be joined; NULL: nobody does. */
int own_thread_make(pthread_t *ret, void *(*run)(void *arg), void *arg);
/* First of all in it; name: what tools show. */
void own_thread_begin(const char *name);

#endif
