/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CMD_JOIN_H
#define PROTON_CMD_JOIN_H
/* proton top of runs elsewhere: streams that `proton record --forward` sends, joined on one screen. */
#include "cmd/follow.h"

struct graph_shares;

struct join {
	const char *source;          /* "-", "unix:PATH" */
	struct graph_shares *shares; /* what whole graphs are divided by; NULL: nothing */
	struct follow_options follow;
};

/* Until it is over, or left. An exit status. */
int join_run(const struct join *join);

#endif
