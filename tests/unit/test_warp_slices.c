/* SPDX-License-Identifier: MIT */
/* What warps of kernels with <proton/kernel.cuh> leave (intra/warp_slices.h): rings that wrap, clocks that wrap, records that were
 * overwritten, scopes that cross, slices that are half there, any bytes. */
#include "config.h" // IWYU pragma: keep

#include <check.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "intra/warp_slices.h"

#define SIZE  1024u
#define LEAVE 0x80000000u
#define WHOLE 0x60000000u
#define START UINT64_C(0x12345678000)
#define NONE  UINT32_MAX

static uint32_t memory[SIZE / 4];
static const struct warp_ring ring = {memory, SIZE};
static uint64_t at, n_units, n_written, entered_clock;
static struct warp_scope *scopes;
static size_t n;
static struct warp_losses losses;

static void put(uint64_t offset, uint32_t value)
{
	memory[(at + offset) % SIZE / 4] = htole32(value);
}

static uint32_t get(uint64_t offset)
{
	return le32toh(memory[(at + offset) % SIZE / 4]);
}

static void put_long(uint64_t offset, uint64_t value)
{
	put(offset, (uint32_t)value);
	put(offset + 4, (uint32_t)(value >> 32));
}

static void begin(uint64_t position, uint64_t clock)
{
	free(scopes);
	scopes = NULL;
	losses = (struct warp_losses){0};
	at = position;
	entered_clock = clock;
	n_units = n_written = 0;
}

static void unit(uint32_t tag, uint32_t scope, uint64_t clock, uint64_t left)
{
	uint64_t offset = WARP_SLICE_HEAD + n_units++ * WARP_SLICE_UNIT;

	put(offset, tag | scope << 11);
	put(offset + 4, (uint32_t)clock);
	put(offset + 8, (uint32_t)left);
	put(offset + 12, (uint32_t)left);
	n_written++;
}

static void enter(uint32_t scope, uint64_t clock)
{
	unit(0, scope, clock, 0xbebebebe); /* what was there before */
}

static void leave(uint32_t scope, uint64_t clock)
{
	unit(LEAVE, scope, clock, 0xbebebebe);
}

static void whole(uint32_t scope, uint64_t clock, uint64_t left)
{
	unit(WHOLE, scope, clock, left);
}

/* As kernel.cuh does. */
static void finish(void)
{
	uint32_t bytes = WARP_SLICE_HEAD + (uint32_t)n_units * WARP_SLICE_UNIT, sum = 0;

	put(8, bytes);
	put(12, (uint32_t)n_written);
	put_long(16, 77);
	put_long(24, UINT64_C(5000000000));
	put(32, 131);
	put(36, 15);
	put_long(40, 1000);
	put_long(48, entered_clock);
	put_long(56, 2000);
	put_long(64, entered_clock + 4096);
	for (uint64_t i = 8; i < 72; i += 8)
		sum += get(i) + 3 * get(i + 4);
	for (uint64_t i = WARP_SLICE_HEAD; i < bytes; i += 16)
		sum += get(i) + 3 * get(i + 4) + 5 * get(i + 8) + 7 * get(i + 12);
	put_long(72, sum);
	put_long(0, at + 1);
}

static void decode(void)
{
	struct warp_slice slice;

	finish();
	ck_assert(warp_slice_read(&ring, at, &slice));
	ck_assert_uint_eq(slice.bytes, WARP_SLICE_HEAD + n_units * WARP_SLICE_UNIT);
	ck_assert_int_eq(warp_slice_scopes(&ring, at, &slice, &scopes, &n, &losses), 0);
}

static void check_scope(size_t i, uint32_t scope, uint64_t cycles, uint32_t parent)
{
	ck_assert_uint_lt(i, n);
	ck_assert_uint_eq(scopes[i].scope, scope);
	ck_assert(!scopes[i].is_open);
	ck_assert_uint_eq(scopes[i].leave - scopes[i].enter, cycles);
	ck_assert_uint_eq(scopes[i].parent, parent);
}

static void check_losses(uint64_t overwritten, uint64_t unmatched, uint64_t others)
{
	ck_assert_uint_eq(losses.overwritten, overwritten);
	ck_assert_uint_eq(losses.unmatched, unmatched);
	ck_assert_uint_eq(losses.others, others);
}

/* Whole scopes are written as they are left: an outer one behind those within. */
START_TEST(scopes_have_their_parents)
{
	begin(0, START);
	enter(9, START + 5);
	whole(2, START + 20, START + 30);
	whole(3, START + 40, START + 70);
	whole(1, START + 10, START + 100);
	whole(2, START + 110, START + 120);
	leave(9, START + 205);
	whole(4, START + 300, START + 300);
	decode();
	ck_assert_uint_eq(n, 6);
	check_scope(0, 9, 200, NONE);
	check_scope(1, 1, 90, 0);
	check_scope(2, 2, 10, 1);
	check_scope(3, 3, 30, 1);
	check_scope(4, 2, 10, 0);
	check_scope(5, 4, 0, NONE);
	check_losses(0, 0, 0);
}
END_TEST

START_TEST(the_head_is_read)
{
	struct warp_slice s;

	begin(64, START);
	whole(1, START + 1, START + 2);
	finish();
	ck_assert(warp_slice_read(&ring, at, &s));
	ck_assert_uint_eq(s.launch, 77);
	ck_assert_uint_eq(s.block, UINT64_C(5000000000));
	ck_assert_uint_eq(s.multiprocessor, 131);
	ck_assert_uint_eq(s.warp, 15);
	ck_assert_uint_eq(s.entered_ns, 1000);
	ck_assert_uint_eq(s.left_ns, 2000);
	ck_assert_uint_eq(s.entered_clock, START);
	ck_assert_uint_eq(s.left_clock, START + 4096);
	ck_assert_uint_eq(s.written, 1);
	ck_assert_uint_eq(s.n_units, 1);
}
END_TEST

/* A slice that begins before the end of the ring goes on at its start, in each of its words. */
START_TEST(a_slice_goes_on_at_the_start_of_the_ring)
{
	for (uint64_t before = 16; before <= 144; before += 16) {
		begin(7 * (uint64_t)SIZE - before, START);
		for (uint32_t i = 0; i < 4; i++)
			whole(i, START + 10 * i, START + 10 * i + i);
		decode();
		ck_assert_uint_eq(n, 4);
		for (uint32_t i = 0; i < 4; i++)
			check_scope(i, i, i, NONE);
	}
}
END_TEST

/* The clock of records has 32 bits: each follows the one before. */
START_TEST(clocks_wrap)
{
	uint64_t edge = UINT64_C(0x5ffffffff);

	begin(0, edge - 100);
	enter(1, edge - 90);
	whole(2, edge - 50, edge + 50);
	whole(3, edge + 3000000000u, edge + 4000000000u);
	whole(3, edge + 8000000000u, edge + 8000000001u);
	leave(1, edge + 8000000010u);
	decode();
	check_scope(0, 1, 8000000100u, NONE);
	check_scope(1, 2, 100, 0);
	check_scope(2, 3, 1000000000u, 0);
	check_scope(3, 3, 1, 0);
	check_losses(0, 0, 0);
}
END_TEST

START_TEST(what_was_overwritten_is_counted)
{
	begin(0, START);
	leave(1, START + 10); /* entered in a record that is not there */
	whole(2, START + 20, START + 30);
	enter(3, START + 40); /* never left */
	n_written = 50;
	decode();
	ck_assert_uint_eq(n, 2);
	check_scope(0, 2, 10, NONE);
	ck_assert(scopes[1].is_open);
	check_losses(47, 2, 0);
}
END_TEST

/* As a circle of names, or the same one within itself: the innermost is left first. */
START_TEST(scopes_cross)
{
	begin(0, START);
	enter(1, START + 10);
	enter(2, START + 20);
	leave(1, START + 30);
	enter(2, START + 35);
	leave(2, START + 40);
	leave(2, START + 60);
	unit(1u << 29, 5, START + 70, 0); /* of a form that is not known */
	decode();
	check_scope(0, 1, 20, NONE);
	check_scope(1, 2, 40, 0);
	check_scope(2, 2, 5, 1);
	check_losses(0, 0, 1);
}
END_TEST

/* Copied while it is written, or with a lie in any of its words: it is not there, and is once all of it is. */
START_TEST(half_a_slice_is_not_there)
{
	struct warp_slice s;

	begin(SIZE - 64, START);
	whole(1, START + 10, START + 20);
	enter(2, START + 30);
	finish();
	for (uint64_t i = 0; i < WARP_SLICE_HEAD + 2 * WARP_SLICE_UNIT; i += 4) {
		uint32_t was = get(i);

		if (i == 76) /* nothing is there */
			continue;
		for (uint32_t bit = 0; bit < 32; bit++) {
			put(i, was ^ 1u << bit);
			ck_assert_msg(!warp_slice_read(&ring, at, &s), "word %u bit %u",
				      (unsigned)i / 4, bit);
		}
		put(i, was);
	}
	ck_assert(warp_slice_read(&ring, at, &s));
	ck_assert(!warp_slice_read(&ring, at + SIZE, &s));
}
END_TEST

START_TEST(sizes_that_cannot_be)
{
	static const uint32_t bytes[] = {0,         64,         79,         81,        88,
					 SIZE + 16, 0x7fffffff, 0xfffffff0, UINT32_MAX};
	struct warp_slice s;

	for (size_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
		begin(0, START);
		finish();
		put(8, bytes[i]);
		ck_assert(!warp_slice_read(&ring, at, &s));
	}
	begin(0, START);
	n_written = UINT32_MAX;
	decode();
	check_losses(UINT32_MAX, 0, 0);
	ck_assert_uint_eq(n, 0);
	begin(0, START);
	whole(1, START, START);
	n_written = 0; /* fewer than are there */
	finish();
	ck_assert(!warp_slice_read(&ring, at, &s));
}
END_TEST

/* Any units: as many as there are come out, parents before what is in them. */
START_TEST(any_records)
{
	uint64_t random = 1;

	for (unsigned turn = 0; turn < 20000; turn++) {
		begin(random % 64 * 16, random);
		for (unsigned i = 0; i < turn % 50; i++) {
			random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
			unit((uint32_t)(random >> 32) & 0xe0000000u, (uint32_t)(random >> 20) % 4,
			     random >> 8, random >> 30);
		}
		decode();
		ck_assert_uint_le(n, n_units);
		for (size_t i = 0; i < n; i++)
			ck_assert(scopes[i].parent == NONE || scopes[i].parent < i);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("warp_slices");
	TCase *c = tcase_create("warp_slices");
	SRunner *runner = srunner_create(s);
	int failed;

	tcase_add_test(c, scopes_have_their_parents);
	tcase_add_test(c, the_head_is_read);
	tcase_add_test(c, a_slice_goes_on_at_the_start_of_the_ring);
	tcase_add_test(c, clocks_wrap);
	tcase_add_test(c, what_was_overwritten_is_counted);
	tcase_add_test(c, scopes_cross);
	tcase_add_test(c, half_a_slice_is_not_there);
	tcase_add_test(c, sizes_that_cannot_be);
	tcase_add_test(c, any_records);
	suite_add_tcase(s, c);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
