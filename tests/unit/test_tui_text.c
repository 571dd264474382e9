/* SPDX-License-Identifier: MIT */
/* Text: whatever a name holds, what is drawn is clean and as wide as it says. */
#include "config.h" // IWYU pragma: keep
#include <stdlib.h>
#include <string.h>
#include "base/util.h"
#include "test_tui_session.h"
#include "tui/sections.h"
#include "tui/text.h"

static void check_fit(const char *s, int skip, int width, enum text_cut cut,
		      const wchar_t *expected)
{
	wchar_t out[256];

	text_fit(out, ARRAY_SIZE(out), s, strlen(s), skip, width, cut, false);
	ck_assert_msg(!wcscmp(out, expected), "'%s' became '%ls', not '%ls'", s, out, expected);
}

START_TEST(fitting)
{
	check_fit("short", 0, 10, TEXT_CUT_END, L"short");
	check_fit("exactly10!", 0, 10, TEXT_CUT_END, L"exactly10!");
	check_fit("eleven chars", 0, 10, TEXT_CUT_END, L"eleven ch…");
	check_fit("void flash_fwd<128>(Params)", 0, 16, TEXT_CUT_MIDDLE, L"void flash…rams)");
	check_fit("scrolled by three", 3, 8, TEXT_CUT_MIDDLE, L"olled b…");
	check_fit("scrolled", 20, 8, TEXT_CUT_END, L"");
	check_fit("", 0, 8, TEXT_CUT_END, L"");
	check_fit("x", 0, 0, TEXT_CUT_END, L"");
	check_fit("x", 0, -5, TEXT_CUT_END, L"");
}
END_TEST

START_TEST(hostile_names)
{
	check_fit("a\nb\x1b[31mc\x7f", 0, 40, TEXT_CUT_END, L"a^Jb^[[31mc^?");
	check_fit("bad \xff\xc0\x80 end", 0, 40, TEXT_CUT_END, L"bad ��� end");
	check_fit("cut \xe2\x82", 0, 40, TEXT_CUT_END, L"cut ��");
	check_fit("\xed\xa0\x80", 0, 40, TEXT_CUT_END, L"���"); /* a surrogate */
	check_fit("rtl \xe2\x80\xae", 0, 40, TEXT_CUT_END, L"rtl U+202E");
	check_fit("c1 \xc2\x9b", 0, 40, TEXT_CUT_END, L"c1 U+009B");
}
END_TEST

START_TEST(wide_characters)
{
	check_fit("漢字かな", 0, 8, TEXT_CUT_END, L"漢字かな");
	check_fit("漢字かな", 0, 7, TEXT_CUT_END, L"漢字か…");
	check_fit("漢字かな", 0, 6, TEXT_CUT_END, L"漢字…");
	check_fit("漢字かな", 1, 4, TEXT_CUT_END, L"字…"); /* not half a character */
	check_fit("e\xcc\x81t\xc3\xa9", 0, 3, TEXT_CUT_END, L"e\x0301té");
	check_fit("\xcc\x81x", 0, 3, TEXT_CUT_END, L"x"); /* a mark without its letter */
	ck_assert_int_eq(text_columns("漢字", strlen("漢字"), false), 4);
	ck_assert_int_eq(text_columns("漢字", strlen("漢字"), true), 2);
}
END_TEST

/* No bytes at all make it write too much, or more columns than asked for. */
START_TEST(any_bytes)
{
	wchar_t out[64];
	char s[48];

	srandom(1);
	for (int turn = 0; turn < 20000; turn++) {
		size_t len = (size_t)random() % sizeof(s);
		int width = (int)(random() % 40), columns;

		for (size_t i = 0; i < len; i++)
			s[i] = (char)(random() % 3 ? random() % 256 : 0xe2);
		columns = text_fit(out, ARRAY_SIZE(out), s, len, (int)(random() % 10), width,
				   random() % 2 ? TEXT_CUT_END : TEXT_CUT_MIDDLE, random() % 2);
		ck_assert_int_le(columns, width);
		ck_assert_uint_lt(wcslen(out), ARRAY_SIZE(out));
	}
}
END_TEST

static void check_plain(const char *s, const char *expected)
{
	char out[256];

	text_plain(out, sizeof(out), s, strlen(s));
	ck_assert_str_eq(out, expected);
}

START_TEST(plain_output)
{
	check_plain("\x1b[1;31mred\x1b[0m text", "red text");
	check_plain("\x1b]0;title\a after", " after");
	check_plain("\x1b]8;;http://x\x1b\\link", "link");
	check_plain("10%\r50%\r100%\r", "100%");
	check_plain("a\tb", "a       b");
	check_plain("\x1b", "");
	check_plain("\x1b[", "");
	check_plain("bell\a", "bell");
}
END_TEST

START_TEST(smart_case)
{
	ck_assert(!text_is_smart_case("flash"));
	ck_assert(text_is_smart_case("Flash"));
	ck_assert_ptr_nonnull(text_find("FlashFwd", "flash", false));
	ck_assert_ptr_null(text_find("FlashFwd", "flash", true));
}
END_TEST

/* Rows of words have no more columns than there is room for, the last one, too, and no word is cut that has room. */
START_TEST(rows_of_words)
{
	static const char text[] = "long copies at 20.0 GB/s; 50.0 measured";

	for (int room = 6; room < 60; room++)
		for (const char *rest = text; *rest;) {
			size_t n = sections_row_of_text(rest, room);

			ck_assert_uint_gt(n, 0);
			ck_assert_msg(n <= (size_t)room || !memchr(rest, ' ', n), "%d: '%.*s'",
				      room, (int)n, rest);
			ck_assert(!rest[n] || rest[n] == ' ' || n == (size_t)room);
			rest += n;
			rest += strspn(rest, " ");
		}
	ck_assert_uint_eq(sections_row_of_text("12 4567", 6), 2);
	ck_assert_uint_eq(sections_row_of_text("12 4567", 7), 7);
}
END_TEST

Suite *suite_text(void)
{
	const TTest *const tests[] = {fitting,      hostile_names, wide_characters, any_bytes,
				      plain_output, smart_case,    rows_of_words};
	Suite *s = suite_create("text");
	TCase *c = tcase_create("text");

	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	suite_add_tcase(s, c);
	return s;
}
