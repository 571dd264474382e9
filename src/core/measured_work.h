/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_MEASURED_WORK_H
#define PROTON_CORE_MEASURED_WORK_H
/* Operations and bytes of kernels as hardware counted them (record --metrics, ADR 62), from the metrics that a row has.
 *
 *     FADD + FMUL + 2 FFMA …, what ran in tensor cores ──> operations by width
 *     bytes of DRAM, or sectors read and written       ──> bytes
 *
 * They are of the kernels that were measured, as their time is. Operations are known where all that could
 * be any were counted: a sum that lacks those of tensor cores would tell of a slow kernel.
 *   thread  one */
#include <stdbool.h>
#include "core/peaks.h"
#include "core/session.h"

struct measured_work {
	double time_ns, bytes; /* NaN: not measured */
	/* By width, 8 to 64 bits, each that of what is multiplied: an fma is two operations, one of two halves is four. All
	 * are NaN where one of them is. */
	double flops[PEAK_WIDTHS];
	double tensor_flops[PEAK_WIDTHS]; /* … those of them that tensor cores did */
};

/* What the metrics of a session are to it. All zero at first. */
struct measured_metrics {
	uint8_t *parts; /* by metric */
	uint32_t n;
	size_t cap;
	uint32_t time; /* METRIC_NONE: no kernel of the session was measured */
};

/* Look at the metrics that are new. 0 or -ENOMEM */
int measured_metrics_update(struct measured_metrics *m, const struct session *s);
void measured_metrics_done(struct measured_metrics *m);
/* False: it is not the row of a set that was measured, which has its time; or of ranges of scopes, which are on lanes of
 * the host (ADR 65): their time is the host's, and has pauses of the device. */
bool measured_work_of(const struct measured_metrics *m, const struct session *s,
		      const struct session_row *row, struct measured_work *ret);
/* Those of all widths that tensor cores did. */
double measured_tensor_flops(const struct measured_work *w);
/* Seconds that the operations take at the peaks of who did them: tensor cores, or what does one at a time. NaN: a peak
 * is not known. */
double measured_compute_time(const struct measured_work *w, const struct peaks *peaks,
			     const struct session *s, uint32_t device);
/* What of it METRIC_BYTES, METRIC_FLOPS8 … names, or METRIC_FLOPS and METRIC_ANY_FLOPS, which are all; NaN: not known, or none. */
double measured_amount(const struct measured_work *w, uint32_t metric);

#endif
