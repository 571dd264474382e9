/* SPDX-License-Identifier: MIT */
#ifndef PROTON_WIRE_CONTROL_H
#define PROTON_WIRE_CONTROL_H
/* The session directory and its control page: how proton steers the collectors.
 *
 *   $PROTON_SESSION/          0700, made by proton, removed by it
 *       stream                FIFO: frames from all collectors
 *       control               this page, mmapped shared by everybody
 *       INSTANCE-N.segment    bulk data (wire.h, struct wire_segment)
 *       INSTANCE-N.session    a session of the program that is to be written (wire.h)
 *       INSTANCE-N.answer     a part of one that it asks for (wire.h)
 *       metrics, intra        what is measured (core/ranges_wanted.h, core/intra_wanted.h)
 *       counters-UUID         samples of a device's hardware counters (core/counted_samples.h)
 *       INSTANCE-N.warps      scopes of single warps of a launch (intra/warp_file.h)
 *       INSTANCE.rest         the last frames of a process that found the FIFO full at its end
 *
 * proton writes the wanted state; collectors look at it once a period. A counter that changed is a
 * request. All fields are read and written atomically. */
#include <stdatomic.h>
#include <stdint.h>
#include "core/run_wanted.h"

#define CONTROL_ENV     "PROTON_SESSION" /* path of the directory */
#define CONTROL_MAGIC   UINT32_C(0x50435452)
#define CONTROL_VERSION 7

struct control_page {
	uint32_t magic, version;
	_Atomic uint32_t period_ms;     /* sender period; CONTROL_PERIOD_MS */
	_Atomic uint32_t paused;        /* 1: records are not added */
	_Atomic uint32_t reset;         /* changed: forget values (cumulative from zero) */
	_Atomic uint32_t flush;         /* changed: deliver now */
	_Atomic uint32_t resync;        /* changed: send all definitions and values again */
	_Atomic uint32_t stop;          /* 1: stop collecting for good */
	_Atomic uint32_t alive;         /* 0: proton is gone: stop sending, keep running */
	_Atomic uint32_t connected;     /* collectors that ever opened the stream */
	_Atomic uint32_t gpu_connected; /* … and saw a device */
	_Atomic uint32_t n_with_news;   /* processes that had something to send */
	_Atomic uint32_t n_late;        /* values that came after their process's last word */
	_Atomic uint32_t n_refused;     /* processes whose collector got no memory */
	_Atomic uint32_t n_unsent;      /* processes that could not say all */
	_Atomic uint32_t n_left_open;   /* scopes that other threads were in when a process ended */
	_Atomic uint64_t start_ns;      /* of the run, CLOCK_MONOTONIC; 0: not yet */
	struct run_wanted wanted;       /* set before there is a collector */
};

#define CONTROL_PERIOD_MS 100u

_Static_assert(sizeof(struct control_page) == 496, "control_page");

#endif
