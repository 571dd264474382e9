/* SPDX-License-Identifier: MIT */
/* proton view: browse a saved profile on the screen; text when stdout is no terminal. */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include "base/util.h"
#include "cmd_report.h"
#include "commands.h"
#include "demangle.h"
#include "load.h"
#include "screen_options.h"
#include "tui/tui.h"

static const struct option_def options[] = {SCREEN_OPTIONS('i', 'e')};

const struct command_def command_view = {
	.name = "view",
	.usage = "[options] FILE",
	.summary = "browse a profile or a tape on the screen",
	.operands_first = true,
	.options = options,
	.n_options = ARRAY_SIZE(options),
};

struct viewer {
	struct screen_options screen;
	const char *path;
	bool quit;
};

static int on_option(const struct option_def *option, const char *value, void *arg)
{
	return screen_option(arg, option, value);
}

static int on_request(void *data, enum tui_action action, int arg)
{
	struct viewer *v = data;

	(void)arg;
	if (action != TUI_QUIT && action != TUI_DETACH)
		return -ENOTSUP;
	v->quit = true;
	return 0;
}

static void on_status(void *data, struct tui_status *ret)
{
	const struct viewer *v = data;

	ret->run = TUI_RUN_FILE;
	ret->target = v->path;
}

/* Signals that the loop reads instead of being interrupted by. */
int screen_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGWINCH);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGINT);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return -errno;
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int view_loop(struct viewer *v, struct tui *t, int signals)
{
	struct pollfd fds[2] = {{.fd = tui_fd(t), .events = POLLIN}, {.fd = signals, .events = POLLIN}};
	struct signalfd_siginfo info;

	while (!v->quit) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return STATUS_FAILED;
		if (fds[0].revents && tui_handle_input(t) < 0)
			return STATUS_FAILED; /* the terminal has gone away */
		while (read(signals, &info, sizeof(info)) == sizeof(info)) {
			if (info.ssi_signo != SIGWINCH)
				return 128 + (int)info.ssi_signo;
			tui_resize(t);
		}
	}
	return STATUS_OK;
}

static int view_screen(struct viewer *v, struct session *s)
{
	static const struct tui_host host = {.request = on_request, .status = on_status};
	struct snapshot_spec spec = {.group = v->screen.group, .demangle = demangle_name};
	struct tui_host mine = host;
	struct snapshot *snap = snapshot_new(s, &spec);
	struct tui *t;
	int signals, r = STATUS_FAILED;

	mine.data = v;
	v->screen.tui.command = "view";
	t = snap ? tui_new(&v->screen.tui, snap, &mine) : NULL;
	signals = screen_signals();
	if (!t || signals < 0) {
		complain("out of memory");
	} else if (tui_open(t) < 0) {
		complain("%s (without a screen: 'proton report %s')", tui_why(t), v->path);
		r = STATUS_USAGE;
	} else {
		tui_refresh(t);
		r = view_loop(v, t, signals);
		tui_close(t);
	}
	tui_free(t);
	snapshot_free(snap);
	if (signals >= 0)
		close(signals);
	return r;
}

int cmd_view(int argc, char **argv)
{
	struct viewer v = {0};
	struct report_options text = {0};
	struct session *s;
	int first = options_parse(&command_view, argc, argv, on_option, &v.screen), r;

	if (first <= 0)
		return first ? STATUS_USAGE : STATUS_OK;
	if (v.screen.keys)
		return screen_print_keys();
	if (argc - first != 1) {
		complain("%s (see 'proton view --help')",
			 first == argc ? "which file?" : "one file at a time");
		return STATUS_USAGE;
	}
	v.path = argv[first];
	s = load_file(v.path);
	if (!s)
		return STATUS_FAILED;
	if (isatty(STDOUT_FILENO)) {
		r = view_screen(&v, s);
	} else {
		text.ascii = v.screen.tui.ascii;
		text.names = (uint8_t)v.screen.tui.names;
		r = report_print(s, &text, v.screen.group) < 0 ? STATUS_FAILED : STATUS_OK;
	}
	session_free(s);
	return r;
}
