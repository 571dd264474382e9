/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/python.h"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
#include "backends/pages.h"
#include "base/hash.h"
#include "base/util.h"
#include "collect/internal.h"
#include "collect/python_abi.h"
#include "wire/wire.h"

enum {
	PLACES_MAX = 256,  /* frames that are looked at, from the innermost on */
	NAMES_MAX = 1024,  /* names that a thread remembers */
	TEXT_MAX = 1024,   /* bytes of a name */
	FIELDS_END = 256,  /* bytes of a code object in which its fields are looked for */
	CALIBRATE_MAX = 8, /* tries */
};

/* What a frame executes. A code object that is gone leaves its address to another one, and so do the
 * strings that it names: the print, of what these say, tells the two apart. */
struct place {
	const char *code;
	uint64_t print;
	int32_t at; /* bytes from its first instruction */
};

/* A place, and its frame in the tree of calling contexts; WIRE_NONE: it is a library's. */
struct known {
	struct place place;
	uint32_t frame;
	bool is_library;
};

/* What a thread remembers. */
struct python_stack {
	uint32_t below, n;               /* the node that it hangs under; places */
	struct place places[PLACES_MAX]; /* outermost first */
	uint32_t nodes[PLACES_MAX];
	bool with_libraries;
	struct known known[NAMES_MAX];
};

/* The interpreter's functions. Those of the first part need no lock. */
#define FUNCTIONS(_)                                                                               \
	_(void *, PyGILState_GetThisThreadState, (void))                                           \
	_(int, PyCode_Addr2Line, (void *code, int at))                                             \
	_(const char *, Py_GetVersion, (void))                                                     \
	_(int, Py_IsInitialized, (void))                                                           \
	_(int, Py_AddPendingCall, (int (*call)(void *), void *arg))                                \
	_(void *, PyEval_GetFrame, (void))                                                         \
	_(void *, PyObject_GetAttrString, (void *of, const char *name))                            \
	_(void, Py_DecRef, (void *object))                                                         \
	_(const char *, PyUnicode_AsUTF8, (void *text))                                            \
	_(long, PyLong_AsLong, (void *number))                                                     \
	_(void *, PyCode_NewEmpty, (const char *file, const char *function, int line))             \
	_(void, PyErr_Clear, (void))

static struct {
#define _(type, name, arguments) type(*name) arguments;
	FUNCTIONS(_)
#undef _
	const void *none;
	const char *version;
	const struct python_layout *layout;
	unsigned file, name, line; /* offsets in a code object; its first line */
	_Atomic unsigned state;
	unsigned n_tries;
} py;

enum { PY_UNKNOWN, PY_ASKED, PY_SOUND, PY_UNSOUND };

bool python_on;

/* ---- reading ---- */

static const char *pointer_at(const char *p, unsigned offset)
{
	const char *v;

	memcpy(&v, p + offset, sizeof(v));
	return v;
}

static int32_t instruction_of(const char *frame, const char *code)
{
	const struct python_layout *l = py.layout;
	int32_t index;

	if (!l->index_bytes)
		return (int32_t)(pointer_at(frame, l->instruction) - (code + l->instructions));
	memcpy(&index, frame + l->instruction, sizeof(index));
	return index * l->index_bytes;
}

static const char *innermost(const char *state)
{
	const char *frame = pointer_at(state, py.layout->state_frame);

	return frame && py.layout->held_frame >= 0
		       ? pointer_at(frame, (unsigned)py.layout->held_frame)
		       : frame;
}

static bool is_interpreters(const char *frame)
{
	return py.layout->owner && frame[py.layout->owner] == PYTHON_OWNER_C_STACK;
}

/* A word of the text of a string, and of another length another one: its first and last bytes. Texts of
 * one length that are alike there are rare enough among those that share an address. */
static uint64_t string_print(const char *string)
{
	uint32_t state;
	uint64_t n, first = 0, last = 0;
	const char *text;

	memcpy(&state, string + PYTHON_STRING_STATE, sizeof(state));
	memcpy(&n, string + PYTHON_STRING_LENGTH, sizeof(n));
	text = string + py.layout->text[!(state & PYTHON_STATE_ASCII)];
	n *= PYTHON_STATE_KIND(state);
	memcpy(&first, text, MIN(n, sizeof(first)));
	if (n > sizeof(last))
		memcpy(&last, text + n - sizeof(last), sizeof(last));
	return (first * UINT64_C(0x9e3779b97f4a7c15)) ^ (last + n) * UINT64_C(0xc2b2ae3d27d4eb4f);
}

static uint64_t print_of(const char *code)
{
	int32_t line;

	memcpy(&line, code + py.line, sizeof(line));
	return string_print(pointer_at(code, py.name)) ^
	       string_print(pointer_at(code, py.file)) * 31 ^ (uint64_t)(uint32_t)line << 32;
}

static const char *back_of(const char *frame)
{
	return pointer_at(frame, py.layout->back);
}

/* Innermost first; of a stack that is too deep the outer part, and that is counted. */
static unsigned walk(const char *state, struct place places[PLACES_MAX])
{
	const char *frame = innermost(state), *f;
	unsigned n = 0, n_frames = 0;

	for (f = frame; f; f = back_of(f))
		n_frames++;
	if (_unlikely_(n_frames > PLACES_MAX))
		lose(LOSS_TOO_DEEP, 1);
	for (; n_frames > PLACES_MAX; n_frames--)
		frame = back_of(frame);
	for (; frame; frame = back_of(frame)) {
		const char *code =
			is_interpreters(frame) ? NULL : pointer_at(frame, py.layout->code);

		if (code)
			places[n++] =
				(struct place){code, print_of(code), instruction_of(frame, code)};
	}
	return n;
}

static char *put_utf8(char *p, const char *end, uint32_t c)
{
	unsigned n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	if (p + n >= end)
		return p;
	if (n == 1) {
		*p = (char)c;
		return p + 1;
	}
	for (unsigned i = n; i-- > 1; c >>= 6)
		p[i] = (char)(0x80 | (c & 0x3f));
	*p = (char)(0xf00 >> n | c);
	return p + n;
}

/* A string's characters, as far as there is room. */
static char *put_string(char *p, const char *end, const char *string)
{
	uint32_t state, bytes;
	const char *text;
	size_t n;

	memcpy(&state, string + PYTHON_STRING_STATE, sizeof(state));
	memcpy(&n, string + PYTHON_STRING_LENGTH, sizeof(n));
	bytes = PYTHON_STATE_KIND(state);
	if (!(state & PYTHON_STATE_COMPACT) || (bytes != 1 && bytes != 2 && bytes != 4))
		return p;
	text = string + py.layout->text[!(state & PYTHON_STATE_ASCII)];
	for (size_t i = 0; i < n && p + 4 < end; i++) {
		uint32_t c = 0;

		memcpy(&c, text + i * bytes, bytes); /* little-endian */
		p = put_utf8(p, end, c);
	}
	return p;
}

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

/* "/home/me/train.py:42@Model.forward", as Triton's Proton has it. */
static uint32_t name_place(const struct place *place, bool *ret_is_library)
{
	char text[TEXT_MAX], *p = text;
	const char *end = text + sizeof(text);

	p = put_string(p, end - 256, pointer_at(place->code, py.file));
	*ret_is_library = is_library(text, p);
	p += snprintf(p, (size_t)(end - p), ":%d@",
		      py.PyCode_Addr2Line((void *)place->code, place->at));
	p = put_string(p, end, pointer_at(place->code, py.name));
	return frame_intern(FRAME_PYTHON, string_intern(text, (size_t)(p - text)));
}

static bool is_same(const struct place *a, const struct place *b)
{
	return a->code == b->code && a->at == b->at && a->print == b->print;
}

static const struct known *know(struct python_stack *s, const struct place *place)
{
	uint64_t hash = hash_u64((uintptr_t)place->code ^ (uint64_t)(uint32_t)place->at << 44);
	struct known *k = &s->known[hash % NAMES_MAX];

	if (!k->place.code || !is_same(&k->place, place)) {
		k->frame = name_place(place, &k->is_library);
		k->place = *place;
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

static bool any_own(struct python_stack *s, const struct place *places, unsigned n)
{
	while (n > 0 && know(s, &places[n - 1])->is_library)
		n--;
	return n > 0;
}

/* How many places, from the outermost on, are those of the last time. */
static unsigned common(const struct python_stack *s, const struct place *inner_first, unsigned n)
{
	unsigned i = 0;

	while (i < n && i < s->n && is_same(&s->places[i], &inner_first[n - 1 - i]))
		i++;
	return i;
}

static uint32_t remember(struct python_stack *s, const struct place *inner_first, unsigned n,
			 uint32_t below)
{
	unsigned same = s->below == below ? common(s, inner_first, n) : 0;

	if (same == n && n == s->n)
		return s->nodes[n - 1];
	/* Whether libraries are shown depends on all of them. */
	if (s->with_libraries == any_own(s, inner_first, n)) {
		s->with_libraries = !s->with_libraries;
		same = 0;
	}
	for (unsigned i = same; i < n; i++) {
		const struct place *place = &inner_first[n - 1 - i];
		const struct known *k = know(s, place);
		uint32_t parent = i ? s->nodes[i - 1] : below;

		s->places[i] = *place;
		s->nodes[i] = k->is_library && !s->with_libraries ? parent
								  : node_intern(parent, k->frame);
	}
	s->below = below;
	s->n = n;
	return s->nodes[n - 1];
}

/* ---- is it sound? ---- */

/* An attribute of a Python object, or NULL. */
static void *get(void *object, const char *name)
{
	void *value = object ? py.PyObject_GetAttrString(object, name) : NULL;

	if (!value)
		py.PyErr_Clear();
	return value;
}

static void drop(void **object)
{
	if (*object)
		py.Py_DecRef(*object);
}
#define _object_ _cleanup_(drop) void *

/* A word of memory that may not be there. */
static bool peek(const char *p, void *out, size_t size)
{
	struct iovec to = {out, size}, from = {(void *)p, size};

	return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)size;
}

#define FIRST_LINE 0x5eed1ce

/* Where a code object keeps its first line: of one made for that. 0: nowhere. */
static unsigned find_line(void)
{
	_object_ code = py.PyCode_NewEmpty("proton", "proton", FIRST_LINE);
	int32_t v;

	for (unsigned i = 16; code && i < FIELDS_END; i += sizeof(v))
		if (peek((char *)code + i, &v, sizeof(v)) && v == FIRST_LINE)
			return i;
	return 0;
}

/* Where a code object keeps the attribute's value: the last such place. 0: nowhere. */
static unsigned find_field(const char *code, const char *attribute)
{
	_object_ value = get((void *)code, attribute);
	unsigned at = 0;
	char *v;

	for (unsigned i = 16; value && i < FIELDS_END; i += sizeof(v))
		if (peek(code + i, &v, sizeof(v)) && v == value)
			at = i;
	return at;
}

static bool find_fields(void *frame)
{
	_object_ code = get(frame, "f_code");

	if (!code)
		return false;
	py.file = find_field(code, "co_filename");
	py.name = find_field(code, py.layout->minor >= 11 ? "co_qualname" : "co_name");
	py.line = find_line();
	return py.file && py.name && py.line;
}

/* Is a string read as the interpreter reads it? */
static bool is_read(const char *string, void *value)
{
	const char *wanted = py.PyUnicode_AsUTF8(value);
	char text[TEXT_MAX], *end;

	if (!wanted)
		py.PyErr_Clear();
	if (!wanted || string != value || strlen(wanted) >= sizeof(text) - 8)
		return false;
	end = put_string(text, text + sizeof(text), string);
	return (size_t)(end - text) == strlen(wanted) && !memcmp(text, wanted, strlen(wanted));
}

static bool is_place(const struct place *place, void *frame)
{
	_object_ code = get(frame, "f_code");
	_object_ line = get(frame, "f_lineno");
	_object_ file = get(code, "co_filename");
	_object_ name = get(code, py.layout->minor >= 11 ? "co_qualname" : "co_name");

	return code == place->code && line && file && name &&
	       py.PyLong_AsLong(line) == py.PyCode_Addr2Line(code, place->at) &&
	       is_read(pointer_at(place->code, py.file), file) &&
	       is_read(pointer_at(place->code, py.name), name);
}

static bool has_string(const char *code, unsigned field)
{
	char *string, head[64];

	return peek(code + field, &string, sizeof(string)) && peek(string, head, sizeof(head));
}

/* How many frames walk() would pass, where each word may not be there; -1: one is not. */
static int count_frames(const char *state)
{
	const struct python_layout *l = py.layout;
	const char *frame, *code;
	char head[128];
	int n = 0;

	if (!peek(state + l->state_frame, &frame, sizeof(frame)) ||
	    (frame && l->held_frame >= 0 && !peek(frame + l->held_frame, &frame, sizeof(frame))))
		return -1;
	for (; frame && n <= PLACES_MAX; n++) {
		if (!peek(frame, head, sizeof(head)))
			return -1;
		code = is_interpreters(head) ? NULL : pointer_at(head, l->code);
		if (code && (!has_string(code, py.name) || !has_string(code, py.file)))
			return -1;
		frame = back_of(head);
	}
	return n;
}

/* Frame by frame, from the innermost to the outermost. */
static bool is_sound(const char *state, void *innermost)
{
	static struct place places[PLACES_MAX]; /* the main thread's */
	void *frame = innermost, *back;
	unsigned n, i = 0;
	bool same;

	n = walk(state, places);
	do {
		same = i < n && is_place(&places[i++], frame);
		back = get(frame, "f_back");
		if (frame != innermost)
			py.Py_DecRef(frame);
		frame = back;
	} while (same && frame && frame != py.none);
	drop(&frame);
	return same && i == n;
}

static void refuse(const char *why)
{
	char text[256];

	snprintf(text, sizeof(text), "Python %.*s: %s: calling contexts of Python are left out",
		 (int)strcspn(py.version, " "), py.version, why);
	atomic_store(&py.state, PY_UNSOUND);
	python_on = false;
	collect_note(NOTE_WARNING, text);
}

/* By the main thread, with the interpreter's lock, between two instructions. */
static int calibrate(void *arg)
{
	const char *state = py.PyGILState_GetThisThreadState();
	void *frame = py.PyEval_GetFrame();
	int n = 0;

	(void)arg;
	if (state && frame)
		n = find_fields(frame) ? count_frames(state) : -1;
	if (n > 0 && n <= PLACES_MAX)
		n = is_sound(state, frame) ? n : -1;
	if (n < 0 || ((n == 0 || n > PLACES_MAX) && ++py.n_tries == CALIBRATE_MAX))
		refuse("frames are not where they are known to be");
	else
		atomic_store(&py.state, n > 0 && n <= PLACES_MAX ? PY_SOUND : PY_UNKNOWN);
	return 0;
}

static bool is_known_sound(void)
{
	unsigned state = atomic_load_explicit(&py.state, memory_order_acquire),
		 unknown = PY_UNKNOWN;

	if (_likely_(state == PY_SOUND))
		return true;
	if (state == PY_UNKNOWN && py.Py_IsInitialized() &&
	    atomic_compare_exchange_strong(&py.state, &unknown, PY_ASKED) &&
	    py.Py_AddPendingCall(calibrate, NULL) < 0)
		atomic_store(&py.state, PY_UNKNOWN); /* too many wait */
	return false;
}

/* ---- for the collector ---- */

static bool find_functions(void)
{
	void *v;

#define _(type, function, arguments)                                                               \
	v = dlsym(RTLD_DEFAULT, #function);                                                        \
	if (!v)                                                                                    \
		return false;                                                                      \
	memcpy(&py.function, &v, sizeof(v));
	FUNCTIONS(_)
#undef _
	py.none = dlsym(RTLD_DEFAULT, "_Py_NoneStruct");
	return py.none != NULL;
}

static void find_layout(void)
{
	unsigned major = 0, minor = 0;

	sscanf(py.version, "%u.%u", &major, &minor);
	for (size_t i = 0; major == 3 && i < ARRAY_SIZE(python_layouts); i++)
		if (python_layouts[i].minor == minor)
			py.layout = &python_layouts[i];
}

void python_look(void)
{
#if !defined(__x86_64__) && !defined(__aarch64__)
	return;
#endif
	if (!(collector->control->features & CONTROL_PYTHON) || !find_functions())
		return;
	py.version = py.Py_GetVersion();
	if (strstr(py.version, "free-threading"))
		refuse("it has no interpreter lock");
	else if (find_layout(), !py.layout)
		refuse("this version is not known");
	else
		python_on = true;
	if (python_on)
		backends_attribute();
}

uint32_t python_node(struct thread_state *t, uint32_t node)
{
	struct place places[PLACES_MAX];
	const char *state;
	struct python_stack *s;
	unsigned n;

	if (!is_known_sound() || t != thread_self || !(s = stack_of(t)))
		return node;
	state = py.PyGILState_GetThisThreadState();
	n = state ? walk(state, places) : 0;
	return n ? remember(s, places, n, node) : node;
}
