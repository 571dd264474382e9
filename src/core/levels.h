/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_LEVELS_H
#define PROTON_CORE_LEVELS_H
/* How much memory of a device a process held over time, from the samples of a trace: each holds until the next.
 *
 *   bytes      ┌──┐
 *         ┌────┘  └─────
 *    ─────┘                time ─>
 *   thread  one */
#include <stddef.h>
#include <stdint.h>
#include "core/session.h"

struct level {
	uint64_t start_ns;
	double bytes;
};

struct levels {
	struct level *v; /* by time */
	size_t n;
	double peak;
};

/* Those of a process on a device, with shift_ns added to their times; none where nothing is known. 0 or -ENOMEM. */
int levels_init(struct levels *l, const struct session *s, uint32_t process, uint32_t device,
		uint64_t shift_ns);
void levels_done(struct levels *l);
/* The most that was held at any moment of [from, to). */
double levels_most(const struct levels *l, uint64_t from_ns, uint64_t to_ns);

#endif
