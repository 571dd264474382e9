/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_OWN_STACK_H
#define PROTON_COLLECT_OWN_STACK_H
/* The first scope of a program may be entered on a stack that has room for next to nothing: that of a signal
 * handler (SIGSTKSZ is 8 KiB), half of which the kernel takes for the handler's frame. What happens once (the
 * start, threads of ours) is done on memory of our own. */

/* Calls run(arg), and returns when it has. No signal is delivered to this thread meanwhile, nor is it cancelled.
 *   errors  none: where there is no memory, or another C library, it runs on the caller's stack
 *   thread  any, also in signal handlers */
void own_stack_run(void (*run)(void *arg), void *arg);

#endif
