/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "base/order.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"

/* Beyond so many, counting digits is faster than comparing. */
#define FEW_ENTRIES 2048
#define DIGIT_BITS  11
#define N_DIGITS    6 /* 64 bits and more */
#define N_BUCKETS   (1u << DIGIT_BITS)

int order_compare(const struct order_entry *a, const struct order_entry *b, bool ascending)
{
	if (isnan(a->value) != isnan(b->value))
		return isnan(a->value) ? 1 : -1;
	if (a->value < b->value)
		return ascending ? -1 : 1;
	if (a->value > b->value)
		return ascending ? 1 : -1;
	return a->id < b->id ? -1 : a->id > b->id;
}

static int compare_falling(const void *a, const void *b)
{
	return order_compare(a, b, false);
}

static int compare_rising(const void *a, const void *b)
{
	return order_compare(a, b, true);
}

/* A key whose integer order is the order of the values. */
static uint64_t order_key(double value, bool ascending)
{
	const uint64_t sign = UINT64_C(1) << 63;
	uint64_t bits;

	if (isnan(value))
		return UINT64_MAX;
	value += 0.0; /* -0 is 0 */
	memcpy(&bits, &value, sizeof(bits));
	bits = bits & sign ? ~bits : bits | sign;
	return ascending ? bits : ~bits;
}

static size_t digit_of(const struct order_entry *e, unsigned digit, bool ascending)
{
	return order_key(e->value, ascending) >> (digit * DIGIT_BITS) & (N_BUCKETS - 1);
}

/* Counts become places. False: all are in one bucket, there is nothing to move. */
static bool bucket_places(size_t *counts, size_t n)
{
	size_t place = 0;

	for (size_t b = 0; b < N_BUCKETS; b++) {
		size_t count = counts[b];

		if (count == n)
			return false;
		counts[b] = place;
		place += count;
	}
	return true;
}

/* Digit by digit, the lowest first, each pass stable. False: out of memory, nothing was moved. */
static bool sort_by_digits(struct order_entry *v, size_t n, bool ascending)
{
	_cleanup_(freep) size_t *counts = calloc((size_t)N_DIGITS * N_BUCKETS, sizeof(*counts));
	_cleanup_(freep) struct order_entry *other = malloc(n * sizeof(*other));
	struct order_entry *from = v, *to = other, *swap;

	if (!counts || !other)
		return false;
	for (size_t i = 0; i < n; i++)
		for (unsigned d = 0; d < N_DIGITS; d++)
			counts[d * N_BUCKETS + digit_of(&v[i], d, ascending)]++;
	for (unsigned d = 0; d < N_DIGITS; d++) {
		size_t *places = counts + (size_t)d * N_BUCKETS;

		if (!bucket_places(places, n))
			continue;
		for (size_t i = 0; i < n; i++)
			to[places[digit_of(&from[i], d, ascending)]++] = from[i];
		swap = from;
		from = to;
		to = swap;
	}
	if (from != v)
		memcpy(v, from, n * sizeof(*v));
	return true;
}

/* Are the ids in order? Then a stable sort keeps equal values in the order of their ids. */
static bool ids_grow(const struct order_entry *v, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (v[i].id <= v[i - 1].id)
			return false;
	return true;
}

void order_sort(struct order_entry *v, size_t n, bool ascending)
{
	if (n < 2 || (n > FEW_ENTRIES && ids_grow(v, n) && sort_by_digits(v, n, ascending)))
		return;
	qsort(v, n, sizeof(*v), ascending ? compare_rising : compare_falling);
}
