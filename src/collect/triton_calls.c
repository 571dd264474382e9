/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/triton_calls.h"
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include "base/hash.h"
#include "base/util.h"
#include "collect/contexts.h"
#include "collect/device_metrics.h"
#include "collect/internal.h"
#include "collect/kernel_scopes.h"
#include "collect/patience.h"
#include "wire/wire.h"

/* ---- the interpreter's functions, all of its stable interface ---- */

#define FUNCTIONS(_)                                                                               \
	_(void *, PyCFunction_NewEx, (void *definition, void *self, void *module))                 \
	_(void *, PyDict_New, (void))                                                              \
	_(int, PyDict_SetItemString, (void *dict, const char *name, void *value))                  \
	_(const char *, PyUnicode_AsUTF8AndSize, (void *text, ssize_t *ret_size))                  \
	_(int, PyBytes_AsStringAndSize, (void *bytes, char **ret_text, ssize_t *ret_size))         \
	_(void *, PyObject_CallFunctionObjArgs, (void *function, ...))                             \
	_(long long, PyLong_AsLongLongAndOverflow, (void *number, int *ret_overflow))              \
	_(void *, PyLong_FromLongLong, (long long))                                                \
	_(double, PyFloat_AsDouble, (void *number))                                                \
	_(void *, PyBool_FromLong, (long))                                                         \
	_(unsigned long, PyType_GetFlags, (void *type))                                            \
	_(void *, PyObject_Type, (void *object))                                                   \
	_(int, PyType_IsSubtype, (void *type, void *of))                                           \
	_(void, Py_IncRef, (void *object))                                                         \
	_(void, Py_DecRef, (void *object))                                                         \
	_(void, PyErr_Clear, (void))                                                               \
	_(void *, PyErr_Occurred, (void))                                                          \
	_(void, PyErr_SetString, (void *type, const char *text))

static struct {
#define _(type, name, arguments) type(*name) arguments;
	FUNCTIONS(_)
#undef _
	void *none, *float_type, **type_error, **runtime_error;
	void *encode;
} py;

enum { METHOD_FASTCALL = 0x80, TYPE_IS_INT = 1 << 24, TYPE_IS_TEXT = 1 << 28 };

struct method { /* PyMethodDef */
	const char *name;
	void *(*call)(void *self, void *const *args, ssize_t n);
	int flags;
	const char *doc;
};

static bool find_functions(void)
{
	bool found = true;
	void *v;

#define _(type, function, arguments)                                                               \
	v = dlsym(RTLD_DEFAULT, #function);                                                        \
	memcpy(&py.function, &v, sizeof(v));                                                       \
	found = found && v;
	FUNCTIONS(_)
#undef _
	py.none = dlsym(RTLD_DEFAULT, "_Py_NoneStruct");
	py.float_type = dlsym(RTLD_DEFAULT, "PyFloat_Type");
	py.type_error = dlsym(RTLD_DEFAULT, "PyExc_TypeError");
	py.runtime_error = dlsym(RTLD_DEFAULT, "PyExc_RuntimeError");
	return found && py.none && py.float_type && py.type_error && py.runtime_error;
}

static void *none(void)
{
	py.Py_IncRef(py.none);
	return py.none;
}

static bool takes(ssize_t n, ssize_t wanted)
{
	if (n == wanted)
		return true;
	py.PyErr_SetString(*py.type_error, "wrong number of arguments");
	return false;
}

/* A name as text. What holds it, if that is not the name itself, is in *ret_held. NULL: an exception. */
static const char *text_of(void *name, size_t *ret_len, void **ret_held)
{
	ssize_t n;
	const char *text = py.PyUnicode_AsUTF8AndSize(name, &n);
	char *bytes;

	if (text && !memchr(text, '\0', (size_t)n)) {
		*ret_len = (size_t)n;
		return text;
	}
	py.PyErr_Clear();
	*ret_held = py.PyObject_CallFunctionObjArgs(py.encode, name, NULL);
	if (!*ret_held || py.PyBytes_AsStringAndSize(*ret_held, &bytes, &n) < 0)
		return NULL;
	*ret_len = (size_t)n;
	return bytes;
}

static void release(void **held)
{
	if (*held)
		py.Py_DecRef(*held);
}
#define _held_ _cleanup_(release) void *

/* False: an exception. */
static bool id_of(void *number, uint64_t *ret)
{
	int overflow;

	*ret = (uint64_t)py.PyLong_AsLongLongAndOverflow(number, &overflow);
	return !py.PyErr_Occurred();
}

/* What a function is given. */
struct given {
	uint64_t id;
	const char *text;
	size_t len;
	void *held; /* what holds the text */
};

static void given_done(struct given *g)
{
	release(&g->held);
}
#define _given_ _cleanup_(given_done) struct given

/* As many as kinds has letters: i an id, t a text, any other is not looked at. False: an exception. */
static inline bool take(struct given *g, const char *kinds, void *const *args, ssize_t n)
{
	if (!takes(n, (ssize_t)strlen(kinds)))
		return false;
	for (ssize_t i = 0; i < n; i++) {
		if (kinds[i] == 'i' && !id_of(args[i], &g->id))
			return false;
		if (kinds[i] == 't' && !(g->text = text_of(args[i], &g->len, &g->held)))
			return false;
	}
	return true;
}

/* ---- ids ---- */

static _Atomic uint64_t n_ids;

/* Where the newest ids are: an id's lower half, and its node, or that it is an op. */
enum { KNOWN_MAX = 1024 };
#define NODE_IS_OP (WIRE_NONE - 1)
static _Atomic uint64_t known[KNOWN_MAX];

static void know(uint64_t id, uint32_t node)
{
	atomic_store_explicit(&known[id % KNOWN_MAX], id << 32 | node, memory_order_relaxed);
}

/* Where its metrics go: an id of long ago is forgotten, and they go where the thread is. */
static uint32_t node_of(uint64_t id)
{
	uint64_t k = atomic_load_explicit(&known[id % KNOWN_MAX], memory_order_relaxed);

	return k >> 32 == (uint32_t)id ? (uint32_t)k : NODE_IS_OP;
}

/* Where what is given to a scope that begins now is shown: a state that the thread is in is one more frame. */
static uint32_t node_here(void)
{
	const struct thread_state *t = thread_state();

	return node_in_state(t, t->node);
}

/* ---- types of metrics ---- */

/* Whole numbers and others do not mix in one place, which Triton's Proton tells its scripts. Of the newest
 * places it is known what was there: the upper bits of a hash, and the type. The interpreter's lock holds
 * others off. */
enum { TYPES_MAX = 1024, TYPE_BITS = 1 };
static uint64_t types[TYPES_MAX];

/* False: this place has a value of another type. */
static bool type_fits(uint32_t node, const char *name, size_t len, bool is_float)
{
	uint64_t hash = hash_u64(hash_bytes(name, len) ^ node) | UINT64_C(1) << 63;
	uint64_t *place = &types[(hash >> TYPE_BITS) % TYPES_MAX], seen = *place;

	*place = hash >> TYPE_BITS << TYPE_BITS | is_float;
	return seen >> TYPE_BITS != hash >> TYPE_BITS || (seen & 1) == is_float;
}

static char whole[16] = "uint64_t"; /* what its release calls a whole number */

static void type_complain(const char *name, bool is_float)
{
	char text[512];

	snprintf(text, sizeof(text),
		 "Metric value type mismatch for valueId 0 (%.256s): current=%s, new=%s", name,
		 is_float ? whole : "double", is_float ? "double" : whole);
	py.PyErr_SetString(*py.runtime_error, text);
}

static void *call_whole(void *self, void *const *args, ssize_t n)
{
	_given_ g = {0};

	(void)self;
	if (!take(&g, "t", args, n))
		return NULL;
	snprintf(whole, sizeof(whole), "%s", g.text);
	return none();
}

static void *forget_types(void *self, void *const *args, ssize_t n)
{
	(void)self;
	(void)args;
	if (!takes(n, 0))
		return NULL;
	memset(types, 0, sizeof(types));
	return none();
}

/* ---- the functions ---- */

/* Scopes of this thread that were entered here, whether or not there was room for them. */
static __thread uint32_t n_open __attribute__((tls_model("initial-exec")));

/* What was not entered here is not ours to leave: a session may have begun within a scope. */
static void leave_scope(void)
{
	if (!n_open)
		return;
	n_open--;
	collect_pop(COLLECT_TAG_SCOPE);
}

static void *record_scope(void *self, void *const *args, ssize_t n)
{
	(void)self;
	(void)args;
	return takes(n, 0) ? py.PyLong_FromLongLong((long long)atomic_fetch_add(&n_ids, 1)) : NULL;
}

static void *enter_scope(void *self, void *const *args, ssize_t n)
{
	_given_ g = {0};

	(void)self;
	if (!take(&g, "it", args, n))
		return NULL;
	if (!g.len) {
		g.text = "<scope>";
		g.len = strlen(g.text);
	}
	if (collect_push(FRAME_SCOPE, COLLECT_TAG_SCOPE, g.text, g.len) >= 0)
		know(g.id, node_here());
	n_open++;
	return none();
}

static void *exit_scope(void *self, void *const *args, ssize_t n)
{
	(void)self;
	(void)args;
	if (!takes(n, 2))
		return NULL;
	leave_scope();
	return none();
}

/* Once all sessions are over Triton's layer exits no scopes any more, and one that was not entered to the end
 * was never exited. */
static void *leave_scopes(void *self, void *const *args, ssize_t n)
{
	(void)self;
	(void)args;
	if (!takes(n, 0))
		return NULL;
	while (n_open)
		leave_scope();
	return none();
}

static void *scope_push(void *self, void *const *args, ssize_t n)
{
	_given_ g = {0};

	(void)self;
	if (!take(&g, "t", args, n))
		return NULL;
	collect_push(FRAME_SCOPE, COLLECT_TAG_SCOPE, g.len ? g.text : "<scope>",
		     g.len ? g.len : strlen("<scope>"));
	return none();
}

/* It may stand in a class for __exit__, which is given what was raised. */
static void *scope_pop(void *self, void *const *args, ssize_t n)
{
	(void)self;
	(void)args;
	(void)n;
	collect_pop(COLLECT_TAG_SCOPE);
	return none();
}

/* Scopes in two calls have tags of their own, with half of it made of the name: so they are told from those around
 * blocks, and a wrong name is seen. */
#define PAIR_TAG UINT64_C(0x50414952)

static uint64_t pair_tag(const char *text, size_t len)
{
	return PAIR_TAG << 32 | (uint32_t)hash_bytes(text, len);
}

static void *scope_open(void *self, void *const *args, ssize_t n)
{
	_given_ g = {0};

	(void)self;
	if (!take(&g, "t", args, n))
		return NULL;
	n = collect_push(FRAME_SCOPE, pair_tag(g.text, g.len), g.len ? g.text : "<scope>",
			 g.len ? g.len : strlen("<scope>"));
	return py.PyLong_FromLongLong(n < 0 ? MAX_DEPTH + 1 : n + 1);
}

enum { CLOSE_NONE = -1, CLOSE_WRONG = -2 };

static int close_pair(void *const *name, ssize_t n)
{
	struct thread_state *t;
	_held_ held = NULL;
	const char *text;
	uint32_t i;
	size_t len;

	if (!collect_on)
		return CLOSE_NONE;
	t = thread_state();
	if (t->overflow) {
		collect_pop(PAIR_TAG << 32);
		return MAX_DEPTH + 1;
	}
	for (i = t->depth; i && t->stack[i - 1].tag >> 32 != PAIR_TAG; i--)
		;
	if (!i)
		return CLOSE_NONE;
	if (n && !(text = text_of(name[0], &len, &held)))
		return 0;
	if (n && t->stack[i - 1].tag != pair_tag(text, len))
		return CLOSE_WRONG;
	collect_pop(t->stack[i - 1].tag);
	return (int)i;
}

static void *scope_close(void *self, void *const *args, ssize_t n)
{
	int number = close_pair(args, n);

	(void)self;
	return number ? py.PyLong_FromLongLong(number) : NULL;
}

static void *enter_op(void *self, void *const *args, ssize_t n)
{
	_given_ g = {0};

	(void)self;
	if (!take(&g, "it", args, n))
		return NULL;
	know(g.id, NODE_IS_OP);
	collect_launch_begin(g.text, g.len);
	return none();
}

static void *exit_op(void *self, void *const *args, ssize_t n)
{
	(void)self;
	(void)args;
	if (!takes(n, 2))
		return NULL;
	collect_launch_end();
	return none();
}

static void *enter_state(void *self, void *const *args, ssize_t n)
{
	_given_ g = {0};

	(void)self;
	if (!take(&g, "t", args, n))
		return NULL;
	collect_state(g.len ? g.text : "<state>", g.len ? g.len : strlen("<state>"));
	return none();
}

static void *exit_state(void *self, void *const *args, ssize_t n)
{
	(void)self;
	(void)args;
	if (!takes(n, 0))
		return NULL;
	collect_state(NULL, 0);
	return none();
}

static void *hide(void *self, void *const *args, ssize_t n)
{
	struct given g = {0};

	(void)self;
	if (!take(&g, "i", args, n))
		return NULL;
	collect_hide(g.id != 0);
	return none();
}

static void *context_depth(void *self, void *const *args, ssize_t n)
{
	(void)self;
	(void)args;
	return takes(n, 0) ? py.PyLong_FromLongLong(n_open) : NULL;
}

/* False: it is none, or there is no room for it. */
static bool put_text(uint32_t node, const char *name, void *value)
{
	_held_ held = NULL;
	void *type = py.PyObject_Type(value);
	union metric_value v = {0};
	const char *text;
	size_t len;

	py.Py_DecRef(type);
	if (!(py.PyType_GetFlags(type) & TYPE_IS_TEXT) || !(text = text_of(value, &len, &held)))
		return false;
	v.u64 = string_intern(text, len);
	if (v.u64 && v.u64 != WIRE_NONE)
		collect_metric_at(node, name, METRIC_TEXT, v);
	return true;
}

/* False: it is no number that a metric may have as it is. */
static bool number_of(void *value, enum metric_type *ret_type, union metric_value *ret,
		      bool *ret_is_float)
{
	void *type = py.PyObject_Type(value);
	int overflow;
	long long v;

	py.Py_DecRef(type); /* the value holds it */
	*ret_is_float = py.PyType_IsSubtype(type, py.float_type);
	if (*ret_is_float) {
		*ret_type = METRIC_F64;
		ret->f64 = py.PyFloat_AsDouble(value);
		return true;
	}
	if (!(py.PyType_GetFlags(type) & TYPE_IS_INT))
		return false;
	v = py.PyLong_AsLongLongAndOverflow(value, &overflow);
	*ret_type = v < 0 ? METRIC_F64 : METRIC_U64; /* metrics are as proton.h has them */
	if (v < 0)
		ret->f64 = (double)v;
	else
		ret->u64 = (uint64_t)v;
	return !overflow;
}

static void *put_metric(void *self, void *const *args, ssize_t n)
{
	_given_ g = {0};
	enum metric_type type;
	union metric_value v;
	uint32_t node;
	bool is_float;

	(void)self;
	if (!take(&g, "it-", args, n))
		return NULL;
	node = node_of(g.id);
	if (!number_of(args[2], &type, &v, &is_float))
		return py.PyBool_FromLong(
			put_text(node == NODE_IS_OP ? WIRE_NONE : node, g.text, args[2]));
	if (node != NODE_IS_OP && !type_fits(node, g.text, g.len, is_float)) {
		type_complain(g.text, is_float);
		return NULL;
	}
	if (type != METRIC_F64 || isfinite(v.f64))
		collect_metric_at(node == NODE_IS_OP ? WIRE_NONE : node, g.text, type, v);
	return py.PyBool_FromLong(true);
}

/* Numbers in a device's memory, of each time that the captured stream runs. */
static void *put_device(void *self, void *const *args, ssize_t n)
{
	_given_ g = {0};
	struct device_numbers d;
	long long v[4];
	uint32_t node;
	int overflow;

	(void)self;
	if (!take(&g, "it----", args, n))
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(v); i++)
		v[i] = py.PyLong_AsLongLongAndOverflow(args[2 + i], &overflow);
	if (py.PyErr_Occurred())
		return NULL;
	d = (struct device_numbers){(uint64_t)v[0], (int)v[1], (size_t)v[2],
				    (void *)(uintptr_t)v[3]};
	node = node_of(g.id);
	return py.PyBool_FromLong(
		collect_metric_device(node == NODE_IS_OP ? WIRE_NONE : node, g.text, &d) == 0);
}

/* May the thread give a number of this kind where it is? */
static void *fits_here(void *self, void *const *args, ssize_t n)
{
	_given_ g = {0};

	(void)self;
	if (!take(&g, "ti", args, n))
		return NULL;
	return py.PyBool_FromLong(!collect_on || thread_state()->launch.on ||
				  type_fits(node_here(), g.text, g.len, g.id != 0));
}

static void *scope_timed(void *self, void *const *args, ssize_t n)
{
	struct given g = {0};
	uint32_t node;

	(void)self;
	if (!take(&g, "i", args, n))
		return NULL;
	node = node_of(g.id);
	if (node != NODE_IS_OP)
		scope_timed_at(node);
	return none();
}

static void *is_automatic(void *self, void *const *args, ssize_t n)
{
	(void)self;
	(void)args;
	return takes(n, 0) ? py.PyBool_FromLong(collect_on && contexts_are_automatic()) : NULL;
}

/* stream, function, buffer, size. What is not there is 0 or None. */
static bool take_launch(struct scoped_launch *l, void *const *args, ssize_t n)
{
	uint64_t *to[] = {&l->stream, &l->function, &l->buffer, &l->size};

	if (!takes(n, ARRAY_SIZE(to)))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(to); i++)
		if (args[i] != py.none && !id_of(args[i], to[i]))
			return false;
	return true;
}

static void *enter_instrumented_op(void *self, void *const *args, ssize_t n)
{
	struct scoped_launch l = {0};

	(void)self;
	if (!take_launch(&l, args, n))
		return NULL;
	kernel_scopes_enter();
	return none();
}

enum { ROOM_MS = 10000, ROOM_LOOK_MS = 1 };

static bool make_room(void *ctx)
{
	proton_kernel_scopes_read(ROOM_LOOK_MS);
	return patience_ms(ctx) != 0;
}

/* The interpreter's lock is kept until the copy is in the stream, also while earlier ones are read: another thread's launch
 * would let go of the buffer. */
static void *exit_instrumented_op(void *self, void *const *args, ssize_t n)
{
	struct patience p = patience(ROOM_MS);
	struct scoped_launch l = {0};

	(void)self;
	if (!take_launch(&l, args, n))
		return NULL;
	kernel_scopes_leave(&l, make_room, &p);
	return none();
}

void *proton_seam_functions(void *encode)
{
	static struct method methods[] = {
#define _(function) {#function, function, METHOD_FASTCALL, NULL}
		_(record_scope),
		_(enter_scope),
		_(exit_scope),
		_(enter_op),
		_(exit_op),
		_(enter_state),
		_(exit_state),
		_(context_depth),
		_(put_metric),
		_(forget_types),
		_(leave_scopes),
		_(scope_open),
		_(scope_close),
		_(scope_push),
		_(scope_pop),
		_(is_automatic),
		_(scope_timed),
		_(call_whole),
		_(fits_here),
		_(hide),
		_(put_device),
		_(enter_instrumented_op),
		_(exit_instrumented_op),
#undef _
	};
	void *dict, *function;

	if (!find_functions() || !(dict = py.PyDict_New()))
		return NULL;
	py.Py_IncRef(encode);
	py.encode = encode;
	for (size_t i = 0; i < ARRAY_SIZE(methods); i++) {
		function = py.PyCFunction_NewEx(&methods[i], NULL, NULL);
		if (!function || py.PyDict_SetItemString(dict, methods[i].name, function) < 0)
			return NULL;
		py.Py_DecRef(function);
	}
	return dict;
}

void proton_seam_note(const char *text)
{
	if (collect_start(DOOR_API) == 0)
		collect_note(NOTE_WARNING, text);
}

void proton_seam_tell(const char *text)
{
	if (collect_start(DOOR_API) == 0)
		collect_note(NOTE_INFO, text);
}
