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

/* False: not all of it is known any more. */
static bool parts_within(const struct step_covers *c, uint64_t start_ns, uint64_t end_ns,
			 struct step_parts *ret)
{
	*ret = (struct step_parts){0, 0};
	if (!coverage_within(c->ran, start_ns, end_ns, &ret->busy_ns))
		return false;
	if (!c->in_graphs)
		return true;
	if (!coverage_within(c->in_graphs, start_ns, end_ns, &ret->in_graphs_ns))
		return false;
	/* While another device worked it is not idle anyway. */
	if (ret->in_graphs_ns)
		ret->in_graphs_ns -= coverage_common(c->ran, c->in_graphs, start_ns, end_ns);
	return true;
}

static void parts_add(struct step_parts *to, const struct step_parts *more)
{
	to->busy_ns += more->busy_ns;
	to->in_graphs_ns += more->in_graphs_ns;
}

void step_busy_go_on(struct step_busy *b, const struct step_covers *c, uint64_t start_ns,
		     uint64_t until_ns)
{
	struct step_parts more;

	if (b->open.start_ns != start_ns) {
		b->open.start_ns = b->open.until_ns = start_ns;
		b->open.of = (struct step_parts){0, 0};
	}
	if (until_ns <= b->open.until_ns)
		return;
	if (!parts_within(c, b->open.until_ns, until_ns, &more))
		return; /* and never again, for the floor only rises */
	parts_add(&b->open.of, &more);
	b->open.until_ns = until_ns;
}

/* By what was known while it was open; else, or where it was over by then, by what is remembered. */
static bool parts_in(const struct step_busy *b, const struct step_covers *c,
		     const struct step_ended *step, struct step_parts *ret)
{
	if (b->open.start_ns != step->start_ns || b->open.until_ns > step->end_ns)
		return parts_within(c, step->start_ns, step->end_ns, ret);
	if (!parts_within(c, b->open.until_ns, step->end_ns, ret))
		return false;
	parts_add(ret, &b->open.of);
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

void step_busy_add(struct step_busy *b, const struct step_covers *c, const struct step_ended *step)
{
	struct step_parts of;
	bool is_known = parts_in(b, c, step, &of);
	uint64_t idle_ns;

	if (step->is_first) {
		begin(b, step->number);
		return;
	}
	if (!is_known)
		return;
	of.busy_ns = MIN(of.busy_ns, step->ns);
	idle_ns = step->ns - of.busy_ns;
	idle_ns -= MIN(of.in_graphs_ns, idle_ns);
	steps_add(&b->busy, step->number, of.busy_ns);
	steps_add(&b->idle, step->number, idle_ns);
	step_slow_add(&b->slow, step->number, step->ns, of.busy_ns, idle_ns);
	if (step->ns < b->slowest_ns)
		return;
	b->slowest_ns = step->ns + 1;
	b->slowest = step->number;
	b->slowest_busy_ns = of.busy_ns;
}

void step_busy_tell(const struct step_busy *b, uint64_t median_ns, struct step_busy_told *ret)
{
	steps_tell(&b->busy, &ret->busy);
	steps_tell(&b->idle, &ret->idle);
	ret->slowest = b->slowest;
	ret->slowest_busy_ns = b->slowest_busy_ns;
	step_slow_tell(&b->slow, median_ns, ret->idle.median_ns, &ret->slow);
}
