/* SPDX-License-Identifier: MIT */
#ifndef PROTON_FINDINGS_UNITS_H
#define PROTON_FINDINGS_UNITS_H
/* How busy parts of a device were with a kernel, as hardware counters say: by samples that fell wholly inside it
 * (ADR 61), else by metrics of its launches (ADR 62). Each is a share of what the part can do at most in the time that was
 * looked at, 0..1; NaN: not known.
 *   thread  one */
#include "base/human.h"
#include "findings/rules.h"

struct units {
	double n;        /* samples, or launches that were measured */
	bool by_samples; /* which of them */
	double tensor; /* tensor cores; of metrics: 0 where no operation was theirs, else not known */
	double single; /* arithmetic of 32 bits elsewhere; of metrics: its share of all operations */
	double memory; /* the device's */
};

/* False: nobody looked. */
bool units_of(const struct evidence *e, uint32_t node, struct units *ret);

/* What was looked at, of several kernels: a number is told as exactly as it is known. */
struct units_looked {
	double samples, launches;
};
void units_looked_add(struct units_looked *looked, const struct units *units);
/* Is it enough to be told? Metrics of launches are exact. */
bool units_looked_enough(const struct units_looked *looked);
#define UNITS_LOOKED_TEXT (2 * HUMAN_THINGS_MAX + 8)
/* "12 samples", "3 measured kernels", or both. Returns out. */
const char *units_looked_text(const struct units_looked *looked, char out[UNITS_LOOKED_TEXT]);

/* How much faster tensor cores of a device multiply 32 bits than the rest of it, at the peak of both; NaN: not known. */
double tensor_speedup(const struct evidence *e, uint32_t device);

#endif
