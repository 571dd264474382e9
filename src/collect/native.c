/* SPDX-License-Identifier: MIT */
/* Calling contexts of compiled code, without a change to the program: the functions that the launching
 * thread is in, outermost first.
 *
 *     _start main ─ step ─ launch ─ cudaLaunchKernel cuLaunchKernel … ours
 *     └ of libc ┘                   └ the vendor's and ours ┘
 *     left out                      left out
 *
 * A frame is a file and an address in it, and nothing more: what function that is, in which line and
 * inlined into which others is found out by the proton process. With frames of Python (--context python or
 * torch) those of the interpreter are left out, and what called it: where that is says Python. */
#include "config.h" // IWYU pragma: keep
#include <stdio.h>
#include "backends/pages.h"
#include "base/hash.h"
#include "base/util.h"
#include "collect/contexts.h"
#include "collect/internal.h"
#include "collect/native_modules.h"
#include "collect/native_walk.h"
#include "wire/wire.h"

enum {
	INNERMOST = 24
}; /* frames that stand for all of them: the first dozen is the vendor's and ours */

/* What the nodes of a stack hang under. */
struct below {
	uint32_t node;
	bool by_python; /* the interpreter's frames are left out */
};

/* What a thread remembers of its last stack. */
struct native_stack {
	uint32_t tid;
	bool is_busy; /* a signal handler that launches finds it so */
	struct below below;
	uint32_t node; /* of all of it */
	unsigned n;
	struct native_frame walked[NATIVE_FRAMES_MAX];
	uint32_t frames[NATIVE_FRAMES_MAX], nodes[NATIVE_FRAMES_MAX]; /* outermost first */
	struct native_walker *walker;
};

static _Atomic bool any_cut; /* a note says so */

/* ---- frames ---- */

/* From so many to the outermost, which come last. */
static unsigned skip_leaf(const struct native_frame *f, unsigned n)
{
	unsigned i = 0;

	while (i < n && f[i].role == NATIVE_LEAF)
		i++;
	return i;
}

static unsigned skip_root(const struct native_frame *f, unsigned n, bool by_python)
{
	unsigned i;

	for (i = 0; by_python && i < n; i++)
		if (f[i].role == NATIVE_INTERPRETER)
			return i;
	while (n && f[n - 1].role == NATIVE_ROOT)
		n--;
	return n;
}

/* ---- nodes ---- */

static bool is_same_below(const struct below *a, const struct below *b)
{
	return a->node == b->node && a->by_python == b->by_python;
}

/* inner_first: what is left of a stack, n > 0. */
static uint32_t remember(struct native_stack *s, const struct native_frame *inner_first, unsigned n,
			 const struct below *below)
{
	bool known = is_same_below(&s->below, below);
	uint32_t node = below->node, frame;
	unsigned i = 0;

	while (known && i < n && i < s->n && s->frames[i] == inner_first[n - 1 - i].frame)
		i++;
	if (i)
		node = s->nodes[i - 1];
	for (; i < n; i++) {
		frame = inner_first[n - 1 - i].frame;
		node = node_intern(node, frame);
		s->frames[i] = frame;
		s->nodes[i] = node;
	}
	s->n = n;
	s->below = *below;
	return node;
}

static uint32_t walk(struct native_stack *s, const struct native_registers *from,
		     const struct below *below)
{
	struct native_frame *frames = s->walked;
	unsigned n, first;
	bool ended;

	n = native_walk(s->walker, from, NATIVE_FRAMES_MAX, frames, &ended);
	if (_unlikely_(n == NATIVE_FRAMES_MAX && !ended))
		atomic_store_explicit(&any_cut, true, memory_order_relaxed);
	first = skip_leaf(frames, n);
	n = skip_root(frames, n, below->by_python);
	if (first >= n) {
		s->n = 0;
		s->below = *below;
		return below->node;
	}
	return remember(s, frames + first, n - first, below);
}

/* ---- for the collector ---- */

static struct native_stack *stack_of(struct thread_state *t)
{
	struct native_stack *s;

	if (_likely_(t->native))
		return t->native;
	s = pages_reserve(sizeof(*s));
	if (s)
		s->walker = pages_reserve(native_walker_size());
	t->native = s && s->walker ? s : NULL;
	return t->native;
}

static struct native_stack *stack_take(struct thread_state *t)
{
	struct native_stack *s;

	if (t != thread_self)
		return NULL;
	s = stack_of(t);
	if (!s) {
		lose(LOSS_NO_MEMORY, 1);
		return NULL;
	}
	if (_unlikely_(s->tid != t->tid)) { /* the thread before may have ended in here */
		s->tid = t->tid;
		s->is_busy = false;
	}
	if (s->is_busy)
		return NULL;
	s->is_busy = true;
	atomic_signal_fence(memory_order_seq_cst);
	return s;
}

static void stack_leave(struct native_stack *s)
{
	atomic_signal_fence(memory_order_seq_cst);
	s->is_busy = false;
}

static struct below below_of(uint32_t node)
{
	uint32_t on = atomic_load_explicit(&contexts_on, memory_order_relaxed);

	return (struct below){node,
			      on & (CONTEXT_BIT(CONTEXT_PYTHON) | CONTEXT_BIT(CONTEXT_TORCH))};
}

__attribute__((noinline)) static uint32_t native_node(struct thread_state *t, uint32_t node)
{
	const struct native_registers here = NATIVE_REGISTERS_HERE();
	const struct below below = below_of(node);
	struct native_stack *s = stack_take(t);

	if (!s)
		return node;
	if (!is_same_below(&s->below, &below) || !native_walk_is_same(s->walker, &here))
		s->node = walk(s, &here, &below);
	node = s->node;
	stack_leave(s);
	return node;
}

__attribute__((noinline)) static uint64_t native_innermost(struct thread_state *t)
{
	const struct native_registers here = NATIVE_REGISTERS_HERE();
	struct native_stack *s = stack_take(t);
	uint64_t hash = 0;
	bool ended;

	if (!s)
		return 0;
	for (unsigned i = native_walk(s->walker, &here, INNERMOST, s->walked, &ended); i; i--)
		hash = hash_u64(hash ^ s->walked[i - 1].at);
	stack_leave(s);
	return hash;
}

#if defined(__x86_64__)
#define WHY_NOT NULL
#else
#define WHY_NOT "stacks of this processor are not known"
#endif

static void native_look(void)
{
	struct thread_state *t = thread_state();
	const char *why = WHY_NOT;
	char text[256];

	if (!why && native_modules_init(&why)) {
		if (t == thread_self && stack_of(t))
			native_walk_prepare(t->native->walker);
		contexts_set(CONTEXT_NATIVE, true);
		return;
	}
	snprintf(text, sizeof(text), "functions of compiled code are not in calling contexts: %s",
		 why);
	collect_note(NOTE_WARNING, text);
}

static void native_end(void)
{
	char text[160];

	if (!atomic_exchange(&any_cut, false))
		return;
	snprintf(
		text, sizeof(text),
		"some stacks of compiled code are deeper than %d frames: of these the innermost are shown",
		NATIVE_FRAMES_MAX);
	collect_note(NOTE_INFO, text);
}

const struct context_source context_native = {
	.look = native_look,
	.end = native_end,
	.node = native_node,
	.innermost = native_innermost,
};
