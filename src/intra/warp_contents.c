/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "intra/warp_contents.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

void warp_contents_done(struct warp_contents *c)
{
	free(c->scopes);
	free(c->points);
	free(c->sums);
	*c = (struct warp_contents){.n_scopes = 0};
}

void warp_contents_place_points(struct warp_contents *c)
{
	uint32_t latest = UINT32_MAX, next = 0;

	for (size_t i = 0; i < c->n_points; i++) {
		uint64_t at = c->points[i].at;

		while (next < c->n_scopes && c->scopes[next].enter <= at)
			latest = next++;
		while (latest != UINT32_MAX && c->scopes[latest].leave < at)
			latest = c->scopes[latest].parent;
		c->points[i].parent = latest;
	}
}

double warp_f32(uint32_t bits)
{
	float v;

	memcpy(&v, &bits, sizeof(v));
	return (double)v;
}

double warp_f16(uint16_t bits)
{
	int mantissa = bits & 0x3ff, exponent = bits >> 10 & 0x1f;
	double v = exponent ? ldexp(0x400 + mantissa, exponent - 25) : ldexp(mantissa, -24);

	if (exponent == 0x1f)
		v = mantissa ? (double)NAN : (double)INFINITY;
	return bits >> 15 ? -v : v;
}
