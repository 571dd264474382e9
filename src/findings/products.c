/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "findings/products.h"
#include <string.h>
#include "base/util.h"

static bool has_any(const char *name, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcasestr(name, words[i]))
			return true;
	return false;
}

bool is_matrix_product(const char *name)
{
	static const char *const words[] = {"gemm",  "matmul", "nvjet",
					    "addmm", "_bmm",   "triton_tem_fused_mm"};

	return has_any(name, words, ARRAY_SIZE(words));
}

bool is_tuned(const char *name)
{
	static const char *const words[] = {"gemv",  "cutlass", "xmma",  "wgmma",     "conv",
					    "cudnn", "fmha",    "flash", "attention", "attn"};

	return is_matrix_product(name) || has_any(name, words, ARRAY_SIZE(words));
}
