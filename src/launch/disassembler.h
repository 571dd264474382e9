/* SPDX-License-Identifier: MIT */
#ifndef PROTON_LAUNCH_DISASSEMBLER_H
#define PROTON_LAUNCH_DISASSEMBLER_H
/* NVIDIA's nvdisasm, where it is installed: a child runs it, within a deadline, and what it prints is bounded.
 * cuobjdump is not looked for: it starts nvdisasm.
 *   thread  one */
#include <stdint.h>
#include "launch/probe.h"

/* In PATH, else in a CUDA toolkit. malloc'd; NULL: it is nowhere. */
char *disassembler_find(void);
enum { DISASSEMBLER_MS = 10000 }; /* that somebody who looks waits for it */
/* What it prints of one function, by the number of its symbol in the cubin, within so many milliseconds. Fills *ret, which
 * probe_done() frees: an end that is not PROBE_ANSWERED may have left a part of the text. */
void disassemble(const char *tool, const char *cubin, uint32_t symbol, unsigned deadline_ms,
		 struct probe *ret);

#endif
