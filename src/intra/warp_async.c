/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "intra/warp_async.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"

/* An end, or the beginning of one that is open. */
struct half {
	uint64_t block, at;
	uint32_t multiprocessor, name, number;
	size_t warp, scope; /* the trace's */
	bool ends;
};

static bool is_half(const struct warp_trace_scope *s)
{
	return s->event == WARP_EVENT_ASYNC && (s->is_open || s->is_end);
}

/* They are behind all else of their warp. */
static bool has_ends(const struct warp_trace *t, const struct warp_trace_warp *w)
{
	return w->n_scopes && t->scopes[w->scopes + w->n_scopes - 1].is_end;
}

static bool any_ends(const struct warp_trace *t, const struct warp_trace_launch *l)
{
	for (size_t i = 0; i < l->n_warps; i++)
		if (has_ends(t, &t->warps[l->warps + i]))
			return true;
	return false;
}

/* Those of a warp; `to` NULL: only how many. */
static size_t halves_of(const struct warp_trace *t, size_t warp, struct half *to)
{
	const struct warp_trace_warp *w = &t->warps[warp];
	size_t n = 0;

	for (size_t i = w->scopes; i < w->scopes + w->n_scopes; i++) {
		const struct warp_trace_scope *s = &t->scopes[i];

		if (!is_half(s))
			continue;
		if (to)
			to[n] = (struct half){.block = w->block,
					      .at = s->enter,
					      .multiprocessor = w->multiprocessor,
					      .name = s->name,
					      .number = s->number,
					      .warp = warp,
					      .scope = i,
					      .ends = s->is_end};
		n++;
	}
	return n;
}

static int gather(const struct warp_trace *t, const struct warp_trace_launch *l, struct half **ret,
		  size_t *ret_n)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n_warps; i++)
		n += halves_of(t, l->warps + i, NULL);
	*ret = malloc((n + 1) * sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	*ret_n = n;
	n = 0;
	for (size_t i = 0; i < l->n_warps; i++)
		n += halves_of(t, l->warps + i, &(*ret)[n]);
	return 0;
}

static int compare_events(const struct half *a, const struct half *b)
{
	if (a->block != b->block)
		return COMPARE(a->block, b->block);
	if (a->multiprocessor != b->multiprocessor)
		return COMPARE(a->multiprocessor, b->multiprocessor);
	if (a->name != b->name)
		return COMPARE(a->name, b->name);
	return COMPARE(a->number, b->number);
}

/* What happens at one time begins first. */
static int compare_halves(const void *x, const void *y)
{
	const struct half *a = x, *b = y;
	int r = compare_events(a, b);

	if (r)
		return r;
	return a->at != b->at ? COMPARE(a->at, b->at) : COMPARE(a->ends, b->ends);
}

/* Those of one event, in the order of time. How many ends have none that began before them. */
static uint64_t join_one(struct warp_trace *t, const struct half *of, size_t n)
{
	uint64_t n_lost = 0;
	size_t begun = 0;

	for (size_t i = 0; i < n; i++) {
		if (!of[i].ends)
			continue;
		while (begun < i && of[begun].ends)
			begun++;
		if (begun == i) {
			t->warps[of[i].warp].n_lost++;
			n_lost++;
			continue;
		}
		t->scopes[of[begun].scope].leave = of[i].at;
		t->scopes[of[begun].scope].is_open = false;
		begun++;
	}
	return n_lost;
}

static uint64_t join_all(struct warp_trace *t, const struct half *halves, size_t n)
{
	uint64_t n_lost = 0;

	for (size_t i = 0, to; i < n; i = to) {
		for (to = i + 1; to < n && !compare_events(&halves[i], &halves[to]);)
			to++;
		n_lost += join_one(t, &halves[i], to - i);
	}
	return n_lost;
}

/* It is the trace's last launch, or what is behind it keeps its place. */
static void drop_ends(struct warp_trace *t, const struct warp_trace_launch *l)
{
	size_t at = t->warps[l->warps].scopes, before = at;

	for (size_t i = l->warps; i < l->warps + l->n_warps; i++) {
		struct warp_trace_warp *w = &t->warps[i];
		size_t from = w->scopes;

		before = from + w->n_scopes;
		while (has_ends(t, w))
			w->n_scopes--;
		memmove(&t->scopes[at], &t->scopes[from], w->n_scopes * sizeof(*t->scopes));
		w->scopes = at;
		at += w->n_scopes;
	}
	if (before == t->n_scopes)
		t->n_scopes = at;
}

int warp_async_join(struct warp_trace *t, size_t launch, uint64_t *ret_n_lost)
{
	const struct warp_trace_launch *l = &t->launches[launch];
	struct half *halves = NULL;
	uint64_t n_lost = 0;
	size_t n = 0;
	int r = any_ends(t, l) ? gather(t, l, &halves, &n) : 0;

	if (r < 0)
		return r;
	if (n) {
		qsort(halves, n, sizeof(*halves), compare_halves);
		n_lost = join_all(t, halves, n);
		drop_ends(t, l);
	}
	free(halves);
	if (ret_n_lost)
		*ret_n_lost = n_lost;
	return 0;
}
