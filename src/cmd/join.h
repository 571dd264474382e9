/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CMD_JOIN_H
#define PROTON_CMD_JOIN_H
/* proton top of runs elsewhere: streams that `proton record --forward` sends, joined on one screen. */
#include <stdbool.h>
#include <stdint.h>
#include "cmd/pictures.h"
#include "cmd/screen_options.h"

struct graph_shares;

struct join {
	const char *source;          /* "-", "unix:PATH" */
	struct graph_shares *shares; /* what whole graphs are divided by; NULL: nothing */
	const char *output;          /* where the joined profile is kept; NULL: nowhere */
	struct screen_options *screen;
	struct profile_options *profile;
	struct pictures pictures;
	uint64_t interval_ns, save_ns;
	bool batch; /* no screen */
	bool leave_at_end, quiet;
};

/* Until it is over, or left. An exit status. */
int join_run(struct join *join);

#endif
