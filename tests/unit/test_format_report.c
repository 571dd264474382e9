/* SPDX-License-Identifier: MIT */
/* Tests of the text report: whole tables, as a script would see them. */
#include "config.h" // IWYU pragma: keep

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "check_main.h"
#include "format/format.h"
#include "format_sample.h"
#include "report/report.h"
#include "report/table.h"

#define DATA TEST_SRCDIR "/tests/hatchet/"

static struct session *load(const char *path)
{
	struct format_error error = {0};
	struct session *s;

	ck_assert_msg(format_load(path, &s, &error) == 0, "%s", error.reason);
	s->source = 0; /* where the tests lie is no matter of a report */
	return s;
}

static int report(const struct session *s, const struct report_options *options, struct buf *text)
{
	static const struct snapshot_spec spec;
	struct snapshot *snap = snapshot_new(s, &spec);
	struct out *o = malloc(sizeof(*o));
	int r;

	ck_assert_int_eq(snapshot_update(snap, 1), 0);
	buf_init(text, 0);
	out_to_buf(o, text);
	r = report_text(snap, options, o);
	ck_assert_int_eq(out_flush(o), 0);
	snapshot_free(snap);
	free(o);
	return r;
}

/* clang-format off */
static const struct {
	const char *path;
	struct report_options options;
	const char *text;
} reports[] = {
	{DATA "upstream-triton.json", {.views = REPORT_TREE},
	 "   TOTAL       %   CALLS     AVG   BYTES    GB/s    HOST  NAME\n"
	 "  1.66us   100.0       1  1.66us       2   0.001  12.3us  ROOT\n"
	 "  1.66us   100.0       1  1.66us       2   0.001  12.3us  \xe2\x94\x94\xe2\x94\x80 scope\n"
	 "  1.66us   100.0       1  1.66us       2   0.001       -     \xe2\x94\x94\xe2\x94\x80 triton_kernel\n"},
	{DATA "upstream-leaf_nodes.json", {.views = REPORT_TREE, .ascii = true, .depth = 3},
	 "   TOTAL       %   CALLS     AVG   BYTES    GB/s   FLOPS    TF/s  NAME\n"
	 "   226ms   100.0    2252   100us   4.59G     146   1.61T    51.1  ROOT\n"
	 "   102ms    45.3     904   113us   4.00G     166   1.53T    63.6  |- kernel_1_1_1\n"
	 "  78.2ms    34.6     402   195us       -       -       -       -  |  |- kernel_1_2_2\n"
	 "  24.1ms    10.7     502  48.1us   4.00G     166   1.53T    63.6  |  `- kernel_1_2_1\n"
	 "  99.3ms    44.0    1079  92.1us    530M    84.0   67.8G    10.8  |- kernel_3_1_1\n"
	 "  93.0ms    41.2     480   194us       -       -       -       -  |  |- kernel_3_2_2\n"
	 "  6.31ms     2.8     599  10.5us    530M    84.0   67.8G    10.8  |  `- kernel_3_2_1\n"
	 "  24.2ms    10.7     269  90.0us   58.6M    56.3   5.00G    4.81  `- kernel_2_1_1\n"
	 "  23.2ms    10.3     120   193us       -       -       -       -     |- kernel_2_2_2\n"
	 "  1.04ms     0.5     149  6.98us   58.6M    56.3   5.00G    4.81     `- kernel_2_2_1\n"
	 "(ROOT: GB/s over 13.9 %, TF/s over 13.9 % of its time)\n"},
	{DATA "upstream-leaf_nodes.json",
	 {.views = REPORT_TREE, .ascii = true, .threshold = 0.3, .sort = "name",
	  .columns = "calls,time,bytes,cpu_time"},
	 "   CALLS    time   BYTES cpu_time  NAME\n"
	 "    2252   226ms   4.59G        -  ROOT\n"
	 "     904   102ms   4.00G        -  |- kernel_1_1_1\n"
	 "     402  78.2ms       -        -  |  `- kernel_1_2_2\n"
	 "    1079  99.3ms    530M        -  `- kernel_3_1_1\n"
	 "     480  93.0ms       -        -     `- kernel_3_2_2\n"},
	{DATA "h200-torch-add-shadow.hatchet",
	 {.views = REPORT_KERNELS | REPORT_TRANSFERS | REPORT_LOSSES, .width = 64},
	 "## Kernels, copies and sets\n"
	 "   TOTAL       %   CALLS     AVG  NAME\n"
	 "   174ms   100.0    200K   868ns  _ZN2at6native29vectorized_ele\xe2\x80\xa6\n"
	 "\n## Transfers\nnone\n\n## Losses\nnot known\n"},
	{DATA "upstream-cuda.json", {.views = REPORT_DEVICES},
	 "DEVICE  ARCH  SMS   MHZ  MEM MHZ  BUS BITS   TIME  CALLS\n"
	 "GPU0    89    128  2625    10501       384  205us      1\n"
	 "GPU1    90    132  1980     2619      6144  205us     10\n"
	 "GPU2    100   148  1700     2619      6144  205us      1\n"},
	{DATA "upstream-cuda.json", {.views = REPORT_KERNELS, .rows = 1},
	 "   TOTAL       %   CALLS     AVG   BYTES    GB/s   FLOPS    TF/s  NAME\n"
	 "   205us    33.3      10  20.5us    100M     488    100G     488  foo0\n"
	 "(2 more)\n"},
	{DATA "upstream-cuda.json", {.views = REPORT_SUMMARY},
	 "processes        0\n"
	 "devices          3\n"
	 "contexts         4\n"
	 "kernels          3\n"
	 "copies and sets  0\n"
	 "executions       12\n"
	 "device time      614us\n"
	 "lost             -\n"},
};
/* clang-format on */

START_TEST(reports_look_so)
{
	struct session *s = load(reports[_i].path);
	struct buf text;

	ck_assert_int_eq(report(s, &reports[_i].options, &text), 0);
	ck_assert_str_eq(buf_str(&text), reports[_i].text);
	buf_done(&text);
	session_free(s);
}
END_TEST

/* Whatever a profile holds: no control character of a name reaches the terminal, no line is longer
 * than it may be. */
static void expect_tame_lines(const char *text, size_t width)
{
	size_t n = 0;

	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		ck_assert_msg(c == '\n' || c >= 0x20, "control character %u", c);
		n = c == '\n' ? 0 : n + ((c & 0xc0) != 0x80);
		ck_assert_uint_le(n, width);
	}
}

START_TEST(every_section_of_a_full_session)
{
	struct session *s = sample_session();
	const struct report_options wide = {.views = report_all_views()},
				    narrow = {.views = REPORT_TREE | REPORT_KERNELS, .width = 140};
	struct buf text;

	session_node(s, SESSION_ROOT, FRAME_SCOPE, "bell \a and escape \033[2J");
	ck_assert_int_eq(report(s, &wide, &text), 0);
	for (const char *const *p =
		     (const char *const[]){"## Summary", "## Calling contexts", "## Kernels",
					   "## Transfers", "## Devices", "## Processes",
					   "## Losses", "## Notes", "_Z6matmulPfS_S_",
					   "memcpy HtoD pinned", "NVIDIA H200", "vanished",
					   "pid 4242: warning: CUPTI is held",
					   "messages not understood (damaged?)",
					   "bell ^G and escape ^[[2J", NULL};
	     *p; p++)
		ck_assert_msg(strstr(buf_str(&text), *p), "no '%s'", *p);
	expect_tame_lines(buf_str(&text), SIZE_MAX);
	buf_done(&text);
	ck_assert_int_eq(report(s, &narrow, &text), 0);
	expect_tame_lines(buf_str(&text), 140);
	buf_done(&text);
	session_free(s);
}
END_TEST

START_TEST(what_does_not_exist_is_refused)
{
	static const struct report_options wrong[] = {
		{.views = REPORT_TREE, .columns = "total,nonsense"},
		{.views = REPORT_TREE, .sort = "nonsense"},
		{.views = REPORT_TREE, .columns = ",,"},
	};
	struct session *s = load(DATA "upstream-cuda.json");
	struct buf text;

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		ck_assert_int_eq(report(s, &wrong[i], &text), -EINVAL);
		buf_done(&text);
	}
	ck_assert_uint_eq(view_find("kernels,tree", 7), VIEW_KERNELS);
	ck_assert_uint_eq(view_find("kernel", 6), VIEW_N);
	ck_assert_uint_eq(view_find("", 0), VIEW_N);
	ck_assert(report_has_text(VIEW_KERNELS) && !report_has_text(VIEW_LOG) &&
		  !report_has_text(VIEW_N));
	ck_assert_uint_eq(report_all_views() & (REPORT_CALLERS | REPORT_LOG), 0);
	session_free(s);
}
END_TEST

START_TEST(an_empty_profile_has_a_report)
{
	const struct report_options all = {.views = report_all_views()};
	struct session *s = session_new();
	struct buf text;

	s->ended = true;
	ck_assert_int_eq(report(s, &all, &text), 0);
	ck_assert_ptr_nonnull(strstr(buf_str(&text), "ROOT"));
	ck_assert_ptr_nonnull(strstr(buf_str(&text), "## Kernels, copies and sets\nnone\n"));
	buf_done(&text);
	session_free(s);
}
END_TEST

/* A path of 20,000 contexts is neither a stack overflow nor a file of its indentation. */
/* Nothing of an advice is cut, however narrow the terminal. */
START_TEST(long_words_are_broken)
{
	struct out *o = malloc(sizeof(*o));
	struct buf text;

	buf_init(&text, 0);
	out_to_buf(o, &text);
	put_wrapped(o, "set cudaMemPoolAttr so \x01", 2, 10);
	ck_assert_int_eq(out_flush(o), 0);
	ck_assert_str_eq(buf_str(&text), "set\n  cudaMemP\n  oolAttr\n  so ^A");
	buf_done(&text);
	free(o);
}
END_TEST

START_TEST(deep_trees_are_drawn)
{
	struct session *s = session_new();
	uint32_t node = SESSION_ROOT;
	struct buf text;

	for (int i = 0; i < 20000; i++)
		node = session_node(s, node, FRAME_PYTHON, "f");
	s->ended = true;
	ck_assert_int_eq(report(s, NULL, &text), 0);
	ck_assert_uint_lt(text.len, 20000 * 400);
	ck_assert_ptr_nonnull(strstr(buf_str(&text), "(+19940) "));
	buf_done(&text);
	session_free(s);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("report");
	TCase *tc = tcase_create("report");

	tcase_add_loop_test(tc, reports_look_so, 0, ARRAY_SIZE(reports));
	tcase_add_test(tc, every_section_of_a_full_session);
	tcase_add_test(tc, what_does_not_exist_is_refused);
	tcase_add_test(tc, an_empty_profile_has_a_report);
	tcase_add_test(tc, deep_trees_are_drawn);
	tcase_add_test(tc, long_words_are_broken);
	suite_add_tcase(suite, tc);
	return check_run(suite);
}
