/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_ROOFLINE_H
#define PROTON_CORE_ROOFLINE_H
/* Points of a roofline plot: what is executed, by operations a byte and operations a second.
 *
 *     flop/s │       ____________ peak
 *            │   o /   o             a point needs operations, bytes and time;
 *            │   /                   those that lack one are counted, not placed
 *            └───────────── flop/B
 *   thread  one */
#include <stddef.h>
#include <stdint.h>
#include "core/numbers.h"
#include "core/peaks.h"

/* The peaks of a device: of operations of 8 to 64 bits, and behind them of those that are no matrix products. */
#define ROOFLINE_CORES   PEAK_WIDTHS
#define ROOFLINE_ROOFS   (2 * PEAK_WIDTHS)
#define ROOFLINE_NO_ROOF ROOFLINE_ROOFS /* of operations of which nobody said how wide they are */

struct roofline_point {
	uint32_t node; /* the heaviest calling context */
	uint32_t frame;
	uint32_t device; /* where that ran, or SESSION_NONE */
	uint8_t roof;    /* of most operations; ROOFLINE_NO_ROOF */
	double time_ns, flops, bytes;
	/* The part of the time in which what has operations, and what has bytes, ran: what lacks a
	 * number says nothing of how fast others are. GB/s and TF/s are over the same. */
	double flops_ns, bytes_ns;
	double heaviest_ns;
};

enum roofline_of { ROOFLINE_KERNELS, ROOFLINE_SCOPES /* what has kernels below it */ };

struct roofline {
	struct roofline_point *points; /* the longest time first */
	size_t n, cap;
	size_t n_without_flops, n_without_bytes; /* that have time */
};

void roofline_done(struct roofline *r);
/* 0 or -ENOMEM. Of operations that were counted the peaks tell whose they are (core/measured_work.h). */
int roofline_make(struct roofline *r, struct snapshot *snap, struct numbers *numbers,
		  const struct peaks *peaks, enum roofline_of of);

/* Operations in a second, at most. */
double roofline_peak(const struct peaks *peaks, const struct session *s, uint32_t device,
		     unsigned roof);

static inline double roofline_intensity(const struct roofline_point *p)
{
	return p->flops / p->bytes;
}

/* Operations in a second. */
static inline double roofline_rate(const struct roofline_point *p)
{
	return p->flops / p->flops_ns * 1e9;
}

/* Bytes in a second. */
static inline double roofline_traffic(const struct roofline_point *p)
{
	return p->bytes / p->bytes_ns * 1e9;
}

#endif
