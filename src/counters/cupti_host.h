/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COUNTERS_CUPTI_HOST_H
#define PROTON_COUNTERS_CUPTI_HOST_H
/* What NVIDIA's library knows of hardware counters, by the name of a chip and with no GPU: which
 * metrics there are, and how often a kernel must run for a set of them (passes).
 *
 * It is somebody else's code, which may crash: only a process made for it calls these functions
 * (launch/probe.h; counters/ask.h does).
 *
 *   errors  -errno, or a result of CUPTI, which is above 0
 *   thread  one */
#include <stdint.h>
#include "backends/cupti_chip.h"

struct cupti_host {
	struct cupti_host_api api;
	void *library;
	char *path; /* of the library */
	uint32_t version;
};

/* Look where a run would look for libcupti, and stay with the first that has the host API. seen is told
 * a name that is about to be loaded, or why one is no good. 0 or -ENOENT. */
typedef void cupti_seen_fn(void *ctx, const char *loading, const char *broken);
int cupti_host_open(struct cupti_host *h, cupti_seen_fn *seen, void *ctx);
void cupti_host_close(struct cupti_host *h);

#endif
