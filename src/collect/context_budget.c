/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/context_budget.h"
#include <inttypes.h>
#include <stdio.h>
#include "backends/pages.h"
#include "base/hash.h"
#include "base/ticks.h"
#include "collect/internal.h"

enum {
	PLACES = 8192,  /* that a thread remembers */
	NODES = 4096,   /* … and ways on from one, by its node: */
	WAYS = 4,       /* of so many each, others are among all */
	SAVED_MS = 100, /* of whose time the share is saved up while nothing is launched */
	ENOUGH_MS = 25, /* … is left for looks, before places that are known are read again */
	DEBT_MS = 20,   /* … is taken in advance for places that were never read */
	FIRST = 256,    /* of these a thread reads however long it takes */
	AGAIN = 16,     /* one look of so many reads a known place however little is left */
	LOST_US =
		500, /* no look takes so long: the thread lost its processor in it, or was stopped */
};

struct context_budget {
	uint64_t now, began;  /* ticks: the last launch, this one */
	int64_t credit, wait; /* ticks in hand; so many are waited for */
	enum { NOTHING, GLANCE, LOOK, ELSEWHERE } paying; /* what for, since `began` */
	/* The newest launch: what it has paid of the credit, and as what it was counted; NULL: as nothing. */
	int64_t last_cost;
	_Atomic uint64_t *last_counter;
	uint64_t random;
	uint64_t way;  /* the launch before this one, and this one at a glance */
	uint32_t last; /* node of the launch before this one */
	uint32_t n_first;
	_Atomic uint64_t n_read, n_guessed;
	_Atomic uint64_t n_paid; /* ticks */
	/* Upper half of a hash, node: of places, and of ways from one to the next. Nodes that follow each other were
	 * mostly made one after the other, so that what is asked for next lies behind what is asked for now. */
	_Atomic uint64_t seen[PLACES], next[PLACES], ways[NODES][WAYS];
};

/* ---- ticks: shares of time need no unit ---- */

/* About: only bounds are made of it. */
static inline int64_t ticks_a_us(void)
{
#if defined(__x86_64__)
	return 2500; /* 1 to 5 GHz */
#elif defined(__aarch64__)
	uint64_t v;

	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(v));
	return (int64_t)(v / 1000000 + 1);
#else
	return 1000;
#endif
}

/* ---- credit ---- */

static _Atomic bool halved;

void budget_halve(void)
{
	atomic_store(&halved, true);
}

/* A fifth is left for what cannot be measured here: the program finds less of its own in the caches. */
static int64_t share_ppm(void)
{
	return (int64_t)collector->control->wanted.context_budget_ppm * 4 / 5;
}

/* The share of so much time. */
int64_t budget_share_ms(int64_t ms)
{
	return ms * ticks_a_us() * share_ppm() / 1000;
}

int64_t budget_share(uint64_t ticks)
{
	/* So long a time is more than anybody may save. */
	return ticks > INT64_MAX / 1000000 ? INT64_MAX / 2 : (int64_t)ticks * share_ppm() / 1000000;
}

static struct context_budget *budget_of(struct thread_state *t)
{
	if (_unlikely_(!t->budget)) {
		struct context_budget *b = pages_reserve(sizeof(*b));

		if (!b)
			return NULL;
		b->now = ticks();
		b->random = b->now | 1;
		b->credit = budget_share_ms(SAVED_MS);
		__atomic_store_n(&t->budget, b, __ATOMIC_RELEASE);
	}
	return t->budget;
}

uint64_t budget_paid(const struct thread_state *t)
{
	const struct context_budget *b = __atomic_load_n(&t->budget, __ATOMIC_ACQUIRE);

	return b ? atomic_load_explicit(&b->n_paid, memory_order_relaxed) : 0;
}

/* A thread that moved to another processor may find an earlier time there. */
static void earn(struct context_budget *b, uint64_t now)
{
	int64_t passed = (int64_t)(now - b->now), most = budget_share_ms(SAVED_MS);

	b->now = now;
	if (passed <= 0)
		return;
	b->credit = MIN(
		b->credit + budget_share((uint64_t)passed) /
				    (atomic_load_explicit(&halved, memory_order_relaxed) ? 2 : 1),
		most);
}

/* A loop that launches the same few things would have always the same one read: the next comes when a
 * random part of what this one cost is in hand. More than can be saved never is. */
static void wait_for(struct context_budget *b, int64_t cost)
{
	b->random ^= b->random << 13;
	b->random ^= b->random >> 7;
	b->random ^= b->random << 17;
	b->wait = MIN((int64_t)(b->random % ((uint64_t)cost * 2 + 1)), budget_share_ms(SAVED_MS));
}

void budget_pay(struct thread_state *t)
{
	struct context_budget *b = t->budget;
	int64_t cost;

	if (!b || b->paying == NOTHING)
		return;
	cost = (int64_t)(ticks() - b->began);
	cost = CLAMP(cost, 0, LOST_US * ticks_a_us());
	count(&b->n_paid, (uint64_t)cost);
	b->last_cost = b->paying == ELSEWHERE ? 0 : cost;
	b->credit = MAX(b->credit - b->last_cost, -budget_share_ms(SAVED_MS));
	if (b->paying == LOOK)
		wait_for(b, cost);
	b->paying = NOTHING;
}

/* As what a launch is counted. */
static void count_as(struct context_budget *b, _Atomic uint64_t *counter)
{
	count(counter, 1);
	b->last_counter = counter;
}

void budget_give_back(struct thread_state *t)
{
	struct context_budget *b = t->budget;

	if (!b || !b->last_counter)
		return;
	count(b->last_counter, (uint64_t)-1);
	b->credit = MIN(b->credit + b->last_cost, budget_share_ms(SAVED_MS));
	b->last_counter = NULL;
	b->last_cost = 0;
}

void budget_charge(struct thread_state *t)
{
	struct context_budget *b = t->budget;

	if (!b)
		return;
	b->began = ticks();
	b->paying = GLANCE;
	count_as(b, &b->n_read);
}

/* ---- places ---- */

/* One word each, so that a signal handler that launches finds a place whole or not at all. Two beside each other are for
 * the same hashes. */
static _Atomic uint64_t *cell_of(_Atomic uint64_t *of, uint64_t hash)
{
	_Atomic uint64_t *cell = &of[hash % PLACES];
	uint64_t v = atomic_load_explicit(cell, memory_order_relaxed);

	return !v || v >> 32 == hash >> 32 ? cell : &of[hash % PLACES ^ 1];
}

/* The way on from the launch before. */
static _Atomic uint64_t *way_cell(struct context_budget *b)
{
	_Atomic uint64_t *ways = b->ways[b->last % NODES];

	for (unsigned i = 0; i < WAYS; i++) {
		uint64_t v = atomic_load_explicit(&ways[i], memory_order_relaxed);

		if (!v || v >> 32 == b->way >> 32)
			return &ways[i];
	}
	return cell_of(b->next, b->way);
}

static bool find(_Atomic uint64_t *cell, uint64_t hash, uint32_t *node)
{
	uint64_t v = atomic_load_explicit(cell, memory_order_relaxed);

	if (v >> 32 != hash >> 32 || !v)
		return false;
	*node = (uint32_t)v;
	return true;
}

static void put(_Atomic uint64_t *cell, uint64_t hash, uint32_t node)
{
	atomic_store_explicit(cell, hash >> 32 << 32 | node, memory_order_relaxed);
}

static void go_on(struct context_budget *b, uint32_t node)
{
	put(way_cell(b), b->way, node);
	b->last = node;
}

/* ---- for the collector ---- */

bool budget_is_limited(void)
{
	return collector->control->wanted.context_budget_ppm;
}

bool budget_look(struct thread_state *t, uint64_t began, uint64_t glance, bool must, uint32_t *node)
{
	struct context_budget *b = budget_of(t);

	if (!b) {
		lose(LOSS_NO_MEMORY, 1);
		return false;
	}
	b->began = began;
	earn(b, began);
	b->way = hash_u64(glance ^ b->last);
	if (must || b->credit >= b->wait || !find(way_cell(b), b->way, node))
		return true;
	count_as(b, &b->n_guessed);
	b->last = *node;
	b->paying = GLANCE;
	return false;
}

static bool may_read(struct context_budget *b, bool is_known, bool worth)
{
	if (!is_known)
		return b->credit >= -budget_share_ms(DEBT_MS);
	return worth && b->credit >= b->wait &&
	       (b->credit >= budget_share_ms(ENOUGH_MS) || b->random % AGAIN == 0);
}

bool budget_begin(struct thread_state *t, uint64_t place, bool worth, uint32_t *node)
{
	struct context_budget *b = t->budget;
	bool is_known = find(cell_of(b->seen, place), place, node);

	if (may_read(b, is_known, worth))
		return true;
	/* The first touch of everything takes as long as a thousand launches. */
	if (!is_known && b->n_first < FIRST) {
		b->n_first++;
		return true;
	}
	go_on(b, *node);
	count_as(b, &b->n_guessed);
	b->paying = LOOK;
	return false;
}

void budget_end(struct thread_state *t, uint64_t place, uint32_t node, bool guessed)
{
	struct context_budget *b = t->budget;

	put(cell_of(b->seen, place), place, node);
	go_on(b, node);
	count_as(b, guessed ? &b->n_guessed : &b->n_read);
	b->paying = LOOK;
}

void budget_read(struct thread_state *t, uint64_t place, uint32_t node)
{
	struct context_budget *b = t->budget;

	put(cell_of(b->seen, place), place, node);
	go_on(b, node);
	count_as(b, &b->n_read);
	b->paying = ELSEWHERE;
}

void budget_forked(void)
{
	for (uint32_t i = 0; i < atomic_load(&collector->n_threads); i++) {
		struct context_budget *b = collector->thread[i].budget;

		if (!b)
			continue;
		atomic_store(&b->n_read, 0);
		atomic_store(&b->n_guessed, 0);
	}
}

void budget_note(void)
{
	uint64_t n_read = 0, n_guessed = 0;
	char text[256];

	for (uint32_t i = 0; i < atomic_load(&collector->n_threads); i++) {
		const struct context_budget *b =
			__atomic_load_n(&collector->thread[i].budget, __ATOMIC_ACQUIRE);

		n_read += b ? atomic_load_explicit(&b->n_read, memory_order_relaxed) : 0;
		n_guessed += b ? atomic_load_explicit(&b->n_guessed, memory_order_relaxed) : 0;
	}
	if (!n_guessed)
		return;
	snprintf(
		text, sizeof(text),
		"calling contexts were read at %" PRIu64 " of %" PRIu64
		" launches, to stay within %g %% of the time of the threads that launch "
		"(--budget); what is marked ~ took over those of launches before, from the same place",
		n_read, n_read + n_guessed, collector->control->wanted.context_budget_ppm / 1e4);
	collect_note(NOTE_INFO, text);
}
