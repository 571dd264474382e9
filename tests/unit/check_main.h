/* SPDX-License-Identifier: MIT */
#ifndef TESTS_UNIT_CHECK_MAIN_H
#define TESTS_UNIT_CHECK_MAIN_H
/* How a test program of Check ends: what main() returns. */
#include <check.h>
#include <stdlib.h>

/* The runner is freed. */
static inline int check_end(SRunner *runner)
{
	int n_failed;

	srunner_run_all(runner, CK_ENV);
	n_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

static inline int check_run(Suite *suite)
{
	return check_end(srunner_create(suite));
}

#endif
