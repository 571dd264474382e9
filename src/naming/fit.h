/* SPDX-License-Identifier: MIT */
#ifndef PROTON_NAMING_FIT_H
#define PROTON_NAMING_FIT_H
/* Names of C++ in a column that is too narrow for them. Namespaces go first. Of the rest stand the
 * function's beginning and the functors that are its arguments; then, as long as there is room, what
 * tells most about them: the functors' own arguments, types, numbers, the function's end. Dots are
 * where something is left out.
 *
 *     at::native::vectorized_elementwise_kernel<4, CUDAFunctor_add<float>>
 *     vectorized_elementwise_kernel<4, CUDAFunctor_add<float>>
 *     vectorized_elementwi…<4, CUDAFunctor_add<float>>
 *     vectorize…<4, CUDAFunctor_add<float>>
 *     vecto…<…CUDAFunctor_add…>
 *     CUDAFu…_add
 *
 * Of signatures as they were demangled, return type and parameters go before that. Names that are words
 * alone lose those that many have in common first (naming/plain.h), and places in source files their
 * folders (naming/code_place.h).
 *   thread  any */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct pieces;

/* The name for so many columns: the text itself, its end, or a text in `scratch`. It may still be
 * too wide, as any other text, which comes back as it is. */
const char *fit_name(const char *name, size_t columns, const char *dots, struct buf *scratch);

/* The same for three columns or fewer, where letters say more than dots. */
const char *fit_letters(const char *name, size_t columns, const char *dots, struct buf *scratch);
#define FIT_LETTERS 3

/* How much of the name are the namespaces that go first, in bytes. */
size_t fit_namespaces(const char *name);

/* Arguments that are to be shown before others, and what stands behind them: bits by their index. */
struct fit_wish {
	uint64_t texts, behinds;
};

const char *fit_name_with(const char *name, size_t columns, const char *dots,
			  const struct fit_wish *wish, struct buf *scratch);
/* The shape of a launch behind a name: it stays where that leaves room for the name. "": it does not, or
 * there is none. */
const char *fit_shape(const char *name, size_t columns);
/* The name without what goes first and without a shape (in `text`), and the arguments in it, if it has any. Returns whether it
 * is a name of C++. */
bool fit_pieces(const char *name, struct buf *text, struct pieces *ret);

#endif
