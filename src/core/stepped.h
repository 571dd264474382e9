/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_STEPPED_H
#define PROTON_CORE_STEPPED_H
/* The loops of a profile whose steps were told apart (collect/steps.h, metric.h), of all processes together.
 *   thread  one */
#include <stdbool.h>
#include <stdint.h>
#include "core/session.h"

enum { STEPPED_NAME = 96, STEPPED_TEXT = 160, STEPPED_NUMBER = 32 };

/* Slow steps of one cause (core/step_slow.h), and of them the slowest; max_ns below 0: not known. */
struct stepped_cause {
	double n, at, max_ns, busy_ns;
};

/* Of those of which it is known: a step's mean and most; how much more with each, 0: it does not grow (step_trend.h). */
struct stepped_bytes {
	double known, mean, max, growth;
};

/* Times are of the host, in ns; NaN: not known. */
struct stepped {
	uint32_t node;    /* the first of the scopes; the root: found by what was launched */
	uint32_t process; /* of the slowest; SESSION_NONE: not known */
	unsigned n_processes;
	double n; /* of all processes, without the first of each */
	double mean_ns, median_ns, p95_ns, deviation_ns, min_ns, max_ns, first_ns;
	double slowest; /* the number of the slowest (alike_number()); NaN also: too large to be told */
	double apart_ns; /* from the end of one to the start of the next, mean */
	double works;    /* operations of a step that was found by these */
	double others;   /* steps that were not like the others, or began anew */
	/* How long devices worked in a step, and did not, of so many of which that is known (core/step_busy.h). */
	double known;
	double busy_ns, busy_median_ns, busy_max_ns, idle_ns, idle_median_ns, idle_max_ns;
	double slowest_busy_ns;          /* in the slowest */
	struct stepped_cause late, more; /* slow for a late host, for more work; n NaN: not known */
	struct stepped_bytes held; /* of devices at the end of each, of the process that holds it */
	struct stepped_bytes to_device, to_host, within; /* copied */
	unsigned n_numbers; /* how many of them the name of a step has: 0 or 1 is said as it is */
};

/* What made the slowest step slow: more of what. */
enum stepped_why {
	STEPPED_NOT_KNOWN,
	STEPPED_HOST,   /* devices had nothing to do */
	STEPPED_DEVICE, /* they worked longer */
	STEPPED_N_WHYS
};

/* The most likely ones first: *ret_n of them. NULL: there are none (0), or no memory. The caller's, free(). */
struct stepped *stepped_new(const struct session *s, uint32_t *ret_n);
/* Did graphs run that were recorded whole and copied, or may have? Such copies are in no step. */
bool stepped_misses_copies(const struct session *s);
#define STEPPED_MISSES_COPIES "copies within graphs recorded whole are not counted"
/* "step #", "ProfilerStep##", "12 operations, again and again". Returns out. */
const char *stepped_name(const struct session *s, const struct stepped *of, char out[STEPPED_NAME]);
/* "41.2ms ±1.30ms (max 60.1ms at #317)"; ascii: "+-". Returns out. */
const char *stepped_text(const struct stepped *of, bool ascii, char out[STEPPED_TEXT]);
/* "devices busy 30.1ms a step (2.10ms of #317, the slowest)", and of how many that is known where it is not of all; "": of
 * none. Returns out. */
const char *stepped_busy_text(const struct stepped *of, char out[STEPPED_TEXT]);
/* How many were slow for a cause: "12", or "256+" where there may be more than are remembered. Returns out. */
const char *stepped_cause_count(const struct stepped *of, const struct stepped_cause *cause,
				char out[STEPPED_NUMBER]);
/* ", known of 20 steps", where it is not of nearly all; else "". Returns out. */
const char *stepped_known_text(const struct stepped *of, double known, char out[STEPPED_TEXT]);
enum stepped_why stepped_why_slowest(const struct stepped *of);
/* "late host", "more work"; NULL: it is not known. */
const char *stepped_why_word(enum stepped_why why);
/* The number of a step as the program says it: "317", of "epoch 3 step 14" "3,14"; NaN: "-". Returns out. */
const char *stepped_number(const struct stepped *of, double number, char out[STEPPED_NUMBER]);
/* The scope that is this step, or where it has none of its own the one of all alike ("step #"). SESSION_NONE: there is
 * none, or several are called so. */
uint32_t stepped_node(const struct session *s, const struct stepped *of, double number);
/* "with each 4.19MB more of devices' memory is held"; "": it does not grow. Returns out. */
const char *stepped_growth_text(const struct stepped *of, char out[STEPPED_TEXT]);

#endif
