/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_CUT_H
#define PROTON_CORE_CUT_H
/* A part of the rows of a session as a session, with the contexts that they need:
 *
 *   train ─┬ step ─ gemm   rows 1, 2       rows 1, 3        train ─┬ step ─ gemm   row 1
 *          ├ eval ─ gemm   row  3          without scopes          └ gemm          row 3
 *          └ loss ─ relu   row  4     ──>  "eval" only:
 *
 * Nodes of a kind that is left out give their children, and what adds up, to the node above; equal
 * siblings become one. Processes, devices, losses and notes are those of the whole. What cannot be told
 * apart by rows is left out (merge_rows()).
 *   thread  one */
#include "core/session.h"

#define CUT_KIND(kind) (UINT32_C(1) << (kind)) /* of enum frame_kind */

/* rows: by row, 1: it is taken; intervals: as rows, of single operations, or NULL: none is. without: CUT_KIND()s that are left out. 0 or -ENOMEM. */
int session_cut(const struct session *s, const uint8_t *rows, const uint8_t *intervals,
		uint32_t without, struct session **ret);

/* Of these rows, what else ran than kernels with scopes within them is taken no more: left are such kernels, these scopes, and those
 * of the host. 0 or -ENOMEM. */
int cut_to_inside(const struct session *s, uint8_t *rows);

#endif
