/* SPDX-License-Identifier: MIT */
/* Uses all of proton/proton.h, as C and as C++: compiled by test_api_header.sh. */
#include <proton/proton.h>
#include <stdio.h>
#ifdef __cplusplus
#include <proton/proton.hpp>

static void wrapped()
{
	proton::session session("w");
	proton::scope scope("s");
	proton::state state("t");
	proton::launch launch("l");

	launch.metric("flops", 2.0);
	launch.metric("bytes", (int64_t)64);
	if (session.deactivate(true) == PROTON_OK && session.activate() != PROTON_OK)
		puts(session.error());
	if (session.finalize() == PROTON_OK && session.id() >= 0)
		puts("it has two ends");
}
#endif

static int work(int n)
{
	proton_scope("work");
	proton_scope_metric("flops", n * 2.0);
	proton_scope_metric_u64("bytes", 64);
	proton_scope_property("rate", 0.5);
	const double v[] = {1, 2};
	const int64_t w[] = {1, -2};

	proton_scope_property_u64("batch", 8);
	proton_scope_metric_i64("delta", -1);
	proton_scope_metric_vector("v", v, 2);
	proton_scope_metric_vector_i64("w", w, 2);
	proton_state_enter("state");
	proton_launch_begin("kernel");
	proton_launch_end();
	proton_state_exit();
	return n > 0 ? work(n - 1) : proton_active();
}

int main(void)
{
	struct proton_session_options options = {sizeof(options), "shadow", "tree", 0, 0, 0};
	int session = proton_session_start("s", &options);
	int depth = proton_enter_scope("main");
	int active = work(2);
	int left = proton_exit_scope();

#ifdef __cplusplus
	wrapped();
#endif

	if (proton_session_deactivate(session, 0) == PROTON_OK &&
	    proton_session_activate(session) != PROTON_OK)
		puts(proton_session_error());
	proton_session_finalize(session, "hatchet");
	printf("%d %d %d\n", depth, active, left);
	return 0;
}
