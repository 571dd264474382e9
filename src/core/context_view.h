/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_CONTEXT_VIEW_H
#define PROTON_CORE_CONTEXT_VIEW_H
/* Which calling contexts of a recording are looked at. A run may record several kinds together
 * (core/contexts.h); all at once are deep:
 *
 *     all      step ─ main@train.py:9 ─ forward@net.py:4 ─ net.layer1 ─ aten::linear ─ gemm
 *     scopes   step ─ gemm
 *     torch    step ─ net.layer1 ─ aten::linear ─ gemm
 *     python   step ─ main@train.py:9 ─ forward@net.py:4 ─ gemm
 *     line     step ─ forward@net.py:4 ─ gemm
 *
 * What a view leaves out passes what it has to the context above it. */
#include <stdbool.h>
#include <stdint.h>
#include "core/frame.h"
#include "core/session.h"

#define CONTEXT_FRAMES_                                                                            \
	(1u << FRAME_PYTHON | 1u << FRAME_MODULE | 1u << FRAME_OPERATOR | 1u << FRAME_NATIVE)

/*         name    word      kinds of contexts that it shows              what that is */
/* clang-format off */
#define CONTEXT_VIEWS(_)                                                                           \
	_(ALL,    "all",    CONTEXT_FRAMES_,                          "all that was recorded")     \
	_(SCOPES, "scopes", 0,                                        "scopes of the program only") \
	_(TORCH,  "torch",  1u << FRAME_MODULE | 1u << FRAME_OPERATOR, "modules and operators of PyTorch") \
	_(PYTHON, "python", 1u << FRAME_PYTHON,                       "lines of Python")           \
	_(LINE,   "line",   1u << FRAME_PYTHON,                       "the innermost line of Python alone") \
	_(NATIVE, "native", 1u << FRAME_NATIVE,                       "native functions")
/* clang-format on */

enum context_view {
#define _(name, word, shows, what) CONTEXTS_##name,
	CONTEXT_VIEWS(_)
#undef _
		CONTEXTS_N
};

const char *context_view_word(enum context_view view); /* "all", "scopes" … */
const char *context_view_what(enum context_view view); /* for a line to the user */
/* By its word; false: there is none of that name. */
bool context_view_parse(const char *word, enum context_view *ret);
/* Is a frame of this kind left out? */
bool context_view_omits(enum context_view view, unsigned kind);
/* The next view in which the session looks different; CONTEXTS_ALL after the last of them, and always
 * where no contexts but scopes were recorded. */
enum context_view context_view_next(enum context_view view, const struct session *s);

/* The node that a node counts for: itself, or the nearest above it that is not left out. */
uint32_t context_view_node(enum context_view view, const struct session *s, uint32_t node);
/* The node below which such a one stands; of the root: SESSION_NONE. */
uint32_t context_view_above(enum context_view view, const struct session *s, uint32_t node);
/* May it be left out where nothing counts for it and nothing stands below it? Lines of Python in CONTEXTS_LINE: one
 * that only calls others is not the innermost. */
bool context_view_may_be_empty(enum context_view view, unsigned kind);

#endif
