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

/*    id, name, word */
/* clang-format off */
#define CONTEXTS(_)                                                                                \
	_(PYTHON, python, "python") /* lines of its Python files */
/* clang-format on */

enum context {
#define _(id, ...) CONTEXT_##id,
	CONTEXTS(_)
#undef _
		N_CONTEXTS
};

/* Bits of a set of them. */
#define CONTEXT_BIT(id) (UINT32_C(1) << (id))

#endif
