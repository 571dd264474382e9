/* SPDX-License-Identifier: MIT */
#ifndef PROTON_INTRA_WARP_SET_H
#define PROTON_INTRA_WARP_SET_H
/* Warps of a block as people list them: "3", "0,4-7".
 *   thread  any */
#include <stddef.h>
#include <stdint.h>

enum { INTRA_WARPS_MAX = 32 }; /* of a block */

/* What is wrong with an item of a list, by its printf() arguments: the item's length and text. */
#define WARP_SET_WHY "'%.*s' is no warp of a block (0 to 31) and no range of them (4-7)"

/* Those of an item of a list, a warp or a range, are added to *warps (1 << warp). 0 or -EINVAL. Blanks around numbers are none of it. */
int warp_set_add(const char *item, size_t len, uint32_t *warps);

#endif
