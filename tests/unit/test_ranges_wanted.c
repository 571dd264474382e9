/* SPDX-License-Identifier: MIT */
/* Which metrics are measured of kernels, as a file tells it to the program that is profiled: it is read as it was
 * written, and one that somebody else wrote is refused. */
#include "config.h" // IWYU pragma: keep
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"
#include "check_main.h"
#include "core/metric.h"
#include "core/ranges_wanted.h"

static struct ranges_wanted w;

static bool parsed(const char *text)
{
	bool ok = ranges_wanted_parse(text, &w);

	if (!ok)
		ranges_wanted_done(&w);
	return ok;
}

START_TEST(it_is_read_as_it_was_written)
{
	struct ranges_wanted of = {.replay = RANGES_KERNELS, .of = RANGES_OF_NVTX};
	char name[256];
	char *text;

	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	ck_assert(ranges_wanted_add(&of, "dram__bytes.sum", "B", METRIC_SUM));
	ck_assert(ranges_wanted_add(&of, "lts__t_sector_hit_rate.pct", "", METRIC_WMEAN));
	ck_assert(ranges_wanted_add(&of, "%s%n", "%n", METRIC_MAX));
	ck_assert(ranges_wanted_add(&of, name, "", METRIC_MIN));
	text = ranges_wanted_text(&of);
	ck_assert(parsed(text));
	ck_assert_int_eq(w.replay, RANGES_KERNELS);
	ck_assert_int_eq(w.of, RANGES_OF_NVTX);
	ck_assert_uint_eq(w.n, of.n);
	for (size_t i = 0; i < of.n; i++) {
		ck_assert_str_eq(w.metrics[i].name, of.metrics[i].name);
		ck_assert_str_eq(w.metrics[i].unit, of.metrics[i].unit);
		ck_assert_uint_eq(w.metrics[i].add, of.metrics[i].add);
	}
	free(text);
	ranges_wanted_done(&of);
	ranges_wanted_done(&w);
}
END_TEST

START_TEST(one_metric_is_there_once)
{
	ck_assert(parsed(
		"replay none\nrange kernel\nmetric sum B dram__bytes.sum\nmetric max B dram__bytes.sum\n"));
	ck_assert_uint_eq(w.n, 1);
	ck_assert_uint_eq(w.metrics[0].add, METRIC_SUM);
	ck_assert(ranges_wanted_has(&w, "dram__bytes.sum"));
	ck_assert(!ranges_wanted_has(&w, "dram__bytes"));
	ranges_wanted_done(&w);
}
END_TEST

START_TEST(there_are_so_many_and_no_more)
{
	char name[16];

	w = (struct ranges_wanted){.n = 0};
	for (int i = 0; i < RANGES_METRICS_MAX; i++) {
		snprintf(name, sizeof(name), "a__%d", i);
		ck_assert(ranges_wanted_add(&w, name, "", METRIC_SUM));
	}
	ck_assert(!ranges_wanted_add(&w, "a__more", "", METRIC_SUM));
	ck_assert(ranges_wanted_add(&w, "a__7", "", METRIC_SUM)); /* is there */
	ck_assert_uint_eq(w.n, RANGES_METRICS_MAX);
	ranges_wanted_done(&w);
}
END_TEST

START_TEST(what_is_no_such_text_is_refused)
{
	static const char *const texts[] = {
		"",
		"\n",
		"replay",
		"replay none",
		"replay none\n",
		"replay none\nrange kernel\n\n",
		"replay none\nmetric sum B a__b\n",
		"replay none\nrange all\nmetric sum B a__b\n",
		"replay none\nrange kernel scope\nmetric sum B a__b\n",
		"replay none\nrange kernel\n",
		"replay always\nrange kernel\nmetric sum B a__b\n",
		"replay\nnone\nrange kernel\nmetric sum B a__b\n",
		"replay none kernel\nrange kernel\nmetric sum B a__b\n",
		"range kernel\nmetric sum B a__b\n",
		"replay none\nrange kernel\nmetric sum B\n",
		"replay none\nrange kernel\nmetric sum B\na__b\n", /* a name is not of the next line */
		"replay none\nrange kernel\nmetric sum B a__b c__d\n",
		"replay none\nrange kernel\nmetric median B a__b\n",
		"replay none\nrange kernel\nmetric sumsumsum B a__b\n",
		"replay none\nrange kernel\nmetric sum B a__b\nmetri",
		"replay none\nrange kernel\nmetric sum 01234567890123456789012345678901 a__b\n",
	};
	char *text = malloc(1 << 20);
	size_t len;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		ck_assert_msg(!parsed(texts[i]), "%s", texts[i]);
	len = (size_t)sprintf(text, "replay none\nrange kernel\nmetric sum B ");
	memset(text + len, 'x', 256); /* a name that is too long is not another one */
	strcpy(text + len + 256, "\n");
	ck_assert(!parsed(text));
	len = (size_t)sprintf(text, "replay none\nrange kernel\n");
	for (int i = 0; i < 10000; i++)
		len += (size_t)sprintf(text + len, "metric sum B a__%d\n", i);
	ck_assert(!parsed(text));
	free(text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ranges_wanted");
	TCase *tc = tcase_create("ranges_wanted");

	tcase_add_test(tc, it_is_read_as_it_was_written);
	tcase_add_test(tc, one_metric_is_there_once);
	tcase_add_test(tc, there_are_so_many_and_no_more);
	tcase_add_test(tc, what_is_no_such_text_is_refused);
	suite_add_tcase(suite, tc);
	return check_run(suite);
}
