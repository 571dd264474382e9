/* SPDX-License-Identifier: MIT */
#ifndef PROTON_NAMING_PLAIN_H
#define PROTON_NAMING_PLAIN_H
#include <stdbool.h>
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
/* Give those of the names that are such their short form, with the words that tell them apart:
 *
 *   Cijk_Ailk_Bljk_BBS_BH_MT64x64x64_MI16x16x16x1_SN_…_CLR0_…_LBSPPA512_…_VW8
 *   Cijk_Ailk_Bljk_BBS_BH_MT64x64x64_MI16x16x16x1_CLR0
 *
 * Some may still be alike: where only the order of words differs, or there are too many. They do not
 * depend on the order in which they are given. 0 or -ENOMEM. */
int plain_apart(const char *const raw[], size_t n, char *ret[]);
/* Is a text a name that one of these could have so, among whichever others? */
bool plain_could_be(const char *raw, const char *text);
/* Append a name, cut to so many columns with dots for what is left out: the words that many names
 * of kernels have, then the middle. */
void plain_fit(struct buf *out, const char *name, size_t len, size_t columns, const char *dots);

#endif
