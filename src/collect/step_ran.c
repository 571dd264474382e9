/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/step_ran.h"
#include <stdatomic.h>
#include "backends/pages.h"
#include "base/clock.h"
#include "collect/host_clock.h"
#include "collect/idle.h"
#include "collect/internal.h"

enum {
	PIECES_MAX = 1 << 18,  /* as many as wait for their turn (idle.c) … */
	PIECES_KEPT = 1 << 15, /* … and of what is all there: memory is used as they come */
	MARKS_MAX = 1 << 17,   /* changes of bytes, alike */
	MARKS_KEPT = 1 << 14,
	HELD_MAX = 1 << 17, /* changes of memory on their way to the taker */
	RUN_MAX = COPY_LANES_RUN,
};

/* owner: who takes intervals */
static struct {
	struct coverage all;       /* without room before the first work */
	struct coverage in_graphs; /* … before the first graph that is recorded by node */
	uint64_t until_ns;         /* 0: nobody says what is all there */
	uint64_t ahead_ns; /* the clock of the work, of the steady one; it may be "negative" */
	struct step_marks marks; /* without room before the first bytes */
	struct step_change run[RUN_MAX];
	uint64_t
		n_missed; /* changes of what is held, since a step ended: without steps nobody misses them */
} ran;

/* What is held, from who settles memory to the taker. */
static struct {
	struct held {
		uint64_t at_ns, bytes;
	} * v;            /* owner: who settles memory; NULL: no device's was allocated yet */
	struct held last; /* … as these: the newest one, and whether there was no room for it */
	bool is_behind;
	_Atomic uint32_t head, tail;
	_Atomic uint64_t until_ns; /* 0: nobody says */
	_Atomic uint32_t n_missed;
} held;

uint64_t step_ran_until_ns(void)
{
	return ran.until_ns;
}

uint64_t step_ran_clock_ns(uint64_t at_steady_ns)
{
	return at_steady_ns + ran.ahead_ns;
}

/* ---- what is held ---- */

static bool is_wanted(void)
{
	return collector->control->wanted.steps.kind != STEPS_WANTED_OFF && idle_is_wanted();
}

/* False: there is no room. */
static bool held_push(const struct held *h)
{
	uint32_t head = atomic_load_explicit(&held.head, memory_order_relaxed);

	if (!held.v)
		held.v = pages_reserve(HELD_MAX * sizeof(*held.v));
	if (!held.v || head - atomic_load_explicit(&held.tail, memory_order_acquire) == HELD_MAX)
		return false;
	held.v[head % HELD_MAX] = *h;
	atomic_store_explicit(&held.head, head + 1, memory_order_release);
	return true;
}

void step_ran_held(uint64_t at_ns, uint64_t bytes)
{
	if (!is_wanted())
		return;
	held.last = (struct held){at_ns, bytes};
	held.is_behind = !held_push(&held.last);
	if (held.is_behind)
		atomic_fetch_add_explicit(&held.n_missed, 1, memory_order_release);
}

/* What there is after changes that had no room is known by the newest of them. */
void step_ran_held_until(uint64_t until_ns)
{
	if (held.is_behind)
		held.is_behind = !held_push(&held.last);
	if (held.v && !held.is_behind)
		atomic_store_explicit(&held.until_ns, until_ns, memory_order_release);
}

static bool make_marks(void)
{
	struct step_mark *room;
	uint64_t floor_ns = ran.marks.floor;

	if (ran.marks.v)
		return true;
	room = pages_reserve(MARKS_MAX * sizeof(*room));
	if (!room)
		return false;
	step_marks_init(&ran.marks, room, MARKS_MAX);
	ran.marks.floor = floor_ns;
	return true;
}

/* They are in order but where the clock was set. */
static void take_held(void)
{
	uint32_t head = atomic_load_explicit(&held.head, memory_order_acquire),
		 tail = atomic_load_explicit(&held.tail, memory_order_relaxed), n;

	if (tail == head || !make_marks())
		return;
	for (; tail != head; tail += n) {
		for (n = 0; n < RUN_MAX && tail + n != head; n++) {
			const struct held *h = &held.v[(tail + n) % HELD_MAX];

			if (n && h->at_ns < ran.run[n - 1].at_ns)
				break;
			ran.run[n] = (struct step_change){h->at_ns, h->bytes, STEP_TOTAL_LIVE};
		}
		step_marks_add(&ran.marks, ran.run, n);
	}
	atomic_store_explicit(&held.tail, tail, memory_order_release);
}

/* ---- what is copied ---- */

static enum step_total total_of(unsigned direction)
{
	switch (direction) {
	case COPY_HOST_TO_DEVICE:
		return STEP_TOTAL_TO_DEVICE;
	case COPY_DEVICE_TO_HOST:
		return STEP_TOTAL_TO_HOST;
	case COPY_DEVICE_TO_DEVICE:
	case COPY_PEER_TO_PEER:
		return STEP_TOTAL_WITHIN;
	default: /* no device's, or not known */
		return STEP_N_TOTALS;
	}
}

static bool is_looked_at(uint32_t device)
{
	return collector->control->wanted.steps.kind != STEPS_WANTED_OFF && device < MAX_DEVICES &&
	       idle_is_told(collector->device[device].source);
}

void step_ran_copied(uint32_t device, const struct span *run, const struct copy_way *way,
		     uint32_t n)
{
	uint32_t n_run = 0;

	for (uint32_t i = 0; i < n; i++) {
		enum step_total what = way[i].is_copy ? total_of(way[i].direction) : STEP_N_TOTALS;

		if (what != STEP_N_TOTALS)
			ran.run[n_run++] = (struct step_change){run[i].start, way[i].bytes, what};
	}
	if (n_run && is_looked_at(device) && make_marks())
		step_marks_add(&ran.marks, ran.run, n_run);
}

/* ---- when devices worked ---- */

static void begin_anew(struct coverage *c, struct span *room, uint64_t floor_ns)
{
	coverage_init(c, room, PIECES_MAX);
	c->floor = floor_ns;
}

static bool make_room(struct coverage *c)
{
	struct span *room = pages_reserve(2 * PIECES_MAX * sizeof(*room));

	if (room)
		begin_anew(c, room, c->floor);
	return room;
}

void step_ran_add(uint32_t device, const struct span *run, uint32_t n)
{
	if (!n || !is_looked_at(device))
		return;
	if (ran.all.v || make_room(&ran.all))
		coverage_add(&ran.all, run, n);
}

void step_ran_in_graphs(const struct span *run, uint32_t n)
{
	if (n && ran.all.v && (ran.in_graphs.v || make_room(&ran.in_graphs)))
		coverage_add(&ran.in_graphs, run, n);
}

static struct step_covers covers(void)
{
	return (struct step_covers){&ran.all, ran.in_graphs.v ? &ran.in_graphs : NULL};
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
	uint64_t steady, realtime,
		held_ns = atomic_load_explicit(&held.until_ns, memory_order_acquire);
	uint32_t n_missed = atomic_exchange_explicit(&held.n_missed, 0, memory_order_acquire);

	take_held();
	if (!is_whole || n_missed)
		step_marks_raise_floor(&ran.marks, clock_realtime_ns());
	if (!is_whole && ran.all.v)
		coverage_raise_floor(&ran.all, clock_realtime_ns());
	else if (!is_whole)
		ran.all.floor = clock_realtime_ns();
	if (!ran.all.v) /* and no steps are held against anything */
		return;
	ran.n_missed += n_missed;
	steady = clock_with_realtime_ns(steady_ns, &realtime);
	ran.ahead_ns = realtime - steady;
	ran.until_ns = least_until_ns();
	/* Memory is told up to a moment before. Nothing comes behind the end of all. */
	if (held_ns && ran.until_ns != UINT64_MAX)
		ran.until_ns = MIN(ran.until_ns, held_ns);
	step_marks_settle(&ran.marks, ran.until_ns);
}

static void forget(struct coverage *c)
{
	uint32_t gone = c->n > PIECES_KEPT ? c->n - PIECES_KEPT : 0;

	while (gone && c->v[gone - 1].end > ran.until_ns)
		gone--;
	if (gone)
		coverage_raise_floor(c, c->v[gone - 1].end);
}

void step_ran_forget(void)
{
	forget(&ran.all);
	forget(&ran.in_graphs);
	/* Those that stay are moved: not each time. */
	if (ran.marks.n_settled > MARKS_KEPT)
		step_marks_keep(&ran.marks, MARKS_KEPT / 2);
}

/* ---- steps ---- */

void step_ran_open(struct step_work *w, uint64_t start_ns)
{
	const struct step_covers c = covers();

	step_busy_go_on(&w->busy, &c, start_ns, ran.until_ns);
	step_moved_go_on(&w->moved, &ran.marks, start_ns, ran.until_ns);
}

void step_ran_ended(struct step_work *w, const struct step_ended *step)
{
	const struct step_covers c = covers();

	step_busy_add(&w->busy, &c, step);
	step_moved_add(&w->moved, &ran.marks, step);
	if (ran.n_missed)
		lose(LOSS_STEP_MEMORY, ran.n_missed);
	ran.n_missed = 0;
}

void step_ran_tell(const struct step_work *w, uint64_t median_ns, struct step_work_told *ret)
{
	step_busy_tell(&w->busy, median_ns, &ret->busy);
	step_moved_tell(&w->moved, &ret->moved);
}

void step_ran_forked(void)
{
	uint64_t now_ns = clock_realtime_ns();

	begin_anew(&ran.all, ran.all.v, now_ns);
	if (ran.in_graphs.v)
		begin_anew(&ran.in_graphs, ran.in_graphs.v, now_ns);
	ran.until_ns = ran.n_missed = 0;
	step_marks_init(&ran.marks, ran.marks.v, ran.marks.v ? MARKS_MAX : 0);
	ran.marks.floor = now_ns;
	held.is_behind = false;
	atomic_store(&held.head, 0);
	atomic_store(&held.tail, 0);
	atomic_store(&held.until_ns, 0);
	atomic_store(&held.n_missed, 0);
}
