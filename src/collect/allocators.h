/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_ALLOCATORS_H
#define PROTON_COLLECT_ALLOCATORS_H
/* Who allocates: the file whose code has called the vendor's library, which may be a library of the vendor's, too
 * (libcublas.so), by the stack of the thread (native_walk.h). */
#include <stdint.h>

struct thread_state;

/* The launch context of a call that allocates, made by this thread: as that of a launch, with the name of the file for a
 * name. Without one where it is not known. */
uint32_t allocator_context(struct thread_state *t);

#endif
