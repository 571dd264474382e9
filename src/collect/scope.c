/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <stdio.h>
#include <string.h>
#include "base/clock.h"
#include "base/util.h"
#include "collect/internal.h"
#include "collect/slots.h"
#include "wire/wire.h"

/* A thread without a scope of its own works for the main thread as a rule: PyTorch's backward
 * threads, pools that somebody waits for. It has the main thread's calling context of the moment. */
uint32_t thread_context(struct thread_state *t)
{
	uint32_t main_node;

	if (!t->depth && !t->is_main) {
		main_node = atomic_load_explicit(&collector->main_node, memory_order_relaxed);
		if (_unlikely_(main_node != t->adopted)) {
			t->adopted = main_node;
			t->context = 0;
		}
	}
	if (_unlikely_(!t->context))
		t->context = context_intern(t->depth ? t->node : t->adopted, t->lane);
	return t->context;
}

static void thread_move(struct thread_state *t, uint32_t node)
{
	t->node = node;
	t->context = 0;
	if (t->is_main)
		atomic_store_explicit(&collector->main_node, node, memory_order_relaxed);
}

int collect_push(enum frame_kind kind, uint64_t tag, const char *name, size_t len)
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
	/* A signal handler may enter and leave scopes of its own at any point of this: what it finds is
	 * either all of this scope or nothing of it, and it writes no further than the next entry. */
	new.frame = frame_intern(kind, string_intern(name, len));
	new.node = node_intern(t->node, new.frame);
	new.enter_ns = clock_monotonic_ns();
	depth = t->depth;
	thread_set_depth(t, depth + 1);
	atomic_signal_fence(memory_order_seq_cst);
	t->stack[depth] = new;
	atomic_signal_fence(memory_order_seq_cst);
	thread_move(t, new.node);
	return (int)depth;
}

/* One more of SET_ID_HOST; a slot that there was no room for is counted already. */
static void slot_add_host_time(uint32_t slot, uint64_t ns)
{
	if (slot == WIRE_NONE)
		return;
	slot_add_u64(slot, 0, ns);
	slot_add_u64(slot, 1, 1);
	slot_touch(slot);
}

/* Host time of a scope goes to its node on the thread's host lane. */
static void scope_time(const struct thread_state *t, const struct scope_entry *e)
{
	uint32_t slot;

	if (!e->enter_ns || atomic_load_explicit(&collector->paused, memory_order_relaxed))
		return;
	slot = slot_intern(e->node, lane_intern(WIRE_NONE, 0, 0, t->lane), SET_ID_HOST);
	slot_add_host_time(slot, clock_monotonic_ns() - e->enter_ns);
}

void scopes_close(struct thread_state *t)
{
	uint32_t i;

	for (i = 0; i < t->depth; i++) {
		scope_time(t, &t->stack[i]);
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
	uint32_t node = from ? t->stack[from - 1].node : 0;

	for (; from < t->depth; from++) {
		node = node_intern(node, t->stack[from].frame);
		t->stack[from].node = node;
	}
	thread_move(t, node);
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
	if (!i) {
		lose(LOSS_SCOPE_MISMATCH, 1);
		return -1;
	}
	scope_time(t, &t->stack[--i]);
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

/* A number that is not kept is told of, once a metric. */
static void metric_complain(const char *name, uint32_t metric, const char *what)
{
	char text[256];

	if (atomic_exchange(&collector->metric[metric].named, true))
		return;
	snprintf(text, sizeof(text), "metric '%.64s' %s", name, what);
	collect_note(NOTE_WARNING, text);
}

/* A text, a minimum and a maximum are made of what ran: nothing can be added to them. */
static bool metric_takes_numbers(const struct metric_entry *m)
{
	return m->type != METRIC_TEXT && m->add != METRIC_MIN && m->add != METRIC_MAX;
}

/* The slot of the metric of this name at the current calling context, on this thread's host lane. */
static uint32_t metric_slot(const char *name, uint8_t type, bool property, uint32_t *ret_metric)
{
	struct thread_state *t = thread_state();
	struct metric guess;
	uint32_t metric, set;

	metric_guess(name, (enum metric_type)type, &guess);
	metric = metric_intern(name, guess.unit, guess.type,
			       property ? METRIC_PROPERTY : guess.scope,
			       property ? METRIC_LAST : guess.add);
	if (metric != WIRE_NONE && !metric_takes_numbers(&collector->metric[metric])) {
		metric_complain(name, metric,
				"is proton's own: the program's values of it are "
				"not kept");
		return WIRE_NONE;
	}
	set = metric == WIRE_NONE ? WIRE_NONE : set_intern_one(metric);
	if (set == WIRE_NONE) {
		lose(LOSS_SLOTS_FULL, 1);
		return WIRE_NONE;
	}
	*ret_metric = metric;
	return slot_intern(t->node, lane_intern(WIRE_NONE, 0, 0, t->lane), set);
}

static bool metric_wanted(const char *name)
{
	return collect_on && name && *name &&
	       !atomic_load_explicit(&collector->paused, memory_order_relaxed);
}

static uint64_t f64_bits(double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return bits;
}

/* As an integer, or 0 where it is none that fits. What is lost so is told of. */
static uint64_t as_whole(const char *name, uint32_t metric, double v)
{
	uint64_t whole = v >= 0 && v < 0x1p64 ? (uint64_t)v : 0;

	if ((double)whole != v)
		metric_complain(name, metric,
				"began as a whole number: fractions and negative "
				"values of it are not kept");
	return whole;
}

/* The type of a metric's first value stays its type; later ones are converted. */
void collect_metric_f64(const char *name, double v, bool replace)
{
	uint32_t slot, metric;
	bool is_f64;

	if (!metric_wanted(name))
		return;
	slot = metric_slot(name, METRIC_F64, replace, &metric);
	if (slot == WIRE_NONE)
		return;
	is_f64 = collector->metric[metric].type == METRIC_F64;
	if (replace)
		slot_store(slot, 0, is_f64 ? f64_bits(v) : as_whole(name, metric, v));
	else if (is_f64)
		slot_add_f64(slot, 0, v);
	else
		slot_add_u64(slot, 0, as_whole(name, metric, v));
	slot_touch(slot);
}

void collect_metric_u64(const char *name, uint64_t v, bool replace)
{
	uint32_t slot, metric;
	bool is_f64;

	if (!metric_wanted(name))
		return;
	slot = metric_slot(name, METRIC_U64, replace, &metric);
	if (slot == WIRE_NONE)
		return;
	is_f64 = collector->metric[metric].type == METRIC_F64;
	if (replace)
		slot_store(slot, 0, is_f64 ? f64_bits((double)v) : v);
	else if (is_f64)
		slot_add_f64(slot, 0, (double)v);
	else
		slot_add_u64(slot, 0, v);
	slot_touch(slot);
}

void collect_range(enum frame_kind kind, const char *name, size_t len, uint64_t host_ns)
{
	uint32_t parent, node, slot;

	if (!collect_on || atomic_load_explicit(&collector->paused, memory_order_relaxed))
		return;
	parent = node_intern(0, frame_intern(FRAME_PROCESS, string_intern("<ranges>", 8)));
	node = node_intern(parent, frame_intern(kind, string_intern(name, len)));
	slot = slot_intern(node, lane_intern(WIRE_NONE, 0, 0, thread_state()->lane), SET_ID_HOST);
	slot_add_host_time(slot, host_ns);
	sender_start();
}
