/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/nested.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "base/util.h"

#define NOTHING UINT32_MAX

int nested_own(const uint32_t *parents, const double *elapsed, uint32_t n, double *own)
{
	/* By node: itself, or the nearest above it that has a time. */
	_cleanup_(freep) uint32_t *nearest = malloc((n + 1u) * sizeof(*nearest));

	if (!nearest)
		return -ENOMEM;
	for (uint32_t id = 0; id < n; id++) {
		uint32_t around = id ? nearest[parents[id]] : NOTHING;

		own[id] = elapsed[id];
		nearest[id] = isnan(elapsed[id]) ? around : id;
		if (around != NOTHING && !isnan(elapsed[id]))
			own[around] -= elapsed[id];
	}
	return 0;
}
