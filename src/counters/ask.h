/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COUNTERS_ASK_H
#define PROTON_COUNTERS_ASK_H
/* A child asks NVIDIA's library about metrics (counters/cupti_host.h), within a deadline:
 *
 *   struct counters_question ── fork ──> child: cupti_chip_…() ── lines ──> struct counters_answer
 *
 *   errors  ret->why
 *   thread  one */
#include <stdbool.h>
#include <stddef.h>
#include "counters/cupti_host.h"
#include "counters/plan.h"
#include "launch/probe.h"

struct counters_question {
	const char *chip; /* NULL: that of the first GPU here */
	enum counting_kind counting;
	const struct metric_set *set; /* plan it; NULL: list the metrics of the chip */
	/* Of a list: which metrics are asked for (counters/patterns.h); none: all of them. A pattern may be
	 * a metric with its submetric, too: these are planned together. */
	const char *const *patterns;
	size_t n_patterns;
	bool passes; /* of each that is asked for */
};

enum counter_role {
	COUNTER_OTHER,  /* the chip has it, nobody asked */
	COUNTER_ASKED,  /* a base metric that was asked for */
	COUNTER_PLANNED /* with its submetric */
};

struct counter_metric {
	enum counter_role role;
	enum plan_state state; /* of what is planned */
	enum abi_metric_type type;
	size_t passes; /* alone, of a base metric by cupti_usual_submetric(); 0: not known */
	const char *name, *hardware, *unit, *description; /* "": not known */
};

/* Why there are no metrics. */
enum counters_why {
	COUNTERS_OK,
	COUNTERS_DIED,       /* the child: probe_say_end() of probe says how */
	COUNTERS_NO_LIBRARY, /* no libcupti that knows of metrics; broken: what was found, and why not */
	COUNTERS_NO_GPU,  /* no chip was named, and none is here; text says why */
	COUNTERS_NO_CHIP, /* this library does not know the chip */
	COUNTERS_FAILED,  /* the library did; text says at what */
};

struct counters_answer {
	enum counters_why why;
	struct probe probe; /* the texts lie in it */
	const char *text, *broken;
	const char *path; /* of the library */
	unsigned version;
	const char **chips; /* that it knows */
	size_t n_chips, cap_chips;
	const char *chip; /* that was asked about */
	const char **submetrics[ABI_N_METRIC_TYPES];
	size_t n_submetrics[ABI_N_METRIC_TYPES], cap_submetrics[ABI_N_METRIC_TYPES];
	struct counter_metric *metrics;
	size_t n, cap;
	size_t n_planned, n_counted, passes; /* of what was planned, together */
	int error;                           /* -ENOMEM */
};

void counters_ask(const struct counters_question *question, struct counters_answer *ret);
void counters_answer_done(struct counters_answer *answer);

/* In a child (launch/probe.h) that asks more than this: open the library and the metrics of a chip, NULL:
 * that of the first GPU here, and tell lines of it, "chip NAME" the last of them where it worked. */
struct counters_host {
	struct cupti_host host;
	struct cupti_chip chip;
};
bool counters_host_open(struct counters_host *h, const char *chip, enum counting_kind counting,
			int fd);
/* Make a plan of what it knows; as plan_make(). */
int counters_host_plan(struct cupti_chip *chip, const struct metric_set *set, struct plan *ret);

#endif
