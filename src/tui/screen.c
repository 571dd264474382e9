/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/screen.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include "base/buf.h"
#include "base/clock.h"
#include "tui/escape.h"
#include "tui/keys.h"
#include "tui/mouse.h"
#include "tui/restore.h"
#include "tui/terminfo.h"

#define ESCAPE_WAIT_MS 100                /* for the rest of a key; the network may have split it */
#define PASTE_WAIT_NS  NSEC_PER_SEC       /* text that stops for so long has lost its end */
#define ANSWER_MAX_NS  (5 * NSEC_PER_SEC) /* so has an answer that goes on for so long */

/* Pasted text comes between marks, where the terminal can do that. */
static const char paste_on[] = "\033[?2004h", paste_off[] = "\033[?2004l";

struct screen {
	SCREEN *curses;
	FILE *out, *in;
	struct termios saved;
	WINDOW *win;
	bool has_saved;
	struct look look;
	struct buf restore;
	int held;      /* came right behind another key, or 0 */
	int ahead[32]; /* keys that were looked at and not taken yet */
	unsigned n_ahead;
	bool marks_paste;   /* the terminal was asked to */
	uint64_t pasted_ns; /* when the last of pasted text came; 0: none is coming */
	struct answer answer;
	uint64_t answer_began_ns, answer_ns; /* when the last of it came */
};

/* Signals that curses would take. */
static const int curses_signals[] = {SIGINT, SIGTERM, SIGTSTP, SIGWINCH};

struct saved_signals {
	struct sigaction actions[ARRAY_SIZE(curses_signals)];
};

static void taken(int signo)
{
	(void)signo;
}

/* What is not at its default when it begins, curses leaves alone for good. A SIGTSTP that it has taken it
 * would ignore while it writes, and by that the system forgets one that is pending for us. */
static void signals_hide(struct saved_signals *saved)
{
	const struct sigaction ours = {.sa_handler = taken, .sa_flags = SA_RESTART};

	for (size_t i = 0; i < ARRAY_SIZE(curses_signals); i++)
		sigaction(curses_signals[i], &ours, &saved->actions[i]);
}

static void signals_restore(const struct saved_signals *saved)
{
	for (size_t i = 0; i < ARRAY_SIZE(curses_signals); i++)
		sigaction(curses_signals[i], &saved->actions[i], NULL);
}

static int open_files(struct screen *sc, const char *path)
{
	/* Not "w", which would make a file where there is no terminal. */
	sc->out = fopen(path, "r+e");
	if (!sc->out)
		return -errno;
	sc->in = fopen(path, "re");
	return sc->in ? 0 : -errno;
}

/* Modes that hold for every screen of ours. */
static void set_modes(struct screen *sc)
{
	raw(); /* Ctrl-C and Ctrl-Z are requests like others */
	noecho();
	nonl();
	keypad(sc->win, TRUE);
	nodelay(sc->win, TRUE);
	intrflush(sc->win, FALSE);
	set_escdelay(25);
	curs_set(0);
}

/* newterm() without its side effects on signals. */
static int start_curses(struct screen *sc, const char *term, const struct look_options *options)
{
	struct saved_signals saved;

	signals_hide(&saved);
	sc->curses = newterm(term, sc->out, sc->in);
	signals_restore(&saved);
	if (!sc->curses)
		return -ENOTSUP;
	sc->win = stdscr;
	set_modes(sc);
	look_init(&sc->look, options);
	return 0;
}

static struct screen *screen_alloc(void)
{
	struct screen *sc = calloc(1, sizeof(*sc));

	if (sc)
		buf_init(&sc->restore, 4096);
	return sc;
}

/* Wait until we are in the foreground. Changing the terminal stops us in the background (SIGTTOU);
 * reading its state and writing to it do not, so this comes before both. */
static void await_foreground(const struct screen *sc)
{
	struct termios now;

	if (tcgetattr(fileno(sc->out), &now) == 0)
		(void)tcsetattr(fileno(sc->out), TCSADRAIN, &now);
}

/* The part of screen_open() that can fail. */
static int open_tty(struct screen *sc, const char *tty, const struct look_options *options,
		    const char **ret_why)
{
	int r = open_files(sc, tty);

	if (r < 0) {
		*ret_why = "there is no terminal to draw on";
		return -ENXIO;
	}
	await_foreground(sc);
	sc->has_saved = tcgetattr(fileno(sc->out), &sc->saved) == 0;
	if (!sc->has_saved) {
		*ret_why = "what should be the terminal is none";
		return -ENXIO;
	}
	r = terminfo_check(fileno(sc->out), ret_why);
	if (r < 0)
		return r;
	r = start_curses(sc, NULL, options);
	if (r < 0)
		*ret_why = "the terminal cannot be used for a full screen";
	return r;
}

static void mark_paste(struct screen *sc, bool on)
{
	if (sc->marks_paste)
		screen_send(sc, on ? paste_on : paste_off, sizeof(paste_on) - 1);
}

int screen_open(const char *tty, const struct look_options *options, struct screen **ret,
		const char **ret_why)
{
	struct screen *sc = screen_alloc();
	int r;

	*ret_why = "out of memory";
	if (!sc)
		return -ENOMEM;
	r = open_tty(sc, tty, options, ret_why);
	if (r < 0) {
		screen_close(sc);
		return r;
	}
	terminfo_restore(&sc->restore);
	sc->marks_paste = terminfo_is_ansi();
	if (sc->marks_paste)
		buf_puts(&sc->restore, paste_off);
	mark_paste(sc, true);
	restore_arm(fileno(sc->out), sc->restore.data, sc->restore.len, &sc->saved);
	*ret = sc;
	return 0;
}

/* On /dev/null, as a terminal that knows colours where the database has one. */
static int open_null(struct screen *sc, int rows, int cols, const struct look_options *options)
{
	static const char *const terms[] = {"xterm-256color", "xterm", "linux", "vt100"};
	int r = open_files(sc, "/dev/null");

	for (size_t i = 0; r == 0 && !sc->curses && i < ARRAY_SIZE(terms); i++)
		start_curses(sc, terms[i], options);
	if (r == 0 && !sc->curses)
		r = -ENOTSUP;
	if (r == 0)
		resizeterm(rows, cols);
	return r;
}

static int open_pad(struct screen *sc, const struct screen *beside, int rows, int cols)
{
	sc->look = beside->look;
	sc->win = newpad(rows, cols);
	return sc->win ? 0 : -ENOMEM;
}

int screen_open_copy(struct screen *beside, int rows, int cols, const struct look_options *options,
		     struct screen **ret)
{
	struct screen *sc = screen_alloc();
	int r;

	if (!sc)
		return -ENOMEM;
	rows = MAX(rows, 1);
	cols = MAX(cols, 1);
	r = beside ? open_pad(sc, beside, rows, cols) : open_null(sc, rows, cols, options);
	if (r < 0) {
		screen_close(sc);
		return r;
	}
	*ret = sc;
	return 0;
}

struct screen *screen_close(struct screen *sc)
{
	if (!sc)
		return NULL;
	if (sc->curses) {
		if (sc->has_saved)
			restore_disarm();
		endwin();
		mark_paste(sc, false);
		delscreen(sc->curses);
	} else if (sc->win) {
		delwin(sc->win);
	}
	if (sc->out)
		fclose(sc->out);
	if (sc->in)
		fclose(sc->in);
	buf_done(&sc->restore);
	free(sc);
	return NULL;
}

struct canvas screen_canvas(struct screen *sc)
{
	struct canvas canvas = {.win = sc->win, .look = &sc->look};

	getmaxyx(sc->win, canvas.rows, canvas.cols);
	return canvas;
}

int screen_fd(const struct screen *sc)
{
	return fileno(sc->in);
}

static bool has_hung_up(const struct screen *sc)
{
	struct pollfd p = {.fd = screen_fd(sc), .events = POLLIN};

	return poll(&p, 1, 0) == 1 && (p.revents & (POLLHUP | POLLERR | POLLNVAL));
}

/* What curses has: a character, a key that the terminfo entry knows, or 0. */
static int read_code(struct screen *sc)
{
	wint_t c;
	int r;

	do /* curses notes its own resizeterm() as a key */
		r = wget_wch(sc->win, &c);
	while (r == KEY_CODE_YES && c == KEY_RESIZE);
	if (r == ERR)
		return 0;
	return r == KEY_CODE_YES ? KEY_FUNCTION | (int)c : (int)c;
}

static int await_code(struct screen *sc)
{
	struct pollfd p = {.fd = screen_fd(sc), .events = POLLIN};
	int code = sc->held ? sc->held : read_code(sc); /* curses may have read it already */

	sc->held = 0;
	if (code == 0 && poll(&p, 1, ESCAPE_WAIT_MS) == 1)
		code = read_code(sc);
	return code;
}

/* Read an answer to its end. 0: that is still to come; ANSWER_ENDED, or ANSWER_BROKE_OFF with the
 * character behind it held. Whoever types after an answer without an end is heard again after a
 * pause, or at the latest after some seconds. */
static int read_answer(struct screen *sc)
{
	int step = ANSWER_GOES_ON;

	while (step == ANSWER_GOES_ON) {
		int code = await_code(sc);
		uint64_t now = clock_monotonic_ns();

		if (code == 0)
			return 0;
		if (now - sc->answer_ns > PASTE_WAIT_NS ||
		    now - sc->answer_began_ns > ANSWER_MAX_NS) {
			sc->answer.has_esc = false;
			step = ANSWER_BROKE_OFF;
		} else {
			step = answer_add(&sc->answer, code);
		}
		sc->answer_ns = now;
		if (step == ANSWER_BROKE_OFF)
			sc->held = code;
	}
	sc->answer.intro = 0;
	return step;
}

/* Alt with the letter that an answer begins with, unless more follows at once: then 0. */
static int read_after_intro(struct screen *sc, int intro)
{
	int code = await_code(sc);

	sc->held = code;
	if (code == 0 || code == 27 || code & KEY_FUNCTION)
		return KEY_ALT | intro;
	sc->answer = (struct answer){.intro = intro};
	sc->answer_began_ns = sc->answer_ns = clock_monotonic_ns();
	return 0;
}

/* A key that curses does not know. One that breaks off at once is the character with Alt. */
static int read_escape(struct screen *sc, struct escape *e)
{
	int code, key = 0;

	while (key == 0) {
		code = await_code(sc);
		key = code == 0 ? -EAGAIN : escape_add(e, code);
		if (key < 0)
			sc->held = code;
	}
	if (key > 0)
		return key;
	return e->n == 0 ? KEY_ALT | e->intro : KEY_NOTHING;
}

/* What begins with Esc: Alt sends it before the key, at once. 0: an answer, which is no key. */
static int read_after_escape(struct screen *sc)
{
	struct escape e;
	int code = await_code(sc);

	if (code == 0)
		return 27;
	if (code == 27 || code & KEY_FUNCTION) { /* typed while nobody read */
		sc->held = code;
		return 27;
	}
	if (answer_begins(code))
		return read_after_intro(sc, code);
	return escape_begin(&e, code) ? read_escape(sc, &e) : KEY_ALT | code;
}

/* A character or a key behind the answer, if there is one: 27 is an Esc that may be held up. */
static int read_behind_answer(struct screen *sc)
{
	int code;

	if (sc->answer.intro) {
		int step = read_answer(sc);

		if (step == ANSWER_GOES_ON)
			return 0;
		if (step == ANSWER_BROKE_OFF && sc->answer.has_esc)
			return 27;
	}
	code = sc->held ? sc->held : read_code(sc);
	sc->held = 0;
	return code;
}

static int read_one(struct screen *sc)
{
	int code = 27, key = 0;

	while (key == 0 && code == 27) {
		code = read_behind_answer(sc);
		key = code == 27 ? read_after_escape(sc) : code;
	}
	return key == 0 && has_hung_up(sc) ? -EIO : key;
}

/* Keys, and the characters of pasted text with KEY_PASTED. */
static int read_key(struct screen *sc)
{
	for (;;) {
		int code = read_one(sc);
		uint64_t now = clock_monotonic_ns();

		if (code <= 0)
			return code;
		if (code == KEY_PASTE_BEGIN) {
			sc->pasted_ns = now;
			continue;
		}
		if (now - sc->pasted_ns > PASTE_WAIT_NS)
			sc->pasted_ns = 0;
		if (!sc->pasted_ns)
			return code == KEY_PASTE_END ? KEY_NOTHING : code;
		sc->pasted_ns = code == KEY_PASTE_END ? 0 : now;
		if (code < KEY_FUNCTION)
			return KEY_PASTED | code;
	}
}

int screen_read_key(struct screen *sc)
{
	int key;

	if (sc->n_ahead == 0)
		return read_key(sc);
	key = sc->ahead[0];
	memmove(sc->ahead, sc->ahead + 1, --sc->n_ahead * sizeof(*sc->ahead));
	return key;
}

int screen_look_ahead(struct screen *sc)
{
	int key = sc->n_ahead < ARRAY_SIZE(sc->ahead) ? read_key(sc) : 0;

	if (key > 0)
		sc->ahead[sc->n_ahead++] = key;
	return key;
}

void screen_forget_keys(struct screen *sc)
{
	sc->n_ahead = 0;
}

/* Buttons, as curses calls them. */
static const struct {
	mmask_t mask;
	enum mouse_button button;
} buttons[] = {
	{BUTTON1_PRESSED, MOUSE_LEFT},
	{BUTTON3_PRESSED, MOUSE_RIGHT},
	{BUTTON4_PRESSED, MOUSE_WHEEL_UP},
	{BUTTON5_PRESSED, MOUSE_WHEEL_DOWN},
};

void screen_mouse(struct screen *sc, bool on)
{
	mmask_t mask = 0;

	for (size_t i = 0; on && i < ARRAY_SIZE(buttons); i++)
		mask |= buttons[i].mask;
	mouseinterval(0); /* a press is told at once, not when it is known to be no click */
	mousemask(mask, NULL);
}

bool screen_read_mouse(struct screen *sc, struct mouse_event *ret)
{
	MEVENT event;

	if (getmouse(&event) == ERR)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(buttons); i++)
		if (event.bstate & buttons[i].mask) {
			*ret = (struct mouse_event){buttons[i].button, event.y, event.x};
			return true;
		}
	return false;
}

void screen_flush(struct screen *sc, int y, int x)
{
	curs_set(y >= 0);
	if (y >= 0)
		wmove(sc->win, y, x);
	wnoutrefresh(sc->win);
	doupdate();
}

int screen_send(struct screen *sc, const char *bytes, size_t len)
{
	/* What curses has written is on its way before it. */
	return fflush(sc->out) < 0 ? -errno : fd_write_all(fileno(sc->out), bytes, len);
}

void screen_redraw(struct screen *sc)
{
	clearok(curscr, TRUE);
}

int screen_resize(struct screen *sc)
{
	struct winsize size;

	if (ioctl(fileno(sc->out), TIOCGWINSZ, &size) < 0)
		return -errno;
	resizeterm(MAX(size.ws_row, 1), MAX(size.ws_col, 1));
	clearok(curscr, TRUE);
	return 0;
}

void screen_leave(struct screen *sc)
{
	endwin();
	mark_paste(sc, false);
	restore_disarm();
}

void screen_enter(struct screen *sc)
{
	await_foreground(sc);
	restore_arm(fileno(sc->out), sc->restore.data, sc->restore.len, &sc->saved);
	mark_paste(sc, true);
	clearok(curscr, TRUE);
	wrefresh(sc->win);
}

void screen_retake(struct screen *sc)
{
	await_foreground(sc);
	screen_leave(sc); /* curses believes that nothing has changed, and would do nothing */
	screen_enter(sc);
}

void screen_cell(struct screen *sc, int y, int x, struct screen_cell *ret)
{
	wchar_t wide[CCHARW_MAX + 1] = {0};
	char *out = ret->text;
	cchar_t cell;
	attr_t attr;

	_Static_assert(sizeof(ret->text) > 4 * (CCHARW_MAX + 1), "all characters of a cell fit");
	*ret = (struct screen_cell){.columns = 1, .style = {.fg = -1, .bg = -1}};
	if (mvwin_wch(sc->win, y, x, &cell) == ERR ||
	    getcchar(&cell, wide, &attr, &ret->pair, NULL) == ERR)
		return;
	for (int i = 0; wide[i]; i++)
		out += utf8_put(out, (uint32_t)wide[i]);
	ret->columns = MAX(wcwidth(wide[0]), 1);
	ret->style = look_style(&sc->look, ret->pair, attr);
}

/* The letter of its role. */
static char cell_letter(const struct screen_cell *cell)
{
	return cell->pair > 0 ? role_letter(cell->pair - 1) : cell->style.reverse ? 'R' : '.';
}

static void trim_line(struct buf *out, size_t start)
{
	while (out->len > start && out->data[out->len - 1] == ' ')
		out->len--;
	buf_putc(out, '\n');
}

static void read_line(struct screen *sc, int y, int cols, bool attributes, struct buf *out)
{
	size_t start = out->len;
	struct screen_cell cell;

	for (int x = 0; x < cols; x += cell.columns) {
		screen_cell(sc, y, x, &cell);
		if (!attributes)
			buf_puts(out, cell.text);
		for (int i = 0; attributes && i < cell.columns; i++)
			buf_putc(out, cell_letter(&cell));
	}
	trim_line(out, start);
}

void screen_read(struct screen *sc, bool attributes, struct buf *out)
{
	int rows, cols;

	getmaxyx(sc->win, rows, cols);
	for (int block = 0; block <= attributes; block++)
		for (int y = 0; y < rows; y++)
			read_line(sc, y, cols, block > 0, out);
}

void screen_set_look(struct screen *sc, const struct look_options *options)
{
	look_init(&sc->look, options);
	clearok(curscr, TRUE); /* else cells that were drawn keep their old colours */
}

const char *screen_restore_bytes(const struct screen *sc, size_t *ret_len)
{
	*ret_len = sc->restore.len;
	return sc->restore.data;
}

const struct termios *screen_saved_termios(const struct screen *sc)
{
	return sc->has_saved ? &sc->saved : NULL;
}
