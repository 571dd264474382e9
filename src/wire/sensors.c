/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "wire/sensors.h"
#include <errno.h>
#include <string.h>
#include "base/util.h"
#include "core/device_by_uuid.h"
#include "wire/wire.h"

struct sensors_frame {
	struct wire_header h;
	struct wire_sensors head;
	double v[SENSOR_N];
};

static void put(const struct session *s, const struct session_sensors *sensors, uint64_t time_ns,
		struct buf *out)
{
	const char *uuid = strtab_str(s->strings, s->devices[sensors->device].uuid);
	struct sensors_frame f = {.h = {.magic = WIRE_MAGIC,
					.kind = WIRE_SENSORS,
					.length = sizeof(f),
					.n = 1,
					.seq = WIRE_NO_SEQ,
					.time_ns = time_ns},
				  .head = {.n = SENSOR_N}};

	if (!*uuid || strlen(uuid) >= sizeof(f.head.uuid))
		return;
	memcpy(f.head.uuid, uuid, strlen(uuid));
	memcpy(f.v, sensors->of.v, sizeof(f.v));
	buf_put(out, &f, sizeof(f));
}

void wire_sensors_frames(const struct session *s, uint64_t time_ns, struct buf *out)
{
	for (size_t i = 0; i < s->n_sensors; i++)
		put(s, &s->sensors[i], time_ns, out);
}

/* A newer version may know more numbers, behind these. A device that is not known yet will be: the
 * frame comes again. */
int wire_sensors_take(struct session *s, const void *payload, size_t size)
{
	struct sensors taken = {{0}}, *now;
	struct wire_sensors head;
	uint32_t device;

	if (size < sizeof(head))
		return -EBADMSG;
	memcpy(&head, payload, sizeof(head));
	if (head.n > (size - sizeof(head)) / sizeof(double) ||
	    head.uuid[sizeof(head.uuid) - 1] != '\0')
		return -EBADMSG;
	memcpy(taken.v, (const char *)payload + sizeof(head),
	       MIN(head.n, (uint32_t)SENSOR_N) * sizeof(double));
	device = device_by_uuid(s, head.uuid, sizeof(head.uuid));
	if (device == SESSION_NONE)
		return 0;
	now = session_sensors_of(s, device);
	if (!now)
		return -ENOMEM;
	*now = (struct sensors){{0}};
	sensors_add(now, &taken);
	return 0;
}
