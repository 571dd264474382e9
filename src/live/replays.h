/* SPDX-License-Identifier: MIT */
#ifndef PROTON_LIVE_REPLAYS_H
#define PROTON_LIVE_REPLAYS_H
/* A program that runs more than once, for hardware metrics of which one run counts a part (record --replay application):
 *
 *   run 1 ── session ─────────────────────────────> profile, and files of the program's sessions
 *   run 2 ── session ── core/other_run ──┐   └────> the same, with what it counted
 *   run 3 ── session ── core/other_run ──┘   └────> …
 *
 * A run that fails, or is told to end by a signal, is the last, and nothing of it is taken: what the profile has stays.
 *   thread  one */
#include "core/ranges_wanted.h"
#include "live/run.h"

/* Can a program run more than once as we were started? STATUS_OK, or STATUS_USAGE after a message. */
int replays_check(const struct recording_options *options);
/* Run the program of `first`, which is prepared for the first of these; its options say `again` where there are more. 0, or an
 * exit status after a message; *ret_wait_status: how the last one ended. */
int replays_record(struct run *first, const struct ranges_runs *runs, int *ret_wait_status);

#endif
