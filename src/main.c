/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
int main(void)
{
	return 0;
}
