/* SPDX-License-Identifier: MIT */
/* Which launch context a correlation id stands for, and which launches are in flight. CUPTI is not
 * called from here. */
#include "config.h" // IWYU pragma: keep

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include "backends/cupti.h"
#include "backends/pages.h"
#include "base/clock.h"
#include "base/util.h"

__thread struct cupti_thread cupti_thread __attribute__((tls_model("initial-exec")));

int cupti_launches_init(struct cupti_launches *l, bool when)
{
	size_t launches = CUPTI_RING_N * sizeof(*l->ring);
	size_t times = CUPTI_TIMES_N * sizeof(*l->graph_ns);
	size_t seen = CUPTI_RING_N * sizeof(*l->graph_seen);
	size_t graphs = CUPTI_TIMES_N * sizeof(*l->graph_of);
	size_t size = launches + times + seen + graphs + CUPTI_TIMES_N * sizeof(*l->when);
	void *p;

	if (l->ring)
		return 0;
	p = pages_reserve_sparse(size);
	if (!p)
		return -ENOMEM;
	l->graph_ns = (void *)((char *)p + launches);
	l->graph_seen = (void *)((char *)p + launches + times);
	l->graph_of = (void *)((char *)p + launches + times + seen);
	l->when = when ? (void *)((char *)p + launches + times + seen + graphs) : NULL;
	l->ring = p;
	return 0;
}

void cupti_launches_reset(struct cupti_launches *l)
{
	l->complete = l->has_first = false;
	l->n_graphs = l->n_graphs_done = l->n_graphs_quiet = 0;
	l->clock_ns = 0;
	l->is_clock_set = false;
}

void cupti_launches_forget(struct cupti_launches *l)
{
	if (!l->ring)
		return;
	/* All of it reads as zeros from here on. */
	madvise((void *)l->ring, CUPTI_RING_N * sizeof(*l->ring), MADV_DONTNEED);
	madvise((void *)l->graph_seen, CUPTI_RING_N * sizeof(*l->graph_seen), MADV_DONTNEED);
}

enum { WAIT_MS = 20 };

bool cupti_launches_wait(const struct cupti *c)
{
	const struct timespec nap = {0, 20000};
	uint64_t until_ns = clock_monotonic_ns() + WAIT_MS * NSEC_PER_MSEC;

	while (atomic_load(&c->phase) == CUPTI_LEAVING && clock_monotonic_ns() < until_ns)
		nanosleep(&nap, NULL);
	return atomic_load(&c->phase) == CUPTI_RUNNING;
}

struct cupti_launched cupti_launched(const struct cupti_thread *t)
{
	const struct abi_launch_ex *ex = t->launching_params;
	const struct abi_launch *l = t->launching_params;

	switch (t->launching_params ? t->launching_call : 0) {
	case ABI_CALL_LAUNCH_EX:
	case ABI_CALL_LAUNCH_EX_PTSZ:
		return (struct cupti_launched){ex->function, ex->shape};
	case ABI_CALL_LAUNCH:
	case ABI_CALL_LAUNCH_PTSZ:
	case ABI_CALL_COOPERATIVE:
	case ABI_CALL_COOPERATIVE_PTSZ:
		return (struct cupti_launched){l->function, &l->shape};
	default:
		return (struct cupti_launched){NULL, NULL};
	}
}

#define CONTEXT_MASK ((1u << CUPTI_CONTEXT_BITS) - 1)

/* 0: not there. */
static inline uint32_t ring_get(const struct cupti_launches *l, uint32_t correlation)
{
	uint64_t entry = atomic_load_explicit(&l->ring[correlation & (CUPTI_RING_N - 1)],
					      memory_order_relaxed);

	return (uint32_t)(entry >> 32) == correlation ? (uint32_t)entry : 0;
}

void cupti_launches_take_back(struct cupti *c)
{
	struct cupti_thread *t = &cupti_thread;

	c->sink->ops->unlaunch(c->sink, 1);
	if (t->launching_graph)
		atomic_fetch_add_explicit(&c->launches.n_graphs_done, 1, memory_order_relaxed);
	t->launching = 0;
}

/* Is this the first record of a graph launch? */
static bool graph_first(struct cupti_launches *l, uint32_t correlation)
{
	_Atomic uint32_t *seen = &l->graph_seen[correlation & (CUPTI_RING_N - 1)];

	if (atomic_load_explicit(seen, memory_order_relaxed) == correlation)
		return false;
	return atomic_exchange_explicit(seen, correlation, memory_order_relaxed) != correlation;
}

/* CUPTI's times are those of CLOCK_REALTIME, more or less: it follows that now and then. */
#define CLOCKS_DIFFER_NS (10 * NSEC_PER_MSEC)
/* No launch waits that long for its device. */
#define WAITS_MAX_NS (3600 * NSEC_PER_SEC)

void cupti_launches_graph(struct cupti_launches *l, uint32_t correlation)
{
	uint32_t at = correlation & (CUPTI_TIMES_N - 1);
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	atomic_store_explicit(&l->graph_of[at], correlation, memory_order_relaxed);
	atomic_store_explicit(&l->graph_ns[at],
			      (uint64_t)now.tv_sec * NSEC_PER_SEC + (uint64_t)now.tv_nsec,
			      memory_order_release);
	atomic_fetch_add_explicit(&l->n_graphs, 1, memory_order_relaxed);
}

bool cupti_launches_is_early(const struct cupti_launches *l, const struct activity *a,
			     uint32_t correlation)
{
	uint32_t at = correlation & (CUPTI_TIMES_N - 1);
	uint64_t launched_ns;

	if (_likely_(!a->graph) || !l->ring || atomic_load(&l->is_clock_set))
		return false;
	launched_ns = atomic_load_explicit(&l->graph_ns[at], memory_order_acquire);
	return a->start_ns + CLOCKS_DIFFER_NS < launched_ns &&
	       atomic_load_explicit(&l->graph_of[at], memory_order_relaxed) == correlation;
}

void cupti_launches_look(struct cupti_launches *l)
{
	int64_t clock_ns = (int64_t)clock_to_monotonic_ns();

	if (l->clock_ns && llabs(clock_ns - l->clock_ns) > (int64_t)CLOCKS_DIFFER_NS)
		atomic_store(&l->is_clock_set, true);
	l->clock_ns = clock_ns;
}

void cupti_launches_first(struct cupti_launches *l, uint32_t correlation)
{
	if (!atomic_load(&l->complete))
		return; /* callbacks are coming on one by one */
	atomic_store(&l->first, correlation);
	atomic_store(&l->has_first, true);
}

/* Was this launched when every launch had a callback? */
static bool was_attributed(struct cupti_launches *l, uint32_t correlation)
{
	return atomic_load_explicit(&l->has_first, memory_order_relaxed) &&
	       (int32_t)(correlation - atomic_load_explicit(&l->first, memory_order_relaxed)) >= 0;
}

/* Keeps the comparison above right when correlation ids wrap around, 2^32 launches on. */
static void advance_first(struct cupti_launches *l, uint32_t correlation)
{
	uint32_t ahead = correlation - atomic_load_explicit(&l->first, memory_order_relaxed);

	if (_unlikely_(ahead > UINT32_C(1) << 30 && ahead < UINT32_C(1) << 31))
		atomic_store(&l->first, correlation - (UINT32_C(1) << 29));
}

static bool ends_launch(struct cupti_launches *l, const struct activity *a, uint32_t correlation)
{
	if (!a->graph && a->kind != ACTIVITY_GRAPH)
		return a->kind == ACTIVITY_KERNEL;
	if (!graph_first(l, correlation))
		return false;
	atomic_fetch_add_explicit(&l->n_graphs_done, 1, memory_order_relaxed);
	return true;
}

/* 0: not known, or of another clock than the record's. */
static uint64_t launched_ns(const struct cupti_launches *l, uint32_t correlation, uint64_t start_ns)
{
	uint64_t when, start = start_ns >> CUPTI_WHEN_SHIFT;
	int64_t before_ns;

	if (!l->when)
		return 0;
	when = atomic_load_explicit(&l->when[correlation & (CUPTI_TIMES_N - 1)],
				    memory_order_relaxed);
	if (when >> CUPTI_WHEN_BITS != correlation >> CUPTI_TIMES_BITS)
		return 0;
	/* The one nearest to the start: what is above the bits that are there has their sign. */
	before_ns = (int64_t)((start - when) << (64 - CUPTI_WHEN_BITS)) >>
		    (64 - CUPTI_WHEN_BITS - CUPTI_WHEN_SHIFT);
	if (before_ns < -(int64_t)CLOCKS_DIFFER_NS || before_ns > (int64_t)WAITS_MAX_NS)
		return 0;
	return (start << CUPTI_WHEN_SHIFT) - (uint64_t)before_ns;
}

void cupti_launches_resolve(struct cupti *c, struct activity *a, uint32_t correlation)
{
	struct cupti_launches *l = &c->launches;
	uint32_t entry;

	a->uncounted = true;
	if (!l->ring)
		return;
	entry = ring_get(l, correlation);
	if (!entry && !was_attributed(l, correlation))
		return;
	a->uncounted = !ends_launch(l, a, correlation);
	a->launch = entry & CONTEXT_MASK;
	if (a->kind == ACTIVITY_COPY)
		a->pattern = (uint8_t)(entry >> CUPTI_CONTEXT_BITS);
	if (!entry) {
		c->sink->ops->lose(c->sink, LOSS_UNMATCHED, 1);
		return;
	}
	a->launched_ns = launched_ns(l, correlation, a->start_ns);
	advance_first(l, correlation);
}

bool cupti_launches_lacks(struct cupti_launches *l, uint32_t correlation, unsigned pattern)
{
	uint32_t entry = l->ring ? ring_get(l, correlation) : 0;
	uint64_t was = (uint64_t)correlation << 32 | entry;

	if (!entry)
		return l->ring && (!correlation || was_attributed(l, correlation));
	if (!(entry >> CUPTI_CONTEXT_BITS & pattern))
		return true;
	/* Unless another launch has its place by now. */
	(void)atomic_compare_exchange_strong(&l->ring[correlation & (CUPTI_RING_N - 1)], &was,
					     was & ~((uint64_t)pattern << CUPTI_CONTEXT_BITS));
	return false;
}

uint32_t cupti_launches_find(const struct cupti_launches *l, uint32_t correlation)
{
	return l->ring ? ring_get(l, correlation) & CONTEXT_MASK : 0;
}

/* A graph of nothing but host nodes has no record. When CUPTI holds no buffer in two flushes on end
 * and no graph was launched between, all records are here: what is left had none. The last flush
 * decides alone: it makes CUPTI hand over unfinished records too. */
void cupti_launches_quiet(struct cupti *c, bool last)
{
	struct cupti_launches *l = &c->launches;
	uint64_t launched = atomic_load(&l->n_graphs);
	uint64_t done = atomic_load(&l->n_graphs_done);
	bool quiet = atomic_load(&c->pool.n_out) == 0;

	if (quiet && (last || launched == l->n_graphs_quiet) && done < launched) {
		atomic_fetch_add(&l->n_graphs_done, launched - done);
		c->sink->ops->unlaunch(c->sink, launched - done);
	}
	l->n_graphs_quiet = quiet ? launched : 0;
}
