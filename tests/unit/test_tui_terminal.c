/* SPDX-License-Identifier: MIT */
/* A real terminal, as far as a pseudo-terminal is one: open, keys, resize, hang-up, crash. */
#include "config.h" // IWYU pragma: keep
#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/util.h"
#include "test_tui_session.h"
#include "tui/compose.h"
#include "tui/escape.h"
#include "tui/keys.h"
#include "tui/restore.h"
#include "tui/screen.h"
#include "tui/tui_impl.h"

static struct world w;
static int master, slave;
static char tty[64];

enum { SENT_MS = 20000 }; /* until a text that has not come is missed */

static void setup(void)
{
	struct winsize size = {.ws_row = 24, .ws_col = 80};
	struct tui_options options = {.live = true, .command = "top", .tty = tty};

	ck_assert_int_eq(openpty(&master, &slave, tty, NULL, &size), 0);
	setenv("TERM", "xterm-256color", 1);
	world_init(&w);
	world_open(&w, &options);
}

static void teardown(void)
{
	world_done(&w);
	close(master);
	close(slave);
}

/* Everything that was sent to the terminal, until nothing comes for a while. */
static void drain_for(struct buf *out, int wait_ms)
{
	struct pollfd p = {.fd = master, .events = POLLIN};
	char data[4096];
	ssize_t n;

	while (poll(&p, 1, wait_ms) == 1 && (p.revents & POLLIN)) {
		n = read(master, data, sizeof(data));
		if (n <= 0)
			return;
		buf_put(out, data, (size_t)n);
	}
}

static void drain(struct buf *out)
{
	drain_for(out, 50);
}

/* Is the text among what was sent, or comes within a while, each time that something does? */
static bool sent_within(const char *text, int wait_ms)
{
	struct pollfd p = {.fd = master, .events = POLLIN};
	struct buf out;
	bool found;

	buf_init(&out, 0);
	do {
		drain(&out);
		found = memmem(buf_str(&out), out.len, text, strlen(text)) != NULL;
	} while (!found && poll(&p, 1, wait_ms) == 1 && (p.revents & POLLIN));
	buf_done(&out);
	return found;
}

/* A child that sends it may not have run yet. */
static bool sent(const char *text)
{
	return sent_within(text, SENT_MS);
}

/* Type, and wait until the terminal has it. */
static void type(const char *bytes)
{
	struct pollfd p = {.fd = tui_fd(w.t), .events = POLLIN};

	ck_assert_int_eq(write(master, bytes, strlen(bytes)), (ssize_t)strlen(bytes));
	ck_assert_int_eq(poll(&p, 1, 5000), 1);
	ck_assert_int_eq(tui_handle_input(w.t), 0);
}

/* What the system keeps for us while we draw is still there afterwards. */
START_TEST(drawing_forgets_no_signal)
{
	static const int kept[] = {SIGTSTP, SIGINT, SIGTERM, SIGWINCH};
	sigset_t set, pending;

	ck_assert_int_eq(tui_open(w.t), 0);
	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		sigaddset(&set, kept[i]);
	ck_assert_int_eq(sigprocmask(SIG_BLOCK, &set, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		ck_assert_int_eq(kill(getpid(), kept[i]), 0);
	type("?");
	ck_assert(sent("closes"));
	ck_assert_int_eq(sigpending(&pending), 0);
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		ck_assert_msg(sigismember(&pending, kept[i]) == 1, "signal %d is gone", kept[i]);
}
END_TEST

START_TEST(opens_and_gives_back)
{
	struct termios before, during, after;
	struct sigaction act, int_before, int_after;

	sigaction(SIGINT, NULL, &int_before);
	tcgetattr(slave, &before);
	ck_assert_int_eq(tui_open(w.t), 0);
	ck_assert(tui_is_open(w.t));
	ck_assert(sent("train_step"));
	tcgetattr(slave, &during);
	ck_assert(!(during.c_lflag & ICANON));
	ck_assert_uint_eq(tui_saved_termios(w.t)->c_lflag, before.c_lflag);
	sigaction(SIGINT, NULL, &int_after);
	ck_assert(int_before.sa_handler == int_after.sa_handler);
	sigaction(SIGSEGV, NULL, &act);
	ck_assert(act.sa_handler != SIG_DFL);
	tui_close(w.t);
	ck_assert(sent("\x1b[?1049l")); /* the alternate screen is left */
	tcgetattr(slave, &after);
	ck_assert_uint_eq(after.c_lflag, before.c_lflag);
	ck_assert_int_eq(tui_open(w.t), 0);
	tui_close(w.t);
}
END_TEST

START_TEST(keys_arrive)
{
	ck_assert_int_eq(tui_open(w.t), 0);
	type("2");
	ck_assert_int_eq(w.t->current, TUI_PANEL_KERNELS);
	type("\x1bOB\x1bOB"); /* two arrows down, in application mode */
	ck_assert_uint_eq(w.t->panels[TUI_PANEL_KERNELS]->cursor, 2);
	type("\x1b[24~\x1bOR"); /* F12 is free, F3 asks what to find */
	ck_assert(prompt_is_open(&w.t->prompt));
	type("h\xc3\xa9");
	ck_assert_str_eq(w.t->prompt.text, "h\xc3\xa9");
	type("\x7f\x1b");
	ck_assert(!prompt_is_open(&w.t->prompt));
	type("\x1bl"); /* Alt-l */
	ck_assert_int_eq(w.t->panels[TUI_PANEL_KERNELS]->scroll, 8);
	type("\x03");
	ck_assert(menu_is_open(&w.t->menu));
}
END_TEST

/* Keys that terminfo does not know: each is one key, whatever TERM says, or one that means nothing. */
static const struct {
	const char *bytes;
	int key;
} foreign[] = {
	{"\x1b[1;2P", KEY_NOTHING},
	{"\x1b[1;5P", KEY_NOTHING},
	{"\x1b[15;2~", KEY_NOTHING},
	{"\x1b[20;5~", KEY_NOTHING},
	{"\x1b[1;3A", KEY_NOTHING},
	{"\x1b[1;6D", KEY_NOTHING},
	{"\x1b[57399;129:1u", KEY_NOTHING},
	{"\x1b[99999999999~", KEY_NOTHING},
	{"\x1b[1;2;3;4P", KEY_NOTHING},
	{"\x1b[?1;2c", KEY_NOTHING},
	{"\x1b[[9", KEY_NOTHING},
	{"\x1bO2P", KEY_NOTHING},
	{"\x1bOz", KEY_NOTHING},
	{"\x1b[1;2P\x1bO5S", KEY_NOTHING},
	{"\x1b[11~", KEY_FUNCTION | KEY_F(1)},
	{"\x1b[17~", KEY_FUNCTION | KEY_F(6)},
	{"\x1b[20~", KEY_FUNCTION | KEY_F(9)},
	{"\x1b[21~", KEY_FUNCTION | KEY_F(10)},
	{"\x1b[18;1~", KEY_FUNCTION | KEY_F(7)},
	{"\x1bOS", KEY_FUNCTION | KEY_F(4)},
	{"\x1b[[B", KEY_FUNCTION | KEY_F(2)},
	{"\x1bOA", KEY_FUNCTION | KEY_UP},
	{"\x1b[B", KEY_FUNCTION | KEY_DOWN},
	{"\x1b[1;2C", KEY_FUNCTION | KEY_SRIGHT},
	{"\x1b[3~", KEY_FUNCTION | KEY_DC},
	{"\x1bOF", KEY_FUNCTION | KEY_END},
	{"\x1b", 27},
	{"\x1b\x1b[1;3P", 27},
	{"\x1bx", KEY_ALT | 'x'},
	{"\x1b[", KEY_ALT | '['},
	{"\x1bO\xc3\xa9", KEY_ALT | 'O'},
	{"\x1b[1;", KEY_NOTHING},
};

/* Of keys that do nothing, terminfo may have names for some. */
static int meaning(int key)
{
	return key & KEY_FUNCTION && keymap_find(&w.t->keys, key) == REQ_NONE &&
			       edit_find(key) == EDIT_NONE
		       ? KEY_NOTHING
		       : key;
}

static int next_key(struct screen *sc)
{
	int key;

	do
		key = screen_read_key(sc);
	while (key == 0);
	return meaning(key);
}

/* The first key of what is sent, and then a letter; all that is between means nothing. */
static void read_foreign(struct screen *sc, const char *bytes, int key)
{
	int got;

	ck_assert_int_gt(write(master, bytes, strlen(bytes)), 0);
	got = next_key(sc);
	ck_assert_msg(got == key, "%s: %#x, not %#x", bytes + 1, (unsigned)got, (unsigned)key);
	ck_assert_int_eq(write(master, "w", 1), 1);
	do
		got = next_key(sc);
	while (got == KEY_NOTHING || got == 0xe9);
	ck_assert_msg(got == 'w', "%s: %#x behind it", bytes + 1, (unsigned)got);
}

START_TEST(keys_of_other_terminals_are_one_key)
{
	static const char *const terms[] = {"vt100", "vt220",           "linux",
					    "ansi",  "screen-256color", "xterm-256color"};

	for (size_t i = 0; i < ARRAY_SIZE(terms); i++) {
		setenv("TERM", terms[i], 1);
		if (tui_open(w.t) < 0) /* not every database has them all */
			continue;
		for (size_t k = 0; k < ARRAY_SIZE(foreign); k++)
			read_foreign(w.t->screen, foreign[k].bytes, foreign[k].key);
		ck_assert(sent("train_step"));
		tui_close(w.t);
	}
}
END_TEST

/* What terminals answer, whoever asked, and the first key after it. */
static const struct {
	const char *bytes[4]; /* as they come, one after the other */
	int key;
} answers[] = {
	{{"\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\q"}, 'q'},
	{{"\x1b]11;rgb:1e1e/1e1e/2e2e\aq"}, 'q'},
	{{"\x1b]52;c;\xc3\xa9\a\x1b]l2\aq"}, 'q'},
	{{"\x1bP>|XTerm(390)\x1b\\q"}, 'q'},
	{{"\x1bP1$r0\a1m\x1b\\q"}, 'q'}, /* only OSC ends with BEL */
	{{"\x1b_Gi=31;OK\x1b\\q"}, 'q'},
	{{"\x1b^2\x1b\\\x1bX3\x1b\\q"}, 'q'},
	{{"\x1b]11;rgb:1e", "1e/1e1e/", "2e2e\x1b", "\\q"}, 'q'},
	{{"\x1b]11;2\x1b[Bq"}, KEY_FUNCTION | KEY_DOWN}, /* what breaks off, and what comes then */
	{{"\x1bP2\x1bx"}, KEY_ALT | 'x'},
	{{"\x1bP2\x1b", "\x1bO", "q"}, 27},
	{{"\x1b]11;2\x18q"}, 'q'},
	{{"\x1b]q"}, 0},
	{{"\x1b]"}, KEY_ALT | ']'},
	{{"\x1bP\x1bP"}, KEY_ALT | 'P'},
};

static int read_answered(struct screen *sc, const char *const bytes[4])
{
	int key = 0;

	for (unsigned i = 0; key == 0 && i < 4 && bytes[i]; i++) {
		struct pollfd p = {.fd = screen_fd(sc), .events = POLLIN};

		ck_assert_int_gt(write(master, bytes[i], strlen(bytes[i])), 0);
		ck_assert_int_eq(poll(&p, 1, 5000), 1);
		key = screen_read_key(sc);
	}
	return key;
}

START_TEST(answers_of_the_terminal_are_no_keys)
{
	int key;

	ck_assert_int_eq(tui_open(w.t), 0);
	key = read_answered(w.t->screen, answers[_i].bytes);
	ck_assert_msg(key == answers[_i].key, "%s: %#x", answers[_i].bytes[0] + 1, (unsigned)key);
}
END_TEST

/* One that has lost its end does not take what is typed later. */
START_TEST(an_answer_ends_some_time)
{
	static const char *const start[4] = {"\x1b]11;rgb"}, *const letter[4] = {"2"};
	uint64_t now = 1000 * NSEC_PER_SEC;

	clock_fake(now);
	ck_assert_int_eq(tui_open(w.t), 0);
	ck_assert_int_eq(read_answered(w.t->screen, start), 0);
	ck_assert_int_eq(read_answered(w.t->screen, letter), 0);
	clock_fake(now += NSEC_PER_SEC + 1);
	ck_assert_int_eq(read_answered(w.t->screen, letter), '2'); /* after a pause */
	ck_assert_int_eq(read_answered(w.t->screen, start), 0);
	for (int i = 0; i < 6; i++) {
		clock_fake(now += NSEC_PER_SEC * 9 / 10);
		ck_assert_int_eq(read_answered(w.t->screen, letter), i < 5 ? 0 : '2');
	}
	clock_fake(0);
}
END_TEST

START_TEST(an_answer_changes_nothing)
{
	ck_assert_int_eq(tui_open(w.t), 0);
	type("\x1b]11;rgb:2222/3333/4444\x1b\\");
	ck_assert_int_eq(w.t->current, TUI_PANEL_TREE);
	ck_assert(!world_shows(&w, "this key does nothing"));
	type("/\x1bP>|a\x1b\\h");
	ck_assert_str_eq(w.t->prompt.text, "h");
}
END_TEST

START_TEST(a_foreign_key_does_nothing)
{
	setenv("TERM", "screen-256color", 1);
	if (tui_open(w.t) < 0)
		return;
	type("\x1b[1;2P");
	ck_assert_int_eq(w.t->current, TUI_PANEL_TREE);
	ck_assert(world_shows(&w, "this key does nothing"));
	type("/h\x1b[1;2P");
	ck_assert_str_eq(w.t->prompt.text, "h");
	type("\x1b\x1b[B"); /* both, although they come at once */
	ck_assert(!prompt_is_open(&w.t->prompt));
	ck_assert_uint_eq(w.t->panels[TUI_PANEL_TREE]->cursor, 1);
}
END_TEST

/* Pasted text is text where one is asked for, and no command elsewhere, whatever it says. */
START_TEST(pasted_text_is_no_command)
{
	ck_assert_int_eq(tui_open(w.t), 0);
	ck_assert(sent("\x1b[?2004h"));
	type("\x1b[200~2K\rPq\x1b[A\x1bOP\x03\x1b[201~");
	ck_assert_int_eq(w.t->current, TUI_PANEL_TREE);
	ck_assert_uint_eq(w.n_actions, 0);
	ck_assert(!menu_is_open(&w.t->menu));
	ck_assert(world_shows(&w, "pasted text is no command"));
	type("/");
	type("\x1b[200~fl\r\nash\x1b[201~");
	ck_assert_str_eq(w.t->prompt.text, "fl  ash");
	type("\x15"
	     "x\r");
	ck_assert(!prompt_is_open(&w.t->prompt));
	type("2\x1b[201~");
	ck_assert_int_eq(w.t->current, TUI_PANEL_KERNELS);
	tui_close(w.t);
	ck_assert(sent("\x1b[?2004l"));
}
END_TEST

START_TEST(mouse_arrives)
{
	ck_assert_int_eq(tui_open(w.t), 0);
	ck_assert(sent("\x1b[?1006;1000h"));
	type("\x1b[<0;20;7M\x1b[<0;20;7m"); /* left button, column 20, line 7, from 1 on */
	ck_assert_uint_eq(w.t->panels[TUI_PANEL_TREE]->cursor, 2);
	type("\x1b[<65;20;7M"); /* wheel down */
	ck_assert_uint_eq(w.t->panels[TUI_PANEL_TREE]->top, 3);
	type("M");
	ck_assert(sent("\x1b[?1006;1000l"));
	tui_close(w.t);
	w.t->options.no_mouse = true;
	w.t->has_mouse = false;
	ck_assert_int_eq(tui_open(w.t), 0);
	ck_assert(!sent_within("\x1b[?1006;1000h", 0));
}
END_TEST

START_TEST(copies)
{
	unsetenv("TMUX");
	unsetenv("STY");
	ck_assert_int_eq(tui_open(w.t), 0);
	type("jj");
	type("y");
	ck_assert(sent("\x1b]52;c;YmFja3dhcmQ=\a")); /* backward */
	ck_assert(world_shows(&w, "sent the name"));
	type("Y");
	ck_assert(sent("\x1b]52;c;MjIu")); /* 22.… */
}
END_TEST

/* The editor has the terminal as it was, and the screen has it afterwards. */
START_TEST(edits)
{
	char dir[] = "/tmp/test-tui-XXXXXX", said[256] = "", real[PATH_MAX],
	     expected[PATH_MAX + 16];
	struct termios t;
	FILE *f;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(chdir(dir), 0);
	fclose(fopen("optim.py", "we"));
	setenv("VISUAL", "f() { stty -a | grep -c ' icanon' >said; echo \"$@\" >>said; }; f", 1);
	ck_assert_int_eq(tui_open(w.t), 0);
	type("/optim\r");
	ck_assert(sent("optim"));
	type("O");
	f = fopen("said", "re");
	ck_assert_ptr_nonnull(f);
	ck_assert_uint_gt(fread(said, 1, sizeof(said) - 1, f), 0);
	fclose(f);
	ck_assert_ptr_nonnull(realpath("optim.py", real));
	snprintf(expected, sizeof(expected), "1\n+210 %s\n", real);
	ck_assert_str_eq(said, expected);
	tcgetattr(slave, &t);
	ck_assert(!(t.c_lflag & ICANON));
	ck_assert(sent("train_step")); /* drawn anew */
	setenv("VISUAL", "/nonexistent/editor", 1);
	type("O");
	ck_assert(world_shows(&w, "cannot be run"));
	ck_assert(unlink("said") == 0 && unlink("optim.py") == 0 && rmdir(dir) == 0);
}
END_TEST

/* Files that somebody's profile may name, each of which some editor takes for more than a file. */
static const char *const hostile[] = {
	"+!id>pwned.txt",
	"+",
	"+call system('id>pwned.txt')",
	"-c!id>pwned.txt",
	"--cmd=x",
	"-",
	"|id>pwned.txt",
	"!id>pwned.txt",
	"$(id>pwned.txt)",
	"`id>pwned.txt`",
	";id>pwned.txt",
	"\";id>pwned.txt;\"",
	"';id>pwned.txt;'",
	"a b  c",
	" lead",
	"tab\there",
	"two\nlines",
	"%",
	"#",
	"#1.%.py",
	"*.py",
	"[a]?{b,c}.py",
	"~root",
	"$HOME",
	"%f:%l",
	"%s%n",
	"a:12:b.py",
	"\\",
	"&",
	"\xff\xfe",
	"caf\xc3\xa9.py",
	"\x1b]0;t\a",
};

static const struct {
	const char *command, *before, *after; /* what the place is between, each word with a bar */
} editors[] = {
	{"./record", "+7|", "|"},
	{"./record -w  'a b'", "-w|a b|+7|", "|"},
	{"./vim -u NONE", "-u|NONE|+7|--|", "|"},
	{"./nvim", "+7|--|", "|"},
	{"./vi", "+7|--|", "|"},
	{"./nano", "+7|--|", "|"},
	{"./emacs -nw", "-nw|+7|/:", "|"},
	{"./kak", "+7|--|", "|"},
	{"./hx", "", ":7|"},
	{"./code -w", "-w|-g|", ":7|"},
	{"./kate", "-l|7|--|", "|"},
};

static uint32_t hostile_frame = SESSION_NONE;

static void clear_folder(const char *dir)
{
	char command[PATH_MAX];

	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	ck_assert_int_eq(chdir("/"), 0);
	ck_assert_int_eq(system(command), 0);
}

/* The row that the cursor is on gets another name. */
static void call_it(const char *name)
{
	for (uint32_t i = 0; i < w.s->n_nodes; i++)
		if (strstr(session_node_name(w.s, i), "optim.py:210"))
			hostile_frame = w.s->nodes[i].frame;
	ck_assert_uint_ne(hostile_frame, SESSION_NONE);
	w.s->frames[hostile_frame].symbol = strtab_adds(w.s->strings, name);
}

static void write_script(const char *path)
{
	FILE *f = fopen(path, "we");

	ck_assert_ptr_nonnull(f);
	fputs("#!/bin/sh\nprintf '%s|' \"$@\" >said\n", f);
	ck_assert_int_eq(fchmod(fileno(f), 0700), 0);
	fclose(f);
}

/* What the editor was started with, and then no more. */
static size_t take_said(char *out, size_t size)
{
	FILE *f = fopen("said", "re");
	size_t n = f ? fread(out, 1, size - 1, f) : 0;

	if (f)
		fclose(f);
	out[n] = '\0';
	unlink("said");
	return n;
}

static void edit_hostile(const char *dir, const char *file, unsigned editor)
{
	char name[256], said[PATH_MAX], expected[PATH_MAX];
	struct buf out;

	snprintf(name, sizeof(name), "./%s:7", file);
	call_it(name + (strpbrk(file, "./") ? 2 : 0)); /* without a dot it is no file */
	setenv("VISUAL", editors[editor].command, 1);
	type("O");
	buf_init(&out, 0); /* or the terminal is full some day */
	drain_for(&out, 0);
	buf_done(&out);
	snprintf(expected, sizeof(expected), "%s%s/%s%s", editors[editor].before, dir, file,
		 editors[editor].after);
	take_said(said, sizeof(said));
	ck_assert_str_eq(said, expected);
	ck_assert_int_ne(access("pwned.txt", F_OK), 0);
}

/* A name is one argument, which begins with a slash, and nothing runs it. */
START_TEST(edits_hostile_names)
{
	char dir[] = "/tmp/test-tui-XXXXXX", real[PATH_MAX];

	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(chdir(dir), 0);
	ck_assert_ptr_nonnull(realpath(".", real));
	for (size_t i = 0; i < ARRAY_SIZE(editors); i++) {
		char script[64];

		snprintf(script, sizeof(script), "%.*s", (int)strcspn(editors[i].command, " "),
			 editors[i].command);
		write_script(script);
	}
	ck_assert_int_eq(tui_open(w.t), 0);
	type("/optim\r");
	for (size_t i = 0; i < ARRAY_SIZE(hostile); i++) {
		fclose(fopen(hostile[i], "we"));
		edit_hostile(real, hostile[i], (unsigned)(i % ARRAY_SIZE(editors)));
		edit_hostile(real, hostile[i], 0);
		unlink(hostile[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(editors); i++) {
		fclose(fopen(hostile[0], "we"));
		edit_hostile(real, hostile[0], (unsigned)i);
	}
	clear_folder(dir);
}
END_TEST

/* What is no file that a person could edit is not opened at all. */
START_TEST(edits_only_files)
{
	static const struct {
		const char *name, *said;
	} cases[] = {
		{"ssh://host/x.py:7", "No such file"}, {"file:///etc/passwd.x:7", "No such file"},
		{"+!id>pwned.txt:7", "No such file"},  {"./fifo:7", "no regular file"},
		{"/dev/tty:7", "no regular file"},     {"./folder:7", "Is a directory"},
		{"./loop:7", "symbolic links"},
	};
	char dir[] = "/tmp/test-tui-XXXXXX", said[256];

	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(chdir(dir), 0);
	ck_assert(mkfifo("fifo", 0600) == 0 && mkdir("folder", 0700) == 0 &&
		  symlink("loop", "loop") == 0);
	write_script("./record");
	setenv("VISUAL", "./record", 1);
	ck_assert_int_eq(tui_open(w.t), 0);
	type("/optim\r");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		call_it(cases[i].name);
		type("O");
		ck_assert_uint_eq(take_said(said, sizeof(said)), 0);
		ck_assert(world_shows(&w, cases[i].said));
	}
	clear_folder(dir);
}
END_TEST

START_TEST(resizes)
{
	static const struct winsize sizes[] = {{1, 1, 0, 0},   {24, 80, 0, 0},   {0, 0, 0, 0},
					       {10, 40, 0, 0}, {200, 500, 0, 0}, {40, 140, 0, 0}};

	ck_assert_int_eq(tui_open(w.t), 0);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct buf out;

		ioctl(master, TIOCSWINSZ, &sizes[i]);
		buf_init(&out, 0);
		ck_assert_int_eq(tui_resize(w.t), 0);
		drain(&out);
		buf_done(&out);
	}
	tui_refresh(w.t);
	ck_assert(world_shows(&w, "train_step")); /* a dump leaves the open screen usable */
	type("3");
	ck_assert_int_eq(w.t->current, TUI_PANEL_MEMORY);
}
END_TEST

START_TEST(notices_that_the_terminal_is_gone)
{
	ck_assert_int_eq(tui_open(w.t), 0);
	close(master);
	master = -1;
	ck_assert_int_eq(tui_handle_input(w.t), -EIO);
}
END_TEST

START_TEST(refuses_what_cannot_work)
{
	setenv("TERM", "dumb", 1);
	ck_assert_int_eq(tui_open(w.t), -ENOTSUP);
	ck_assert_ptr_nonnull(strstr(tui_why(w.t), "TERM"));
	unsetenv("TERM");
	ck_assert_int_eq(tui_open(w.t), -ENOENT);
	ck_assert_ptr_nonnull(strstr(tui_why(w.t), "TERM is not set"));
	setenv("TERM", "no-such-terminal", 1);
	ck_assert_int_eq(tui_open(w.t), -ENOENT);
	setenv("TERM", "xterm", 1);
	w.t->options.tty = "/nonexistent";
	ck_assert_int_eq(tui_open(w.t), -ENXIO);
	w.t->options.tty = "/dev/null";
	ck_assert_int_eq(tui_open(w.t), -ENXIO);
	ck_assert_int_eq(tui_fd(w.t), -1);
	ck_assert_int_eq(tui_handle_input(w.t), -ENXIO);
}
END_TEST

START_TEST(works_on_old_terminals)
{
	static const char *const terms[] = {"vt100", "linux", "ansi", "screen", "xterm-mono"};

	for (size_t i = 0; i < ARRAY_SIZE(terms); i++) {
		setenv("TERM", terms[i], 1);
		if (tui_open(w.t) < 0) /* not every database has them all */
			continue;
		ck_assert(sent("train_step"));
		tui_close(w.t);
	}
}
END_TEST

START_TEST(restore_bytes)
{
	const char *bytes;
	size_t len;

	ck_assert_ptr_null(tui_restore_bytes(w.t, &len));
	ck_assert_int_eq(tui_open(w.t), 0);
	bytes = tui_restore_bytes(w.t, &len);
	ck_assert_ptr_nonnull(memmem(bytes, len, "\x1b[?1049l", 8));
	ck_assert_ptr_nonnull(memmem(bytes, len, "\x1b[?2004l", 8));
	ck_assert_ptr_nonnull(memmem(bytes, len, "\x1b[?1006;1000l", 13));
	ck_assert_ptr_null(memchr(bytes, '$', len)); /* no padding marks */
}
END_TEST

/* A process that crashes with the screen open: what its terminal got, and how it died. */
START_TEST(a_crash_gives_the_terminal_back)
{
	static const int signals[] = {SIGSEGV, SIGABRT, SIGBUS};
	static const char *const undone[] = {"\x1b[?1049l", "\x1b[?1006;1000l",
					     "\x1b[?12l\x1b[?25h"};
	struct termios before, after;

	tcgetattr(slave, &before);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		int status;
		pid_t pid = fork();

		if (pid == 0) {
			struct rlimit none = {0, 0};

			setrlimit(RLIMIT_CORE, &none);
			signal(signals[i], SIG_DFL);
			if (tui_open(w.t) == 0)
				raise(signals[i]);
			_exit(99);
		}
		ck_assert(sent(undone[i]));
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == signals[i]);
		tcgetattr(slave, &after);
		ck_assert_uint_eq(after.c_lflag, before.c_lflag);
	}
}
END_TEST

/* Ctrl-Z: the terminal is as it was while stopped, and ours again afterwards. */
START_TEST(suspends)
{
	struct termios t;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		if (tui_open(w.t) < 0)
			_exit(99);
		tui_key(w.t, 26);
		tcgetattr(slave, &t);
		_exit(t.c_lflag & ICANON ? 1 : 0);
	}
	ck_assert_int_eq(waitpid(pid, &status, WUNTRACED), pid);
	ck_assert(WIFSTOPPED(status));
	tcgetattr(slave, &t);
	ck_assert(t.c_lflag & ICANON);
	ck_assert(sent("\x1b[?1049l"));
	kill(pid, SIGCONT);
	ck_assert(sent("train_step"));
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
END_TEST

/* ---- work that takes its time ---- */

#define CROWD 300000 /* names, each another one: a fifth of a second for an expression */

static void setup_crowd(void)
{
	struct winsize size = {.ws_row = 24, .ws_col = 80};
	struct tui_options options = {.command = "view", .tty = tty};
	char name[40];

	ck_assert_int_eq(openpty(&master, &slave, tty, NULL, &size), 0);
	setenv("TERM", "xterm-256color", 1);
	world_init(&w);
	for (unsigned i = 0; i < CROWD; i++) {
		snprintf(name, sizeof(name), "context_%u_of_a_crowd", i);
		world_node(&w, w.forward, FRAME_FUNCTION, name);
	}
	world_open(&w, &options);
	clock_fake(0); /* time passes */
	ck_assert_int_eq(tui_open(w.t), 0);
}

START_TEST(esc_stops_an_expression)
{
	type("&.*(of|at).*(crowd|flock)x*$\r\x1b"); /* Esc is there before it has begun */
	ck_assert_str_eq(w.t->message, "stopped: the filters are as they were");
	ck_assert(!filters_any(&w.t->filters));
	ck_assert(sent("filtering: "));
	type("&.*flash_fwd\r");
	ck_assert(world_shows(&w, "only: .*flash_fwd"));
	type("!.*(of|at).*(crowd|flock)x*$\r\x03");
	ck_assert(world_shows(&w, "only: .*flash_fwd")); /* the one before still holds */
	ck_assert(!world_shows(&w, "without: "));
}
END_TEST

START_TEST(a_letter_stops_the_search_for_those_before_it)
{
	type("/ctxeon"); /* nothing is found, and no letter waits for it */
	ck_assert_str_eq(w.t->prompt.note, "0 found");
	type("\x15"
	     "context_");
	ck_assert_str_eq(w.t->prompt.note, "300000 found");
	type("1\r");
	ck_assert_str_eq(w.t->search, "context_1");
	ck_assert_str_eq(w.t->message, "");
}
END_TEST

START_TEST(esc_stops_a_filter)
{
	struct pollfd p = {.fd = tui_fd(w.t), .events = POLLIN};

	type("\\flash\r");
	ck_assert(world_shows(&w, "flash_fwd"));
	ck_assert_int_eq(tui_key_script(w.t, "\\ C-u 'of_a_crowd' Enter"), 0);
	work_serve(w.t, true);
	w.t->work.key_ns = 1; /* long ago */
	ck_assert_int_eq(write(master, "\x1b", 1), 1);
	ck_assert_int_eq(poll(&p, 1, 5000), 1);
	tui_redraw(w.t);
	work_serve(w.t, false);
	ck_assert_str_eq(w.t->message, "stopped: the filter is as it was");
	ck_assert_str_eq(w.t->filter, "flash");
	ck_assert(world_shows(&w, "flash_fwd"));
	ck_assert(!world_shows(&w, "of_a_crowd"));
}
END_TEST

Suite *suite_terminal(void)
{
	const TTest *const works[] = {
		esc_stops_an_expression,
		a_letter_stops_the_search_for_those_before_it,
		esc_stops_a_filter,
	};
	const TTest *const tests[] = {
		opens_and_gives_back,
		drawing_forgets_no_signal,
		keys_arrive,
		keys_of_other_terminals_are_one_key,
		a_foreign_key_does_nothing,
		an_answer_ends_some_time,
		an_answer_changes_nothing,
		pasted_text_is_no_command,
		mouse_arrives,
		copies,
		edits,
		edits_hostile_names,
		edits_only_files,
		resizes,
		notices_that_the_terminal_is_gone,
		refuses_what_cannot_work,
		works_on_old_terminals,
		restore_bytes,
		a_crash_gives_the_terminal_back,
		suspends,
	};
	Suite *s = suite_create("terminal");
	TCase *c = tcase_create("terminal"), *crowd = tcase_create("crowd");

	tcase_set_timeout(c, 60);
	tcase_add_checked_fixture(c, setup, teardown);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	tcase_add_loop_test(c, answers_of_the_terminal_are_no_keys, 0, ARRAY_SIZE(answers));
	suite_add_tcase(s, c);
	tcase_set_timeout(crowd, 120);
	tcase_add_checked_fixture(crowd, setup_crowd, teardown);
	for (size_t i = 0; i < ARRAY_SIZE(works); i++)
		tcase_add_test(crowd, works[i]);
	suite_add_tcase(s, crowd);
	return s;
}
