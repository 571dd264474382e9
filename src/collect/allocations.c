/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/allocations.h"
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include "backends/pages.h"
#include "collect/internal.h"
#include "collect/scope_memory.h"
#include "collect/levels.h"
#include "collect/live_memory.h"
#include "collect/memory_log.h"
#include "collect/memory_places.h"
#include "collect/patience.h"
#include "collect/step_ran.h"
#include "collect/torch_totals.h"
#include "collect/unified.h"

enum {
	RING_MAX = 1 << 16,
	LINE_CELLS = 1 << 18, /* several buffers of what allocates much */
	LATE_MAX = 1 << 20,
	LATE_KEPT = 1 << 14, /* whose memory stays when none waits */
	ROOM_MS = 2000,      /* to find room in the ring */
	PUBLISH_ROUNDS = 64,
	SOURCE_SHIFT = 57, /* above any address of user space */
	APPLY_MAX = 256,   /* before there is a look at the ring again, whose producers wait */
};
/* What has not come this long after another record of its address will not. */
#define LATE_NS (5 * NSEC_PER_SEC)
/* A release this soon after another's allocation of the address may be the one that had to come before. */
#define OWED_NS NSEC_PER_MSEC
#define NO_PLACE                                                                                   \
	((1u << LIVE_PLACE_BITS) -                                                                 \
	 1) /* of a block that nobody could be charged with, which is counted */

struct waiting {
	struct memory_event e;
	uint64_t order; /* of those of one time */
	uint8_t source;
};

struct cell {
	_Atomic uint32_t turn; /* who may write it, + 1: it is written */
	struct waiting w;
};

static struct {
	struct cell *_Atomic ring; /* NULL: nobody has allocated anything yet */
	_Atomic uint32_t head;     /* producers */
	_Atomic uint32_t tail;     /* owner: who holds settling; others look */
	_Atomic bool making, settling;
	_Atomic bool is_refused; /* there was no memory for all this: not asked for again */
	/* owner: who holds settling */
	struct waiting
		*line; /* LINE_CELLS of them, each later than the one before: as a rule all are */
	uint32_t first, n_line;
	struct waiting *late; /* a heap of the others: the oldest first */
	uint32_t n_late, n_late_most;
	uint64_t n_seen;
	uint64_t orphans_ns; /* when they were looked at */
	uint32_t n_orphans;
	uint64_t newest_ns, before_ns; /* of those that came since the last time, and before that */
	uint64_t until_ns[N_SOURCES];  /* what each has told all up to; 0: it tells of no memory */
	uint32_t told, sources;        /* a bit each: has told since all had; tells at all */
	struct live_memory live;
} allocations;

/* ---- one by one ---- */

/* Where it is known by: each source has addresses of its own, and some are handles. Of the tensors in a block the first
 * has the block's. */
static uint64_t key_of(const struct waiting *w)
{
	uint64_t of = w->source * UINT64_C(2) + (w->e.kind == MEMORY_TENSORS);

	return w->e.address ? w->e.address ^ of << SOURCE_SHIFT : 0;
}

/* Is a record older than what is known of its address, that is, of what was there before? */
static bool is_older(const struct waiting *w, const struct live_block *b)
{
	return w->e.at_ns < b->at_ns && b->at_ns - w->e.at_ns < LATE_NS;
}

static void give_back(struct live_block *b, uint64_t at_ns, bool is_gone)
{
	if (b->place != NO_PLACE)
		memory_released(b->place, b->bytes, at_ns, is_gone);
	scope_memory_released(b->left, at_ns, is_gone);
	b->left = 0;
	b->is_held = false;
}

static void forget_orphan(struct live_block *b)
{
	allocations.n_orphans -= b->is_orphan;
	b->is_orphan = false;
}

/* Its allocation was before anybody looked. */
static void count_orphan(struct live_block *b)
{
	if (b->is_orphan && b->orphan_place != NO_PLACE)
		memory_released_unknown(b->orphan_place, b->orphan_bytes);
	forget_orphan(b);
}

/* A block behind a removed one may have moved into its cell. */
static void remove_empty(struct live_block *b)
{
	if (!b->is_held && !b->is_orphan)
		live_remove(&allocations.live, b);
}

static uint32_t place_or_none(uint32_t place)
{
	return place == WIRE_NONE ? NO_PLACE : place;
}

/* All that was there before is over by now. */
static void allocate_late(const struct waiting *w, struct live_block *newer)
{
	uint32_t place = memory_place(w->source, &w->e);

	if (place != WIRE_NONE) {
		memory_allocated(place, w->e.bytes, w->e.at_ns);
		memory_released(place, w->e.bytes, w->e.at_ns, false);
		scope_memory_released(scope_memory_allocated(&w->e, memory_place_total(place)),
				      newer->at_ns, false);
	}
	forget_orphan(newer);
	remove_empty(newer);
}

static void allocate(const struct waiting *w)
{
	const struct memory_event *e = &w->e;
	uint64_t key = key_of(w);
	struct live_block *old = live_find(&allocations.live, key);
	struct live_block b = old ? *old : (struct live_block){.address = key};

	if (old && is_older(w, old)) {
		allocate_late(w, old);
		return;
	}
	/* Nobody said that it was released: that may still come. */
	b.is_owed = old && old->is_held;
	if (b.is_owed)
		give_back(old, e->at_ns, false);
	b.bytes = e->bytes;
	b.at_ns = e->at_ns;
	b.source = w->source & 63;
	b.context = e->context;
	b.is_held = true;
	b.place = place_or_none(memory_place(w->source, e));
	b.left = b.place == NO_PLACE ? 0 : scope_memory_allocated(e, memory_place_total(b.place));
	if (old)
		*old = b;
	else if (!live_put(&allocations.live, &b)) {
		scope_memory_released(b.left, b.at_ns, false);
		lose(LOSS_NO_MEMORY, 1);
		return;
	}
	if (b.place == NO_PLACE)
		return;
	memory_allocated(b.place, e->bytes, e->at_ns);
	if (e->kind == MEMORY_MANAGED)
		unified_allocated(e->address, e->bytes, memory_place_node(b.place));
}

/* Its allocation is not known: b is what else is known of the address, or NULL. */
static void release_unknown(const struct waiting *w, struct live_block *b)
{
	struct live_block fresh = {.address = key_of(w), .at_ns = w->e.at_ns};
	struct live_block *of = b ? b : &fresh;

	count_orphan(of);
	of->orphan_place = place_or_none(memory_place_unknown(w->source, &w->e));
	of->orphan_bytes = w->e.bytes;
	of->is_orphan = true;
	of->at_ns = MAX(of->at_ns, w->e.at_ns);
	allocations.n_orphans++;
	if (!b && !live_put(&allocations.live, &fresh))
		count_orphan(&fresh);
}

static void release(struct waiting *w)
{
	struct live_block *b = live_find(&allocations.live, key_of(w));
	bool is_held = b && b->is_held, is_other = is_held && is_older(w, b);

	if (is_held && b->is_owed && (is_other || w->e.at_ns - b->at_ns < OWED_NS)) {
		b->is_owed = false;
		return;
	}
	if (!is_held || is_other) {
		release_unknown(w, b);
		return;
	}
	give_back(b, w->e.at_ns, false);
	b->at_ns = w->e.at_ns;
	remove_empty(b);
}

static void lose_context(const struct waiting *w)
{
	struct live_memory *m = &allocations.live;

	for (uint32_t i = 0; i < m->size; i++)
		while (m->cell[i].address && m->cell[i].is_held && m->cell[i].source == w->source &&
		       m->cell[i].context == w->e.context) {
			give_back(&m->cell[i], w->e.at_ns, true);
			remove_empty(&m->cell[i]);
		}
}

/* Those of before a time. All of the table is looked at: at the end, and now and then. */
static void count_orphans(uint64_t until_ns)
{
	struct live_memory *m = &allocations.live;
	bool is_end = until_ns == UINT64_MAX;

	if (!is_end && until_ns - allocations.orphans_ns < LATE_NS)
		return;
	allocations.orphans_ns = is_end ? 0 : until_ns;
	for (uint32_t i = 0; allocations.n_orphans && i < m->size; i++)
		while (m->cell[i].address && m->cell[i].is_orphan &&
		       (is_end || m->cell[i].at_ns < until_ns - LATE_NS)) {
			count_orphan(&m->cell[i]);
			remove_empty(&m->cell[i]);
		}
}

static void apply(struct waiting *w)
{
	switch (w->e.operation) {
	case MEMORY_ALLOCATED:
		allocate(w);
		break;
	case MEMORY_RELEASED:
		release(w);
		break;
	case MEMORY_GONE:
		lose_context(w);
		break;
	case MEMORY_UNIFIED:
		unified_add(w->source, &w->e);
		return;
	case MEMORY_SCOPE:
		scope_memory_ended(&w->e);
		return;
	case MEMORY_GROWN:
		memory_pool_grown(w->source, &w->e);
		return;
	case MEMORY_UNSEEN:
		memory_pools_unseen();
		return;
	}
	if (w->source == SOURCE_CUPTI && w->e.kind != MEMORY_TENSORS)
		memory_log_put(&w->e);
	if (w->e.pool && (w->e.operation == MEMORY_POOL || w->e.pool_bytes))
		memory_pool(w->source, &w->e);
}

/* ---- in the order of time ---- */

static bool is_before(const struct waiting *a, const struct waiting *b)
{
	return a->e.at_ns != b->e.at_ns ? a->e.at_ns < b->e.at_ns : a->order < b->order;
}

static void late_push(const struct waiting *w)
{
	struct waiting *late = allocations.late;
	uint32_t i = allocations.n_late++;

	allocations.n_late_most = MAX(allocations.n_late_most, allocations.n_late);
	for (; i && is_before(w, &late[(i - 1) / 2]); i = (i - 1) / 2)
		late[i] = late[(i - 1) / 2];
	late[i] = *w;
}

static void late_pop(struct waiting *ret)
{
	struct waiting *late = allocations.late, last = late[--allocations.n_late];
	uint32_t i = 0, child;

	*ret = late[0];
	while ((child = 2 * i + 1) < allocations.n_late) {
		child +=
			child + 1 < allocations.n_late && is_before(&late[child + 1], &late[child]);
		if (!is_before(&late[child], &last))
			break;
		late[i] = late[child];
		i = child;
	}
	late[i] = last;
}

static struct waiting *in_line(uint32_t i)
{
	return &allocations.line[(allocations.first + i) % LINE_CELLS];
}

/* The oldest; NULL: none waits. */
static const struct waiting *oldest(void)
{
	const struct waiting *line = allocations.n_line ? in_line(0) : NULL,
			     *late = allocations.n_late ? allocations.late : NULL;

	if (!line || !late)
		return line ? line : late;
	return is_before(line, late) ? line : late;
}

static void apply_oldest(void)
{
	struct waiting w;

	if (oldest() == allocations.late) {
		late_pop(&w);
	} else {
		w = *in_line(0);
		/* Empty, it begins anew: no more of it is in memory than there was in it. */
		allocations.first = --allocations.n_line ? allocations.first + 1 : 0;
	}
	apply(&w);
	atomic_fetch_sub(&collector->n_waiting, 1);
}

/* Where there is no room the oldest do not wait any longer. */
static void wait_for_time(struct waiting *w)
{
	w->order = allocations.n_seen++;
	allocations.newest_ns = MAX(allocations.newest_ns, w->e.at_ns);
	while (allocations.n_line == LINE_CELLS || allocations.n_late == LATE_MAX)
		apply_oldest();
	if (allocations.n_line && is_before(w, in_line(allocations.n_line - 1)))
		late_push(w);
	else
		*in_line(allocations.n_line++) = *w;
}

/* ---- the ring ---- */

/* All in one piece: there is all of it, or nothing. */
static struct cell *ring_make(void)
{
	const size_t late = LATE_MAX * sizeof(struct waiting),
		     line = LINE_CELLS * sizeof(struct waiting);
	char *p;

	if (atomic_exchange(&allocations.making, true)) /* another thread is at it */
		return NULL;
	p = pages_reserve(late + line + RING_MAX * sizeof(struct cell));
	if (!p) {
		atomic_store(&allocations.is_refused, true);
		return NULL;
	}
	allocations.late = (void *)p;
	allocations.line = (void *)(p + late);
	atomic_store(&allocations.ring, (void *)(p + late + line));
	return (void *)(p + late + line);
}

static bool ring_push(struct cell *ring, const struct waiting *w)
{
	uint32_t at = atomic_load(&allocations.head);
	struct cell *c;

	atomic_fetch_add(&collector->n_waiting, 1); /* before it can be taken */
	do {
		if (at - atomic_load(&allocations.tail) >= RING_MAX) {
			atomic_fetch_sub(&collector->n_waiting, 1);
			return false;
		}
	} while (!atomic_compare_exchange_weak(&allocations.head, &at, at + 1));
	c = &ring[at % RING_MAX];
	c->w = *w;
	atomic_store_explicit(&c->turn, at + 1, memory_order_release);
	return true;
}

static bool ring_pop(struct cell *ring, struct waiting *ret)
{
	uint32_t at = atomic_load_explicit(&allocations.tail, memory_order_relaxed);
	struct cell *c = &ring[at % RING_MAX];

	if (atomic_load_explicit(&c->turn, memory_order_acquire) != at + 1)
		return false;
	*ret = c->w;
	atomic_store(&allocations.tail, at + 1);
	return true;
}

static void ring_empty(struct cell *ring)
{
	struct waiting w;

	while (ring_pop(ring, &w))
		wait_for_time(&w);
}

static bool settling_begin(void)
{
	return !atomic_exchange_explicit(&allocations.settling, true, memory_order_acquire);
}

static void settling_end(void)
{
	atomic_store_explicit(&allocations.settling, false, memory_order_release);
}

/* False: there is no room, and another thread is making some. */
static bool add_now(const struct waiting *w)
{
	struct cell *ring = atomic_load(&allocations.ring);

	if (!ring)
		ring = ring_make();
	if (!ring)
		return false;
	if (_likely_(ring_push(ring, w)))
		return true;
	if (!settling_begin())
		return false;
	ring_empty(ring);
	settling_end();
	return ring_push(ring, w);
}

void allocations_add(uint8_t source, const struct memory_event *e)
{
	const struct waiting w = {.e = *e, .source = source};
	const struct timespec nap = {0, NSEC_PER_MSEC / 20};
	struct patience p = patience(ROOM_MS);

	while (!add_now(&w)) {
		if (atomic_load(&allocations.is_refused) || !patience_ms(&p)) {
			lose(LOSS_NO_MEMORY, 1);
			return;
		}
		nanosleep(&nap, NULL);
	}
}

/* Some of those up to a time. Are there more? */
static bool apply_until(uint64_t until_ns)
{
	const struct waiting *w = NULL;

	for (unsigned i = 0; i < APPLY_MAX; i++) {
		w = oldest();
		if (!w || w->e.at_ns > until_ns)
			return false;
		apply_oldest();
	}
	return true;
}

/* There were many at a time, as where we did not run for long. */
static void late_shrink(void)
{
	if (allocations.n_late || allocations.n_late_most <= LATE_KEPT)
		return;
	madvise(allocations.late, LATE_MAX * sizeof(*allocations.late), MADV_DONTNEED);
	allocations.n_late_most = 0;
}

/* Up to when is all there, of each that has any? */
static uint64_t told_until(uint8_t source, uint64_t until_ns)
{
	allocations.until_ns[source] = MAX(until_ns, 1U);
	allocations.sources |= 1u << source;
	allocations.told |= 1u << source;
	for (unsigned i = 0; i < N_SOURCES; i++)
		if (allocations.until_ns[i])
			until_ns = MIN(until_ns, allocations.until_ns[i]);
	/* What had come by the last time is as old as that, whatever its clock says: one that was set back since would
	 * have it wait until it is that late again. */
	until_ns = MAX(until_ns, allocations.before_ns);
	if (allocations.told == allocations.sources) {
		allocations.before_ns = allocations.newest_ns;
		allocations.newest_ns = 0;
		allocations.told = 0;
	}
	return until_ns;
}

static void settle(struct cell *ring, uint64_t until_ns)
{
	/* Where there is much, what is sent meanwhile is of a moment not long ago, at the end of a program, too. */
	for (unsigned round = 1;; round++) {
		ring_empty(ring);
		if (!apply_until(until_ns))
			break;
		if (round % PUBLISH_ROUNDS == 0)
			memory_places_publish();
	}
	count_orphans(until_ns);
	scope_memory_settle(until_ns);
	memory_places_publish();
	late_shrink();
}

void allocations_settle(uint8_t source, uint64_t until_ns)
{
	struct cell *ring;

	if (!settling_begin())
		return;
	until_ns = told_until(source, until_ns);
	ring = atomic_load(&allocations.ring);
	if (source == SOURCE_CUPTI)
		memory_torch(source);
	if (ring)
		settle(ring, until_ns);
	step_ran_held_until(until_ns);
	settling_end();
}

/* The parent's memory is not ours, nor are threads of it that were in here. */
void allocations_forked(void)
{
	struct cell *ring = atomic_load(&allocations.ring);

	for (uint32_t i = 0; ring && i < RING_MAX; i++)
		if (atomic_load_explicit(&ring[i].turn, memory_order_relaxed))
			atomic_store_explicit(&ring[i].turn, 0, memory_order_relaxed);
	atomic_store(&allocations.head, 0);
	atomic_store(&allocations.tail, 0);
	atomic_store(&allocations.making, ring != NULL);
	atomic_store(&allocations.settling, false);
	allocations.n_line = allocations.n_late = 0;
	allocations.newest_ns = allocations.before_ns = allocations.orphans_ns = 0;
	memset(allocations.until_ns, 0, sizeof(allocations.until_ns));
	allocations.told = allocations.sources = 0;
	allocations.n_orphans = 0;
	atomic_store(&collector->n_waiting, 0);
	atomic_store(&allocations.is_refused, false);
	live_clear(&allocations.live);
	scope_memory_forked();
	memory_places_forked();
	unified_forked();
	memory_log_forked();
	levels_forked();
	torch_totals_forked();
}
