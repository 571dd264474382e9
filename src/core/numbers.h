/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_NUMBERS_H
#define PROTON_CORE_NUMBERS_H
/* The numbers of the calling contexts that pass a filter, and which of these contexts have numbers
 * of their own ("holders"). Views whose rows stand for several contexts sum them
 * (core/number_sets.h).
 *   thread  one */
#include "core/derive.h"
#include "core/snapshot.h"

struct numbers;

/* peaks is borrowed; NULL: metrics that need it are absent. Returns NULL when out of memory. */
struct numbers *numbers_new(struct snapshot *snap, const struct peaks *peaks);
struct numbers *numbers_free(struct numbers *n);
/* From the next update on compare with another profile on the same tree (core/pair.h): a node is a
 * holder when it is one on either side. Steals `before`. */
void numbers_compare(struct numbers *n, struct numbers *before);
struct numbers *numbers_before(const struct numbers *n); /* NULL: nothing is compared */
/* The snapshot has changed, or other nodes count: those that are not 0 in kept (NULL: all), which
 * is borrowed. */
void numbers_update(struct numbers *n, const uint8_t *kept);
uint64_t numbers_generation(const struct numbers *n); /* grows with each update */
struct snapshot *numbers_snapshot(const struct numbers *n);
/* Metrics by name, over the nodes that count. */
struct derive *numbers_derive(struct numbers *n);
/* Is a node part of the picture, and kept? */
bool numbers_counts(const struct numbers *n, uint32_t node);
/* The same of the node that a row of the session counts for; a row that is newer than the picture does not count. */
bool numbers_row_counts(const struct numbers *n, size_t row);
/* Does the node itself hold any number that adds up, on either side? */
bool numbers_is_holder(struct numbers *n, uint32_t node);
/* All that do, by id, into room for as many as there are nodes; their number. */
uint32_t numbers_holders(struct numbers *n, uint32_t *out);
/* By node: a number that is the same for all calling contexts of one name, smaller than *ret_n.
 * Below the session's n_frames it is a frame's id, and never changes. Valid until the next update;
 * NULL: out of memory. */
const uint32_t *numbers_frames(struct numbers *n, uint32_t *ret_n);
/* The same for functions: a kernel's symbol and the signature that this stands for have one number, which
 * is another one where another form came. */
const uint32_t *numbers_functions(struct numbers *n, uint32_t *ret_n);

#endif
