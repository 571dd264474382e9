/* SPDX-License-Identifier: MIT */
#ifndef PROTON_NAMING_BRIEF_H
#define PROTON_NAMING_BRIEF_H
/* Short forms of a name of C++, each longer than the one before, until it is the name itself:
 *
 *   BRIEF_LEAST     at::native::reduce_kernel<512, 1, MeanOps>
 *   BRIEF_TYPED     at::native::reduce_kernel<512, 1, MeanOps<Half, float, float, Half>>
 *   BRIEF_NUMBERED  … with the numbers of lambdas, and what stands around functors
 *   BRIEF_ALL       … with what libraries add to each of their names
 *   BRIEF_WHOLE     at::native::reduce_kernel<512, 1, at::native::ReduceOp<c10::Half, … > >
 *
 * The shortest says what a kernel does; who shows several that come out alike takes longer ones.
 *   thread  any */
#include <stdbool.h>
#include <stddef.h>
#include "base/buf.h"
#include "naming/signature.h"

enum brief_level {
	BRIEF_LEAST = 0,
	BRIEF_TYPED,
	BRIEF_NUMBERED,
	BRIEF_ALL,
	BRIEF_WHOLE, /* as it was demangled, without return type and parameters */
	BRIEF_N,
};

/* A short form of a demangled name, malloc'd. NULL: it is no name of C++, or memory is out. */
char *brief_make(const char *whole, enum brief_level level);

#endif
