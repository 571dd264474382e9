/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_WAITING_WARPS_H
#define PROTON_COLLECT_WAITING_WARPS_H
/* Warps of launches (kept_warps.h) whose records have not come yet, which say which launch it was, and when it ran: then they are kept or
 * not.
 *   thread  any */
#include "backends/backend.h"
#include "collect/kept_warps.h"

/* All of a launch's warps are there; correlation: as launch_records.h has it, 0: not known. Steals k, which may be NULL. */
void waiting_warps_add(struct kept_warps *k, const struct kept_launch *launch,
		       uint32_t correlation);
bool waiting_warps_are_there(void);
/* Records have come: those that have theirs, or have waited for long, wait no longer; with FLUSH_LAST nobody does. */
void waiting_warps_flush(enum flush how);
void waiting_warps_forked(void);

#endif
