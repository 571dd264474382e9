/* SPDX-License-Identifier: MIT */
#ifndef PROTON_WIRE_SENSORS_H
#define PROTON_WIRE_SENSORS_H
/* What a tape says of devices' sensors (core/sensors.h): written by who looks at them, not by a
 * collector.
 *   thread  one */
#include <stdint.h>
#include "base/buf.h"
#include "core/session.h"

/* A frame for each device that has a uuid and was looked at. */
void wire_sensors_frames(const struct session *s, uint64_t time_ns, struct buf *out);
/* The payload of one frame, for a device that the session knows by now; it replaces what was known.
 * 0, -EBADMSG or -ENOMEM. */
int wire_sensors_take(struct session *s, const void *payload, size_t size);

#endif
