/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "wire/shared_rows.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"

void shared_rows_done(struct shared_rows *r)
{
	idmap_done(&r->first);
	idmap_done(&r->parts);
	free(r->last);
}

static uint32_t width(const struct session *s, uint32_t row)
{
	return s->sets[s->rows[row].set].n;
}

/* A part for a slot that has said so far what `values` are; NULL: nothing. */
static int part_add(struct shared_rows *r, const struct session *s, uint32_t slot, uint32_t row,
		    const union metric_value *values)
{
	uint32_t n = width(s, row);
	size_t at = r->n;

	if (ARRAY_ROOM(r->last, r->cap, at + n) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		r->last[at + i] = values ? values[i].u64 : 0;
	r->n += n;
	return idmap_set(&r->parts, slot, (uint32_t)at);
}

int shared_rows_claim(struct shared_rows *r, const struct session *s, uint32_t slot, uint32_t row)
{
	uint32_t first = idmap_get(&r->first, row);
	int e = 0;

	if (first == IDMAP_NONE)
		return idmap_set(&r->first, row, slot);
	if (first == slot || idmap_get(&r->parts, slot) != IDMAP_NONE)
		return 0;
	if (idmap_get(&r->parts, first) == IDMAP_NONE)
		e = part_add(r, s, first, row, &s->values[s->rows[row].values]);
	return e < 0 ? e : part_add(r, s, slot, row, NULL);
}

static union metric_value changed(const struct metric *m, union metric_value sum, uint64_t last,
				  union metric_value v)
{
	union metric_value before = {.u64 = last};

	if (m->type == METRIC_F64)
		return (union metric_value){.f64 = sum.f64 + v.f64 - before.f64};
	return (union metric_value){.u64 = sum.u64 + v.u64 - before.u64};
}

static bool is_less(const struct metric *m, union metric_value a, union metric_value b)
{
	return m->type == METRIC_F64 ? a.f64 < b.f64 : a.u64 < b.u64;
}

void shared_rows_set(struct shared_rows *r, struct session *s, uint32_t slot, uint32_t row,
		     uint32_t i, union metric_value v)
{
	uint32_t part = idmap_get(&r->parts, slot), at = s->rows[row].values + i;
	const struct metric *m = metric_table_get(s->metrics, s->sets[s->rows[row].set].metrics[i]);
	union metric_value now = s->values[at], told = v;
	uint64_t *last;

	if (part == IDMAP_NONE || m->type == METRIC_TEXT) {
		session_row_set(s, row, i, v);
		return;
	}
	last = &r->last[part + i];
	if (m->add == METRIC_SUM || m->add == METRIC_GAUGE)
		v = changed(m, now, *last, v);
	else if (s->present[at] && now.u64 && m->add == METRIC_MIN)
		v = is_less(m, v, now) ? v : now;
	else if (s->present[at] && (m->add == METRIC_MAX || m->add == METRIC_PEAK))
		v = is_less(m, now, v) ? v : now;
	*last = told.u64;
	session_row_set(s, row, i, v);
}

/* A value that a slot has said; false: it has not. */
static bool told(const struct shared_rows *r, const struct session *s, uint32_t slot, uint32_t row,
		 uint32_t i, const struct metric *m, union metric_value *ret)
{
	uint32_t part = idmap_get(&r->parts, slot), at = s->rows[row].values + i;

	*ret = s->values[at];
	if (part != IDMAP_NONE && m->type != METRIC_TEXT)
		ret->u64 = r->last[part + i];
	/* A minimum of 0 is none. */
	return s->present[at] && (m->add != METRIC_MIN || ret->u64);
}

/* The slot says nothing any more. What other slots of the row said of a sum is left; the rest they say again. */
static void untell(struct shared_rows *r, struct session *s, uint32_t slot, uint32_t row,
		   uint32_t i, const struct metric *m)
{
	uint32_t part = idmap_get(&r->parts, slot), at = s->rows[row].values + i;
	union metric_value rest = {.u64 = 0}, none = {.u64 = 0};

	if (part != IDMAP_NONE) {
		if (m->type != METRIC_TEXT && (m->add == METRIC_SUM || m->add == METRIC_GAUGE))
			rest = changed(m, s->values[at], r->last[part + i], none);
		r->last[part + i] = 0;
	}
	s->values[at] = rest;
	s->present[at] = m->type == METRIC_F64 ? fabs(rest.f64) > 0 : rest.u64 > 0;
	s->generation++;
}

void shared_rows_merge(struct shared_rows *r, struct session *s, uint32_t from, uint32_t from_row,
		       uint32_t into, uint32_t into_row)
{
	const struct session_set *set = &s->sets[s->rows[from_row].set];
	union metric_value v, sum;
	const struct metric *m;

	for (uint32_t i = 0; i < set->n; i++) {
		m = metric_table_get(s->metrics, set->metrics[i]);
		if (!told(r, s, from, from_row, i, m, &v))
			continue;
		untell(r, s, from, from_row, i, m);
		if (into_row == SESSION_NONE)
			continue;
		if (told(r, s, into, into_row, i, m, &sum))
			v = metric_combine(m, sum, 1, v, 1);
		shared_rows_set(r, s, into, into_row, i, v);
	}
}
