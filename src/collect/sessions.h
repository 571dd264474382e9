/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_SESSIONS_H
#define PROTON_COLLECT_SESSIONS_H
/* Sessions that the program starts by proton.h, each of which is a profile of its own.
 *
 *     session 0   ├──── active ────┤         ├─ active ─┤
 *     session 1            ├───── active ─────────┤
 *     epoch       0  1     2       3         2    1     0        sets of sessions
 *
 * An epoch is a set of sessions. A launch takes the epoch of its moment along (collector->epoch), and a slot
 * belongs to one: so a record counts for the sessions that were active at its launch, however late it
 * comes. The values of a session are those of the epochs that it is in, which proton adds up, and writes.
 * Going back to a set of before goes back to its epoch: their number is that of different sets, and of one more of each that
 * was waited for while it went on.
 *
 * The functions behind proton/proton.h return as its inline ones do. They take a lock of ours, for a while
 * at most; no other file of the collector takes it, and no launch looks at anything but collector->epoch.
 *   thread  any */
#include <stdbool.h>
#include "proton/proton.h"

int collect_session_start(const char *name, const struct proton_session_options *options);
int collect_session_activate(int session);
int collect_session_deactivate(int session, bool flush);
/* Waits until what was launched until now is recorded, while the session goes on: what is launched meanwhile is of it, and
 * is not waited for. */
int collect_session_flush(int session);
int collect_session_finalize(int session, const char *format);
/* Why the last of these failed on this thread; "" where none did. Valid until the next one. */
const char *collect_session_error(void);
/* For who fails before one of these was called. */
void collect_session_refuse(const char *sentence);
/* The program ends: those that it did not finalize are. */
void sessions_end(void);
/* In a fork child: sessions are the parent's. */
void sessions_forked(void);

#endif
