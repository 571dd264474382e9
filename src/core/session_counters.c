/* SPDX-License-Identifier: MIT */
/* What hardware counters said, time by time: of those that are long ago two become one, again and again. */
#include "config.h" // IWYU pragma: keep
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "base/util.h"
#include "core/session.h"
#include "core/session_impl.h"

#define NOW_NS NSEC_PER_SEC /* of which what is now is the mean */

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

bool session_counters_now(const struct session *s, uint32_t device, struct counted *ret)
{
	uint64_t end_ns = session_counters_end(s, device);

	counted_init(ret);
	for (size_t i = 0; s->counting && i < s->n_counters; i++)
		if (s->counters[i].device == device && s->counters[i].of.end_ns + NOW_NS > end_ns)
			counted_add(ret, &s->counters[i].of);
	return ret->n > 0;
}

/* What was counted in a step, and for how long. */
struct step_sum {
	double sum, weight;
};

/* A time has its part in each step that it reaches into. */
static void add_time(const struct counted *c, enum counter_id id,
		     const struct counters_steps *steps, struct step_sum *sums)
{
	double rate = (double)c->counted_ns / (double)(c->end_ns - c->start_ns);
	uint64_t first = c->start_ns > steps->from_ns ? c->start_ns - steps->from_ns : 0;

	for (uint64_t k = first / steps->step_ns; k < steps->n; k++) {
		uint64_t from_ns = steps->from_ns + k * steps->step_ns;
		uint64_t to_ns = MIN(from_ns + steps->step_ns, c->end_ns);
		double weight;

		from_ns = MAX(from_ns, c->start_ns);
		if (from_ns >= to_ns)
			break;
		weight = (double)(to_ns - from_ns) * rate;
		sums[k].sum += c->v[id] * weight;
		sums[k].weight += weight;
	}
}

void session_counters_past(const struct session *s, uint32_t device, enum counter_id id,
			   const struct counters_steps *steps, float ret[])
{
	struct step_sum sums[COUNTERS_STEPS_MOST] = {{0}};

	assert(steps->n <= COUNTERS_STEPS_MOST && steps->step_ns);
	for (size_t i = 0; i < s->n_counters; i++)
		if (s->counters[i].device == device && !isnan(s->counters[i].of.v[id]))
			add_time(&s->counters[i].of, id, steps, sums);
	for (size_t k = 0; k < steps->n; k++)
		ret[k] = sums[k].weight > 0 ? (float)(sums[k].sum / sums[k].weight) : NAN;
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
