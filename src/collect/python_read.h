/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_PYTHON_READ_H
#define PROTON_COLLECT_PYTHON_READ_H
/* A thread's own frames of Python, and the strings that they name, read where they lie: without the
 * interpreter's lock, and without a call into it. Once python_check.h knows that they are there. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#include "collect/python_abi.h"

enum {
	PYTHON_PLACES_MAX = 256, /* frames that are looked at */
	PYTHON_HASH_MAX = 18,    /* bytes of what stands for the rest of a longer name */
};

/* What a frame executes. A code object that is gone leaves its address to another one, which may say the
 * same of itself but for its lines: how many went from addresses like this one tells the two apart. */
struct python_place {
	const char *code;
	const char *self; /* the module that it calls; NULL: it calls none */
	uint32_t n_gone;
	int32_t at; /* bytes from its first instruction */
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
	_(int, Py_IsFinalizing, (void))                                                            \
	_(int, PyDict_Next, (void *dict, ssize_t *at, void **key, void **value))                   \
	_(ssize_t, PyDict_Size, (void *dict))                                                      \
	_(int, Py_GetRecursionLimit, (void))                                                       \
	_(void *, PyObject_GenericGetAttr, (void *of, void *name))                                 \
	_(void *, PyUnicode_FromString, (const char *text))

struct python_api {
#define _(type, name, arguments) type(*name) arguments;
	FUNCTIONS(_)
	SOME_FUNCTIONS(_)
#undef _
	const void *none;
	const char *runtime; /* _PyRuntime */
	char *code_type;
	const char *version;
	const struct python_layout *layout;
	unsigned file, name;               /* offsets in a code object */
	_Atomic(const char *) module_code; /* calls modules of PyTorch */
	_Atomic uint32_t n_gone;           /* code objects that went, of all addresses */
	_Atomic unsigned state;
	_Atomic uint64_t n_early; /* launches before it is known whether frames can be read */
};
extern struct python_api py __attribute__((visibility("hidden")));

static inline const char *python_pointer(const char *p, unsigned offset)
{
	const char *v;

	memcpy(&v, p + offset, sizeof(v));
	return v;
}

static inline const char *python_untagged(const char *reference, unsigned tags)
{
	return (const char *)((uintptr_t)reference & ~(uintptr_t)tags);
}

/* A reference that a frame holds. */
static inline const char *python_held(const char *frame, unsigned offset)
{
	return python_untagged(python_pointer(frame, offset), py.layout->tags);
}

static inline const char *python_innermost(const char *state)
{
	const char *frame = python_pointer(state, py.layout->state_frame);

	return frame && py.layout->held_frame >= 0
		       ? python_pointer(frame, (unsigned)py.layout->held_frame)
		       : frame;
}

static inline bool python_is_interpreters(const char *frame)
{
	return py.layout->owner && frame[py.layout->owner] >= PYTHON_OWNER_INTERPRETER;
}

static inline const char *python_back(const char *frame)
{
	return python_pointer(frame, py.layout->back);
}

/* Who sees a code object go says so: counted for addresses like its. */
void python_gone(const void *code);
/* Are these, the outermost first, all places of a thread still? Where no code object went meanwhile. */
bool python_is_at(const char *state, const struct python_place *outer_first, unsigned n);
/* Of so many frames from this one on; the innermost place first. Returns how many places. */
unsigned python_walk(const char *frame, unsigned n_frames,
		     struct python_place places[PYTHON_PLACES_MAX]);
/* What stands for the places of so many frames from this one on, added to a hash. Returns the frame behind them. In a
 * few nanoseconds: not whether the code at an address is still the same. */
const char *python_hash_frames(const char *frame, unsigned n, uint64_t *hash);
/* Of a thread; of a stack that is too deep the outer part, and that is counted. */
unsigned python_walk_all(const char *state, struct python_place places[PYTHON_PLACES_MAX]);
/* A string's characters as UTF-8, as far as there is room; behind a part of it what the whole of it hashes
 * to, as behind each long name, since files are not to become one. Returns where they end. */
char *python_put_string(char *p, size_t room, const char *string);

#endif
