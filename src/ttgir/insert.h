/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TTGIR_INSERT_H
#define PROTON_TTGIR_INSERT_H
/* Kernels in Triton's GPU dialect, with records put in by rules: lines
 *
 *   proton.record start "tt.load@k.py:10" loc(#loc4)
 *   proton.record end "tt.load@k.py:10" loc(#loc4)
 *
 * between those of the text. Triton's compiler makes of them what a warp writes when it comes there.
 *   thread  one */
#include <stddef.h>

#include "base/buf.h"
#include "ttgir/places.h"

/* Appends the text with records to out. 0: ret_places says which (of m, which lives on); -ENOMEM; -EFBIG; -EINVAL with a
 * sentence in ret_why (size bytes): it is not read, or has such records. */
int ttgir_insert(struct ttgir *m, const char *text, size_t len, const struct ttgir_rules *rules,
		 struct buf *out, struct ttgir_places *ret_places, char *ret_why, size_t size);

#endif
