/* SPDX-License-Identifier: MIT */
#ifndef PROTON_LIVE_RUN_FACTS_H
#define PROTON_LIVE_RUN_FACTS_H
/* What a profile says of its run: struct session_run, filled by who starts the program. */
#include "live/recording.h"

/* Add a run that started then, by CLOCK_MONOTONIC: words of the program's command, folder, host, the user's label, version,
 * variables of the environment that were asked for. 0 or -ENOMEM. */
int run_facts_begin(struct session *s, const struct recording_options *options, char *const *argv,
		    uint64_t start_ns);
/* How long it takes so far, and when devices had work; after the end how long it took, and how it ended. */
void run_facts_update(struct session_run *run, struct recording *rec);
/* How long it took, or takes so far, while what ran was counted: what shares of the run are of. */
uint64_t run_facts_counted_ns(const struct recording *rec);

#endif
