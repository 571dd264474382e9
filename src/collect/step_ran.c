/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/step_ran.h"
#include "backends/pages.h"
#include "base/clock.h"
#include "collect/host_clock.h"
#include "collect/idle.h"
#include "collect/internal.h"

enum {
	PIECES_MAX = 1 << 18,  /* as many as wait for their turn (idle.c) … */
	PIECES_KEPT = 1 << 15, /* … and of what is all there: memory is used as they come */
};

/* owner: who takes intervals */
static struct {
	struct coverage all; /* without room before the first work */
	uint64_t until_ns;   /* 0: nobody says what is all there */
	uint64_t ahead_ns;   /* the clock of the work, of the steady one; it may be "negative" */
} ran;

const struct coverage *step_ran(void)
{
	return &ran.all;
}

uint64_t step_ran_until_ns(void)
{
	return ran.until_ns;
}

uint64_t step_ran_clock_ns(uint64_t at_steady_ns)
{
	return at_steady_ns + ran.ahead_ns;
}

static void begin_anew(struct span *room, uint64_t floor_ns)
{
	coverage_init(&ran.all, room, PIECES_MAX);
	ran.all.floor = floor_ns;
}

static bool make_room(void)
{
	struct span *room = pages_reserve(2 * PIECES_MAX * sizeof(*room));

	if (room)
		begin_anew(room, ran.all.floor);
	return room;
}

void step_ran_add(uint32_t device, const struct span *run, uint32_t n)
{
	if (!n || collector->control->steps.kind == STEPS_WANTED_OFF || device >= MAX_DEVICES ||
	    !idle_is_told(collector->device[device].source))
		return;
	if (ran.all.v || make_room())
		coverage_add(&ran.all, run, n);
}

/* Of all backends that say so. */
static uint64_t least_until_ns(void)
{
	uint64_t least = UINT64_MAX;
	bool any = false;

	for (unsigned i = 0; i < N_SOURCES; i++)
		if (idle_is_told(i)) {
			least = MIN(least, idle_until_ns(i));
			any = true;
		}
	return any ? least : 0;
}

void step_ran_settle(bool is_whole)
{
	uint64_t steady, realtime;

	if (!is_whole && ran.all.v)
		coverage_raise_floor(&ran.all, clock_realtime_ns());
	else if (!is_whole)
		ran.all.floor = clock_realtime_ns();
	if (!ran.all.v)
		return;
	steady = clock_with_realtime_ns(steady_ns, &realtime);
	ran.ahead_ns = realtime - steady;
	ran.until_ns = least_until_ns();
}

void step_ran_forget(void)
{
	struct coverage *c = &ran.all;
	uint32_t gone = c->n > PIECES_KEPT ? c->n - PIECES_KEPT : 0;

	while (gone && c->v[gone - 1].end > ran.until_ns)
		gone--;
	if (gone)
		coverage_raise_floor(c, c->v[gone - 1].end);
}

void step_ran_forked(void)
{
	begin_anew(ran.all.v, clock_realtime_ns());
	ran.until_ns = 0;
}
