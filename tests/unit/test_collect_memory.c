/* SPDX-License-Identifier: MIT */
/* What is allocated, where there is no room, no time, or a clock that is set back. */
#include "config.h" // IWYU pragma: keep
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include "base/clock.h"
#include "base/util.h"
#include "collect/allocations.h"
#include "collect/internal.h"
#include "collect/live_memory.h"
#include "test_collect.h"
#include "wire/wire.h"

static void add(unsigned operation, uint64_t address, uint64_t at_ns)
{
	allocations_add(0, &(struct memory_event){.operation = operation,
						  .kind = MEMORY_DEVICE,
						  .at_ns = at_ns,
						  .address = address,
						  .bytes = 4096});
}

static void settle(void)
{
	allocations_settle(0, clock_realtime_ns());
}

#ifndef PROTON_SANITIZED /* a sanitizer maps more than any limit */
static void no_more_memory(void)
{
	const struct rlimit limit = {0, RLIM_INFINITY};

	ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);
}

/* Each is counted, and none waits: whoever delivers them may be the program itself. */
START_TEST(test_no_memory)
{
	uint64_t began;

	rig_start();
	no_more_memory();
	began = clock_monotonic_ns();
	for (unsigned i = 1; i <= 100; i++)
		add(MEMORY_ALLOCATED, i, began);
	ck_assert_uint_lt(clock_monotonic_ns() - began, 2 * NSEC_PER_SEC);
	ck_assert_uint_eq(rig_losses(LOSS_NO_MEMORY), 100);
	ck_assert_uint_eq(atomic_load(&collector->n_waiting), 0);
	settle();
}
END_TEST

/* What is not in a table that cannot grow is found missing without a look at all of it. */
START_TEST(test_no_room)
{
	struct live_memory m = {0};
	struct live_block b = {.address = 1};

	ck_assert(live_put(&m, &b));
	no_more_memory();
	for (b.address = 2; live_put(&m, &b); b.address++)
		;
	ck_assert_uint_eq(m.n, m.size / 8 * 7);
	ck_assert_uint_eq(m.n, b.address - 1);
	for (uint64_t i = 1; i < b.address; i++)
		ck_assert_ptr_nonnull(live_find(&m, i));
	live_remove(&m, live_find(&m, 7));
	ck_assert_ptr_null(live_find(&m, 7));
	ck_assert(live_put(&m, &b));
	ck_assert(!live_put(&m, &(struct live_block){.address = UINT64_MAX}));
}
END_TEST
#endif

static void fill_slots(void)
{
	char name[16];
	uint32_t id = 0;

	for (uint32_t i = 0; id != WIRE_NONE; i++) {
		uint32_t node;

		snprintf(name, sizeof(name), "n%u", i);
		node = node_intern(0, frame_intern(FRAME_SCOPE, string_intern(name, strlen(name))));
		for (uint32_t lane = 0; lane < 1024 && id != WIRE_NONE; lane++)
			id = slot_intern(node, lane_intern(WIRE_NONE, 0, 0, lane), SET_ID_HOST, 0);
	}
}

/* What has no place is a loss once, not when it is released again, too. */
START_TEST(test_no_place)
{
	uint64_t before;

	rig_start();
	fill_slots();
	before = rig_losses(LOSS_SLOTS_FULL);
	for (unsigned i = 1; i <= 3; i++)
		add(MEMORY_ALLOCATED, i, i);
	settle();
	/* … and the row of all of the kind. */
	ck_assert_uint_eq(rig_losses(LOSS_SLOTS_FULL), before + 3 + 1);
	for (unsigned i = 1; i <= 3; i++)
		add(MEMORY_RELEASED, i, 10 + i);
	settle();
	allocations_settle(0, UINT64_MAX);
	ck_assert_uint_eq(rig_losses(LOSS_SLOTS_FULL), before + 3 + 1);
}
END_TEST

/* Two sources wait for each other, who each have an address of their own: the order of one is not spoilt by the other. */
START_TEST(test_two_sources)
{
	uint64_t now = clock_realtime_ns() - NSEC_PER_SEC;
	const struct memory_event theirs = {.operation = MEMORY_ALLOCATED,
					    .kind = MEMORY_DEVICE,
					    .at_ns = now + 5,
					    .address = 16,
					    .bytes = 512};

	rig_start();
	allocations_settle(0, now);
	allocations_add(1, &theirs);
	add(MEMORY_RELEASED, 16, now + 20);
	allocations_settle(1, now + 100);
	ck_assert_uint_eq(atomic_load(&collector->n_waiting), 2);
	add(MEMORY_ALLOCATED, 16, now + 10);
	allocations_settle(0, now + 100);
	ck_assert_uint_eq(atomic_load(&collector->n_waiting), 0);
	rig_until_sum("alloc device", METRIC_FREES, 1);
	rig_until_sum("alloc device", METRIC_ALLOCATED, 4096 + 512);
	ck_assert_uint_eq(rig_node("alloc before proton"), SESSION_NONE);
}
END_TEST

START_TEST(test_clock_set_back)
{
	uint64_t later = clock_realtime_ns() + 3600 * NSEC_PER_SEC;

	rig_start();
	add(MEMORY_ALLOCATED, 1, later);
	for (unsigned i = 0; i < 3; i++)
		settle();
	ck_assert_uint_eq(atomic_load(&collector->n_waiting), 0);
	/* In the order of time again. */
	add(MEMORY_RELEASED, 2, clock_realtime_ns());
	add(MEMORY_ALLOCATED, 2, clock_realtime_ns() - NSEC_PER_SEC);
	settle();
	rig_until_sum("alloc device", METRIC_FREES, 1);
	ck_assert_uint_eq(rig_node("alloc before proton"), SESSION_NONE);
}
END_TEST

static void at_end(void)
{
	allocations_settle(0, UINT64_MAX);
}

/* A buffer comes when all is done that is in it, which may be later than one that is newer. */
START_TEST(test_release_comes_first)
{
	uint64_t now = clock_realtime_ns() - NSEC_PER_SEC;

	rig_start();
	for (unsigned i = 1; i <= 1000; i++) {
		add(MEMORY_RELEASED, i, now + 2 * i + 1);
		settle();
		add(MEMORY_ALLOCATED, i, now + 2 * i);
		settle();
	}
	/* The address is another's by then: released, or not. */
	for (unsigned i = 5000; i <= 5001; i++) {
		add(MEMORY_RELEASED, i, now + 8000);
		add(MEMORY_ALLOCATED, i, now + 9000);
		if (i == 5000)
			add(MEMORY_RELEASED, i, now + 9001);
		settle();
		add(MEMORY_ALLOCATED, i, now + 7000);
		settle();
	}
	/* In yet another order; and one that was there when all began. */
	add(MEMORY_ALLOCATED, 5002, now + 9000);
	settle();
	add(MEMORY_RELEASED, 5002, now + 8000);
	settle();
	add(MEMORY_ALLOCATED, 5002, now + 7000);
	add(MEMORY_RELEASED, 6000, now + 9000);
	add(MEMORY_ALLOCATED, 6000, now + 9001);
	settle();
	ck_assert_uint_eq(rig_node("alloc before proton"), SESSION_NONE);
	at_end();
	rig_until_sum("alloc device", METRIC_ALLOCS, 1007);
	rig_until_sum("alloc device", METRIC_FREES, 1004);
	rig_until_sum("alloc device", METRIC_MEM_LIVE, 3 * 4096);
	rig_until_sum("alloc before proton", METRIC_FREES, 1);
	rig_until_sum("alloc before proton", METRIC_FREED, 4096);
}
END_TEST

static uint32_t late(void)
{
	return atomic_load(&rig_dir->control->n_late);
}

/* Of what there was no time to take. */
START_TEST(test_late)
{
	rig_start();
	collect_metric_u64("m", 1, false);
	for (unsigned i = 1; i <= 5; i++)
		add(MEMORY_ALLOCATED, i, i);
	sender_finish();
	ck_assert_uint_eq(late(), 5);
	settle(); /* in time for a word more */
	sender_finish();
	ck_assert_uint_eq(late(), 0);
}
END_TEST

/* Of variables of a module: nobody asked for them. */
START_TEST(test_variables)
{
	struct memory_event e = {.operation = MEMORY_ALLOCATED,
				 .kind = MEMORY_DEVICE,
				 .at_ns = 1000,
				 .bytes = 8,
				 .address = 4096};

	rig_start();
	allocations_add(0, &e);
	e.address++;
	e.is_static = true;
	allocations_add(0, &e);
	allocations_settle(0, UINT64_MAX);
	rig_until_sum("alloc device variables", METRIC_ALLOCS, 1);
	rig_until_sum("alloc device", METRIC_ALLOCS, 1);
}
END_TEST

/* ---- what steps know of it ---- */

static void work_in_step(unsigned i)
{
	struct activity_sink *sink = collect_sink(SOURCE_FAKE);
	char name[16];
	int n = snprintf(name, sizeof(name), "step %u", i);
	struct activity a = {.kind = ACTIVITY_KERNEL, .name = "k"};

	collect_push(FRAME_SCOPE, COLLECT_TAG_SCOPE, name, (size_t)n);
	a.launch = sink->ops->launch(sink, NULL);
	a.start_ns = clock_realtime_ns();
	a.end_ns = a.start_ns + 1;
	sink->ops->record(sink, &a);
	collect_pop(COLLECT_TAG_SCOPE);
}

/* Blocks come and go: two changes each. */
static void come_and_go(unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		add(MEMORY_ALLOCATED, 16, clock_realtime_ns());
		add(MEMORY_RELEASED, 16, clock_realtime_ns());
	}
}

/* All is there, and what steps have of it is looked up. */
static void take(void)
{
	struct activity_sink *sink = collect_sink(SOURCE_FAKE);
	uint64_t now = clock_realtime_ns();

	allocations_settle(0, now);
	sink->ops->settled(sink, now);
	ck_assert(sender_deliver());
	rig_pump();
}

/* The sender takes no more than has room: it is asked here alone. Without a step nobody misses any. */
START_TEST(test_more_than_steps_take)
{
	enum { ROOM = 1 << 17, MORE = 1234 };

	rig_open();
	rig_dir->control->period_ms = 10000;
	ck_assert_int_eq(collect_start(DOOR_API), 0);
	come_and_go((ROOM + MORE) / 2);
	take();
	for (unsigned i = 0; i < 8; i++)
		work_in_step(i);
	take();
	come_and_go(ROOM / 2);
	work_in_step(8);
	take();
	ck_assert_uint_eq(session_loss(rig_session, LOSS_STEP_MEMORY), 0);
	ck_assert_int_eq(rig_sum("step 0", METRIC_STEP_HELD_MAX), 0);
	come_and_go(ROOM / 2);
	for (unsigned i = 1; i <= MORE; i++)
		add(MEMORY_ALLOCATED, 16 * i, clock_realtime_ns());
	take();
	ck_assert_uint_eq(session_loss(rig_session, LOSS_STEP_MEMORY), 0);
	work_in_step(9);
	take();
	ck_assert_uint_eq(session_loss(rig_session, LOSS_STEP_MEMORY), MORE);
	/* What is there since is not forgotten with how it came. */
	ck_assert_int_eq(rig_sum("step 0", METRIC_STEP_HELD_KNOWN), 9);
	ck_assert_int_eq(rig_sum("step 0", METRIC_STEP_HELD_MAX), 4096L * MORE);
}
END_TEST

/* ---- pools ---- */

/* MiB of a pool after an allocation. */
static void add_pooled(uint64_t address, uint64_t at_ns, uint64_t bytes, uint64_t reserved,
		       uint64_t used)
{
	allocations_add(0, &(struct memory_event){.operation = MEMORY_ALLOCATED,
						  .kind = MEMORY_DEVICE,
						  .at_ns = at_ns,
						  .address = address,
						  .bytes = bytes << 20,
						  .pool = 7,
						  .pool_bytes = reserved << 20,
						  .pool_used = used << 20});
}

/* How a pool grew is told of nothing that nobody saw, and of nothing twice. */
START_TEST(test_pools)
{
	uint64_t now = clock_realtime_ns() - NSEC_PER_SEC;

	rig_start();
	add_pooled(1, now, 1, 64, 32);      /* what was there before is not known */
	add_pooled(2, now + 10, 8, 72, 40); /* fragmented: 32 were free */
	settle();
	rig_until_sum("alloc device pool", METRIC_FRAGMENTED, 8 << 20);
	/* One that is told of late is of what there was then. */
	add_pooled(3, now + 5, 1, 64, 33);
	settle();
	add_pooled(4, now + 20, 1, 72, 41);
	settle();
	/* A release that is told of never: there was less free than it seems. */
	add_pooled(5, now + 30, 30, 94, 94);
	settle();
	rig_until_sum("alloc device pool", METRIC_POOL_GROWN, (8 + 22) << 20);
	allocations_add(0, &(struct memory_event){.operation = MEMORY_UNSEEN, .at_ns = now + 40});
	add_pooled(6, now + 50, 1, 200, 50);
	add_pooled(7, now + 60, 1, 204, 51);
	settle();
	rig_until_sum("alloc device pool", METRIC_POOL_GROWN, (8 + 22 + 4) << 20);
	rig_until_sum("alloc device pool", METRIC_FRAGMENTED, (8 + 4) << 20);
	rig_until_sum("alloc device pool", METRIC_FRAGMENTED_TIMES, 2);
	rig_until_sum("pool", METRIC_POOL_PEAK, 204 << 20);
	rig_until_sum("pool", METRIC_POOL_USED_PEAK, 94 << 20);
	rig_until_sum("pool", METRIC_POOL_UNUSED, (204 - 51) << 20);
}
END_TEST

TCase *collect_memory_case(void)
{
	TCase *c = tcase_create("memory");

	tcase_add_checked_fixture(c, NULL, rig_close);
	tcase_set_timeout(c, 60);
#ifndef PROTON_SANITIZED
	tcase_add_test(c, test_no_memory);
	tcase_add_test(c, test_no_room);
#endif
	tcase_add_test(c, test_no_place);
	tcase_add_test(c, test_two_sources);
	tcase_add_test(c, test_clock_set_back);
	tcase_add_test(c, test_release_comes_first);
	tcase_add_test(c, test_late);
	tcase_add_test(c, test_variables);
	tcase_add_test(c, test_more_than_steps_take);
	tcase_add_test(c, test_pools);
	return c;
}
