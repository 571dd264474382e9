/* SPDX-License-Identifier: MIT */
#ifndef PROTON_LIVE_DISASSEMBLY_H
#define PROTON_LIVE_DISASSEMBLY_H
/* Functions of the cubins in a folder, and their instructions: as a run kept them, else as nvdisasm prints them here.
 *
 *     0123456789abcdef.cubin   the code; what was inlined where
 *     0123456789abcdef.sass    instructions that were kept (naming/sass.h): with them no nvdisasm is needed
 *
 * Each function is asked for once.
 *   thread  one */
#include <stdint.h>
#include "naming/object.h"

#define DISASSEMBLY_SUFFIX ".sass"

struct disassembly;
struct pc_instruction;

/* The folder's name is copied. NULL: no memory. */
struct disassembly *disassembly_new(const char *folder);
struct disassembly *disassembly_free(struct disassembly *d);
/* From then on (CLOCK_MONOTONIC) nvdisasm is neither asked nor waited for. */
void disassembly_until(struct disassembly *d, uint64_t until_ns);
/* The text of an instruction, as long as the disassembly; NULL: none is known. */
const char *disassembly_text(struct disassembly *d, const struct pc_instruction *is);
/* The functions at it, as cubin_lines() has them. */
unsigned disassembly_functions(struct disassembly *d, const struct pc_instruction *is,
			       struct object_function ret[NATIVE_INLINED_MAX]);
/* Why an instruction that was asked for has no text; NULL: each has one. */
const char *disassembly_why(const struct disassembly *d);
/* Writes the instructions of all functions that were asked for into a folder: what is kept there of their
 * cubins is replaced. 0 or the first -errno. */
int disassembly_keep(const struct disassembly *d, const char *folder);
/* What one folder has kept of a cubin's instructions is added to what another one has. 0 or -errno. */
int disassembly_add(const char *from, const char *to, uint64_t checksum);

#endif
