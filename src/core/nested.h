/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_NESTED_H
#define PROTON_CORE_NESTED_H
/* The host's own time of scopes: elapsed time less that of the scopes and waits within.
 *
 *   step 10 ─ kernel (none) ─ wait 4   ──>   step 6, wait 4
 *
 * What has no time of its own stands between without a part in it.
 *   thread  one */
#include <stdint.h>

/* elapsed, by node, NaN: has none; a parent comes before its children, and the first node has none.
 * own, by node: NaN where elapsed is; below 0 where scopes of several threads ran side by side.
 * 0 or -ENOMEM. */
int nested_own(const uint32_t *parents, const double *elapsed, uint32_t n, double *own);

#endif
