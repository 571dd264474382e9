/* SPDX-License-Identifier: MIT */
/* Turns in which PyTorch tells of its operators, and forks. */
#include "config.h" // IWYU pragma: keep
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "base/clock.h"
#include "collect/torch_turns.h"
#include "test_collect.h"

enum { SECONDS = 20 }; /* for which anything is waited for */

static _Atomic unsigned *n_called;
static _Atomic bool *is_held;

static struct torch_turn *turn_of(const struct thread_state *t)
{
	return NULL;
}

static void begin(bool held)
{
	static const uint64_t handle = 7;
	void *library = dlopen(TORCH_OBSERVERS, RTLD_NOW);

	ck_assert_msg(library != NULL, "%s", dlerror());
	n_called = dlsym(library, "torch_observers_called");
	is_held = dlsym(library, "torch_observers_held");
	ck_assert(n_called && is_held);
	atomic_store(is_held, held);
	rig_start();
	ck_assert(torch_turns_begin(library, &handle, 1, turn_of));
}

static void nap(void)
{
	const struct timespec ts = {0, 1000000};

	nanosleep(&ts, NULL);
}

/* As the sender does it, until PyTorch was called. */
static bool look_until_called(void)
{
	uint64_t end_ns = clock_monotonic_ns() + SECONDS * NSEC_PER_SEC;

	for (; !atomic_load(n_called) && clock_monotonic_ns() < end_ns; nap())
		torch_turns_look();
	return atomic_load(n_called);
}

static void *look(void *unused)
{
	look_until_called();
	return NULL;
}

static int ended(pid_t child)
{
	int status = -1;

	ck_assert_int_eq(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

/* Its looks do nothing, and are no rarer for that; the first one would be due. */
static int look_in_child(void)
{
	uint32_t later_ms;

	torch_turns_forked();
	later_ms = torch_turns_look();
	torch_turns_capture_begins();
	if (atomic_load(n_called) != 1)
		return 1; /* PyTorch was called, whose lock may be held */
	return torch_turns_look() == later_ms && later_ms > 2 ? 0 : 2;
}

START_TEST(a_child_of_a_fork_in_a_look)
{
	pthread_t sender;
	pid_t child;

	begin(true);
	ck_assert_int_eq(pthread_create(&sender, NULL, look, NULL), 0);
	while (!atomic_load(n_called))
		nap();
	torch_turns_fork_begins();
	child = fork();
	if (!child) {
		alarm(SECONDS);
		_exit(look_in_child());
	}
	ck_assert_int_eq(ended(child), 0);
	atomic_store(is_held, false);
	ck_assert_int_eq(pthread_join(sender, NULL), 0);
}
END_TEST

START_TEST(a_child_of_another_fork_looks_on)
{
	pid_t child;

	begin(false);
	torch_turns_fork_begins();
	child = fork();
	if (!child) {
		torch_turns_forked();
		_exit(look_until_called() ? 0 : 1);
	}
	ck_assert_int_eq(ended(child), 0);
	ck_assert(look_until_called());
}
END_TEST

TCase *collect_turns_case(void)
{
	TCase *tc = tcase_create("turns");

	tcase_set_timeout(tc, 60);
	if (WITH_FORK) {
		tcase_add_test(tc, a_child_of_a_fork_in_a_look);
		tcase_add_test(tc, a_child_of_another_fork_looks_on);
	}
	return tc;
}
