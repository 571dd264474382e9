/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TESTS_TEST_COLLECT_H
#define PROTON_TESTS_TEST_COLLECT_H
/* The tests of the collector, a case a file. */
#include <check.h>
#include "collect_rig.h"

TCase *collect_tables_case(void);
TCase *collect_scopes_case(void);
TCase *collect_stream_case(void);
TCase *collect_intervals_case(void);
TCase *collect_races_case(void);
TCase *collect_cpu_time_case(void);
TCase *collect_host_clock_case(void);
TCase *collect_budget_case(void);
TCase *collect_patience_case(void);
TCase *collect_turns_case(void);
TCase *collect_names_case(void);
TCase *collect_sessions_case(void);
TCase *collect_phases_case(void);
TCase *collect_states_case(void);
TCase *collect_native_case(void);
TCase *collect_python_case(void);
TCase *collect_memory_case(void);
TCase *collect_left_case(void);

#endif
