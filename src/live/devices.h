/* SPDX-License-Identifier: MIT */
#ifndef PROTON_LIVE_DEVICES_H
#define PROTON_LIVE_DEVICES_H
/* What devices of this machine say of themselves, whoever uses them: a session without a program. Helper processes ask
 * (sensors/watch.h, counters/counting.h); what they are refused is a note of the session.
 *
 *   errors  -errno
 *   thread  one */
#include <stdbool.h>
#include <stdint.h>
#include "base/buf.h"
#include "core/session.h"

#define DEVICES_MOST 64
#define DEVICES_ALL  UINT64_MAX

struct devices_options {
	uint64_t numbers;     /* bits, as nvidia-smi counts them; or DEVICES_ALL that there are */
	uint64_t counters_ns; /* how often hardware counters are read; 0: never */
	bool no_sensors;
};

struct devices;

/* Find them, which may take seconds. -ENODEV: there is none of that number; -ENXIO: none at all; why is added to
 * `why`. */
int devices_new(const struct devices_options *options, struct devices **ret_devices,
		struct buf *why);
struct devices *devices_free(struct devices *d);

struct session *devices_session(struct devices *d);
/* Take what was told. Call it as often as you like. */
void devices_read(struct devices *d);
/* Have those that are asked said something, or had the time to? */
bool devices_have_answered(const struct devices *d);
/* Take the rest, and give the hardware back. The session has ended then. */
void devices_finish(struct devices *d);
/* A note of the session that was not told before: NULL, or a sentence that is valid until the next call. */
const char *devices_news(struct devices *d);

#endif
