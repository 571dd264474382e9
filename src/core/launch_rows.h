/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_LAUNCH_ROWS_H
#define PROTON_CORE_LAUNCH_ROWS_H
/* How kernels were launched: all executions of one kernel in one way, on devices that are alike, are one row.
 *
 *     main { a { k <<<8,256>>> }, b { k <<<8,256>>>, k <<<4,256>>> } }    k <<<8,256>>>;  k <<<4,256>>>
 *
 *   thread  one */
#include <stdint.h>
#include "base/human.h"
#include "core/numbers.h"
#include "core/occupancy.h"
#include "core/session.h"

struct launch_row {
	uint32_t node;           /* of the picture: the context with the most of its time */
	uint32_t function;       /* numbers_functions() of it */
	uint32_t device;         /* of the session: the first of those that are alike */
	struct launch_config of; /* not known: ways that are not told apart */
	double n, time_ns;
	struct occupancy is;
};

struct launch_rows {
	struct launch_row *v; /* those with the most time first */
	size_t n, cap;
};

/* Finds all anew, of the contexts that count. Zeroed at first. 0 or -ENOMEM (there are none then). */
int launch_rows_make(struct launch_rows *rows, struct numbers *numbers);
void launch_rows_done(struct launch_rows *rows);

/* Of a device of the session; NULL: not known. */
const struct sm_limits *session_sm_limits(const struct session *s, uint32_t device);
/* What a configuration of the session means on its device. */
struct occupancy session_config_occupancy(const struct session *s, const struct session_config *c);
/* Bytes of shared memory of a block; NaN: not known, as is the one below. */
double launch_shared(const struct launch_config *c);
double launch_local(const struct launch_config *c);
double launch_registers(const struct launch_config *c);
#define LAUNCH_EXTENT_TEXT 40
/* "128x4": dimensions of 1 at the end are left out; "-": not known. Returns out. */
const char *launch_extent_text(const uint32_t of[3], char out[LAUNCH_EXTENT_TEXT]);

#define LAUNCH_ROWS_TITLE "Launches"
#define LAUNCH_ROWS_NONE  "how kernels were launched is not known"

/* Columns of the table, as the report and the screen have them (struct launch_row *l).
 *    id         title       value       human  width rank  meaning */
/* clang-format off */
#define LAUNCH_ROW_COLUMNS(_)                                                                      \
	_(time,     "TIME",      l->time_ns,                   time_ns, 7, 0,                      \
	  "time on the device of all launches like this")                                          \
	_(n,        "CALLS",     l->n,                         count,   6, 5, "how many")          \
	_(occupancy, "OCC%",     l->is.ratio,                  percent, 5, 1,                      \
	  "theoretical occupancy: of the warps that a multiprocessor has room for")                \
	_(registers, "REGS",     launch_registers(&l->of),     count,   4, 6,                      \
	  "registers of a thread")                                                                 \
	_(shared,   "SHARED",    launch_shared(&l->of),        bytes,   6, 7,                      \
	  "shared memory of a block, bytes")                                                       \
	_(local,    "LOCAL",     launch_local(&l->of),         bytes,   6, 8,                      \
	  "local memory of a thread, bytes: its stack, and registers that were spilled")           \
	_(waves,    "WAVES",     l->is.waves,                  rate,    5, 4,                      \
	  "how often the device is filled with its blocks; of clusters: not known")                \
	_(tail,     "TAIL%",     l->is.tail_ratio,             percent, 5, 9,                      \
	  "of several waves: the empty share of the last one")                                   \
	_(cost,     "TAIL COST", l->is.tail_cost * l->time_ns, time_ns, 9, 3,                      \
	  "what that costs at most: as if all blocks took equally long")
/* clang-format on */

#endif
