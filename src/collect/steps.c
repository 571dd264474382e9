/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/steps.h"
#include <string.h>
#include "collect/host_clock.h"
#include "collect/internal.h"
#include "collect/slots.h"
#include "collect/trace_windows.h"
#include "core/alike.h"
#include "core/steps.h"

enum {
	LOOPS_MAX = 32,
	LEAST_ALIKE = 3,     /* names without a word for it, from which on they may count */
	ENDED_MAX = 1 << 12, /* steps of a loop that wait until what ran in them is known */
};

/* Steps that are over, by the steady clock: whoever has claimed the loop puts them in, the taker takes them out. What
 * finds no room is not known. */
struct ended {
	_Atomic uint32_t head, tail;
	struct step_ended v[ENDED_MAX];
};

/* Numbers are of whoever has claimed it. */
struct loop {
	_Atomic uint64_t key;                           /* of kind and "step #"; 0: free */
	_Atomic uint32_t node, lane;                    /* + 1 */
	_Atomic bool is_claimed, is_reset, is_busy_old; /* … of before the reset */
	_Atomic bool is_named; /* by a word, or by who asked: else only a number makes it one */
	uint64_t number, n_begun;
	struct steps steps;
	_Atomic uint64_t last_end_ns, apart_ns;
	_Atomic uint64_t n_changes; /* its steps, ever */
	_Atomic uint64_t
		open_ns; /* the one that is open began, by the steady clock; 0: not known */
	bool begins;     /* the next one that ends is the first */
	struct {
		struct step_work sum;
		uint64_t n, open_ns, start_ns; /* start_ns: as the clock of the work showed it */
	} busy;                                /* owner: the taker */
	uint64_t n_busy, n_busy_told;          /* owner: the sender, as all below */
	struct step_work_told work_told;
	uint64_t n_told;
	uint32_t slots[STEP_N_SETS]; /* + 1 */
};

static struct loop loops[LOOPS_MAX];
static struct ended ended[LOOPS_MAX];
static _Atomic uint32_t likeliest; /* rank << 8 | loop, of whose steps a trace may be; 0: none */

/* ---- names ---- */

static bool is_off(void)
{
	return collector->control->wanted.steps.kind == STEPS_WANTED_OFF;
}

/* Is it what --steps says, as it is or with a # for each number? */
static bool is_asked_for(const char *name, size_t len)
{
	const struct steps_wanted *w = &collector->control->wanted.steps;
	char pattern[STEPS_WANTED_NAME + 2];
	size_t n;

	if (w->kind != STEPS_WANTED_NAMED)
		return false;
	if (len == w->name_len && !memcmp(name, w->name, len))
		return true;
	n = alike_pattern_n(name, len, pattern, sizeof(pattern));
	return n == w->name_len && !memcmp(pattern, w->name, n);
}

static bool is_of_kind(enum frame_kind kind)
{
	return kind == FRAME_SCOPE || kind == FRAME_NVTX || kind == FRAME_RANGE;
}

/* Worth a place among the loops? */
static bool is_wanted(const char *name, size_t len, uint32_t n_alike)
{
	if (collector->control->wanted.steps.kind == STEPS_WANTED_NAMED)
		return is_asked_for(name, len);
	return n_alike && (steps_rank(name, len) || n_alike >= LEAST_ALIKE);
}

/* The loop of a key; 0: there is none, and no room. */
static uint8_t loop_of(uint64_t key, bool make)
{
	for (unsigned i = 0; i < LOOPS_MAX; i++) {
		uint64_t its = atomic_load_explicit(&loops[i].key, memory_order_acquire);

		if (!its && !make)
			return 0;
		if (its == key ||
		    (!its && atomic_compare_exchange_strong(&loops[i].key, &its, key)) ||
		    its == key)
			return (uint8_t)(i + 1);
	}
	return 0;
}

/* As readers rank them (core/stepped.h). */
static uint32_t rank_of(const char *name, size_t len)
{
	return is_asked_for(name, len) ? 100 : steps_order(name, len);
}

static void make_likeliest(uint8_t loop, uint32_t rank)
{
	uint32_t now = atomic_load_explicit(&likeliest, memory_order_relaxed);

	while (rank > now >> 8 && !atomic_compare_exchange_weak(&likeliest, &now, rank << 8 | loop))
		;
}

void steps_consider(uint32_t node, enum frame_kind kind, const char *name, size_t len,
		    uint32_t n_alike)
{
	uint64_t key = hash_u64(alike_hash_n(name, len, (uint32_t)kind)) | 1;
	uint32_t none = 0;
	uint8_t loop;

	if (node == WIRE_NONE || is_off() || !is_of_kind(kind))
		return;
	loop = loop_of(key, is_wanted(name, len, n_alike));
	if (!loop)
		return;
	if (steps_rank(name, len) || is_asked_for(name, len))
		atomic_store_explicit(&loops[loop - 1].is_named, true, memory_order_relaxed);
	make_likeliest(loop, rank_of(name, len));
	atomic_compare_exchange_strong(&loops[loop - 1].node, &none, node + 1);
	atomic_store_explicit(&collector->node[node].loop, loop, memory_order_relaxed);
}

/* ---- steps ---- */

static bool loop_claim(struct loop *l)
{
	return !atomic_load_explicit(&l->is_claimed, memory_order_relaxed) &&
	       !atomic_exchange_explicit(&l->is_claimed, true, memory_order_acquire);
}

static void loop_let_go(struct loop *l)
{
	atomic_store_explicit(&l->open_ns, 0, memory_order_relaxed);
	atomic_store_explicit(&l->is_claimed, false, memory_order_release);
}

/* Without a number its place says which one it is. */
static void loop_number(struct loop *l, const char *name, size_t len)
{
	if (!alike_number(name, len, &l->number))
		l->number = l->n_begun;
	l->n_begun++;
}

uint8_t steps_enter(uint8_t loop, const char *name, size_t len)
{
	struct loop *l = &loops[loop - 1];

	if (!loop_claim(l))
		return 0;
	loop_number(l, name, len);
	return loop;
}

/* 0: it stands still. */
static uint64_t steady_of(uint64_t host_ns)
{
	uint64_t pause = atomic_load_explicit(&collector->pause, memory_order_relaxed);

	return pause & PAUSED ? 0 : host_ns + pause;
}

void steps_begun(uint8_t loop, uint64_t start_ns)
{
	atomic_store_explicit(&loops[loop - 1].open_ns, steady_of(start_ns), memory_order_release);
}

uint32_t steps_window(uint8_t loop)
{
	struct loop *l = &loops[loop - 1];

	if (_likely_(collector->control->wanted.window.kind != TRACE_WINDOW_STEPS) ||
	    loop != (atomic_load_explicit(&likeliest, memory_order_relaxed) & 255))
		return 0;
	if (!atomic_load_explicit(&l->is_named, memory_order_relaxed) &&
	    !steps_are_a_loop(l->steps.n, l->steps.n_restarts, false))
		return 0;
	return trace_window_step(l->number);
}

/* What ran in it is known later. */
static void loop_end(struct loop *l, uint64_t end_ns, uint64_t ns)
{
	struct ended *e = &ended[l - loops];
	uint32_t head = atomic_load_explicit(&e->head, memory_order_relaxed);
	const struct step_ended step = {atomic_load_explicit(&l->open_ns, memory_order_relaxed),
					steady_of(end_ns),
					ns,
					l->number,
					atomic_load_explicit(&l->steps.n, memory_order_relaxed),
					l->begins};

	if (!step.start_ns || !step.end_ns ||
	    head - atomic_load_explicit(&e->tail, memory_order_acquire) == ENDED_MAX)
		return;
	e->v[head % ENDED_MAX] = step;
	l->begins = false;
	atomic_store_explicit(&e->head, head + 1, memory_order_release);
}

static void loop_add(struct loop *l, uint64_t start_ns, uint64_t end_ns)
{
	uint64_t ns = end_ns > start_ns ? end_ns - start_ns : 0;
	uint64_t last = atomic_load_explicit(&l->last_end_ns, memory_order_relaxed);

	if (atomic_exchange_explicit(&l->is_reset, false, memory_order_acquire)) {
		steps_clear(&l->steps);
		atomic_store_explicit(&l->apart_ns, 0, memory_order_relaxed);
		last = 0;
		l->begins = true;
	}
	l->begins |= !atomic_load_explicit(&l->steps.first_ns, memory_order_relaxed);
	steps_add(&l->steps, l->number, ns);
	loop_end(l, end_ns, ns);
	if (last && start_ns > last)
		atomic_fetch_add_explicit(&l->apart_ns, start_ns - last, memory_order_relaxed);
	atomic_store_explicit(&l->last_end_ns, end_ns, memory_order_relaxed);
	atomic_fetch_add_explicit(&l->n_changes, 1, memory_order_release);
}

void steps_leave(uint8_t loop, uint32_t lane, uint64_t start_ns, uint64_t end_ns)
{
	struct loop *l = &loops[loop - 1];
	uint32_t none = 0;

	if (!loop)
		return;
	atomic_compare_exchange_strong(&l->lane, &none, lane + 1);
	loop_add(l, start_ns, end_ns);
	loop_let_go(l);
}

void steps_drop(uint8_t loop)
{
	if (loop)
		loop_let_go(&loops[loop - 1]);
}

void steps_range(uint8_t loop, uint32_t lane, const char *name, size_t len, uint64_t start_ns,
		 uint64_t end_ns)
{
	if (!steps_enter(loop, name, len))
		return;
	steps_begun(loop, start_ns);
	if (start_ns >= atomic_load_explicit(&loops[loop - 1].last_end_ns, memory_order_relaxed))
		steps_leave(loop, lane, start_ns, end_ns);
	else
		steps_drop(loop);
}

/* ---- what devices did meanwhile ---- */

/* When it began is one moment of the other clock, however often that is asked for. */
static uint64_t start_of(struct loop *l, uint64_t steady_ns)
{
	if (l->busy.open_ns != steady_ns) {
		l->busy.open_ns = steady_ns;
		l->busy.start_ns = step_ran_clock_ns(steady_ns);
	}
	return l->busy.start_ns;
}

/* False: not all that began before its end is there. */
static bool settle_ended(struct loop *l, const struct step_ended *e, uint64_t until_ns)
{
	struct step_ended step = *e;

	step.end_ns = step_ran_clock_ns(e->end_ns);
	if (step.end_ns > until_ns)
		return false;
	step.start_ns = start_of(l, e->start_ns);
	step.end_ns = MAX(step.end_ns, step.start_ns);
	step_ran_ended(&l->busy.sum, &step);
	l->busy.n++;
	if (step.is_first)
		atomic_store_explicit(&l->is_busy_old, false, memory_order_relaxed);
	return true;
}

static void loop_settle(struct loop *l, struct ended *e, uint64_t until_ns)
{
	uint64_t open_ns = atomic_load_explicit(&l->open_ns, memory_order_acquire);
	uint32_t head = atomic_load_explicit(&e->head, memory_order_acquire),
		 tail = atomic_load_explicit(&e->tail, memory_order_relaxed);

	while (tail != head && settle_ended(l, &e->v[tail % ENDED_MAX], until_ns))
		atomic_store_explicit(&e->tail, ++tail, memory_order_release);
	if (tail != head)
		open_ns = e->v[tail % ENDED_MAX].start_ns;
	if (open_ns)
		step_ran_open(&l->busy.sum, start_of(l, open_ns));
}

void steps_settle(void)
{
	uint64_t until_ns = step_ran_until_ns();

	for (unsigned i = 0; until_ns && i < LOOPS_MAX && atomic_load(&loops[i].key); i++)
		loop_settle(&loops[i], &ended[i], until_ns);
}

void steps_settled(void)
{
	for (unsigned i = 0; i < LOOPS_MAX && atomic_load(&loops[i].key); i++) {
		struct loop *l = &loops[i];
		struct steps_told told;

		if (l->n_busy == l->busy.n)
			continue;
		l->n_busy = l->busy.n;
		steps_tell(&l->steps, &told);
		step_ran_tell(&l->busy.sum, told.median_ns, &l->work_told);
	}
}

/* ---- for the sender ---- */

/* A set of which nothing is known is not made. */
static void put(uint32_t *slot, uint32_t node, uint32_t lane, uint32_t set, const uint64_t *values,
		unsigned n)
{
	bool any = false;

	for (unsigned i = 0; i < n && !any; i++)
		any = values[i];
	if (!*slot && any)
		*slot = slot_intern(node, lane, set, 0) + 1;
	if (!*slot) /* or WIRE_NONE, which is counted */
		return;
	for (unsigned i = 0; i < n; i++)
		slot_store(*slot - 1, i, values[i]);
	bitmap_set(collector->dirty, *slot - 1);
}

static void put_cause(uint64_t *v, const struct step_slow_cause *cause)
{
	v[0] = cause->n;
	v[1] = cause->number;
	v[2] = cause->ns;
	v[3] = cause->busy_ns;
}

/* Nothing of what there was none of. */
static void put_moved(const struct step_moved_told *moved, uint64_t *v)
{
	const struct step_moved_number *of = moved->of;

	if (moved->has_memory) {
		v[STEP_VALUE_STEP_HELD_KNOWN] = moved->n;
		v[STEP_VALUE_STEP_HELD] = of[STEP_TOTAL_LIVE].sum;
		v[STEP_VALUE_STEP_HELD_MAX] = of[STEP_TOTAL_LIVE].max;
		v[STEP_VALUE_STEP_HELD_GROWTH] = of[STEP_TOTAL_LIVE].growth;
	}
	if (!moved->has_copies)
		return;
	v[STEP_VALUE_STEP_COPIES_KNOWN] = moved->n;
	v[STEP_VALUE_STEP_TO_DEVICE] = of[STEP_TOTAL_TO_DEVICE].sum;
	v[STEP_VALUE_STEP_TO_DEVICE_MAX] = of[STEP_TOTAL_TO_DEVICE].max;
	v[STEP_VALUE_STEP_TO_DEVICE_GROWTH] = of[STEP_TOTAL_TO_DEVICE].growth;
	v[STEP_VALUE_STEP_TO_HOST] = of[STEP_TOTAL_TO_HOST].sum;
	v[STEP_VALUE_STEP_TO_HOST_MAX] = of[STEP_TOTAL_TO_HOST].max;
	v[STEP_VALUE_STEP_TO_HOST_GROWTH] = of[STEP_TOTAL_TO_HOST].growth;
	v[STEP_VALUE_STEP_WITHIN] = of[STEP_TOTAL_WITHIN].sum;
	v[STEP_VALUE_STEP_WITHIN_MAX] = of[STEP_TOTAL_WITHIN].max;
	v[STEP_VALUE_STEP_WITHIN_GROWTH] = of[STEP_TOTAL_WITHIN].growth;
}

void steps_values(const struct steps_told *told, const struct step_work_told *work,
		  struct step_values *values)
{
	const struct step_busy_told *busy = &work->busy;
	uint64_t *v = values->v;

	v[STEP_VALUE_STEPS] = told->n;
	v[STEP_VALUE_STEP_TIME] = told->sum_ns;
	v[STEP_VALUE_STEP_MIN] = told->min_ns;
	v[STEP_VALUE_STEP_MAX] = told->max_ns;
	v[STEP_VALUE_STEP_SLOWEST] = told->slowest;
	v[STEP_VALUE_STEP_MEDIAN] = told->median_ns;
	v[STEP_VALUE_STEP_P95] = told->p95_ns;
	v[STEP_VALUE_STEP_DEVIATION] = told->deviation_ns;
	v[STEP_VALUE_STEP_KNOWN] = busy->busy.n;
	v[STEP_VALUE_STEP_BUSY] = busy->busy.sum_ns;
	v[STEP_VALUE_STEP_BUSY_MEDIAN] = busy->busy.median_ns;
	v[STEP_VALUE_STEP_BUSY_MAX] = busy->busy.max_ns;
	v[STEP_VALUE_STEP_IDLE] = busy->idle.sum_ns;
	v[STEP_VALUE_STEP_IDLE_MEDIAN] = busy->idle.median_ns;
	v[STEP_VALUE_STEP_IDLE_MAX] = busy->idle.max_ns;
	v[STEP_VALUE_STEP_BUSY_AT] = busy->slowest;
	v[STEP_VALUE_STEP_BUSY_SLOWEST] = busy->slowest_busy_ns;
	put_cause(&v[STEP_VALUE_STEP_LATE], &busy->slow.host);
	put_cause(&v[STEP_VALUE_STEP_MORE], &busy->slow.work);
	put_moved(&work->moved, v);
}

void steps_put(uint32_t slots[STEP_N_SETS], uint32_t node, uint32_t lane,
	       const struct step_values *values)
{
	static const uint32_t sizes[] = {
#define _(set) STEP_N_##set,
		STEP_SETS(_)
#undef _
	};
	const uint64_t *v = values->v;

	for (unsigned i = 0; i < STEP_N_SETS; v += sizes[i++])
		put(&slots[i], node, lane, SET_ID_STEPS + i, v, sizes[i]);
}

static void loop_tell(struct loop *l, const struct steps_told *s)
{
	static const struct step_work_told nothing;
	bool is_known = s->n && !atomic_load_explicit(&l->is_busy_old, memory_order_relaxed);
	struct step_values values = {.v = {[STEP_VALUE_STEP_FIRST] = s->first_ns,
					   [STEP_VALUE_STEP_APART] = atomic_load_explicit(
						   &l->apart_ns, memory_order_relaxed),
					   [STEP_VALUE_STEP_OTHERS] = s->n_restarts}};

	steps_values(s, is_known ? &l->work_told : &nothing, &values);
	steps_put(l->slots, atomic_load(&l->node) - 1, atomic_load(&l->lane) - 1, &values);
}

/* What was told, and turned out to be no loop, is taken back. */
static void loop_look(struct loop *l)
{
	uint64_t n = atomic_load_explicit(&l->n_changes, memory_order_acquire);
	struct steps_told told;

	if ((n == l->n_told && l->n_busy == l->n_busy_told) || !atomic_load(&l->node) ||
	    !atomic_load(&l->lane))
		return;
	l->n_told = n;
	l->n_busy_told = l->n_busy;
	steps_tell(&l->steps, &told);
	if (atomic_load(&l->is_reset) ||
	    !steps_are_a_loop(told.n, told.n_restarts, atomic_load(&l->is_named)))
		told = (struct steps_told){0};
	if (told.n || l->slots[0])
		loop_tell(l, &told);
}

void steps_look(void)
{
	for (unsigned i = 0; i < LOOPS_MAX && atomic_load(&loops[i].key); i++)
		loop_look(&loops[i]);
}

void steps_reset(void)
{
	for (unsigned i = 0; i < LOOPS_MAX; i++)
		if (atomic_load(&loops[i].key)) {
			atomic_store_explicit(&loops[i].is_busy_old, true, memory_order_relaxed);
			atomic_store_explicit(&loops[i].is_reset, true, memory_order_release);
		}
}

void steps_forked(void)
{
	for (unsigned i = 0; i < LOOPS_MAX && atomic_load(&loops[i].key); i++) {
		struct loop *l = &loops[i];

		steps_clear(&l->steps);
		atomic_store(&l->is_claimed, false);
		atomic_store(&l->is_reset, false);
		atomic_store(&l->lane, 0);
		atomic_store(&l->last_end_ns, 0);
		atomic_store(&l->apart_ns, 0);
		atomic_store(&l->n_changes, 0);
		atomic_store(&l->open_ns, 0);
		atomic_store(&l->is_busy_old, false);
		atomic_store(&ended[i].tail, atomic_load(&ended[i].head));
		memset((void *)&l->busy, 0, sizeof(l->busy));
		memset(&l->work_told, 0, sizeof(l->work_told));
		l->n_told = l->n_begun = l->n_busy = l->n_busy_told = 0;
		memset(l->slots, 0, sizeof(l->slots));
	}
}
