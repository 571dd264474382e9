/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_SELECTOR_H
#define PROTON_CORE_SELECTOR_H
/* Which calling contexts somebody means, in one of three forms:
 *
 *   gemm|conv.*             names: an expression (core/name_pattern.h)
 *   time > 1ms && avg < 5us conditions: columns against amounts (core/column.h, base/units.h), and
 *                           "name ~ RE", "path ~ GLOB"; with && || ! ( )
 *   "a > b" > 3             the same, of a column with a name that would not do (or in '')
 *   ** / conv* / *gemm*     paths, without these blanks (core/path_glob.h)
 *
 * What begins with "*" or "ROOT/" is a path; what has an operator (< <= > >= == != ~ !~) between blanks,
 * not within brackets or quotes, is a condition; what has "/" and two stars in it, a path; the rest are
 * names. So "foo<int>" and "a->b" are names, and so is "loss [>] 1".
 *
 *   text ── selector_new() ──> selector ── selector_check() ── of a session ──> good, or why not
 *                                       └─ selector_marks() ── of a snapshot ──> a byte a node
 *
 * A node that has no value of a column matches no comparison with it, "!=" neither. The root is the whole,
 * not a calling context: it matches no condition and no path.
 *   thread  one */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/peaks.h"
#include "core/snapshot.h"

struct buf;
struct name_pattern;
struct selector;

enum selector_form { SELECTOR_NAMES, SELECTOR_CONDITION, SELECTOR_PATH };
enum selector_form selector_form_of(const char *text);

#define SELECTOR_NOWHERE SIZE_MAX
struct selector_error {
	size_t at; /* byte of the text; SELECTOR_NOWHERE: it is an expression, and not told */
	char why[240];
};

/* 0, -EINVAL with *error, or -ENOMEM. */
int selector_new(const char *text, struct selector **ret, struct selector_error *error);
/* The same, but it is an expression of names in any case. */
int selector_new_names(const char *text, struct selector **ret, struct selector_error *error);
struct selector *selector_free(struct selector *x);
static inline void selector_freep(struct selector **x)
{
	*x = selector_free(*x);
}
/* Which character of a text a byte is in, from 1 on. */
size_t selector_character(const char *text, size_t at);
/* The sentence for people: what of a text is wrong, and where. */
void selector_explain(const char *text, const struct selector_error *error, struct buf *out);
/* Append an expression of this name and no longer one. */
void selector_put_name(const char *name, struct buf *out);

/* Does a session have the columns that are compared? 0; -ENOENT: not one, with *error (a running program
 * may get it later); -EINVAL: it never can be, with *error. */
int selector_check(const struct selector *x, const struct session *s, struct selector_error *error);
const char *selector_text(const struct selector *x); /* as it was given */
bool selector_is_condition(const struct selector *x);
/* Is it an expression of names that would be a comparison with blanks: "time>1ms"? */
bool selector_lacks_blanks(const struct selector *x);
/* Is it one that would be a path with stars behind it: "step/forward"? */
bool selector_lacks_stars(const struct selector *x);
/* What a text lacks behind it to be the path. */
const char *selector_stars(const char *text);
/* The expression that is all of it; NULL: it has another form. */
const struct name_pattern *selector_names(const struct selector *x);

/* By node: does it match itself? Values are those of the snapshot as it is masked: a mask that they make
 * must not be there when they are asked for anew. A column that the session has not matches nothing.
 * peaks may be NULL. 0, -ENOMEM, or -ECANCELED: the snapshot's tick said to stop. */
int selector_marks(const struct selector *x, struct snapshot *snap, const struct peaks *peaks,
		   uint8_t **ret);

#endif
