/* SPDX-License-Identifier: MIT */
#ifndef PROTON_INTRA_SCOPE_SUMS_H
#define PROTON_INTRA_SCOPE_SUMS_H
/* Cycles of scopes within kernels, added up over warps, blocks and launches: a tree of scopes, each below the one that it was
 * entered in, or where the compiler has it.
 *   threads  one */
#include <inttypes.h>
#include <stdio.h>
#include "base/idindex.h"
#include "intra/warp_records.h"
#include "intra/warp_slices.h"

#define SCOPE_SUMS_KERNEL 0u /* index of the kernel, which all are below */

struct scope_sum {
	uint32_t parent; /* index, before its own; the kernel's: its own */
	uint32_t scope;
	uint64_t n, cycles, cycles_min, cycles_max; /* with those of what is entered within it */
	uint64_t n_untimed, cycles_untimed; /* events of which the single ones are not known */
	uint64_t n_marks, n_values;
	double value, value_min, value_max;
};

struct scope_sums {
	struct scope_sum *items;
	size_t n, cap;
	struct idindex index;
	uint32_t placed[WARP_SCOPES]; /* index; SCOPE_SUMS_KERNEL: where it is entered decides */
	uint32_t *of_warp; /* indices of the scopes, or sums, of the warp that is added */
	size_t cap_of_warp;
};

/* What a scope is called that nobody named, as with Triton's Proton. */
#define SCOPE_SUMS_NAME_MAX 32
static inline void scope_sums_name(uint32_t scope, char ret[static SCOPE_SUMS_NAME_MAX])
{
	snprintf(ret, SCOPE_SUMS_NAME_MAX, "scope_%" PRIu32, scope);
}

int scope_sums_init(struct scope_sums *sums); /* 0 or -ENOMEM */
void scope_sums_done(struct scope_sums *sums);
/* A scope is always below this one (-1: below the kernel), wherever it is entered; parents first. Before any is added. 0,
 * -ENOMEM or -EINVAL: there is no such scope, its parent was not placed, or it was. */
int scope_sums_place(struct scope_sums *sums, uint32_t scope, int64_t parent);
/* Those of a warp that have times. 0 or -ENOMEM. */
int scope_sums_add(struct scope_sums *sums, const struct warp_scope *scopes, size_t n);
/* All of a warp but its events. 0 or -ENOMEM. */
int scope_sums_add_warp(struct scope_sums *sums, const struct warp_contents *warp);
/* Events, which are below the kernel; cycles_min UINT64_MAX: the single ones are not known. 0 or -ENOMEM. */
int scope_sums_add_events(struct scope_sums *sums, const struct scope_sum *events);

#endif
