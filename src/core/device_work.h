/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_DEVICE_WORK_H
#define PROTON_CORE_DEVICE_WORK_H
/* What operations add up to whose times are all known, as those of a trace that another tool recorded: how long each
 * process used a device, and how much of its copies, by stream and direction, was hidden under other work. It is what the
 * collector finds while they come (collect/copy_lanes.h), by the same rules (core/hidden.h).
 *   thread  one */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/session.h"

struct device_work {
	uint64_t start_ns, end_ns; /* of one clock */
	uint32_t process, device;
	uint32_t context, stream; /* SESSION_NONE: not known */
	uint8_t direction;        /* of a copy: enum copy_direction */
	bool is_copy;
};

/* Told to the session; puts them into another order. 0 or -ENOMEM. */
int device_work_add_up(struct session *s, struct device_work *work, size_t n);

#endif
