/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/torch_turns.h"
#include <dlfcn.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/clock.h"
#include "base/log.h"
#include "base/ticks.h"
#include "collect/context_budget.h"
#include "collect/internal.h"

enum {
	LOOK_MS = 20,     /* between two looks */
	SETTLE_MS = 2,    /* what was open when a turn began has ended by then, as a rule */
	FIRST_MS = 1000,  /* of whose time the share is taken in advance: the first turn */
	SAVED_MS = 400,   /* … is saved up at most */
	ENOUGH_MS = 200,  /* … begins a turn */
	RARELY_MS = 5000, /* a turn comes at least so often */
	OBSERVERS_MAX = 4,
	LOOK_NAPS = 500,
	CALLS = 32, /* that are measured at a time */
	TRIES = 16, /* … of which the least counts */
	FLOAT = 6,  /* a type of elements */
	/* What a record takes in a program, where nothing of it is in the caches and names of backward operators are
	 * put together, as a multiple of an operator that does nothing: on two machines 10 and 25 (bench/RESULTS.md).
	 * It is where to begin, and what is measured may be so many times more or less: not much less, for beside other
	 * work a launch takes a tenth more or less from one moment to the next, which is as much as there is to find. */
	COLD = 10,
	COLD_MORE = 8,
	COLD_LESS = 2,
	LAUNCHES_MIN = 1000,   /* in each kind of turn, of which it is measured */
	FIRST_LAUNCHES = 3000, /* … in the first, unless the share is used up before */
	NEW_LOOKS =
		250, /* between which something may be done for the first time: what that takes says nothing */
	LEARN_MS =
		10000, /* where the share is never used up there is a turn to learn from so often, */
	LEARN_MAX_MS = 500,   /* … of so long at most */
	CAPTURE_MS = 60000,   /* for so long what is captured is waited for: it may never end */
	LAUNCHES_MAX = 20000, /* while it is told, then what is older counts half, of both kinds */
};

enum turn { ALWAYS, OFF, BEGUN, SEEN };

static struct {
	_Atomic int turn;          /* enum turn */
	_Atomic uint64_t forks_ns; /* the last fork began */
	_Atomic uint64_t
		captures_ns; /* a thread began to capture a stream the last time; 0: none has */
	_Atomic bool is_looking, is_over;
	/* owner: the main thread until there are turns, then the sender */
	void (*disable)(uint64_t handle), (*enable)(uint64_t handle);
	/* An operator that does nothing, and what it does it with. */
	int (*make)(void *data, int64_t n, const int64_t *sizes, const int64_t *strides,
		    int64_t offset, int32_t type, int32_t device_type, int32_t device, void **ret);
	int (*drop)(void *tensor);
	bool (*call)(const void *tensor);
	struct torch_turn *(*of)(const struct thread_state *t);
	uint64_t handles[OBSERVERS_MAX], looked_ns, began_ns, ticks;
	uint64_t learned_ns; /* the last turn to learn from began */
	unsigned n;
	uint64_t first_cost, cost; /* of a record, in ticks; 0: not measured yet */
	/* What threads did while they were told, and while they were not. */
	struct work {
		uint64_t cpu_ns, launches, records;
		uint64_t paid; /* ticks, of that time */
	} told, alone;
	bool is_whole;  /* the turn has not changed since the last look */
	uint32_t nodes; /* at the last look */
	unsigned n_new; /* looks before which there were new ones */
	bool any_lost; /* since the last turn some thread has come to a place that it was never told of */
} turns;

static __thread bool is_measured __attribute__((tls_model("initial-exec")));

static bool find(void *library)
{
	*(void **)&turns.disable = dlsym(library, "_ZN2at15disableCallbackEm");
	*(void **)&turns.enable = dlsym(library, "_ZN2at16reenableCallbackEm");
	*(void **)&turns.make = dlsym(library, "aoti_torch_create_tensor_from_blob");
	*(void **)&turns.drop = dlsym(library, "aoti_torch_delete_tensor_object");
	*(void **)&turns.call = dlsym(library, "_ZN2at4_ops10is_complex4callERKNS_6TensorE");
	return turns.disable && turns.enable && turns.make && turns.drop && turns.call;
}

/* The sender uses PyTorch while it looks, and for no longer than a ms. */
static void await_look(void)
{
	const struct timespec nap = {0, 20000};

	for (unsigned i = 0; i < LOOK_NAPS && atomic_load(&turns.is_looking); i++)
		nanosleep(&nap, NULL);
}

/* A child has PyTorch's lock of its observers as it was, and no thread to give it back. */
void torch_turns_fork_begins(void)
{
	if (!torch_turns_used())
		return;
	atomic_store(&turns.forks_ns, clock_monotonic_ns());
	await_look();
}

/* Who was looking then, the sender for longer than a fork waits or a thread that began to capture, is not here, and may
 * have held PyTorch's lock: it is left alone from here on. */
void torch_turns_forked(void)
{
	if (!atomic_load(&turns.is_looking))
		return;
	atomic_store(&turns.is_over, true);
	if (atomic_load(&turns.turn) == OFF)
		note_add(NOTE_WARNING,
			 "this process was forked while it was seen to operators of PyTorch: "
			 "here what is launched is without them");
	atomic_store(&turns.is_looking, false);
}

/* PyTorch takes down what it knows of observers. */
static void end_turns(void)
{
	atomic_store(&turns.is_over, true);
	await_look();
}

bool torch_turns_begin(void *library, const uint64_t *handles, unsigned n,
		       struct torch_turn *(*of)(const struct thread_state *t))
{
	if (!find(library) || n > OBSERVERS_MAX)
		return false;
	memcpy(turns.handles, handles, n * sizeof(*handles));
	turns.n = n;
	turns.of = of;
	turns.ticks = ticks();
	turns.looked_ns = turns.began_ns = clock_monotonic_ns();
	budget_halve();
	/* What came last goes first: before PyTorch's own, which began with the first observer. */
	atexit(end_turns);
	atomic_store(&turns.turn, SEEN);
	return true;
}

bool torch_turns_measured(void)
{
	return is_measured;
}

bool torch_turns_seen(void)
{
	int turn = atomic_load_explicit(&turns.turn, memory_order_acquire);

	return turn == ALWAYS || turn == SEEN;
}

bool torch_turns_told(void)
{
	return atomic_load_explicit(&turns.turn, memory_order_acquire) != OFF;
}

bool torch_turns_used(void)
{
	return atomic_load_explicit(&turns.turn, memory_order_relaxed) != ALWAYS;
}

/* ---- what is left ---- */

static void settle(const struct thread_state *thread, struct torch_turn *t, uint64_t passed)
{
	uint64_t n = atomic_load_explicit(&t->n, memory_order_relaxed),
		 paid = budget_paid(thread) + atomic_load_explicit(&t->spent, memory_order_relaxed);

	if (!t->is_known) {
		t->is_known = true;
		t->credit = budget_share_ms(FIRST_MS);
	}
	/* So long a time would fill it whatever the share; and what was taken in advance is not lost. */
	if (t->credit < budget_share_ms(SAVED_MS))
		t->credit = MIN(t->credit + budget_share(passed), budget_share_ms(SAVED_MS));
	t->credit -= (int64_t)((n - t->n_seen) * turns.cost + (paid - t->paid));
	t->credit = MAX(t->credit, -budget_share_ms(SAVED_MS));
	t->n_seen = n;
	t->paid = paid;
}

/* By Linux's own rule for the clock of a thread's time on a processor. 0: it has ended. */
static uint64_t cpu_ns(const struct thread_state *t)
{
	struct timespec ts;

	if (clock_gettime((clockid_t)(~t->tid << 3 | 6), &ts))
		return 0;
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

/* What it did since the last look counts for the turn that it was all in. */
static void add_work(struct thread_state *thread, struct torch_turn *t, uint64_t records,
		     uint64_t paid, struct work *to)
{
	uint64_t cpu = cpu_ns(thread),
		 launches = atomic_load_explicit(&thread->n_launches, memory_order_relaxed);

	if (to && t->cpu_ns && cpu > t->cpu_ns && launches > t->launches) {
		to->cpu_ns += cpu - t->cpu_ns;
		to->launches += launches - t->launches;
		to->records += records;
		to->paid += paid;
	}
	t->cpu_ns = cpu;
	t->launches = launches;
}

/* Has it come to a place that it was never told of? */
static bool is_lost(struct torch_turn *t)
{
	uint64_t n = atomic_load_explicit(&t->n_unknown, memory_order_relaxed),
		 before = t->n_unknown_seen;

	t->n_unknown_seen = n;
	return n != before;
}

/* Does a thread capture a stream? What is launched in it will run again and again. */
static bool is_capturing(uint64_t now_ns)
{
	uint64_t began_ns = atomic_load(&turns.captures_ns);
	uint32_t n = atomic_load(&collector->n_threads);
	bool any = false;

	if (!began_ns || now_ns >= began_ns + CAPTURE_MS * NSEC_PER_MSEC)
		return false;
	for (uint32_t i = 0; i < n && !any; i++)
		any = atomic_load(&collector->thread[i].capture.n);
	return any;
}

/* The least that a thread has. work: where to add what they did, NULL: nowhere. */
static int64_t settle_all(struct work *work)
{
	uint64_t now = ticks(), passed = now > turns.ticks ? now - turns.ticks : 0, n, paid;
	int64_t least = INT64_MAX;

	turns.ticks = now;
	for (uint32_t i = 0; i < atomic_load(&collector->n_threads); i++) {
		struct thread_state *thread = &collector->thread[i];
		struct torch_turn *t = atomic_load_explicit(&thread->used, memory_order_acquire)
					       ? turns.of(thread)
					       : NULL;

		if (!t)
			continue;
		n = t->n_seen;
		paid = t->paid;
		settle(thread, t, passed);
		add_work(thread, t, t->n_seen - n, t->paid - paid, work);
		turns.any_lost |= is_lost(t);
		least = MIN(least, t->credit);
	}
	return least;
}

/* ---- turns ---- */

/* Whoever is being told of an operator is told of its end, too. */
static void switch_all(bool on)
{
	for (unsigned i = 0; i < turns.n; i++)
		(on ? turns.enable : turns.disable)(turns.handles[i]);
}

/* What a record takes is a guess until there was a turn without: it may be that the share only seems to do. */
static bool must_learn(uint64_t now)
{
	return turns.told.launches >= FIRST_LAUNCHES &&
	       now - turns.began_ns >= FIRST_MS * NSEC_PER_MSEC &&
	       (!turns.learned_ns || now - turns.learned_ns >= LEARN_MS * NSEC_PER_MSEC);
}

static bool is_learning(uint64_t now)
{
	return turns.alone.launches < LAUNCHES_MIN && turns.told.launches >= LAUNCHES_MIN &&
	       now - turns.began_ns < LEARN_MAX_MS * NSEC_PER_MSEC;
}

static int next_turn(int turn, int64_t least, uint64_t now)
{
	int64_t enough;

	if (turn == BEGUN)
		return now - turns.began_ns >= SETTLE_MS * NSEC_PER_MSEC ? SEEN : BEGUN;
	if (turn == SEEN && is_capturing(now))
		return SEEN;
	if (turn == SEEN)
		return (least < 0 || must_learn(now)) && budget_is_limited() ? OFF : SEEN;
	if (is_learning(now) && budget_is_limited())
		return OFF;
	enough = budget_share_ms(ENOUGH_MS);
	return least >= (turns.any_lost ? -enough : enough) || !budget_is_limited() ||
			       now - turns.began_ns >= RARELY_MS * NSEC_PER_MSEC
		       ? BEGUN
		       : OFF;
}

/* Nobody may believe that all is seen once it is not. */
static void turn_to(int turn, uint64_t now)
{
	if (turn == OFF) {
		atomic_store(&turns.turn, OFF);
		turns.learned_ns = now;
	}
	if (turn != SEEN)
		switch_all(turn == BEGUN);
	log_debug(2, "torch", "turn %d, a record takes %" PRIu64 " ticks%s", turn, turns.cost,
		  turn == BEGUN && turns.any_lost ? ", of a new place" : "");
	if (turn != OFF)
		turns.any_lost = false;
	turns.began_ns = now;
	atomic_store(&turns.turn, turn);
}

/* ---- what it takes to be told ---- */

static uint64_t ticks_of_call(const void *tensor)
{
	uint64_t least = UINT64_MAX, began;

	for (unsigned i = 0; i < TRIES; i++) {
		began = ticks();
		for (unsigned k = 0; k < CALLS; k++)
			turns.call(tensor);
		least = MIN(least, (ticks() - began) / CALLS);
	}
	return least;
}

/* On a thread of ours no mode of the program's is on, which would see the operator. Without --shapes. */
static void measure(void)
{
	static char data[8];
	static const int64_t one[] = {1};
	void *tensor = NULL;

	turns.first_cost = turns.cost = 1;
	if (turns.make(data, 1, one, one, 0, FLOAT, 0, 0, &tensor) || !tensor)
		return;
	is_measured = true;
	turns.first_cost = turns.cost = COLD * ticks_of_call(tensor);
	is_measured = false;
	turns.drop(tensor);
	log_debug(1, "torch", "to be told of an operator takes %" PRIu64 " ticks", turns.cost);
}

static void halve(struct work *w)
{
	w->cpu_ns /= 2;
	w->launches /= 2;
	w->records /= 2;
	w->paid /= 2;
}

/* What a launch took of its thread's time, less what is paid already. */
static double ticks_of_launch(const struct work *w, double ticks_a_ns)
{
	return ((double)w->cpu_ns * ticks_a_ns - (double)w->paid) / (double)w->launches;
}

/* How much longer threads worked for a launch while they were told, for each record that they had for it. */
static void learn(uint64_t passed_ticks, uint64_t passed_ns)
{
	struct work *told = &turns.told, *alone = &turns.alone;
	double a_ns, more;

	if (told->launches < LAUNCHES_MIN || alone->launches < LAUNCHES_MIN || !told->records ||
	    !passed_ns)
		return;
	a_ns = (double)passed_ticks / (double)passed_ns;
	more = (ticks_of_launch(told, a_ns) - ticks_of_launch(alone, a_ns)) *
	       (double)told->launches / (double)told->records;
	turns.cost = (uint64_t)CLAMP(more, (double)turns.first_cost / COLD_LESS,
				     (double)turns.first_cost * COLD_MORE);
	/* Of the same time: from one second to the next a machine does other work beside it. */
	if (told->launches > LAUNCHES_MAX) {
		halve(told);
		halve(alone);
	}
}

/* First steps take several times as long as later ones. Some programs do new things always. */
static bool is_new(void)
{
	uint32_t n = table_n(&collector->nodes);
	bool grew = n != turns.nodes;

	turns.nodes = n;
	return grew && !turns.told.launches && turns.n_new++ < NEW_LOOKS;
}

static struct work *work_of(int turn, uint64_t now)
{
	if (is_new() || !turns.is_whole || is_capturing(now))
		return NULL;
	return turn == SEEN ? &turns.told : turn == OFF ? &turns.alone : NULL;
}

static void look(int turn, uint64_t now)
{
	uint64_t ticks_before = turns.ticks, ns_before = turns.looked_ns;
	int64_t least;
	int next;

	if (!turns.cost)
		measure();
	least = settle_all(work_of(turn, now));
	turns.looked_ns = now;
	learn(turns.ticks - ticks_before, now - ns_before);
	next = next_turn(turn, least, now);
	turns.is_whole = next == turn;
	if (next != turn)
		turn_to(next, now);
}

/* Not by two at a time. */
static bool take_look(unsigned naps)
{
	const struct timespec nap = {0, 20000};

	while (atomic_exchange(&turns.is_looking, true)) {
		if (!naps--)
			return false;
		nanosleep(&nap, NULL);
	}
	return true;
}

/* The thread that begins waits for the sender at most, which looks for no longer than a ms. */
void torch_turns_capture_begins(void)
{
	uint64_t now = clock_monotonic_ns();

	if (!torch_turns_used())
		return;
	atomic_store(&turns.captures_ns, now);
	if (!take_look(LOOK_NAPS))
		return;
	if (atomic_load(&turns.turn) == OFF && !atomic_load(&turns.is_over))
		turn_to(BEGUN, now);
	atomic_store(&turns.is_looking, false);
}

uint32_t torch_turns_look(void)
{
	int turn = atomic_load(&turns.turn);
	uint64_t now = clock_monotonic_ns();

	if (turn == ALWAYS)
		return UINT32_MAX;
	if (turn != BEGUN && now - turns.looked_ns < LOOK_MS * NSEC_PER_MSEC)
		return LOOK_MS;
	if (!take_look(0))
		return SETTLE_MS;
	turn = atomic_load(&turns.turn); /* a capture may have begun meanwhile */
	/* A parent is done with its fork by the next look but one. */
	if (!atomic_load(&turns.is_over) &&
	    now >= atomic_load(&turns.forks_ns) + 2 * LOOK_MS * NSEC_PER_MSEC)
		look(turn, now);
	atomic_store(&turns.is_looking, false);
	return atomic_load(&turns.turn) == BEGUN ? SETTLE_MS : LOOK_MS;
}
