/* SPDX-License-Identifier: MIT */
#ifndef PROTON_OVERRIDE_PTX_LINES_H
#define PROTON_OVERRIDE_PTX_LINES_H
/* Places in the source, put into PTX that came out of a cubin without them (images/cubin.h). The cubin knows both of each of its
 * instructions: which row of the PTX it was made of, and which line of the source that was.
 *
 *     row of the PTX  <─ .nv_debug_line_sass ─  instruction  ─ .debug_line ─>  line of the source
 *
 * What no instruction is left of is taken to be where what is before it in its block is, else where what is behind it is. Where
 * nothing is left of a block, no line is said of it.
 *   thread  any */
#include "base/buf.h"
#include "base/elf_bytes.h"

/* ptx: what cubin_ptx() gave; as it was where the cubin has no lines, or is none. 0 or -ENOMEM. */
int ptx_lines_put(struct elf_part cubin, struct buf *ptx);

#endif
