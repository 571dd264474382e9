/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_NUMBERS_H
#define PROTON_CORE_NUMBERS_H
/* Numbers of calling contexts, of those that count: columns of the snapshot and what is made of
 * them. Views whose rows stand for several nodes sum them up (core/number_sets.h).
 *   thread  one */
#include "core/derive.h"
#include "core/hists.h"
#include "core/snapshot.h"

enum number {
	NUMBER_TIME,
	NUMBER_RATE, /* of time, in the last window */
	NUMBER_COUNT,
	NUMBER_MIN,
	NUMBER_MAX,
	NUMBER_P50, /* percentiles of the durations; no columns */
	NUMBER_P90,
	NUMBER_P99,
	NUMBER_BYTES,
	NUMBER_FLOPS, /* of any width */
	NUMBER_CPU,
	NUMBER_EXTRA, /* the first of the profile's own metrics */
	NUMBER_N = NUMBER_EXTRA + 6
};

struct numbers;

/* peaks, only referred to, or NULL: what is derived of them is then not known.
 * NULL: out of memory. */
struct numbers *numbers_new(struct snapshot *snap, const struct peaks *peaks);
struct numbers *numbers_free(struct numbers *n);
/* Compare with those of another profile on the same tree (core/pair.h), from the next update on:
 * nodes hold numbers where either side does. `before` is n's from now on. */
void numbers_compare(struct numbers *n, struct numbers *before);
struct numbers *numbers_before(const struct numbers *n); /* NULL: nothing is compared */
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

struct snapshot *numbers_snapshot(const struct numbers *n);
/* Metrics by name, over the nodes that count. */
struct derive *numbers_derive(struct numbers *n);
/* Histograms of the nodes that count, made when first asked for; NULL: out of memory. */
struct hists *numbers_hists(struct numbers *n);
/* Is a node part of the picture, and kept? */
bool numbers_counts(const struct numbers *n, uint32_t node);
/* Does the node itself hold any of them, on either side? */
bool numbers_is_holder(struct numbers *n, uint32_t node);
/* All that do, by id, into room for as many as there are nodes; their number. */
uint32_t numbers_holders(struct numbers *n, uint32_t *out);
/* By node, what is called: the same for all calling contexts of a function, below *ret_n. Those
 * below the session's n_frames are its frames and stay. Valid until the next update; NULL: out of
 * memory. */
const uint32_t *numbers_frames(struct numbers *n, uint32_t *ret_n);

#endif
