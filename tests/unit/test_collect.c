/* SPDX-License-Identifier: MIT */
/* The collector's own parts: tables and scopes, the stream, intervals, races. */
#include "config.h" // IWYU pragma: keep
#include "test_collect.h"
#include <stdlib.h>
#include "check_main.h"

int main(void)
{
	Suite *suite = suite_create("collect");

	suite_add_tcase(suite, collect_tables_case());
	suite_add_tcase(suite, collect_scopes_case());
	suite_add_tcase(suite, collect_stream_case());
	suite_add_tcase(suite, collect_intervals_case());
	suite_add_tcase(suite, collect_races_case());
	suite_add_tcase(suite, collect_cpu_time_case());
	suite_add_tcase(suite, collect_host_clock_case());
	suite_add_tcase(suite, collect_budget_case());
	suite_add_tcase(suite, collect_patience_case());
	suite_add_tcase(suite, collect_turns_case());
	suite_add_tcase(suite, collect_names_case());
	suite_add_tcase(suite, collect_sessions_case());
	suite_add_tcase(suite, collect_phases_case());
	suite_add_tcase(suite, collect_states_case());
	suite_add_tcase(suite, collect_native_case());
	suite_add_tcase(suite, collect_python_case());
	suite_add_tcase(suite, collect_memory_case());
	suite_add_tcase(suite, collect_left_case());
	return check_run(suite);
}
