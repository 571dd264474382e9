/* SPDX-License-Identifier: MIT */
/* proton view: browse a saved profile on the screen; text when stdout is no terminal. */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <unistd.h>
#include "base/util.h"
#include "cmd/commands.h"
#include "cmd/load.h"
#include "cmd/report.h"
#include "cmd/screen_options.h"
#include "cmd/view_screen.h"

static const struct option_def options[] = {PROFILE_OPTIONS(PROFILE_LEVELS_SCREEN),
					    PROFILE_CODE_OPTIONS, SCREEN_OPTIONS('i', 'e')};

const struct command_def command_view = {
	.name = "view",
	.usage = "[options] FILE…",
	.summary = "browse a profile, or several as one, on the screen",
	.operands_first = true,
	.options = options,
	.n_options = ARRAY_SIZE(options),
};

struct viewer {
	struct screen_options screen;
	struct profile_options profile; /* the same for text */
	const char *view;               /* --view, which has more words for text; NULL: none */
};

static int on_option(const struct option_def *option, const char *value, void *arg)
{
	struct viewer *v = arg;

	if (option->id == OPT_PANEL)
		v->view = value;
	if (option->id == OPT_PANEL && !isatty(STDOUT_FILENO))
		return 0;
	return screen_or_text_option(&v->screen, &v->profile, option, value);
}

/* Refuse an option that works for text only, with a line on stderr. */
static int check_screen(const struct viewer *v)
{
	if (v->profile.report.totals == TOTALS_OF_ALL)
		complain("--keep-totals is for text (proton report)");
	else
		return 0;
	return -EINVAL;
}

static int view_as_text(struct viewer *v, char *const *paths, int n)
{
	struct loaded l;
	int r;

	text_take_screen(&v->profile, &v->screen);
	if (v->view && parse_views(&v->profile, v->view) < 0)
		return STATUS_USAGE;
	if (loaded_open(&l, paths, n, v->profile.before, v->profile.group, &v->profile.loading) < 0)
		return STATUS_FAILED;
	v->profile.report.width = terminal_width(STDOUT_FILENO);
	r = report_profile(&l, &v->profile, paths[0]);
	loaded_close(&l);
	return r;
}

static int view_on_screen(struct viewer *v, char *const *paths, int n)
{
	const struct view_screen screen = {
		.command = "view",
		.screen = &v->screen,
		.paths = paths,
		.n_paths = n,
		.before = v->profile.before,
		.loading = &v->profile.loading,
		.code = &v->profile.code,
		.format = v->profile.report.format,
	};

	if (check_screen(v) < 0 || screen_settle(&v->screen) != 0)
		return STATUS_USAGE;
	screen_take_text(&v->screen, &v->profile);
	return view_screen_run(&screen);
}

static int view_files(struct viewer *v, char *const *paths, int n)
{
	if (isatty(STDOUT_FILENO) && !v->profile.list && !v->profile.report.print_sorted)
		return view_on_screen(v, paths, n);
	return view_as_text(v, paths, n);
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
