/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COUNTERS_COUNTER_H
#define PROTON_COUNTERS_COUNTER_H
/* The helper process that counts: it samples all devices that it sees, for as long as its parent lives.
 * What it counted is in memory that both share, a ring of times for each device:
 *
 *   hardware ── pm_read() ──> struct counted ── written ──> ring ── taken ──> counting.c
 *
 * A driver that hangs or crashes is this process's trouble. What it has to say it tells in lines
 * (launch/probe.h): "stage TEXT", "note TEXT" for the user. */
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include "backends/cuda_uuid.h"
#include "core/counted.h"
#include "launch/probe.h"

#define COUNTER_DEVICES 32
#define COUNTER_TIMES   1024
#define COUNTER_ROW_NS  1000000 /* samples that are shorter are put together */

struct counter_ring {
	char uuid[CUDA_UUID_TEXT]; /* by the helper, once */
	/* Times since the beginning, modulo 2^32; the first is the helper's, the second the parent's. */
	_Atomic uint32_t written, taken;
	struct counted times[COUNTER_TIMES];
};

enum counter_state {
	COUNTER_STARTS, /* nothing of the hardware is taken */
	COUNTER_HOLDS,
	COUNTER_OVER, /* all is given back, and told */
};

struct counter_page {
	uint64_t interval_ns; /* by the parent, before */
	/* Devices that are sampled; by the parent, before. None: all that are shown to a program. */
	struct counter_wanted {
		char uuid[CUDA_UUID_TEXT];
		int32_t number; /* as people count them */
	} wanted[COUNTER_DEVICES];
	uint32_t n_wanted;
	char dir[256];          /* for samples (core/counted_samples.h); "": nobody reads them */
	_Atomic uint32_t stop;  /* by the parent: take what is there, and end */
	sem_t wake;             /* … and do not sleep any longer */
	_Atomic uint32_t state; /* enum counter_state */
	_Atomic uint64_t beats; /* grows while it is well */
	_Atomic uint64_t lost;  /* samples so far */
	_Atomic uint32_t n;     /* devices */
	struct counter_ring rings[COUNTER_DEVICES];
};

/* ctx: the page. Returns when there is nothing to count. */
probe_fn counter_main;

#endif
