/* SPDX-License-Identifier: MIT */
/* What hardware counters said, time by time: of those that are long ago two become one, again and again. */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "base/util.h"
#include "core/session.h"
#include "core/session_impl.h"

/* Of each device: its times that are old, and the last of them that waits for another to join it. */
struct old {
	size_t n;
	size_t waits; /* SIZE_MAX: none does */
};

static void count_old(const struct session *s, struct old *old)
{
	for (size_t i = 0; i < s->n_devices; i++)
		old[i] = (struct old){0, SIZE_MAX};
	for (size_t i = 0; i < s->n_counters; i++)
		old[s->counters[i].device].n++;
	for (size_t i = 0; i < s->n_devices; i++)
		old[i].n = old[i].n > COUNTERS_MOST ? old[i].n - COUNTERS_FINE : 0;
}

/* Times come in their order, one run after the other where runs were merged. */
static void join_old(struct session *s, struct old *old)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_counters; i++) {
		struct old *of = &old[s->counters[i].device];

		if (of->n && of->waits != SIZE_MAX) {
			counted_add(&s->counters[of->waits].of, &s->counters[i].of);
			of->waits = SIZE_MAX;
			of->n--;
			continue;
		}
		if (of->n) {
			of->waits = n;
			of->n--;
		}
		s->counters[n++] = s->counters[i];
	}
	s->n_counters = n;
}

static int make_room(struct session *s)
{
	_cleanup_(freep) struct old *old = NULL;

	if (s->n_counters < s->join_counters_at)
		return session_table_room(s, TABLE_COUNTERS);
	old = malloc(MAX(s->n_devices, 1) * sizeof(*old));
	if (!old)
		return -ENOMEM;
	count_old(s, old);
	join_old(s, old);
	s->join_counters_at = MAX(s->n_counters, COUNTERS_MOST) + COUNTERS_FINE;
	return session_table_room(s, TABLE_COUNTERS);
}

int session_counters_add(struct session *s, const struct session_counters *counters)
{
	struct session_counters one = *counters;

	if (one.device >= s->n_devices || !counted_check(&one.of))
		return -EINVAL;
	if (make_room(s) < 0)
		return -ENOMEM;
	s->counters[s->n_counters++] = one;
	s->generation++;
	return 0;
}

uint64_t session_counters_end(const struct session *s, uint32_t device)
{
	for (size_t i = s->n_counters; i-- > 0;)
		if (s->counters[i].device == device)
			return s->counters[i].of.end_ns;
	return 0;
}

bool session_counters_mean(const struct session *s, uint32_t device, uint64_t from_ns,
			   struct counted *ret)
{
	counted_init(ret);
	for (size_t i = 0; i < s->n_counters; i++)
		if (s->counters[i].device == device && s->counters[i].of.end_ns > from_ns)
			counted_add(ret, &s->counters[i].of);
	return ret->n > 0;
}

bool session_counters_range(const struct session *s, uint32_t device, struct counters_range *ret)
{
	counted_init(&ret->mean);
	for (unsigned k = 0; k < COUNTED_N; k++)
		ret->min[k] = ret->max[k] = NAN;
	for (size_t i = 0; i < s->n_counters; i++) {
		const struct counted *c = &s->counters[i].of;

		if (s->counters[i].device != device)
			continue;
		counted_add(&ret->mean, c);
		for (unsigned k = 0; k < COUNTED_N; k++) {
			ret->min[k] = fmin(ret->min[k], c->v[k]);
			ret->max[k] = fmax(ret->max[k], c->v[k]);
		}
	}
	return ret->mean.n > 0;
}
