/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/python_check.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
#include "base/loaded.h"
#include "base/util.h"
#include "collect/contexts.h"
#include "collect/internal.h"
#include "collect/python_read.h"

enum { FIELDS_END = 256 }; /* bytes of a code object in which its fields are looked for */

/* ---- where is it? ---- */

static int find_library(const struct dl_phdr_info *info, const char *base, void *ret_name)
{
	unsigned minor;

	if (sscanf(base, "libpython3.%u", &minor) != 1) /* libpython3.so has nothing of its own */
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
		loaded_each("libpython3.", find_library, &name);
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
	py.runtime = dlsym(in, "_PyRuntime");
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

bool python_find(void)
{
	if (!find_functions(find_interpreter()))
		return false;
	py.version = py.Py_GetVersion();
	find_layout();
	return true;
}

/* ---- does it take calls? ---- */

/* CPython 3.8, before it runs its exit handlers, begins to refuse pending calls: by an exception that it prints, or
 * by a fault where the thread has let go of the lock. It does not tell, so it is read where it is; that this is the
 * place is known by its neighbour. */
static bool is_refusing_3_8(void)
{
	enum { CEVAL = 584, RECURSION_LIMIT = CEVAL, FINISHING = CEVAL + 16 };
	int limit, finishing;

	if (!py.runtime || !py.Py_GetRecursionLimit)
		return true;
	memcpy(&limit, py.runtime + RECURSION_LIMIT, sizeof(limit));
	memcpy(&finishing, py.runtime + FINISHING, sizeof(finishing));
	return limit != py.Py_GetRecursionLimit() || finishing;
}

bool python_takes_calls(void)
{
	return py.Py_IsInitialized() && !(py.layout && py.layout->minor == 8 && is_refusing_3_8());
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

	if (!wanted || python_pointer(code, at) != value)
		return false;
	end = python_put_string(text, sizeof(text), value);
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

static bool is_place(const struct python_place *place, void *frame)
{
	_object_ code = code_of(frame);
	_object_ file = get(code, "co_filename");
	_object_ name = get(code, name_attribute());

	return code == place->code && file && name &&
	       python_pointer(place->code, py.file) == file &&
	       python_pointer(place->code, py.name) == name &&
	       py.PyFrame_GetLineNumber(frame) == py.PyCode_Addr2Line(code, place->at);
}

static bool has_string(const char *code, unsigned field)
{
	char *string, head[64];

	return peek(code + field, &string, sizeof(string)) && peek(string, head, sizeof(head));
}

/* How many frames are there, PYTHON_PLACES_MAX at most, where each word may not be; -1: one is not. */
static int count_frames(const char *state)
{
	const struct python_layout *l = py.layout;
	const char *frame, *code;
	char head[128];
	int n = 0;

	if (!peek(state + l->state_frame, &frame, sizeof(frame)) ||
	    (frame && l->held_frame >= 0 && !peek(frame + l->held_frame, &frame, sizeof(frame))))
		return -1;
	for (; frame && n < PYTHON_PLACES_MAX; n++) {
		if (!peek(frame, head, sizeof(head)))
			return -1;
		code = python_is_interpreters(head) ? NULL : python_held(head, l->code);
		if (code && (!has_string(code, py.name) || !has_string(code, py.file)))
			return -1;
		frame = python_back(head);
	}
	return n;
}

/* So many frames, from the innermost to the outermost: all of a stack, or its inner part. */
static bool is_sound(const char *state, unsigned n_frames, void *frame)
{
	static struct python_place places[PYTHON_PLACES_MAX]; /* the main thread's */
	unsigned n = python_walk(python_innermost(state), n_frames, places), i = 0;
	void *held = NULL;

	while (frame && i < n && is_place(&places[i], frame)) {
		frame = caller_of(frame);
		drop(&held);
		held = frame;
		i++;
	}
	drop(&held);
	return i == n && n && (!frame || n_frames == PYTHON_PLACES_MAX);
}

static void (*code_dealloc)(void *code);

/* Instead of the interpreter's own, with its lock. */
static void code_gone(void *code)
{
	python_gone(code);
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

void python_refuse(const char *why)
{
	char text[256];

	snprintf(text, sizeof(text), "Python %.*s: %s: calling contexts of Python are left out",
		 (int)strcspn(py.version, " "), py.version, why);
	atomic_store(&py.state, PY_UNSOUND);
	contexts_set(CONTEXT_PYTHON, false);
	collect_note(NOTE_WARNING, text);
}

/* By the main thread, with the interpreter's lock, between two instructions. */
int python_calibrate(void *arg)
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
		python_refuse("frames are not where they are known to be");
	errno = saved;
	return 0;
}
