/* SPDX-License-Identifier: MIT */
#ifndef PROTON_LAUNCH_WITNESS_H
#define PROTON_LAUNCH_WITNESS_H
/* Tells a signal to our process group from one to us alone. Private to this folder.
 *
 *   kill -TERM -GROUP ──┬──> proton ── witness_ask(): {TERM} ──> the target has it too
 *                       ├──> target
 *                       └──> witness
 *   kill -TERM PROTON ─────> proton ── witness_ask(): {} ──────> to be passed on
 *
 * The kernel tells who sent a signal, not to whom. So a process of ours that does nothing else sits
 * in the group with all signals blocked: what is pending there came to all. It also continues us
 * when the target is continued alone while we stand still beside it. See docs/adr/0013.
 *
 * It is named "signal-witness", in its command line too: whoever ends a run by its name (pkill
 * proton) means proton, and whoever looks for the program by its name shall not find this
 * process.
 *
 *   errors  -errno
 *   thread  one */
#include <stdint.h>
#include <sys/types.h>

struct witness;

/* In our process group. */
int witness_new(struct witness **ret_witness);
struct witness *witness_free(struct witness *witness);

pid_t witness_pid(const struct witness *witness);
/* Which signals came to the group since the last question; bit n - 1: signal n. Of those that had
 * reached us before the call none is missing; all that are told have reached us after it. A witness
 * that died has seen nothing. */
uint64_t witness_ask(struct witness *witness);
/* From now on: SIGCONT to us, once, when this process no longer stands still (pid 0: forget it). */
void witness_watch(struct witness *witness, pid_t pid);

#endif
