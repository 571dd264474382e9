/* SPDX-License-Identifier: MIT */
/* The terminal that the screen is on: taken, left for a while, given back. */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <signal.h>
#include <unistd.h>
#include "tui/compose.h"
#include "tui/screen.h"
#include "tui/tui_impl.h"

int tui_open(struct tui *t)
{
	int r;

	if (t->screen)
		return 0;
	r = screen_open(t->options.tty ? t->options.tty : "/dev/tty", &t->look, &t->screen,
			&t->why);
	if (r < 0)
		return r;
	screen_mouse(t->screen, t->has_mouse);
	tui_redraw(t);
	return 0;
}

const char *tui_why(const struct tui *t)
{
	return t->why;
}

void tui_close(struct tui *t)
{
	t->screen = screen_close(t->screen);
}

int tui_fd(const struct tui *t)
{
	return t->screen ? screen_fd(t->screen) : -1;
}

bool tui_is_open(const struct tui *t)
{
	return t->screen != NULL;
}

const char *tui_restore_bytes(const struct tui *t, size_t *ret_len)
{
	return t->screen ? screen_restore_bytes(t->screen, ret_len) : NULL;
}

const struct termios *tui_saved_termios(const struct tui *t)
{
	return t->screen ? screen_saved_termios(t->screen) : NULL;
}

int tui_resize(struct tui *t)
{
	int r;

	if (!t->screen)
		return -ENXIO;
	r = screen_resize(t->screen);
	tui_redraw(t);
	return r;
}

static bool is_pending(int sig)
{
	sigset_t set;

	return sigpending(&set) == 0 && sigismember(&set, sig) == 1;
}

int tui_suspend(struct tui *t)
{
	if (!t->screen)
		return -ENXIO;
	screen_leave(t->screen);
	kill(getpid(), SIGSTOP);
	t->continued = is_pending(SIGCONT);
	screen_enter(t->screen);
	return tui_resize(t);
}

int tui_continue(struct tui *t)
{
	bool known = t->continued;

	t->continued = false;
	if (!t->screen || known)
		return t->screen ? 0 : -ENXIO;
	screen_retake(t->screen);
	return tui_resize(t);
}
