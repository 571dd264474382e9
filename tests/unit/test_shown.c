/* SPDX-License-Identifier: MIT */
/* Text that is shown: nothing in it steers a terminal, and it is as wide as it says. */
#include "config.h" // IWYU pragma: keep
#include <check.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/shown.h"
#include "base/util.h"
#include "check_main.h"

#define FFFD "\xef\xbf\xbd"

static const struct {
	const char *text, *shown;
	size_t columns;
} texts[] = {
	{"", "", 0},
	{"void gemm<float, 8>(int*)", NULL, 25},
	{"\x1b]0;t\a\x1b[31m", "^[]0;t^G^[[31m", 14},
	{"a\tb\nc\rd\bx\x7f", "a^Ib^Jc^Md^Hx^?", 15},
	/* C1, as characters and as bytes */
	{"\xc2\x9b"
	 "31m\xc2\x85",
	 "U+009B31mU+0085", 15},
	{"\x9b"
	 "31m\x90\xff",
	 FFFD "31m" FFFD FFFD, 6},
	/* ends of lines, overrides, isolates, marks of direction, what has no width */
	{"\xe2\x80\xa8\xe2\x80\xa9", "U+2028U+2029", 12},
	{"\xe2\x80\xaa\xe2\x80\xae\xe2\x81\xa6\xe2\x81\xa9", "U+202AU+202EU+2066U+2069", 24},
	{"\xe2\x80\x8e\xe2\x80\x8f\xd8\x9c\xe2\x80\x8b", "U+200EU+200FU+061CU+200B", 24},
	{"\xef\xbb\xbf\xf3\xa0\x80\x81\xef\xbf\xbf", "U+FEFFU+E0001U+FFFF", 19},
	{"\xf3\xa0\x81\xa1\xf3\xa0\x81\xbf\xf3\xa0\x82\x80", "U+E0061U+E007F\xf3\xa0\x82\x80", 15},
	/* no UTF-8: too long, a surrogate, beyond Unicode, cut */
	{"\xc0\x80\xed\xa0\x80\xf4\x90\x80\x80", FFFD FFFD FFFD FFFD FFFD FFFD FFFD FFFD FFFD, 9},
	{"cut \xe2\x82", "cut " FFFD FFFD, 6},
	{FFFD, NULL, 1},
	/* every script, accents, emoji with joiners, selectors and skin */
	{"caf\xc3\xa9 e\xcc\x81", NULL, 6},
	{"漢字かな", NULL, 8},
	{"שלום مرحبا", NULL, 10},
	{"क्\xe2\x80\x8dष", NULL, 2},
	{"👩\xe2\x80\x8d👩\xe2\x80\x8d👧 ❤️", NULL, 8},
	/* joiners that join nothing only hide */
	{"a\xe2\x80\x8d", "aU+200D", 7},
	{"a\xe2\x80\x8d\xe2\x80\x8c\xe2\x80\x8d漢", "aU+200DU+200C\xe2\x80\x8d漢", 15},
	{"a\xe2\x80\x8d\x1b", "aU+200D^[", 9},
};

static void check_text(const char *text, const char *wanted, size_t columns)
{
	struct buf once, twice;

	buf_init(&once, 0);
	buf_init(&twice, 0);
	shown_put(&once, text, strlen(text));
	ck_assert_str_eq(buf_str(&once), wanted);
	ck_assert_uint_eq(shown_columns(text, strlen(text)), columns);
	ck_assert_uint_eq(shown_columns(once.data, once.len), columns);
	ck_assert_int_eq(shown_is_same(text, strlen(text)), !strcmp(text, wanted));
	shown_put(&twice, once.data, once.len);
	ck_assert_str_eq(buf_str(&twice), wanted);
	buf_done(&once);
	buf_done(&twice);
}

START_TEST(texts_are_shown)
{
	const char *wanted = texts[_i].shown ? texts[_i].shown : texts[_i].text;

	check_text(texts[_i].text, wanted, texts[_i].columns);
}
END_TEST

/* Fifty accents on one letter would run over the lines above. */
START_TEST(marks_are_bounded)
{
	char text[128] = "e";
	struct buf out;

	for (int i = 0; i < 50; i++)
		strcat(text, "\xcc\x81");
	buf_init(&out, 0);
	shown_put(&out, text, strlen(text));
	ck_assert(!shown_is_same(text, strlen(text)));
	ck_assert_ptr_nonnull(strstr(buf_str(&out), "\xcc\x81U+0301\xcc\x81"));
	ck_assert_uint_eq(shown_columns(text, strlen(text)), 1 + (50 / 9) * 6);
	buf_done(&out);
}
END_TEST

START_TEST(what_fits)
{
	ck_assert_uint_eq(shown_fit("abc", 3, 2), 2);
	ck_assert_uint_eq(shown_fit("漢字", 6, 3), 3); /* no half of a letter */
	ck_assert_uint_eq(shown_fit("e\xcc\x81x", 4, 1), 3);
	ck_assert_uint_eq(shown_fit("a\x1b"
				    "b",
				    3, 2),
			  1); /* nor of an escape */
	ck_assert_uint_eq(shown_fit("abc", 3, 9), 3);
}
END_TEST

static void put_formatted(struct buf *out, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	shown_vprintf(out, format, ap);
	va_end(ap);
}

START_TEST(lines_and_formats)
{
	static const char lines[] = "a\tb\r\n\x1b[1mc\r\rd\n\ne\r";
	struct buf out;

	buf_init(&out, 0);
	shown_put_lines(&out, lines, sizeof(lines) - 1);
	ck_assert_str_eq(buf_str(&out), "a\tb\n^[[1mc^M^Md\n\ne^M");
	buf_done(&out);
	buf_init(&out, 0);
	put_formatted(&out, "%s: %d", "\n\x9b", 5);
	ck_assert_str_eq(buf_str(&out), "^J" FFFD ": 5");
	buf_done(&out);
}
END_TEST

static bool is_safe(const unsigned char *p)
{
	for (; *p; p++)
		if (*p < ' ' || *p == 0x7f || (*p == 0xc2 && p[1] < 0xa0) ||
		    (*p == 0xe2 && p[1] == 0x80 && p[2] >= 0xa8 && p[2] <= 0xae))
			return false;
	return true;
}

/* Whatever the bytes: what comes out is safe, UTF-8, as wide as was said, and stays so. */
START_TEST(any_bytes)
{
	static const char parts[][5] = {"\xe2\x80", "\xc2",     "\x9b",
					"\xf0\x9f", "\xcc\x81", "\xe2\x80\x8d"};
	char text[64];

	srandom(1);
	for (int turn = 0; turn < 20000; turn++) {
		size_t len = 0;
		struct buf out;

		while (len < 40) {
			if (random() % 2)
				len += strlen(strcpy(text + len, parts[random() % 6]));
			else
				text[len++] = (char)(1 + random() % 255);
		}
		text[len] = '\0';
		buf_init(&out, 0);
		shown_put(&out, text, len);
		ck_assert(is_safe((const unsigned char *)buf_str(&out)));
		ck_assert_uint_ne(mbstowcs(NULL, buf_str(&out), 0), (size_t)-1);
		ck_assert(shown_is_same(out.data, out.len));
		ck_assert_uint_eq(shown_columns(out.data, out.len), shown_columns(text, len));
		buf_done(&out);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("shown");
	TCase *tc = tcase_create("shown");

	if (!setlocale(LC_ALL, "C.UTF-8"))
		return 77;
	tcase_add_loop_test(tc, texts_are_shown, 0, (int)ARRAY_SIZE(texts));
	tcase_add_test(tc, marks_are_bounded);
	tcase_add_test(tc, what_fits);
	tcase_add_test(tc, lines_and_formats);
	tcase_add_test(tc, any_bytes);
	suite_add_tcase(suite, tc);
	return check_run(suite);
}
