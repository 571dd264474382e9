/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CMD_METRICS_PRINT_H
#define PROTON_CMD_METRICS_PRINT_H
/* What `proton metrics` has found, as text, JSON or CSV. */
#include "counters/ask.h"
#include "format/out.h"

struct metrics_print {
	const struct counters_question *question;
	const struct counters_answer *answer;
	/* What is printed: those that were asked for, in order. */
	const struct counter_metric **metrics;
	size_t n;
	unsigned width; /* of the terminal; 0: a line a metric */
	bool ascii;
};

/* 0 or -ENOMEM: of those asked for, what is printed. metrics_print_done() frees it. */
int metrics_print_init(struct metrics_print *p, const struct counters_question *question,
		       const struct counters_answer *answer);
void metrics_print_done(struct metrics_print *p);

typedef void metrics_print_fn(const struct metrics_print *p, struct out *out);
metrics_print_fn print_metrics_text, print_metrics_json, print_metrics_csv;
/* The chips that the library knows. */
metrics_print_fn print_chips_text, print_chips_json, print_chips_csv;

/* "CUPTI 13.0" */
void put_cupti(struct buf *out, unsigned version);

#endif
