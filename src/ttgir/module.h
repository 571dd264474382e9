/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TTGIR_MODULE_H
#define PROTON_TTGIR_MODULE_H
/* A kernel in Triton's GPU dialect, in the text that its compiler prints and reads: which operations there are, where, within
 * which others, from which lines of the source. Only what is needed to put something beside them: values, types and attributes
 * are passed over.
 *
 *   #loc3 = loc("k.py":10:16)                         a name of a location
 *   module attributes {…} {
 *     tt.func public @matmul(…) attributes {…} {      an operation with a region
 *       %x = tt.load %p : … loc(#loc3)                … and without one
 *       scf.for %k = … {
 *         …
 *       } loc(#loc4)
 *       "tt.reduce"(%x) <{…}> ({                      the same, in the form that all dialects have
 *       ^bb0(…):
 *         …
 *       }) : …
 *
 * The compiler prints an operation without regions on one line, and begins one at each; what is written otherwise is refused.
 *   thread  one */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TTGIR_NONE  UINT32_MAX
#define TTGIR_BYTES ((size_t)64 << 20) /* of a text, at most */
#define TTGIR_DEPTH 256u               /* of regions in each other */

struct ttgir_text {
	const char *at;
	size_t len;
};

struct ttgir_op {
	struct ttgir_text name;     /* "tt.load" */
	struct ttgir_text location; /* what its loc(…) says; len 0: nothing */
	size_t at, end;  /* its lines in the text: from the first sign to behind the newline */
	size_t body;     /* where the first operation of its last region begins; 0: it has none */
	uint32_t parent; /* whose region it is in; TTGIR_NONE: nobody's */
	uint32_t block;  /* those with the same number are executed after each other */
	uint32_t line;   /* of the text, from 1 */
	uint32_t indent; /* spaces before it */
};

struct ttgir_alias {
	struct ttgir_text name, location; /* "#loc3", `"k.py":10:16` */
};

struct ttgir {
	struct ttgir_text text; /* borrowed */
	struct ttgir_op *ops;   /* in the order of the text: each is behind that which it is in */
	size_t n_ops, cap_ops;
	struct ttgir_alias *aliases; /* by name */
	size_t n_aliases, cap_aliases;
};

/* Reads a text that must live on. 0; -ENOMEM; -EFBIG; -EINVAL with a sentence in ret_why (size bytes): m is empty. */
int ttgir_read(struct ttgir *m, const char *text, size_t len, char *ret_why, size_t size);
void ttgir_done(struct ttgir *m);

bool ttgir_is_named(const struct ttgir_op *op, const char *name);
/* The name of a tt.func, without @; len 0: it is none. */
struct ttgir_text ttgir_function_name(const struct ttgir *m, const struct ttgir_op *op);
/* A function that is launched, not one that others call. */
bool ttgir_is_kernel(const struct ttgir *m, const struct ttgir_op *op);

#endif
