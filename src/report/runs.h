/* SPDX-License-Identifier: MIT */
#ifndef PROTON_REPORT_RUNS_H
#define PROTON_REPORT_RUNS_H
/* What was run, as text: the head of a report, and how two profiles differ before their numbers do. */
#include <stdbool.h>
#include "core/runs.h"
#include "format/out.h"

struct run_print {
	unsigned width; /* of a line; 0: no terminal */
	bool ascii;
};

/* A few lines about each run of a profile, and how busy its devices were. Nothing for a profile that
 * does not say. */
void report_runs(const struct session *s, const struct run_print *p, struct out *out);

/* What is known of the runs of one side of a comparison, kept when its session is gone. */
struct run_facts {
	char *text[RUN_FACT_N];
};
int run_facts_take(struct run_facts *facts, const struct session *s); /* 0 or -ENOMEM */
void run_facts_done(struct run_facts *facts);
/* Do both sides know it, and not the same? */
bool run_facts_differ(const struct run_facts *a, const struct run_facts *b, enum run_fact fact);

#endif
