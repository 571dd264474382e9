/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/step_busy.h"
#include "base/util.h"

void step_busy_clear(struct step_busy *b)
{
	steps_clear(&b->busy);
	steps_clear(&b->idle);
	step_slow_clear(&b->slow);
	b->slowest_ns = b->open.start_ns = 0;
}

void step_busy_go_on(struct step_busy *b, const struct coverage *ran, uint64_t start_ns,
		     uint64_t until_ns)
{
	uint64_t more;

	if (b->open.start_ns != start_ns) {
		b->open.start_ns = b->open.until_ns = start_ns;
		b->open.busy_ns = 0;
	}
	if (until_ns <= b->open.until_ns)
		return;
	if (!coverage_within(ran, b->open.until_ns, until_ns, &more))
		return; /* and never again, for the floor only rises */
	b->open.busy_ns += more;
	b->open.until_ns = until_ns;
}

/* By what was known while it was open; else, or where it was over by then, by what is remembered. */
static bool busy_in(const struct step_busy *b, const struct coverage *ran,
		    const struct step_ended *step, uint64_t *ret_ns)
{
	if (b->open.start_ns != step->start_ns || b->open.until_ns > step->end_ns)
		return coverage_within(ran, step->start_ns, step->end_ns, ret_ns);
	if (!coverage_within(ran, b->open.until_ns, step->end_ns, ret_ns))
		return false;
	*ret_ns += b->open.busy_ns;
	return true;
}

/* The first one is in none of the numbers, known or not. */
static void begin(struct step_busy *b, uint64_t number)
{
	steps_clear(&b->busy);
	steps_clear(&b->idle);
	step_slow_clear(&b->slow);
	b->slowest_ns = 0;
	steps_add(&b->busy, number, 0);
	steps_add(&b->idle, number, 0);
}

void step_busy_add(struct step_busy *b, const struct coverage *ran, const struct step_ended *step)
{
	uint64_t busy_ns;
	bool is_known = busy_in(b, ran, step, &busy_ns);

	if (step->is_first) {
		begin(b, step->number);
		return;
	}
	if (!is_known)
		return;
	busy_ns = MIN(busy_ns, step->ns);
	steps_add(&b->busy, step->number, busy_ns);
	steps_add(&b->idle, step->number, step->ns - busy_ns);
	step_slow_add(&b->slow, step->number, step->ns, busy_ns);
	if (step->ns < b->slowest_ns)
		return;
	b->slowest_ns = step->ns + 1;
	b->slowest = step->number;
	b->slowest_busy_ns = busy_ns;
}

void step_busy_tell(const struct step_busy *b, uint64_t median_ns, struct step_busy_told *ret)
{
	steps_tell(&b->busy, &ret->busy);
	steps_tell(&b->idle, &ret->idle);
	ret->slowest = b->slowest;
	ret->slowest_busy_ns = b->slowest_busy_ns;
	step_slow_tell(&b->slow, median_ns, ret->idle.median_ns, &ret->slow);
}
