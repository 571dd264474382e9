/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_STEPPED_H
#define PROTON_CORE_STEPPED_H
/* The loops of a profile whose steps were told apart (collect/steps.h, metric.h), of all processes together.
 *   thread  one */
#include <stdbool.h>
#include <stdint.h>
#include "core/session.h"

enum { STEPPED_NAME = 96, STEPPED_TEXT = 128 };

/* Times are of the host, in ns; NaN: not known. */
struct stepped {
	uint32_t node;    /* the first of the scopes; the root: found by what was launched */
	uint32_t process; /* of the slowest; SESSION_NONE: not known */
	unsigned n_processes;
	double n; /* of all processes, without the first of each */
	double mean_ns, median_ns, p95_ns, deviation_ns, min_ns, max_ns, first_ns;
	double slowest;  /* the number of the slowest */
	double apart_ns; /* from the end of one to the start of the next, mean */
	double works;    /* operations of a step that was found by these */
	double others;   /* steps that were not like the others, or began anew */
	/* How long devices worked in a step, and did not, of so many of which that is known (core/step_busy.h). */
	double known;
	double busy_ns, busy_median_ns, busy_max_ns, idle_ns, idle_median_ns, idle_max_ns;
	double slowest_busy_ns; /* in the slowest */
};

/* What made the slowest step slow: more of what. */
enum stepped_why {
	STEPPED_NOT_KNOWN,
	STEPPED_HOST,   /* devices had nothing to do */
	STEPPED_DEVICE, /* they worked longer */
};

/* The most likely ones first: *ret_n of them. NULL: there are none (0), or no memory. The caller's, free(). */
struct stepped *stepped_new(const struct session *s, uint32_t *ret_n);
/* "step #", "ProfilerStep##", "12 operations, again and again". Returns out. */
const char *stepped_name(const struct session *s, const struct stepped *of, char out[STEPPED_NAME]);
/* "41.2ms ±1.30ms (max 60.1ms at #317)"; ascii: "+-". Returns out. */
const char *stepped_text(const struct stepped *of, bool ascii, char out[STEPPED_TEXT]);
/* "devices busy 30.1ms a step (2.10ms of #317, the slowest)", and of how many that is known where it is not of all; "": of
 * none. Returns out. */
const char *stepped_busy_text(const struct stepped *of, char out[STEPPED_TEXT]);
enum stepped_why stepped_why_slowest(const struct stepped *of);

#endif
