/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/run_sides.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"
#include "core/merge.h"
#include "core/ranges_wanted.h"

double run_side_measured(const struct run_side *side, const struct session_row *row)
{
	return side->measured == METRIC_NONE ? NAN
					     : session_row_number(side->s, row, side->measured);
}

uint32_t run_side_process(const struct run_side *side, const struct session_row *row)
{
	return run_side_id(side->processes, session_lane_at(side->s, row->lane)->process);
}

static bool same_text(const struct session *a, uint32_t of_a, const struct session *b,
		      uint32_t of_b)
{
	return !strcmp(strtab_str(a->strings, of_a), strtab_str(b->strings, of_b));
}

/* ---- nodes ---- */

static int add_nodes(struct run_side *side, struct merge *m)
{
	size_t bytes = side->s->n_nodes * sizeof(*side->nodes);

	if (merge_add_tree(m, side->s) < 0 || !(side->nodes = malloc(bytes)))
		return -ENOMEM;
	memcpy(side->nodes, merge_nodes(m), bytes);
	return 0;
}

static int make_tree(struct run_sides *sides)
{
	_cleanup_(merge_freep) struct merge *m = NULL;
	int r = 0;

	sides->tree = session_new();
	m = sides->tree ? merge_new(sides->tree) : NULL;
	for (size_t i = 0; i < RUN_N_SIDES && r == 0; i++)
		r = m ? add_nodes(&sides->of[i], m) : -ENOMEM;
	return r;
}

/* ---- processes ---- */

static int find_measuring(struct run_side *side)
{
	side->measured = metric_table_find(side->s->metrics, RANGES_COUNT);
	side->measures = calloc(side->s->n_processes + 1, 1);
	if (!side->measures)
		return -ENOMEM;
	for (size_t i = 0; i < side->s->n_rows; i++) {
		uint32_t process = session_lane_at(side->s, side->s->rows[i].lane)->process;

		if (process < side->s->n_processes &&
		    !isnan(run_side_measured(side, &side->s->rows[i])))
			side->measures[process] = 1;
	}
	return 0;
}

static bool same_process(const struct session *a, uint32_t of_a, const struct session *b,
			 uint32_t of_b)
{
	const struct session_process *p = &a->processes[of_a], *q = &b->processes[of_b];

	return p->rank == q->rank && same_text(a, p->cmdline, b, q->cmdline);
}

/* The only one that measured anything, or the only one like that process; SESSION_NONE: there is none, or more. like: NULL:
 * any. */
static uint32_t only_process(const struct run_side *side, const struct session *like,
			     uint32_t which)
{
	uint32_t found = SESSION_NONE;

	for (uint32_t i = 0; i < side->s->n_processes; i++) {
		if (!side->measures[i] || (like && !same_process(side->s, i, like, which)))
			continue;
		if (found != SESSION_NONE)
			return SESSION_NONE;
		found = i;
	}
	return found;
}

static int map_new(uint32_t **ret, size_t n)
{
	*ret = malloc((n + 1) * sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	memset(*ret, 0xff, (n + 1) * sizeof(**ret));
	return 0;
}

static int map_processes(const struct run_side *first, struct run_side *other)
{
	uint32_t a = only_process(first, NULL, 0), b = only_process(other, NULL, 0);

	if (map_new(&other->processes, other->s->n_processes) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < other->s->n_processes; i++) {
		if (!other->measures[i])
			continue;
		if (a != SESSION_NONE && b == i)
			other->processes[i] = a;
		else if (only_process(other, other->s, i) == i)
			other->processes[i] = only_process(first, other->s, i);
	}
	return 0;
}

/* ---- epochs and devices ---- */

/* Whatever their numbers are. */
static bool same_phase(const struct session *a, uint32_t of_a, const struct session *b,
		       uint32_t of_b)
{
	const struct session_epoch *e = &a->epochs[of_a], *f = &b->epochs[of_b];

	return e->phase == f->phase && same_text(a, e->name, b, f->name);
}

static bool same_epoch(const struct session *a, uint32_t of_a, const struct session *b,
		       uint32_t of_b)
{
	return a->epochs[of_a].index == b->epochs[of_b].index && same_phase(a, of_a, b, of_b);
}

static bool same_device(const struct session *a, uint32_t of_a, const struct session *b,
			uint32_t of_b)
{
	const struct session_device *d = &a->devices[of_a], *e = &b->devices[of_b];

	return d->index == e->index && same_text(a, d->uuid, b, e->uuid) &&
	       same_text(a, d->host, b, e->host) && same_text(a, d->type, b, e->type);
}

/* Epochs in which anything was measured, by their numbers: how many. */
static size_t measuring_epochs(const struct run_side *side, uint32_t **ret)
{
	const struct session *s = side->s;
	_cleanup_(freep) uint8_t *measures = calloc(s->n_epochs + 1, 1);
	size_t n = 0, at;

	*ret = measures ? malloc((s->n_epochs + 1) * sizeof(**ret)) : NULL;
	if (!*ret)
		return 0;
	for (size_t i = 0; i < s->n_rows; i++)
		if (s->rows[i].epoch < s->n_epochs)
			measures[s->rows[i].epoch] |= !isnan(run_side_measured(side, &s->rows[i]));
	/* They are made in this order, but for those of several processes. */
	for (uint32_t i = 0; i < s->n_epochs; i++) {
		if (!measures[i])
			continue;
		for (at = n++; at > 0 && s->epochs[(*ret)[at - 1]].index > s->epochs[i].index; at--)
			(*ret)[at] = (*ret)[at - 1];
		(*ret)[at] = i;
	}
	return n;
}

/* One between two sessions is there or not, by luck, and counts: so where both runs measured in as many, these are in pairs. */
static void pair_epochs(const struct run_side *first, struct run_side *other)
{
	_cleanup_(freep) uint32_t *a = NULL, *b = NULL;
	size_t n = measuring_epochs(first, &a), n_other = measuring_epochs(other, &b), i = 0;

	while (n == n_other && i < n && same_phase(first->s, a[i], other->s, b[i]))
		i++;
	if (i < n)
		return;
	for (i = 0; i < n; i++)
		other->epochs[b[i]] = a[i];
}

typedef bool same_fn(const struct session *a, uint32_t of_a, const struct session *b,
		     uint32_t of_b);

static int map_same(const struct session *first, size_t n_first, const struct session *other,
		    size_t n_other, same_fn *same, uint32_t **ret)
{
	if (map_new(ret, n_other) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < n_other; i++)
		for (uint32_t k = 0; k < n_first && (*ret)[i] == SESSION_NONE; k++)
			if (same(first, k, other, i))
				(*ret)[i] = k;
	return 0;
}

static int map_epochs(const struct run_side *first, struct run_side *other)
{
	int r = map_same(first->s, first->s->n_epochs, other->s, other->s->n_epochs, same_epoch,
			 &other->epochs);

	if (r == 0)
		pair_epochs(first, other);
	return r;
}

/* ---- both ---- */

int run_sides_make(const struct session *first, const struct session *other, struct run_sides *ret)
{
	struct run_side *a = &ret->of[RUN_FIRST], *b = &ret->of[RUN_OTHER];
	int r;

	*ret = (struct run_sides){.of = {{.s = first}, {.s = other}}};
	r = make_tree(ret);
	r = r ? r : find_measuring(a);
	r = r ? r : find_measuring(b);
	r = r ? r : map_processes(a, b);
	r = r ? r : map_epochs(a, b);
	return r ? r
		 : map_same(first, first->n_devices, other, other->n_devices, same_device,
			    &b->devices);
}

void run_sides_done(struct run_sides *sides)
{
	sides->tree = session_free(sides->tree);
	for (size_t i = 0; i < RUN_N_SIDES; i++) {
		struct run_side *side = &sides->of[i];
		void *arrays[] = {side->nodes, side->processes, side->epochs, side->devices,
				  side->measures};

		for (size_t k = 0; k < ARRAY_SIZE(arrays); k++)
			free(arrays[k]);
	}
}
