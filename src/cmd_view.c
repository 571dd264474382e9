/* SPDX-License-Identifier: MIT */
/* proton view: browse a saved profile on the screen; text when stdout is no terminal. */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/util.h"
#include "cmd_report.h"
#include "commands.h"
#include "demangle.h"
#include "format/report_names.h"
#include "load.h"
#include "screen_options.h"
#include "tui/tui.h"

static const struct option_def options[] = {PROFILE_OPTIONS, SCREEN_OPTIONS('i', 'e')};

const struct command_def command_view = {
	.name = "view",
	.usage = "[options] FILE…",
	.summary = "browse a profile, or several as one, on the screen",
	.operands_first = true,
	.options = options,
	.n_options = ARRAY_SIZE(options),
};

/* How names of frames are cut; snapshots ask for names by a function that is told nothing else. */
static uint8_t arg_format;

struct viewer {
	struct screen_options screen;
	struct profile_options profile; /* the same for text */
	char *target;                   /* what the header calls it */
	char *compare;                  /* asked for: a file to compare with, "" for none; or NULL */
	const char *message;            /* to begin with, or NULL */
	bool quit;
};

/* What the screen and text both do, each in its way. */
static int on_option(const struct option_def *option, const char *value, void *arg)
{
	static const int filters[][2] = {
		{OPT_SCREEN_INCLUDE, PROFILE_OPT_INCLUDE},
		{OPT_SCREEN_EXCLUDE, PROFILE_OPT_EXCLUDE},
	};
	struct viewer *v = arg;
	int r;

	if (option->id == OPT_SORT) { /* by a metric, too: it is looked at when the columns are known */
		v->screen.tui.sort = v->profile.report.sort = value;
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(filters); i++)
		if (option->id == filters[i][0]) {
			const struct option_def same = {.id = filters[i][1]};

			r = profile_option(&v->profile, &same, value);
			if (r < 0)
				return r;
		}
	r = screen_option(&v->screen, option, value);
	return r == -ENOENT ? profile_option(&v->profile, option, value) : r;
}

/* A name that is shown: demangled, and what is asked for of file:line@function. */
static char *shown_name(const char *raw, enum name_mode mode)
{
	char *demangled = demangle_name(raw, mode), *shown;
	struct buf scratch;
	const char *cut;

	if (arg_format == FORMAT_FULL)
		return demangled;
	buf_init(&scratch, 0);
	cut = name_format(demangled ? demangled : raw, (enum name_format)arg_format, true, &scratch);
	shown = strdup(cut);
	buf_done(&scratch);
	free(demangled);
	return shown;
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

/* What is compared needs another tree: the screen is made anew, see view_again(). */
static int on_compare(void *data, const char *path)
{
	struct viewer *v = data;

	if (*path && access(path, R_OK) < 0)
		return -errno;
	v->compare = strdup(path);
	if (!v->compare)
		return -ENOMEM;
	v->quit = true;
	return 0;
}

static void on_status(void *data, struct tui_status *ret)
{
	const struct viewer *v = data;

	ret->run = TUI_RUN_FILE;
	ret->target = v->target;
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

/* Columns and their order; a line on stderr says what is wrong. */
static int check_columns(const struct tui *t, const struct tui_options *o)
{
	switch (tui_columns_error(t)) {
	case 0:
		break;
	case -ENOENT:
		complain("no such metric in '%s' (see 'proton view --list')", o->metrics);
		return -EINVAL;
	case -EINVAL:
		complain("no such unit in '%s'", o->metrics);
		return -EINVAL;
	default:
		complain("too many columns");
		return -EINVAL;
	}
	if (!o->sort || tui_has_column(t, o->sort))
		return 0;
	complain("'%s' is no column (see --metrics)", o->sort);
	return -EINVAL;
}

static struct snapshot *snapshot_of(const struct session *s, enum group group)
{
	struct snapshot_spec spec = {.group = group, .demangle = shown_name};

	return s ? snapshot_new(s, &spec) : NULL;
}

static int run_screen(struct viewer *v, struct tui *t, int signals)
{
	int r;

	if (check_columns(t, &v->screen.tui) < 0)
		return STATUS_USAGE;
	if (tui_open(t) < 0) {
		complain("%s (without a screen: 'proton report %s')", tui_why(t), v->target);
		return STATUS_USAGE;
	}
	if (*v->screen.skipped)
		tui_message(t, "%s", v->screen.skipped);
	if (v->message)
		tui_message(t, "%s", v->message);
	tui_refresh(t);
	r = view_loop(v, t, signals);
	tui_close(t);
	return r;
}

static int view_screen(struct viewer *v, const struct loaded *l)
{
	const struct tui_host host = {
		.data = v, .request = on_request, .status = on_status, .compare = on_compare};
	struct snapshot *snap = snapshot_of(l->s, v->screen.group);
	struct snapshot *before = snapshot_of(l->before, GROUP_NONE);
	struct tui_options *o = &v->screen.tui;
	struct tui *t = NULL;
	int signals, r = STATUS_FAILED;

	o->command = "view";
	o->before = before;
	if (snap && (before || !l->before))
		t = tui_new(o, snap, &host);
	signals = screen_signals();
	if (!t || signals < 0)
		complain("out of memory");
	else
		r = run_screen(v, t, signals);
	tui_free(t);
	snapshot_free(snap);
	snapshot_free(before);
	if (signals >= 0)
		close(signals);
	return r;
}

/* What only text can; a line on stderr says so. */
static int check_screen(const struct viewer *v)
{
	if (v->profile.report.totals == TOTALS_OF_ALL)
		complain("--keep-totals is for text (proton report)");
	else if (v->profile.before && v->screen.group != GROUP_NONE)
		complain("--diff-profile compares whole profiles: it does not go with --group");
	else
		return 0;
	return -EINVAL;
}

/* The options of `report`, for the screen. */
static void screen_take(struct viewer *v)
{
	const struct report_options *r = &v->profile.report;
	struct tui_options *o = &v->screen.tui;

	o->metrics = r->columns;
	o->peaks = profile_peaks(&v->profile);
	o->depth = r->depth;
	o->least = (struct least){r->columns, r->least, r->threshold, o->peaks};
	arg_format = r->format;
}

/* The same for text. */
static void text_take(struct viewer *v)
{
	struct report_options *r = &v->profile.report;

	r->ascii = v->screen.tui.ascii;
	r->names = (uint8_t)v->screen.tui.names;
	v->profile.group = v->screen.group;
	r->width = terminal_width(STDOUT_FILENO);
}

/* "b.hatchet", "b.hatchet and 3 more", "b.hatchet, A: a.hatchet" */
static int name_target(struct viewer *v, char *const *paths, int n, const char *before)
{
	struct buf name;

	buf_init(&name, 0);
	buf_puts(&name, paths[0]);
	if (n > 1)
		buf_printf(&name, " and %d more", n - 1);
	if (before)
		buf_printf(&name, ", A: %s", before);
	free(v->target);
	v->target = name.error ? NULL : strdup(buf_str(&name));
	buf_done(&name);
	return v->target ? 0 : -ENOMEM;
}

/* Another comparison: the files are read again, because a comparison has a tree of its own. What
 * cannot be read leaves everything as it is. */
static void load_again(struct viewer *v, struct loaded *l, char *const *paths, int n)
{
	const char *before = *v->compare ? v->compare : NULL;
	struct loaded next;
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL); /* reading may take long: Ctrl-C ends it */
	v->quit = false;
	v->message = NULL;
	if (loaded_open(&next, paths, n, before) < 0) {
		v->message = "that file cannot be compared with: see what was printed before this screen";
		return;
	}
	loaded_close(l);
	*l = next;
	v->screen.group = GROUP_NONE;
	name_target(v, paths, n, before);
}

static int view_on_screen(struct viewer *v, struct loaded *l, char *const *paths, int n)
{
	int r;

	screen_take(v);
	while ((r = view_screen(v, l)) == STATUS_OK && v->compare) {
		load_again(v, l, paths, n);
		free(v->compare);
		v->compare = NULL;
	}
	return r;
}

static int view_files(struct viewer *v, char *const *paths, int n)
{
	bool screen = isatty(STDOUT_FILENO) && !v->profile.list && !v->profile.report.print_sorted;
	struct loaded l;
	int r;

	if (screen && (check_screen(v) < 0 || screen_settle(&v->screen) != 0))
		return STATUS_USAGE;
	if (v->profile.before) /* whatever the settings say */
		v->screen.group = GROUP_NONE;
	if (loaded_open(&l, paths, n, v->profile.before) < 0)
		return STATUS_FAILED;
	if (name_target(v, paths, n, v->profile.before) < 0) {
		complain("out of memory");
		r = STATUS_FAILED;
	} else if (screen) {
		r = view_on_screen(v, &l, paths, n);
	} else {
		text_take(v);
		r = report_profile(&l, &v->profile, paths[0]);
	}
	loaded_close(&l);
	free(v->target);
	free(v->compare);
	return r;
}

int cmd_view(int argc, char **argv)
{
	struct viewer v = {0};
	int first, r;

	profile_options_spell(argc, argv);
	first = options_parse(&command_view, argc, argv, on_option, &v);
	if (first <= 0) {
		r = first ? STATUS_USAGE : STATUS_OK;
	} else if (v.screen.keys) {
		r = screen_print_keys(&v.screen);
	} else if (first == argc) {
		complain("which file? (see 'proton view --help')");
		r = STATUS_USAGE;
	} else {
		r = view_files(&v, argv + first, argc - first);
	}
	profile_options_done(&v.profile);
	return r;
}
