/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BACKENDS_OPENCL_CLOCK_H
#define PROTON_BACKENDS_OPENCL_CLOCK_H
/* The clock of an OpenCL device, as CLOCK_REALTIME. What a device counts from is its own, but each command says
 * within what it lies:
 *
 *   host    called      returned                     seen      (the hook, and the callback)
 *             ├─────────────┤                          │
 *   device       queued         start ├───────┤ end            host = device + offset
 *
 *   called - queued <= offset <= returned - queued     and     offset <= seen - end
 *
 * All that commands say is true at once, but for the drift of the clocks: the bounds widen as time goes on. The
 * offset stays as it is until they exclude it, so that times of commands which follow each other stay apart as
 * they were. It never puts a start before its call, nor an end after it was seen.
 *   thread  one at a time a clock
 *   errors  none */
#include <stdbool.h>
#include <stdint.h>

struct opencl_clock {
	int64_t offset, least, most; /* ns to add; they wrap */
	uint64_t at_ns;      /* when the bounds were so: CLOCK_REALTIME; 0: nothing is known */
	bool ignores_queued; /* they are of some other clock */
};

struct opencl_sight {
	uint64_t called_ns, returned_ns, seen_ns; /* CLOCK_REALTIME */
	uint64_t queued, start, end; /* the device's, ns, start <= end; queued 0: not known */
};

/* What it adds to the device's times to have those of the host. */
int64_t opencl_clock_see(struct opencl_clock *c, const struct opencl_sight *s);

#endif
