/* SPDX-License-Identifier: MIT */
/* What warps of kernels with <proton/kernel.cuh> leave (intra/warp_slices.h): rings that wrap, clocks that wrap, records that were
 * overwritten, scopes that cross, marks, values, events, sums, kernels alone, slices that are half there, any bytes. */
#include "config.h" // IWYU pragma: keep

#include <check.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "check_main.h"
#include "intra/warp_slices.h"

#define SIZE  1024u
#define LEAVE 0x80000000u
#define WHOLE 0x60000000u
#define START UINT64_C(0x12345678000)
#define NONE  UINT32_MAX

static uint32_t memory[SIZE / 4];
static const struct warp_ring ring = {memory, SIZE};
static uint64_t at, n_units, n_written, entered_clock, left_after;
static struct warp_contents got;
static uint32_t how;
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
	warp_contents_done(&got);
	how = 0;
	losses = (struct warp_losses){0};
	at = position;
	entered_clock = clock;
	left_after = 4096;
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
	put_long(64, entered_clock + left_after);
	for (uint64_t i = 8; i < 72; i += 8)
		sum += get(i) + 3 * get(i + 4);
	for (uint64_t i = WARP_SLICE_HEAD; i < bytes; i += 16)
		sum += get(i) + 3 * get(i + 4) + 5 * get(i + 8) + 7 * get(i + 12);
	sum += 3 * how;
	put(72, sum);
	put(76, how);
	put_long(0, at + 1);
}

static void decode(void)
{
	struct warp_slice slice;

	finish();
	ck_assert(warp_slice_read(&ring, at, &slice));
	ck_assert_uint_eq(slice.bytes, WARP_SLICE_HEAD + n_units * WARP_SLICE_UNIT);
	ck_assert_int_eq(warp_slice_decode(&ring, at, &slice, &got, &losses), 0);
}

static void check_scope(size_t i, uint32_t scope, uint64_t cycles, uint32_t parent)
{
	ck_assert_uint_lt(i, got.n_scopes);
	ck_assert_uint_eq(got.scopes[i].scope, scope);
	ck_assert(!got.scopes[i].is_open);
	ck_assert_uint_eq(got.scopes[i].leave - got.scopes[i].enter, cycles);
	ck_assert_uint_eq(got.scopes[i].parent, parent);
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
	ck_assert_uint_eq(got.n_scopes, 6);
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
		ck_assert_uint_eq(got.n_scopes, 4);
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
	ck_assert_uint_eq(got.n_scopes, 2);
	check_scope(0, 2, 10, NONE);
	ck_assert(got.scopes[1].is_open);
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
	unit(1u << 29 | WARP_SUM | 7 << WARP_SUM_SHIFT, 5, 0, 0); /* of a kind that is not known */
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
	ck_assert_uint_eq(got.n_scopes, 0);
	begin(0, START);
	whole(1, START, START);
	n_written = 0; /* fewer than are there */
	finish();
	ck_assert(!warp_slice_read(&ring, at, &s));
}
END_TEST

/* As warps of kernels write it that have no scope but themselves. */
static void finish_lone(uint32_t warp, uint32_t scope)
{
	static const uint32_t of_part[] = {WARP_LONE_WEIGHT, 3, 5, 7};
	uint32_t sum = 0;

	put_long(0, at + 1);
	put(8, WARP_SLICE_IS_LONE | scope << WARP_LONE_WARP_BITS | warp);
	put_long(16, 77);
	put_long(24, UINT64_C(5000000000) | UINT64_C(131) << 48);
	put_long(32, 1000);
	put_long(40, entered_clock);
	put_long(48, 2000);
	put_long(56, entered_clock + left_after);
	for (uint32_t i = 0; i < WARP_SLICE_LONE; i += 4)
		sum += i == 12 ? 0 : of_part[i / 4 % 4] * get(i);
	put(12, sum);
}

/* Its head says all of it, and it may be longer than a wrap. */
START_TEST(a_kernel_alone)
{
	struct warp_slice s;

	for (uint64_t before = 16; before <= 80; before += 16) {
		begin(7 * (uint64_t)SIZE - before, START);
		left_after = UINT64_C(5) << 32;
		finish_lone(31, (1u << WARP_SCOPE_BITS) - 2);
		ck_assert(warp_slice_read(&ring, at, &s));
		ck_assert_uint_eq(s.bytes, WARP_SLICE_LONE);
		ck_assert_uint_eq(s.launch, 77);
		ck_assert_uint_eq(s.block, UINT64_C(5000000000));
		ck_assert_uint_eq(s.multiprocessor, 131);
		ck_assert_uint_eq(s.warp, 31);
		ck_assert_uint_eq(s.entered_ns, 1000);
		ck_assert_uint_eq(s.left_ns, 2000);
		ck_assert_uint_eq(s.entered_clock, START);
		ck_assert_uint_eq(s.left_clock, START + left_after);
		ck_assert_int_eq(warp_slice_decode(&ring, at, &s, &got, &losses), 0);
		ck_assert_uint_eq(got.n_scopes, 1);
		ck_assert(got.scopes[0].is_whole);
		check_scope(0, (1u << WARP_SCOPE_BITS) - 2, left_after, NONE);
		check_losses(0, 0, 0);
		ck_assert_uint_eq(losses.wraps, 0);
	}
}
END_TEST

/* It is written by four threads at once: what a reader sees of it may lack any of the four parts, or have that of the slice there before. */
START_TEST(half_of_a_kernel_alone)
{
	uint32_t older[WARP_SLICE_LONE / 4], is[WARP_SLICE_LONE / 4];
	struct warp_slice s;

	begin(SIZE - 32, START - 1000000);
	finish_lone(3, 5);
	for (uint32_t i = 0; i < WARP_SLICE_LONE; i += 4)
		older[i / 4] = get(i);
	begin(9 * SIZE - 32, START);
	left_after = 9000;
	finish_lone(2, 5);
	for (uint32_t i = 0; i < WARP_SLICE_LONE; i += 4)
		is[i / 4] = get(i);
	for (unsigned parts = 0; parts < 16; parts++)
		for (unsigned rest = 0; rest < 2; rest++) {
			bool is_same = true;

			for (uint32_t i = 0; i < WARP_SLICE_LONE / 4; i++) {
				uint32_t other = rest ? older[i] : 0,
					 word = parts >> i / 4 & 1 ? is[i] : other;

				is_same &= word == is[i];
				put(4 * i, word);
			}
			ck_assert_msg(warp_slice_read(&ring, at, &s) == is_same, "parts %x of %u",
				      parts, rest);
		}
	for (uint32_t i = 0; i < WARP_SLICE_LONE / 4; i++)
		put(4 * i, is[i]);
	for (uint32_t i = 0; i < WARP_SLICE_LONE; i += 4)
		for (uint32_t bit = 0; bit < 32; bit++) {
			put(i, is[i / 4] ^ 1u << bit);
			ck_assert_msg(!warp_slice_read(&ring, at, &s), "word %u bit %u", i / 4,
				      bit);
			put(i, is[i / 4]);
		}
	ck_assert(warp_slice_read(&ring, at, &s));
	ck_assert(!warp_slice_read(&ring, at + SIZE, &s));
}
END_TEST

/* Two launches after one another: a part of the one with the rest of the other has not the same sum. */
START_TEST(launches_that_follow_one_another)
{
	struct warp_slice s;

	begin(0, START);
	finish_lone(0, 5);
	put_long(16, 78);
	put_long(24, get(24) - 1 + ((uint64_t)get(28) << 32));
	ck_assert(!warp_slice_read(&ring, at, &s));
}
END_TEST

/* Clocks of a multiprocessor do not go back; what says so has no length. */
START_TEST(a_kernel_left_before_it_began)
{
	struct warp_slice s;

	begin(0, START);
	left_after = (uint64_t)-5;
	finish_lone(0, 5);
	ck_assert(warp_slice_read(&ring, at, &s));
	ck_assert_int_eq(warp_slice_decode(&ring, at, &s, &got, &losses), 0);
	check_scope(0, 5, 0, NONE);
}
END_TEST

static void put_double(uint64_t offset, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	put_long(offset, bits);
}

static void value(enum warp_value what, uint32_t scope, uint64_t clock, uint64_t bits)
{
	uint64_t offset = WARP_SLICE_HEAD + n_units * WARP_SLICE_UNIT;

	unit(1u << 29 | (uint32_t)what, scope, clock, 0);
	put_long(offset + 8, bits);
}

static void check_point(size_t i, enum warp_point_kind kind, uint32_t scope, uint64_t clock,
			uint32_t parent, double v)
{
	ck_assert_uint_lt(i, got.n_points);
	ck_assert_int_eq(got.points[i].kind, kind);
	ck_assert_uint_eq(got.points[i].scope, scope);
	ck_assert_uint_eq(got.points[i].at, clock);
	ck_assert_uint_eq(got.points[i].parent, parent);
	ck_assert_double_eq(got.points[i].value, v);
}

/* Within the innermost scope that is open by then, also where that is written behind them. */
START_TEST(marks_and_values)
{
	float half = -0.5f;
	uint32_t half_bits;

	memcpy(&half_bits, &half, sizeof(half_bits));
	begin(SIZE - 96, START);
	value(WARP_MARK, 1, START + 5, 0);
	enter(9, START + 10);
	value(WARP_U32, 2, START + 20, 0xffffffffffffffffu);
	value(WARP_I32, 2, START + 30, 0xfffffffeu);
	whole(8, START + 15, START + 40);
	value(WARP_F32, 3, START + 50, half_bits);
	value(WARP_U64, 4, START + 60, UINT64_C(1) << 50);
	leave(9, START + 70);
	value(WARP_I64, 5, START + 80, (uint64_t)INT64_C(-1234567890123));
	value(WARP_F64, 6, START + 90, UINT64_C(0x4004000000000000));
	value(WARP_F32, 6, START + 95, 0x7fc00000); /* no number */
	decode();
	ck_assert_uint_eq(got.n_points, 7);
	check_point(0, WARP_POINT_MARK, 1, START + 5, NONE, 0);
	check_point(1, WARP_POINT_VALUE, 2, START + 20, 1, 4294967295.0);
	check_point(2, WARP_POINT_VALUE, 2, START + 30, 1, -2);
	check_point(3, WARP_POINT_VALUE, 3, START + 50, 0, -0.5);
	check_point(4, WARP_POINT_VALUE, 4, START + 60, 0, 1125899906842624.0);
	check_point(5, WARP_POINT_VALUE, 5, START + 80, NONE, -1234567890123.0);
	check_point(6, WARP_POINT_VALUE, 6, START + 90, NONE, 2.5);
	check_losses(0, 0, 1);
}
END_TEST

/* Ends of events are points: where the other one is, the warp does not know. */
START_TEST(ends_of_events)
{
	begin(0, START);
	unit(2u << 29 | 2047, 7, START + 10, 0);
	unit(LEAVE | 2u << 29 | 3, 7, START + 30, 0);
	decode();
	ck_assert_uint_eq(got.n_points, 2);
	check_point(0, WARP_POINT_BEGIN, 7, START + 10, NONE, 0);
	check_point(1, WARP_POINT_END, 7, START + 30, NONE, 0);
	ck_assert_uint_eq(got.points[0].event, 2047);
	ck_assert_uint_eq(got.points[1].event, 3);
}
END_TEST

/* Their upper halves are there, and nothing need be assumed. */
START_TEST(clocks_of_64_bits)
{
	uint64_t later = START + (UINT64_C(7) << 33);

	begin(0, START);
	how = WARP_SLICE_CLOCK64;
	unit(0, 1, START + 10, (START + 10) >> 32);
	unit(LEAVE, 1, later, later >> 32);
	unit(2u << 29, 2, later + 5, (later + 5) >> 32);
	decode();
	check_scope(0, 1, later - START - 10, NONE);
	check_point(0, WARP_POINT_BEGIN, 2, later + 5, NONE, 0);
	check_losses(0, 0, 0);
	ck_assert_uint_eq(losses.wraps, 0);
}
END_TEST

/* One of 32 bits may have wrapped while nobody looked: told. Where the first records are gone, it counts back from the end. */
START_TEST(clocks_that_wrapped_unseen)
{
	begin(0, START - (UINT64_C(5) << 32));
	left_after = (UINT64_C(5) << 32) + 100;
	whole(1, START + 10, START + 30);
	decode();
	check_scope(0, 1, 20, NONE);
	ck_assert_uint_eq(losses.wraps, 1);
	begin(0, START - (UINT64_C(5) << 32));
	left_after = (UINT64_C(5) << 32) + 100;
	whole(1, START + 10, START + 30);
	n_written = 2;
	decode();
	check_scope(0, 1, 20, NONE);
	ck_assert_uint_eq(got.scopes[0].enter, START + 10);
	ck_assert_uint_eq(losses.wraps,
			  1); /* but how long it was is not known: what was before it is gone */
}
END_TEST

/* The kernel's own scope is as long as the head says; loops in it by what can be known: not how long one was that may have been longer than
 * a wrap, but each turn of another one, which cannot have begun before the turn before it ended. */
START_TEST(scopes_longer_than_a_wrap)
{
	const uint64_t second = UINT64_C(1) << 31; /* of a clock of 2 GHz: a wrap is two */

	begin(0, START);
	left_after = 7 * second + 500;
	whole(1, START, START + 7 * second + 100);
	decode();
	check_scope(0, 1, 7 * second + 100, NONE);
	ck_assert_uint_eq(losses.wraps, 0);

	begin(0, START);
	left_after = 7 * second + 500;
	for (unsigned i = 0; i < 7; i++)
		whole(2, START + i * second + 10, START + (i + 1) * second - 10);
	whole(1, START, START + 7 * second + 100);
	decode();
	ck_assert_uint_eq(got.n_scopes, 8);
	check_scope(0, 1, 7 * second + 100, NONE);
	for (unsigned i = 1; i < 8; i++)
		check_scope(i, 2, second - 20, 0);
	ck_assert_uint_eq(losses.wraps, 0);

	/* A loop around them all. */
	begin(0, START);
	left_after = 7 * second + 500;
	for (unsigned i = 0; i < 7; i++)
		whole(2, START + i * second + 10, START + (i + 1) * second - 10);
	whole(3, START + 5, START + 7 * second);
	whole(1, START, START + 7 * second + 100);
	decode();
	ck_assert_uint_eq(losses.wraps, 1);
	check_scope(0, 1, 7 * second + 100, NONE);

	/* One of which nothing else is known. */
	begin(0, START);
	left_after = 4 * second + 500;
	whole(3, START + 5, START + 4 * second);
	whole(1, START, START + 4 * second + 100);
	decode();
	ck_assert_uint_eq(losses.wraps, 1);
	check_scope(0, 1, 4 * second + 100, NONE);
	ck_assert_uint_ge(got.scopes[1].enter, START);
}
END_TEST

static void sum(enum warp_sum_kind kind, uint32_t scope, uint32_t parent, uint32_t count,
		uint64_t of)
{
	uint64_t offset = WARP_SLICE_HEAD + n_units * WARP_SLICE_UNIT;

	for (int i = 0; i < 3; i++)
		unit(i ? 0 : 1u << 29 | WARP_SUM | (uint32_t)kind << WARP_SUM_SHIFT, i ? 0 : scope,
		     0, 0);
	put(offset + 4, parent);
	put(offset + 8, count);
	put(offset + 12, kind == WARP_SUM_EVENT ? count + 1 : 3);
	put_long(offset + 16, of);
	put_long(offset + 24, of / 2);
	put_long(offset + 32, of * 2);
}

/* What a warp added up by itself; one that claims to be within what comes later is none. */
START_TEST(sums_of_a_warp)
{
	uint64_t offset;

	begin(SIZE - 128, START);
	sum(WARP_SUM_SCOPE, 1, NONE, 3, UINT64_C(1) << 40);
	sum(WARP_SUM_MARK, 2, 0, 7, 0);
	offset = WARP_SLICE_HEAD + n_units * WARP_SLICE_UNIT;
	sum(WARP_SUM_VALUE, 3, 1, 2, 0);
	put_double(offset + 16, -2.5);
	put_double(offset + 24, -3);
	put_double(offset + 32, 0.5);
	sum(WARP_SUM_EVENT, 4, NONE, 5, 100);
	sum(WARP_SUM_SCOPE, 5, 4, 1, 1);
	decode();
	ck_assert_uint_eq(got.n_sums, 4);
	ck_assert_uint_eq(got.sums[0].cycles, UINT64_C(1) << 40);
	ck_assert_uint_eq(got.sums[0].cycles_min, UINT64_C(1) << 39);
	ck_assert_uint_eq(got.sums[0].cycles_max, UINT64_C(1) << 41);
	ck_assert_uint_eq(got.sums[0].parent, NONE);
	ck_assert_uint_eq(got.sums[1].n, 7);
	ck_assert_uint_eq(got.sums[1].parent, 0);
	ck_assert_double_eq(got.sums[2].value, -2.5);
	ck_assert_double_eq(got.sums[2].value_min, -3);
	ck_assert_double_eq(got.sums[2].value_max, 0.5);
	ck_assert_uint_eq(got.sums[3].n_begun, 6);
	/* One is open, and was left once more; units of what is none leave what is not open. */
	check_losses(0, 2 + 2, 1);
}
END_TEST

/* Any units: as many as there are come out, parents before what is in them. */
START_TEST(any_records)
{
	uint64_t random = 1;

	for (unsigned turn = 0; turn < 20000; turn++) {
		begin(random % 64 * 16, random);
		how = turn % 2 ? WARP_SLICE_CLOCK64 : 0;
		for (unsigned i = 0; i < turn % 50; i++) {
			random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
			unit((uint32_t)(random >> 32) & 0xe00007ffu, (uint32_t)(random >> 20) % 4,
			     random >> 8, random >> 30);
		}
		decode();
		ck_assert_uint_le(got.n_scopes + got.n_points + got.n_sums, n_units);
		for (size_t i = 0; i < got.n_points; i++)
			ck_assert(got.points[i].parent == NONE ||
				  got.points[i].parent < got.n_scopes);
		for (size_t i = 0; i < got.n_sums; i++)
			ck_assert(got.sums[i].parent == NONE || got.sums[i].parent < i);
		for (size_t i = 0; i < got.n_scopes; i++)
			ck_assert(got.scopes[i].parent == NONE || got.scopes[i].parent < i);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("warp_slices");
	TCase *c = tcase_create("warp_slices");

	tcase_add_test(c, scopes_have_their_parents);
	tcase_add_test(c, the_head_is_read);
	tcase_add_test(c, a_slice_goes_on_at_the_start_of_the_ring);
	tcase_add_test(c, clocks_wrap);
	tcase_add_test(c, what_was_overwritten_is_counted);
	tcase_add_test(c, scopes_cross);
	tcase_add_test(c, half_a_slice_is_not_there);
	tcase_add_test(c, sizes_that_cannot_be);
	tcase_add_test(c, a_kernel_alone);
	tcase_add_test(c, half_of_a_kernel_alone);
	tcase_add_test(c, launches_that_follow_one_another);
	tcase_add_test(c, a_kernel_left_before_it_began);
	tcase_add_test(c, marks_and_values);
	tcase_add_test(c, ends_of_events);
	tcase_add_test(c, clocks_of_64_bits);
	tcase_add_test(c, clocks_that_wrapped_unseen);
	tcase_add_test(c, scopes_longer_than_a_wrap);
	tcase_add_test(c, sums_of_a_warp);
	tcase_add_test(c, any_records);
	suite_add_tcase(s, c);
	return check_run(s);
}
