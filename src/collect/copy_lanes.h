/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_COPY_LANES_H
#define PROTON_COLLECT_COPY_LANES_H
/* Copies by device, context, stream, direction and channel of the hardware: how long they ran, and how much of that was
 * hidden under other work (core/hidden.h). There is room for 128 of these places; copies elsewhere count together, for
 * each device.
 *   thread  whoever holds the taker's place (intervals.c), but for copy_lanes_send(), copy_lanes_resend() (the
 *           sender) and copy_lanes_bytes() (any) */
#include <stdbool.h>
#include <stdint.h>
#include "core/coverage.h"
#include "wire/encode.h"
#include "wire/wire.h"

enum { COPY_LANES_RUN = 512 };

/* What is special about an operation. */
struct copy_way {
	bool is_copy;
	uint8_t direction, channel_kind; /* enums of core/activity.h */
	uint32_t channel;
	uint64_t bytes;
};

/* n operations on a device, at most COPY_LANES_RUN, sorted by start. `o` gets them: others and copies of the device; v and way: of each. */
void copy_lanes_cover(uint32_t device, struct overlap *o, const struct span *run,
		      const struct wire_epoch_interval *v, const struct copy_way *way, uint32_t n);
/* As of now there were none; what is over by `since` on this device does not count any more. */
void copy_lanes_reset(uint32_t device, uint64_t since);
void copy_lanes_look(void);   /* what is known by now is sent next */
void copy_lanes_forked(void); /* in a fork child */
int copy_lanes_send(struct wire_encoder *e, uint32_t n_devices);
void copy_lanes_resend(void);
uint64_t copy_lanes_bytes(void); /* of memory that is in use */

#endif
