/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/step_slow.h"

void step_slow_clear(struct step_slow *s)
{
	s->n = 0;
}

static void sift_up(struct step_slow *s, unsigned i, const struct step_slow_one *one)
{
	for (; i && one->ns < s->v[(i - 1) / 2].ns; i = (i - 1) / 2)
		s->v[i] = s->v[(i - 1) / 2];
	s->v[i] = *one;
}

/* In the place of the shortest. */
static void replace_first(struct step_slow *s, const struct step_slow_one *one)
{
	unsigned i = 0, child;

	for (; (child = 2 * i + 1) < s->n; i = child) {
		child += child + 1 < s->n && s->v[child + 1].ns < s->v[child].ns;
		if (one->ns <= s->v[child].ns)
			break;
		s->v[i] = s->v[child];
	}
	s->v[i] = *one;
}

void step_slow_add(struct step_slow *s, uint64_t number, uint64_t ns, uint64_t busy_ns,
		   uint64_t idle_ns)
{
	const struct step_slow_one one = {ns, busy_ns, idle_ns, number};

	if (s->n < STEP_SLOW_MAX)
		sift_up(s, s->n++, &one);
	else if (ns > s->v[0].ns)
		replace_first(s, &one);
}

static void count(struct step_slow_cause *cause, const struct step_slow_one *one)
{
	cause->n++;
	/* of several that took the same, the first */
	if (one->ns < cause->ns || (one->ns == cause->ns && one->number > cause->number))
		return;
	cause->ns = one->ns;
	cause->busy_ns = one->busy_ns;
	cause->number = one->number;
}

void step_slow_tell(const struct step_slow *s, uint64_t median_ns, uint64_t idle_median_ns,
		    struct step_slow_told *ret)
{
	*ret = (struct step_slow_told){.host = {.n = 0}};
	for (unsigned i = 0; i < s->n; i++) {
		const struct step_slow_one *one = &s->v[i];

		if ((double)one->ns < STEP_SLOW_RATIO * (double)median_ns)
			continue;
		count(step_slow_is_of_host((double)one->ns, (double)one->idle_ns, (double)median_ns,
					   (double)idle_median_ns)
			      ? &ret->host
			      : &ret->work,
		      one);
	}
}
