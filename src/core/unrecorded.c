/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/unrecorded.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"

const char *const unrecorded_words[UNRECORDED_N] = {
	[UNRECORDED_UNKNOWN] = "for a reason that is not known",
	[UNRECORDED_PAUSED] = "paused",
	[UNRECORDED_WINDOW] = "outside the window",
	[UNRECORDED_ASIDE] = "another profiler had CUPTI",
	[UNRECORDED_FULL] = "the trace was full",
};

enum unrecorded_reason unrecorded_reason_of(const char *word)
{
	for (unsigned i = 0; i < UNRECORDED_N; i++)
		if (!strcmp(word, unrecorded_words[i]))
			return (enum unrecorded_reason)i;
	return UNRECORDED_UNKNOWN;
}

static int compare(const void *a, const void *b)
{
	const struct unrecorded_span *x = a, *y = b;

	return x->start_ns != y->start_ns ? COMPARE(x->start_ns, y->start_ns)
					  : COMPARE(x->reason, y->reason);
}

int unrecorded_append(struct unrecorded *u, uint64_t start_ns, uint64_t end_ns, uint8_t reason)
{
	struct unrecorded_span *last = u->n ? &u->v[u->n - 1] : NULL;

	if (end_ns <= start_ns)
		return 0;
	if (last && last->end_ns == start_ns && last->reason == reason) {
		last->end_ns = end_ns;
		return 0;
	}
	if (ARRAY_ROOM(u->v, u->cap, u->n + 1) < 0)
		return -ENOMEM;
	last = u->n ? &u->v[u->n - 1] : NULL;
	u->v[u->n++] = (struct unrecorded_span){
		start_ns, end_ns, last ? last->before_ns + last->end_ns - last->start_ns : 0,
		reason};
	return 0;
}

/* As it was told: the beginning and the end of a process are those of time. */
static struct unrecorded_span told(const struct session_unrecorded *span, uint64_t shift_ns)
{
	return (struct unrecorded_span){span->start_ns ? span->start_ns + shift_ns : 0,
					span->end_ns ? span->end_ns + shift_ns : UINT64_MAX, 0,
					span->reason};
}

int unrecorded_flatten(struct unrecorded *u, struct unrecorded_span *v, size_t n)
{
	uint64_t until_ns = 0;
	int r = 0;

	if (n)
		qsort(v, n, sizeof(*v), compare);
	for (size_t i = 0; i < n && r == 0; i++) {
		r = unrecorded_append(u, MAX(v[i].start_ns, until_ns), v[i].end_ns, v[i].reason);
		until_ns = MAX(until_ns, v[i].end_ns);
	}
	return r;
}

static bool is_of(const struct session_unrecorded *span, uint32_t process)
{
	return span->process == process || span->process == SESSION_NONE || process == SESSION_NONE;
}

int unrecorded_init(struct unrecorded *u, const struct session *s, uint32_t process,
		    uint64_t shift_ns)
{
	_cleanup_(freep) struct unrecorded_span *v = NULL;
	size_t n = 0;
	int r;

	*u = (struct unrecorded){0};
	if (!s->n_unrecorded)
		return 0;
	v = malloc(s->n_unrecorded * sizeof(*v));
	if (!v)
		return -ENOMEM;
	for (size_t i = 0; i < s->n_unrecorded; i++)
		if (is_of(&s->unrecorded[i], process))
			v[n++] = told(&s->unrecorded[i], shift_ns);
	r = unrecorded_flatten(u, v, n);
	if (r < 0)
		unrecorded_done(u);
	return r;
}

void unrecorded_done(struct unrecorded *u)
{
	free(u->v);
	*u = (struct unrecorded){0};
}

const struct unrecorded_span *unrecorded_from(const struct unrecorded *u, uint64_t ns)
{
	size_t lo = 0;

	BISECT(lo, u->n, middle, u->v[middle].end_ns <= ns)
	return lo < u->n ? &u->v[lo] : NULL;
}

const struct unrecorded_span *unrecorded_within(const struct unrecorded *u, uint64_t from_ns,
						uint64_t to_ns)
{
	const struct unrecorded_span *span = unrecorded_from(u, from_ns);

	return span && span->start_ns < to_ns ? span : NULL;
}

const struct unrecorded_span *unrecorded_at(const struct unrecorded *u, uint64_t ns)
{
	return unrecorded_within(u, ns, ns + 1);
}

/* Of all time before a moment. */
static uint64_t until(const struct unrecorded *u, uint64_t ns)
{
	const struct unrecorded_span *span = unrecorded_from(u, ns);

	if (!span && u->n)
		span = &u->v[u->n - 1];
	return span ? span->before_ns + MIN(span->end_ns, MAX(ns, span->start_ns)) - span->start_ns
		    : 0;
}

uint64_t unrecorded_ns(const struct unrecorded *u, uint64_t from_ns, uint64_t to_ns)
{
	return until(u, to_ns) - until(u, from_ns);
}
