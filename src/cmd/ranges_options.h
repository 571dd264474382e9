/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CMD_RANGES_OPTIONS_H
#define PROTON_CMD_RANGES_OPTIONS_H
/* record --metrics and what goes with it: which hardware metrics are measured of the program's kernels, and how. */
#include <stdbool.h>

struct ranges_runs;
struct recording_options;

struct ranges_options { /* as they were given; NULL: they were not */
	const char *metrics, *range, *replay, *reduce;
	bool is_silent; /* not how many passes they take */
};

/* Look the metrics up on the first GPU here, and count their passes. 0, or an exit status after a message. A machine where
 * they cannot be measured says why, and the run goes on without. rec->ranges is what the first of `runs` measures, or stays
 * NULL: then there are none. */
int ranges_options_settle(const struct ranges_options *o, struct recording_options *rec,
			  struct ranges_runs *runs);

#endif
