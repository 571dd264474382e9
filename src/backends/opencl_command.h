/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BACKENDS_OPENCL_COMMAND_H
#define PROTON_BACKENDS_OPENCL_COMMAND_H
/* Commands in flight: from the hook that enqueues one until the driver says that it is over.
 *
 *   opencl_enqueue_begin() ── driver ── opencl_enqueue_end() ┄┄ callback ──> sink->record()
 *
 *   thread  any; the callback is on one of the driver's
 *   errors  none: what cannot be recorded is a loss */
#include "backends/opencl_abi.h"
#include "core/activity.h"

struct opencl_command;

/* What a hook keeps while the driver's function runs. */
struct opencl_enqueue {
	struct opencl_command *command; /* NULL: not recorded */
	cl_event own;
	cl_event *event; /* where the driver puts the event */
};

/* event: the program's; NULL: it wants none. */
void opencl_enqueue_begin(struct opencl_enqueue *e, cl_command_queue queue, cl_event *event,
			  const struct activity *what);
/* error: what the driver's function said; it is handed back. */
int32_t opencl_enqueue_end(struct opencl_enqueue *e, int32_t error);
/* References on the program's event that are ours. */
uint32_t opencl_command_references(cl_event event);

/* 0 or -ENOMEM. */
int opencl_commands_start(void);
/* All that began before this time is delivered: CLOCK_REALTIME. */
uint64_t opencl_commands_settled(void);
/* At exit: what runs may end, but what nobody flushed never will. As long as nothing has completed
 * ever, the driver may be compiling with what is torn down already: then each moment that we wait
 * is one for it to crash in. */
void opencl_commands_await(void);
uint64_t opencl_commands_bytes(void);
/* The driver's threads stayed in the parent: no callback will come for what was in flight. */
void opencl_commands_forked(void);

#endif
