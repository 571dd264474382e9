/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <check.h>
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "check_main.h"
#include "proton/proton.h"
#include "mocks/test_api_stub.h"

static struct stub *open_stub(void)
{
	void *handle = dlopen(STUB_LIBRARY, RTLD_NOW);
	stub_get_fn *get;
	struct stub *stub;

	ck_assert_msg(handle != NULL, "%s", dlerror());
	*(void **)&get = dlsym(handle, "stub_get");
	ck_assert(get != NULL);
	stub = get();
	stub->log_len = 0;
	stub->log[0] = '\0';
	setenv("PROTON_LIBRARY", STUB_LIBRARY, 1);
	proton_api_pointer_ = NULL;
	return stub;
}

/* Without PROTON_LIBRARY, with one that is not there, and with one that is something else. */
START_TEST(test_absent)
{
	static const char *const paths[] = {NULL, "", "/nonexistent/libproton.so", "libc.so.6"};

	if (paths[_i])
		setenv("PROTON_LIBRARY", paths[_i], 1);
	else
		unsetenv("PROTON_LIBRARY");
	proton_api_pointer_ = NULL;
	ck_assert_int_eq(proton_active(), 0);
	ck_assert_int_eq(proton_enter_scope("a"), -1);
	ck_assert_int_eq(proton_exit_scope(), -1);
	proton_scope_metric("flops", 1);
	proton_scope_metric_u64("bytes", 1);
	proton_scope_property("x", 1);
	proton_scope_property_u64("x", 1);
	ck_assert_int_eq(proton_state_enter("a"), PROTON_NOBODY);
	ck_assert_int_eq(proton_state_exit(), PROTON_NOBODY);
	ck_assert_int_eq(proton_launch_begin("a"), PROTON_NOBODY);
	ck_assert_int_eq(proton_launch_end(), PROTON_NOBODY);
	proton_scope_metric_i64("x", -1);
	ck_assert_int_eq(proton_scope_metric_vector("x", NULL, 1), PROTON_NOBODY);
	ck_assert_int_eq(proton_scope_metric_vector_i64("x", NULL, 1), PROTON_NOBODY);
	ck_assert_int_eq(proton_session_start("a", NULL), PROTON_NOBODY);
	ck_assert_int_eq(proton_session_activate(0), PROTON_NOBODY);
	ck_assert_int_eq(proton_session_deactivate(0, 1), PROTON_NOBODY);
	ck_assert_int_eq(proton_session_finalize(0, NULL), PROTON_NOBODY);
	ck_assert_str_eq(proton_session_error(), "nobody is profiling this program");
	{
		proton_scope("b");
	}
}
END_TEST

START_TEST(test_scopes)
{
	struct stub *stub = open_stub();

	ck_assert_int_eq(proton_enter_scope("outer"), 0);
	{
		proton_scope("inner");
		ck_assert_int_eq(proton_enter_scope(NULL), 2);
		ck_assert_int_eq(proton_exit_scope(), 2);
	}
	ck_assert_int_eq(proton_exit_scope(), 0);
	ck_assert_int_eq(proton_exit_scope(), -1);
	ck_assert_int_eq(proton_active(), 1);
	ck_assert_str_eq(stub->log, "start API\npush 2 outer\npush 2 inner\npush 2 <scope>\n"
				    "pop 2\npop 1\npop 0\npop -1\n");
}
END_TEST

START_TEST(test_metrics)
{
	struct stub *stub = open_stub();

	proton_scope_metric("flops", 2.5);
	proton_scope_metric("bytes", 4096.4);
	proton_scope_metric("bytes", -1);
	proton_scope_metric("bytes", 1e30);
	proton_scope_metric("loss", NAN);
	proton_scope_metric("loss", INFINITY);
	proton_scope_metric("loss", -0.5);
	proton_scope_metric_u64("flops64", 7);
	proton_scope_metric_u64("bytes", UINT64_MAX);
	proton_scope_metric_u64("tokens", 3);
	proton_scope_property("rate", 0.25);
	proton_scope_property_u64("batch", 32);
	ck_assert_str_eq(stub->log, "start API\n"
				    "add f64 flops 2.5\nadd f64 bytes 4096.4\n"
				    "add f64 bytes -1\nadd f64 bytes 1e+30\nadd f64 loss -0.5\n"
				    "add u64 flops64 7\nadd u64 bytes 18446744073709551615\n"
				    "add u64 tokens 3\nset f64 rate 0.25\nset u64 batch 32\n");
}
END_TEST

START_TEST(test_sessions)
{
	const struct proton_session_options options = {.size = sizeof(options),
						       .context = "python"};
	struct stub *stub = open_stub();

	ck_assert_int_eq(proton_session_start("a", &options), 7);
	ck_assert_int_eq(proton_session_start("b", NULL), 7);
	ck_assert_int_eq(proton_session_activate(7), PROTON_OK);
	ck_assert_int_eq(proton_session_deactivate(PROTON_ALL_SESSIONS, 2), PROTON_OK);
	ck_assert_int_eq(proton_session_deactivate(7, 0), PROTON_OK);
	ck_assert_int_eq(proton_session_finalize(7, "hatchet"), PROTON_UNWRITTEN);
	ck_assert_str_eq(proton_session_error(), "as the stub says");
	ck_assert_str_eq(stub->log, "start API\nstart session a python\nstart session b -\n"
				    "activate 7\ndeactivate -1 flush\ndeactivate 7\n"
				    "finalize 7 hatchet\n");
}
END_TEST

START_TEST(test_phases)
{
	struct stub *stub = open_stub();
	char *data = NULL;
	size_t size = 0;

	ck_assert_int_eq(proton_phase_advance(7), 1);
	ck_assert_int_eq(proton_phase_is_complete(7, 0), 0);
	ck_assert_int_eq(proton_session_data(7, 0, "hatchet", &data, &size), PROTON_OK);
	ck_assert_uint_eq(size, 2);
	ck_assert_str_eq(data, "[]");
	proton_data_free(data);
	proton_data_free(NULL);
	ck_assert_int_eq(proton_phase_clear(7, 0, 1), PROTON_OK);
	proton_enter_scope("a");
	ck_assert_int_eq(proton_context_depth(), 1);
	proton_exit_scope();
	ck_assert_str_eq(stub->log, "start API\nadvance 7\ncomplete 7 0\ndata 7 0 hatchet\n"
				    "free []\nfree -\nclear 7 0 1\npush 2 a\npop 0\n");
}
END_TEST

START_TEST(test_states_and_launches)
{
	static const int64_t whole[] = {1, -2};
	static const double v[65] = {0.5, NAN, 2};
	char name[256];
	struct stub *stub = open_stub();

	ck_assert_int_eq(proton_state_enter("a"), PROTON_OK);
	ck_assert_int_eq(proton_state_enter(""), PROTON_OK);
	ck_assert_int_eq(proton_state_exit(), PROTON_OK);
	ck_assert_int_eq(proton_launch_begin("matmul"), PROTON_OK);
	ck_assert_int_eq(proton_launch_begin(NULL), PROTON_OK);
	ck_assert_int_eq(proton_launch_end(), PROTON_UNKNOWN);
	proton_scope_metric_i64("i", 3);
	proton_scope_metric_i64("i", INT64_MIN);
	ck_assert_int_eq(proton_scope_metric_vector("v (ms)", v, 3), PROTON_OK);
	ck_assert_int_eq(proton_scope_metric_vector_i64("w", whole, 2), PROTON_OK);
	ck_assert_int_eq(proton_scope_metric_vector("v", v, 0), PROTON_INVALID);
	ck_assert_int_eq(proton_scope_metric_vector("v", v, 65), PROTON_INVALID);
	ck_assert_int_eq(proton_scope_metric_vector(NULL, v, 1), PROTON_INVALID);
	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	ck_assert_int_eq(proton_scope_metric_vector(name, v, 1), PROTON_INVALID);
	ck_assert_str_eq(stub->log, "start API\nstate a\nstate <state>\nstate -\n"
				    "begin matmul\nbegin \nend\n"
				    "add u64 i 3\nadd f64 i -9.22337e+18\n"
				    "add f64 v[0] (ms) 0.5\nadd f64 v[2] (ms) 2\n"
				    "add u64 w[0] 1\nadd f64 w[1] -2\n");
}
END_TEST

/* A collector that was built before a function was there: as without one. */
START_TEST(test_older_collector)
{
	struct proton_api_v1 older;

	open_stub();
	ck_assert_int_eq(proton_active(), 1);
	older = *proton_api_pointer_;
	older.size = offsetof(struct proton_api_v1, session_start);
	proton_api_pointer_ = &older;
	ck_assert_int_eq(proton_enter_scope("a"), 0);
	ck_assert_int_eq(proton_session_start("a", NULL), PROTON_NOBODY);
	ck_assert_int_eq(proton_session_finalize(0, NULL), PROTON_NOBODY);
	ck_assert_int_eq(proton_phase_advance(0), PROTON_NOBODY);
	ck_assert_int_eq(proton_phase_is_complete(0, 0), PROTON_NOBODY);
	ck_assert_int_eq(proton_phase_clear(0, 0, 0), PROTON_NOBODY);
	ck_assert_int_eq(proton_session_data(0, 0, NULL, NULL, NULL), PROTON_NOBODY);
	proton_data_free(NULL);
	ck_assert_int_eq(proton_context_depth(), PROTON_NOBODY);
	ck_assert_str_eq(proton_session_error(), "nobody is profiling this program");
	ck_assert_int_eq(proton_exit_scope(), 0);
}
END_TEST

/* No session: the library is there, but every call returns at once. */
START_TEST(test_refused)
{
	struct stub *stub = open_stub();

	setenv("PROTON_STUB_REFUSE", "1", 1);
	ck_assert_int_eq(proton_active(), 0);
	ck_assert_int_eq(proton_enter_scope("a"), -1);
	proton_scope_metric("flops", 1);
	ck_assert_int_eq(proton_exit_scope(), -1);
	ck_assert_int_eq(proton_session_start("a", NULL), PROTON_NOBODY);
	ck_assert_str_eq(proton_session_error(), "nobody is profiling this program");
	ck_assert_str_eq(stub->log, "missed enter\nmissed leave\n");
}
END_TEST

START_TEST(test_versions)
{
	void *handle = dlopen(STUB_LIBRARY, RTLD_NOW);
	proton_get_api_fn *get;
	int (*enter)(const char *name);

	ck_assert(handle != NULL);
	*(void **)&get = dlsym(handle, "proton_get_api");
	ck_assert(get(0) == NULL);
	ck_assert_uint_eq(get(1)->version, 1);
	ck_assert_uint_ge(get(2)->size, sizeof(struct proton_api_v1));
	*(void **)&enter = dlsym(handle, "proton_api_enter_scope");
	ck_assert(enter == get(1)->enter_scope);
}
END_TEST

static void *scopes_thread(void *arg)
{
	for (int i = 0; i < 10000; i++) {
		proton_enter_scope("t");
		proton_exit_scope();
	}
	return NULL;
}

/* The first call may come from several threads at once. */
START_TEST(test_threads)
{
	struct stub *stub = open_stub();
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, scopes_thread, NULL), 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	ck_assert(strstr(stub->log, "start API\n") == stub->log);
	ck_assert(strstr(stub->log + 1, "start") == NULL);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("api");
	TCase *tc = tcase_create("api");

	tcase_add_loop_test(tc, test_absent, 0, 4);
	tcase_add_test(tc, test_scopes);
	tcase_add_test(tc, test_metrics);
	tcase_add_test(tc, test_sessions);
	tcase_add_test(tc, test_phases);
	tcase_add_test(tc, test_states_and_launches);
	tcase_add_test(tc, test_older_collector);
	tcase_add_test(tc, test_refused);
	tcase_add_test(tc, test_versions);
	tcase_add_test(tc, test_threads);
	suite_add_tcase(s, tc);
	return check_run(s);
}
