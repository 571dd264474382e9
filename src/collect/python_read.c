/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/python_read.h"
#include <inttypes.h>
#include <stdio.h>
#include "base/hash.h"
#include "base/util.h"
#include "collect/internal.h"
#include "wire/wire.h"

enum { GONE_N = 1 << 14 }; /* counters of code objects that went */

#define HASH_BY UINT64_C(0x9e3779b97f4a7c15)

struct python_api py;

static inline int32_t instruction_of(const char *frame, const char *code,
				     const struct python_layout *l)
{
	int32_t index;

	if (!l->index_bytes)
		return (int32_t)(python_pointer(frame, l->instruction) - (code + l->instructions));
	memcpy(&index, frame + l->instruction, sizeof(index));
	return index * l->index_bytes;
}

/* By address; objects begin at multiples of 16. */
static _Atomic uint32_t *gone_at(const void *code)
{
	static _Atomic uint32_t gone[GONE_N];

	return &gone[((uintptr_t)code >> 4) % GONE_N];
}

static uint32_t n_gone_at(const void *code)
{
	return atomic_load_explicit(gone_at(code), memory_order_relaxed);
}

void python_gone(const void *code)
{
	atomic_fetch_add_explicit(gone_at(code), 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&py.n_gone, 1, memory_order_relaxed);
}

static const char *module_of(const char *frame, const char *code)
{
	if (code != atomic_load_explicit(&py.module_code, memory_order_relaxed))
		return NULL;
	return python_held(frame, py.layout->locals);
}

/* What it executes; NULL: it is none of the program's. */
static const char *code_of(const char *frame)
{
	return python_is_interpreters(frame) ? NULL : python_held(frame, py.layout->code);
}

static struct python_place place_of(const char *frame, const char *code)
{
	return (struct python_place){code, module_of(frame, code), n_gone_at(code),
				     instruction_of(frame, code, py.layout)};
}

unsigned python_walk(const char *frame, unsigned n_frames,
		     struct python_place places[PYTHON_PLACES_MAX])
{
	unsigned n = 0;

	for (; n_frames--; frame = python_back(frame)) {
		const char *code = code_of(frame);

		if (code)
			places[n++] = place_of(frame, code);
	}
	return n;
}

/* At each launch, for each frame: what does not change is read once. */
bool python_is_at(const char *state, const struct python_place *outer_first, unsigned n)
{
	const struct python_layout l = *py.layout;
	const char *module_code = atomic_load_explicit(&py.module_code, memory_order_relaxed);
	const struct python_place *place = outer_first + n;
	const char *frame = python_innermost(state), *code, *self;
	unsigned n_frames = 0;

	for (; frame; frame = python_pointer(frame, l.back)) {
		if (n_frames++ == 2 * PYTHON_PLACES_MAX)
			return false;
		if (l.owner && frame[l.owner] >= PYTHON_OWNER_INTERPRETER)
			continue;
		code = python_untagged(python_pointer(frame, l.code), l.tags);
		if (!code)
			continue;
		if (place == outer_first)
			return false;
		place--;
		if (code != place->code || instruction_of(frame, code, &l) != place->at)
			return false;
		self = _unlikely_(code == module_code)
			       ? python_untagged(python_pointer(frame, l.locals), l.tags)
			       : NULL;
		if (self != place->self)
			return false;
	}
	return place == outer_first;
}

const char *python_hash_frames(const char *frame, unsigned n, uint64_t *hash)
{
	const struct python_layout l = *py.layout;
	const char *module_code = atomic_load_explicit(&py.module_code, memory_order_relaxed);

	for (unsigned i = 0; frame && n && i < PYTHON_PLACES_MAX;
	     frame = python_pointer(frame, l.back), i++) {
		const char *code;

		if (l.owner && frame[l.owner] >= PYTHON_OWNER_INTERPRETER)
			continue;
		code = python_untagged(python_pointer(frame, l.code), l.tags);
		if (!code)
			continue;
		*hash = (*hash ^ (uintptr_t)code) * HASH_BY;
		*hash ^= (uint64_t)(uint32_t)instruction_of(frame, code, &l) << 32;
		if (_unlikely_(code == module_code))
			*hash ^=
				(uintptr_t)python_untagged(python_pointer(frame, l.locals), l.tags);
		*hash = (*hash ^ *hash >> 29) * HASH_BY;
		n--;
	}
	return frame;
}

/* How many frames there are from this one on. 0: they go round. Those of greenlets do while one's part of
 * the C stack, where frames of the interpreter lie, is put in the place of another's. */
static unsigned count_frames(const char *frame)
{
	const char *passed = NULL;
	unsigned n = 0;

	for (unsigned next = 1; frame; frame = python_back(frame)) {
		if (frame == passed)
			return 0;
		if (++n == next) {
			passed = frame;
			next *= 2;
		}
	}
	return n;
}

/* Of a stack of more frames than there may be places. */
static unsigned walk_outer(const char *frame, struct python_place places[PYTHON_PLACES_MAX])
{
	unsigned n_frames = count_frames(frame);

	lose(LOSS_CONTEXTS_CUT, 1);
	if (!n_frames)
		return 0;
	for (; n_frames > PYTHON_PLACES_MAX; n_frames--)
		frame = python_back(frame);
	return python_walk(frame, n_frames, places);
}

unsigned python_walk_all(const char *state, struct python_place places[PYTHON_PLACES_MAX])
{
	const char *frame = python_innermost(state), *f;
	unsigned n_frames = 0, n = 0;

	for (f = frame; f && n_frames < PYTHON_PLACES_MAX; f = python_back(f), n_frames++) {
		const char *code = code_of(f);

		if (code)
			places[n++] = place_of(f, code);
	}
	return _unlikely_(f) ? walk_outer(frame, places) : n;
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
		return python_pointer(string, py.layout->text[1]);
	return string + py.layout->text[!(state & PYTHON_STATE_ASCII)];
}

char *python_put_string(char *p, size_t room, const char *string)
{
	const char *end = p + room;
	uint32_t state, bytes;
	const char *text;
	size_t n, i;

	memcpy(&state, string + PYTHON_STRING_STATE, sizeof(state));
	memcpy(&n, string + PYTHON_STRING_LENGTH, sizeof(n));
	bytes = PYTHON_STATE_KIND(state);
	if (bytes != 1 && bytes != 2 && bytes != 4)
		return p;
	text = characters(string, state);
	for (i = 0; i < n && p + 4 + PYTHON_HASH_MAX < end; i++) {
		uint32_t c = 0;

		memcpy(&c, text + i * bytes, bytes); /* little-endian */
		p = put_utf8(p, end, c);
	}
	if (i < n)
		p += snprintf(p, PYTHON_HASH_MAX, "#%016" PRIx64, hash_bytes(text, n * bytes));
	return p;
}
