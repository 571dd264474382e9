/* SPDX-License-Identifier: MIT */
/* The line of input: its keys, its history, names of files, and where its cursor is drawn. */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/util.h"
#include "test_tui_session.h"
#include "tui/screen.h"
#include "tui/tui_impl.h"

static struct world w;

static void setup(void)
{
	static const struct tui_options options = {.command = "view"};

	world_init(&w);
	world_open(&w, &options);
}

static void teardown(void)
{
	world_done(&w);
}

/* What is typed after keys, with the cursor as "|". */
static const char *typed(const char *keys)
{
	static char text[PROMPT_MAX + 1];
	const struct prompt *p = &w.t->prompt;

	world_keys(&w, "Esc / C-u");
	world_keys(&w, keys);
	ck_assert_uint_le(p->at, p->len);
	snprintf(text, sizeof(text), "%.*s|%s", (int)p->at, p->text, p->text + p->at);
	return text;
}

START_TEST(editing)
{
	static const struct {
		const char *keys, *text;
	} cases[] = {
		{"'gemm'", "gemm|"},
		{"'gemm' Left Left 'X'", "geX|mm"},
		{"'gemm' Home 'a' Right 'b'", "agb|emm"},
		{"'gemm' C-a C-b C-f C-f C-e C-b", "gem|m"},
		{"'gemm' Left Left BkSp", "g|mm"},
		{"'gemm' Left Left Del", "ge|m"},
		{"'gemm' Left Left C-d C-d C-d", "ge|"},
		{"'gemm' Home BkSp Left", "|gemm"},
		{"'gemm' Del Right", "gemm|"},
		{"'one two_2 three' Left C-w", "one two_2 |e"},
		{"'one two  ' C-w C-w C-w", "|"},
		{"'a/b.c' C-w", "|"},
		{"'one two' Left Left C-u", "|wo"},
		{"'one two' Left Left C-k", "one t|"},
		{"'one two_2 x' M-b M-b", "one |two_2 x"},
		{"'one two_2 x' Home M-f M-f", "one two_2| x"},
		{"'one two' Home M-d M-d M-d", "|"},
		/* Characters of several bytes, wide ones, and a mark that is drawn on a letter. */
		{"'aé漢b' Left Left Left", "a|é漢b"},
		{"'aé漢b' Left BkSp BkSp", "a|b"},
		{"'e\xcc\x81x' Left Left 'A'", "A|e\xcc\x81x"},
		{"'e\xcc\x81x' Left BkSp", "|x"},
		{"'e\xcc\x81x' Home Del", "|x"},
		{"'é' Home M-f", "é|"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		ck_assert_msg(!strcmp(typed(cases[i].keys), cases[i].text), "%s: %s, not %s",
			      cases[i].keys, typed(cases[i].keys), cases[i].text);
}
END_TEST

/* A key in the middle searches for the whole, moving the cursor for nothing. */
START_TEST(takes_effect)
{
	world_keys(&w, "\\ 'flah' Left 's'");
	ck_assert_str_eq(w.t->filter, "flash");
	world_keys(&w, "Home C-k");
	ck_assert_str_eq(w.t->filter, "");
	world_keys(&w, "'x' C-c");
	ck_assert(!prompt_is_open(&w.t->prompt));
	ck_assert_str_eq(w.t->filter, "");
}
END_TEST

START_TEST(no_more_than_fits)
{
	char key[] = "'0123456789012345678901234567890123456789'";

	world_keys(&w, "/");
	for (int i = 0; i < 20; i++)
		world_keys(&w, key);
	ck_assert_uint_lt(w.t->prompt.len, PROMPT_MAX);
	world_keys(&w, "Home 'é' Up Left Del");
	ck_assert_uint_eq(strlen(w.t->prompt.text), w.t->prompt.len);
}
END_TEST

START_TEST(history)
{
	world_keys(&w, "/ 'one' Enter / 'two' Enter / 'two' Enter / Enter \\ 'kept' Enter");
	ck_assert_str_eq(typed("'x' Up"), "two|");
	ck_assert_str_eq(typed("'x' Up Up"), "one|");
	ck_assert_str_eq(typed("'x' Up Up Up C-p"), "one|"); /* that is the first */
	ck_assert_str_eq(typed("'x' Up Up Down"), "two|");
	ck_assert_str_eq(typed("'x' Up Up Down Down C-n"),
			 "x|"); /* what was typed is there still */
	ck_assert_str_eq(w.t->search, "x");
	world_keys(&w, "Esc \\ C-u Up");
	ck_assert_str_eq(w.t->filter, "kept"); /* each question has its own */
	world_keys(&w, "Esc & Up");
	ck_assert_str_eq(w.t->prompt.text, "");
	for (int i = 0; i < PROMPT_HISTORY + 3; i++) {
		char keys[64];

		snprintf(keys, sizeof(keys), "Esc / 'line%d' Enter", i);
		world_keys(&w, keys);
	}
	world_keys(&w, "/");
	for (int i = 0; i < PROMPT_HISTORY + 3; i++)
		world_keys(&w, "Up");
	ck_assert_str_eq(w.t->prompt.text, "line3"); /* the oldest ones are forgotten */
}
END_TEST

/* The line as it is drawn in so many columns; *ret_x: the cursor. */
static void draw(int cols, char *line, size_t size, int *ret_x)
{
	struct look_options options = {0};
	struct screen *sc;
	struct canvas canvas;
	struct buf text;

	buf_init(&text, 1 << 16);
	ck_assert_int_eq(screen_open_copy(NULL, 1, cols, &options, &sc), 0);
	canvas = screen_canvas(sc);
	prompt_draw(&w.t->prompt, &canvas, 0, ret_x);
	screen_read(sc, false, &text);
	screen_close(sc);
	snprintf(line, size, "%.*s", (int)strcspn(buf_str(&text), "\n"), buf_str(&text));
	buf_done(&text);
}

/* Wherever the cursor is in a long line, the character under it is drawn there. */
START_TEST(cursor_is_drawn_where_it_is)
{
	char line[512];
	int x;

	world_keys(&w, "/ '0123456789漢字漢字漢字漢字漢字漢字漢字漢字abcdefghijklmnopqrstuvwxyz'");
	for (int cols = 24; cols < 60; cols += 7)
		for (int i = 0; i < 60; i++) {
			const struct prompt *p = &w.t->prompt;
			const char *under = line;
			struct text_glyph g, here;

			world_keys(&w, i < 50 ? "Left" : "C-e");
			w.t->prompt.note[0] = '\0';
			draw(cols, line, sizeof(line), &x);
			ck_assert_int_lt(x, cols);
			for (int at = 0; at < x; at += g.columns)
				under = text_next(under, line + strlen(line), false, &g);
			if (p->at == p->len) {
				ck_assert_str_eq(under, "");
				continue;
			}
			text_next(under, line + strlen(line), false, &g);
			text_next(p->text + p->at, p->text + p->len, false, &here);
			ck_assert_msg(g.wc[0] == here.wc[0], "%d columns: '%s' at %d, not '%lc'",
				      cols, line, x, (wint_t)here.wc[0]);
		}
}
END_TEST

static int on_compare(void *data, const char *path)
{
	return 0;
}

static void touch(const char *folder, const char *name)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	close(fd);
}

static void remove_all(const char *folder)
{
	static const char *const names[] = {"/base1.hatchet",    "/base2.hatchet",
					    "/\xc3\xa9\xc3\xa0", "/\xc3\xa9\xc3\xa8",
					    "/.hidden",          "/runs"};
	char path[512];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), "%s%s", folder, names[i]);
		remove(path);
	}
	rmdir(folder);
}

/* What Tab makes of a beginning in a folder. */
static const char *completed(const char *folder, const char *beginning)
{
	static char rest[PROMPT_MAX];
	char keys[PROMPT_MAX];

	snprintf(keys, sizeof(keys), "Esc D '%s/%s' Tab", folder, beginning);
	world_keys(&w, keys);
	snprintf(rest, sizeof(rest), "%s", w.t->prompt.text + strlen(folder) + 1);
	return rest;
}

START_TEST(names_of_files)
{
	char folder[] = "/tmp/test_tui_prompt.XXXXXX", path[64];

	ck_assert_ptr_nonnull(mkdtemp(folder));
	touch(folder, "base1.hatchet");
	touch(folder, "base2.hatchet");
	touch(folder, "\xc3\xa9\xc3\xa0");
	touch(folder, "\xc3\xa9\xc3\xa8");
	touch(folder, ".hidden");
	snprintf(path, sizeof(path), "%s/runs", folder);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	w.t->host.compare = on_compare;
	ck_assert_str_eq(completed(folder, "b"), "base");
	ck_assert_str_eq(w.t->prompt.note, "base1.hatchet base2.hatchet");
	world_keys(&w, "'2'");
	ck_assert_str_eq(w.t->prompt.note, "");
	ck_assert_str_eq(completed(folder, "base2"), "base2.hatchet");
	ck_assert_str_eq(completed(folder, "r"), "runs/");
	ck_assert_str_eq(completed(folder, "\xc3\xa9"), "\xc3\xa9"); /* no half of a character */
	ck_assert_str_eq(completed(folder, ".h"), ".hidden");
	ck_assert_str_eq(completed(folder, "zz"), "zz");
	ck_assert_str_eq(w.t->prompt.note, "no such file");
	world_keys(&w, "Esc / Tab"); /* no file is asked for */
	ck_assert_str_eq(w.t->prompt.note, "");
	ck_assert_int_eq(setenv("HOME", folder, 1), 0);
	world_keys(&w, "Esc D '~/ru' Tab");
	ck_assert_str_eq(w.t->prompt.text, "~/runs/");
	remove_all(folder);
}
END_TEST

Suite *suite_prompt(void)
{
	Suite *s = suite_create("prompt");
	TCase *c = tcase_create("prompt");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, editing);
	tcase_add_test(c, takes_effect);
	tcase_add_test(c, no_more_than_fits);
	tcase_add_test(c, history);
	tcase_add_test(c, cursor_is_drawn_where_it_is);
	tcase_add_test(c, names_of_files);
	suite_add_tcase(s, c);
	return s;
}
