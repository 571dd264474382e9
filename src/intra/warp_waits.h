/* SPDX-License-Identifier: MIT */
#ifndef PROTON_INTRA_WARP_WAITS_H
#define PROTON_INTRA_WARP_WAITS_H
/* Scopes in which a warp waits for others, as their names say: nothing else does. */
#include <stdbool.h>

/* Is one of its words one for waiting? "wait full", "cp.async.wait_group", "producerAcquire", "bar.sync" have one; "async copy"
 * and "barrel" have none. */
bool warp_name_waits(const char *name);

#endif
