/* SPDX-License-Identifier: MIT */
/* How far CLOCK_REALTIME is ahead of CLOCK_MONOTONIC, in ns. Tests of times ask before and after whether it was set. */
#include <stdint.h>
#include <stdio.h>
#include "base/clock.h"

int main(void)
{
	printf("%lld\n", -(long long)clock_to_monotonic_ns());
	return 0;
}
