/* SPDX-License-Identifier: MIT */
/* The processor's counter as the clock of scopes: it says what the kernel's clock says, and is not believed
 * any more when it does not. */
#include "config.h" // IWYU pragma: keep
#include <stdio.h>
#include <string.h>
#include "base/clock.h"
#include "base/util.h"
#include "collect/host_clock.h"
#include "test_collect.h"

enum { APART_MS = 2 }; /* clocks that are led by others drift */

static bool is_counted(void)
{
	char source[16] = "";
	FILE *f = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");

	if (f && !fgets(source, sizeof(source), f))
		source[0] = '\0';
	fclosep(&f);
	if (!strcmp(source, "tsc\n"))
		return true;
	printf("skipped: the kernel does not take the time from the processor's counter\n");
	return false;
}

static bool has_rate(void *wanted)
{
	return (atomic_load(&collector->tick_rate) != 0) == *(bool *)wanted;
}

/* False: this machine has none. */
static bool start_counted(void)
{
	bool on = true;

	rig_start();
	rig_scope("warm");
	if (!is_counted())
		return false;
	rig_until(has_rate, &on, "the processor's counter");
	return true;
}

static bool is_right(void *unused)
{
	uint64_t before = clock_monotonic_ns(), ours = host_clock_ns(),
		 after = clock_monotonic_ns();

	(void)unused;
	return ours + APART_MS * NSEC_PER_MSEC >= before &&
	       ours <= after + APART_MS * NSEC_PER_MSEC;
}

START_TEST(it_says_what_the_clock_says)
{
	uint64_t inner = 0, outer = 0, sum;

	if (!start_counted())
		return;
	ck_assert(is_right(NULL));
	for (unsigned i = 0; i < 20; i++) {
		uint64_t from = clock_monotonic_ns(), begun, ended;

		collect_push(FRAME_SCOPE, COLLECT_TAG_SCOPE, "a", 1);
		begun = clock_monotonic_ns();
		do
			ended = clock_monotonic_ns();
		while (ended < begun + 2 * NSEC_PER_MSEC);
		collect_pop(COLLECT_TAG_SCOPE);
		inner += ended - begun;
		outer += clock_monotonic_ns() - from;
	}
	rig_until_sum("a", METRIC_CPU_COUNT, 20);
	sum = (uint64_t)rig_sum("a", METRIC_CPU_TIME);
	ck_assert_uint_ge(sum, inner - inner / 1000);
	ck_assert_uint_le(sum, outer + outer / 1000);
}
END_TEST

/* A machine that was suspended goes on with another number. */
START_TEST(a_jump_is_followed)
{
	if (!start_counted())
		return;
	atomic_fetch_add(&collector->tick_base, 3600 * NSEC_PER_SEC);
	rig_until(is_right, NULL, "the end of a jump");
	atomic_fetch_sub(&collector->tick_base, 3600 * NSEC_PER_SEC);
	rig_until(is_right, NULL, "the end of a jump back");
	ck_assert_uint_ne(atomic_load(&collector->tick_rate), 0);
}
END_TEST

START_TEST(another_rate_is_not)
{
	bool off = false;

	if (!start_counted())
		return;
	atomic_store(&collector->tick_rate, atomic_load(&collector->tick_rate) * 2);
	rig_until(has_rate, &off, "the clock of the kernel");
	ck_assert(is_right(NULL));
	rig_scope("after");
	rig_until_sum("after", METRIC_CPU_COUNT, 1);
}
END_TEST

TCase *collect_host_clock_case(void)
{
	TCase *c = tcase_create("host clock");

	tcase_add_checked_fixture(c, NULL, rig_close);
	tcase_add_test(c, it_says_what_the_clock_says);
	tcase_add_test(c, a_jump_is_followed);
	tcase_add_test(c, another_rate_is_not);
	return c;
}
