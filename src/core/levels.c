/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/levels.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "base/util.h"

/* Of one moment the last that came holds: their places tell. */
struct arrived {
	uint64_t start_ns;
	size_t i;
};

static int compare(const void *a, const void *b)
{
	const struct arrived *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->i < y->i ? -1 : x->i > y->i;
}

static bool is_of(const struct session_sample *v, uint32_t process, uint32_t device)
{
	return v->metric == METRIC_MEM_LIVE && v->process == process && v->device == device &&
	       v->value >= 0 && isfinite(v->value);
}

static size_t count(const struct session *s, uint32_t process, uint32_t device)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_samples; i++)
		n += is_of(&s->samples[i], process, device);
	return n;
}

int levels_init(struct levels *l, const struct session *s, uint32_t process, uint32_t device,
		uint64_t shift_ns)
{
	_cleanup_(freep) struct arrived *order = NULL;
	size_t n = count(s, process, device), k = 0;

	*l = (struct levels){0};
	if (!n)
		return 0;
	order = malloc(n * sizeof(*order));
	l->v = malloc(n * sizeof(*l->v));
	if (!order || !l->v)
		return -ENOMEM;
	for (size_t i = 0; i < s->n_samples; i++)
		if (is_of(&s->samples[i], process, device))
			order[k++] = (struct arrived){s->samples[i].time_ns + shift_ns, i};
	qsort(order, n, sizeof(*order), compare);
	for (k = 0; k < n; k++) {
		l->v[k] = (struct level){order[k].start_ns, s->samples[order[k].i].value};
		l->peak = MAX(l->peak, l->v[k].bytes);
	}
	l->n = n;
	return 0;
}

void levels_done(struct levels *l)
{
	free(l->v);
	*l = (struct levels){0};
}

double levels_most(const struct levels *l, uint64_t from_ns, uint64_t to_ns)
{
	size_t lo = 0;
	double most = 0;

	BISECT(lo, l->n, middle, l->v[middle].start_ns <= from_ns)
	if (lo > 0)
		most = l->v[lo - 1].bytes;
	for (; lo < l->n && l->v[lo].start_ns < to_ns; lo++)
		most = MAX(most, l->v[lo].bytes);
	return most;
}
