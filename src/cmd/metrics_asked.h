/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CMD_METRICS_ASKED_H
#define PROTON_CMD_METRICS_ASKED_H
/* Names of hardware metrics and sets of them, as users give them, and what is said where there are none. */
#include <stdbool.h>
#include "counters/ask.h"

/* A set by its name, or of a file with a '/' in it. The exit status, after a message. */
int metrics_take_set(const char *name, struct metric_set **ret);
/* Why there is no answer; the exit status. */
int metrics_complain(const struct counters_answer *answer);
/* Is there something of each pattern? Else a message for each that has nothing. */
bool metrics_all_answered(const struct counters_question *question,
			  const struct counters_answer *answer);

#endif
