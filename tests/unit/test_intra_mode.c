/* SPDX-License-Identifier: MIT */
/* Modes of Triton's Proton as text (intra/intra_mode.h). */
#include "config.h" // IWYU pragma: keep

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "check_main.h"
#include "intra/intra_mode.h"

static struct intra_mode mode;
static char why[INTRA_WHY_MAX];

static void accept(const char *text)
{
	ck_assert_msg(intra_mode_parse(text, &mode, why) == 0, "'%s': %s", text, why);
}

START_TEST(nothing_is_the_default)
{
	static const char *const texts[] = {NULL, "", "default", "mma", "default:"};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		mode = (struct intra_mode){INTRA_GLOBAL, 1, 1, 1};
		accept(texts[i]);
		ck_assert_int_eq(mode.buffer, INTRA_SHARED);
		ck_assert_uint_eq(mode.buffer_bytes, 0);
		ck_assert_uint_eq(mode.warps, INTRA_ALL_WARPS);
		ck_assert_uint_eq(mode.optimizations, 0);
	}
}
END_TEST

START_TEST(every_option_is_taken)
{
	accept("default:metric_type=cycle:buffer_type=global:buffer_size=4096:buffer_strategy=circular:"
	       "granularity=warp:sampling_strategy=selective:sampling_options=0, 3 , 8 - 10,31:"
	       "optimizations=clock32,time_shift");
	ck_assert_int_eq(mode.buffer, INTRA_GLOBAL);
	ck_assert_uint_eq(mode.buffer_bytes, 4096);
	ck_assert_uint_eq(mode.warps, 0x80000709u);
	ck_assert_uint_eq(mode.optimizations, INTRA_CLOCK32 | INTRA_TIME_SHIFT);
}
END_TEST

/* str() of upstream's object, and words of its compiler. */
START_TEST(spellings_of_triton)
{
	accept("default:metric_type=MetricType.CYCLE:sampling_strategy=SamplingStrategy.SELECTIVE:"
	       "sampling_options=1:granularity=GRANULARITY.WARP:buffer_type=BufferType.GLOBAL:"
	       "buffer_size=0:optimizations=Optimize.SCHED_STORES");
	ck_assert_int_eq(mode.buffer, INTRA_GLOBAL);
	ck_assert_uint_eq(mode.warps, 2);
	ck_assert_uint_eq(mode.optimizations, INTRA_SCHED_STORES);
	accept("default:metric_type=cycle:sampling_strategy=none:sampling_options=:granularity=warp:"
	       "buffer_strategy=circular:buffer_type=shared_mem:buffer_size=0:optimizations=");
	ck_assert_int_eq(mode.buffer, INTRA_SHARED);
}
END_TEST

START_TEST(warps_without_selection_are_all)
{
	accept("default:sampling_options=0,1");
	ck_assert_uint_eq(mode.warps, INTRA_ALL_WARPS);
}
END_TEST

START_TEST(what_does_nothing_is_told)
{
	accept("default:optimizations=clock32,time_shift");
	ck_assert(!intra_mode_ignored(&mode, why));
	accept("default:optimizations=clock32,sched_barriers");
	ck_assert(intra_mode_ignored(&mode, why));
	ck_assert_str_eq(why, "sched_barriers is for GPUs of AMD and does nothing here");
	accept("default:optimizations=sched_barriers,sched_stores");
	ck_assert(intra_mode_ignored(&mode, why));
	ck_assert_str_eq(
		why, "sched_stores changes nothing: a scope is written where it ends in any case; "
		     "sched_barriers is for GPUs of AMD and does nothing here");
}
END_TEST

START_TEST(what_is_wrong_is_said)
{
	static const struct {
		const char *text, *why;
	} wrong[] = {
		{"defualt", "'defualt' is no mode; did you mean 'default'?"},
		{"fast", "'fast' is no mode: there is default, mma"},
		{"default:bufer_size=1",
		 "'bufer_size' is no option of a mode; did you mean 'buffer_size'?"},
		{"default:colour=1",
		 "'colour' is no option of a mode: there is metric_type, buffer_type, buffer_size, buffer_strategy, "
		 "granularity, sampling_strategy, sampling_options, optimizations"},
		{"default:clock32", "'clock32' is no option of a mode: they are written key=value"},
		{"default:buffer_type=host",
		 "'host' is no buffer_type: there is shared, shared_mem, global"},
		{"default:buffer_size=4k", "'4k' is no size of a buffer in bytes"},
		{"default:buffer_size=", "'' is no size of a buffer in bytes"},
		{"default:buffer_size=99999999999",
		 "'99999999999' is no size of a buffer in bytes"},
		{"default:buffer_strategy=flush",
		 "'flush' is no buffer_strategy that is implemented: there is circular"},
		{"default:granularity=cta",
		 "'cta' is no granularity that is implemented: there is warp"},
		{"default:sampling_options=0,32",
		 "'32' is no warp of a block (0 to 31) and no range of them (4-7)"},
		{"default:sampling_options=0,7-4",
		 "'7-4' is no warp of a block (0 to 31) and no range of them (4-7)"},
		{"default:sampling_strategy=selective",
		 "sampling_strategy=selective wants sampling_options, such as 0,1"},
		{"default:optimizations=clok32",
		 "'clok32' is no optimization; did you mean 'clock32'?"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		ck_assert_int_eq(intra_mode_parse(wrong[i].text, &mode, why), -EINVAL);
		ck_assert_str_eq(why, wrong[i].why);
	}
}
END_TEST

/* However long it is, the sentence has an end. */
START_TEST(long_words_are_cut)
{
	char text[1024];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	ck_assert_int_eq(intra_mode_parse(text, &mode, why), -EINVAL);
	ck_assert_uint_lt(strlen(why), INTRA_WHY_MAX);
	memcpy(text, "default:", 8);
	ck_assert_int_eq(intra_mode_parse(text, &mode, why), -EINVAL);
	text[sizeof(text) - 2] = '=';
	ck_assert_int_eq(intra_mode_parse(text, &mode, why), -EINVAL);
	ck_assert_uint_lt(strlen(why), INTRA_WHY_MAX);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("intra_mode");
	TCase *c = tcase_create("intra_mode");

	tcase_add_test(c, nothing_is_the_default);
	tcase_add_test(c, every_option_is_taken);
	tcase_add_test(c, spellings_of_triton);
	tcase_add_test(c, warps_without_selection_are_all);
	tcase_add_test(c, what_does_nothing_is_told);
	tcase_add_test(c, what_is_wrong_is_said);
	tcase_add_test(c, long_words_are_cut);
	suite_add_tcase(s, c);
	return check_run(s);
}
