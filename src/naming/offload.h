/* SPDX-License-Identifier: MIT */
#ifndef PROTON_NAMING_OFFLOAD_H
#define PROTON_NAMING_OFFLOAD_H
/* Kernels that compilers of LLVM make of target regions of OpenMP: between the words stand device
 * and inode of the source file, which differ from build to build and say nothing to people.
 *
 *     __omp_offloading_10302_4c1d6a_saxpy_l21        ─>  saxpy_l21
 *     __omp_offloading_10302_4c1d6a__Z5saxpyPf_l21   ─>  saxpy_l21, the function demangled
 *
 *   thread  any */
#include <stdbool.h>
#include <stddef.h>

struct offload {
	const char *function; /* in the name; a symbol or a plain word */
	size_t function_len;
	const char *line; /* "_l21", and what is behind it */
};

bool offload_parse(struct offload *o, const char *name);

#endif
