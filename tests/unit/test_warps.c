/* SPDX-License-Identifier: MIT */
/* What warps recorded (intra/), and files of it: rings that wrapped, clocks that wrapped, scopes that are left in another order,
 * records that were written late, buffers that lie. */
#include "config.h" // IWYU pragma: keep

#include <check.h>
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check_main.h"
#include "format/format.h"
#include "intra/scope_sums.h"

#define N_BLOCKS      2
#define N_WARPS       2
#define SEGMENT_WORDS 16 /* 8 records */
#define HEAD_WORDS    (WARP_BLOCK_WORDS + N_WARPS)
#define BLOCK_WORDS   (HEAD_WORDS + N_WARPS * SEGMENT_WORDS)
#define LEAVE         0x80000000u
#define EVENT         (1u << 20)
#define MARK          (2u << 20)
#define VALUE         (3u << 20)
#define KIND(n)       ((uint32_t)(n) << 16)
#define F16           KIND(8)
#define BF16          KIND(9)
#define F32           KIND(10)

static const uint32_t both[] = {0, 1};
static const struct warp_layout layout = {.n_blocks = N_BLOCKS,
					  .n_warps = N_WARPS,
					  .block_bytes = BLOCK_WORDS * 4,
					  .recording = both,
					  .n_recording = 2};

static uint32_t buffer[N_BLOCKS * BLOCK_WORDS];

static void begin(void)
{
	memset(buffer, 0xbe, sizeof(buffer));
	for (uint32_t b = 0; b < N_BLOCKS; b++) {
		uint32_t *p = buffer + b * BLOCK_WORDS;
		const uint32_t head[HEAD_WORDS] = {WARP_BLOCK_MAGIC,
						   b,
						   7 + b,
						   N_WARPS * SEGMENT_WORDS * 4,
						   100,
						   0,
						   200,
						   0,
						   300,
						   1};

		for (size_t i = 0; i < HEAD_WORDS; i++)
			p[i] = htole32(head[i]);
	}
}

/* As a warp does: at its count, modulo the room there is. */
static void record(uint32_t block, uint32_t warp, uint32_t tag, uint32_t scope, uint64_t clock)
{
	uint32_t *p = buffer + block * BLOCK_WORDS, *n = p + WARP_BLOCK_WORDS + warp;
	uint32_t *at = p + HEAD_WORDS + warp * SEGMENT_WORDS + le32toh(*n) % SEGMENT_WORDS;

	at[0] = htole32(tag | scope << 23 | (uint32_t)(clock >> 32 & 0x7ff));
	at[1] = htole32((uint32_t)clock);
	*n = htole32(le32toh(*n) + 2);
}

static struct {
	struct warp_scope scopes[64];
	struct warp_point points[64];
	size_t n, n_points;
	struct warp_block block;
	uint32_t warp;
	unsigned calls;
} got;
static struct warp_losses losses;

static int keep(void *ctx, const struct warp_block *block, uint32_t warp,
		struct warp_contents *contents)
{
	(void)ctx;
	ck_assert_uint_le(contents->n_scopes, sizeof(got.scopes) / sizeof(*got.scopes));
	ck_assert_uint_le(contents->n_points, sizeof(got.points) / sizeof(*got.points));
	if (contents->n_scopes)
		memcpy(got.scopes, contents->scopes, contents->n_scopes * sizeof(*got.scopes));
	if (contents->n_points)
		memcpy(got.points, contents->points, contents->n_points * sizeof(*got.points));
	got.n = contents->n_scopes;
	got.n_points = contents->n_points;
	got.block = *block;
	got.warp = warp;
	got.calls++;
	return 0;
}

static void decode(void)
{
	memset(&got, 0, sizeof(got));
	losses = (struct warp_losses){0};
	ck_assert_int_eq(warp_records_decode(buffer, sizeof(buffer), &layout, keep, NULL, &losses),
			 0);
}

static void check_scope(size_t i, uint32_t scope, uint64_t cycles, uint32_t parent)
{
	ck_assert_uint_lt(i, got.n);
	ck_assert_uint_eq(got.scopes[i].scope, scope);
	ck_assert(!got.scopes[i].is_open);
	ck_assert_uint_eq(got.scopes[i].leave - got.scopes[i].enter, cycles);
	ck_assert_uint_eq(got.scopes[i].parent, parent);
}

START_TEST(scopes_have_their_cycles_and_parents)
{
	begin();
	record(1, 1, 0, 0, 1000);
	record(1, 1, 0, 255, 1010);
	record(1, 1, LEAVE, 255, 1030);
	record(1, 1, LEAVE, 0, 1100);
	decode();
	ck_assert_uint_eq(got.calls, 1); /* of warps that recorded */
	ck_assert_uint_eq(got.warp, 1);
	ck_assert_uint_eq(got.block.block, 1);
	ck_assert_uint_eq(got.block.multiprocessor, 8);
	ck_assert_uint_eq(got.block.entered_ns, 100);
	ck_assert_uint_eq(got.block.copied_ns, 300 + ((uint64_t)1 << 32));
	ck_assert_uint_eq(got.n, 2);
	check_scope(0, 0, 100, UINT32_MAX);
	check_scope(1, 255, 20, 0);
}
END_TEST

START_TEST(scopes_need_not_be_left_as_they_were_entered)
{
	begin();
	record(0, 0, 0, 1, 10);
	record(0, 0, 0, 2, 20);
	record(0, 0, LEAVE, 1, 30);
	record(0, 0, LEAVE, 2, 60);
	decode();
	check_scope(0, 1, 20, UINT32_MAX);
	check_scope(1, 2, 40, 0);
	ck_assert_uint_eq(losses.unmatched, 0);
}
END_TEST

/* The ring holds the last eight records: it is read from the oldest one on. */
START_TEST(a_ring_that_was_too_small_has_the_latest)
{
	begin();
	for (uint64_t i = 0; i < 10; i++) {
		record(0, 0, 0, 3, i * 100);
		record(0, 0, LEAVE, 3, i * 100 + i);
	}
	record(0, 0, 0, 4, 5000); /* takes the room of an entering, whose leaving stays */
	decode();
	ck_assert_uint_eq(losses.overwritten, 13);
	ck_assert_uint_eq(losses.unmatched, 2);
	ck_assert_uint_eq(got.n, 4);
	check_scope(0, 3, 7, UINT32_MAX);
	check_scope(2, 3, 9, UINT32_MAX);
	ck_assert(got.scopes[3].is_open);
}
END_TEST

/* What records say may be short of whole turns where the block took long enough for one more. */
START_TEST(clocks_that_may_have_wrapped_are_told)
{
	static const struct {
		double took_s;
		uint32_t khz;
		uint64_t enter, leave;
		uint64_t wraps;
	} cases[] = {{0.9, 0, 1000, 2000, 0},
		     {1.1, 0, 1000, 2000, 1},
		     {2.1, 1980000, 1000, 2000, 0}, /* at 1.98 GHz a turn takes 2.17 s */
		     {4.41, 1980000, 1000, 150065514, 1},
		     {4.0, 1980000, 1000, 4000000000, 0}, /* no second one has room */
		     {4.0, 1980000, 4000000000, 4000000000 + UINT32_MAX, 0},
		     {4.41, 1980000, UINT64_C(5) << 32, (UINT64_C(5) << 32) + 100, 0}, /* 43 bits */
		     {-1.0, 0, 1000, 2000, 0}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct warp_layout l = layout;
		uint64_t left_ns = (uint64_t)(100 + (int64_t)(cases[i].took_s * 1e9));
		bool is_long = cases[i].enter >> 32;

		l.clock_khz = cases[i].khz;
		begin();
		buffer[6] = htole32((uint32_t)left_ns);
		buffer[7] = htole32((uint32_t)(left_ns >> 32));
		record(0, 1, 0, 3, is_long ? cases[i].enter : (uint32_t)cases[i].enter);
		record(0, 1, LEAVE, 3, is_long ? cases[i].leave : (uint32_t)cases[i].leave);
		losses = (struct warp_losses){0};
		ck_assert_int_eq(
			warp_records_decode(buffer, sizeof(buffer), &l, keep, NULL, &losses), 0);
		ck_assert_msg(losses.wraps == cases[i].wraps, "case %zu: %" PRIu64, i,
			      losses.wraps);
		check_scope(0, 3, cases[i].leave - cases[i].enter, UINT32_MAX);
	}
}
END_TEST

START_TEST(clocks_wrap)
{
	/* 32 bits: in a scope, and again between two of them. */
	begin();
	record(0, 0, 0, 1, UINT32_MAX - 10);
	record(0, 0, LEAVE, 1, 20);
	record(0, 0, 0, 1, 10); /* one turn later */
	record(0, 0, LEAVE, 1, 15);
	decode();
	check_scope(0, 1, 31, UINT32_MAX);
	check_scope(1, 1, 5, UINT32_MAX);
	ck_assert_uint_gt(got.scopes[1].enter, got.scopes[0].leave);

	/* 43 bits */
	begin();
	record(0, 0, 0, 1, ((uint64_t)1 << 43) - 1);
	record(0, 0, LEAVE, 1, (uint64_t)5 << 32);
	decode();
	check_scope(0, 1, ((uint64_t)5 << 32) + 1, UINT32_MAX);
}
END_TEST

/* With sched_stores the entering of an outer scope is written after all of an inner one. */
START_TEST(entering_may_be_written_late)
{
	begin();
	record(0, 0, 0, 2, 150);
	record(0, 0, LEAVE, 2, 170);
	record(0, 0, 0, 1, 100);
	record(0, 0, LEAVE, 1, 200);
	decode();
	check_scope(0, 2, 20, UINT32_MAX);
	check_scope(1, 1, 100, UINT32_MAX);
	ck_assert_uint_eq(got.scopes[0].enter - got.scopes[1].enter, 50);
}
END_TEST

START_TEST(what_is_no_block_is_told)
{
	begin();
	buffer[0] = 0;
	buffer[BLOCK_WORDS] = htole32(1);
	decode();
	ck_assert_uint_eq(losses.blocks, 1);
	ck_assert_uint_eq(losses.broken, 1);
	begin();
	buffer[1] = htole32(N_BLOCKS);               /* no such block */
	buffer[BLOCK_WORDS + 3] = htole32(1u << 31); /* more than there is */
	decode();
	ck_assert_uint_eq(losses.broken, 2);
	begin();
	record(0, 0, 4u << 20, 1, 5);    /* of a type from the future */
	record(0, 0, VALUE | F32, 1, 5); /* behind nothing */
	record(0, 0, MARK, 1, 5);
	record(0, 0, VALUE | KIND(11), 1, 5);     /* of a kind from the future */
	record(0, 0, VALUE | F32, 1, 0x7fc00000); /* none */
	decode();
	ck_assert_uint_eq(losses.others, 4);
	ck_assert_uint_eq(got.n, 0);
	ck_assert_uint_eq(got.n_points, 1);
}
END_TEST

START_TEST(events_marks_and_values_are_points)
{
	static const struct warp_point wanted[] = {
		{.at = 10, .parent = UINT32_MAX, .scope = 7, .kind = WARP_POINT_BEGIN},
		{.at = 20, .parent = 0, .scope = 5, .kind = WARP_POINT_MARK},
		{.at = 20, .parent = 0, .scope = 5, .kind = WARP_POINT_VALUE, .value = -1.5},
		{.at = 40, .parent = 0, .scope = 7, .kind = WARP_POINT_END},
		{.at = 50, .parent = 0, .scope = 6, .kind = WARP_POINT_VALUE, .value = 0.5}};
	uint64_t base;

	begin();
	record(0, 0, EVENT, 7, 10);
	record(0, 0, 0, 1, 15);
	record(0, 0, MARK, 5, 20);
	record(0, 0, VALUE | F32, 5, 0xbfc00000);
	record(0, 0, LEAVE | EVENT, 7, 40);
	record(0, 0, LEAVE, 1, 50);
	record(0, 0, VALUE | F16, 6, 0x3800);
	decode();
	check_scope(0, 1, 35, UINT32_MAX);
	ck_assert_uint_eq(losses.others + losses.unmatched, 0);
	ck_assert_uint_eq(got.n_points, ARRAY_SIZE(wanted));
	base = got.scopes[0].enter - 15;
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		ck_assert_uint_eq(got.points[i].at - base, wanted[i].at);
		ck_assert_uint_eq(got.points[i].parent, wanted[i].parent);
		ck_assert_uint_eq(got.points[i].scope, wanted[i].scope);
		ck_assert_int_eq(got.points[i].kind, wanted[i].kind);
		ck_assert_double_eq(got.points[i].value, wanted[i].value);
	}
}
END_TEST

/* As Triton numbers them; the rest of the word is not theirs. */
START_TEST(values_of_all_kinds)
{
	static const struct {
		uint32_t kind, word;
		double value;
	} rows[] = {
		{1, 0xff, 1},
		{1, 0, 0},
		{2, 0xffffff85, -123},
		{2, 0x00000080, -128},
		{3, 0x12348000, -32768},
		{4, 0xfffffff9, -7},
		{5, 0xffffff85, 133},
		{6, 0x12348000, 32768},
		{7, 0xfffffff9, 4294967289.0},
		{8, 0x3800, 0.5},
		{9, 0x4040, 3},
		{10, 0xbfc00000, -1.5},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		begin();
		record(0, 0, MARK | KIND(rows[i].kind), 1, 5);
		record(0, 0, VALUE | KIND(rows[i].kind), 1, rows[i].word);
		decode();
		ck_assert_uint_eq(losses.others, 0);
		ck_assert_uint_eq(got.n_points, 2);
		ck_assert_int_eq(got.points[1].kind, WARP_POINT_VALUE);
		ck_assert_double_eq(got.points[1].value, rows[i].value);
	}
}
END_TEST

/* The upper clock of a value is none: it does not make clocks of 32 bits such of 43. */
START_TEST(values_have_no_clock)
{
	begin();
	record(0, 0, 0, 1, UINT32_MAX - 4);
	record(0, 0, VALUE | BF16, 1, (uint64_t)3 << 32 | 0x4040);
	record(0, 0, EVENT, 2, 3);
	record(0, 0, LEAVE, 1, 5);
	record(0, 0, LEAVE | EVENT, 2, 9);
	decode();
	check_scope(0, 1, 10, UINT32_MAX);
	ck_assert_uint_eq(got.n_points, 3);
	ck_assert_double_eq(got.points[0].value, 3);
	ck_assert_uint_eq(got.points[1].at - got.points[0].at, 8);
	ck_assert_uint_eq(got.points[2].at - got.points[1].at, 6);
	/* One that was written late is not before what was told. */
	begin();
	record(0, 0, MARK, 1, 100);
	record(0, 0, EVENT, 2, 90);
	record(0, 0, LEAVE | EVENT, 2, 110);
	decode();
	ck_assert_uint_eq(got.points[1].at, got.points[0].at);
	ck_assert_uint_eq(got.points[2].at - got.points[1].at, 10);
}
END_TEST

START_TEST(numbers_of_16_bits)
{
	ck_assert_double_eq(warp_f16(0x3c00), 1);
	ck_assert_double_eq(warp_f16(0xc000), -2);
	ck_assert_double_eq(warp_f16(0x7bff), 65504);
	ck_assert_double_eq(warp_f16(0x0001), 0x1p-24);
	ck_assert_double_infinite(warp_f16(0xfc00));
	ck_assert_double_nan(warp_f16(0x7e00));
}
END_TEST

START_TEST(layouts_that_cannot_be_are_refused)
{
	static const uint32_t twice[] = {1, 1}, beyond[] = {0, 2};
	struct warp_layout bad = layout;

	begin();
#define REFUSED(size)                                                                              \
	ck_assert_int_eq(warp_records_decode(buffer, size, &bad, keep, NULL, &losses), -EINVAL)
	REFUSED(sizeof(buffer) - 1);
	bad.n_blocks = 1;
	REFUSED(sizeof(buffer));
	bad = layout, bad.recording = twice;
	REFUSED(sizeof(buffer));
	bad = layout, bad.recording = beyond;
	REFUSED(sizeof(buffer));
	bad = layout, bad.n_recording = 0;
	REFUSED(sizeof(buffer));
	bad = layout, bad.n_recording = 3;
	REFUSED(sizeof(buffer));
	bad = layout, bad.block_bytes = 16;
	REFUSED(sizeof(buffer));
	bad = layout, bad.block_bytes = 0;
	REFUSED(0);
	bad = layout, bad.n_warps = WARP_MOST + 1;
	REFUSED(sizeof(buffer));
#undef REFUSED
}
END_TEST

/* As in a test of Triton's Proton. */
START_TEST(what_records_cost_is_taken_out)
{
	struct warp_scope scopes[] = {{.enter = 33, .leave = 70},
				      {.enter = 54, .leave = 100},
				      {.is_open = true, .enter = 1}};
	struct warp_point point = {.at = 150};
	struct warp_contents contents = {.scopes = scopes, .n_scopes = 3};

	ck_assert_int_eq(warp_contents_shift(&contents, WARP_SHIFT_CUDA), 0);
	ck_assert_uint_eq(scopes[0].enter, 26);
	ck_assert_uint_eq(scopes[0].leave, 49);
	ck_assert_uint_eq(scopes[1].enter, 40);
	ck_assert_uint_eq(scopes[1].leave, 72);
	ck_assert_uint_eq(scopes[2].enter, 1);
	scopes[0] = (struct warp_scope){.enter = 100, .leave = 103};
	contents.n_scopes = 1;
	ck_assert_int_eq(warp_contents_shift(&contents, WARP_SHIFT_CUDA), 0);
	ck_assert_uint_eq(scopes[0].enter, 93);
	ck_assert_uint_eq(scopes[0].leave, 96);
	/* What is within costs, too. */
	scopes[0] = (struct warp_scope){.enter = 100, .leave = 200};
	contents.points = &point;
	contents.n_points = 1;
	ck_assert_int_eq(warp_contents_shift(&contents, WARP_SHIFT_CUDA), 0);
	ck_assert_uint_eq(point.at, 136);
	ck_assert_uint_eq(scopes[0].leave - scopes[0].enter, 86);
}
END_TEST

START_TEST(sums_are_by_place)
{
	/* 1 { 2 } 2, and a 1 that is open */
	const struct warp_scope scopes[] = {
		{.enter = 10, .leave = 40, .parent = UINT32_MAX, .scope = 1},
		{.enter = 20, .leave = 25, .parent = 0, .scope = 2},
		{.enter = 50, .leave = 70, .parent = UINT32_MAX, .scope = 2},
		{.enter = 80, .parent = UINT32_MAX, .scope = 1, .is_open = true}};
	struct scope_sums sums;

	ck_assert_int_eq(scope_sums_init(&sums), 0);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(scope_sums_add(&sums, scopes, ARRAY_SIZE(scopes)), 0);
	ck_assert_uint_eq(sums.n, 4);
	ck_assert_uint_eq(sums.items[1].n, 2);
	ck_assert_uint_eq(sums.items[1].cycles, 60);
	ck_assert_uint_eq(sums.items[2].parent, 1);
	ck_assert_uint_eq(sums.items[2].cycles_max, 5);
	ck_assert_uint_eq(sums.items[3].parent, SCOPE_SUMS_KERNEL);
	ck_assert_uint_eq(sums.items[3].cycles_min, 20);
	scope_sums_done(&sums);

	ck_assert_int_eq(scope_sums_init(&sums), 0);
	ck_assert_int_eq(scope_sums_place(&sums, 2, 1), -EINVAL); /* parents first */
	ck_assert_int_eq(scope_sums_place(&sums, 1, -1), 0);
	ck_assert_int_eq(scope_sums_place(&sums, 2, 1), 0);
	ck_assert_int_eq(scope_sums_place(&sums, 2, -1), -EINVAL);
	ck_assert_int_eq(scope_sums_place(&sums, WARP_SCOPES, -1), -EINVAL);
	ck_assert_int_eq(scope_sums_add(&sums, scopes, ARRAY_SIZE(scopes)), 0);
	ck_assert_uint_eq(sums.n, 3);
	ck_assert_uint_eq(sums.items[2].cycles, 25);
	scope_sums_done(&sums);
}
END_TEST

/* ---- files */
static size_t file_of(uint32_t *file, uint32_t payload)
{
	const uint32_t head[] = {1, 4, 48, 48, payload, 1, N_BLOCKS, N_WARPS, layout.block_bytes,
				 2, 0, 1};

	for (size_t i = 0; i < ARRAY_SIZE(head); i++)
		file[i] = htole32(head[i]);
	memcpy(file + ARRAY_SIZE(head), buffer, sizeof(buffer));
	return sizeof(head) + sizeof(buffer);
}

static int load(const uint32_t *file, size_t size, struct session **ret, struct format_error *error)
{
	struct reader_memory memory = {.data = (const char *)file, .len = size};
	struct reader_input in;
	int r;

	*error = (struct format_error){0};
	*ret = session_new();
	ck_assert_ptr_nonnull(*ret);
	reader_init_memory(&in, &memory);
	r = format_read(&in, *ret, error);
	if (r < 0)
		*ret = session_free(*ret);
	return r;
}

START_TEST(a_file_is_a_profile)
{
	uint32_t file[12 + ARRAY_SIZE(buffer)], kernel, scope;
	struct format_error error;
	struct session *s;
	size_t size;
	double sum = 0, normal = 0;

	begin();
	for (uint32_t b = 0; b < N_BLOCKS; b++)
		for (uint32_t w = 0; w < N_WARPS; w++) {
			record(b, w, 0, 9, 1000 * b);
			record(b, w, LEAVE, 9, 1000 * b + 10 * (w + 1));
		}
	size = file_of(file, sizeof(buffer));
	ck_assert_int_eq(load(file, size, &s, &error), 0);
	kernel = s->nodes[SESSION_ROOT].first_child;
	ck_assert_int_eq(session_node_kind(s, kernel), FRAME_KERNEL);
	scope = s->nodes[kernel].first_child;
	ck_assert_int_eq(session_node_kind(s, scope), FRAME_INSTRUMENT);
	ck_assert_str_eq(session_node_name(s, scope), "scope_9");
	for (uint32_t row = session_first_row(s, scope); row != SESSION_NONE;
	     row = session_next_row(s, row)) {
		const struct session_set *set = &s->sets[s->rows[row].set];

		if (set->metrics[0] == METRIC_CYCLES)
			sum = (double)s->values[s->rows[row].values].u64;
		if (set->metrics[0] == METRIC_NORMALIZED_CYCLES)
			normal = s->values[s->rows[row].values].f64;
	}
	ck_assert_double_eq(sum, 60);
	ck_assert_double_eq(normal, 15);
	session_free(s);
	for (size_t i = 0; i < size; i++)
		ck_assert_int_lt(load(file, i, &s, &error), 0);
	file_of(file, sizeof(buffer) - 1);
	ck_assert_int_eq(load(file, size, &s, &error), -EINVAL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("warps");
	TCase *t = tcase_create("records");

	suite_add_tcase(suite, t);
	tcase_add_test(t, scopes_have_their_cycles_and_parents);
	tcase_add_test(t, scopes_need_not_be_left_as_they_were_entered);
	tcase_add_test(t, a_ring_that_was_too_small_has_the_latest);
	tcase_add_test(t, clocks_wrap);
	tcase_add_test(t, clocks_that_may_have_wrapped_are_told);
	tcase_add_test(t, entering_may_be_written_late);
	tcase_add_test(t, what_is_no_block_is_told);
	tcase_add_test(t, events_marks_and_values_are_points);
	tcase_add_test(t, values_of_all_kinds);
	tcase_add_test(t, values_have_no_clock);
	tcase_add_test(t, numbers_of_16_bits);
	tcase_add_test(t, layouts_that_cannot_be_are_refused);
	tcase_add_test(t, what_records_cost_is_taken_out);
	tcase_add_test(t, sums_are_by_place);
	tcase_add_test(t, a_file_is_a_profile);
	return check_run(suite);
}
