/* SPDX-License-Identifier: MIT */
#ifndef PROTON_SENSORS_WATCH_H
#define PROTON_SENSORS_WATCH_H
/* What the devices of a session say of themselves while it runs (core/sensors.h). A helper process is
 * started with the first device that has such a library; where there is none, nothing happens.
 *   thread  one */
#include <stdbool.h>
#include <stdint.h>
#include "core/session.h"
#include "launch/probe.h"

struct watch {
	bool off;         /* do not look */
	const char *path; /* of the session directory: borrowed; NULL: of no run */
	struct probe_child helper;
	struct probe told; /* how it ended */
	struct watch_page *page;
	struct watch_device {
		uint32_t device; /* of the session */
		double looks;    /* of the helper, so far */
		uint64_t new_ns; /* when there were more of them; 0: there was none yet */
	} devices[64];           /* in the order of the page */
	uint32_t n;              /* devices */
	uint64_t next_ns, last_ns;
	uint32_t beats;     /* of the helper, so far */
	uint64_t silent_ns; /* since there were more of them */
	bool is_told;       /* … that it is silent */
};

/* Look for new devices, and take what is known of the others into the session. Call it as often as
 * you like. */
void watch_update(struct watch *w, struct session *s);
/* Take it once more, and end the helper. */
void watch_finish(struct watch *w, struct session *s);
void watch_done(struct watch *w);

#endif
