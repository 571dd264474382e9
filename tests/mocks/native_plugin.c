/* SPDX-License-Identifier: MIT */
/* A library that calls back, twice built: with other names at the same places. */
#include "config.h" // IWYU pragma: keep

void PLUGIN(void (*back)(void));
__attribute__((visibility("default"), noinline)) void PLUGIN(void (*back)(void))
{
	back();
	__asm__ volatile("");
}
