/* SPDX-License-Identifier: MIT */
#ifndef PROTON_REPORT_RUNS_H
#define PROTON_REPORT_RUNS_H
/* What was run, as text: the head of a report. */
#include <stdbool.h>
#include "core/runs.h"
#include "format/out.h"

struct run_print {
	unsigned width; /* of a line; 0: no terminal */
	bool ascii;
};

/* A few lines about each run of a profile, and how busy its devices were. Nothing for a profile that
 * does not say. 0 or -ENOMEM. */
int report_runs(const struct session *s, const struct run_print *p, struct out *out);

#endif
