/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/device_order.h"
#include <stdlib.h>
#include <string.h>
#include "base/util.h"

int device_compare(const struct session *s, uint32_t a, uint32_t b)
{
	const struct session_device *x, *y;
	int by;

	if (a >= s->n_devices || b >= s->n_devices)
		return COMPARE(a, b);
	x = &s->devices[a];
	y = &s->devices[b];
	by = strverscmp(strtab_str(s->strings, x->host), strtab_str(s->strings, y->host));
	by = by ? by : strcmp(strtab_str(s->strings, x->type), strtab_str(s->strings, y->type));
	by = by ? by : COMPARE(x->index, y->index);
	return by ? by : COMPARE(a, b);
}

static int compare(const void *a, const void *b, void *ctx)
{
	return device_compare(ctx, *(const uint32_t *)a, *(const uint32_t *)b);
}

uint32_t *device_order_new(const struct session *s)
{
	uint32_t *order = malloc((s->n_devices + 1) * sizeof(*order));

	for (uint32_t i = 0; order && i < s->n_devices; i++)
		order[i] = i;
	if (order)
		qsort_r(order, s->n_devices, sizeof(*order), compare, (void *)s);
	return order;
}
