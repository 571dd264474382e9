/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COUNTERS_PM_H
#define PROTON_COUNTERS_PM_H
/* PM sampling of one device: its hardware counters, read at an interval, of all that runs there.
 *
 *   pm_open() ─> pm_read(), again and again ─> samples
 *
 *   errors  a result of CUPTI, or -errno
 *   thread  one, in a process that may die of it (counters/counter.h) */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "backends/cupti_pm_abi.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/util.h"
#include "counters/cupti_host.h"
#include "counters/plan.h"

/* Samples that are decoded at a time: each costs 10 us, whether it comes or not, and 90 us when it does (H200, CUDA 13.0). Of twice as
 * many CUPTI loses what comes then, so they are read before. */
#define PM_ROOM            64
#define PM_PERIOD_SAMPLES  25
#define PM_PERIOD_LEAST_NS (NSEC_PER_SEC / 20)
#define PM_PERIOD_MOST_NS  (NSEC_PER_SEC / 4)

/* Between two reads. */
static inline uint64_t pm_period_ns(uint64_t interval_ns)
{
	uint64_t ns =
		MIN(MAX(PM_PERIOD_SAMPLES * interval_ns, PM_PERIOD_LEAST_NS), PM_PERIOD_MOST_NS);

	return MIN(ns, PM_ROOM * interval_ns * 3 / 4);
}

struct pm {
	const struct cupti_host *host;
	const struct cupti_pm_api *api;
	size_t device; /* of the driver */
	uint64_t interval_ns;
	struct cupti_chip chip;
	struct plan plan;
	const char **names; /* that are counted: of the plan */
	size_t n;
	double *values;
	uint8_t *availability, *image, *data;
	size_t image_bytes, data_bytes;
	void *sampling;
	bool is_first;  /* the next sample is the first since sampling began: its start is none */
	const char *at; /* the call that failed */
};

/* False: this CUPTI has no PM sampling. */
bool pm_bind(const struct cupti_host *host, struct cupti_pm_api *ret);

/* host, api and set stay the caller's. ABI_UNSUPPORTED with at NULL: the chip has no metric of the set. pm_close()
 * frees either way. */
int pm_open(struct pm *pm, const struct cupti_host *host, const struct cupti_pm_api *api,
	    size_t device, uint64_t interval_ns, const struct metric_set *set);
void pm_close(struct pm *pm);
/* What r says, of pm_open() or pm_read(), before pm_close(): the end of a sentence, which may be in scratch. */
const char *pm_trouble(const struct pm *pm, int r, struct buf *scratch);

/* values: one a name, NaN where it has none. */
typedef void pm_sample_fn(void *ctx, const struct pm *pm, uint64_t start_ns, uint64_t end_ns,
			  const double *values);
/* All samples that are there. ABI_PM_OVERFLOW: some are lost, and sampling began anew. */
int pm_read(struct pm *pm, pm_sample_fn *fn, void *ctx);

#endif
