/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_CONTEXTS_H
#define PROTON_CORE_CONTEXTS_H
/* What calling contexts are made of beside the program's own scopes, as both halves of proton know it:
 * a row here, and a file in src/collect/. From the row come the bit on the control page and the word of
 * --context. What stands in an earlier row stands further out in the tree.
 *
 * To add one: a row; src/collect/NAME.c with `const struct context_source context_NAME`
 * (collect/contexts.h says what that must do); its lines in man/proton-record.1. */
#include <stdint.h>

/* By itself (auto) a run has those that `auto` names, as far as they are there: ALWAYS; INSTEAD: where it is
 * there, the rows before it are not read; NEVER: only when asked for.
 *    id, name, word, auto */
/* clang-format off */
#define CONTEXTS(_)                                                                                \
	_(PYTHON, python, "python", ALWAYS)  /* lines of its Python files */                       \
	_(TORCH, torch, "torch", INSTEAD)    /* modules and operators of PyTorch */                \
	_(NATIVE, native, "native", NEVER)   /* functions of compiled code */
/* clang-format on */

enum context {
#define _(id, ...) CONTEXT_##id,
	CONTEXTS(_)
#undef _
		N_CONTEXTS
};

enum context_auto { CONTEXT_NEVER, CONTEXT_ALWAYS, CONTEXT_INSTEAD };

/* Bits of a set of them. */
#define CONTEXT_BIT(id) (UINT32_C(1) << (id))
#define CONTEXT_AUTO    CONTEXT_BIT(31) /* what fits the program */

/* Of the launching threads' time: what reading contexts may take of it, in millionths. */
#define CONTEXT_BUDGET_AUTO 50000u

#endif
