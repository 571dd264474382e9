/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_PEAKS_H
#define PROTON_CORE_PEAKS_H
/* What a device could do at most: the roofs of the roofline. The table is data/peaks.txt, built in;
 * lines of the same form may replace or extend it.
 *   thread  one */
#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/buf.h"
#include "core/session.h"

#define PEAK_WIDTHS 4 /* operations of 8, 16, 32 and 64 bits */

struct peaks;

struct peaks *peaks_new(void); /* the built-in table; NULL: no memory */
struct peaks *peaks_free(struct peaks *p);
/* Take lines as data/peaks.txt has them. 0, -ENOMEM, or -EINVAL and the number of the bad line. */
int peaks_parse(struct peaks *p, const char *text, unsigned *ret_line);

/* What was measured on this machine: "proton doctor --measure". In its file a line is a device: its uuid, and
 * "key=bytes a second" for each.
 *        id                    key                     what */
#define MEASURED_RATES(_)                                                                          \
	_(TO_DEVICE, "to_device", "pinned memory to the device")                                   \
	_(TO_HOST, "to_host", "the device to pinned memory")                                       \
	_(PAGEABLE_TO_DEVICE, "pageable_to_device", "pageable memory to the device")               \
	_(DEVICE_TO_PAGEABLE, "device_to_pageable", "the device to pageable memory")               \
	_(MEMORY, "memory", "memory of the device")
enum peak_measured {
#define _(id, key, what) MEASURED_##id,
	MEASURED_RATES(_)
#undef _
		N_MEASURED
};
struct measured {
	char uuid[64];
	double rates[N_MEASURED]; /* NaN: not known */
};
const char *measured_word(enum peak_measured what);
/* A line of the file. False: it is none. */
bool measured_parse(const char *line, struct measured *ret);
void measured_put(const struct measured *m, struct buf *out);
/* Take the lines of such a file: these come before the table. Lines that are none are left out. 0 or -ENOMEM. */
int peaks_take_measured(struct peaks *p, const char *text);
/* Bytes in a second; NaN: not measured. */
double peaks_measured(const struct peaks *p, const struct session *s, uint32_t device,
		      enum peak_measured what);

/* Operations in a second, i = 0..3 for 8..64 bits; NaN: not known. */
double peaks_flops(const struct peaks *p, const struct session *s, uint32_t device, unsigned i);
/* Those that are no matrix products; of a width of which the table does not say it, all. */
double peaks_core_flops(const struct peaks *p, const struct session *s, uint32_t device,
			unsigned i);
/* Of memory: bytes in a second, as it was measured, else as the table or the bus say; NaN: not known. */
double peaks_bandwidth(const struct peaks *p, const struct session *s, uint32_t device);

#endif
