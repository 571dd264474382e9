/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_FLAT_H
#define PROTON_CORE_FLAT_H
/* Kernels, copies and sets by name: a row is the set of all calling contexts of one of them.
 *
 *     main { a { k }, b { k, copy } }    k: both k;  copy
 *
 * Numbers are of the contexts themselves. Rows are sorted by time, the longest first; without time,
 * as they came.
 *   thread  one */
#include <stdbool.h>
#include <stdint.h>
#include "core/column.h"
#include "core/number_sets.h"

struct flat_row {
	uint32_t frame;    /* of the session: what stands for its function (snapshot_function()) */
	uint32_t node;     /* the context with the most time; the row has its name */
	uint32_t first, n; /* of its contexts */
	double time_ns;    /* NaN: absent */
	uint8_t kind;      /* enum frame_kind */
};

struct flat;

/* numbers is borrowed. is_alone: what has no value is left out, as what was captured into a graph that never ran by its
 * nodes; of a pair the other side may have one. NULL: out of memory. */
struct flat *flat_new(struct numbers *numbers, bool is_alone);
struct flat *flat_free(struct flat *f);
/* The numbers were updated. 0 or -ENOMEM (there are no rows then). */
int flat_update(struct flat *f);
uint32_t flat_n(const struct flat *f);
const struct flat_row *flat_row(const struct flat *f, uint32_t i);
/* The contexts of a row. */
const uint32_t *flat_nodes(const struct flat *f, uint32_t i);
/* Copies and sets are transfers. */
bool flat_is_transfer(const struct flat *f, uint32_t i);
/* What a person should know about a transfer ("pageable: pin the memory"); "": nothing. */
const char *flat_advice(struct flat *f, uint32_t i);
/* A metric of a row; shares are of the whole profile's. NaN: absent. */
double flat_value(struct flat *f, uint32_t i, const struct number_ask *ask);
/* The value of a usual column; these have the first slots of the cache. */
static inline double flat_usual(struct flat *f, uint32_t i, enum usual_column column)
{
	const struct number_ask ask = {.metric = &usual_columns[column].derived, .slot = column};

	return flat_value(f, i, &ask);
}

#endif
