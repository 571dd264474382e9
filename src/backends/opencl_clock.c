/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "backends/opencl_clock.h"
#include "base/util.h"

/* Clocks of good hardware differ by less than 100 millionths. */
#define DRIFT(ns) ((int64_t)((ns) / 10000))

struct bounds {
	int64_t least, most;
};

static bool are_empty(struct bounds b)
{
	return b.least > b.most;
}

static struct bounds both(struct bounds a, struct bounds b)
{
	return (struct bounds){MAX(a.least, b.least), MIN(a.most, b.most)};
}

/* By what was called before it ran, and was seen when it was over. */
static struct bounds by_run(const struct opencl_sight *s)
{
	return (struct bounds){(int64_t)(s->called_ns - s->start), (int64_t)(s->seen_ns - s->end)};
}

static struct bounds by_queued(const struct opencl_sight *s)
{
	return (struct bounds){(int64_t)(s->called_ns - s->queued),
			       (int64_t)(s->returned_ns - s->queued)};
}

/* Some drivers tell when a command was queued by the host's clock, or not at all. */
static struct bounds by_command(struct opencl_clock *c, const struct opencl_sight *s)
{
	struct bounds run = by_run(s), narrow;

	if (c->ignores_queued || !s->queued)
		return run;
	narrow = both(run, by_queued(s));
	c->ignores_queued = s->queued > s->start || are_empty(narrow);
	return c->ignores_queued ? run : narrow;
}

static struct bounds by_now(const struct opencl_clock *c, uint64_t now_ns)
{
	int64_t drift = now_ns > c->at_ns ? DRIFT(now_ns - c->at_ns) : 0;

	return (struct bounds){c->least - drift, c->most + drift};
}

int64_t opencl_clock_see(struct opencl_clock *c, const struct opencl_sight *s)
{
	struct bounds its = by_command(c, s), all = both(its, by_now(c, s->seen_ns));
	bool is_first = !c->at_ns;

	if (is_first || are_empty(all)) { /* or one of the clocks was set */
		all = its;
		c->at_ns = s->seen_ns;
	}
	if (is_first)
		c->offset = all.least + (all.most - all.least) / 2;
	c->offset = CLAMP(c->offset, all.least, all.most);
	c->least = all.least;
	c->most = all.most;
	c->at_ns = MAX(c->at_ns, s->seen_ns);
	return c->offset;
}
