/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "intra/warp_singles.h"
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include "base/hash.h"
#include "base/idindex.h"
#include "base/strtab.h"
#include "base/util.h"

static struct warp_trace_scope scope_of(const struct warp_scope *s)
{
	return (struct warp_trace_scope){.enter = s->enter,
					 .leave = s->is_open ? s->enter : s->leave,
					 .parent = s->parent,
					 .event = WARP_EVENT_SCOPE,
					 .is_open = s->is_open};
}

#define NO_POINT UINT32_MAX

/* Events that have begun and not ended, by name and number: those of one end in the order in which they begin. */
struct begun {
	uint32_t scope, event;
	uint32_t first, last; /* points */
};

struct joining {
	const struct warp_contents *warp;
	struct begun *begun;
	uint32_t n;
	uint32_t *next; /* by point: the one that began behind it */
	uint32_t *end;  /* by point: where it ended; by an end that did not begin: itself */
	struct idindex index;
};

static bool is_same(const void *ctx, uint32_t id, const void *key)
{
	const struct joining *j = ctx;
	const struct warp_point *p = key;

	return j->begun[id].scope == p->scope && j->begun[id].event == p->event;
}

/* NULL: no memory. */
static struct begun *begun_of(struct joining *j, const struct warp_point *p)
{
	uint64_t hash = hash_pair(p->scope, p->event);
	uint32_t at = idindex_find(&j->index, hash, is_same, j, p);

	if (at != IDINDEX_NONE)
		return &j->begun[at];
	if (idindex_add(&j->index, hash, j->n) < 0)
		return NULL;
	j->begun[j->n] = (struct begun){p->scope, p->event, NO_POINT, NO_POINT};
	return &j->begun[j->n++];
}

static void begin_event(struct joining *j, struct begun *b, uint32_t i)
{
	if (b->first == NO_POINT)
		b->first = i;
	else
		j->next[b->last] = i;
	b->last = i;
}

static void end_event(struct joining *j, struct begun *b, uint32_t i)
{
	if (b->first == NO_POINT) {
		j->end[i] = i;
		return;
	}
	j->end[b->first] = i;
	b->first = j->next[b->first];
}

/* 0 or -ENOMEM. */
static int join(struct joining *j)
{
	for (uint32_t i = 0; i < j->warp->n_points; i++) {
		const struct warp_point *p = &j->warp->points[i];
		bool begins = p->kind == WARP_POINT_BEGIN;
		struct begun *b;

		j->next[i] = j->end[i] = NO_POINT;
		if (!begins && p->kind != WARP_POINT_END)
			continue;
		b = begun_of(j, p);
		if (!b)
			return -ENOMEM;
		(begins ? begin_event : end_event)(j, b, i);
	}
	return 0;
}

static struct warp_trace_scope point_of(const struct joining *j, uint32_t i)
{
	static const enum warp_event events[] = {[WARP_POINT_MARK] = WARP_EVENT_MARK,
						 [WARP_POINT_VALUE] = WARP_EVENT_VALUE,
						 [WARP_POINT_BEGIN] = WARP_EVENT_ASYNC};
	const struct warp_point *p = &j->warp->points[i];
	uint32_t end = j->end[i];
	struct warp_trace_scope s = {.enter = p->at,
				     .leave = end == NO_POINT ? p->at : j->warp->points[end].at,
				     .parent = p->parent,
				     .event = events[p->kind],
				     .is_open = p->kind == WARP_POINT_BEGIN && end == NO_POINT,
				     .value = p->value};

	if (s.is_open)
		s.number = p->event;
	return s;
}

static bool is_loose_end(const struct joining *j, uint32_t i)
{
	return j->warp->points[i].kind == WARP_POINT_END && j->end[i] == i;
}

static struct warp_trace_scope end_of(const struct warp_point *p)
{
	return (struct warp_trace_scope){.enter = p->at,
					 .leave = p->at,
					 .parent = WARP_TRACE_NO_PARENT,
					 .event = WARP_EVENT_ASYNC,
					 .is_end = true,
					 .number = p->event};
}

/* ---- one list ---- */

/* Both are in their order; scopes that are entered when something is have it within. at[]: where scopes are in the list. */
static int merge(const struct joining *j, warp_name_fn *name, void *ctx, uint32_t *at,
		 struct warp_trace_scope *out, size_t *ret_n)
{
	const struct warp_contents *w = j->warp;
	size_t n = 0, scope = 0, point = 0;

	while (scope < w->n_scopes || point < w->n_points) {
		bool is_scope =
			point == w->n_points ||
			(scope < w->n_scopes && w->scopes[scope].enter <= w->points[point].at);
		uint32_t id = is_scope ? w->scopes[scope].scope : w->points[point].scope;
		struct warp_trace_scope *to = &out[n];

		if (!is_scope && w->points[point].kind == WARP_POINT_END) {
			point++;
			continue;
		}
		if (is_scope)
			at[scope] = (uint32_t)n;
		*to = is_scope ? scope_of(&w->scopes[scope++]) : point_of(j, (uint32_t)point++);
		to->parent = to->parent == UINT32_MAX ? WARP_TRACE_NO_PARENT : at[to->parent];
		to->name = name(ctx, id);
		if (to->name == STRTAB_NONE)
			return -ENOMEM;
		n++;
	}
	*ret_n = n;
	return 0;
}

/* Behind n others. */
static int add_ends(const struct joining *j, warp_name_fn *name, void *ctx,
		    struct warp_trace_scope *out, size_t *n)
{
	for (uint32_t i = 0; i < j->warp->n_points; i++) {
		if (!is_loose_end(j, i))
			continue;
		out[*n] = end_of(&j->warp->points[i]);
		out[*n].name = name(ctx, j->warp->points[i].scope);
		if (out[(*n)++].name == STRTAB_NONE)
			return -ENOMEM;
	}
	return 0;
}

int warp_singles(const struct warp_contents *warp, warp_name_fn *name, void *ctx,
		 struct warp_trace_scope **ret, size_t *ret_n)
{
	size_t n = warp->n_points;
	_cleanup_(freep) struct begun *begun = calloc(n + 1, sizeof(*begun));
	_cleanup_(freep) uint32_t *numbers = calloc(2 * n + warp->n_scopes + 1, sizeof(*numbers));
	struct warp_trace_scope *out = calloc(n + warp->n_scopes + 1, sizeof(*out));
	struct joining j = {.warp = warp, .begun = begun, .next = numbers, .end = numbers + n};
	int r = begun && numbers && out ? join(&j) : -ENOMEM;

	if (r == 0)
		r = merge(&j, name, ctx, numbers + 2 * n, out, ret_n);
	if (r == 0)
		r = add_ends(&j, name, ctx, out, ret_n);
	idindex_done(&j.index);
	if (r < 0) {
		free(out);
		return r;
	}
	*ret = out;
	return 0;
}
