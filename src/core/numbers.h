/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_NUMBERS_H
#define PROTON_CORE_NUMBERS_H
/* Numbers of those calling contexts that count, and which contexts hold any. Views whose rows stand
 * for several of them sum them up (core/number_sets.h).
 *   thread  one */
#include "core/derive.h"
#include "core/snapshot.h"

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
struct snapshot *numbers_snapshot(const struct numbers *n);
/* Metrics by name, over the nodes that count. */
struct derive *numbers_derive(struct numbers *n);
/* Is a node part of the picture, and kept? */
bool numbers_counts(const struct numbers *n, uint32_t node);
/* Does the node itself hold any number that adds up, on either side? */
bool numbers_is_holder(struct numbers *n, uint32_t node);
/* All that do, by id, into room for as many as there are nodes; their number. */
uint32_t numbers_holders(struct numbers *n, uint32_t *out);
/* By node, what is called: the same for all calling contexts of a function, below *ret_n. Those
 * below the session's n_frames are its frames and stay. Valid until the next update; NULL: out of
 * memory. */
const uint32_t *numbers_frames(struct numbers *n, uint32_t *ret_n);

#endif
