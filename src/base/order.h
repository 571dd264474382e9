/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BASE_ORDER_H
#define PROTON_BASE_ORDER_H
/* Ids in the order of their values, a million of them between two frames of a screen.
 *
 * Largest first, or smallest first when ascending; absent ones (NaN) last either way; equal ones by id.
 *   thread  any */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct order_entry {
	double value;
	uint32_t id;
	uint32_t with; /* the caller's own: comes along */
};

/* < 0: a comes first. 0: they are the same id with the same value. */
int order_compare(const struct order_entry *a, const struct order_entry *b, bool ascending);
void order_sort(struct order_entry *v, size_t n, bool ascending);

#endif
