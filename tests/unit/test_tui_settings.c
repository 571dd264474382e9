/* SPDX-License-Identifier: MIT */
/* Settings: what each line does, which are skipped and why, and layouts that are saved and read. */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/util.h"
#include "test_tui_session.h"
#include "tui/layout.h"
#include "tui/settings.h"
#include "tui/tui_impl.h"

/* Complaints as "line: why" in turn, one a line. */
static struct buf complaints;
static struct settings s;

static void on_skipped(void *data, unsigned line, const char *why)
{
	ck_assert_ptr_eq(data, &s);
	buf_printf(&complaints, "%u: %s\n", line, why);
}

static void parse(const char *text)
{
	buf_clear(&complaints);
	settings_parse(&s, text, strlen(text), on_skipped, &s);
}

static void setup(void)
{
	buf_init(&complaints, 0);
	settings_init(&s);
}

static void teardown(void)
{
	buf_done(&complaints);
}

START_TEST(each_setting)
{
	parse("theme contrast\n"
	      "\tmouse  off\r\n"
	      "ascii on\ncolor off\nnames raw\ngroup device\nview kernels\n"
	      "sort tree calls\nsort kernels AVG ascending\n"
	      "columns tree TOTAL %  GB/s # three of them\n"
	      "   # nothing\n\n"
	      "bind x quit\nbind # help\nbind F5 sort-next\nunbind K");
	ck_assert_str_eq(buf_str(&complaints), "");
	ck_assert_str_eq(s.theme, "contrast");
	ck_assert_int_eq(s.mouse, 0);
	ck_assert_int_eq(s.ascii, 1);
	ck_assert_int_eq(s.color, 0);
	ck_assert_int_eq(s.names, NAME_RAW);
	ck_assert_int_eq(s.group, GROUP_DEVICE);
	ck_assert_int_eq(s.panel, TUI_PANEL_KERNELS);
	ck_assert_str_eq(s.sort[TUI_PANEL_TREE].title, "calls");
	ck_assert(!s.sort[TUI_PANEL_TREE].ascending && s.sort[TUI_PANEL_KERNELS].ascending);
	ck_assert_uint_eq(s.columns[TUI_PANEL_TREE].n, 3);
	ck_assert_str_eq(s.columns[TUI_PANEL_TREE].titles[2], "GB/s");
	ck_assert_int_eq(keymap_find(&s.keys, 'x'), REQ_QUIT);
	ck_assert_int_eq(keymap_find(&s.keys, '#'), REQ_HELP);
	ck_assert_int_eq(keymap_find(&s.keys, KEY_FUNCTION | KEY_F(5)), REQ_SORT_NEXT);
	ck_assert_str_eq(keymap_words(&s.keys, REQ_GROUP), "G");
	ck_assert_str_eq(keymap_words(&s.keys, REQ_SIGNAL), "");
	ck_assert_str_eq(keymap_words(&s.keys, REQ_QUIT), "F10 Q x");
	parse("columns tree\nunbind #\ntheme mono\n"); /* later lines win */
	ck_assert_uint_eq(s.columns[TUI_PANEL_TREE].n, 0);
	ck_assert_str_eq(s.theme, "mono");
}
END_TEST

/* One line, and what is said of it. */
static const struct {
	const char *line, *why;
} wrong[] = {
	{"theem mono", "'theem' is no setting"},
	{"theme", "'theme' takes one word"},
	{"theme mono mono", "'theme' takes one word"},
	{"theme pink", "'theme' cannot be 'pink'"},
	{"mouse maybe", "'mouse' cannot be 'maybe'"},
	{"header", "'header' takes a number of lines, 1 to 100"},
	{"header 0", "'header' takes a number of lines, 1 to 100"},
	{"header 101", "'header' takes a number of lines, 1 to 100"},
	{"header 3x", "'header' takes a number of lines, 1 to 100"},
	{"header -1", "'header' takes a number of lines, 1 to 100"},
	{"columns", "'columns' needs the word of a panel"},
	{"columns nowhere %", "'nowhere' is no panel"},
	{"columns tree ThisIsNoTitleOfAnythingThisIsNoTitleOfAnythingThisIsNoTitleOfAnything"
	 "ThisIsNoTitleOfAnythingThisIsNoTitleOfAnything",
	 "too long for a column"},
	{"sort tree", "'sort' takes a panel"},
	{"sort tree calls backwards", "'sort' takes a panel"},
	{"bind x", "'bind' takes a key"},
	{"bind x leave", "there is no request 'leave' for a key"},
	{"bind nokey quit", "'nokey' is no key"},
	{"bind C-c quit", "C-c keeps its meaning"},
	{"unbind C-c", "C-c keeps its meaning"},
	{"unbind", "'unbind' takes a key"},
	{"\x1b[2J\x1b[31m \xff", "'?[2J?[31m' is no setting"},
};

START_TEST(what_is_skipped)
{
	char text[256];

	snprintf(text, sizeof(text), "names raw\n%s\nview log\n", wrong[_i].line);
	parse(text);
	ck_assert_msg(strstr(buf_str(&complaints), wrong[_i].why) != NULL, "'%s': %s",
		      wrong[_i].line, buf_str(&complaints));
	ck_assert_int_eq(strncmp(buf_str(&complaints), "2: ", 3), 0);
	ck_assert_int_eq(s.names, NAME_RAW); /* the lines around it hold */
	ck_assert_int_eq(s.panel, TUI_PANEL_LOG);
}
END_TEST

START_TEST(hostile_text)
{
	static char text[100000];

	memset(text, 'x', sizeof(text));
	settings_parse(&s, text, sizeof(text), on_skipped, &s);
	ck_assert_str_eq(buf_str(&complaints), "1: the line is too long\n");
	buf_clear(&complaints);
	settings_parse(&s, "theme mono\0\n\0", 12, on_skipped, &s);
	ck_assert_str_eq(buf_str(&complaints), "1: the line holds a zero byte\n");
	buf_clear(&complaints);
	for (int i = 0; i < 100; i++)
		memcpy(text + 2 * i, "a ", 3);
	parse(text);
	ck_assert_str_eq(buf_str(&complaints), "1: there are too many words\n");
	for (int i = 0; i < 1000; i++) {
		int n = snprintf(text, sizeof(text), "bind %lc help\n", (wint_t)(0x4e00 + i));

		settings_parse(&s, text, (size_t)n, on_skipped, &s);
	}
	ck_assert_ptr_nonnull(strstr(buf_str(&complaints), "too many keys"));
	ck_assert_int_eq(keymap_find(&s.keys, KEY_CTRL('c')), REQ_INTERRUPT);
}
END_TEST

START_TEST(request_names)
{
	char name[REQUEST_NAME];

	for (unsigned r = REQ_NONE + 1; r < REQ_N; r++) {
		request_name(r, name);
		ck_assert_int_eq(request_find(name), r);
		ck_assert_uint_lt(strlen(name), REQUEST_NAME - 1);
	}
	ck_assert_int_eq(request_find(""), REQ_NONE);
	ck_assert_int_eq(request_find("SORT_NEXT"), REQ_NONE);
}
END_TEST

/* Each key that a word stands for has that word. */
START_TEST(key_words)
{
	static const char *const words[] = {"a",    "#",     "F1",    "F12",  "C-d",
					    "M-h",  "Enter", "Space", "BkSp", "S-Tab",
					    "PgDn", "é",     "漢",    "Esc",  "~"};
	char word[KEY_WORD];

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		key_word(key_parse(words[i], strlen(words[i])), word);
		ck_assert_str_eq(word, words[i]);
	}
}
END_TEST

/* ---- layouts ---- */

static struct tui_options options = {.live = true, .command = "top"};
static char dir[64];

static void layout_setup(void)
{
	setup();
	snprintf(dir, sizeof(dir), "/tmp/test-tui-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	options.config_dir = dir;
}

static void layout_teardown(void)
{
	static const char *const names[] = {"layouts/mine", "layouts", "config", "real", ""};
	char path[128];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		remove(path);
	}
	ck_assert_int_lt(access(dir, F_OK), 0); /* nothing else was left there */
	teardown();
}

static const char *read_text(const char *name)
{
	static struct buf text;
	char path[128];

	buf_done(&text);
	buf_init(&text, 0);
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	ck_assert_int_eq(layout_read(path, &text), 0);
	return buf_str(&text);
}

static void write_text(const char *name, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "we");
	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
}

static void open_world(struct world *w, const struct settings *settings)
{
	options.settings = settings;
	world_init(w);
	world_open(w, &options);
	world_tick(w);
	ck_assert(!world_shows(w, "no such text"));
}

START_TEST(a_layout_comes_back)
{
	struct world w;
	struct panel *p;

	open_world(&w, NULL);
	world_keys(&w, "2 A I F2 Space Esc m 1 F2 End Space Esc W 'mine' Enter");
	ck_assert(world_shows(&w, "the layout is in"));
	world_done(&w);
	parse(read_text("layouts/mine"));
	ck_assert_str_eq(buf_str(&complaints), "");
	ck_assert_int_eq(s.names, NAME_DEMANGLED);
	ck_assert_int_eq(s.panel, TUI_PANEL_TREE);
	open_world(&w, &s);
	p = w.t->panels[TUI_PANEL_KERNELS];
	ck_assert_str_eq(p->columns.v[p->sort].title, "AVG");
	ck_assert(p->ascending);
	ck_assert_str_eq(p->choice.titles[0], "%");
	p = w.t->panels[TUI_PANEL_TREE];
	ck_assert_str_eq(p->choice.titles[p->choice.n - 1], "ON-CPU");
	world_done(&w);
}
END_TEST

START_TEST(the_header_comes_back)
{
	struct world w;

	parse("header 7\n");
	ck_assert_uint_eq(s.header, 7);
	open_world(&w, NULL);
	world_keys(&w, "^ ^ W 'mine' Enter");
	ck_assert(world_shows(&w, "the layout is in"));
	world_done(&w);
	parse(read_text("layouts/mine"));
	ck_assert_str_eq(buf_str(&complaints), "");
	ck_assert_uint_eq(s.header, 1);
}
END_TEST

/* What a layout does not say stays in the file as it was, comments and keys too. */
START_TEST(saving_keeps_the_rest)
{
	struct world w;
	char path[80], real[80];
	struct stat st;

	write_text("real", "# mine\nbind x quit\ncolumns tree TOTAL\nview log # shown first\n"
			   "nonsense\nview memory\nascii on");
	snprintf(path, sizeof(path), "%s/config", dir);
	snprintf(real, sizeof(real), "%s/real", dir);
	ck_assert_int_eq(symlink("real", path), 0);
	ck_assert_int_eq(chmod(real, 0640), 0);
	open_world(&w, NULL);
	world_keys(&w, "3 W Enter");
	ck_assert(world_shows(&w, "/config"));
	world_done(&w);
	ck_assert_str_eq(read_text("config"),
			 "# mine\nbind x quit\nview memory\nnonsense\nascii on\n"
			 "theme default\nmouse on\nnames short\ngroup none\n");
	ck_assert_int_eq(lstat(path, &st), 0);
	ck_assert(S_ISLNK(st.st_mode)); /* a link stays one */
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_eq(st.st_mode & 0777, 0640);
}
END_TEST

START_TEST(what_cannot_be_saved)
{
	struct world w;

	open_world(&w, NULL);
	world_keys(&w, "W 'a/b' Enter");
	ck_assert(world_shows(&w, "this is no name for one"));
	world_keys(&w, "W '..' Enter");
	ck_assert(world_shows(&w, "this is no name for one"));
	world_keys(&w, "W Esc");
	ck_assert(!world_shows(&w, "the layout"));
	write_text("layouts", "");
	world_keys(&w, "W 'mine' Enter");
	ck_assert(world_shows(&w, "cannot save the layout 'mine': Not a directory"));
	w.t->options.config_dir = NULL;
	world_keys(&w, "W");
	ck_assert(world_shows(&w, "HOME is not set"));
	w.t->options.readonly = true;
	world_keys(&w, "W");
	ck_assert(world_shows(&w, "read only"));
	world_done(&w);
}
END_TEST

START_TEST(what_cannot_be_read)
{
	static char large[CONFIG_MAX + 8192];
	struct buf text;
	char path[80];

	buf_init(&text, 0);
	ck_assert_int_eq(layout_read(dir, &text), -EISDIR);
	snprintf(path, sizeof(path), "%s/config", dir);
	ck_assert_int_eq(layout_read(path, &text), -ENOENT);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_eq(layout_read(path, &text), -ENXIO);
	remove(path);
	memset(large, 'x', sizeof(large) - 1);
	write_text("config", large);
	ck_assert_int_eq(layout_read(path, &text), -EFBIG);
	buf_done(&text);
}
END_TEST

START_TEST(keys_are_as_bound)
{
	struct world w;

	parse("bind x next-panel\nunbind Tab\nunbind F3\nbind F3 detail\nbind F11 sort-menu\n"
	      "unbind F6\nbind W panel-2\nunbind 2\n");
	ck_assert_str_eq(buf_str(&complaints), "");
	open_world(&w, &s);
	world_keys(&w, "x");
	ck_assert_int_eq(w.t->current, TUI_PANEL_KERNELS);
	ck_assert(world_shows(&w, "F11Sort"));
	ck_assert(world_shows(&w, "W:Kern "));
	world_keys(&w, "Tab");
	ck_assert(world_shows(&w, "this key does nothing"));
	world_keys(&w, "? / 'next panel' Enter");
	ck_assert(world_shows(&w, "  x             next panel"));
	world_done(&w);
}
END_TEST

Suite *suite_settings(void)
{
	const TTest *const texts[] = {each_setting, hostile_text, request_names, key_words};
	const TTest *const layouts[] = {a_layout_comes_back,   the_header_comes_back,
					saving_keeps_the_rest, what_cannot_be_saved,
					what_cannot_be_read,   keys_are_as_bound};
	Suite *suite = suite_create("settings");
	TCase *c = tcase_create("text"), *files = tcase_create("layouts");

	tcase_add_checked_fixture(c, setup, teardown);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		tcase_add_test(c, texts[i]);
	tcase_add_loop_test(c, what_is_skipped, 0, ARRAY_SIZE(wrong));
	suite_add_tcase(suite, c);
	tcase_add_checked_fixture(files, layout_setup, layout_teardown);
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++)
		tcase_add_test(files, layouts[i]);
	suite_add_tcase(suite, files);
	return suite;
}
