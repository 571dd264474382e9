/* SPDX-License-Identifier: MIT */
#ifndef PROTON_LAUNCH_SPAWN_H
#define PROTON_LAUNCH_SPAWN_H
/* fork and exec, for launch.c and keeper.c. Private to this folder. */
#include <stdbool.h>
#include <sys/types.h>
#include "launch/launch.h"

/* A pty of whose session we are the leader. The target gets a process group of its own, in the
 * foreground, and the slave as those descriptors that are marked. */
struct spawn_terminal {
	int slave;
	bool use[3];
};

/* Returns when exec has succeeded or failed (-errno; nothing is left to wait for). terminal may be
 * NULL: our process group, our descriptors. */
int spawn_target(const struct launch_options *options, const struct spawn_terminal *terminal,
		 pid_t *ret_pid);

#endif
