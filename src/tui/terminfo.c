/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/terminfo.h"
#include <string.h>
#include <curses.h>
#include <errno.h>
#include <term.h>
#include "base/buf.h"
#include "base/util.h"

/* tputs() takes no argument for its output function. */
static _Thread_local struct buf *put_target;

static int put_byte(int c)
{
	buf_putc(put_target, (char)c);
	return c;
}

static const char *capability(const char *name)
{
	const char *s = tigetstr(name);

	return s == (const char *)-1 ? NULL : s;
}

/* End reports of the mouse, whether they were asked for or not: curses does the same. */
static void put_no_mouse(void)
{
	const char *mode = capability("XM");

	if (mode)
		tputs(tiparm(mode, 0), 1, put_byte);
	else
		tputs("\033[?1000l", 1, put_byte);
}

bool terminfo_is_ansi(void)
{
	const char *cup = capability("cup");

	return cup && !strncmp(cup, "\033[", 2);
}

void terminfo_restore(struct buf *out)
{
	static const char *const names[] = {"sgr0", "op", "cnorm", "rmkx", "rmcup"};

	put_target = out;
	if (capability("kmous"))
		put_no_mouse();
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (capability(names[i]))
			tputs(capability(names[i]), 1, put_byte);
	buf_putc(out, '\r');
}

int terminfo_check(int fd, const char **ret_why)
{
	const char *type = getenv("TERM");
	int err, r;

	if (!type || !*type) {
		*ret_why = "the terminal's type is not told (TERM is not set)";
		return -ENOENT;
	}
	if (setupterm(NULL, fd, &err) == ERR) {
		*ret_why = err < 0 ? "the terminal database (terminfo) is not installed"
			   : err == 0
				   ? "the terminal's type (TERM) is not known"
				   : "the terminal's type (TERM) cannot be used for a full screen";
		return err > 0 ? -ENOTSUP : -ENOENT;
	}
	r = capability("cup") ? 0 : -ENOTSUP;
	if (r < 0)
		*ret_why = "this type of terminal (TERM) cannot move its cursor";
	del_curterm(cur_term); /* newterm() makes its own */
	return r;
}

int terminfo_colors(int fd)
{
	int err, n;

	if (setupterm(NULL, fd, &err) == ERR)
		return -1;
	n = tigetnum("colors");
	del_curterm(cur_term);
	return n < 0 ? 0 : n;
}
