/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_REGROUP_H
#define PROTON_CORE_REGROUP_H
/* A session with its groups as nodes of the tree, named so that two runs can be matched by name.
 * Process and thread ids differ from run to run, and so may devices.
 *
 *   ROOT ─ step ─ gemm  (rank 0 and 1)  ──>  ROOT ─┬─ rank 0 ─ step ─ gemm
 *                                                  └─ rank 1 ─ step ─ gemm
 *
 * A process is its rank, else its number among those that have none; a device is its type and
 * index; a thread is its number in its process.
 *   thread  one */
#include "core/session.h"
#include "core/snapshot.h"

/* A new session; NULL: out of memory. */
struct session *session_regroup(const struct session *s, enum group group);

#endif
