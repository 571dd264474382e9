/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "format/warp_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "intra/warp_records.h"

#define NONE WARP_TRACE_NO_PARENT

void warp_lines_init(struct warp_lines *l, const struct warp_trace *t)
{
	*l = (struct warp_lines){.t = t, .first_ns = UINT64_MAX};
	for (size_t i = 0; i < t->n_warps; i++)
		if (t->warps[i].entered_ns)
			l->first_ns = MIN(l->first_ns, t->warps[i].entered_ns);
	if (l->first_ns == UINT64_MAX)
		l->first_ns = 0;
}

void warp_lines_done(struct warp_lines *l)
{
	free(l->warps);
	free(l->scopes);
	free(l->lines);
}

/* ---- blocks ---- */

static int compare_warps(const void *x, const void *y)
{
	const struct warp_trace_warp *a = *(void *const *)x, *b = *(void *const *)y;

	if (a->multiprocessor != b->multiprocessor)
		return COMPARE(a->multiprocessor, b->multiprocessor);
	return a->block != b->block ? COMPARE(a->block, b->block) : COMPARE(a->warp, b->warp);
}

static bool same_block(const struct warp_trace_warp *a, const struct warp_trace_warp *b)
{
	return a->block == b->block && a->multiprocessor == b->multiprocessor;
}

static double cycle_ns_of(const struct warp_lines *l, size_t n)
{
	double cycles = 0, ns = 0;

	for (size_t i = 0; i < n; i++) {
		if (!(warp_trace_cycle_ns(l->warps[i]) > 0))
			continue;
		cycles += (double)(l->warps[i]->left_clock - l->warps[i]->entered_clock);
		ns += (double)(l->warps[i]->left_ns - l->warps[i]->entered_ns);
	}
	return cycles > 0 ? ns / cycles : 0;
}

/* The first cycle of a scope of this warp, or `first`. */
static int64_t first_cycle(const struct warp_trace *t, const struct warp_trace_warp *w,
			   int64_t first)
{
	for (size_t i = w->scopes; i < w->scopes + w->n_scopes; i++)
		if (!t->scopes[i].is_open)
			first = MIN(first, (int64_t)t->scopes[i].enter);
	return first;
}

static void add_warp(struct warp_lines_block *block, const struct warp_trace *t,
		     const struct warp_trace_warp *w)
{
	block->n_warps++;
	if (w->entered_ns)
		block->entered_ns =
			block->entered_ns ? MIN(block->entered_ns, w->entered_ns) : w->entered_ns;
	block->left_ns = MAX(block->left_ns, w->left_ns);
	block->copied_ns = MAX(block->copied_ns, w->copied_ns);
	block->first_cycle = first_cycle(t, w, block->first_cycle);
}

static int each_of(struct warp_lines *l, const struct warp_trace_launch *launch, warp_lines_fn *fn,
		   void *ctx)
{
	int r = 0;

	if (ARRAY_ROOM(l->warps, l->cap_warps, launch->n_warps) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < launch->n_warps; i++)
		l->warps[i] = &l->t->warps[launch->warps + i];
	if (launch->n_warps)
		qsort(l->warps, launch->n_warps, sizeof(*l->warps), compare_warps);
	l->cycle_ns = cycle_ns_of(l, launch->n_warps);
	for (size_t i = 0; r == 0 && i < launch->n_warps;) {
		struct warp_lines_block block = {.launch = launch,
						 .warps = &l->warps[i],
						 .block = l->warps[i]->block,
						 .multiprocessor = l->warps[i]->multiprocessor,
						 .first_cycle = INT64_MAX};

		do {
			add_warp(&block, l->t, l->warps[i++]);
		} while (i < launch->n_warps && same_block(l->warps[i - 1], l->warps[i]));
		/* The first record of all costs no more than itself. */
		block.first_cycle -= l->cost;
		r = fn(ctx, l, &block);
	}
	return r;
}

int warp_lines_each(struct warp_lines *l, warp_lines_fn *fn, void *ctx)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < l->t->n_launches; i++)
		r = each_of(l, &l->t->launches[i], fn, ctx);
	return r;
}

double warp_lines_ns(const struct warp_lines *l, const struct warp_lines_block *block,
		     const struct warp_trace_warp *w, int64_t cycle, bool in_ns)
{
	double ns;

	if (in_ns && l->cycle_ns > 0 && w->entered_clock)
		ns = warp_trace_ns(w, (uint64_t)cycle, l->cycle_ns, l->first_ns);
	else
		ns = (double)(int64_t)((uint64_t)cycle - (uint64_t)block->first_cycle) *
			     warp_lines_cycle_ns(l, in_ns) +
		     (block->entered_ns ? (double)(block->entered_ns - l->first_ns) : 0);
	return CLAMP(ns, -WARP_LINES_NS_MOST, WARP_LINES_NS_MOST);
}

/* ---- what records cost ---- */

static int shift(struct warp_lines *l)
{
	_cleanup_(freep) uint64_t **times = malloc((2 * l->n_scopes + 1) * sizeof(*times));
	size_t n = 0;

	if (!times)
		return -ENOMEM;
	for (size_t i = 0; i < l->n_scopes; i++) {
		times[n++] = (uint64_t *)&l->scopes[i].enter;
		if (warp_lines_lasts(&l->scopes[i]))
			times[n++] = (uint64_t *)&l->scopes[i].leave;
	}
	warp_times_shift(times, n, l->cost);
	for (size_t i = 0; i < l->n_scopes; i++) {
		struct warp_lines_scope *s = &l->scopes[i];

		if (!warp_lines_lasts(s))
			s->leave = s->enter;
		else if (s->leave < s->enter)
			s->leave = s->enter + l->cost / 2;
	}
	return 0;
}

/* ---- lines ---- */

static int compare_scopes(const void *x, const void *y)
{
	const struct warp_lines_scope *a = x, *b = y;

	if (a->enter != b->enter)
		return COMPARE(a->enter, b->enter);
	return a->leave != b->leave ? COMPARE(b->leave, a->leave) : COMPARE(a->scope, b->scope);
}

/* Has a line room for it? What ended before is no more on the line. */
static bool fits(struct warp_lines *l, size_t line, const struct warp_lines_scope *s)
{
	uint32_t *top = &l->lines[line];

	while (*top != NONE && l->scopes[*top].leave <= s->enter)
		*top = l->scopes[*top].outer;
	return *top == NONE || (l->nests && l->scopes[*top].leave >= s->leave);
}

/* The first line on which it finds room, or a new one. */
static int put_on_line(struct warp_lines *l, uint32_t i)
{
	struct warp_lines_scope *s = &l->scopes[i];
	size_t line = 0;

	while (line < l->n_lines && !fits(l, line, s))
		line++;
	if (line == l->n_lines) {
		if (ARRAY_ROOM(l->lines, l->cap_lines, line + 1) < 0)
			return -ENOMEM;
		l->lines[l->n_lines++] = NONE;
	}
	s->line = (uint32_t)line;
	s->outer = l->lines[line];
	l->lines[line] = i;
	return 0;
}

/* An instant is on the first line, and takes no room of it. */
static void put_instant(struct warp_lines *l, struct warp_lines_scope *s)
{
	if (!l->n_lines)
		return;
	fits(l, 0, s);
	s->outer = l->lines[0];
}

static int put_on_lines(struct warp_lines *l)
{
	int r = 0;

	l->n_lines = 0;
	for (uint32_t i = 0; r == 0 && i < l->n_scopes; i++) {
		l->scopes[i].outer = NONE;
		if (warp_lines_lasts(&l->scopes[i]))
			r = put_on_line(l, i);
		else
			put_instant(l, &l->scopes[i]);
	}
	return r;
}

int warp_lines_of(struct warp_lines *l, const struct warp_trace_warp *w)
{
	int r = ARRAY_ROOM(l->scopes, l->cap_scopes, w->n_scopes);

	l->n_scopes = 0;
	for (size_t i = 0; r == 0 && i < w->n_scopes; i++) {
		const struct warp_trace_scope *scope = &l->t->scopes[w->scopes + i];

		if (!scope->is_open)
			l->scopes[l->n_scopes++] = (struct warp_lines_scope){
				scope, (int64_t)scope->enter,
				(int64_t)MAX(scope->leave, scope->enter), 0, NONE};
	}
	if (r == 0 && l->cost)
		r = shift(l);
	if (r < 0)
		return r;
	if (l->n_scopes)
		qsort(l->scopes, l->n_scopes, sizeof(*l->scopes), compare_scopes);
	return put_on_lines(l);
}
