/* SPDX-License-Identifier: MIT */
#ifndef PROTON_FORMAT_COUNTERS_H
#define PROTON_FORMAT_COUNTERS_H
/* What traces have of a device as a whole, beside its single executions: for how much of the time it had work, and how
 * much of its memory the process held. Each value holds until the next of its counter, or until a time begins of which
 * nothing is known: that is marked, with the reason (core/unrecorded.h). Beside it what hardware counters of the device
 * said, in the group of the first process that used it; their times are put on the clock of that.
 *   thread  one */
#include "core/counted.h"
#include "core/unrecorded.h"
#include "format/timeline.h"

enum counter {
	COUNTER_BUSY,
	COUNTER_MEMORY,
	COUNTER_HARDWARE, /* and so on, by their numbers (core/counted.h): of the whole device, whoever works there */
	COUNTER_N = COUNTER_HARDWARE + COUNTED_N
};

struct counter_track {
	const char *name; /* "SM active %" */
	const char *key;  /* what a value is called, where it has a name of its own */
};
extern const struct counter_track counter_tracks[COUNTER_N];

typedef void counter_put(void *ctx, uint32_t group, enum counter counter, uint64_t ns,
			 double value);

/* Values in the order of time, counter by counter, none before the first event. 0 or -ENOMEM. */
int counters_put(const struct timeline *t, const struct session *s, counter_put *put, void *ctx);

typedef void unrecorded_put(void *ctx, uint32_t group, const struct unrecorded_span *span);

#define UNRECORDED_TRACK                                                                           \
	"not all recorded" /* of a device: where they are; what was recorded of it stands on the others */

/* The times of each device in which not all was recorded, as far as the trace goes. 0 or -ENOMEM. */
int unrecorded_put_all(const struct timeline *t, const struct session *s, unrecorded_put *put,
		       void *ctx);

#endif
