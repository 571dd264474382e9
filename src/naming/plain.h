/* SPDX-License-Identifier: MIT */
#ifndef PROTON_NAMING_PLAIN_H
#define PROTON_NAMING_PLAIN_H
#include <stddef.h>

struct buf;

/* Names of kernels that generators made of words: cuBLAS and cuDNN (xmma, generated), Tensile of
 * rocBLAS.
 *
 *   sm80_xmma_gemm_f32f32_f32f32_f32_nt_n_tilesize32x32x8_stage3_warpsize1x2x1_ffma_…__5x_cublas
 *   sm80_xmma_gemm_f32f32_f32f32_f32_nt_n_32x32x8_stage3
 *
 *   thread  any */

/* Operation, types, layout, tile and stages, malloc'd. NULL: no such name, or memory is out. */
char *plain_brief(const char *name);
/* Append a name, cut to so many columns with dots for what is left out: the words that many names
 * of kernels have, then the middle. */
void plain_fit(struct buf *out, const char *name, size_t len, size_t columns, const char *dots);

#endif
