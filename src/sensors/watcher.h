/* SPDX-License-Identifier: MIT */
#ifndef PROTON_SENSORS_WATCHER_H
#define PROTON_SENSORS_WATCHER_H
/* The helper process: looks at devices, for as long as its parent lives. What it finds is in memory that
 * both share. A device that does not answer, or a library that crashes, is this process's trouble. */
#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>
#include "core/sensors.h"

#define WATCH_DEVICES 64

struct watched {
	char uuid[56];   /* by the parent, once */
	uint32_t source; /* of look_sources; by the parent, once */
	/* By the helper: odd while it writes. */
	_Atomic uint32_t version;
	struct sensors sensors;
};

struct watch_page {
	_Atomic uint32_t
		n; /* devices to look at; grows. For the helper: the parent knows it better */
	/* By the helper: grows with each round of looks; which of look_sources is asked just now, and 1, else 0. */
	_Atomic uint32_t beats, asked;
	struct watched devices[WATCH_DEVICES];
};

/* parent: who records; session: the directory by which its processes are known; NULL: it has
 * none, and nobody there is another. Returns where no device has such a library. */
void watch_devices(struct watch_page *page, pid_t parent, const char *session);

/* In the parent: what is known of device i so far. False: nothing, or it is just being written. */
bool watched_read(struct watch_page *page, uint32_t i, struct sensors *ret);

#endif
