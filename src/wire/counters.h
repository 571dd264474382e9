/* SPDX-License-Identifier: MIT */
#ifndef PROTON_WIRE_COUNTERS_H
#define PROTON_WIRE_COUNTERS_H
/* What a tape says of hardware counters (core/counted.h): written by who counts, not by a collector.
 *   thread  one */
#include <stddef.h>
#include <stdint.h>
#include "base/buf.h"
#include "core/session.h"

/* Until when the times of each device are on the tape. */
struct wire_counters_told {
	uint64_t *end_ns;
	size_t n, cap;
};
void wire_counters_told_done(struct wire_counters_told *told);

/* Frames for what was counted since the last time. 0 or -ENOMEM. */
int wire_counters_frames(const struct session *s, struct wire_counters_told *told, uint64_t time_ns,
			 struct buf *out);
/* The payload of one frame; a device that the session does not know has no times. 0, -EBADMSG or -ENOMEM. */
int wire_counters_take(struct session *s, const void *payload, size_t size);

#endif
