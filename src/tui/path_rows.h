/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_PATH_ROWS_H
#define PROTON_TUI_PATH_ROWS_H
/* Paths in a column, cut so that none reads like another, as far as there is room:
 *
 *     …aten::clone › aten::copy_ › memcpy DtoD          …layers.0 › … › aten::copy_ › memcpy DtoD
 *     …aten::clone › aten::copy_ › memcpy DtoD    ─>    …layers.1 › … › aten::copy_ › memcpy DtoD
 *
 * The end of a path says where it is: frames go from its beginning, as whole ones. Of those that read alike
 * the frames stay in which they differ, and the last; where there is no room for them, cut as names in a narrow
 * column are (naming/table.h):   Model › layer…0…memcpy…   thread  one */
#include <stddef.h>
#include <stdint.h>

struct buf;
struct tui;

/* Texts of the nodes' paths for so many columns, one behind the other, each with a byte 0 behind it. An empty
 * one: the path's end by itself is as good. 0 or -ENOMEM. */
int path_rows_make(struct tui *t, const uint32_t *nodes, size_t n, int columns, struct buf *out);

#endif
