/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_FOLD_H
#define PROTON_CORE_FOLD_H
/* Scopes whose names only count up, as one.
 *
 *     train ─┬ iter 0 ─┬ layer.0 ─ gemm         train ─ iter # ─┬ layer.# ─ gemm    folded: 2, of
 *            │         └ layer.1 ─ gemm   ──>                   └ loss              "iter #"; 2, of
 *            └ iter 1 ─┬ layer.0 ─ gemm                                             "layer.#"
 *                      └ loss
 *
 * Siblings fold when their names differ in numbers alone, and there are two different ones at least.
 * Kernels, copies, frames of a program ("file:line@function") and the like never do: their numbers mean
 * something.
 *   thread  one */
#include "core/session.h"

/* Of each node that stands for several: how many names that were. The collector has such nodes, too: of
 * siblings that differ in numbers alone it keeps the first ones, and counts the rest as one. */
#define FOLD_METRIC "folded"

/* "59872 names that only count up are in 3 rows, as 'step #'"; NULL: none are. Names are raw: to be shown
 * by base/shown.h. Returns out. */
enum { FOLDED_TEXT_MAX = 256 };
const char *folded_text(const struct session *s, char out[FOLDED_TEXT_MAX]);

/* The session, folded; the one that it was made from may be freed. 0, -ENOMEM, or -EINVAL: a row has no
 * lane or no epoch. */
int session_fold_numbers(const struct session *s, struct session **ret);

#endif
