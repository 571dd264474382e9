/* SPDX-License-Identifier: MIT */
#ifndef PROTON_NAMING_PLAIN_H
#define PROTON_NAMING_PLAIN_H
/* Names of kernels that generators made of words: cuBLAS and cuDNN (xmma), Tensile of rocBLAS.
 *
 *   sm80_xmma_gemm_f32f32_f32f32_f32_nt_n_tilesize32x32x8_stage3_warpsize1x2x1_ffma_…__5x_cublas
 *   sm80_xmma_gemm_f32f32_f32f32_f32_nt_n_32x32x8_stage3
 *
 *   thread  any */

/* Operation, types, layout, tile and stages, malloc'd. NULL: no such name, or memory is out. */
char *plain_brief(const char *name);

#endif
