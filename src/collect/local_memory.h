/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_LOCAL_MEMORY_H
#define PROTON_COLLECT_LOCAL_MEMORY_H
/* How much local memory a thread of a kernel has, as the module says from which it was loaded: for records that
 * do not. By the kernel's name: where modules differ over one it is not known.
 *   thread  any: lock-free */
#include <stdint.h>

/* bytes: a thread's, its stack with all that it calls, and spilled registers. */
void local_memory_put(const char *kernel, uint32_t bytes);
/* LAUNCH_LOCAL_UNKNOWN: nobody has said it, or it is not one number. */
uint32_t local_memory_of(const char *kernel);

#endif
