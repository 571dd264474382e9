/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/python.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
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
	PLACES_MAX = 256, /* frames that are looked at, from the innermost on */
	NAMES_MAX = 1024, /* names that a thread remembers */
	TEXT_MAX = 1024,  /* bytes of a name */
	HASH_MAX = 18,    /* … of what stands for the rest of a longer one */
	FIELDS_END = 256, /* bytes of a code object in which its fields are looked for */
	GONE_N = 1 << 14, /* counters of code objects that went */
};

/* What a frame executes. A code object that is gone leaves its address to another one, which may say the
 * same of itself but for its lines: how many went from addresses like this one tells the two apart. */
struct place {
	const char *code;
	uint32_t n_gone;
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

/* The interpreter's functions. Those of the first three lines need no lock. What raises audit events
 * (frame.f_code) is not asked where there is something that does not. */
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
	_(int, PyFrame_GetLineNumber, (void *frame))                                               \
	_(void *, PyCode_NewEmpty, (const char *file, const char *function, int line))             \
	_(void, PyErr_Clear, (void))

/* … that not each version has. */
#define SOME_FUNCTIONS(_)                                                                          \
	_(void *, PyFrame_GetCode, (void *frame))                                                  \
	_(void *, PyFrame_GetBack, (void *frame))                                                  \
	_(int, _Py_IsFinalizing, (void))                                                           \
	_(int, Py_IsFinalizing, (void))

static struct {
#define _(type, name, arguments) type(*name) arguments;
	FUNCTIONS(_)
	SOME_FUNCTIONS(_)
#undef _
	const void *none;
	char *code_type;
	const char *version;
	const struct python_layout *layout;
	unsigned file, name; /* offsets in a code object */
	_Atomic unsigned state;
	_Atomic uint64_t n_early; /* launches before it is known whether frames can be read */
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

static _Atomic uint32_t *gone_at(const void *code)
{
	static _Atomic uint32_t gone[GONE_N];

	return &gone[hash_u64((uintptr_t)code) % GONE_N];
}

static uint32_t n_gone_at(const void *code)
{
	return atomic_load_explicit(gone_at(code), memory_order_relaxed);
}

static const char *back_of(const char *frame)
{
	return pointer_at(frame, py.layout->back);
}

/* Of so many frames from this one on; the innermost place first. */
static unsigned walk(const char *frame, unsigned n_frames, struct place places[PLACES_MAX])
{
	unsigned n = 0;

	for (; n_frames--; frame = back_of(frame)) {
		const char *code =
			is_interpreters(frame) ? NULL : pointer_at(frame, py.layout->code);

		if (code)
			places[n++] =
				(struct place){code, n_gone_at(code), instruction_of(frame, code)};
	}
	return n;
}

/* Of a stack that is too deep the outer part, and that is counted. */
static unsigned walk_all(const char *state, struct place places[PLACES_MAX])
{
	const char *frame = innermost(state), *f;
	unsigned n_frames = 0;

	for (f = frame; f; f = back_of(f))
		n_frames++;
	if (_unlikely_(n_frames > PLACES_MAX))
		lose(LOSS_TOO_DEEP, 1);
	for (; n_frames > PLACES_MAX; n_frames--)
		frame = back_of(frame);
	return walk(frame, n_frames, places);
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

/* Those of a str of a class of the program's are elsewhere. */
static const char *characters(const char *string, uint32_t state)
{
	if (!(state & PYTHON_STATE_COMPACT))
		return pointer_at(string, py.layout->text[1]);
	return string + py.layout->text[!(state & PYTHON_STATE_ASCII)];
}

/* A string's characters, as far as there is room; behind a part of it what the whole of it hashes to, as
 * behind each long name, since files are not to become one. */
static char *put_string(char *p, const char *end, const char *string)
{
	uint32_t state, bytes;
	const char *text;
	size_t n, i;

	memcpy(&state, string + PYTHON_STRING_STATE, sizeof(state));
	memcpy(&n, string + PYTHON_STRING_LENGTH, sizeof(n));
	bytes = PYTHON_STATE_KIND(state);
	if (bytes != 1 && bytes != 2 && bytes != 4)
		return p;
	text = characters(string, state);
	for (i = 0; i < n && p + 4 + HASH_MAX < end; i++) {
		uint32_t c = 0;

		memcpy(&c, text + i * bytes, bytes); /* little-endian */
		p = put_utf8(p, end, c);
	}
	if (i < n)
		p += snprintf(p, HASH_MAX, "#%016" PRIx64, hash_bytes(text, n * bytes));
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
	return a->code == b->code && a->at == b->at && a->n_gone == b->n_gone;
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

static bool peek_file(const char *p, void *out, size_t size)
{
	int fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	bool got = fd >= 0 && pread(fd, out, size, (off_t)(uintptr_t)p) == (ssize_t)size;

	if (fd >= 0)
		close(fd);
	return got;
}

/* A word of memory that may not be there. Containers may forbid the call. */
static bool peek(const char *p, void *out, size_t size)
{
	struct iovec to = {out, size}, from = {(void *)p, size};
	ssize_t n = process_vm_readv(getpid(), &to, 1, &from, 1, 0);

	if (n < 0 && (errno == EPERM || errno == ENOSYS))
		return peek_file(p, out, size);
	return n == (ssize_t)size;
}

/* Where a code object keeps the attribute's value: the last such place, since a qualified name stands behind
 * the name, and may be the same. 0: nowhere. */
static unsigned find_field(const char *code, size_t size, const char *attribute)
{
	_object_ value = get((void *)code, attribute);
	unsigned at = 0;
	char *v;

	for (unsigned i = 16; value && i + sizeof(v) <= size; i += sizeof(v))
		if (peek(code + i, &v, sizeof(v)) && v == value)
			at = i;
	return at;
}

static const char *name_attribute(void)
{
	return py.layout->minor >= 11 ? "co_qualname" : "co_name";
}

/* Is the attribute, a string, where it was found, and read as the interpreter reads it? */
static bool is_read(const char *code, unsigned at, const char *attribute)
{
	_object_ value = get((void *)code, attribute);
	const char *wanted = value ? py.PyUnicode_AsUTF8(value) : NULL;
	char text[64], *end;

	if (!wanted || pointer_at(code, at) != value)
		return false;
	end = put_string(text, text + sizeof(text), value);
	return (size_t)(end - text) == strlen(wanted) && !memcmp(text, wanted, strlen(wanted));
}

/* In a code object of which nothing is alike, and no further than it goes: what lies behind it may be
 * another one, of the same file. */
static bool find_fields(void)
{
	_object_ code = py.PyCode_NewEmpty("proton's file", "a f\xc3\xbcnction", 1);
	size_t size;

	if (!code || !peek(py.code_type + PYTHON_TYPE_SIZE, &size, sizeof(size)))
		return false;
	size = MIN(size, (size_t)FIELDS_END);
	py.file = find_field(code, size, "co_filename");
	py.name = find_field(code, size, name_attribute());
	return py.file && py.name && is_read(code, py.file, "co_filename") &&
	       is_read(code, py.name, name_attribute());
}

static void *code_of(void *frame)
{
	return py.PyFrame_GetCode ? py.PyFrame_GetCode(frame) : get(frame, "f_code");
}

/* NULL: it is the outermost. */
static void *caller_of(void *frame)
{
	void *back = py.PyFrame_GetBack ? py.PyFrame_GetBack(frame) : get(frame, "f_back");

	if (back != py.none)
		return back;
	drop(&back);
	return NULL;
}

static bool is_place(const struct place *place, void *frame)
{
	_object_ code = code_of(frame);
	_object_ file = get(code, "co_filename");
	_object_ name = get(code, name_attribute());

	return code == place->code && file && name && pointer_at(place->code, py.file) == file &&
	       pointer_at(place->code, py.name) == name &&
	       py.PyFrame_GetLineNumber(frame) == py.PyCode_Addr2Line(code, place->at);
}

static bool has_string(const char *code, unsigned field)
{
	char *string, head[64];

	return peek(code + field, &string, sizeof(string)) && peek(string, head, sizeof(head));
}

/* How many frames are there, PLACES_MAX at most, where each word may not be; -1: one is not. */
static int count_frames(const char *state)
{
	const struct python_layout *l = py.layout;
	const char *frame, *code;
	char head[128];
	int n = 0;

	if (!peek(state + l->state_frame, &frame, sizeof(frame)) ||
	    (frame && l->held_frame >= 0 && !peek(frame + l->held_frame, &frame, sizeof(frame))))
		return -1;
	for (; frame && n < PLACES_MAX; n++) {
		if (!peek(frame, head, sizeof(head)))
			return -1;
		code = is_interpreters(head) ? NULL : pointer_at(head, l->code);
		if (code && (!has_string(code, py.name) || !has_string(code, py.file)))
			return -1;
		frame = back_of(head);
	}
	return n;
}

/* So many frames, from the innermost to the outermost: all of a stack, or its inner part. */
static bool is_sound(const char *state, unsigned n_frames, void *frame)
{
	static struct place places[PLACES_MAX]; /* the main thread's */
	unsigned n = walk(innermost(state), n_frames, places), i = 0;
	void *held = NULL;

	while (frame && i < n && is_place(&places[i], frame)) {
		frame = caller_of(frame);
		drop(&held);
		held = frame;
		i++;
	}
	drop(&held);
	return i == n && n && (!frame || n_frames == PLACES_MAX);
}

static void (*code_dealloc)(void *code);

/* Instead of the interpreter's own, with its lock. */
static void code_gone(void *code)
{
	atomic_fetch_add_explicit(gone_at(code), 1, memory_order_relaxed);
	code_dealloc(code);
}

/* From now on each code object that goes is counted. Only in what is surely the type of code objects. */
static bool watch_code(void)
{
	void (*dealloc)(void *), (*ours)(void *) = code_gone;
	const char *name;
	char text[5];

	if (!peek(py.code_type + PYTHON_TYPE_NAME, &name, sizeof(name)) ||
	    !peek(name, text, sizeof(text)) || memcmp(text, "code", sizeof(text)) ||
	    !peek(py.code_type + PYTHON_TYPE_DEALLOC, &dealloc, sizeof(dealloc)) || !dealloc)
		return false;
	if (dealloc != code_gone) {
		code_dealloc = dealloc;
		memcpy(py.code_type + PYTHON_TYPE_DEALLOC, &ours, sizeof(ours));
	}
	return true;
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
	int saved = errno, n;

	(void)arg;
	if (atomic_load(&py.state) != PY_ASKED)
		return 0;
	if (!state || !frame) { /* it executes nothing */
		atomic_store(&py.state, PY_UNKNOWN);
		return 0;
	}
	n = find_fields() ? count_frames(state) : -1;
	if (n > 0 && is_sound(state, (unsigned)n, frame) && watch_code())
		atomic_store(&py.state, PY_SOUND);
	else
		refuse("frames are not where they are known to be");
	errno = saved;
	return 0;
}

static bool is_known_sound(void)
{
	unsigned state = atomic_load_explicit(&py.state, memory_order_acquire),
		 unknown = PY_UNKNOWN;

	if (_likely_(state == PY_SOUND))
		return true;
	if (state == PY_ASKED && !py.Py_IsInitialized()) /* it ended with what it was asked */
		atomic_compare_exchange_strong(&py.state, &state, PY_UNKNOWN);
	if (state == PY_UNKNOWN && py.Py_IsInitialized() &&
	    atomic_compare_exchange_strong(&py.state, &unknown, PY_ASKED) &&
	    py.Py_AddPendingCall(calibrate, NULL) < 0)
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

static int find_library(struct dl_phdr_info *info, size_t size, void *ret_name)
{
	const char *base = strrchr(info->dlpi_name, '/');
	unsigned minor;

	(void)size;
	if (!base || sscanf(base, "/libpython3.%u", &minor) != 1)
		return 0;
	*(const char **)ret_name = info->dlpi_name;
	return 1;
}

/* What has the interpreter's functions: the program, or a library that it may have loaded for itself. It
 * stays, with what was found in it. */
static void *find_interpreter(void)
{
	const char *name = NULL;
	Dl_info info;
	void *version = dlsym(RTLD_DEFAULT, "Py_GetVersion");

	if (!version)
		dl_iterate_phdr(find_library, &name);
	else if (dladdr(version, &info) && info.dli_fname && strstr(info.dli_fname, "libpython"))
		name = info.dli_fname;
	else
		return RTLD_DEFAULT;
	return name ? dlopen(name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE) : RTLD_DEFAULT;
}

static bool find_functions(void *in)
{
	bool found = true;
	void *v;

#define _(type, function, arguments)                                                               \
	v = dlsym(in, #function);                                                                  \
	memcpy(&py.function, &v, sizeof(v));                                                       \
	found = found && v;
	FUNCTIONS(_)
#undef _
#define _(type, function, arguments)                                                               \
	v = dlsym(in, #function);                                                                  \
	memcpy(&py.function, &v, sizeof(v));
	SOME_FUNCTIONS(_)
#undef _
	py.none = dlsym(in, "_Py_NoneStruct");
	py.code_type = dlsym(in, "PyCode_Type");
	return found && py.none && py.code_type;
}

static void find_layout(void)
{
	unsigned major = 0, minor = 0;

	sscanf(py.version, "%u.%u", &major, &minor);
	for (size_t i = 0; major == 3 && i < ARRAY_SIZE(python_layouts); i++)
		if (python_layouts[i].minor == minor)
			py.layout = &python_layouts[i];
}

static bool is_wanted(void)
{
#if defined(__x86_64__) || defined(__aarch64__)
	return collector->control->features & CONTROL_PYTHON;
#else
	return false;
#endif
}

static bool find_python(void)
{
	if (!find_functions(find_interpreter()))
		return false;
	py.version = py.Py_GetVersion();
	return true;
}

void python_look(void)
{
	if (!is_wanted() || !find_python())
		return;
	if (strstr(py.version, "free-threading"))
		refuse("it has no interpreter lock");
	else if (find_layout(), !py.layout)
		refuse("this version is not known");
	else
		python_on = true;
	if (!python_on)
		return;
	is_known_sound(); /* asked now, it is known at the first launch as a rule */
	backends_attribute();
}

static uint64_t launches(void)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < atomic_load(&collector->n_threads); i++)
		n += atomic_load_explicit(&collector->thread[i].n_launches, memory_order_relaxed);
	return n;
}

/* A main thread that waits for others executes nothing: more than the first few launches are said. */
static void note_early(void)
{
	uint64_t n = atomic_exchange(&py.n_early, 0);
	char text[256];

	if (!python_on || n * 100 <= launches())
		return;
	snprintf(text, sizeof(text),
		 "%" PRIu64
		 " launches have no calling context of Python: they came before the main "
		 "thread, which may have waited for others, executed anything",
		 n);
	collect_note(NOTE_WARNING, text);
}

void python_end(void)
{
	if (is_wanted() && !py.version && find_python())
		refuse("it was loaded after the first work for the GPU");
	note_early();
}

uint32_t python_node(struct thread_state *t, uint32_t node)
{
	struct place places[PLACES_MAX];
	const char *state;
	struct python_stack *s;
	unsigned n;

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
	n = state ? walk_all(state, places) : 0;
	return n ? remember(s, places, n, node) : node;
}
