/* SPDX-License-Identifier: MIT */
/* Weights as whole numbers, for formats that have no others. */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "format/export.h"

#define DECIMALS_MAX 300   /* ten to the power of it is a number still */
#define LOST_OF_OWN  1e-9  /* what rounding may take of a value: nine digits are left, */
#define LOST_OF_ALL  1e-12 /* or nothing that shows in the whole */

static double sum_of(const double *v, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += v[i];
	return sum;
}

static bool is_kept(double v, double scale, double sum)
{
	double scaled = v * scale, lost = fabs(scaled - round(scaled));

	return lost <= LOST_OF_OWN * scaled || lost <= LOST_OF_ALL * sum * scale;
}

/* A value that a scale keeps is kept by all larger ones, so one pass finds the least that keeps all,
 * or the largest with which the sum still fits in 63 bits. */
static unsigned find_decimals(const double *v, size_t n, double *ret_scale)
{
	double sum = sum_of(v, n), scale = 1;
	unsigned decimals = 0;

	for (size_t i = 0; i < n; i++)
		while (!is_kept(v[i], scale, sum) && decimals < DECIMALS_MAX &&
		       sum * scale * 10 < 0x1p63) {
			decimals++;
			scale *= 10;
		}
	*ret_scale = scale;
	return decimals;
}

static uint64_t round_weight(double v)
{
	v = round(v);
	return v < 0x1p64 ? (uint64_t)v : UINT64_MAX;
}

/* Of a fraction what was left out of those before is a part: so many small ones add up to what they are,
 * though each is a whole number. */
static uint64_t round_with_rest(double v, double *rest)
{
	double wanted = v + *rest;
	uint64_t whole;

	if (!(v > 0) || !(v < 0x1p52)) /* without fractions */
		return round_weight(v);
	whole = wanted > 0 ? round_weight(wanted) : 0;
	*rest = wanted - (double)whole;
	return whole;
}

/* Is it more than the format holds? An infinite one is left out, and told of already. */
static bool is_cut(struct export_stacks *x, uint32_t node, uint64_t most)
{
	if (x->whole[node] <= most && (x->whole[node] < UINT64_MAX || x->own[node] < 0x1p64))
		return false;
	x->whole[node] = most;
	return true;
}

/* Is each weight a value of the session, and a whole number? A double has 53 bits of it. */
static bool is_exact(const struct export_stacks *x)
{
	return x->metric != METRIC_CPU_TIME && !x->is_folded &&
	       derive_metric(x->s, x->metric)->type == METRIC_U64;
}

int export_stacks_round(struct export_stacks *x, uint64_t most)
{
	bool exact = is_exact(x);
	union metric_value v;
	double scale, rest = 0; /* what rounding has left out so far: the sum stays what it is */

	x->whole = malloc(x->s->n_nodes * sizeof(*x->whole));
	if (!x->whole)
		return -ENOMEM;
	x->decimals = find_decimals(x->own, x->s->n_nodes, &scale);
	for (uint32_t i = 0; i < x->s->n_nodes; i++) {
		if (exact && x->own[i] > 0 && session_value(x->s, i, x->metric, &v))
			x->whole[i] = v.u64;
		else
			x->whole[i] = round_with_rest(x->own[i] * scale, &rest);
		if (is_cut(x, i, most) && x->notes)
			x->notes->n_cut++;
	}
	return 0;
}

const char *export_scale(const struct export_stacks *x, char text[EXPORT_SCALE_MAX])
{
	snprintf(text, EXPORT_SCALE_MAX, "1e-%u", x->decimals);
	return text;
}
