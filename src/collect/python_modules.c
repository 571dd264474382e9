/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/python_modules.h"
#include <stdio.h>
#include "backends/pages.h"
#include "base/hash.h"
#include "collect/internal.h"
#include "wire/wire.h"

enum {
	MODULES = 1 << 16, /* that are remembered; a power of two */
	NEAR = 16,         /* cells in which one is looked for */
	DEPTH_MAX = 64,    /* of modules within modules */
	N_MAX = 1 << 15,   /* modules of a program that get their paths */
	NAME_MAX_ = 512,
};

/* A module that is gone leaves its address to another: of another class as a rule, or of the same name. */
struct known_module {
	_Atomic(const char *) module;
	const char *type;
	_Atomic uint32_t frame;
	uint32_t walk; /* in which it was found */
};
static struct known_module *modules; /* written by the main thread alone */

static struct {
	_Atomic(const char *) outermost; /* asked for */
	_Atomic bool is_asked;
	_Atomic uint32_t id; /* counts up */
	char path[NAME_MAX_];
	unsigned n;
} walk;

/* ---- which frames ---- */

static const char *type_of(const char *object)
{
	return python_pointer(object, 8);
}

static bool ends_with(const char *text, const char *end, const char *with)
{
	size_t len = strlen(with);

	return (size_t)(end - text) >= len && !memcmp(end - len, with, len);
}

static bool is_string(const char *code, unsigned field, const char *wanted)
{
	char text[512], *end = python_put_string(text, sizeof(text), python_pointer(code, field));

	return ends_with(text, end, wanted);
}

bool python_calls_modules(const struct python_place *place)
{
	const char *none = NULL;

	if (!py.layout->locals || !is_string(place->code, py.file, "/torch/nn/modules/module.py"))
		return false;
	if (is_string(place->code, py.name, "_wrapped_call_impl")) {
		atomic_store(&py.module_code, place->code);
		return true;
	}
	/* Before 2.1 there is no other; later it has not the module itself as a local. */
	return is_string(place->code, py.name, "_call_impl") &&
	       atomic_compare_exchange_strong(&py.module_code, &none, place->code);
}

/* ---- what they are called ---- */

static struct known_module *find(const char *module)
{
	uint64_t hash = hash_u64((uintptr_t)module);

	for (unsigned i = 0; modules && i < NEAR; i++) {
		struct known_module *m = &modules[(hash + i) % MODULES];

		if (atomic_load_explicit(&m->module, memory_order_acquire) == module)
			return m->type == type_of(module) ? m : NULL;
	}
	return NULL;
}

static uint32_t intern(const char *name, size_t len)
{
	return frame_intern(FRAME_MODULE, string_intern(name, len));
}

/* "torch.nn.modules.linear.Linear" or "Linear" */
static uint32_t by_class(const char *module)
{
	const char *name = python_pointer(type_of(module), PYTHON_TYPE_NAME);
	const char *dot = strrchr(name, '.');

	name = dot ? dot + 1 : name;
	return intern(name, strnlen(name, NAME_MAX_));
}

/* By the main thread. False: it has a name in this walk already, and the first one counts. */
static bool learn(const char *module, uint32_t frame)
{
	uint64_t hash = hash_u64((uintptr_t)module);

	for (unsigned i = 0; i < NEAR; i++) {
		struct known_module *m = &modules[(hash + i) % MODULES];
		const char *its = atomic_load_explicit(&m->module, memory_order_relaxed);

		if (its && its != module && i + 1 < NEAR)
			continue;
		if (its == module && m->walk == walk.id)
			return false;
		atomic_store_explicit(&m->module, NULL, memory_order_release);
		m->type = type_of(module);
		m->walk = walk.id;
		atomic_store_explicit(&m->frame, frame, memory_order_relaxed);
		atomic_store_explicit(&m->module, module, memory_order_release);
		return true;
	}
	return false;
}

/* ---- paths ---- */

/* The dictionary of the modules that one holds, or NULL. To be given back. */
static void *modules_of(void *module)
{
	void *name = py.PyUnicode_FromString("_modules");
	void *held = name ? py.PyObject_GenericGetAttr(module, name) : NULL;

	if (name)
		py.Py_DecRef(name);
	if (held && py.PyDict_Size(held) < 0) {
		py.Py_DecRef(held);
		held = NULL;
	}
	if (!held)
		py.PyErr_Clear();
	return held;
}

/* The modules that one holds, by name. Nothing of the program's own is called for that, as long as its
 * classes do not say themselves what an attribute is. */
static void learn_within(void *module, size_t len, unsigned depth)
{
	void *held = modules_of(module);
	void *name, *child;
	ssize_t at = 0;

	while (held && depth < DEPTH_MAX && walk.n < N_MAX &&
	       py.PyDict_Next(held, &at, &name, &child)) {
		const char *text = child == py.none ? NULL : py.PyUnicode_AsUTF8(name);
		int n = text ? snprintf(walk.path + len, NAME_MAX_ - len, "%s%s", len ? "." : "",
					text)
			     : -1;

		if (n < 0 || len + (size_t)n >= NAME_MAX_) {
			py.PyErr_Clear();
			continue;
		}
		walk.n++;
		if (learn(child, intern(walk.path, len + (size_t)n)))
			learn_within(child, len + (size_t)n, depth + 1);
	}
	if (held)
		py.Py_DecRef(held);
}

/* Is it being called by this thread? Then it is alive. */
static bool is_called_here(const char *module)
{
	static struct python_place places[PYTHON_PLACES_MAX]; /* the main thread's */
	const char *state = py.PyGILState_GetThisThreadState();
	unsigned n = state ? python_walk_all(state, places) : 0;

	while (n > 0 && places[n - 1].self != module)
		n--;
	return n > 0;
}

static int learn_pending(void *arg)
{
	const char *outermost = atomic_load(&walk.outermost);

	(void)arg;
	if (collector_is_ours() && outermost && is_called_here(outermost)) {
		if (!modules)
			modules = pages_reserve_sparse(MODULES * sizeof(*modules));
		walk.n = 0;
		atomic_fetch_add(&walk.id, 1);
		if (modules) {
			learn((char *)outermost, by_class(outermost));
			learn_within((void *)outermost, 0, 0);
		}
	}
	atomic_store(&walk.is_asked, false);
	return 0;
}

static bool can_be_named(void)
{
	return py.PyDict_Next && py.PyDict_Size && py.PyObject_GenericGetAttr &&
	       py.PyUnicode_FromString;
}

/* A variable that functions within share. */
static bool is_cell(const char *object)
{
	return !strcmp(python_pointer(type_of(object), PYTHON_TYPE_NAME), "cell");
}

static void ask(const char *outermost)
{
	bool asked = false;

	if (!atomic_compare_exchange_strong(&walk.is_asked, &asked, true))
		return;
	atomic_store(&walk.outermost, outermost);
	if (py.Py_AddPendingCall(learn_pending, NULL) < 0)
		atomic_store(&walk.is_asked, false);
}

uint32_t python_modules_learned(void)
{
	return atomic_load_explicit(&walk.id, memory_order_relaxed);
}

uint32_t python_module_frame(const char *module, const char *outermost)
{
	const struct known_module *m = find(module);

	if (is_cell(module) || !can_be_named())
		return WIRE_NONE;
	if (_likely_(m != NULL))
		return atomic_load_explicit(&m->frame, memory_order_relaxed);
	ask(outermost);
	return by_class(module);
}
