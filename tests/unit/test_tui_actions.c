/* SPDX-License-Identifier: MIT */
/* What can be done with a row: the menu, filters by its name, what goes to the clipboard. */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"
#include "test_tui_session.h"
#include "tui/clipboard.h"
#include "tui/editor.h"
#include "tui/tui_impl.h"

static const struct tui_options live = {.live = true, .command = "top"};
static struct world w;

static void setup(void)
{
	world_init(&w);
	world_open(&w, &live);
	world_tick(&w);
	ck_assert(!world_shows(&w, "no such text"));
}

static void teardown(void)
{
	world_done(&w);
}

START_TEST(menu_of_a_row)
{
	world_keys(&w, "j j Enter");
	ck_assert(world_shows(&w, "make it the root"));
	ck_assert(!world_shows(&w, "show it in the tree")); /* it is there */
	world_keys(&w, ".");
	ck_assert(world_shows(&w, "zoom: backward"));
	world_keys(&w, "Esc 2 j a");
	ck_assert(!world_shows(&w, "make it the root"));
	world_keys(&w, "t");
	ck_assert_int_eq(w.t->current, TUI_PANEL_TREE);
	world_keys(&w, "? Enter");
	ck_assert(world_shows(&w, "nothing to be done"));
	ck_assert(!menu_is_open(&w.t->menu));
}
END_TEST

START_TEST(filters_by_name)
{
	world_keys(&w, "/ 'flash_fwd' Enter a M-o");
	ck_assert_str_eq(w.t->filters.v[FILTER_INCLUDE].text, "flash_fwd<128,128>$");
	ck_assert(world_shows(&w, "eval")); /* it is there, too */
	ck_assert(!world_shows(&w, "backward"));
	world_keys(&w, "Esc Esc / 'optim' Enter M-w");
	ck_assert_str_eq(w.t->filters.v[FILTER_EXCLUDE].text, "optim\\.py:210@step$");
	ck_assert(!world_shows(&w, "optim.py:210@step  "));
	world_keys(&w, "Esc Esc g M-w");
	ck_assert(world_shows(&w, "no calling context to filter by")); /* the root */
	world_keys(&w, "5 M-o");
	ck_assert(world_shows(&w, "no calling context to filter by"));
}
END_TEST

START_TEST(nothing_to_copy_to)
{
	world_keys(&w, "y");
	ck_assert(world_shows(&w, "there is no terminal to copy to"));
	world_keys(&w, "Y");
	ck_assert(world_shows(&w, "there is no terminal to copy to"));
	world_keys(&w, "? y");
	ck_assert(world_shows(&w, "no name to copy"));
}
END_TEST

/* Names of frames, and where they point to. */
static const struct {
	const char *name, *file;
	unsigned line;
} places[] = {
	{"/a b/train.py:123@step", "/a b/train.py", 123},
	{"train.py:123@", "train.py", 123},
	{"train.py:step@123", "train.py", 123}, /* as Proton wrote it once */
	{"kernel.cu:7", "kernel.cu", 7},
	{"src/x:7", "src/x", 7},
	{"C:/x.py:7@f", "C:/x.py", 7},
	{"a@b.py:7@f", "a@b.py", 7},
	{"optim.py:210@operator@", NULL, 0},
	{"step:3", NULL, 0},
	{"void cutlass::Kernel<float>", NULL, 0},
	{"std::vector<a.b>:12x", NULL, 0},
	{"train.py:0@f", NULL, 0},
	{"train.py:99999999999999@f", NULL, 0},
	{"train.py:f@g", NULL, 0},
	{":12@f", NULL, 0},
	{"@", NULL, 0},
	{"", NULL, 0},
};

START_TEST(places_of_names)
{
	struct source_place place;

	ck_assert_int_eq(place_of_name(places[_i].name, &place), places[_i].file != NULL);
	if (!places[_i].file)
		return;
	ck_assert_str_eq(place.file, places[_i].file);
	ck_assert_uint_eq(place.line, places[_i].line);
}
END_TEST

START_TEST(editors)
{
	ck_assert_str_eq(editor_arguments("vim -u NONE")[0], "+%l");
	ck_assert_str_eq(editor_arguments("vim -u NONE")[1], "--");
	ck_assert_str_eq(editor_arguments("micro")[1], "%f"); /* it would open a file "--" */
	ck_assert_str_eq(editor_arguments("emacs -nw")[1], "%q");
	ck_assert_str_eq(editor_arguments("/usr/bin/code --wait")[0], "-g");
	ck_assert_str_eq(editor_arguments("/code/vi")[0], "+%l");
	ck_assert_str_eq(editor_arguments("hx")[0], "%f:%l");
	ck_assert_ptr_null(editor_arguments("hx")[1]);
}
END_TEST

START_TEST(nothing_to_edit)
{
	world_keys(&w, "O");
	ck_assert(world_shows(&w, "names no file and line"));
	world_keys(&w, "/ 'optim' Enter O");
	ck_assert(world_shows(&w, "cannot open 'optim.py': No such file"));
	world_keys(&w, "a");
	ck_assert(world_shows(&w, "open its file in the editor"));
	world_keys(&w, "Esc j a");
	ck_assert(!world_shows(&w, "open its file in the editor"));
	world_keys(&w, "Esc");
	w.t->options.readonly = true;
	world_keys(&w, "O");
	ck_assert(world_shows(&w, "read only"));
}
END_TEST

static const struct {
	enum clipboard_way way;
	const char *text, *sequence;
} sequences[] = {
	{CLIPBOARD_PLAIN, "", "\x1b]52;c;\a"},
	{CLIPBOARD_PLAIN, "f", "\x1b]52;c;Zg==\a"},
	{CLIPBOARD_PLAIN, "fo", "\x1b]52;c;Zm8=\a"},
	{CLIPBOARD_PLAIN, "foo", "\x1b]52;c;Zm9v\a"},
	{CLIPBOARD_PLAIN, "foo\xff", "\x1b]52;c;Zm9v/w==\a"},
	{CLIPBOARD_TMUX, "foo", "\x1b]52;c;Zm9v\a\x1bPtmux;\x1b\x1b]52;c;Zm9v\a\x1b\\"},
	{CLIPBOARD_SCREEN, "foo", "\x1bP\x1b]52;c;Zm9v\a\x1b\\"},
};

START_TEST(clipboard_sequences)
{
	struct buf out;

	buf_init(&out, 0);
	ck_assert_int_eq(clipboard_sequence(sequences[_i].text, strlen(sequences[_i].text),
					    sequences[_i].way, &out),
			 0);
	ck_assert_str_eq(buf_str(&out), sequences[_i].sequence);
	buf_done(&out);
}
END_TEST

START_TEST(clipboard_limits)
{
	static char text[CLIPBOARD_MAX + 1];
	struct buf out;

	buf_init(&out, 0);
	memset(text, 'x', sizeof(text));
	ck_assert_int_eq(clipboard_sequence(text, sizeof(text), CLIPBOARD_PLAIN, &out), -EFBIG);
	ck_assert_uint_eq(out.len, 0);
	ck_assert_int_eq(clipboard_sequence(text, 3000, CLIPBOARD_SCREEN, &out), 0);
	for (const char *p = buf_str(&out); *p;) { /* each piece is one that screen takes */
		const char *end = strstr(p, "\x1b\\");

		ck_assert_ptr_nonnull(end);
		ck_assert_int_lt(end - p, 768);
		p = end + 2;
	}
	buf_done(&out);
	unsetenv("TMUX");
	setenv("STY", "1.tty", 1);
	ck_assert_int_eq(clipboard_way(), CLIPBOARD_SCREEN);
	setenv("TMUX", "/tmp/x,1,0", 1);
	ck_assert_int_eq(clipboard_way(), CLIPBOARD_TMUX);
}
END_TEST

Suite *suite_actions(void)
{
	const TTest *const tests[] = {menu_of_a_row, filters_by_name, nothing_to_copy_to,
				      editors,       nothing_to_edit, clipboard_limits};
	Suite *s = suite_create("actions");
	TCase *c = tcase_create("actions");

	tcase_add_checked_fixture(c, setup, teardown);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	tcase_add_loop_test(c, places_of_names, 0, ARRAY_SIZE(places));
	tcase_add_loop_test(c, clipboard_sequences, 0, ARRAY_SIZE(sequences));
	suite_add_tcase(s, c);
	return s;
}
