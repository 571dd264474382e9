/* SPDX-License-Identifier: MIT */
/* Whose a sample is: of what it fell wholly inside, if nothing else ran meanwhile. */
#include "config.h" // IWYU pragma: keep
#include <check.h>
#include <stdlib.h>
#include "base/util.h"
#include "check_main.h"
#include "core/attribution.h"

enum { LONG = 10, MAX_LONG = 4, MAX_SPANS = 16 };

static struct attributed room[MAX_LONG];
static struct span spans[2 * MAX_SPANS];
static uint64_t who[ATTRIBUTED_MOST];
static bool alone;

static struct attribution made(void)
{
	struct attribution a;

	attribution_init(&a, LONG, room, MAX_LONG, spans, MAX_SPANS);
	return a;
}

static void ran(struct attribution *a, uint64_t whose, uint64_t start, uint64_t end)
{
	attribution_add(a, &(struct attributed){start, end, whose});
}

START_TEST(it_is_whose_it_fell_in)
{
	struct attribution a = made();

	ran(&a, 2, 200, 250); /* in any order */
	ran(&a, 1, 100, 150);
	ck_assert_uint_eq(attribution_of(&a, 100, 110, who, &alone), 1);
	ck_assert(alone);
	ck_assert_uint_eq(who[0], 1);
	ck_assert_uint_eq(attribution_of(&a, 240, 250, who, &alone), 1);
	ck_assert(alone);
	ck_assert_uint_eq(who[0], 2);
	ck_assert_uint_eq(attribution_of(&a, 95, 105, who, &alone), 0); /* it began in it … */
	ck_assert_uint_eq(attribution_of(&a, 145, 155, who, &alone), 0);
	ck_assert_uint_eq(attribution_of(&a, 160, 170, who, &alone), 0); /* … or nothing ran */
}
END_TEST

START_TEST(beside_others_it_is_nobodys)
{
	struct attribution a = made();

	ran(&a, 1, 100, 200);
	ran(&a, 2, 150, 250);
	ran(&a, 3, 110, 112); /* short */
	ck_assert_uint_eq(attribution_of(&a, 120, 130, who, &alone), 1);
	ck_assert(alone);
	ck_assert_uint_eq(attribution_of(&a, 102, 111, who, &alone), 1);
	ck_assert(!alone);
	ck_assert_uint_eq(attribution_of(&a, 112, 122, who, &alone), 1); /* it had ended */
	ck_assert(alone);
	ck_assert_uint_eq(attribution_of(&a, 145, 155, who, &alone), 1);
	ck_assert(!alone);
	ck_assert_uint_eq(attribution_of(&a, 160, 170, who, &alone), 2);
	ck_assert(!alone);
	ck_assert_uint_eq(attribution_of(&a, 210, 220, who, &alone), 1);
	ck_assert(alone);
	ck_assert_uint_eq(who[0], 2);
}
END_TEST

START_TEST(what_was_forgotten_is_not_known)
{
	struct attribution a = made();

	ran(&a, 1, 100, 200);
	attribution_forget(&a, 150);
	ck_assert_uint_eq(attribution_of(&a, 140, 150, who, &alone), 0);
	ck_assert_uint_eq(attribution_of(&a, 150, 160, who, &alone), 1); /* it goes on */
	attribution_forget(&a, 200);
	ck_assert_uint_eq(a.n, 0);
}
END_TEST

START_TEST(room_is_bounded)
{
	struct attribution a = made();

	for (uint64_t i = 0; i < 2 * MAX_LONG; i++)
		ran(&a, i, 100 * i, 100 * i + 50);
	ck_assert_uint_eq(a.n, MAX_LONG);
	ck_assert_uint_eq(attribution_of(&a, 310, 320, who, &alone), 0);
	ck_assert_uint_eq(attribution_of(&a, 410, 420, who, &alone), 1);
	ck_assert_uint_eq(who[0], 4);
	/* Of short ones nobody knows any more what ran beside the long. */
	for (uint64_t i = 0; i < 4 * MAX_SPANS; i++)
		ran(&a, 99, 1000 + 4 * i, 1002 + 4 * i);
	ck_assert_uint_eq(attribution_of(&a, 710, 720, who, &alone), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("attribution");
	TCase *tc = tcase_create("attribution");

	tcase_add_test(tc, it_is_whose_it_fell_in);
	tcase_add_test(tc, beside_others_it_is_nobodys);
	tcase_add_test(tc, what_was_forgotten_is_not_known);
	tcase_add_test(tc, room_is_bounded);
	suite_add_tcase(suite, tc);
	return check_run(suite);
}
