/* SPDX-License-Identifier: MIT */
/* Samples of instructions as lines and functions (core/source.h), and lines of source files. */
#include "config.h" // IWYU pragma: keep
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/util.h"
#include "check_main.h"
#include "core/by_line.h"
#include "core/line_name.h"
#include "core/source.h"
#include "naming/source_files.h"

static struct session *s;
static struct snapshot *snap;
static struct numbers *numbers;
static struct source source;

static void setup(void)
{
	s = session_new();
	source = (struct source){0};
}

static void teardown(void)
{
	source_done(&source);
	numbers_free(numbers);
	snapshot_free(snap);
	session_free(s);
}

static void sample(uint32_t parent, const char *name, enum pc_reason reason, uint64_t n)
{
	uint32_t node = name ? session_node(s, parent, FRAME_INSTRUCTION, name) : parent;

	session_add(s, node, session_lane_intern(s, &session_nowhere), 0,
		    METRIC_STALLED_LONG_SCOREBOARD + (uint32_t)reason,
		    (union metric_value){.u64 = n});
}

static void make(const uint8_t *mask)
{
	const struct snapshot_spec spec = {0};

	snap = snapshot_new(s, &spec);
	ck_assert_ptr_nonnull(snap);
	snapshot_mask(snap, mask);
	numbers = numbers_new(snap, NULL);
	numbers_update(numbers, NULL);
	ck_assert_int_eq(source_make(&source, numbers), 0);
}

#define AT(offset) "+0x" offset " k@0000000000000001.cubin"

/* Two contexts of one kernel are one function; lines stand by file and number, and instructions by offset. */
START_TEST(lines_of_a_kernel)
{
	uint32_t a = session_node(s, SESSION_ROOT, FRAME_SCOPE, "a");
	uint32_t b = session_node(s, SESSION_ROOT, FRAME_SCOPE, "b");
	const uint32_t k[] = {session_node(s, a, FRAME_KERNEL, "k"),
			      session_node(s, b, FRAME_KERNEL, "k")};
	uint32_t other = session_node(s, b, FRAME_KERNEL, "other");
	uint32_t line;

	for (int i = 0; i < 2; i++) {
		line = session_node(s, k[i], FRAME_LINE, "/k.cu:10@k");
		sample(line, AT("0100"), PC_LONG_SCOREBOARD, 30);
		sample(line, AT("0020"), PC_SELECTED, 4);
		line = session_node(s, k[i], FRAME_LINE, "/k.cu:9@k");
		sample(line, AT("0030"), PC_WAIT, 5);
		sample(k[i], AT("0040"), PC_BARRIER, 1);
	}
	sample(other, NULL, PC_DRAIN, 20); /* it is not known where in it */
	make(NULL);

	ck_assert_uint_eq(source.n_functions, 2);
	ck_assert_double_eq(source.samples, 100);
	ck_assert_double_eq(source.functions[0].mix.samples, 80);
	ck_assert_uint_eq(source.functions[0].n, 3);
	ck_assert_uint_eq(snapshot_node(snap, source.functions[0].node)->kind, FRAME_KERNEL);
	ck_assert_uint_eq(source.lines[source.functions[0].first].line, 9);
	line = (uint32_t)source.functions[0].first + 1;
	ck_assert_uint_eq(source.functions[0].hottest, line);
	ck_assert_uint_eq(source.lines[line].line, 10);
	ck_assert_uint_eq(source.lines[line].file_len, strlen("/k.cu"));
	ck_assert_uint_eq(source.lines[line].n, 2);
	ck_assert_uint_eq(source.instructions[source.lines[line].first].offset, 0x20);
	ck_assert_double_eq(source.instructions[source.lines[line].first + 1].mix.samples, 60);
	ck_assert_double_eq(source_stalled(&source.lines[line].mix), 60);
	ck_assert_ptr_null(source.lines[line + 1].file); /* no line is known: behind all others */
	ck_assert_double_eq(source.functions[1].mix.by[PC_DRAIN], 20);
	ck_assert_ptr_null(source.instructions[source.lines[source.functions[1].first].first].name);
}
END_TEST

/* What a filter leaves out does not count. */
START_TEST(of_what_is_left)
{
	uint32_t a = session_node(s, SESSION_ROOT, FRAME_KERNEL, "a");
	uint32_t b = session_node(s, SESSION_ROOT, FRAME_KERNEL, "b");
	const uint8_t mask[] = {1, 1, 0, 1, 0};

	sample(a, AT("0010"), PC_WAIT, 5);
	sample(b, AT("0010"), PC_WAIT, 7);
	make(mask);
	ck_assert_uint_eq(source.n_functions, 1);
	ck_assert_double_eq(source.samples, 5);
}
END_TEST

/* The hottest line is the one that waits, not the one that works. */
START_TEST(hottest_waits)
{
	uint32_t k = session_node(s, SESSION_ROOT, FRAME_KERNEL, "k");

	sample(session_node(s, k, FRAME_LINE, "/k.cu:1@k"), AT("0000"), PC_SELECTED, 100);
	sample(session_node(s, k, FRAME_LINE, "/k.cu:2@k"), AT("0010"), PC_GMMA, 10);
	make(NULL);
	ck_assert_uint_eq(source.lines[source.functions[0].hottest].line, 2);
}
END_TEST

/* What is inlined is below the lines that call it: the kernel is one, and each line the innermost. */
START_TEST(inlined)
{
	uint32_t k = session_node(s, SESSION_ROOT, FRAME_KERNEL, "k");
	uint32_t outer = session_node(s, k, FRAME_LINE, "/k.cu:9@k");

	sample(outer, AT("0000"), PC_WAIT, 1);
	sample(session_node(s, outer, FRAME_LINE, "/k.cu:5@f"), AT("0010"), PC_WAIT, 2);
	make(NULL);
	ck_assert_uint_eq(source.n_functions, 1);
	ck_assert_double_eq(source.functions[0].mix.samples, 3);
	ck_assert_uint_eq(source.lines[0].line, 5);
	ck_assert_double_eq(source.lines[0].mix.samples, 2);
	ck_assert_uint_eq(source.lines[1].line, 9);
}
END_TEST

static const struct {
	const char *name;
	int file_len; /* -1: it is no line */
	uint32_t line;
} names[] = {
	{"/src/planted.cu:19@scaled", 15, 19},
	{"/home/@me/c:3@x/k.cu:7@f", 20, 7}, /* a folder as a place */
	{"c:\\k.cu:7@f", 7, 7},
	{"/k.cu:12@memcpy@GLIBC_2.14", 5, 12}, /* the version of a symbol */
	{"/k.cu:12@a:3", 5, 12},
	{"/k@v2.cu:1@", 8, 1},
	{":5@f", 0, 5},
	{"/k.cu:12", -1, 0},
	{"/k.cu:@f", -1, 0},
	{"/k.cu12@f", -1, 0},
	{"12@f", -1, 0},
	{"/k.cu:4294967296@f", -1, 0},
	{"/k.cu:99999999999999999999999@f", -1, 0},
	{"", -1, 0},
};

START_TEST(names_of_lines)
{
	const char *name = names[_i].name;
	struct line_name at = {.line = 0};
	bool is_line = line_name_parse(name, strlen(name), &at);

	ck_assert_int_eq(is_line ? (int)at.file_len : -1, names[_i].file_len);
	ck_assert_uint_eq(at.line, names[_i].line);
	if (is_line)
		ck_assert_int_eq(name[at.function - 1], '@');
}
END_TEST

/* As Triton's Proton has it: no instructions, no line below another, none that only calls; and nothing is lost. */
START_TEST(by_line)
{
	uint32_t k = session_node(s, SESSION_ROOT, FRAME_KERNEL, "k"), empty, inner;
	uint32_t outer = session_node(s, k, FRAME_LINE, "/k.cu:9@k");
	uint32_t calls = session_node(s, k, FRAME_LINE, "/k.cu:7@k");
	struct session *lines;
	union metric_value v;

	empty = session_node(s, SESSION_ROOT, FRAME_SCOPE, "empty");
	ck_assert(empty != SESSION_NONE);
	sample(outer, AT("0000"), PC_WAIT, 1);
	sample(session_node(s, outer, FRAME_LINE, "/k.cu:5@f"), AT("0010"), PC_WAIT, 2);
	sample(session_node(s, calls, FRAME_LINE, "/k.cu:5@f"), AT("0020"), PC_WAIT, 4);
	sample(k, AT("0030"), PC_WAIT, 8);
	ck_assert(session_has_instructions(s));
	ck_assert_int_eq(session_by_line(s, &lines), 0);
	ck_assert(!session_has_instructions(lines));
	ck_assert_uint_eq(lines->n_nodes, 5); /* ROOT, k, two lines, the empty scope */
	ck_assert(session_value(lines, k, METRIC_STALLED_WAIT, &v) && v.u64 == 8);
	inner = session_node(lines, k, FRAME_LINE, "/k.cu:5@f");
	ck_assert(session_value(lines, inner, METRIC_STALLED_WAIT, &v) && v.u64 == 6);
	outer = session_node(lines, k, FRAME_LINE, "/k.cu:9@k");
	ck_assert(session_value(lines, outer, METRIC_STALLED_WAIT, &v) && v.u64 == 1);
	ck_assert_uint_eq(lines->n_nodes, 5);
	session_free(lines);
}
END_TEST

START_TEST(largest_reasons)
{
	struct source_mix mix = {.samples = 200};
	enum pc_reason top[STALLS_TOP];
	char text[STALLS_TEXT_MAX];

	ck_assert_str_eq(source_top_text(&mix, 3, text), "-");
	mix.by[PC_SELECTED] = 100;
	mix.by[PC_WAIT] = 20;
	mix.by[PC_LG_THROTTLE] = 50;
	mix.by[PC_MISC] = 10;
	mix.by[PC_OTHER] = 20;
	ck_assert_uint_eq(source_top(&mix, top), 3);
	ck_assert_int_eq(top[0], PC_LG_THROTTLE);
	ck_assert_int_eq(top[1], PC_WAIT); /* of equal ones the first of the list */
	ck_assert_int_eq(top[2], PC_OTHER);
	ck_assert_str_eq(source_top_text(&mix, 2, text), "lg throttle 50, wait 20");
	for (int i = 0; i < PC_N_REASONS; i++) {
		const char *brief = stall_brief((enum pc_reason)i);

		ck_assert(*stall_word((enum pc_reason)i) && *stall_text((enum pc_reason)i) &&
			  *stall_meaning((enum pc_reason)i));
		ck_assert(*brief && strlen(brief) <= STALL_BRIEF);
		for (int k = 0; k < i; k++)
			ck_assert_str_ne(brief, stall_brief((enum pc_reason)k));
	}
}
END_TEST

/* ---- files ---- */

static char folder[] = "/tmp/test_source.XXXXXX";

static void put_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
}

static const char *line_of(struct source_files *f, const char *name, uint32_t line)
{
	static char text[64];
	struct source_text t = source_files_line(f, name, strlen(name), line);

	if (!t.text)
		return "(none)";
	snprintf(text, sizeof(text), "%.*s", (int)t.len, t.text);
	return text;
}

START_TEST(files_where_they_may_be)
{
	struct source_files *f = source_files_new();
	char here[64];

	ck_assert_ptr_nonnull(mkdtemp(folder));
	ck_assert_int_eq(chdir(folder), 0);
	snprintf(here, sizeof(here), "%s/here.cu", folder);
	put_file("here.cu", "one\r\ntwo\n\nfour");
	ck_assert(mkdir("src", 0700) == 0 && mkdir("src/deep", 0700) == 0);
	put_file("src/deep/k.cu", "deep");
	put_file("src/k.cu", "not so deep");
	ck_assert_int_eq(source_files_add_folder(f, "src"), 0);
	ck_assert_str_eq(line_of(f, here, 1), "one");
	ck_assert_str_eq(line_of(f, here, 3), "");
	ck_assert_str_eq(line_of(f, here, 4), "four");
	ck_assert_str_eq(line_of(f, here, 5), "(none)");
	ck_assert_str_eq(line_of(f, here, 0), "(none)");
	ck_assert_str_eq(line_of(f, "/gone/deep/k.cu", 1), "deep");
	ck_assert_str_eq(line_of(f, "/gone/k.cu", 1), "not so deep");
	ck_assert_str_eq(line_of(f, "/gone/other.cu", 1), "(none)");
	ck_assert_str_eq(line_of(f, "src", 1), "(none)");
	ck_assert_str_eq(line_of(f, "/dev/zero", 1), "(none)");
	ck_assert_str_eq(line_of(f, "", 1), "(none)");
	ck_assert(source_files_is_newer(f, here, strlen(here), NSEC_PER_SEC));
	ck_assert(!source_files_is_newer(f, here, strlen(here), UINT64_MAX));
	ck_assert(!source_files_is_newer(f, "/gone/x", 7, 0));
	source_files_free(f);
	ck_assert(!unlink("here.cu") && !unlink("src/deep/k.cu") && !unlink("src/k.cu") &&
		  !rmdir("src/deep") && !rmdir("src") && !rmdir(folder));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("source");
	TCase *tc = tcase_create("model"), *files = tcase_create("files");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, lines_of_a_kernel);
	tcase_add_test(tc, of_what_is_left);
	tcase_add_test(tc, hottest_waits);
	tcase_add_test(tc, inlined);
	tcase_add_test(tc, by_line);
	suite_add_tcase(suite, tc);
	tcase_add_test(files, largest_reasons);
	tcase_add_loop_test(files, names_of_lines, 0, ARRAY_SIZE(names));
	tcase_add_test(files, files_where_they_may_be);
	suite_add_tcase(suite, files);
	return check_run(suite);
}
