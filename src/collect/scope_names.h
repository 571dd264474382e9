/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_SCOPE_NAMES_H
#define PROTON_COLLECT_SCOPE_NAMES_H
/* Which node a scope of the program is, by its name:
 *
 *     "aten::add, op_id = 17"   attributes are left away     ──> aten::add
 *     "step 500"                one of more than 16 alike    ──> step #
 *     "block 500"               one of more than 128 alike   ──> block #
 *     "layers.500"              a path never counts up       ──> layers.500
 *
 * so that names that only count up take no more of the tables than a few scopes do. How often and how
 * long is the same whatever they are called. Like all of the collector: any thread, also in a signal
 * handler, and no allocation, no lock, no call of the kernel. */
#include "collect/internal.h"

/* … below `parent`; *ret_frame is what it is anywhere else (WIRE_NONE: "<other>"). */
uint32_t scope_node(struct thread_state *t, enum frame_kind kind, const char *name, size_t len,
		    uint32_t parent, uint32_t *ret_frame);

enum { SCOPE_PATTERN_MAX = 512 }; /* bytes of "step #"; of a longer one the end is a hash */

/* What stands for the name where it is only asked whether it is the same: one number for all that share
 * "step #". */
uint64_t scope_place(const char *name, size_t len);

/* How much of a name is that of an operator, behind which PyTorch has put attributes
 * (torch.autograd.profiler.emit_nvtx): "AddmmBackward0, seq = 4, op_id = 27, sizes = [[2, 3], []]". */
size_t scope_bare_len(const char *name, size_t len);

#endif
