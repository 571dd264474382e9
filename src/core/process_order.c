/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/process_order.h"
#include <stdlib.h>
#include "base/util.h"

static int compare(const void *a, const void *b, void *ctx)
{
	const struct session *s = ctx;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	/* None is -1. */
	uint32_t of_i = (uint32_t)s->processes[i].rank, of_k = (uint32_t)s->processes[k].rank;

	return of_i != of_k ? COMPARE(of_i, of_k) : COMPARE(i, k);
}

uint32_t *process_order_new(const struct session *s)
{
	uint32_t *order = malloc((s->n_processes + 1) * sizeof(*order));

	for (uint32_t i = 0; order && i < s->n_processes; i++)
		order[i] = i;
	if (order)
		qsort_r(order, s->n_processes, sizeof(*order), compare, (void *)s);
	return order;
}
