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
	struct proton_session_options options = {sizeof(options), "shadow", "tree", 0, 0, 0};
	int session = proton_session_start("s", &options);
	int depth = proton_enter_scope("main");
	int active = work(2);
	int left = proton_exit_scope();

	if (proton_session_deactivate(session, 0) == PROTON_OK &&
	    proton_session_activate(session) != PROTON_OK)
		puts(proton_session_error());
	proton_session_finalize(session, "hatchet");
	printf("%d %d %d\n", depth, active, left);
	return 0;
}
