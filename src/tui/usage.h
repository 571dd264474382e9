/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_USAGE_H
#define PROTON_TUI_USAGE_H
/* What each device and each process has done: sums over the session's rows, and how much they grew
 * in the last window. Updated with each picture, so it stands still while that is frozen. */
#include <stddef.h>
#include <stdint.h>
#include "base/human.h"
#include "core/sensors.h"
#include "core/session.h"

struct usage_sum {
	double time_ns; /* of everything on the device: kernels, copies, sets */
	double count;
	double copy_bytes; /* of copies */
	double busy_ns;    /* time in which something ran; overlaps count once in each process */
	double copying_ns; /* of that copies; 0: none, or not known */
	double hidden_ns;  /* of these while something else ran, too */
	unsigned n_busy;   /* of a process: on how many devices something ran */
};

struct usage_entry {
	struct usage_sum sum, before;
	/* per second in the last window; NaN when there is none. busy = 1: all the time; of a run
	 * that is over, its share of the whole run. Processes that share a device add up, so it may
	 * exceed 1. */
	double busy, count_rate, copy_rate;
};

#define USAGE_PAST 1024 /* windows that are kept */

/* Of what sensors say how it is now, that of which the past is kept. */
enum usage_sensor { USAGE_CLOCK, USAGE_POWER, USAGE_TEMPERATURE, USAGE_MEMORY, USAGE_SENSORS };

/* What a device did in window i, at i % USAGE_PAST, and what its sensors said at its end. NaN: it was not known then. */
struct usage_past {
	float busy[USAGE_PAST], copy_rate[USAGE_PAST], sensors[USAGE_SENSORS][USAGE_PAST];
};

struct usage {
	struct usage_entry *devices, *processes;
	struct usage_past *past; /* of the devices */
	uint32_t *order;         /* of the devices, as people count them (core/device_order.h) */
	size_t n_devices, n_processes, n_past, cap_devices, cap_processes, cap_past;
	uint64_t n_windows;  /* so far */
	uint64_t updated_ns; /* end of the last window */
	bool is_over;        /* the run was over by then */
};

void usage_done(struct usage *u);
/* A ring of what a sensor said. NULL: it is not kept. */
const float *usage_sensor_past(const struct usage *u, uint32_t device, enum sensor sensor);
/* A busy share in percent, at most 100. */
void usage_percent(char out[HUMAN_MAX], double busy);
/* now_ns ends the window that began with the call before; 0: there is none. 0 or -ENOMEM (the old values stay). */
int usage_update(struct usage *u, const struct session *s, uint64_t now_ns);

#endif
