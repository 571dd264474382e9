/* SPDX-License-Identifier: MIT */
/* What hardware counters said: how times add up and become coarser, what is no number, and their way over a tape. */
#include "config.h" // IWYU pragma: keep
#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/clock.h"
#include "base/util.h"
#include "check_main.h"
#include "core/counted.h"
#include "core/session.h"
#include "wire/counters.h"
#include "wire/wire.h"

enum { MS = 1000000 };

/* A time of a millisecond, the i-th. */
static struct counted time_at(uint64_t i, double sm)
{
	struct counted c;

	counted_init(&c);
	c.start_ns = i * MS;
	c.end_ns = (i + 1) * MS;
	c.counted_ns = MS;
	c.n = 1;
	c.v[COUNTED_SM_ACTIVE] = sm;
	return c;
}

static struct session *with_device(const char *uuid, uint32_t *ret)
{
	struct session *s = session_new();
	struct session_device d = {.type = strtab_adds(s->strings, "CUDA"),
				   .uuid = strtab_adds(s->strings, uuid)};

	*ret = session_device_intern(s, &d);
	return s;
}

static int add(struct session *s, uint32_t device, struct counted of)
{
	return session_counters_add(s, &(struct session_counters){device, of});
}

START_TEST(means_are_weighted_by_what_was_counted)
{
	struct counted sum, long_one = time_at(1, 10), other = time_at(0, 50);

	counted_init(&sum);
	ck_assert(isnan(sum.v[COUNTED_SM_ACTIVE]));
	long_one.end_ns += 2 * MS;
	long_one.counted_ns = 3 * MS;
	long_one.n = 3;
	long_one.v[COUNTED_L2_HIT] = 75;
	counted_add(&sum, &long_one);
	counted_add(&sum, &other);
	ck_assert_double_eq(sum.v[COUNTED_SM_ACTIVE], 20);
	ck_assert_double_eq(sum.v[COUNTED_L2_HIT], 75); /* what one does not know takes no part */
	ck_assert(isnan(sum.v[COUNTED_TENSOR]));
	ck_assert_uint_eq(sum.start_ns, 0);
	ck_assert_uint_eq(sum.end_ns, 4 * MS);
	ck_assert_uint_eq(sum.counted_ns, 4 * MS);
	ck_assert_uint_eq(sum.n, 4);
}
END_TEST

START_TEST(nonsense_is_none)
{
	struct counted c = time_at(1, -1);

	c.v[COUNTED_L2_HIT] = INFINITY;
	c.v[COUNTED_WARPS] = 1e300;
	c.v[COUNTED_DRAM_WRITE] = 0;
	c.counted_ns = 9 * MS;
	ck_assert(counted_check(&c));
	ck_assert(isnan(c.v[COUNTED_SM_ACTIVE]));
	ck_assert(isnan(c.v[COUNTED_L2_HIT]));
	ck_assert(isnan(c.v[COUNTED_WARPS]));
	ck_assert_double_eq(c.v[COUNTED_DRAM_WRITE], 0);
	ck_assert_uint_eq(c.counted_ns, MS);
	c.n = 0;
	ck_assert(!counted_check(&c));
	c.n = 1;
	c.end_ns = c.start_ns;
	ck_assert(!counted_check(&c));
	c.start_ns = UINT64_C(1) << 62;
	c.end_ns = c.start_ns + 1;
	ck_assert(!counted_check(&c));
}
END_TEST

START_TEST(texts_have_units)
{
	static const struct {
		enum counter_id id;
		double v;
		const char *text, *unit;
	} cases[] = {
		{COUNTED_SM_ACTIVE, 62.5, "62.5", "%"},
		{COUNTED_GPC_CLOCK, 1.755e9, "1755", "MHz"},
		{COUNTED_PCIE_READ, 1.234e9, "1.23", "GB/s"},
		{COUNTED_BLOCKS, 233000, "233K", "/s"},
		{COUNTED_SM_ACTIVE, NAN, "-", "%"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char text[HUMAN_MAX];

		ck_assert_str_eq(counted_text(text, cases[i].id, cases[i].v), cases[i].unit);
		ck_assert_str_eq(text, cases[i].text);
	}
}
END_TEST

/* Of a long run the mean stays, the newest times too, and memory is bounded. */
START_TEST(old_times_become_coarser)
{
	enum { N = 20000 };
	struct counters_range range;
	struct counted recent;
	uint32_t device;
	struct session *s = with_device("GPU-1", &device);

	for (uint64_t i = 0; i < N; i++)
		ck_assert_int_eq(add(s, device, time_at(i, (double)(i % 100))), 0);
	ck_assert_uint_le(s->n_counters, COUNTERS_MOST + COUNTERS_FINE);
	for (size_t i = s->n_counters - COUNTERS_FINE; i < s->n_counters; i++)
		ck_assert_uint_eq(s->counters[i].of.counted_ns, MS);
	for (size_t i = 1; i < s->n_counters; i++)
		ck_assert_uint_eq(s->counters[i].of.start_ns, s->counters[i - 1].of.end_ns);
	ck_assert(session_counters_range(s, device, &range));
	ck_assert_uint_eq(range.mean.n, N);
	ck_assert_double_eq_tol(range.mean.v[COUNTED_SM_ACTIVE], 49.5, 1e-6);
	ck_assert_double_eq(range.min[COUNTED_SM_ACTIVE], 0);
	ck_assert_double_eq(range.max[COUNTED_SM_ACTIVE], 99);
	ck_assert(isnan(range.max[COUNTED_TENSOR]));
	ck_assert_uint_eq(session_counters_end(s, device), (uint64_t)N * MS);
	ck_assert(!session_counters_now(s, device, &recent));
	s->counting = true;
	ck_assert(session_counters_now(s, device, &recent));
	ck_assert_uint_eq(recent.n, 1000);
	session_free(s);
}
END_TEST

/* Over steps side by side: a time has its part in each that it reaches into, and what was not counted is not 0. */
START_TEST(its_past)
{
	struct counters_steps steps = {.from_ns = 2 * MS, .step_ns = 2 * MS, .n = 5};
	struct counted long_one = time_at(5, 70);
	float past[5];
	uint32_t device;
	struct session *s = with_device("GPU-1", &device);

	for (uint64_t i = 0; i < 5; i++)
		ck_assert_int_eq(add(s, device, time_at(i, (double)i * 10)), 0);
	long_one.end_ns = 8 * MS;
	long_one.counted_ns = 3 * MS / 2; /* half of its samples were lost */
	ck_assert_int_eq(add(s, device, long_one), 0);
	session_counters_past(s, device, COUNTED_SM_ACTIVE, &steps, past);
	ck_assert_double_eq_tol(past[0], 25, 1e-5);
	ck_assert_double_eq_tol(past[1], 50, 1e-5); /* 40 for 1 ms, 70 for half of one */
	ck_assert_double_eq_tol(past[2], 70, 1e-5);
	ck_assert(isnan(past[3]) && isnan(past[4]));
	session_counters_past(s, device, COUNTED_TENSOR, &steps, past);
	ck_assert(isnan(past[0]));
	session_free(s);
}
END_TEST

START_TEST(of_no_device)
{
	struct counters_range range;
	uint32_t device;
	struct session *s = with_device("GPU-1", &device);

	ck_assert_int_eq(add(s, device + 1, time_at(0, 1)), -EINVAL);
	ck_assert_uint_eq(session_counters_end(s, device), 0);
	ck_assert(!session_counters_range(s, device, &range));
	session_free(s);
}
END_TEST

/* ---- the tape ---- */

static const struct wire_header *header_at(const struct buf *frames, size_t at)
{
	const struct wire_header *h = (const void *)(frames->data + at);

	ck_assert_uint_eq(h->magic, WIRE_MAGIC);
	ck_assert_uint_eq(h->kind, WIRE_COUNTERS);
	ck_assert_uint_le(h->length, WIRE_FRAME_MAX);
	return h;
}

static size_t take_frames(struct session *back, const struct buf *frames)
{
	size_t n = 0, at = 0;

	for (; at < frames->len; n++) {
		const struct wire_header *h = header_at(frames, at);

		ck_assert_int_eq(wire_counters_take(back, h + 1, h->length - sizeof(*h)), 0);
		at += wire_padded(h->length);
	}
	ck_assert_uint_eq(at, frames->len);
	return n;
}

/* What was told is not told again; more than a frame holds takes several. */
START_TEST(over_a_tape)
{
	enum { N = 200 };
	uint32_t device, other;
	struct session *s = with_device("GPU-1", &device), *back = with_device("GPU-1", &other);
	struct session *stranger = with_device("GPU-2", &other);
	struct wire_counters_told told = {.n = 0};
	_cleanup_(buf_done) struct buf frames = {0};

	s->losses[LOSS_COUNTERS] = 7;
	for (uint64_t i = 0; i < N; i++)
		ck_assert_int_eq(add(s, device, time_at(i, (double)i / N)), 0);
	ck_assert_int_eq(wire_counters_frames(s, &told, 1, &frames), 0);
	ck_assert_uint_gt(take_frames(back, &frames), 1);
	ck_assert_uint_eq(back->n_counters, N);
	ck_assert_uint_eq(back->losses[LOSS_COUNTERS], 7);
	for (size_t i = 0; i < N; i++) {
		ck_assert_uint_eq(back->counters[i].of.start_ns, s->counters[i].of.start_ns);
		ck_assert_uint_eq(back->counters[i].of.end_ns, s->counters[i].of.end_ns);
		ck_assert_uint_eq(back->counters[i].of.counted_ns, MS);
		ck_assert_uint_eq(back->counters[i].of.n, 1);
		ck_assert_double_eq(back->counters[i].of.v[COUNTED_SM_ACTIVE], (double)i / N);
		ck_assert(isnan(back->counters[i].of.v[COUNTED_TENSOR]));
	}
	(void)take_frames(stranger, &frames);
	ck_assert_uint_eq(stranger->n_counters, 0);
	buf_clear(&frames);
	ck_assert_int_eq(wire_counters_frames(s, &told, 2, &frames), 0);
	ck_assert_uint_eq(frames.len, 0);
	ck_assert_int_eq(add(s, device, time_at(N, 1)), 0);
	ck_assert_int_eq(wire_counters_frames(s, &told, 3, &frames), 0);
	ck_assert_uint_eq(take_frames(back, &frames), 1);
	ck_assert_uint_eq(back->n_counters, N + 1);
	wire_counters_told_done(&told);
	session_free(s);
	session_free(back);
	session_free(stranger);
}
END_TEST

/* A frame that is torn, or says more than it holds, is refused; what is none is not added. */
START_TEST(nonsense_is_refused)
{
	uint32_t device, other;
	struct session *s = with_device("GPU-1", &device), *back = with_device("GPU-1", &other);
	struct wire_counters_told told = {.n = 0};
	_cleanup_(buf_done) struct buf frames = {0};
	const struct wire_header *h;
	struct wire_counters *head;
	size_t size;

	ck_assert_int_eq(add(s, device, time_at(1, 5)), 0);
	ck_assert_int_eq(wire_counters_frames(s, &told, 1, &frames), 0);
	h = header_at(&frames, 0);
	size = h->length - sizeof(*h);
	head = (void *)(frames.data + sizeof(*h));
	for (size_t less = 1; less <= size; less++)
		ck_assert_int_eq(wire_counters_take(back, head, size - less), -EBADMSG);
	head->n = UINT32_MAX;
	ck_assert_int_eq(wire_counters_take(back, head, size), -EBADMSG);
	head->n = COUNTED_N;
	head->n_times = UINT32_MAX;
	ck_assert_int_eq(wire_counters_take(back, head, size), -EBADMSG);
	head->n_times = 1;
	memset(head->uuid, 'x', sizeof(head->uuid));
	ck_assert_int_eq(wire_counters_take(back, head, size), -EBADMSG);
	ck_assert_uint_eq(back->n_counters, 0);
	wire_counters_told_done(&told);
	session_free(s);
	session_free(back);
}
END_TEST

/* Numbers behind those that we know are a newer version's, fewer an older one's. */
START_TEST(other_versions)
{
	static const int more[] = {-3, 3};
	struct {
		struct wire_counters head;
		struct wire_counted time;
		double v[COUNTED_N + 3];
	} payload = {.head = {.uuid = "GPU-1", .n_times = 1},
		     .time = {.start_ns = MS, .end_ns = 2 * MS, .counted_ns = MS, .n_samples = 1}};
	uint32_t n = (uint32_t)(COUNTED_N + more[_i]), device;
	struct session *back = with_device("GPU-1", &device);

	for (size_t i = 0; i < ARRAY_SIZE(payload.v); i++)
		payload.v[i] = (double)i;
	payload.head.n = n;
	ck_assert_int_eq(wire_counters_take(back, &payload,
					    offsetof(__typeof__(payload), v) + n * sizeof(double)),
			 0);
	ck_assert_uint_eq(back->n_counters, 1);
	for (uint32_t i = 0; i < COUNTED_N; i++) {
		double v = back->counters[0].of.v[i];

		ck_assert(i < n ? v == (double)i : isnan(v));
	}
	session_free(back);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("counted");
	TCase *tcase = tcase_create("all");

	tcase_add_test(tcase, means_are_weighted_by_what_was_counted);
	tcase_add_test(tcase, nonsense_is_none);
	tcase_add_test(tcase, texts_have_units);
	tcase_add_test(tcase, old_times_become_coarser);
	tcase_add_test(tcase, its_past);
	tcase_add_test(tcase, of_no_device);
	tcase_add_test(tcase, over_a_tape);
	tcase_add_test(tcase, nonsense_is_refused);
	tcase_add_loop_test(tcase, other_versions, 0, 2);
	suite_add_tcase(suite, tcase);
	return check_run(suite);
}
