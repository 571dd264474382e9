/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/native_walk.h"
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
#include "base/hash.h"
#include "base/util.h"
#include "collect/internal.h"
#include "collect/native_cfi.h"
#include "collect/native_modules.h"

enum {
	BUCKETS = 2048, /* of what is known of addresses … */
	WAYS = 4,       /* … with so many each */
	MODULES = 64,   /* of what is known of modules */
	COPY_MAX = 16384,
	PAGE = 4096,
	SIGNALS_MAX = 4,                   /* handlers within one another */
	READS_MAX = 3 * NATIVE_FRAMES_MAX, /* words of a walk */
};

/* What is known of an address of code. */
struct place {
	uintptr_t at;
	struct native_rule rule;
	uint32_t frame, module, n_unloads;
	uint8_t role;
	bool is_code; /* else no return address is there */
};

struct bucket {
	struct place places[WAYS];
};

/* Memory that may be read: from `low` to below `high`, as it lies there or in a copy. */
struct stack {
	uintptr_t low, high;
	intptr_t shift; /* to the copy */
};

struct read {
	uintptr_t at;
	uint64_t value;
};

struct native_walker {
	pthread_t owner;
	uint32_t tid;       /* 0: nothing is known yet */
	struct stack own;   /* the thread's; empty where that is not known */
	struct stack stack; /* that is walked now */
	bool modules_only;  /* frames are not put into tables */
	bool needs_fp;      /* it depends on the frame pointer that it began with */
	bool is_replayable; /* all that the last walk depends on is in `reads` */
	uint32_t n_unloads; /* at the last walk */
	uint32_t n_reads, n_evicted;
	struct native_registers from;
	struct read reads[READS_MAX];
	struct native_module modules[MODULES];
	uint32_t module_unloads[MODULES];
	struct bucket buckets[BUCKETS];
	struct native_cfi_scratch scratch;
	struct native_module_scratch module_scratch;
	_Alignas(8) uint8_t copy[COPY_MAX];
};

size_t native_walker_size(void)
{
	return sizeof(struct native_walker);
}

/* ---- stacks ---- */

/* Once a thread: whose first launch may take the time. */
static void find_own_stack(struct native_walker *w)
{
	pthread_attr_t attr;
	void *low = NULL;
	size_t size = 0;

	w->own = (struct stack){0};
	if (pthread_getattr_np(pthread_self(), &attr) != 0)
		return;
	if (pthread_attr_getstack(&attr, &low, &size) == 0)
		w->own = (struct stack){(uintptr_t)low, (uintptr_t)low + size, 0};
	pthread_attr_destroy(&attr);
}

/* As much of another stack as is there, page by page, so that its words are words of the copy. */
static struct stack copy_stack(struct native_walker *w, uintptr_t sp)
{
	struct iovec to = {w->copy, COPY_MAX}, from[COPY_MAX / PAGE + 1];
	uintptr_t at = sp, end = sp + COPY_MAX;
	unsigned n = 0;
	ssize_t got;

	for (; at < end; at += from[n++].iov_len)
		from[n] = (struct iovec){(void *)at, MIN(end - at, PAGE - at % PAGE)};
	got = process_vm_readv(getpid(), &to, 1, from, n, 0);
	return got < 0 ? (struct stack){0}
		       : (struct stack){sp, sp + (uintptr_t)got,
					(intptr_t)((uintptr_t)w->copy - sp)};
}

/* The stack that a stack pointer is in. What lies above it on the thread's own is there. */
static void find_stack(struct native_walker *w, uintptr_t sp)
{
	if (sp >= w->own.low && sp < w->own.high) {
		w->stack = w->own;
		w->stack.low = sp;
	} else {
		w->stack = copy_stack(w, sp - sp % sizeof(uint64_t));
		w->is_replayable = false;
	}
}

/* Shadow memory knows nothing of frames that are not its own. */
__attribute__((no_sanitize("address", "thread"))) static inline uint64_t word_at(uintptr_t at)
{
	return *(const volatile uint64_t *)at;
}

static inline bool peek_word(const struct native_walker *w, uintptr_t at, uintptr_t *ret)
{
	if (at < w->stack.low || at >= w->stack.high || w->stack.high - at < sizeof(*ret) ||
	    at % sizeof(*ret))
		return false;
	*ret = word_at(at + (uintptr_t)w->stack.shift);
	return true;
}

/* What the walk found depends on this word. */
static inline void depend(struct native_walker *w, uintptr_t at, uintptr_t value)
{
	if (_likely_(w->n_reads < READS_MAX))
		w->reads[w->n_reads++] = (struct read){at, value};
	else
		w->is_replayable = false;
}

static inline bool read_word(struct native_walker *w, uintptr_t at, uintptr_t *ret)
{
	if (!peek_word(w, at, ret))
		return false;
	depend(w, at, *ret);
	return true;
}

/* ---- addresses ---- */

static const struct native_module *module_at(struct native_walker *w, uintptr_t at,
					     uint32_t unloads)
{
	struct native_module *m;
	size_t i;

	for (i = 0; i < MODULES; i++) {
		m = &w->modules[i];
		if (at >= m->start && at < m->end && w->module_unloads[i] == unloads)
			return m;
	}
	i = hash_u64(at) % MODULES;
	native_module_at(at, &w->module_scratch, &w->modules[i]);
	w->module_unloads[i] = unloads;
	return &w->modules[i];
}

/* What lies before an address; of a page that is the first one there, less. */
static bool peek_before(uintptr_t at, uint8_t out[8])
{
	size_t n = at % PAGE;

	memset(out, 0, 8);
	return native_peek(at - 8, out, 8) || (n && n < 8 && native_peek(at - n, out + 8 - n, n));
}

/* Does the code before an address end with a call? */
static bool is_after_call(uintptr_t pc)
{
	uint8_t code[8];

	if (!peek_before(pc, code))
		return false;
	if (code[3] == 0xe8) /* call, relative */
		return true;
	for (unsigned length = 2; length <= 7; length++) /* call through a register or memory */
		if (code[8 - length] == 0xff && (code[8 - length + 1] & 0x38) == 0x10)
			return true;
	return false;
}

static void look_up(struct native_walker *w, uintptr_t at, bool exact, struct place *ret)
{
	uint32_t unloads = native_unloads();
	const struct native_module *m = module_at(w, at, unloads);
	int saved = errno;

	*ret = (struct place){.at = at,
			      .frame = WIRE_NONE,
			      .module = m->id,
			      .n_unloads = unloads,
			      .role = m->role,
			      .is_code = true};
	if (m->unwinding)
		ret->rule = native_cfi_rule(m->unwinding, at, &w->scratch);
	if (ret->rule.cfa_is == CFA_UNKNOWN && !exact)
		ret->is_code = is_after_call(at + 1);
	if (ret->rule.cfa_is == CFA_END)
		ret->role = NATIVE_ROOT;
	if (m->id != WIRE_NONE && m->role != NATIVE_LEAF && ret->is_code && !w->modules_only)
		ret->frame = frame_intern_place(FRAME_NATIVE, m->id, at - m->bias);
	errno = saved;
}

/* What is known of an address; looked up where nothing is. */
static const struct place *place_at(struct native_walker *w, uintptr_t at, bool exact)
{
	struct place *places = w->buckets[hash_u64(at) % BUCKETS].places, *free = NULL;

	for (unsigned i = 0; i < WAYS; i++) {
		if (_likely_(places[i].at == at && places[i].n_unloads == w->n_unloads))
			return &places[i];
		if (!free && (!places[i].at || places[i].n_unloads != w->n_unloads))
			free = &places[i];
	}
	if (!free)
		free = &places[w->n_evicted++ % WAYS];
	look_up(w, at, exact, free);
	return free;
}

/* ---- frames ---- */

struct cursor {
	struct native_registers at;
	uintptr_t
		fp_from; /* where the frame pointer was read, if nothing depends on it yet; 0: nowhere */
	bool exact;      /* not behind a call: a signal came there */
	unsigned n_signals;
};

/* struct ucontext of the kernel, of which a handler's caller sees no more than its address. */
enum { CONTEXT_FP = 120, CONTEXT_SP = 160, CONTEXT_PC = 168 };

static bool step_signal(struct native_walker *w, struct cursor *c)
{
	struct native_registers r;
	uintptr_t frame = c->at.sp;

	if (++c->n_signals > SIGNALS_MAX || !read_word(w, frame + CONTEXT_PC, &r.pc) ||
	    !read_word(w, frame + CONTEXT_SP, &r.sp) || !peek_word(w, frame + CONTEXT_FP, &r.fp))
		return false;
	c->at = r;
	c->fp_from = frame + CONTEXT_FP;
	c->exact = true;
	find_stack(w, r.sp);
	return true;
}

/* An odd address, where nothing is read from: the frame pointer that the walk began with. */
#define FP_FIRST ((uintptr_t)1)

/* The frame pointer, as an address. To most code it is a register like any other, which changes from launch to
 * launch: only where it is asked for does anything depend on it. */
static uintptr_t frame_pointer(struct native_walker *w, struct cursor *c)
{
	if (c->fp_from == FP_FIRST)
		w->needs_fp = true;
	else if (c->fp_from)
		depend(w, c->fp_from, c->at.fp);
	c->fp_from = 0;
	return c->at.fp;
}

static bool load_fp(struct native_walker *w, struct cursor *c, uintptr_t from)
{
	if (!peek_word(w, from, &c->at.fp))
		return false;
	c->fp_from = from;
	return true;
}

static bool cfa_of(struct native_walker *w, const struct native_rule *rule, struct cursor *c,
		   uintptr_t *ret)
{
	uintptr_t offset = (uintptr_t)(intptr_t)rule->cfa;

	switch (rule->cfa_is) {
	case CFA_SP:
		*ret = c->at.sp + offset;
		return true;
	case CFA_FP:
		*ret = frame_pointer(w, c) + offset;
		return true;
	case CFA_FP_AT:
		return read_word(w, frame_pointer(w, c) + offset, ret);
	default: /* by frame pointers */
		*ret = frame_pointer(w, c) + 2 * sizeof(*ret);
		return true;
	}
}

static bool fp_of(struct native_walker *w, const struct native_rule *rule, uintptr_t cfa,
		  struct cursor *c)
{
	uintptr_t offset = (uintptr_t)(intptr_t)rule->fp;

	if (rule->cfa_is == CFA_UNKNOWN)
		return load_fp(w, c, frame_pointer(w, c));
	switch (rule->fp_is) {
	case FP_CFA:
		return load_fp(w, c, cfa + offset);
	case FP_FP:
		return load_fp(w, c, frame_pointer(w, c) + offset);
	case FP_LOST:
		c->at.fp = c->fp_from = 0;
		return true;
	default:
		return true;
	}
}

/* To the caller. False: there is none, or it cannot be found. */
static bool step(struct native_walker *w, const struct native_rule *rule, struct cursor *c)
{
	uintptr_t cfa, pc;

	if (rule->cfa_is == CFA_SIGNAL)
		return step_signal(w, c);
	if (rule->cfa_is == CFA_END || !cfa_of(w, rule, c, &cfa) || cfa <= c->at.sp ||
	    !read_word(w, cfa - sizeof(pc), &pc) || !fp_of(w, rule, cfa, c))
		return false;
	c->at.pc = pc;
	c->at.sp = cfa;
	c->exact = false;
	return pc > 1;
}

/* ---- for the source ---- */

static bool is_from(const struct native_walker *w, const struct native_registers *r)
{
	return w->from.pc == r->pc && w->from.sp == r->sp && (!w->needs_fp || w->from.fp == r->fp);
}

bool native_walk_is_same(const struct native_walker *w, const struct native_registers *from)
{
	if (!w->is_replayable || w->n_unloads != native_unloads() || !is_from(w, from) ||
	    w->owner != pthread_self() || w->tid != thread_self->tid)
		return false;
	for (uint32_t i = 0; i < w->n_reads; i++)
		if (word_at(w->reads[i].at) != w->reads[i].value)
			return false;
	return true;
}

void native_walk_modules_only(struct native_walker *w)
{
	w->modules_only = true;
}

void native_walk_prepare(struct native_walker *w)
{
	if (_likely_(w->tid == thread_self->tid && w->owner == pthread_self()))
		return;
	find_own_stack(w);
	w->tid = thread_self->tid;
	w->owner = pthread_self();
}

static void begin(struct native_walker *w, const struct native_registers *from)
{
	native_walk_prepare(w);
	w->n_unloads = native_unloads();
	w->n_reads = 0;
	w->is_replayable = true;
	w->needs_fp = false;
	w->from = *from;
	find_stack(w, from->sp);
}

unsigned native_walk(struct native_walker *w, const struct native_registers *from, unsigned max,
		     struct native_frame out[], bool *ret_ended)
{
	struct cursor c = {.at = *from, .fp_from = FP_FIRST};
	const struct place *place;
	unsigned n = 0;

	*ret_ended = false;
	begin(w, from);
	for (;;) {
		place = place_at(w, c.at.pc - !c.exact, c.exact);
		if (!place->is_code)
			return n;
		if (n == max)
			break;
		out[n++] =
			(struct native_frame){place->at, place->frame, place->module, place->role};
		if (w->modules_only && place->role != NATIVE_LEAF)
			return n;
		if (place->rule.cfa_is == CFA_END)
			*ret_ended = true;
		if (!step(w, &place->rule, &c))
			return n;
	}
	w->is_replayable = false; /* by the words alone: how many there are would be missed */
	return n;
}
