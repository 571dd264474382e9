/* SPDX-License-Identifier: MIT */
/* --cpu-time: what a thread ran goes to the scope that was innermost. Bounds are the thread's own clock,
 * so that they hold however busy the machine is. */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "base/clock.h"
#include "collect/host_clock.h"
#include "collect/internal.h"
#include "test_collect.h"
#include "wire/wire.h"

enum { OTHER_TAG = 77 };

static uint64_t began_ns;

static uint64_t ran_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

static void run_for(unsigned ms)
{
	uint64_t end = ran_ns() + ms * NSEC_PER_MSEC;

	while (ran_ns() < end)
		;
}

static void enter(const char *name)
{
	collect_push(FRAME_SCOPE, COLLECT_TAG_SCOPE, name, strlen(name));
}

static void leave(void)
{
	collect_pop(COLLECT_TAG_SCOPE);
}

static void start(void)
{
	rig_start();
	rig_dir->control->wanted.cpu_time = 1;
	began_ns = ran_ns();
}

static uint64_t on_cpu(const char *name)
{
	long ns = rig_sum(name, METRIC_ON_CPU);

	ck_assert_msg(ns >= 0, "%s: no time on a processor", name);
	return (uint64_t)ns;
}

#define MS(n) ((n)*NSEC_PER_MSEC)

START_TEST(the_innermost_scope_has_it)
{
	uint64_t all_ns;

	start();
	enter("outer");
	run_for(10);
	enter("inner");
	run_for(20);
	usleep(30000);
	leave();
	run_for(5);
	leave();
	all_ns = ran_ns() - began_ns;
	rig_until_sum("outer", METRIC_CPU_COUNT, 1);
	ck_assert_uint_ge(on_cpu("outer"), MS(15));
	ck_assert_uint_ge(on_cpu("inner"), MS(20));
	ck_assert_uint_le(on_cpu("outer") + on_cpu("inner"), all_ns);
	ck_assert_int_ge(rig_sum("inner", METRIC_CPU_TIME), (long)MS(50));
}
END_TEST

/* Those of two libraries: the outer one is left first, and nothing counts twice. */
START_TEST(scopes_that_overlap_share_it)
{
	uint64_t all_ns;

	start();
	enter("first");
	collect_push(FRAME_NVTX, OTHER_TAG, "second", 6);
	run_for(10);
	leave();
	run_for(10);
	collect_pop(OTHER_TAG);
	all_ns = ran_ns() - began_ns;
	rig_until_sum("second", METRIC_CPU_COUNT, 1);
	ck_assert_uint_ge(on_cpu("second"), MS(20));
	ck_assert_uint_le(on_cpu("first") + on_cpu("second"), all_ns);
}
END_TEST

/* A pause begins some time after it is asked for; the host clock stands in it. */
START_TEST(a_pause_is_left_out)
{
	uint64_t host_ns;

	start();
	enter("warm"); /* the sender says that it pauses when it has said something */
	leave();
	host_ns = host_clock_ns();
	enter("a");
	run_for(10);
	rig_pause(true);
	run_for(400);
	rig_pause(false);
	leave();
	host_ns = host_clock_ns() - host_ns;
	rig_until_sum("a", METRIC_CPU_COUNT, 1);
	ck_assert_uint_ge(on_cpu("a"), MS(10));
	ck_assert_uint_le(on_cpu("a"), host_ns);
}
END_TEST

static void *end_within(void *arg)
{
	enter("left open");
	run_for(10);
	return arg;
}

START_TEST(a_thread_that_ends_within_has_it)
{
	pthread_t thread;

	start();
	for (unsigned i = 0; i < 2; i++) { /* the second has the place of the first */
		ck_assert_int_eq(pthread_create(&thread, NULL, end_within, NULL), 0);
		pthread_join(thread, NULL);
	}
	rig_until_sum("left open", METRIC_CPU_COUNT, 2);
	ck_assert_uint_ge(on_cpu("left open"), MS(20));
}
END_TEST

enum { HANDLED = 100 };
static _Atomic unsigned n_handled;

static void handle(int number)
{
	int saved = errno;

	(void)number;
	enter("handler");
	run_for(1);
	leave();
	atomic_fetch_add(&n_handled, 1);
	errno = saved;
}

static void *disturb(void *thread)
{
	for (unsigned i = 0; i < HANDLED; i++) {
		ck_assert_int_eq(pthread_kill(*(pthread_t *)thread, SIGUSR1), 0);
		while (atomic_load(&n_handled) == i)
			sched_yield();
	}
	return NULL;
}

/* Signals mostly come as a system call returns: that which reads the clock. */
START_TEST(a_handler_within_counts_once)
{
	pthread_t self = pthread_self(), thread;
	uint64_t all_ns;

	signal(SIGUSR1, handle);
	start();
	enter("warm"); /* the sender's threads are not made in a handler */
	leave();
	ck_assert_int_eq(pthread_create(&thread, NULL, disturb, &self), 0);
	enter("outer");
	do {
		enter("inner");
		leave();
	} while (atomic_load(&n_handled) < HANDLED);
	leave();
	all_ns = ran_ns() - began_ns;
	pthread_join(thread, NULL);
	rig_until_sum("handler", METRIC_CPU_COUNT, HANDLED);
	ck_assert_uint_ge(on_cpu("handler"), MS(HANDLED));
	ck_assert_uint_le(on_cpu("outer") + on_cpu("inner") + on_cpu("handler"), all_ns);
}
END_TEST

static bool both_are_known(void *arg)
{
	(void)arg;
	return rig_session->n_processes == 2 && rig_session->processes[1].end == PROCESS_ENDED;
}

/* What is open there has all that the child runs, from the fork on. */
START_TEST(a_child_has_its_own)
{
	int status;
	pid_t child;

	start();
	enter("warm");
	leave();
	enter("open");
	child = fork();
	if (child == 0) {
		run_for(30);
		leave();
		_exit(0); /* ours: delivers first */
	}
	waitpid(child, &status, 0);
	ck_assert_int_eq(status, 0);
	rig_until(both_are_known, NULL, "the child's end");
	ck_assert_uint_ge(on_cpu("open"), MS(30));
}
END_TEST

START_TEST(nobody_asked)
{
	rig_start();
	rig_scope("a");
	rig_until_sum("a", METRIC_CPU_COUNT, 1);
	ck_assert_int_eq(rig_sum("a", METRIC_ON_CPU), -1);
}
END_TEST

TCase *collect_cpu_time_case(void)
{
	TCase *c = tcase_create("cpu time");

	tcase_add_checked_fixture(c, NULL, rig_close);
	tcase_add_test(c, the_innermost_scope_has_it);
	tcase_add_test(c, scopes_that_overlap_share_it);
	tcase_add_test(c, a_pause_is_left_out);
	tcase_add_test(c, a_thread_that_ends_within_has_it);
	tcase_add_test(c, a_handler_within_counts_once);
	if (WITH_FORK)
		tcase_add_test(c, a_child_has_its_own);
	tcase_add_test(c, nobody_asked);
	return c;
}
