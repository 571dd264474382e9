/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_DISTINCT_H
#define PROTON_CORE_DISTINCT_H
/* Short names of kernels and functions, no two of which have one.
 *
 *   _ZN2at…  ── level 0 ──> direct_copy<128, 2>  ─┐ alike     ┌─> direct_copy<128, 2, float>
 *   _ZN2at…  ── level 0 ──> direct_copy<128, 2>  ─┴─ apart() ─┴─> direct_copy<128, 2, double>
 *
 * A name depends on others only where it is like them at its shortest. What apart() cannot tell gets
 * longer level by level, until it is raw. Raw names that are no names of C++ stay what they are. A kernel
 * that is there as a symbol and as the signature which that stands for is one: both have its name.
 *   thread  one */
#include <stdbool.h>
#include <stdint.h>
#include "core/session.h"

struct distinct;
struct naming;

/* The short name of a frame is this one from now on; NULL: its raw one. */
typedef void distinct_fn(void *ctx, uint32_t frame, const char *name);

/* strings: for names that are made. NULL: out of memory. */
struct distinct *distinct_new(const struct session *s, const struct naming *naming,
			      struct strtab *strings);
struct distinct *distinct_free(struct distinct *d);
/* Name the frames that came, and anew those that they are like. 0 or -ENOMEM: then some may be alike. */
int distinct_update(struct distinct *d, distinct_fn *set, void *ctx);
/* Is any function there in several forms? */
bool distinct_has_forms(const struct distinct *d);
/* The frame that stands for all forms of a function: itself, where there is no other. */
uint32_t distinct_first_form(const struct distinct *d, uint32_t frame);

#endif
