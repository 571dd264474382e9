/* SPDX-License-Identifier: MIT */
#ifndef PROTON_NAMING_RULES_H
#define PROTON_NAMING_RULES_H
/* What is known of names in libraries for GPUs: which of their types say nothing that tells kernels
 * apart, which stand around the functor that does, and which are numbers in disguise.
 *
 * Names are looked up without their namespaces. A rule is one row in rules.c.
 *   thread  any */
#include <stdbool.h>
#include <stddef.h>

enum rule {
	RULE_NONE = 0,
	RULE_NOISE,    /* says nothing to people: allocators, index arithmetic, policies */
	RULE_WRAPPER,  /* stands around a functor: that one is meant */
	RULE_SPLICED,  /* its arguments are those of what it is an argument of */
	RULE_EXTENT,   /* numbers that are one shape: "128x64x32" */
	RULE_CONSTANT, /* a number as a type: C<64> */
	RULE_ELEMENT,  /* the type of an element: float, half_t */
	RULE_POINTER,  /* a pointer to its first argument: device_ptr<float> */
	RULE_GRIDWISE, /* of Composable Kernel: layouts, types and the tile are among its 50 arguments */
};

enum rule rule_of(const char *name, size_t len);
/* Is it a word that types of C++ itself are made of ("unsigned", "int", "float")? */
bool rule_is_basic(const char *word, size_t len);
bool rules_are_sorted(void); /* for tests */
/* Does a namespace hold a library whose own namespaces say nothing (cub::detail::reduce)? */
bool rule_is_library(const char *name, size_t len);
/* Is a namespace there for versions alone ("__cxx11", "CUB_200700_900_NS")? */
bool rule_is_version(const char *name, size_t len);
/* Is a number, as it was demangled, the device that a kernel was compiled for
 * ("(rocprim::detail::target_arch)942")? */
bool rule_is_device(const char *number, size_t len);
/* The length of a function's name without endings that only say that it is one ("_kernel_cuda"). */
size_t rule_bare_len(const char *name, size_t len);

#endif
