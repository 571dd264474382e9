/* SPDX-License-Identifier: MIT */
#ifndef PROTON_FORMAT_STACKS_H
#define PROTON_FORMAT_STACKS_H
/* What the readers of stacks (speedscope, pprof) share: frames of functions in files, metrics by name
 * and unit, and the host's time, of which a profiler says what each stack took itself.
 *
 *   "forward", "model.py", 12   ──> model.py:12@forward, as every Python frame is called here
 *   a;b 3   a 2                 ──> cpu_time (ns) as a scope has it: a 5, a;b 3
 *
 *   thread  one
 *   errors  functions that return an id return SESSION_NONE (METRIC_NONE) when out of memory */
#include <stdbool.h>
#include <stdint.h>
#include "base/buf.h"
#include "core/session.h"

/* Did an export of ours write it, whose names need no file to tell functions apart? writer: as the file
 * names it, "proton 0.1.0". */
bool stacks_are_ours(const char *writer);

/* A function as other profilers name it; string ids, 0 and line 0: not known. */
struct stack_function {
	uint32_t name, file, line;
	bool ours;
};
uint32_t stack_frame(struct session *s, const struct stack_function *f, struct buf *scratch);

/* The metric of a name without its unit ("cpu"), and of a unit of this program ("ns", "B", "") or any
 * other, which becomes a part of the name. Values of stacks add up: a metric of this name that does not
 * is another one. */
uint32_t stack_metric(struct session *s, const char *name, const char *unit, enum metric_type type);

/* How many ns a unit of time is ("seconds", "ms"); 0: it is none. */
double stack_time_unit(const char *unit);

/* Add to a value of a row; its metric adds up. */
void stack_add(struct session *s, uint32_t row, uint32_t k, union metric_value v);

/* METRIC_CPU_TIME, which every node has for itself so far, becomes what passed in the node and below it,
 * on each lane.
 *   errors  0, -ENOMEM, or -EFBIG when more rows than `most` would be needed */
int stacks_elapse(struct session *s, size_t most);

#endif
