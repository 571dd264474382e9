/* SPDX-License-Identifier: MIT */
/* What other threads do in the middle of a burst, made to happen there: own_fd_write() is this file's,
 * and calls `meanwhile` once, before the burst's first frame goes out. And in the middle of the start,
 * by tables_new(). */
#include "config.h" // IWYU pragma: keep
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "base/clock.h"
#include "collect/internal.h"
#include "collect/own_fd.h"
#include "core/metric.h"
#include "test_collect.h"
#include "wire/wire.h"

typedef void work(void);
static _Atomic(work *) meanwhile;

ssize_t __real_own_fd_write(const struct own_fd *o, const void *data, size_t n);
ssize_t __wrap_own_fd_write(const struct own_fd *o, const void *data, size_t n);
ssize_t __wrap_own_fd_write(const struct own_fd *o, const void *data, size_t n)
{
	work *now = atomic_exchange(&meanwhile, NULL);

	if (now)
		now();
	return __real_own_fd_write(o, data, n);
}

static void kernel(int32_t device)
{
	struct activity_sink *sink = collect_sink(SOURCE_FAKE);
	struct activity a = {.kind = ACTIVITY_KERNEL,
			     .name = "k",
			     .device = device,
			     .stream = 1,
			     .start_ns = 1000,
			     .end_ns = 1010};

	a.launch = sink->ops->launch(sink);
	sink->ops->record(sink, &a);
}

/* The sender has told all, and rests for long: what is made now goes out together. */
static void start_quietly(void)
{
	rig_open();
	rig_dir->control->period_ms = 10000;
	ck_assert_int_eq(collect_start(DOOR_API), 0);
	rig_scope("first");
	rig_until_sum("first", METRIC_CPU_COUNT, 1);
}

static void burst_with(work *in_the_middle)
{
	atomic_store(&meanwhile, in_the_middle);
	sender_exec(); /* waits until it is told */
	ck_assert(!atomic_load(&meanwhile));
	sender_exec_failed();
	rig_pump();
}

static void no_errors(void)
{
	ck_assert_uint_eq(session_loss(rig_session, LOSS_WIRE_ERROR), 0);
}

/* ---- a device is named while it is told of ---- */

static void name_device(void)
{
	const struct device_info info = {.type = "CUDA",
					 .index = 3,
					 .name = "the third",
					 .arch = "90",
					 .uuid = "GPU-3"};
	struct activity_sink *sink = collect_sink(SOURCE_FAKE);

	sink->ops->device(sink, &info);
}

START_TEST(test_device_is_named)
{
	start_quietly();
	kernel(3);
	burst_with(name_device);
	rig_until_sum("k", METRIC_COUNT, 1);
	burst_with(NULL);
	ck_assert_uint_eq(rig_session->n_devices, 1);
	ck_assert_str_eq(strtab_str(rig_session->strings, rig_session->devices[0].name), "the third");
	no_errors();
}
END_TEST

/* ---- an entry before those that are used is filled late ---- */

START_TEST(test_device_claimed)
{
	start_quietly();
	atomic_store(&collector->device[0].key, 1); /* of nobody's */
	kernel(5);
	burst_with(NULL);
	no_errors();
	ck_assert_int_eq(rig_sum("k", METRIC_COUNT), -1);
	atomic_store(&collector->device[0].state, ENTRY_READY);
	burst_with(NULL);
	ck_assert_int_eq(rig_sum("k", METRIC_COUNT), 1);
	no_errors();
}
END_TEST

/* Two threads meet a device at once: it is one, though the first has not filled it for long. */
START_TEST(test_device_is_one)
{
	uint32_t id;

	start_quietly();
	kernel(5);
	id = device_intern(SOURCE_FAKE, 5);
	atomic_store(&collector->device[id].state, ENTRY_EMPTY);
	kernel(5);
	ck_assert_uint_eq(device_intern(SOURCE_FAKE, 5), id);
	burst_with(NULL);
	atomic_store(&collector->device[id].state, ENTRY_READY);
	burst_with(NULL);
	ck_assert_int_eq(rig_sum("k", METRIC_COUNT), 2);
	ck_assert_uint_eq(rig_session->n_devices, 1);
	no_errors();
}
END_TEST

START_TEST(test_metric_claimed)
{
	uint32_t i;

	start_quietly();
	for (i = 0; atomic_load(&collector->metric[i].key); i++)
		;
	atomic_store(&collector->metric[i].key, UINT64_MAX); /* of nobody's */
	collect_metric_u64("late", 7, false);
	burst_with(NULL);
	no_errors();
	atomic_store(&collector->metric[i].state, ENTRY_READY);
	burst_with(NULL);
	no_errors();
	ck_assert_int_eq(rig_sum("ROOT", metric_table_find(rig_session->metrics, "late")), 7);
}
END_TEST

static bool is_there(void *name)
{
	return rig_node(name) != SESSION_NONE;
}

/* Others do not wait for it for ever, and it is told when it is there. */
START_TEST(test_string_is_late)
{
	uint32_t id, node, slot;

	rig_start();
	rig_scope("first");
	rig_until_sum("first", METRIC_CPU_COUNT, 1);
	id = atomic_fetch_add(&collector->strings.n, 1);
	rig_scope("second");
	rig_until(is_there, (void *)"second", "what stands behind the missing one");
	collector->string[id].s = "hole";
	collector->string[id].len = 4;
	atomic_store(&collector->string[id].state, ENTRY_READY);
	node = node_intern(0, frame_intern(FRAME_SCOPE, id));
	slot = slot_intern(node, lane_intern(WIRE_NONE, 0, 0, 0), SET_ID_HOST);
	slot_add_u64(slot, 1, 3);
	slot_touch(slot);
	rig_until_sum("hole", METRIC_CPU_COUNT, 3);
	no_errors();
}
END_TEST

/* ---- two that start ---- */

static sem_t start_held, start_may_go_on;
static _Atomic bool holds_start;

struct collector *__real_tables_new(void);
struct collector *__wrap_tables_new(void);
struct collector *__wrap_tables_new(void)
{
	if (atomic_exchange(&holds_start, false)) {
		sem_post(&start_held);
		sem_wait(&start_may_go_on);
	}
	return __real_tables_new();
}

static _Atomic int second_tid;

static void *start_first(void *arg)
{
	*(int *)arg = collect_start(DOOR_API);
	return NULL;
}

static void *start_second(void *arg)
{
	atomic_store(&second_tid, (int)syscall(SYS_gettid));
	*(int *)arg = collect_start(DOOR_API);
	return NULL;
}

/* How often the second thread has gone to sleep; -1: it is gone. */
static long n_sleeps(void)
{
	char path[64], line[128];
	long n = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", atomic_load(&second_tid));
	f = fopen(path, "re");
	while (f && n < 0 && fgets(line, sizeof(line), f))
		sscanf(line, "voluntary_ctxt_switches: %ld", &n);
	if (f)
		fclose(f);
	return n;
}

/* Until it has looked at the clock again, or has given up. */
static void until_it_looked(void)
{
	const struct timespec ms = {0, NSEC_PER_MSEC};
	long before = n_sleeps();

	while (n_sleeps() >= 0 && n_sleeps() < before + 3)
		nanosleep(&ms, NULL);
}

/* Who waits for the start of another thread is not done with it because the machine stood still. */
START_TEST(test_start_outlasts_a_pause)
{
	pthread_t first, second;
	int r_first = -1, r_second = -1;

	rig_open();
	sem_init(&start_held, 0, 0);
	sem_init(&start_may_go_on, 0, 0);
	clock_fake(clock_monotonic_ns());
	atomic_store(&holds_start, true);
	pthread_create(&first, NULL, start_first, &r_first);
	sem_wait(&start_held);
	pthread_create(&second, NULL, start_second, &r_second);
	while (!atomic_load(&second_tid))
		sched_yield();
	until_it_looked();
	clock_fake(clock_monotonic_ns() + 3600 * NSEC_PER_SEC);
	until_it_looked();
	sem_post(&start_may_go_on);
	pthread_join(first, NULL);
	pthread_join(second, NULL);
	clock_fake(0);
	ck_assert_int_eq(r_first, 0);
	ck_assert_int_eq(r_second, 0);
	ck_assert_uint_eq(rig_losses(LOSS_UNSTARTED), 0);
}
END_TEST

TCase *collect_races_case(void)
{
	TCase *c = tcase_create("races");

	tcase_add_checked_fixture(c, NULL, rig_close);
	tcase_set_timeout(c, 120);
	tcase_add_test(c, test_device_is_named);
	tcase_add_test(c, test_device_claimed);
	tcase_add_test(c, test_device_is_one);
	tcase_add_test(c, test_metric_claimed);
	tcase_add_test(c, test_string_is_late);
	tcase_add_test(c, test_start_outlasts_a_pause);
	return c;
}
