/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <stdio.h>
#include <string.h>
#include "backends/pages.h"
#include "base/clock.h"
#include "base/util.h"
#include "collect/allocations.h"
#include "collect/context_budget.h"
#include "collect/context_sources.h"
#include "collect/contexts.h"
#include "collect/epochs.h"
#include "collect/host_clock.h"
#include "collect/internal.h"
#include "collect/measured.h"
#include "collect/scope_names.h"
#include "collect/slots.h"
#include "collect/steps.h"
#include "collect/trace_windows.h"
#include "wire/wire.h"

enum { KEPT_NODES = 4096 };

/* Launch contexts of a thread by node, read and guessed: where calling contexts are read, each launch may have another
 * one, and they were mostly made one after the other. */
struct kept_contexts {
	_Atomic uint32_t of[KEPT_NODES][2];
};

static uint32_t context_find(struct thread_state *t, uint32_t node, uint32_t epoch)
{
	bool guessed = t->context_guessed;
	const struct context_entry *e;
	_Atomic uint32_t *kept;
	uint32_t id;

	if (_unlikely_(!t->kept))
		t->kept = pages_reserve(sizeof(*t->kept));
	if (!t->kept)
		return context_intern(node, t->lane, guessed, epoch, 0);
	kept = &t->kept->of[node % KEPT_NODES][guessed];
	id = atomic_load_explicit(kept, memory_order_relaxed);
	e = &collector->context[id];
	if (id && e->node == node && e->thread == t->lane && e->flags == guessed &&
	    e->epoch == epoch && !e->name)
		return id;
	id = context_intern(node, t->lane, guessed, epoch, 0);
	atomic_store_explicit(kept, id, memory_order_relaxed);
	return id;
}

/* The launch context of what t->context_node and its kin say, with the thread's state and the name that it
 * gives to kernels: whoever changes these sets t->context to 0. */
static uint32_t context_make(struct thread_state *t)
{
	uint32_t node = node_in_state(t, t->context_node);

	if (launch_is_said(t) && !t->launch.placed)
		launch_place(t, node);
	if (launch_is_said(t) && t->launch.name)
		return context_intern(node, t->lane, t->context_guessed, thread_epoch(t),
				      t->launch.name);
	return context_find(t, node, thread_epoch(t));
}

/* It is this node from now on. */
static void take_context(struct thread_state *t, uint32_t node, bool guessed)
{
	uint32_t epoch = epoch_now();

	if (_likely_(t->context && t->context_node == node && t->context_guessed == guessed &&
		     thread_epoch(t) == epoch))
		return;
	if (thread_epoch(t) != epoch)
		epoch_enter(t, epoch);
	t->context_node = node;
	t->context_guessed = guessed;
	t->context = context_make(t);
}

/* By the program's own scopes. */
static uint32_t own_node(const struct thread_state *t)
{
	return t->depth ? t->node : t->adopted;
}

/* A thread without a scope of its own works for the main thread as a rule: PyTorch's backward
 * threads, pools that somebody waits for. It has the main thread's calling context of the moment. */
uint32_t thread_context(struct thread_state *t, const void *what)
{
	uint32_t main_node, node;
	bool guessed = false;

	if (!t->depth && !t->is_main) {
		main_node = atomic_load_explicit(&collector->main_node, memory_order_relaxed);
		if (_unlikely_(main_node != t->adopted)) {
			t->adopted = main_node;
			t->context = 0;
		}
	}
	node = own_node(t);
	t->launching = what;
	if (_unlikely_(atomic_load_explicit(&contexts_due, memory_order_relaxed)) && t->is_main)
		contexts_look_again();
	/* What is hidden needs no more than a place. */
	if (_unlikely_(atomic_load_explicit(&contexts_on, memory_order_relaxed)) && !t->in_metadata)
		node = contexts_node(t, node, &guessed);
	take_context(t, node, guessed);
	budget_pay(t);
	return t->context;
}

uint32_t thread_exact_context(struct thread_state *t, bool is_captured)
{
	uint32_t on = atomic_load_explicit(&contexts_on, memory_order_relaxed), node;
	bool guessed = false;

	if (_likely_(!on) || t->in_metadata || !t->context)
		return t->context;
	if (is_captured)
		budget_give_back(t);
	if (!t->context_guessed)
		return t->context;
	budget_give_back(t);
	if (!is_captured)
		budget_charge(t);
	node = contexts_exact_node(t, own_node(t), &guessed);
	take_context(t, node, guessed);
	budget_pay(t);
	return t->context;
}

/* By threads that work for the main thread. */
static _Atomic uint32_t n_adopted_allocations;

/* Those that may be in a scope of this thread. */
static uint32_t n_allocations(const struct thread_state *t)
{
	return t->n_allocations +
	       (t->is_main ? atomic_load_explicit(&n_adopted_allocations, memory_order_relaxed)
			   : 0);
}

uint32_t thread_allocates(struct thread_state *t)
{
	uint32_t context = thread_context(t, NULL);
	const struct context_entry *e = &collector->context[context];

	t->n_allocations++;
	if (t->depth || t->is_main || !t->adopted)
		return context;
	atomic_fetch_add_explicit(&n_adopted_allocations, 1, memory_order_relaxed);
	return context_intern(e->node, e->thread, e->flags | CONTEXT_ADOPTED, e->epoch, e->name);
}

static uint32_t state_frame(const char *name, size_t len)
{
	uint32_t frame = len ? frame_intern(FRAME_STATE, string_intern(name, len)) : 0;

	return frame == WIRE_NONE ? 0 : frame;
}

/* Triton's name for the state in which metadata of a launch are computed may have the kernel's behind it. */
#define METADATA "__proton_launch_metadata"

static bool is_metadata(const char *name, size_t len)
{
	size_t n = sizeof(METADATA) - 1;

	return len >= n && !memcmp(name, METADATA, n) && (len == n || name[n] == ':');
}

void collect_state(const char *name, size_t len)
{
	bool metadata = name && is_metadata(name, len);
	size_t n = metadata ? sizeof(METADATA) - 1 : len;
	struct thread_state *t;

	if (!collect_on)
		return;
	t = thread_state();
	if (!t->tid) /* a state that threads without one of their own share has none */
		return;
	t->state = name ? state_frame(name, n) : 0;
	t->state_kernel = n + 1 < len ? state_frame(name + n + 1, len - n - 1) : 0;
	t->in_metadata = metadata && t->state;
	t->context = 0;
	if (name && !atomic_load_explicit(&collector->many_contexts, memory_order_relaxed)) {
		backends_attribute();
		sender_start();
	}
}

void collect_hide(bool hide)
{
	struct thread_state *t;

	if (!collect_on)
		return;
	t = thread_state();
	if (hide) {
		memcpy(t->before_hiding, (uint32_t[]){t->state, t->state_kernel, t->in_metadata},
		       sizeof(t->before_hiding));
		collect_state(METADATA, sizeof(METADATA) - 1);
		return;
	}
	t->state = t->before_hiding[0];
	t->state_kernel = t->before_hiding[1];
	t->in_metadata = t->before_hiding[2] != 0;
	t->context = 0;
}

static void thread_move(struct thread_state *t, uint32_t node)
{
	t->node = node;
	t->context = 0;
	if (t->is_main)
		atomic_store_explicit(&collector->main_node, node, memory_order_relaxed);
	if (_unlikely_(atomic_load_explicit(&measured_by_scope, memory_order_relaxed)))
		measured_moved(t);
}

/* What a scope of a thread without others hangs below, if it is to hang where its launches do. */
static uint32_t main_node_for(const struct thread_state *t)
{
	if (t->is_main)
		return 0;
	return atomic_load_explicit(&collector->main_node, memory_order_relaxed);
}

static int push(enum frame_kind kind, uint64_t tag, const char *name, size_t len, bool adopt)
{
	struct scope_entry new = {.tag = tag};
	struct thread_state *t;
	uint32_t depth;

	if (!collect_on)
		return -1;
	t = thread_state();
	if (_unlikely_(!atomic_load_explicit(&collector->many_contexts, memory_order_relaxed))) {
		backends_attribute();
		sender_start();
	}
	if (t->depth == MAX_DEPTH || !t->tid) {
		t->overflow++;
		lose(LOSS_TOO_DEEP, 1);
		return -1;
	}
	cpu_time_charge(t);
	/* A signal handler may enter and leave scopes of its own at any point of this: what it finds is
	 * either all of this scope or nothing of it, and it writes no further than the next entry. */
	new.base = t->depth ? t->stack[0].base : adopt ? main_node_for(t) : 0;
	new.node = scope_node(t, kind, name, len, t->depth ? t->node : new.base, &new.frame);
	new.loop = atomic_load_explicit(&collector->node[new.node].loop, memory_order_relaxed);
	if (_unlikely_(new.loop))
		new.loop = steps_enter(new.loop, name, len);
	new.enter_ns = host_clock_ns();
	if (_unlikely_(new.loop))
		steps_begun(new.loop, new.enter_ns);
	if (_unlikely_(is_run_traced()))
		new.began_ns = steady_ns();
	new.n_allocations = n_allocations(t);
	if (kind == FRAME_NVTX)
		new.window = trace_window_enter(name, len);
	if (_unlikely_(new.loop) && !new.window)
		new.window = steps_window(new.loop);
	depth = t->depth;
	thread_set_depth(t, depth + 1);
	atomic_signal_fence(memory_order_seq_cst);
	t->stack[depth] = new;
	atomic_signal_fence(memory_order_seq_cst);
	thread_move(t, new.node);
	return (int)depth;
}

int collect_push(enum frame_kind kind, uint64_t tag, const char *name, size_t len)
{
	return push(kind, tag, name, len, false);
}

int collect_push_adopted(enum frame_kind kind, uint64_t tag, const char *name, size_t len)
{
	return push(kind, tag, name, len, true);
}

/* One more of SET_ID_HOST; a slot that there was no room for is counted already. */
static void slot_add_host_time(uint32_t slot, uint64_t ns, bool is_entered)
{
	if (slot == WIRE_NONE)
		return;
	slot_add_u64(slot, 0, ns);
	slot_add_u64(slot, 1, is_entered);
	slot_touch(slot);
}

/* Sessions have no scopes in their traces, which are those of Triton's Proton. The program's own thread never waits
 * for the sender. */
static void trace_scope(struct thread_state *t, uint32_t node, uint64_t began_ns)
{
	uint64_t now = steady_ns();

	if (interval_push_scope(node, thread_lane(t), MIN(began_ns, now), now) >= MAX_INTERVALS / 2)
		sender_take(false);
}

/* Host time of a scope goes to its node on the thread's host lane: all of it but what was in a pause.
 * One that began and ended in the same pause was none. */
static void scope_time(struct thread_state *t, const struct scope_entry *e)
{
	uint64_t now = host_clock_ns();
	uint32_t slot;

	if (!e->enter_ns || (now == e->enter_ns && is_paused()))
		return;
	slot = slot_intern(e->node, thread_lane(t), SET_ID_HOST, epoch_now());
	slot_add_host_time(slot, now > e->enter_ns ? now - e->enter_ns : 0, !e->is_inherited);
	if (_unlikely_(e->began_ns))
		trace_scope(t, e->node, e->began_ns);
}

/* … and where it is a step of a loop, it is one more. */
static void scope_step(struct thread_state *t, const struct scope_entry *e)
{
	uint64_t now = host_clock_ns();

	if (!e->enter_ns || (now == e->enter_ns && is_paused()))
		steps_drop(e->loop);
	else
		steps_leave(e->loop, thread_lane(t), e->enter_ns, now);
}

/* In the child of a fork: scopes that were open there are open here, from now on. */
void scopes_forked(struct thread_state *t)
{
	uint64_t now = host_clock_ns();

	cpu_time_forked(t);
	trace_windows_forked();
	steps_forked();
	for (uint32_t i = 0; i < t->depth; i++) {
		if (t->stack[i].window)
			t->stack[i].window = trace_window_again();
		if (t->stack[i].enter_ns)
			t->stack[i].enter_ns = now;
		t->stack[i].is_inherited = true;
		if (t->stack[i].began_ns)
			t->stack[i].began_ns = steady_ns();
		t->stack[i].loop = 0;
	}
}

/* ---- before there was a collector ---- */

static __thread uint32_t n_missed __attribute__((tls_model("initial-exec")));
static _Atomic bool any_missed;

void collect_scope_missed(bool enters)
{
	if (enters)
		n_missed++;
	else if (n_missed)
		n_missed--;
	if (enters && !atomic_load_explicit(&any_missed, memory_order_relaxed))
		atomic_store_explicit(&any_missed, true, memory_order_relaxed);
}

bool scopes_were_missed(void)
{
	return atomic_load(&any_missed);
}

void scopes_miss(struct thread_state *t)
{
	for (uint32_t i = 0; i < t->depth; i++)
		steps_drop(t->stack[i].loop);
	n_missed += t->depth;
	n_missed += t->overflow;
	if (n_missed)
		atomic_store(&any_missed, true);
	thread_set_depth(t, 0);
	t->overflow = t->state = 0;
	t->in_metadata = false;
	t->launch.on = false;
	thread_move(t, 0);
}

/* A scope is left that is not there. */
static int pop_nothing(void)
{
	if (n_missed)
		n_missed--;
	else
		lose(LOSS_SCOPE_MISMATCH, 1);
	return -1;
}

void scopes_close(struct thread_state *t)
{
	uint32_t i;

	cpu_time_charge(t);
	launch_flush(t);
	for (i = 0; i < t->depth; i++) {
		scope_time(t, &t->stack[i]);
		trace_window_leave(t->stack[i].window);
		steps_drop(t->stack[i].loop);
		t->stack[i].loop = 0;
		t->stack[i].enter_ns = 0;
	}
}

void scopes_end(void)
{
	if (thread_self)
		scopes_close(thread_self);
}

/* They run on, and may leave theirs any moment: counted, not timed. */
void scopes_left_open(void)
{
	uint32_t i, n = 0;

	for (i = 0; i < atomic_load(&collector->n_threads); i++) {
		struct thread_state *t = &collector->thread[i];

		if (t != thread_self && atomic_load_explicit(&t->used, memory_order_acquire))
			n += __atomic_load_n(&t->depth, __ATOMIC_RELAXED);
	}
	atomic_fetch_add(&collector->control->n_left_open, n);
}

/* An entry was taken out of the middle: those above it hang one level higher. */
static void stack_rehang(struct thread_state *t, uint32_t from)
{
	uint32_t node = from ? t->stack[from - 1].node : t->depth ? t->stack[0].base : 0;

	for (; from < t->depth; from++) {
		node = node_intern(node, t->stack[from].frame);
		t->stack[from].node = node;
	}
	thread_move(t, node);
}

/* What was allocated in it may be left behind. Where others end later that were entered later, they are in other calling
 * contexts from now on. */
static void scopes_leave_memory(const struct thread_state *t, uint32_t i)
{
	uint32_t n = n_allocations(t);
	uint64_t now_ns;

	if (_likely_(t->stack[i].n_allocations == n) || !t->lane)
		return;
	now_ns = clock_realtime_ns();
	for (uint32_t k = t->depth; k-- > i;)
		if (t->stack[k].n_allocations != n)
			allocations_add(SOURCE_CUPTI,
					&(struct memory_event){.operation = MEMORY_SCOPE,
							       .at_ns = now_ns,
							       .context = t->stack[k].node,
							       .stream = t->lane});
}

int collect_pop(uint64_t tag)
{
	struct thread_state *t;
	uint32_t i;

	if (!collect_on)
		return -1;
	t = thread_state();
	if (t->overflow) {
		t->overflow--;
		return (int)t->depth;
	}
	for (i = t->depth; i && t->stack[i - 1].tag != tag; i--)
		;
	if (!i)
		return pop_nothing();
	cpu_time_charge(t);
	scopes_leave_memory(t, --i);
	scope_time(t, &t->stack[i]);
	if (_unlikely_(t->stack[i].loop))
		scope_step(t, &t->stack[i]);
	trace_window_leave(t->stack[i].window);
	memmove(&t->stack[i], &t->stack[i + 1], (t->depth - i - 1) * sizeof(t->stack[0]));
	thread_set_depth(t, t->depth - 1);
	stack_rehang(t, i);
	return (int)t->depth;
}

int collect_depth(uint64_t tag)
{
	struct thread_state *t;
	uint32_t i;
	int n = 0;

	if (!collect_on)
		return 0;
	t = thread_state();
	for (i = 0; i < t->depth; i++)
		n += t->stack[i].tag == tag;
	return n;
}

int collect_context_depth(void)
{
	return collect_on ? (int)thread_state()->depth : 0;
}

/* One that is over. */
static void range_step(struct thread_state *t, uint32_t node, const char *name, size_t len,
		       uint64_t start_ns, uint64_t end_ns)
{
	uint8_t loop = atomic_load_explicit(&collector->node[node].loop, memory_order_relaxed);

	if (loop)
		steps_range(loop, thread_lane(t), name, len, start_ns, end_ns);
}

/* … now. The clock is read for a step alone. */
static void range_step_now(struct thread_state *t, uint32_t node, const char *name, size_t len,
			   uint64_t host_ns)
{
	uint64_t now;

	if (_likely_(!atomic_load_explicit(&collector->node[node].loop, memory_order_relaxed)))
		return;
	now = host_clock_ns();
	range_step(t, node, name, len, now > host_ns ? now - host_ns : 0, now);
}

/* Where it stands below the root. */
static uint32_t range_node(struct thread_state *t, enum frame_kind kind, const char *name,
			   size_t len)
{
	uint32_t frame;

	return scope_node(t, kind, name, len,
			  node_intern(0, frame_intern(FRAME_PROCESS, string_intern("<ranges>", 8))),
			  &frame);
}

void collect_step(const char *name, size_t len, uint64_t start_ns, uint64_t end_ns)
{
	struct thread_state *t;

	if (!collect_on || is_paused())
		return;
	t = thread_state();
	range_step(t, range_node(t, FRAME_RANGE, name, len), name, len, start_ns, end_ns);
}

void collect_range(enum frame_kind kind, const char *name, size_t len, uint64_t host_ns)
{
	struct thread_state *t;
	uint32_t node, slot;

	if (!collect_on || is_paused())
		return;
	t = thread_state();
	node = range_node(t, kind, name, len);
	slot = slot_intern(node, thread_lane(t), SET_ID_HOST, epoch_now());
	slot_add_host_time(slot, host_ns, true);
	if (kind == FRAME_RANGE && is_run_traced())
		trace_scope(t, node, steady_ns() - host_ns);
	range_step_now(t, node, name, len, host_ns);
	sender_start();
}
