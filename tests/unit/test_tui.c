/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include "check_main.h"
#include "test_tui_session.h"

int main(void)
{
	SRunner *runner;

	if (!setlocale(LC_ALL, "C.UTF-8")) {
		puts("skipped: there is no C.UTF-8 locale");
		return 77;
	}
	runner = srunner_create(suite_text());
	srunner_add_suite(runner, suite_carry());
	srunner_add_suite(runner, suite_columns());
	srunner_add_suite(runner, suite_keys());
	srunner_add_suite(runner, suite_mouse());
	srunner_add_suite(runner, suite_past());
	srunner_add_suite(runner, suite_prompt());
	srunner_add_suite(runner, suite_settings());
	srunner_add_suite(runner, suite_actions());
	srunner_add_suite(runner, suite_screens());
	srunner_add_suite(runner, suite_views());
	srunner_add_suite(runner, suite_timeline());
	srunner_add_suite(runner, suite_warps());
	srunner_add_suite(runner, suite_tree());
	srunner_add_suite(runner, suite_terminal());
	return check_end(runner);
}
