/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_RUN_SIDES_H
#define PROTON_CORE_RUN_SIDES_H
/* Two runs of one program side by side: which node, process, epoch and device of one is which of the other
 * (core/other_run.h).
 *   thread  one */
#include <stdbool.h>
#include "core/session.h"

enum { RUN_FIRST, RUN_OTHER, RUN_N_SIDES };

struct run_side {
	const struct session *s;
	uint32_t measured; /* the metric of this name; METRIC_NONE: it measured nothing */
	uint32_t *nodes;   /* by node: which one it is in the tree of both */
	/* By id: which one it is of the first run; SESSION_NONE: none of it. NULL: itself. */
	uint32_t *processes, *epochs, *devices;
	uint8_t *measures; /* by process: it measured something */
};

struct run_sides {
	struct session *tree; /* of both: nodes alone */
	struct run_side of[RUN_N_SIDES];
};

/* 0 or -ENOMEM; run_sides_done() in either case. */
int run_sides_make(const struct session *first, const struct session *other, struct run_sides *ret);
void run_sides_done(struct run_sides *sides);

/* How many kernels or ranges a row has metrics of; NaN: it is no such row. */
double run_side_measured(const struct run_side *side, const struct session_row *row);
/* Which one it is of the first run. */
static inline uint32_t run_side_id(const uint32_t *map, uint32_t id)
{
	return map && id != SESSION_NONE ? map[id] : id;
}
uint32_t run_side_process(const struct run_side *side, const struct session_row *row);

#endif
