/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_PEAKS_H
#define PROTON_CORE_PEAKS_H
/* What a device could do at most: the roofs of the roofline. The table is data/peaks.txt, built in;
 * lines of the same form may replace or extend it.
 *   thread  one */
#include <stddef.h>
#include <stdint.h>
#include "core/session.h"

#define PEAK_WIDTHS 4 /* operations of 8, 16, 32 and 64 bits */

struct peaks;

struct peaks *peaks_new(void); /* the built-in table; NULL: no memory */
struct peaks *peaks_free(struct peaks *p);
/* Take lines as data/peaks.txt has them. 0, -ENOMEM, or -EINVAL and the number of the bad line. */
int peaks_parse(struct peaks *p, const char *text, unsigned *ret_line);

/* Operations in a second, i = 0..3 for 8..64 bits; NaN: not known. */
double peaks_flops(const struct peaks *p, const struct session *s, uint32_t device, unsigned i);
/* Bytes in a second; NaN: not known. */
double peaks_bandwidth(const struct peaks *p, const struct session *s, uint32_t device);

#endif
