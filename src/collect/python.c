/* SPDX-License-Identifier: MIT */
/* Calling contexts of Python programs, without a change to them: where each thread is in the
 * program's own files, as "file.py:42@function", outermost first.
 *
 *     this thread's frames, raw ── compared with the last time ──> node below its scopes
 *
 * Extension modules release the interpreter lock before they launch: a thread's own frames are read where
 * they lie then, which nobody else changes, and neither the lock nor a reference is taken. Before the
 * first time the main thread, between two of its instructions and with the lock, holds what is read so
 * against what the interpreter says; where they differ, nothing is read, and a note says so.
 *
 * Frames of the standard library and of installed packages are left out, unless there are no others. */
#include "config.h" // IWYU pragma: keep
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include "backends/pages.h"
#include "base/hash.h"
#include "base/util.h"
#include "collect/contexts.h"
#include "collect/internal.h"
#include "collect/python.h"
#include "collect/python_check.h"
#include "collect/python_modules.h"
#include "collect/python_read.h"
#include "core/generated.h"
#include "wire/wire.h"

enum {
	NAMES_MAX = 1024, /* names that a thread remembers */
	TEXT_MAX = 1024,  /* bytes of a name */
	/* Functions that only pass on are at the innermost of many launches: who called them counts, too. */
	INNERMOST = 8, /* places that stand for all of them */
	/* … of which so many, in any case, for what is not even looked at: a function of PyTorch's, the forward() that
	 * calls it, and the two that call that, of which the outer one has the module. */
	GLANCE = 5,
};

/* A place, its frame in the tree of calling contexts, and whose it is: a library's, torch.compile's, else the
 * program's own. */
struct known {
	struct python_place place;
	uint32_t frame;
	bool is_library, is_generated;
};

/* What the nodes of a stack hang under, and what they are made of. */
struct below {
	uint32_t node, what; /* PYTHON_* */
	uint32_t n_learned;  /* how often names of modules have changed */
};

static inline bool is_below(const struct below *a, const struct below *b)
{
	return a->node == b->node && a->what == b->what && a->n_learned == b->n_learned;
}

/* What a thread remembers. */
struct python_stack {
	struct below below;
	uint32_t what, n;                              /* of `below`; places */
	uint32_t n_gone;                               /* code objects, before these were read */
	struct python_place places[PYTHON_PLACES_MAX]; /* outermost first */
	uint32_t nodes[PYTHON_PLACES_MAX];
	uint32_t generated[PYTHON_PLACES_MAX]; /* frames of places in generated code; WIRE_NONE */
	bool with_libraries, any_generated;
	const char *passed; /* the frame behind those that were glanced at, at this launch */
	uint64_t glance;    /* of these; 0: there is none */
	struct known known[NAMES_MAX];
};

/* ---- names ---- */

/* Not the program's own: the standard library, installed packages, what is frozen into the interpreter. */
static bool is_library(const char *file, const char *end)
{
	static const char *const parts[] = {"/site-packages/", "/dist-packages/", "/lib/python3"};

	if (end - file > 8 && !memcmp(file, "<frozen ", 8))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (memmem(file, (size_t)(end - file), parts[i], strlen(parts[i])))
			return true;
	return false;
}

/* What IPython compiles is called after its cell, with a number behind that nobody knows:
 * "<ipython-input-3-7a1f>" is "<cell 3>". Returns the new end of the text. */
static char *name_cell(char *text, char *end)
{
	static const char prefix[] = "<ipython-input-", cell[] = "<cell ";
	char *number = text + sizeof(prefix) - 1, *p = number;

	if (end <= number || memcmp(text, prefix, sizeof(prefix) - 1) != 0)
		return end;
	while (p < end && *p >= '0' && *p <= '9')
		p++;
	if (p == number || p == end || *p != '-')
		return end;
	memcpy(text, cell, sizeof(cell) - 1);
	memmove(text + sizeof(cell) - 1, number, (size_t)(p - number));
	p -= number - text - (ptrdiff_t)(sizeof(cell) - 1);
	*p = '>';
	return p + 1;
}

/* "/home/me/train.py:42@Model.forward", as Triton's Proton has it. */
static void name_place(struct known *k, const struct python_place *place)
{
	char text[TEXT_MAX], *p = text;
	const char *end = text + sizeof(text);

	p = python_put_string(p, sizeof(text) - 256, python_pointer(place->code, py.file));
	k->is_library = is_library(text, p);
	k->is_generated = generated_is_file(text, (size_t)(p - text));
	p = name_cell(text, p);
	p += snprintf(p, (size_t)(end - p), ":%d@",
		      py.PyCode_Addr2Line((void *)place->code, place->at));
	p = python_put_string(p, (size_t)(end - p), python_pointer(place->code, py.name));
	k->frame = frame_intern(FRAME_PYTHON, string_intern(text, (size_t)(p - text)));
	k->place = *place;
}

static bool is_same(const struct python_place *a, const struct python_place *b)
{
	return a->code == b->code && a->at == b->at && a->n_gone == b->n_gone && a->self == b->self;
}

static uint64_t place_hash(const struct python_place *place)
{
	return (uintptr_t)place->code ^ (uint64_t)(uint32_t)place->at << 44 ^ place->n_gone ^
	       (uintptr_t)place->self * UINT64_C(0x9e3779b97f4a7c15);
}

/* A place that calls a module is known as such from the next walk on. */
static const struct known *know(struct python_stack *s, const struct python_place *place)
{
	struct known *k = &s->known[hash_u64(place_hash(place)) % NAMES_MAX];

	if (!k->place.code || !is_same(&k->place, place)) {
		if (!place->self)
			python_calls_modules(place);
		name_place(k, place);
	}
	return k;
}

/* ---- stacks ---- */

static struct python_stack *stack_of(struct thread_state *t)
{
	if (!t->python)
		t->python = pages_reserve(sizeof(*t->python));
	return t->python;
}

static bool any_own(struct python_stack *s, const struct python_place *places, unsigned n)
{
	while (n > 0 && know(s, &places[n - 1])->is_library)
		n--;
	return n > 0;
}

/* How many places, from the outermost on, are those of the last time. */
static unsigned common(const struct python_stack *s, const struct python_place *inner_first,
		       unsigned n)
{
	unsigned i = 0;

	while (i < n && i < s->n && is_same(&s->places[i], &inner_first[n - 1 - i]))
		i++;
	return i;
}

static const char *outermost_module(const struct python_place *inner_first, unsigned n)
{
	while (n > 0 && !inner_first[n - 1].self)
		n--;
	return n ? inner_first[n - 1].self : NULL;
}

/* The node of a place below that of its caller. */
static uint32_t put_place(struct python_stack *s, const struct python_place *place, uint32_t parent,
			  const char *outermost)
{
	const struct known *k = know(s, place);
	uint32_t frame = place->self && s->what & PYTHON_MODULES
				 ? python_module_frame(place->self, outermost)
				 : WIRE_NONE;

	if (frame != WIRE_NONE)
		parent = node_intern(parent, frame);
	if (s->what & PYTHON_LINES && (!k->is_library || s->with_libraries))
		parent = node_intern(parent, k->frame);
	return parent;
}

static uint32_t generated_frame(struct python_stack *s, const struct python_place *place)
{
	const struct known *k = know(s, place);

	return k->is_generated ? k->frame : WIRE_NONE;
}

static uint32_t remember(struct python_stack *s, const struct python_place *inner_first, unsigned n,
			 const struct below *below)
{
	unsigned same = is_below(&s->below, below) ? common(s, inner_first, n) : 0;
	const char *outermost;

	if (same == n && n == s->n)
		return s->nodes[n - 1];
	s->below = *below;
	s->what = below->what;
	/* Whether libraries are shown depends on all of them. */
	if (s->with_libraries == any_own(s, inner_first, n)) {
		s->with_libraries = !s->with_libraries;
		same = 0;
	}
	outermost = outermost_module(inner_first, n);
	for (unsigned i = same; i < n; i++) {
		s->places[i] = inner_first[n - 1 - i];
		s->nodes[i] =
			put_place(s, &s->places[i], i ? s->nodes[i - 1] : below->node, outermost);
		s->generated[i] = generated_frame(s, &s->places[i]);
	}
	s->n = n;
	s->any_generated = false;
	for (unsigned i = 0; i < n && !s->any_generated; i++)
		s->any_generated = s->generated[i] != WIRE_NONE;
	return s->nodes[n - 1];
}

/* ---- is it known where frames are? ---- */

static bool is_known_sound(void)
{
	unsigned state = atomic_load_explicit(&py.state, memory_order_acquire),
		 unknown = PY_UNKNOWN;

	if (_likely_(state == PY_SOUND))
		return true;
	if (state == PY_ASKED && !py.Py_IsInitialized()) /* it ended with what it was asked */
		atomic_compare_exchange_strong(&py.state, &state, PY_UNKNOWN);
	if (state == PY_UNKNOWN && python_takes_calls() &&
	    atomic_compare_exchange_strong(&py.state, &unknown, PY_ASKED) &&
	    py.Py_AddPendingCall(python_calibrate, NULL) < 0)
		atomic_store(&py.state, PY_UNKNOWN); /* too many wait */
	return false;
}

/* The interpreter frees other threads' states as it ends, while they may still be in what releases its
 * lock. */
static bool is_ending(void)
{
	return py._Py_IsFinalizing ? py._Py_IsFinalizing()
				   : py.Py_IsFinalizing && py.Py_IsFinalizing();
}

/* ---- for the collector ---- */

#if defined(__x86_64__) || defined(__aarch64__)
#define IS_READABLE true
#else
#define IS_READABLE false
#endif

static bool is_on(void)
{
	return atomic_load(&contexts_on) & CONTEXT_BIT(CONTEXT_PYTHON);
}

bool python_can_be_read(void)
{
	if (!IS_READABLE || (!py.version && !python_find()))
		return false;
	if (atomic_load(&py.state) == PY_UNSOUND)
		return false;
	if (strstr(py.version, "free-threading"))
		python_refuse("it has no interpreter lock");
	else if (!py.layout)
		python_refuse("this version is not known");
	is_known_sound(); /* asked now, it is known at the first launch as a rule */
	return atomic_load(&py.state) != PY_UNSOUND;
}

static void python_look(void)
{
	if (python_can_be_read())
		contexts_set(CONTEXT_PYTHON, true);
}

bool python_is_there(void)
{
	return py.version;
}

bool python_ask(int (*call)(void *arg))
{
	return py.version && python_takes_calls() && py.Py_AddPendingCall(call, NULL) == 0;
}

/* A main thread that waits for others executes nothing: more than the first few launches are said. */
static void note_early(void)
{
	uint64_t n = atomic_exchange(&py.n_early, 0);
	char text[256];

	if (!is_on() || n * 100 <= launches_of_all())
		return;
	snprintf(text, sizeof(text),
		 "%" PRIu64
		 " launches have no calling context of Python: they came before the main "
		 "thread, which may have waited for others, executed anything",
		 n);
	collect_note(NOTE_WARNING, text);
}

static void python_end(void)
{
	if (IS_READABLE && !py.version && python_find())
		python_refuse("it was loaded after the first work for the GPU");
	note_early();
}

static void python_forked(void)
{
	atomic_store(&py.n_early, 0);
}

static const char *frame_now(struct thread_state *t)
{
	const char *state;

	if (atomic_load_explicit(&py.state, memory_order_acquire) != PY_SOUND || t != thread_self ||
	    (!t->is_main && is_ending()))
		return NULL;
	state = py.PyGILState_GetThisThreadState();
	return state ? python_innermost(state) : NULL;
}

uint64_t python_glance(struct thread_state *t)
{
	struct python_stack *s = stack_of(t);

	if (!s)
		return 0;
	s->passed = frame_now(t);
	s->glance = 0;
	if (s->passed)
		s->passed = python_hash_frames(s->passed, GLANCE, &s->glance);
	return s->glance;
}

uint64_t python_innermost_place(struct thread_state *t)
{
	struct python_stack *s = t->python;
	uint64_t hash;

	if (!s || !s->glance)
		return 0;
	hash = s->glance;
	if (s->passed)
		python_hash_frames(s->passed, INNERMOST - GLANCE, &hash);
	return hash;
}

/* What calls modules is found on the way: then they are not in what has been walked. */
static uint32_t walk_and_remember(struct python_stack *s, const char *state,
				  const struct below *below, uint32_t node)
{
	struct python_place places[PYTHON_PLACES_MAX];
	const char *calls;
	uint32_t n_gone;
	unsigned n;

	for (unsigned i = 0; i < 2; i++) {
		calls = atomic_load_explicit(&py.module_code, memory_order_relaxed);
		n_gone = atomic_load_explicit(&py.n_gone, memory_order_relaxed);
		n = python_walk_all(state, places);
		if (!n)
			return node;
		s->n_gone = n_gone;
		node = remember(s, places, n, below);
		if (_likely_(calls == atomic_load_explicit(&py.module_code, memory_order_relaxed)))
			break;
	}
	return node;
}

uint32_t python_context(struct thread_state *t, uint32_t node, unsigned what)
{
	const struct below below = {node, what, python_modules_learned()};
	const char *state;
	struct python_stack *s;

	if (_unlikely_(!is_known_sound())) {
		atomic_fetch_add_explicit(&py.n_early, 1, memory_order_relaxed);
		return node;
	}
	if (t != thread_self || (!t->is_main && is_ending()))
		return node;
	s = stack_of(t);
	if (!s) {
		lose(LOSS_NO_MEMORY, 1);
		return node;
	}
	state = py.PyGILState_GetThisThreadState();
	if (!state)
		return node;
	if (s->n && s->n_gone == atomic_load_explicit(&py.n_gone, memory_order_relaxed) &&
	    is_below(&s->below, &below) && python_is_at(state, s->places, s->n))
		return s->nodes[s->n - 1];
	return walk_and_remember(s, state, &below, node);
}

bool python_has_generated(struct thread_state *t)
{
	const struct python_stack *s = t->python;
	const char *state;

	if (_likely_(!s || !s->any_generated) || s->what & PYTHON_LINES || t != thread_self)
		return false;
	state = py.PyGILState_GetThisThreadState();
	return state && s->n_gone == atomic_load_explicit(&py.n_gone, memory_order_relaxed) &&
	       python_is_at(state, s->places, s->n);
}

uint32_t python_generated(struct thread_state *t, uint32_t node)
{
	const struct python_stack *s = t->python;

	for (unsigned i = 0; i < s->n; i++)
		if (s->generated[i] != WIRE_NONE)
			node = node_intern(node, s->generated[i]);
	return node;
}

static uint32_t python_node(struct thread_state *t, uint32_t node)
{
	uint32_t on = atomic_load_explicit(&contexts_on, memory_order_relaxed);

	return python_context(
		t, node, PYTHON_LINES | (on & CONTEXT_BIT(CONTEXT_TORCH) ? PYTHON_MODULES : 0));
}

const struct context_source context_python = {
	.look = python_look,
	.end = python_end,
	.forked = python_forked,
	.node = python_node,
	.glance = python_glance,
	.innermost = python_innermost_place,
};
