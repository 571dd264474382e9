/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BACKENDS_CUPTI_REFUSALS_H
#define PROTON_BACKENDS_CUPTI_REFUSALS_H
/* Why CUPTI refuses what it counts, and what somebody can do about it. Also of the commands that ask it, which have no
 * backend (src/counters). */
#include <stdint.h>

/* What permits it, where the driver keeps it for administrators. */
#define CUPTI_PERMITTED_BY                                                                         \
	"CAP_SYS_ADMIN (CAP_PERFMON from driver 565 on), or 'options nvidia "                      \
	"NVreg_RestrictProfilingToAdminUsers=0' in /etc/modprobe.d"

/* What was asked for. */
enum cupti_counting {
	CUPTI_SAMPLES_COUNTERS = 1, /* PM sampling */
	CUPTI_COUNTS_RANGES = 2,
	CUPTI_SAMPLES_CODE = 4, /* PC sampling */
};

/* The end of a sentence that says what there is not, a constant; NULL: it is no refusal, but an error of some call.
 * result: of CUPTI, of any of its numbers (enum abi_result).
 *   thread  any */
const char *cupti_refusal(enum cupti_counting what, uint32_t result);

#endif
