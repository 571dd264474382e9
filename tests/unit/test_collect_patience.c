/* SPDX-License-Identifier: MIT */
/* How long our threads may take, where others have the processors (collect/patience.h). */
#include "config.h" // IWYU pragma: keep
#include <check.h>
#include "collect/patience.h"
#include "test_collect.h"

enum { WAIT_MS = 1800, LOOKS_MAX = 1000 };

/* It is at least so long since the last look. */
static uint32_t look_after(struct patience *p, uint64_t ms)
{
	p->seen_ns -= ms * NSEC_PER_MSEC;
	return patience_ms(p);
}

static uint64_t excuse(struct patience *p, uint64_t delayed_ns)
{
	patience_delayed(p, delayed_ns);
	return patience_excuse(p);
}

/* A delay is known as it ends: it may be longer than the time since the last look. */
START_TEST(delays_do_not_count)
{
	struct patience p = {.left_ns = NSEC_PER_SEC, .counted_ns = 250 * NSEC_PER_MSEC};

	ck_assert_uint_eq(excuse(&p, 0), 0);
	ck_assert_uint_eq(excuse(&p, 200 * NSEC_PER_MSEC), 200 * NSEC_PER_MSEC);
	ck_assert_uint_eq(excuse(&p, 200 * NSEC_PER_MSEC), 0); /* that was all */
	ck_assert_uint_eq(excuse(&p, 900 * NSEC_PER_MSEC), 50 * NSEC_PER_MSEC);
	ck_assert_uint_eq(p.left_ns, 1250 * NSEC_PER_MSEC);
}
END_TEST

/* A library that sleeps for ever, and we are let look late: what a long look leaves out is not given back as well. */
START_TEST(late_looks_end)
{
	struct patience p = patience(WAIT_MS);
	unsigned n = 1;

	for (; look_after(&p, 250) && n < LOOKS_MAX; n++)
		excuse(&p, n * 150 * NSEC_PER_MSEC);
	ck_assert_uint_le(n, WAIT_MS / PATIENCE_GAP_MS);
}
END_TEST

/* A library that spins for ever, and is let do so for a thousandth of the time. */
START_TEST(delays_end)
{
	struct patience p = patience(WAIT_MS);
	unsigned n = 1;

	for (; look_after(&p, 100) && n < LOOKS_MAX; n++)
		excuse(&p, n * 99900 * (NSEC_PER_MSEC / 1000));
	ck_assert_uint_lt(n, LOOKS_MAX);
	ck_assert_uint_le(p.excused_ns, PATIENCE_EXCUSED_MS * NSEC_PER_MSEC);
}
END_TEST

/* A machine that stands still now and then, and is loaded: what a long look left out was no delay of ours, which is given back. */
START_TEST(pauses_are_no_delays)
{
	struct patience p = patience(WAIT_MS);
	uint64_t delayed_ms = 0;

	for (unsigned n = 0; n < 50; n++) {
		ck_assert(look_after(&p, 50));
		excuse(&p, (delayed_ms += 50) * NSEC_PER_MSEC);
		ck_assert(look_after(&p, 300)); /* 100 ms count, and none of them is a delay */
		ck_assert_uint_eq(excuse(&p, delayed_ms * NSEC_PER_MSEC), 0);
		p.left_ns += 100 * NSEC_PER_MSEC; /* that it is not at its end by those */
	}
	ck_assert_uint_ge(p.excused_ns, 50 * 50 * NSEC_PER_MSEC);
}
END_TEST

TCase *collect_patience_case(void)
{
	TCase *tc = tcase_create("patience");

	tcase_add_test(tc, delays_do_not_count);
	tcase_add_test(tc, late_looks_end);
	tcase_add_test(tc, delays_end);
	tcase_add_test(tc, pauses_are_no_delays);
	return tc;
}
