/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/kept.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "core/filter.h"
#include "core/flat.h"
#include "core/numbers.h"
#include "tui/needle.h"
#include "tui/tui_impl.h"

/* NULL: out of memory. */
static struct numbers *make_numbers(struct tui *t)
{
	struct numbers *n = numbers_new(t->snap, t->options.peaks), *before;

	if (!n || !t->options.before)
		return n;
	before = numbers_new(t->options.before, t->options.peaks);
	if (!before)
		return numbers_free(n);
	numbers_compare(n, before);
	return n;
}

int kept_init(struct tui *t)
{
	t->kept.numbers = make_numbers(t);
	t->kept.all = make_numbers(t);
	return t->kept.numbers && t->kept.all ? 0 : -ENOMEM;
}

void kept_done(struct kept *k)
{
	free(k->nodes);
	free(k->frames);
	k->numbers = numbers_free(k->numbers);
	k->flat.flat = flat_free(k->flat.flat);
	k->all = numbers_free(k->all);
}

bool tui_limit(const struct tui *t, struct derived *ret)
{
	return least_any(&t->least) && least_parse(&t->least, snapshot_session(t->snap), ret) == 0;
}

/* A flag a node; NULL: all of them count (there is no memory to tell). */
static const uint8_t *mark(struct tui *t)
{
	struct kept *k = &t->kept;
	uint32_t n = snapshot_n(t->snap);
	struct needle needle;

	if (needle_init(&needle, t, t->filter, &k->frames, &k->cap_frames) < 0 ||
	    ARRAY_ROOM(k->nodes, k->cap_nodes, MAX(n, 1u)) < 0)
		return NULL;
	k->n_elsewhere = 0;
	for (uint32_t id = 0; id < n; id++) {
		uint32_t parent = snapshot_node(t->snap, id)->parent;

		tick_at(snapshot_tick(t->snap), id, n);
		k->nodes[id] = parent != SNAP_NONE && k->nodes[parent];
		if (k->nodes[id] || !needle_in(t, &needle, id))
			continue;
		k->nodes[id] = 1;
		k->n_elsewhere += needle_is_elsewhere(&needle, id);
	}
	return k->nodes;
}

/* The same picture through the same filter has the same numbers, however it is looked at. */
static bool is_fresh(const struct tui *t)
{
	const struct kept *k = &t->kept;

	return k->made && k->generation == snapshot_generation(t->snap) &&
	       !strcmp(k->filter, t->filter) && (!*t->filter || k->names == t->names);
}

struct numbers *tui_numbers(struct tui *t)
{
	struct kept *k = &t->kept;

	if (is_fresh(t))
		return k->numbers;
	k->made = true;
	k->generation = snapshot_generation(t->snap);
	k->names = (uint8_t)t->names;
	snprintf(k->filter, sizeof(k->filter), "%s", t->filter);
	numbers_update(k->numbers, NULL); /* the names of what is there now */
	if (*t->filter)
		numbers_update(k->numbers, mark(t));
	return k->numbers;
}

/* Contexts that have rows in the tree: those that are kept, and what is above them. */
static int count_rows(const struct tui *t, uint32_t *ret)
{
	const uint32_t *parents = snapshot_parents(t->snap);
	uint32_t n = snapshot_n(t->snap), rows = 0;
	_cleanup_(freep) uint8_t *marks = malloc(MAX(n, 1u));

	if (!marks)
		return -ENOMEM;
	for (uint32_t id = 0; id < n; id++)
		marks[id] = numbers_counts(t->kept.numbers, id);
	for (uint32_t id = n; id-- > 1;) {
		marks[parents[id]] |= marks[id];
		rows += marks[id];
	}
	*ret = rows;
	return 0;
}

bool tui_kept_left(struct tui *t, struct filter_left *ret)
{
	const struct derived metric = {.op = DERIVED_VALUE,
				       .inclusive = true,
				       .metric = derive_time(snapshot_session(t->snap)),
				       .factor = 1};
	struct numbers *n = tui_numbers(t);
	struct derived_terms terms = {0};

	filter_left(t->snap, t->filters.v[FILTER_INCLUDE].selector, ret);
	ret->time = derive_at(numbers_derive(n), &metric, &terms, 0, 0);
	return count_rows(t, &ret->rows) == 0;
}

struct numbers *tui_all(struct tui *t)
{
	struct kept *k = &t->kept;

	if (k->all_generation == snapshot_generation(t->snap))
		return k->all;
	k->all_generation = snapshot_generation(t->snap);
	numbers_update(k->all, NULL);
	return k->all;
}

struct flat *kept_flat_of(const struct tui *t, struct kept_flat *k, struct numbers *numbers)
{
	if (!k->flat)
		k->flat = flat_new(numbers, !t->options.before);
	if (!k->flat || k->generation == numbers_generation(numbers))
		return k->flat;
	if (flat_update(k->flat) < 0)
		return NULL;
	k->generation = numbers_generation(numbers);
	return k->flat;
}

struct flat *tui_flat(struct tui *t)
{
	return kept_flat_of(t, &t->kept.flat, tui_all(t));
}
