/* SPDX-License-Identifier: MIT */
#ifndef PROTON_FINDINGS_PRODUCTS_H
#define PROTON_FINDINGS_PRODUCTS_H
#include <stdbool.h>

/* Is it the name of a kernel that multiplies matrices (cuBLAS, CUTLASS, Triton, torch.compile), raw or demangled? One of a
 * matrix and a vector is none: it reads each number once. */
bool is_matrix_product(const char *name);
/* Such a product, a convolution or attention: these keep few warps, with much data in registers and shared memory, some of
 * which wait while others feed them, on purpose. */
bool is_tuned(const char *name);

#endif
