/* SPDX-License-Identifier: MIT */
/* What other threads do in the middle of a burst, made to happen there: own_fd_write() is this file's,
 * and calls `meanwhile` once, before the burst's first frame goes out. And in the middle of the start,
 * by tables_new(). */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "base/clock.h"
#include "collect/internal.h"
#include "collect/own_fd.h"
#include "collect/slots.h"
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

	a.launch = sink->ops->launch(sink, NULL);
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
	const struct device_info info = {
		.type = "CUDA", .index = 3, .name = "the third", .arch = "90", .uuid = "GPU-3"};
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
	ck_assert_str_eq(strtab_str(rig_session->strings, rig_session->devices[0].name),
			 "the third");
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
	slot = slot_intern(node, lane_intern(WIRE_NONE, 0, 0, 0), SET_ID_HOST, 0);
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

/* ---- sinks that come and go beside ours ---- */

struct other_sink {
	struct activity_sink sink;
	_Atomic uint64_t n, time_ns;
	_Atomic bool gone; /* nobody may come any more */
	_Atomic uint64_t n_late;
};

static void other_record(struct activity_sink *sink, const struct activity *a)
{
	struct other_sink *o = (struct other_sink *)sink;

	if (atomic_load(&o->gone))
		o->n_late++;
	o->n++;
	o->time_ns += a->end_ns - a->start_ns;
	sched_yield(); /* somebody may take it away meanwhile */
	if (atomic_load(&o->gone))
		o->n_late++;
}

static const struct activity_sink_ops other_ops = {.record = other_record};

enum { N_PRODUCERS = 3, N_EACH = 20000 };
static _Atomic unsigned n_producing;

static void *produce(void *arg)
{
	for (unsigned i = 0; i < N_EACH; i++)
		kernel(0);
	n_producing--;
	return arg;
}

/* Two have all records, as we have; a third comes and goes while they are delivered. */
START_TEST(test_sinks_come_and_go)
{
	static struct other_sink always[2];
	struct other_sink *visitor;
	pthread_t threads[N_PRODUCERS];
	uint64_t n_visits = 0, n_seen = 0;

	rig_start();
	for (int i = 0; i < 2; i++) {
		always[i].sink.ops = &other_ops;
		ck_assert_int_eq(collect_listen(SOURCE_FAKE, &always[i].sink), 0);
	}
	n_producing = N_PRODUCERS;
	for (int i = 0; i < N_PRODUCERS; i++)
		pthread_create(&threads[i], NULL, produce, NULL);
	while (n_producing || !n_seen) {
		visitor = calloc(1, sizeof(*visitor));
		visitor->sink.ops = &other_ops;
		ck_assert_int_eq(collect_listen(SOURCE_FAKE, &visitor->sink), 0);
		while (n_producing && !visitor->n)
			sched_yield();
		if (!n_producing)
			kernel(0);
		ck_assert_int_eq(collect_unlisten(SOURCE_FAKE, &visitor->sink), 0);
		visitor->gone = true;
		n_visits++;
		n_seen += visitor->n;
		ck_assert_uint_eq(visitor->time_ns, 10 * visitor->n);
		ck_assert_uint_eq(visitor->n_late, 0);
		free(visitor);
	}
	for (int i = 0; i < N_PRODUCERS; i++)
		pthread_join(threads[i], NULL);
	ck_assert_uint_ge(n_seen, n_visits - 1);
	ck_assert_uint_ge(always[0].n, N_PRODUCERS * N_EACH);
	ck_assert_uint_eq(always[0].n, always[1].n);
	ck_assert_uint_eq(always[0].time_ns, 10 * always[0].n);
	rig_until_sum("k", METRIC_COUNT, (long)always[0].n);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(collect_unlisten(SOURCE_FAKE, &always[i].sink), 0);
	ck_assert_int_eq(collect_unlisten(SOURCE_FAKE, &always[0].sink), -ENOENT);
	ck_assert_int_eq(collect_listen(N_SOURCES, &always[0].sink), -EINVAL);
	kernel(0);
	rig_until_sum("k", METRIC_COUNT, (long)always[0].n + 1);
}
END_TEST

static void *produce_one(void *arg)
{
	kernel(0);
	return arg;
}

static struct slow_sink {
	struct activity_sink sink;
	sem_t is_inside, may_leave;
} slow[2];

static void slow_record(struct activity_sink *sink, const struct activity *a)
{
	struct slow_sink *s = (struct slow_sink *)sink;

	sem_post(&s->is_inside);
	sem_wait(&s->may_leave);
}

/* It listens, and the producer's record is in it. */
static void slow_begin(struct slow_sink *s, pthread_t *ret_producer)
{
	static const struct activity_sink_ops ops = {.record = slow_record};

	sem_init(&s->is_inside, 0, 0);
	sem_init(&s->may_leave, 0, 0);
	s->sink.ops = &ops;
	ck_assert_int_eq(collect_listen(SOURCE_FAKE, &s->sink), 0);
	pthread_create(ret_producer, NULL, produce_one, NULL);
	sem_wait(&s->is_inside);
}

static _Atomic bool taken_away;

static void *take_away(void *arg)
{
	atomic_store(&second_tid, (int)syscall(SYS_gettid));
	*(int *)arg = collect_unlisten(SOURCE_FAKE, &slow[0].sink);
	atomic_store(&taken_away, true);
	return NULL;
}

static void begin_to_take_away(pthread_t *ret_taker, int *ret_r)
{
	pthread_create(ret_taker, NULL, take_away, ret_r);
	while (!atomic_load(&second_tid))
		sched_yield();
	until_it_looked();
}

/* Who takes a sink away has it back only when nobody is in it. */
START_TEST(test_a_sink_that_is_busy)
{
	pthread_t producer, taker;
	int r = -1;

	rig_start();
	slow_begin(&slow[0], &producer);
	begin_to_take_away(&taker, &r);
	ck_assert(!atomic_load(&taken_away));
	sem_post(&slow[0].may_leave);
	pthread_join(producer, NULL);
	pthread_join(taker, NULL);
	ck_assert_int_eq(r, 0);
}
END_TEST

/* … and has not to wait for those who are in a sink that came meanwhile. */
START_TEST(test_a_sink_comes_as_one_goes)
{
	pthread_t producers[2], taker;
	int r = -1;

	rig_start();
	slow_begin(&slow[0], &producers[0]);
	begin_to_take_away(&taker, &r);
	slow_begin(&slow[1], &producers[1]);
	sem_post(&slow[0].may_leave);
	pthread_join(taker, NULL);
	ck_assert_int_eq(r, 0);
	for (int i = 0; i < 2; i++) /* the first one's record may come there, too */
		sem_post(&slow[1].may_leave);
	for (int i = 0; i < 2; i++)
		pthread_join(producers[i], NULL);
	ck_assert_int_eq(collect_unlisten(SOURCE_FAKE, &slow[1].sink), 0);
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
	tcase_add_test(c, test_sinks_come_and_go);
	tcase_add_test(c, test_a_sink_that_is_busy);
	tcase_add_test(c, test_a_sink_comes_as_one_goes);
	return c;
}
