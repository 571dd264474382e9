/* SPDX-License-Identifier: MIT */
/* --budget: reading contexts takes a share of the launching thread's time and no more. What took how long
 * is measured here by the same thread, and without the time in which it had no processor, which is not paid for: it
 * holds however busy the machine is. */
#include "config.h" // IWYU pragma: keep
#include <pthread.h>
#include "base/clock.h"
#include "base/hash.h"
#include "base/ticks.h"
#include "collect/context_budget.h"
#include "collect/internal.h"
#include "core/activity.h"
#include "test_collect.h"

enum { PPM = 50000 };

static void start(uint32_t ppm)
{
	rig_start();
	rig_dir->control->wanted.context_budget_ppm = ppm;
}

static void spin(uint64_t ns)
{
	uint64_t end = clock_monotonic_ns() + ns;

	while (clock_monotonic_ns() < end)
		;
}

/* What was launched from a place, and how much of that was read. */
struct launches {
	uint64_t n, n_read, reading_ns;
};

/* A launch from a place, whose context is the node of the same number and takes so long to read. */
static uint32_t launch(struct launches *l, uint64_t place, uint64_t read_ns)
{
	uint32_t node = 0;
	uint64_t began_ns = clock_thread_cpu_ns();

	l->n++;
	if (!budget_look(thread_state(), ticks(), l->n, true, &node) ||
	    !budget_begin(thread_state(), hash_u64(place), true, &node)) {
		budget_pay(thread_state());
		return node;
	}
	spin(read_ns);
	budget_end(thread_state(), hash_u64(place), (uint32_t)place, false);
	budget_pay(thread_state());
	l->n_read++;
	l->reading_ns += clock_thread_cpu_ns() - began_ns;
	return (uint32_t)place;
}

/* Nine parts of its own work to each of reading: a twentieth is not enough for all, but where the machine is so busy
 * that the thread is made to wait for as long as it works. */
START_TEST(a_share_is_kept)
{
	enum { N = 16000, READ_NS = 5000 };
	struct launches of[4] = {{0, 0, 0}};
	uint64_t reading_ns = 0, n_read = 0, began_ns, took_ns, saved_ns, most_ns;

	start(PPM);
	began_ns = clock_monotonic_ns();
	for (unsigned i = 0; i < N; i++) {
		spin(9 * READ_NS);
		launch(&of[i % 4], i % 4 + 1, READ_NS);
	}
	took_ns = clock_monotonic_ns() - began_ns;
	saved_ns =
		UINT64_C(250) * NSEC_PER_MSEC * PPM / 1000000; /* before it begins, at any clock */
	most_ns = took_ns * PPM / 1000000 + saved_ns;
	for (unsigned i = 0; i < 4; i++) {
		reading_ns += of[i].reading_ns;
		n_read += of[i].n_read;
	}
	for (unsigned i = 0; i < 4; i++) {
		/* Each has its turn, though they come round in step. How many turns there are, depends on how
		 * often the thread is made to wait while it reads. */
		ck_assert_msg(of[i].n_read > n_read / 4 / 4, "place %u: %lu of %lu", i,
			      (unsigned long)of[i].n_read, (unsigned long)n_read);
		if (most_ns < (uint64_t)N * READ_NS)
			ck_assert_uint_lt(of[i].n_read, of[i].n);
	}
	ck_assert_uint_le(reading_ns, most_ns);
}
END_TEST

START_TEST(a_place_keeps_what_was_read_there)
{
	struct launches l = {0, 0, 0};

	start(PPM);
	for (unsigned i = 0; i < 3000; i++)
		ck_assert_uint_eq(launch(&l, i % 2 ? 7 : 8, 100000), i % 2 ? 7u : 8u);
	ck_assert_uint_lt(l.n_read, l.n);
}
END_TEST

/* Places that are never seen again would take all of the time. */
START_TEST(new_places_have_a_limit_too)
{
	struct launches l = {0, 0, 0};

	start(PPM);
	for (unsigned i = 0; i < 3000; i++)
		launch(&l, i + 1, 100000);
	ck_assert_uint_gt(l.n_read, 0);
	ck_assert_uint_lt(l.n_read, l.n / 2);
}
END_TEST

/* A round of launches, each of which takes long to look at: they are told by what came before them, and by what they are
 * at a glance. Where that is not known they are looked at. */
START_TEST(looks_have_a_limit_too)
{
	uint64_t began_ns, looking_ns = 0, look_ns, saved_ns, took_ns;
	unsigned n_looked = 0;
	uint32_t node;

	start(PPM);
	began_ns = clock_monotonic_ns();
	for (unsigned i = 0; i < 4000; i++) {
		/* One of a pair is at a glance as the one before. */
		uint64_t glance = i % 4 / 2;

		spin(45000);
		node = 0;
		look_ns = clock_thread_cpu_ns();
		if (!budget_look(thread_state(), ticks(), glance, false, &node)) {
			budget_pay(thread_state());
			ck_assert_uint_eq(node, i % 4 + 1);
			continue;
		}
		n_looked++;
		spin(20000);
		if (budget_begin(thread_state(), hash_u64(i % 4 + 1), true, &node))
			budget_end(thread_state(), hash_u64(i % 4 + 1), i % 4 + 1, false);
		budget_pay(thread_state());
		ck_assert(i < 300 || node == i % 4 + 1);
		looking_ns += clock_thread_cpu_ns() - look_ns;
	}
	took_ns = clock_monotonic_ns() - began_ns;
	saved_ns = UINT64_C(250) * NSEC_PER_MSEC * PPM / 1000000;
	ck_assert_uint_gt(n_looked, 4);
	ck_assert_uint_lt(n_looked, 4000);
	ck_assert_uint_le(looking_ns, took_ns * PPM / 1000000 + saved_ns);
}
END_TEST

/* Somebody told where they are, and will not for long. */
START_TEST(what_is_told_is_read_in_any_case)
{
	uint32_t node = 0;
	uint64_t paid;

	start(PPM);
	for (unsigned i = 0; i < 1000; i++) {
		ck_assert(budget_look(thread_state(), ticks(), 5, true, &node));
		spin(1000);
		budget_read(thread_state(), hash_u64(3), 7);
		budget_pay(thread_state());
	}
	paid = budget_paid(thread_state());
	ck_assert_uint_gt(paid, 0);
	ck_assert(budget_look(thread_state(), ticks(), 5, true, &node));
	ck_assert(!budget_begin(thread_state(), hash_u64(3), false, &node));
	ck_assert_uint_eq(node, 7);
}
END_TEST

/* A look that seems to take so long as nobody can save for, for the thread was stopped in it, is not the last one. */
START_TEST(a_stop_is_no_end)
{
	const uint64_t stop = UINT64_C(40000000000);
	uint32_t node = 0;

	start(PPM);
	for (unsigned i = 0; i < 16; i++) {
		ck_assert(budget_look(thread_state(), ticks() - stop, 5, true, &node));
		budget_end(thread_state(), hash_u64(3), 7, false);
		budget_pay(thread_state());
		/* So long later, it has saved all that it may. */
		ck_assert(budget_look(thread_state(), ticks(), 5, false, &node));
		budget_pay(thread_state());
	}
	/* Nor is what was not done paid for. */
	ck_assert_uint_lt(budget_paid(thread_state()), stop / 100);
}
END_TEST

START_TEST(no_limit)
{
	start(0);
	ck_assert(!budget_is_limited());
}
END_TEST

static pthread_barrier_t all_are_there;

/* One that ends leaves its credit to the next in its place. */
static void *one_thread(void *of)
{
	thread_state();
	pthread_barrier_wait(&all_are_there);
	for (unsigned i = 0; i < 200; i++)
		launch(of, 3, 100000);
	return NULL;
}

START_TEST(each_thread_has_its_own)
{
	struct launches of[4] = {{0, 0, 0}};
	pthread_t threads[4];

	start(PPM);
	pthread_barrier_init(&all_are_there, NULL, 4);
	for (unsigned i = 0; i < 4; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, one_thread, &of[i]), 0);
	for (unsigned i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	for (unsigned i = 0; i < 4; i++)
		ck_assert_uint_gt(of[i].n_read, 0);
}
END_TEST

static void record(uint32_t context)
{
	const struct activity a = {.kind = ACTIVITY_KERNEL,
				   .launch = context,
				   .start_ns = 1000,
				   .end_ns = 1010,
				   .name = "k"};

	collect_sink(SOURCE_FAKE)->ops->record(collect_sink(SOURCE_FAKE), &a);
}

START_TEST(what_is_guessed_is_counted)
{
	uint32_t node;

	start(PPM);
	collect_push(FRAME_SCOPE, COLLECT_TAG_SCOPE, "s", 1);
	node = thread_state()->node;
	for (unsigned i = 0; i < 5; i++)
		record(context_intern(node, 1, i % 2, 0, 0));
	collect_pop(COLLECT_TAG_SCOPE);
	rig_until_sum("k", METRIC_COUNT, 5);
	rig_until_sum("k", METRIC_GUESSED, 2);
}
END_TEST

TCase *collect_budget_case(void)
{
	TCase *c = tcase_create("budget");

	tcase_set_timeout(c, 120);
	tcase_add_checked_fixture(c, NULL, rig_close);
	tcase_add_test(c, a_share_is_kept);
	tcase_add_test(c, a_place_keeps_what_was_read_there);
	tcase_add_test(c, new_places_have_a_limit_too);
	tcase_add_test(c, looks_have_a_limit_too);
	tcase_add_test(c, what_is_told_is_read_in_any_case);
	tcase_add_test(c, a_stop_is_no_end);
	tcase_add_test(c, no_limit);
	tcase_add_test(c, each_thread_has_its_own);
	tcase_add_test(c, what_is_guessed_is_counted);
	return c;
}
