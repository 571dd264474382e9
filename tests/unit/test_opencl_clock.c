/* SPDX-License-Identifier: MIT */
/* The clock of a device as that of the host: worlds whose two clocks are known. */
#include "config.h" // IWYU pragma: keep
#include <check.h>
#include <stdlib.h>
#include "backends/opencl_clock.h"
#include "base/util.h"
#include "check_main.h"

#define BEGIN_NS UINT64_C(1790000000000000000)

/* A device whose clock began somewhere and goes too fast, or too slow, by millionths. */
struct world {
	uint64_t now_ns; /* the host's */
	uint64_t began;
	int drift_ppm;
};

static uint64_t device_ns(const struct world *w, uint64_t host_ns)
{
	int64_t since = (int64_t)(host_ns - BEGIN_NS);

	return w->began + (uint64_t)(since + since / 1000000 * w->drift_ppm);
}

static uint64_t some(uint64_t most)
{
	return (uint64_t)random() % most + 1;
}

/* A command of this world; when it really ran. */
static struct opencl_sight command(struct world *w, uint64_t *ret_start_ns, uint64_t *ret_end_ns)
{
	struct opencl_sight s = {.called_ns = w->now_ns};
	uint64_t queued_ns = s.called_ns + some(3000);

	s.returned_ns = queued_ns + some(5000);
	*ret_start_ns = queued_ns + some(100000);
	*ret_end_ns = *ret_start_ns + some(1000000);
	s.seen_ns = MAX(*ret_end_ns, s.returned_ns) + some(300000);
	s.queued = device_ns(w, queued_ns);
	s.start = device_ns(w, *ret_start_ns);
	s.end = device_ns(w, *ret_end_ns);
	w->now_ns = s.seen_ns + some(10000000);
	return s;
}

static struct world make_world(int drift_ppm)
{
	return (struct world){BEGIN_NS, (uint64_t)random() << (random() % 33), drift_ppm};
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* Never before its call, never after it was seen, and as near as the calls are short. */
START_TEST(near_the_truth)
{
	struct world w;
	struct opencl_clock clock = {0};

	srandom((unsigned)_i + 1);
	w = make_world((int)(random() % 181) - 90);
	for (int i = 0; i < 2000; i++) {
		uint64_t start_ns, end_ns;
		struct opencl_sight s = command(&w, &start_ns, &end_ns);
		uint64_t offset = (uint64_t)opencl_clock_see(&clock, &s);

		ck_assert_uint_ge(s.start + offset, s.called_ns);
		ck_assert_uint_le(s.end + offset, s.seen_ns);
		ck_assert_uint_le(distance(s.start + offset, start_ns), 10000);
		ck_assert_uint_le(distance(s.end + offset, end_ns), 10000);
	}
	ck_assert(!clock.ignores_queued);
}
END_TEST

/* Commands that follow each other stay as far apart as they were, where the clocks agree. */
START_TEST(stays_as_it_is)
{
	struct world w;
	struct opencl_clock clock = {0};
	uint64_t start_ns, end_ns, moved = 0;
	int64_t before = 0;

	srandom((unsigned)_i + 1);
	w = make_world(0);
	for (int i = 0; i < 1000; i++) {
		struct opencl_sight s = command(&w, &start_ns, &end_ns);
		int64_t offset = opencl_clock_see(&clock, &s);

		moved += i && offset != before;
		before = offset;
	}
	ck_assert_uint_le(moved, 20);
}
END_TEST

/* When it was queued is told by another clock, or not at all: no worse than that. */
START_TEST(without_queued)
{
	struct world w;
	struct opencl_clock clock = {0};

	srandom((unsigned)_i + 1);
	w = make_world(0);
	for (int i = 0; i < 1000; i++) {
		uint64_t start_ns, end_ns;
		struct opencl_sight s = command(&w, &start_ns, &end_ns);
		uint64_t offset;

		s.queued = _i % 2 ? 0 : s.called_ns;
		offset = (uint64_t)opencl_clock_see(&clock, &s);
		ck_assert_uint_ge(s.start + offset, s.called_ns);
		ck_assert_uint_le(s.end + offset, s.seen_ns);
		ck_assert_uint_le(distance(s.start + offset, start_ns), 400000);
	}
}
END_TEST

/* Either clock is set: what comes after is right again. */
START_TEST(a_clock_is_set)
{
	struct world w;
	struct opencl_clock clock = {0};
	uint64_t start_ns, end_ns, offset;
	struct opencl_sight s;

	srandom((unsigned)_i + 1);
	w = make_world(0);
	for (int i = 0; i < 200; i++) {
		if (i == 50)
			w.began += _i % 2 ? 3600 * NSEC_PER_SEC : -(uint64_t)NSEC_PER_SEC;
		if (i == 65)
			w.now_ns += 7200 * NSEC_PER_SEC;
		if (i == 80)
			w.now_ns -= 3600 * NSEC_PER_SEC;
		s = command(&w, &start_ns, &end_ns);
		offset = (uint64_t)opencl_clock_see(&clock, &s);
		ck_assert_uint_le(distance(s.start + offset, start_ns), 10000);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("opencl_clock");
	TCase *tc = tcase_create("opencl_clock");

	tcase_add_loop_test(tc, near_the_truth, 0, 50);
	tcase_add_loop_test(tc, stays_as_it_is, 0, 20);
	tcase_add_loop_test(tc, without_queued, 0, 20);
	tcase_add_loop_test(tc, a_clock_is_set, 0, 20);
	suite_add_tcase(suite, tc);
	return check_run(suite);
}
