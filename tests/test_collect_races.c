/* SPDX-License-Identifier: MIT */
/* What other threads do in the middle of a burst, made to happen there: own_fd_write() is this file's,
 * and calls `meanwhile` once, before the burst's first frame goes out. */
#include "config.h" // IWYU pragma: keep
#include <stdatomic.h>
#include <string.h>
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
	return c;
}
