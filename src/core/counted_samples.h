/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_COUNTED_SAMPLES_H
#define PROTON_CORE_COUNTED_SAMPLES_H
/* The newest samples of a device's hardware counters, one by one, in a file of the session directory: for
 * collectors, which know when single operations ran.
 *
 *   helper ── written ──> ring ──> every collector, as far as it has looked
 *
 * Nobody waits for a reader: one that is too late finds other samples in their place, and looks at `written`
 * again after it has copied one. One whose process ends asks for what has not been read, and waits a little. */
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include "base/clock.h"
#include "base/util.h"
#include "core/counted.h"

#define COUNTED_SAMPLES_NAME  "counters-%s" /* the device's uuid */
#define COUNTED_SAMPLES_MAGIC UINT32_C(0x53435250)
#define COUNTED_KEPT_NS                                                                            \
	(4 * NSEC_PER_SEC) /* of samples: longer than any collector waits for others */
enum { COUNTED_KEPT_LEAST = 1 << 12, COUNTED_USERS = 64 };

struct counted_sample {
	uint64_t start_ns, end_ns; /* CLOCK_REALTIME */
	float v[COUNTED_N];        /* NaN: not counted */
};

/* From when to when a process had work there. */
struct counted_user {
	_Atomic uint64_t instance; /* 0: none */
	_Atomic uint64_t from_ns, until_ns;
	_Atomic uint64_t
		known_ns; /* all that began before is in these; UINT64_MAX: it has no more */
};

struct counted_samples {
	uint32_t magic, n_values; /* COUNTED_N of who writes */
	uint64_t interval_ns;
	uint64_t kept;            /* samples for which v has room */
	_Atomic uint64_t written; /* since the beginning */
	_Atomic uint32_t
		asked; /* a process ends: what the hardware has is to be read now; by a collector */
	struct counted_user users[COUNTED_USERS];
	struct counted_sample v[];
};

/* Samples that are kept at an interval. */
static inline uint64_t counted_samples_kept(uint64_t interval_ns)
{
	return MAX(COUNTED_KEPT_NS / interval_ns, (uint64_t)COUNTED_KEPT_LEAST);
}

static inline uint64_t counted_samples_bytes(uint64_t kept)
{
	return sizeof(struct counted_samples) + kept * sizeof(struct counted_sample);
}

#endif
