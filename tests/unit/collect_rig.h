/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TESTS_COLLECT_RIG_H
#define PROTON_TESTS_COLLECT_RIG_H
/* A collector in this process, and a reader of what it sends. One a process: each test has its own
 * (CK_FORK=no is not for these). */
#include <check.h>
#include <stdbool.h>
#include "core/session.h"
#include "launch/session_dir.h"

/* TSan does not follow threads that are made in the child of a process with threads; ASan's own locks
 * may be held by another thread at the fork. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { WITH_FORK = 0 };
#else
enum { WITH_FORK = 1 };
#endif

extern struct session_dir *rig_dir;
extern struct session *rig_session;

/* A session directory and a reader; PROTON_SESSION is set. */
void rig_open(void);
/* … and the collector is on. */
void rig_start(void);
void rig_close(void);
/* Read what is there now. Each frame must be whole and no longer than PIPE_BUF. */
void rig_pump(void);
struct wire_decoder *rig_decoder(void);
/* Forget what was read: a reader that comes late. */
void rig_forget(void);
/* Pump until the condition holds; fails the test after ten seconds. */
void rig_until(bool (*condition)(void *arg), void *arg, const char *what);
/* The collector pauses, or goes on, and says so. */
void rig_pause(bool paused);

/* Enter a scope and leave it. */
void rig_scope(const char *name);

/* Sum of an integer metric over nodes of this name; -1: absent. */
long rig_sum(const char *name, uint32_t metric);
/* Wait until rig_sum() is this. */
void rig_until_sum(const char *name, uint32_t metric, long wanted);
uint32_t rig_node(const char *name); /* first of this name, or SESSION_NONE */
uint64_t rig_losses(enum loss loss); /* as the collector of this process counts them */

#endif
