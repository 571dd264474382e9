/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include "check_main.h"
#include "core/period.h"

static struct period p;
static uint64_t now, n_told, n_over, n_found, least, most, begun;

static void reset(void)
{
	memset(&p, 0, sizeof(p));
	now = 1000;
	n_told = n_over = n_found = most = begun = 0;
	least = UINT64_MAX;
}

/* An operation a microsecond. */
static void op(uint32_t what)
{
	uint64_t start = 0;

	now += 1000;
	switch (period_add(&p, what, now, &start)) {
	case PERIOD_STEP:
		ck_assert_uint_lt(start, now);
		n_told++;
		least = now - start < least ? now - start : least;
		most = now - start > most ? now - start : most;
		break;
	case PERIOD_OVER:
		n_over++;
		n_told = most = 0;
		least = UINT64_MAX;
		break;
	case PERIOD_FOUND:
		n_found++;
		break;
	default:
		break;
	}
}

static void many(uint32_t what, unsigned n)
{
	while (n--)
		op(what);
}

/* Embedding, so many layers of four, head: what a model does. */
static void model_step(unsigned layers)
{
	op(100);
	for (unsigned i = 0; i < layers; i++)
		for (uint32_t k = 0; k < 4; k++)
			op(k);
	op(101);
	op(102);
}

START_TEST(layers_are_no_steps)
{
	unsigned layers = (unsigned[]){1, 2, 5, 8, 32, 80, 500}[_i], length = layers * 4 + 3;

	reset();
	for (unsigned i = 0; i < 200; i++)
		model_step(layers);
	ck_assert_uint_eq(p.length, length);
	ck_assert_uint_ge(n_told, 100);
	ck_assert_uint_eq(least, length * 1000);
	ck_assert_uint_eq(most, length * 1000);
}
END_TEST

/* Layers of a step that is too long to be seen: nothing. */
START_TEST(too_long)
{
	reset();
	for (unsigned i = 0; i < 60; i++)
		model_step(3000);
	ck_assert_uint_eq(p.length, 0);
	ck_assert_uint_eq(n_told, 0);
}
END_TEST

START_TEST(nothing_repeats)
{
	reset();
	srand((unsigned)_i);
	for (unsigned i = 0; i < 200000; i++)
		op((uint32_t)rand() % (_i % 2 ? 5 : 3000));
	ck_assert_uint_eq(n_told, 0);
	reset();
	for (uint32_t i = 0; i < 200000; i++) /* and each is another one */
		op(i);
	ck_assert_uint_eq(n_found, 0);
	reset();
	many(7, 100000);
	ck_assert_uint_eq(n_found, 0);
}
END_TEST

/* What is done before a loop, and now and then within, costs a step each. */
START_TEST(irregular)
{
	unsigned n = 0;

	reset();
	srand((unsigned)_i);
	for (uint32_t i = 0; i < 3000; i++)
		op(1000 + i % 700);
	for (unsigned i = 0; i < 2000; i++) {
		model_step(6);
		if (rand() % 50 == 0) {
			many(500, 1 + (unsigned)rand() % 90);
			n++;
		}
	}
	ck_assert_uint_eq(p.length, 27);
	ck_assert_uint_ge(n_told + n, 1500);
	ck_assert_uint_le(n_told, 2000);
	ck_assert_uint_eq(least, 27000);
	ck_assert_uint_eq(most, 27000);
}
END_TEST

/* It changes, and is found again. */
START_TEST(changes)
{
	reset();
	for (unsigned i = 0; i < 300; i++)
		model_step(6);
	ck_assert_uint_eq(p.length, 27);
	for (unsigned i = 0; i < 300; i++)
		model_step(9);
	ck_assert_uint_eq(p.length, 39);
	ck_assert_uint_ge(n_over, 1);
	ck_assert_uint_eq(most, 39000);
}
END_TEST

/* Four small steps, then one of another kind: as one. */
START_TEST(accumulation)
{
	reset();
	for (unsigned i = 0; i < 400; i++) {
		for (unsigned k = 0; k < 4; k++)
			model_step(3);
		op(200);
		op(201);
	}
	ck_assert_uint_eq(p.length, 4 * 15 + 2);
	ck_assert_uint_eq(most, 62000);
}
END_TEST

START_TEST(missing)
{
	reset();
	for (unsigned i = 0; i < 300; i++) {
		model_step(6);
		if (i % 10 == 0) {
			op(100);
			period_break(&p);
		}
	}
	ck_assert_uint_eq(p.length, 27);
	ck_assert_uint_eq(n_over, 0);
	ck_assert_uint_eq(most, 27000);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("period");
	TCase *t = tcase_create("period");

	tcase_add_loop_test(t, layers_are_no_steps, 0, 7);
	tcase_add_test(t, too_long);
	tcase_add_loop_test(t, nothing_repeats, 0, 4);
	tcase_add_loop_test(t, irregular, 0, 8);
	tcase_add_test(t, changes);
	tcase_add_test(t, accumulation);
	tcase_add_test(t, missing);
	suite_add_tcase(s, t);
	return check_run(s);
}
