/* SPDX-License-Identifier: MIT */
/* Copies that are begun behind launches and taken later, over a mock libcuda that lets them through when it is told. Each test
 * runs in a fork. */
#include "config.h" // IWYU pragma: keep
#include <check.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "backends/cuda_copies.h"
#include "check_main.h"

#define MIB ((size_t)1 << 20)
enum { CAPTURED = 1, BROKEN = 9, COPIES_MAX = 4096 };

static void (*defer)(int how);
static void (*let_through)(unsigned n);

/* What was taken. */
static struct {
	uint32_t n, n_failed, last;
	const void *first_at;
} taken;

static void setup(void)
{
	void *driver = dlopen(MOCK_CUDA_PATH, RTLD_NOW | RTLD_GLOBAL);

	ck_assert_msg(driver != NULL, "%s", dlerror());
	*(void **)&defer = dlsym(driver, "mock_defer");
	*(void **)&let_through = dlsym(driver, "mock_let_through");
	defer(1);
}

static void *stream(uintptr_t n)
{
	return (void *)n;
}

static unsigned char pattern(uint32_t number)
{
	return (unsigned char)(number * 7 + 1);
}

/* Its bytes are its number's, first, middle and last. */
static void take(const struct cuda_copied *c)
{
	const unsigned char *p = c->data;

	ck_assert_ptr_eq(c->tag.what, &taken);
	ck_assert_int_eq(c->device, 0);
	taken.last = c->tag.numbers[0];
	if (!p) {
		taken.n_failed++;
		return;
	}
	if (!taken.n++)
		taken.first_at = p;
	ck_assert_uint_eq(p[0], pattern(taken.last));
	ck_assert_uint_eq(p[c->size / 2], pattern(taken.last));
	ck_assert_uint_eq(p[c->size - 1], pattern(taken.last));
}

/* Of a buffer that its copy is the end of. */
static int begin_in(uintptr_t of, uint32_t number, unsigned char *from, size_t size)
{
	const struct cuda_copy_tag tag = {&taken, {number}};
	const char *why = NULL;
	int r;

	memset(from, pattern(number), size);
	r = cuda_copy_begin(stream(of), (uintptr_t)from, size, &tag, &why);
	ck_assert(r == 0 || why != NULL);
	return r;
}

static int begin(uint32_t number, unsigned char *from, size_t size)
{
	return begin_in(0, number, from, size);
}

START_TEST(are_taken_in_order)
{
	static unsigned char from[3][100];

	for (uint32_t i = 0; i < 3; i++)
		ck_assert_int_eq(begin(i + 1, from[i], 50 + i), 0);
	ck_assert_uint_eq(cuda_copies_pending(), 3);
	ck_assert(!cuda_copies_take(take, 0));
	ck_assert_uint_eq(taken.n, 0);
	let_through(2);
	ck_assert(!cuda_copies_take(take, 0));
	ck_assert_uint_eq(taken.n, 2);
	ck_assert_uint_eq(taken.last, 2);
	let_through(1);
	ck_assert(cuda_copies_take(take, 0));
	ck_assert_uint_eq(taken.last, 3);
	ck_assert(cuda_copies_owns((uintptr_t)taken.first_at));
	ck_assert(!cuda_copies_owns((uintptr_t)from));
	ck_assert(!cuda_copies_owns(0));
}
END_TEST

/* Who launches without a pause does not hold a flush up. */
static void take_and_begin(const struct cuda_copied *c)
{
	static unsigned char from[100][10];

	take(c);
	if (taken.n < 100)
		ck_assert_int_eq(begin(taken.n, from[taken.n], sizeof(from[0])), 0);
}

START_TEST(are_begun_meanwhile)
{
	static unsigned char from[2][10];

	defer(0);
	ck_assert_int_eq(begin(100, from[0], sizeof(from[0])), 0);
	ck_assert_int_eq(begin(101, from[1], sizeof(from[1])), 0);
	ck_assert(!cuda_copies_take(take_and_begin, 1000));
	ck_assert_uint_eq(taken.n, 2);
	ck_assert_uint_eq(cuda_copies_pending(), 2);
}
END_TEST

START_TEST(go_round)
{
	unsigned char *from = malloc(5 * 20 * MIB);

	for (uint32_t i = 0; i < 3; i++)
		ck_assert_int_eq(begin(i, from + i * 20 * MIB, 20 * MIB), 0);
	ck_assert_int_eq(begin(3, from + 60 * MIB, 19 * MIB), -EAGAIN);
	let_through(1);
	cuda_copies_take(take, 0);
	ck_assert_uint_eq(taken.n, 1);
	ck_assert_int_eq(begin(3, from + 60 * MIB, 20 * MIB), -EAGAIN); /* it would be empty */
	ck_assert_int_eq(begin(3, from + 60 * MIB, 19 * MIB), 0);
	ck_assert_int_eq(begin(4, from + 80 * MIB, 2 * MIB), -EAGAIN);
	let_through(10);
	ck_assert(cuda_copies_take(take, 0));
	ck_assert_uint_eq(taken.n, 4);
	ck_assert_int_eq(begin(4, from + 80 * MIB, 20 * MIB), 0);
	let_through(1);
	ck_assert(cuda_copies_take(take, 0));
	ck_assert_uint_eq(taken.last, 4);
	free(from);
}
END_TEST

/* Sizes and times at random: each has its own bytes when it is taken. */
START_TEST(keep_apart)
{
	enum { N = 300, BUFFERS = 64 };
	unsigned char *from[BUFFERS];
	uint32_t begun = 0;

	srand((unsigned)_i);
	for (int i = 0; i < BUFFERS; i++)
		from[i] = malloc(4 * MIB);
	while (begun < N) {
		size_t size = (size_t)rand() % (4 * MIB) + 1;
		bool has_buffer = begun - taken.n < BUFFERS;
		int r = has_buffer ? begin(begun, from[begun % BUFFERS], size) : -EAGAIN;

		begun += r == 0;
		if (r == -EAGAIN || rand() % 4 == 0) {
			let_through((unsigned)rand() % 8);
			cuda_copies_take(take, 0);
		}
		ck_assert(r == 0 || r == -EAGAIN);
		ck_assert_uint_eq(cuda_copies_pending(), begun - taken.n);
	}
	let_through(N);
	ck_assert(cuda_copies_take(take, 0));
	ck_assert_uint_eq(taken.n, N);
	for (int i = 0; i < BUFFERS; i++)
		free(from[i]);
}
END_TEST

START_TEST(larger_than_the_ring)
{
	static unsigned char small[10];
	unsigned char *from = malloc(70 * MIB);

	ck_assert_int_eq(begin(1, small, sizeof(small)), 0);
	ck_assert_int_eq(begin(2, from, 70 * MIB), -EAGAIN);
	let_through(1);
	ck_assert(cuda_copies_take(take, 0));
	ck_assert_int_eq(begin(2, from, 70 * MIB), 0);
	let_through(1);
	ck_assert(cuda_copies_take(take, 0));
	ck_assert_uint_eq(taken.n, 2);
	ck_assert_int_eq(cuda_copy_begin(NULL, (uintptr_t)from, 1025 * MIB,
					 &(struct cuda_copy_tag){&taken, {0}},
					 &(const char *){NULL}),
			 -EINVAL);
	free(from);
}
END_TEST

START_TEST(fail)
{
	static unsigned char from[4][10];

	ck_assert_int_eq(begin_in(CAPTURED, 1, from[0], sizeof(from[0])), -EBUSY);
	ck_assert_uint_eq(cuda_copies_pending(), 0);
	ck_assert_int_eq(begin_in(BROKEN, 2, from[1], sizeof(from[1])), 0);
	ck_assert_int_eq(begin(3, from[2], sizeof(from[2])), 0);
	let_through(2);
	ck_assert(cuda_copies_take(take, 0));
	ck_assert_uint_eq(taken.n_failed, 1);
	ck_assert_uint_eq(taken.n, 1);
}
END_TEST

START_TEST(lose_their_context)
{
	static unsigned char from[3][10];
	const void *before;

	ck_assert_int_eq(begin(1, from[0], sizeof(from[0])), 0);
	ck_assert_int_eq(begin(2, from[1], sizeof(from[1])), 0);
	let_through(1);
	cuda_copies_forget();
	ck_assert_int_eq(begin(3, from[2], sizeof(from[2])), -EAGAIN);
	ck_assert(cuda_copies_take(take, 0));
	ck_assert_uint_eq(taken.n, 1);
	ck_assert_uint_eq(taken.n_failed, 1);
	before = taken.first_at;
	taken.n = 0;
	ck_assert_int_eq(begin(3, from[2], sizeof(from[2])), 0);
	let_through(2); /* that which nobody waits for, too */
	ck_assert(cuda_copies_take(take, 0));
	ck_assert_uint_eq(taken.last, 3);
	ck_assert_ptr_ne(before, taken.first_at);
	ck_assert(cuda_copies_owns((uintptr_t)before));
}
END_TEST

START_TEST(too_many)
{
	static unsigned char from[COPIES_MAX + 1];

	for (uint32_t i = 0; i < COPIES_MAX; i++)
		ck_assert_int_eq(begin(i, from + i, 1), 0);
	ck_assert_int_eq(begin(COPIES_MAX, from + COPIES_MAX, 1), -EAGAIN);
	let_through(COPIES_MAX);
	ck_assert(cuda_copies_take(take, 0));
	ck_assert_uint_eq(taken.n, COPIES_MAX);
}
END_TEST

START_TEST(of_a_parent)
{
	static unsigned char from[2][10];

	ck_assert_int_eq(begin(1, from[0], sizeof(from[0])), 0);
	cuda_copies_forked();
	ck_assert(cuda_copies_take(take, 0));
	ck_assert_uint_eq(taken.n + taken.n_failed, 0);
	let_through(0);
	ck_assert_uint_eq(cuda_copies_pending(), 0);
}
END_TEST

static atomic_uint n_taken;
static void take_from_threads(const struct cuda_copied *c)
{
	const uint32_t *p = c->data;

	ck_assert(p != NULL);
	ck_assert_uint_eq(p[0], c->tag.numbers[0]);
	ck_assert_uint_eq(p[c->size / sizeof(*p) - 1], c->tag.numbers[0]);
	atomic_fetch_add(&n_taken, 1);
}

enum { THREADS = 8, EACH = 200, WORDS = 65536 };

static void *begin_many(void *arg)
{
	uint32_t number = (uint32_t)(uintptr_t)arg, *from = malloc(WORDS * sizeof(*from));
	const struct cuda_copy_tag tag = {&taken, {number}};
	const char *why;
	int r;

	for (size_t i = 0; i < WORDS; i++)
		from[i] = number;
	for (int i = 0; i < EACH; i++) {
		while ((r = cuda_copy_begin(stream(number), (uintptr_t)from, WORDS * sizeof(*from),
					    &tag, &why)) == -EAGAIN)
			cuda_copies_take(take_from_threads, 1);
		ck_assert_int_eq(r, 0);
	}
	while (!cuda_copies_take(take_from_threads, 1))
		;
	free(from);
	return NULL;
}

START_TEST(of_many_threads)
{
	pthread_t threads[THREADS];

	defer(0);
	for (uintptr_t i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, begin_many, (void *)(i + 20)),
				 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	ck_assert_uint_eq(n_taken, THREADS * EACH);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cuda_copies");
	TCase *tc = tcase_create("copies");

	tcase_set_timeout(tc, 240);
	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, are_taken_in_order);
	tcase_add_test(tc, are_begun_meanwhile);
	tcase_add_test(tc, go_round);
	tcase_add_loop_test(tc, keep_apart, 0, 4);
	tcase_add_test(tc, larger_than_the_ring);
	tcase_add_test(tc, fail);
	tcase_add_test(tc, lose_their_context);
	tcase_add_test(tc, too_many);
	tcase_add_test(tc, of_a_parent);
	tcase_add_test(tc, of_many_threads);
	suite_add_tcase(suite, tc);
	return check_run(suite);
}
