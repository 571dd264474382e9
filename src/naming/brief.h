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

/* What is written of an argument beyond its level: marks of a part. */
enum part_mark {
	MARK_WAY = 1,     /* there are marks below */
	MARK_TYPES = 2,   /* its name, with what it takes if it is a functor, and const, & */
	MARK_OWN = 4,     /* its name, and not that of the functor which it stands around */
	MARK_NUMBERS = 8, /* its name, with the numbers of lambdas */
	MARK_WHOLE = 16,  /* all of it, as it was demangled */
	MARK_BEFORE = 32, /* of the function: what stands before its path */
	MARK_BEHIND = 64, /* and behind its parameters */
};

/* A short form of a demangled name, malloc'd. NULL: it is no name of C++, or memory is out. */
char *brief_make(const char *whole, enum brief_level level);
/* Append the short form of a signature, with what is marked. Marks of the function itself are those
 * of the first part of its path. */
void brief_put(const struct signature *s, enum brief_level level, struct buf *out);
/* Append the name of an argument (or of the function: the first part of its path) without arguments, as
 * it is with one of these marks. */
void brief_put_head(const struct signature *s, uint32_t argument, enum part_mark form,
		    struct buf *out);

#endif
