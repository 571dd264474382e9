/* SPDX-License-Identifier: MIT */
#ifndef PROTON_NAMING_FORMS_H
#define PROTON_NAMING_FORMS_H
/* One function under several names: a symbol, and the signature that it stands for as each demangler
 * writes it.
 *
 *     _Z4gemmILi4EEvPf              void gemm<4>(float*)  ─┐
 *     void gemm<(int)4>(float *)                          ─┴─> gemm<4>(float*)
 *
 *   thread  any */
#include <stddef.h>

/* ret_of[i]: the first of the names that is the same function, which may be i. whole: the raw names
 * demangled, without the shape of a launch. Two symbols are never one: what their signatures hide may
 * differ. 0 or -ENOMEM: then ret_of is as it was. */
int forms_find(const char *const raw[], const char *const whole[], size_t n, size_t ret_of[]);

#endif
