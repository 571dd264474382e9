/* SPDX-License-Identifier: MIT */
#ifndef PROTON_LAUNCH_CHILD_H
#define PROTON_LAUNCH_CHILD_H
/* A forked child of ours that goes where we would not: into somebody else's library. */
#include <sys/types.h>

/* In the child, first of all: it leaves the terminal and its signals alone, has no descriptors but `keep`
 * (-1: none), leaves no core file, and ends when its parent does. */
void child_settle(pid_t parent, int keep);

/* Before a driver is started in it: another tool that the driver would load is not what is asked about;
 * nor are we. */
void child_forget_tools(void);

#endif
