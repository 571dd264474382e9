/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/allocators.h"
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include "backends/pages.h"
#include "base/util.h"
#include "collect/internal.h"
#include "collect/native_modules.h"
#include "collect/native_walk.h"
#include "wire/wire.h"

enum {
	FRAMES_MAX = 64, /* the vendor's and ours are a dozen */
	KEPT = 64,       /* contexts that a thread remembers */
	LIBRARY_MAX = 128,
};

struct allocator_stack {
	uint32_t tid;
	bool is_busy;     /* a signal handler that allocates finds it so */
	uint32_t library; /* of the last walk: a string, " from libcublas.so.12"; 0: not known */
	struct native_walker *walker;
	struct native_frame frames[FRAMES_MAX];
	struct {
		uint32_t context, library, own; /* own: that of both */
	} kept[KEPT];
};

/* Is it known what is loaded? Asked once. */
static bool can_walk(void)
{
	enum { UNASKED, NO, YES };
	static _Atomic int state;
	const char *why;
	int s = atomic_load_explicit(&state, memory_order_relaxed);

	if (_likely_(s != UNASKED))
		return s == YES;
#if defined(__x86_64__)
	s = native_modules_init(&why) ? YES : NO;
#else
	(void)why;
	s = NO;
#endif
	atomic_store(&state, s);
	return s == YES;
}

static struct allocator_stack *stack_of(struct thread_state *t)
{
	struct allocator_stack *s;

	if (_likely_(t->allocator))
		return t->allocator;
	s = pages_reserve(sizeof(*s));
	if (s)
		s->walker = pages_reserve(native_walker_size());
	if (!s || !s->walker)
		return NULL;
	native_walk_modules_only(s->walker);
	t->allocator = s;
	return s;
}

/* The file alone: where it lies is no part of who it is. As it stands in names, so that no kernel is called so. */
static uint32_t file_name(uint32_t module)
{
	const char *path = collector->string[collector->module[module].path].s, *slash;
	char name[LIBRARY_MAX];

	if (!path || !*path)
		return 0;
	slash = strrchr(path, '/');
	snprintf(name, sizeof(name), ALLOC_FROM "%s", slash ? slash + 1 : path);
	return string_intern(name, strlen(name));
}

static uint32_t walk(struct allocator_stack *s, const struct native_registers *here)
{
	bool ended;
	unsigned n = native_walk(s->walker, here, FRAMES_MAX, s->frames, &ended), i = 0;

	while (i < n && s->frames[i].role == NATIVE_LEAF)
		i++;
	if (i == n || s->frames[i].role == NATIVE_NOWHERE || s->frames[i].module == WIRE_NONE)
		return 0;
	return file_name(s->frames[i].module);
}

/* Of both, made once as a rule. */
static uint32_t with_library(struct allocator_stack *s, uint32_t context, uint32_t library)
{
	const struct context_entry *e = &collector->context[context];
	unsigned i = (context ^ library * 31) % KEPT;

	if (_likely_(s->kept[i].context == context && s->kept[i].library == library))
		return s->kept[i].own;
	s->kept[i].own = context_intern(e->node, e->thread, e->flags, e->epoch, library);
	s->kept[i].context = context;
	s->kept[i].library = library;
	return s->kept[i].own;
}

__attribute__((noinline)) uint32_t allocator_context(struct thread_state *t)
{
	const struct native_registers here = NATIVE_REGISTERS_HERE();
	uint32_t context = thread_allocates(t);
	struct allocator_stack *s = t == thread_self && can_walk() ? stack_of(t) : NULL;

	if (!s || (s->is_busy && s->tid == t->tid))
		return context;
	s->is_busy = true;
	s->tid = t->tid; /* the thread before may have ended in here */
	atomic_signal_fence(memory_order_seq_cst);
	if (!native_walk_is_same(s->walker, &here))
		s->library = walk(s, &here);
	if (s->library)
		context = with_library(s, context, s->library);
	atomic_signal_fence(memory_order_seq_cst);
	s->is_busy = false;
	return context;
}
