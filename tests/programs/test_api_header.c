/* SPDX-License-Identifier: MIT */
/* Uses all of proton/proton.h, as C and as C++: compiled by test_api_header.sh. */
#include <proton/proton.h>
#include <stdio.h>

static int work(int n)
{
	proton_scope("work");
	proton_scope_metric("flops", n * 2.0);
	proton_scope_metric_u64("bytes", 64);
	proton_scope_property("rate", 0.5);
	proton_scope_property_u64("batch", 8);
	return n > 0 ? work(n - 1) : proton_active();
}

int main(void)
{
	int depth = proton_enter_scope("main");
	int active = work(2);
	int left = proton_exit_scope();

	printf("%d %d %d\n", depth, active, left);
	return 0;
}
