/* SPDX-License-Identifier: MIT */
/* Stands in for a library that is built upon PyTorch, and allocates when it is loaded. */
#include "config.h" // IWYU pragma: keep

void tensor_in_constructor(void);

__attribute__((constructor)) static void init(void)
{
	tensor_in_constructor();
}
