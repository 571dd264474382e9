/* SPDX-License-Identifier: MIT */
#ifndef PROTON_OVERRIDE_LIMITS_H
#define PROTON_OVERRIDE_LIMITS_H
/* A kernel that is rewritten takes more registers. Whatever block it could be launched with before is still to have room: where the
 * kernel does not say how large its blocks are, it is given a limit (".maxnreg") that leaves that so.
 *   thread  any */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/buf.h"

/* How many registers a thread may take so that the largest block that had room before still has. */
uint32_t registers_allowed(uint32_t before);
/* Put the limit before the body of a kernel of this name in PTX. False: the kernel says itself how large its blocks are, is not
 * there, or there is no memory: the text is as it was. */
bool limit_registers(struct buf *ptx, const char *kernel, size_t len, uint32_t registers);

#endif
