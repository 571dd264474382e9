/* SPDX-License-Identifier: MIT */
/* What is kept of single scopes: which launches (intra/launch_choice.h), which blocks (block_choice.h), in which order
 * (warp_singles.h). */
#include "config.h" // IWYU pragma: keep

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/util.h"
#include "check_main.h"
#include "intra/launch_choice.h"
#include "intra/warp_file.h"
#include "intra/block_choice.h"
#include "intra/warp_async.h"
#include "intra/warp_singles.h"

#define NONE WARP_TRACE_NO_PARENT

/* ---- launches ---- */

static struct buf gone;

static void on_gone(void *ctx, uint64_t id)
{
	ck_assert_ptr_eq(ctx, &gone);
	buf_printf(&gone, "%u ", (unsigned)id);
}

static struct launch_choice choice_of(uint32_t most, uint64_t bytes)
{
	buf_init(&gone, 0);
	return (struct launch_choice){
		.most = most, .bytes_most = bytes, .gone = on_gone, .ctx = &gone};
}

static void add(struct launch_choice *c, uint64_t kernel, uint64_t id, uint64_t took_ns,
		uint64_t bytes)
{
	const struct choice_launch launch = {
		.id = id, .began_ns = id, .took_ns = took_ns, .bytes = bytes};

	ck_assert_int_eq(launch_choice_add(c, kernel, &launch), 0);
}

/* The launches of a kernel that are kept, by their ids. */
static const char *kept(const struct launch_choice *c, uint64_t kernel)
{
	static char text[8192];
	size_t len = 0;

	text[0] = '\0';
	for (size_t i = 0; i < c->n; i++)
		for (size_t k = 0; c->kernels[i].key == kernel && k < c->kernels[i].n; k++)
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%u ",
						(unsigned)c->kernels[i].kept[k].id);
	return text;
}

static void choice_is_over(struct launch_choice *c)
{
	launch_choice_done(c);
	buf_done(&gone);
}

START_TEST(the_first_the_slowest_and_the_last_launches_are_kept)
{
	static const struct {
		uint32_t most;
		const char *kept;
	} cases[] = {{1, "1 "},
		     {2, "1 9 "},
		     {3, "1 9 18 "},
		     {4, "1 2 9 18 "},
		     {6, "1 2 5 9 17 18 "},
		     {17, "1 2 3 4 5 6 7 8 9 11 12 13 14 15 16 17 18 "},
		     {18, "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 "},
		     {99, "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 "}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct launch_choice c = choice_of(cases[i].most, UINT64_MAX);

		for (uint64_t id = 1; id <= 18; id++)
			add(&c, 7, id,
			    id == 9    ? 1000
			    : id == 5  ? 900
			    : id == 10 ? 1
				       : 100 + id,
			    10);
		ck_assert_str_eq(kept(&c, 7), cases[i].kept);
		choice_is_over(&c);
	}
}
END_TEST

/* Of launches that take any time, each another; none as long as 1009. */
static uint64_t some_time(uint64_t id)
{
	return id * 211 % 1009;
}

/* All of a burst of 1,000 have run before the first one is told; their records came in two parts, the later one first. How many of
 * them were told; those that are kept: in c. */
static size_t tell_burst(struct launch_choice *c, uint64_t bytes, uint64_t n_later, bool asks)
{
	size_t n = 0;

	for (uint64_t i = 0; i < 1000; i++)
		launch_choice_ran(c, 7, (i + n_later) % 1000 + 1);
	for (uint64_t id = 1; id <= 1000; id++) {
		if (asks && !launch_choice_may_keep(c, 7, id, some_time(id)))
			continue;
		add(c, 7, id, some_time(id), bytes);
		n++;
	}
	return n;
}

START_TEST(what_would_not_be_kept_is_known_before)
{
	static const struct burst_case {
		uint32_t most;
		uint64_t room; /* for so many, of 10 KB */
		size_t n_told_most;
	} cases[] = {{1, 1000, 1},    {2, 1000, 20}, {3, 1000, 20}, {6, 1000, 40},
		     {30, 1000, 120}, {30, 8, 80},   {6, 1, 1},     {1000, 1000, 1000}};

	for (size_t i = 0; i < 4 * sizeof(cases) / sizeof(*cases); i++) {
		static const uint64_t n_later[] = {0, 2, 300, 998};
		const struct burst_case *b = &cases[i / 4];
		uint64_t bytes = 10000, room = b->room * (bytes + 4096);
		struct launch_choice all = choice_of(b->most, room);
		struct launch_choice asked = choice_of(b->most, room);
		_cleanup_(freep) char *wanted = NULL;

		ck_assert_uint_eq(tell_burst(&all, bytes, n_later[i % 4], false), 1000);
		wanted = strdup(kept(&all, 7));
		ck_assert_uint_le(tell_burst(&asked, bytes, n_later[i % 4], true), b->n_told_most);
		ck_assert_str_eq(kept(&asked, 7), wanted);
		launch_choice_done(&all);
		choice_is_over(&asked);
	}
}
END_TEST

/* Their records come one by one: each may be the last. */
START_TEST(the_last_one_may_always_be_kept)
{
	struct launch_choice c = choice_of(3, UINT64_MAX);

	for (uint64_t id = 1; id <= 20; id++) {
		launch_choice_ran(&c, 7, id);
		ck_assert(launch_choice_may_keep(&c, 7, id, 100 - id));
		add(&c, 7, id, 100 - id, 10);
	}
	ck_assert(launch_choice_may_keep(&c, 8, 1, 1)); /* nothing is known of it */
	ck_assert_str_eq(kept(&c, 7), "1 2 20 ");
	choice_is_over(&c);
}
END_TEST

START_TEST(the_order_is_that_of_beginning)
{
	static const uint64_t ids[] = {3, 1, 2, 6, 4, 5};
	struct launch_choice c = choice_of(3, UINT64_MAX);

	for (size_t i = 0; i < 6; i++)
		add(&c, 7, ids[i], ids[i] == 4 ? 50 : 10, 10);
	ck_assert_str_eq(kept(&c, 7), "1 4 6 ");
	choice_is_over(&c);
}
END_TEST

START_TEST(each_kernel_has_its_own)
{
	struct launch_choice c = choice_of(1, UINT64_MAX);

	for (uint64_t id = 0; id < 100; id++)
		add(&c, id % 50, id, 1, 1);
	for (uint64_t id = 0; id < 50; id++)
		ck_assert_int_eq(strtol(kept(&c, id), NULL, 10), (long)id);
	choice_is_over(&c);
}
END_TEST

START_TEST(the_largest_kernel_gives_way)
{
	struct launch_choice c = choice_of(9, 100000);

	add(&c, 1, 1, 5, 20000);
	add(&c, 1, 2, 9, 20000);
	add(&c, 1, 3, 7, 20000);
	ck_assert_str_eq(buf_str(&gone), "");
	add(&c, 2, 4, 1, 20000);
	ck_assert_str_eq(buf_str(&gone), "");
	add(&c, 3, 5, 1, 20000); /* five of them, with what files take beside */
	ck_assert_str_eq(buf_str(&gone), "3 ");
	ck_assert_str_eq(kept(&c, 1), "1 2 ");
	add(&c, 4, 6, 1, 20000);
	ck_assert_str_eq(kept(&c, 1), "1 ");
	/* Each has one: there is no room for another. */
	add(&c, 5, 7, 99, 20000);
	ck_assert_str_eq(buf_str(&gone), "3 2 7 ");
	ck_assert_str_eq(kept(&c, 5), "");
	add(&c, 6, 8, 99, 500000);
	ck_assert_str_eq(buf_str(&gone), "3 2 7 8 ");
	ck_assert_uint_le(c.bytes, 100000);
	choice_is_over(&c);
}
END_TEST

/* ---- blocks ---- */

static void add_block(struct block_choice *s, uint64_t block, size_t n_scopes)
{
	struct warp_trace_scope scopes[8] = {0};

	for (uint32_t warp = 0; warp < 4; warp++) {
		for (size_t i = 0; i < n_scopes; i++)
			scopes[i] = (struct warp_trace_scope){
				.enter = block, .leave = block + warp, .parent = NONE};
		ck_assert_int_eq(
			block_choice_add(s, &(struct warp_trace_warp){.block = block, .warp = warp},
					 scopes, n_scopes),
			0);
	}
}

START_TEST(blocks_stay_whole_within_the_limit)
{
	struct block_choice s;
	uint64_t limit = 100000;
	size_t n_warps;

	ck_assert_int_eq(block_choice_init(&s, limit), 0);
	for (uint64_t block = 0; block < 10000; block++)
		add_block(&s, block, block % 3);
	ck_assert_uint_gt(s.n_halved, 0);
	ck_assert_uint_le(s.bytes, limit);
	ck_assert_uint_gt(s.bytes, limit / 3);
	n_warps = s.trace.n_warps;
	ck_assert_uint_eq(s.trace.launches->n_warps, n_warps);
	ck_assert_uint_eq(n_warps % 4, 0);
	for (size_t i = 0; i < n_warps; i++) {
		const struct warp_trace_warp *w = &s.trace.warps[i];

		ck_assert_uint_eq(w->warp, i % 4);
		ck_assert_uint_eq(w->block, s.trace.warps[i / 4 * 4].block);
		ck_assert_uint_eq(w->n_scopes, w->block % 3);
		ck_assert(!block_choice_leaves_out(&s, w->block));
		if (w->n_scopes)
			ck_assert_uint_eq(s.trace.scopes[w->scopes].leave, w->block + w->warp);
	}
	/* From first to last, not from one end. */
	ck_assert_uint_lt(s.trace.warps[0].block, 1000);
	ck_assert_uint_gt(s.trace.warps[n_warps - 1].block, 9000);
	block_choice_done(&s);
}
END_TEST

START_TEST(one_that_fits_is_kept_whole)
{
	struct block_choice s;

	ck_assert_int_eq(block_choice_init(&s, 1 << 20), 0);
	for (uint64_t block = 0; block < 100; block++)
		add_block(&s, block, 8);
	ck_assert_uint_eq(s.trace.n_warps, 400);
	ck_assert_uint_eq(s.bytes, 400 * (sizeof(struct warp_file_warp) +
					  8 * sizeof(struct warp_file_scope)));
	block_choice_done(&s);
	ck_assert_int_eq(block_choice_init(&s, 10), 0);
	add_block(&s, 1, 8);
	ck_assert_uint_eq(s.trace.n_warps, 0);
	block_choice_done(&s);
}
END_TEST

/* ---- the list ---- */

static uint32_t number_as_name(void *ctx, uint32_t scope)
{
	ck_assert_ptr_null(ctx);
	return scope;
}

static uint32_t no_name(void *ctx, uint32_t scope)
{
	(void)ctx, (void)scope;
	return STRTAB_NONE;
}

static struct warp_scope scopes[] = {
	{.enter = 10, .leave = 100, .parent = UINT32_MAX, .scope = 1},
	{.enter = 20, .leave = 40, .parent = 0, .scope = 2},
	{.enter = 50, .leave = UINT64_MAX, .parent = 0, .scope = 3, .is_open = true}};
static struct warp_point points[] = {
	{.at = 5, .parent = UINT32_MAX, .scope = 9, .kind = WARP_POINT_END},
	{.at = 20, .parent = 1, .scope = 4, .kind = WARP_POINT_MARK},
	{.at = 25, .parent = 1, .scope = 9, .kind = WARP_POINT_BEGIN},
	{.at = 26, .parent = 1, .scope = 9, .kind = WARP_POINT_BEGIN},
	{.at = 27, .parent = 1, .scope = 9, .kind = WARP_POINT_BEGIN, .event = 1},
	{.at = 45, .parent = 0, .scope = 9, .kind = WARP_POINT_END, .event = 1},
	{.at = 55, .parent = 2, .scope = 9, .kind = WARP_POINT_END},
	{.at = 60, .parent = 2, .scope = 5, .kind = WARP_POINT_VALUE, .value = -1.5}};
static const struct warp_contents contents = {
	.scopes = scopes, .points = points, .n_scopes = 3, .n_points = 8};

START_TEST(all_is_in_the_order_of_time)
{
	static const struct {
		uint32_t name, parent;
		uint64_t enter, leave;
		enum warp_event event;
		bool is_open, is_end;
	} wanted[] = {{1, NONE, 10, 100, WARP_EVENT_SCOPE, false},
		      {2, 0, 20, 40, WARP_EVENT_SCOPE, false},
		      {4, 1, 20, 20, WARP_EVENT_MARK, false},
		      {9, 1, 25, 55, WARP_EVENT_ASYNC, false},
		      {9, 1, 26, 26, WARP_EVENT_ASYNC, true},
		      {9, 1, 27, 45, WARP_EVENT_ASYNC, false},
		      {3, 0, 50, 50, WARP_EVENT_SCOPE, true},
		      {5, 6, 60, 60, WARP_EVENT_VALUE, false},
		      {9, NONE, 5, 5, WARP_EVENT_ASYNC, false, true}};
	struct warp_trace_scope *list;
	size_t n;

	ck_assert_int_eq(warp_singles(&contents, number_as_name, NULL, &list, &n), 0);
	ck_assert_uint_eq(n, ARRAY_SIZE(wanted));
	for (size_t i = 0; i < n; i++) {
		ck_assert_uint_eq(list[i].name, wanted[i].name);
		ck_assert_uint_eq(list[i].parent, wanted[i].parent);
		ck_assert_uint_eq(list[i].enter, wanted[i].enter);
		ck_assert_uint_eq(list[i].leave, wanted[i].leave);
		ck_assert_uint_eq(list[i].event, wanted[i].event);
		ck_assert_uint_eq(list[i].is_open, wanted[i].is_open);
		ck_assert_uint_eq(list[i].is_end, wanted[i].is_end);
	}
	ck_assert_double_eq(list[7].value, -1.5);
	free(list);
}
END_TEST

/* ---- events over warps ---- */

static struct warp_trace_scope half(uint64_t at, bool ends, uint32_t name, uint32_t number)
{
	return (struct warp_trace_scope){.enter = at,
					 .leave = at,
					 .parent = NONE,
					 .name = name,
					 .event = WARP_EVENT_ASYNC,
					 .is_open = !ends,
					 .is_end = ends,
					 .number = number};
}

static void add_halves(struct warp_trace *t, uint64_t block, uint32_t warp,
		       const struct warp_trace_scope *halves, size_t n)
{
	const struct warp_trace_warp w = {.block = block, .warp = warp, .multiprocessor = 3};

	ck_assert_int_eq(warp_trace_add_warp(t, &w, halves, n), 0);
}

static void add_events(struct warp_trace *t, uint32_t name)
{
	const struct warp_trace_scope copies[] = {
		half(10, false, name, 0), half(30, false, name, 0), half(31, false, name, 7)};
	const struct warp_trace_scope waits[] = {half(25, true, name, 0), half(45, true, name, 0),
						 half(50, true, name, 0)};
	const struct warp_trace_scope seventh = half(40, true, name, 7);

	add_halves(t, 0, 0, copies, 3);
	add_halves(t, 0, 4, waits, 3); /* the last of which nobody began */
	add_halves(t, 0, 5, &seventh, 1);
	add_halves(t, 1, 0, copies, 1); /* of another block */
}

START_TEST(events_end_in_other_warps)
{
	static const struct warp_trace_launch launch;
	static const uint64_t leave[] = {25, 45, 40, 10};
	struct warp_trace t;
	uint64_t n_lost = 0;
	uint32_t name;

	ck_assert_int_eq(warp_trace_init(&t), 0);
	name = strtab_adds(t.names, "copy");
	ck_assert_int_eq(warp_trace_add_launch(&t, &launch), 0);
	add_events(&t, name);
	ck_assert_int_eq(warp_async_join(&t, 0, &n_lost), 0);
	ck_assert_uint_eq(n_lost, 1);
	ck_assert_uint_eq(t.n_scopes, ARRAY_SIZE(leave));
	for (size_t i = 0; i < t.n_scopes; i++) {
		ck_assert_uint_eq(t.scopes[i].leave, leave[i]);
		ck_assert_uint_eq(t.scopes[i].is_open, i == 3);
		ck_assert_uint_eq(t.scopes[i].is_end, false);
	}
	ck_assert_uint_eq(t.warps[1].n_scopes + t.warps[2].n_scopes, 0);
	ck_assert_uint_eq(t.warps[1].n_lost, 1);
	ck_assert_uint_eq(t.warps[2].n_lost, 0);
	ck_assert_uint_eq(t.warps[3].scopes, 3);
	/* Again: there is no end any more. */
	ck_assert_int_eq(warp_async_join(&t, 0, &n_lost), 0);
	ck_assert_uint_eq(n_lost, 0);
	ck_assert_uint_eq(t.n_scopes, ARRAY_SIZE(leave));
	warp_trace_done(&t);
}
END_TEST

START_TEST(without_a_name_there_is_no_list)
{
	const struct warp_contents none = {.n_scopes = 0};
	struct warp_trace_scope *list;
	size_t n;

	ck_assert_int_eq(warp_singles(&contents, no_name, NULL, &list, &n), -ENOMEM);
	ck_assert_int_eq(warp_singles(&none, no_name, NULL, &list, &n), 0);
	ck_assert_uint_eq(n, 0);
	free(list);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("kept_launches");
	TCase *tc = tcase_create("kept_launches");

	tcase_add_test(tc, the_first_the_slowest_and_the_last_launches_are_kept);
	tcase_add_test(tc, what_would_not_be_kept_is_known_before);
	tcase_add_test(tc, the_last_one_may_always_be_kept);
	tcase_add_test(tc, the_order_is_that_of_beginning);
	tcase_add_test(tc, each_kernel_has_its_own);
	tcase_add_test(tc, the_largest_kernel_gives_way);
	tcase_add_test(tc, blocks_stay_whole_within_the_limit);
	tcase_add_test(tc, one_that_fits_is_kept_whole);
	tcase_add_test(tc, all_is_in_the_order_of_time);
	tcase_add_test(tc, events_end_in_other_warps);
	tcase_add_test(tc, without_a_name_there_is_no_list);
	suite_add_tcase(suite, tc);
	return check_run(suite);
}
