/* SPDX-License-Identifier: MIT */
#ifndef PROTON_FORMAT_GIVEN_H
#define PROTON_FORMAT_GIVEN_H
/* What programs gave to their scopes, under the keys that they gave it. Metrics are numbers of one kind each:
 *
 *   metric              key     element
 *   "loss"              loss    the value itself
 *   "tile[2] (ns)"      tile (ns)    2, of a list
 *   "lr (text)"         lr      the value itself: where "lr" is a number elsewhere (collect/metrics.c)
 *   "user:count"        count   the value itself: as what is measured
 *
 * Of several values that have one key at a node the first has it, and others are under their names.
 *   thread  one */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/metric.h"

enum { GIVEN_KEY_MAX = 512, GIVEN_ELEMENTS_MAX = 1024 };
#define GIVEN_WHOLE UINT32_MAX /* no element of a list */

/* The key, which is the name itself or made in buf, and the element that *ret_element says. */
const char *given_key(const char *name, char buf[static GIVEN_KEY_MAX], uint32_t *ret_element);
/* The other way: the name of an element of a list. */
void given_element(const char *key, uint32_t element, char buf[static GIVEN_KEY_MAX]);

/* Metrics by key, those of one key together: whole values first, as they are numbered, then elements in order. */
struct given {
	const char *key;
	uint32_t metric, element;
	uint32_t first; /* the lowest metric of this key */
};
struct given_list {
	struct given *given;
	uint32_t n;
	char **texts; /* of keys that are no names */
	uint32_t n_texts;
};

/* All metrics of a table that are columns (export.h). plain: each is under its name, as a whole. 0 or -ENOMEM;
 * given_list_done() in either case. The table must outlive it. */
int given_list_init(struct given_list *l, const struct metric_table *t, bool plain);
/* One more, whose key is borrowed. */
void given_list_add(struct given_list *l, const char *key, uint32_t metric);
/* By key; … by the first metric of each key. */
void given_list_sort(struct given_list *l);
void given_list_sort_by_metric(struct given_list *l);
void given_list_done(struct given_list *l);
/* How many have the key of this one, from it on. */
uint32_t given_run(const struct given_list *l, uint32_t first);

#endif
