/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_NUMBERS_H
#define PROTON_CORE_NUMBERS_H
/* Numbers of sets of calling contexts: what a row shows that stands for several nodes.
 *
 *     columns of the snapshot, of the nodes that count ── numbers_sum(nodes) ──> one number
 *
 * Exclusive columns over any set, inclusive ones over nodes of which none lies below another, are
 * right sums. Minimum, maximum and means combine by their own rule; absent is not zero.
 *   thread  one */
#include "core/snapshot.h"

enum number {
	NUMBER_TIME,
	NUMBER_RATE, /* of time, in the last window */
	NUMBER_COUNT,
	NUMBER_MIN,
	NUMBER_MAX,
	NUMBER_BYTES,
	NUMBER_FLOPS, /* of any width */
	NUMBER_CPU,
	NUMBER_EXTRA, /* the first of the profile's own metrics */
	NUMBER_N = NUMBER_EXTRA + 6
};

struct numbers;

struct numbers *numbers_new(struct snapshot *snap); /* NULL: out of memory */
struct numbers *numbers_free(struct numbers *n);
/* The snapshot has changed, or what counts: nodes that are not 0 in kept (NULL: all), which is only
 * referred to. */
void numbers_update(struct numbers *n, const uint8_t *kept);
uint64_t numbers_generation(const struct numbers *n); /* grows with each update */
/* Numbers in this profile: NUMBER_EXTRA and its own metrics, as many as there is place for. */
unsigned numbers_n(const struct numbers *n);
/* The session's metric behind a number; METRIC_NONE: it is made of several. */
uint32_t numbers_metric(const struct numbers *n, unsigned which);

/* A value a node; NULL: absent everywhere (or out of memory). Valid until the next update. */
const double *numbers_column(struct numbers *n, unsigned which, bool inclusive);
/* Has no node a value of its own? */
bool numbers_is_absent(struct numbers *n, unsigned which);
/* Over a set of nodes; NaN: absent. */
double numbers_sum(struct numbers *n, unsigned which, bool inclusive, const uint32_t *nodes,
		   size_t n_nodes);

/* Sums that were asked for once, of sets that somebody counts from 0. */
struct number_cache {
	double *v[NUMBER_N];
	size_t cap[NUMBER_N];
};

struct number_set {
	uint32_t i;
	bool inclusive;
	const uint32_t *nodes;
	size_t n;
	uint16_t *known; /* the set's: a bit for each number in the cache, 0 at first */
};

double number_cache_sum(struct number_cache *c, struct numbers *n, unsigned which,
			const struct number_set *set);
void number_cache_done(struct number_cache *c);

/* Is a node part of the picture, and kept? */
bool numbers_counts(const struct numbers *n, uint32_t node);
/* Does the node itself hold any of them? */
bool numbers_is_holder(struct numbers *n, uint32_t node);
/* By node, what is called: the same for all calling contexts of a function, below *ret_n. Those
 * below the session's n_frames are its frames and stay. Valid until the next update; NULL: out of
 * memory. */
const uint32_t *numbers_frames(struct numbers *n, uint32_t *ret_n);

#endif
