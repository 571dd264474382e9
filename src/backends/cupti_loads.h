/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BACKENDS_CUPTI_LOADS_H
#define PROTON_BACKENDS_CUPTI_LOADS_H
/* Modules that the program loads are loaded as others: with scopes within their kernels (ADR 79).
 *
 *     call ── ENTER: sink rewrites the image, which the call's parameters name from now on ──> driver
 *          ── EXIT: they name the program's again; ours is kept until the module is unloaded
 *
 * The driver takes what the parameters name after the callback (bench/cupti_warps.cu), whoever made the call: cudart, NVRTC's
 * users, Triton. Where it refuses ours, it is asked again with the program's image, and the caller sees that answer.
 *   thread  any */
#include "backends/cupti.h"

/* At ENTER and EXIT of a call that loads code: by an image in memory, or a file. */
void cupti_loads_call(struct cupti *c, uint32_t id, const struct abi_call *call, bool is_file);
/* … and of one that unloads it. */
void cupti_loads_unload(const struct abi_call *call);

#endif
