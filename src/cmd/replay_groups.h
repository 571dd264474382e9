/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CMD_REPLAY_GROUPS_H
#define PROTON_CMD_REPLAY_GROUPS_H
/* record --replay application: metrics that take several passes are divided into groups that take one each, a run of APP
 * for each. The metrics stand in order: a group has each that leaves it one pass, and the next one is made of the rest.
 *   thread  one */
#include <stdbool.h>

struct ranges_runs;

/* Divide the metrics of its only run. A metric that takes several passes by itself is in no group: one of a set is left out,
 * one that was named is refused. An exit status after a message. */
int replay_groups_make(struct ranges_runs *runs, bool is_set);

#endif
