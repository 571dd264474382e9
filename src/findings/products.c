/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "findings/products.h"
#include <string.h>
#include "base/util.h"

bool is_matrix_product(const char *name)
{
	static const char *const words[] = {"gemm",  "matmul", "nvjet",
					    "addmm", "_bmm",   "triton_tem_fused_mm"};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strcasestr(name, words[i]))
			return true;
	return false;
}
