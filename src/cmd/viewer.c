/* SPDX-License-Identifier: MIT */
/* proton-viewer: the options and the output of Triton's viewer, for scripts that call it. */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/util.h"
#include "cmd/commands.h"
#include "cmd/load.h"
#include "cmd/report.h"
#include "core/column.h"
#include "report/viewer.h"

static const struct option_def options[] = {
	{.name = "list",
	 .letter = 'l',
	 .help = "list the metrics of the profile",
	 .id = PROFILE_OPT_LIST},
	{.name = "metrics",
	 .letter = 'm',
	 .arg = "LIST",
	 .help = "what to print, separated by commas; proton-metrics(7) has the names",
	 .id = PROFILE_OPT_METRICS},
	{.name = "include",
	 .letter = 'i',
	 .arg = "REGEX",
	 .help = "only paths through frames whose name it matches from the beginning",
	 .id = PROFILE_OPT_INCLUDE},
	{.name = "exclude",
	 .letter = 'e',
	 .arg = "REGEX",
	 .help = "without frames whose name it matches, and what is below",
	 .id = PROFILE_OPT_EXCLUDE},
	{.name = "threshold",
	 .letter = 't',
	 .arg = "X",
	 .help = "only frames whose first metric is at least X, and what is above",
	 .id = PROFILE_OPT_THRESHOLD},
	{.name = "depth",
	 .letter = 'd',
	 .arg = "N",
	 .help = "levels of the tree (100)",
	 .id = PROFILE_OPT_DEPTH},
	{.name = "format",
	 .letter = 'f',
	 .arg = "full|file_function_line|function_line|file_function",
	 .help = "what to keep of file:line@function",
	 .rare = true,
	 .id = PROFILE_OPT_FORMAT},
	{.name = "print-sorted",
	 .help = "add a list, sorted by the first metric",
	 .rare = true,
	 .id = PROFILE_OPT_PRINT_SORTED},
	{.name = "diff-profile",
	 .arg = "FILE",
	 .help = "print what has been added since this profile (also -diff FILE)",
	 .id = PROFILE_OPT_DIFF},
	{.name = "peaks",
	 .arg = "FILE",
	 .help = "peaks of devices, as in data/peaks.txt",
	 .rare = true,
	 .id = PROFILE_OPT_PEAKS},
};

const struct command_def command_viewer = {
	.name = "viewer",
	.usage = "[options] FILE",
	.summary = "print a profile as Triton's proton-viewer does",
	.operands_first = true,
	.options = options,
	.n_options = ARRAY_SIZE(options),
};

struct arguments {
	struct profile_options profile;
	double threshold;
	long depth;
};

/* A threshold and a depth may be negative here, as in Python. */
static int on_option(const struct option_def *option, const char *value, void *arg)
{
	struct arguments *a = arg;
	char *end = NULL;

	if (option->id == PROFILE_OPT_THRESHOLD)
		a->threshold = strtod(value, &end);
	else if (option->id == PROFILE_OPT_DEPTH)
		a->depth = strtol(value, &end, 10);
	else
		return profile_option(&a->profile, option, value);
	return end == value || *end ? -EINVAL : 0;
}

static bool is_filtered(const struct arguments *a)
{
	const struct report_options *o = &a->profile.report;

	return o->include || o->exclude || a->threshold != 0;
}

/* Triton's viewer dies of an exception where no frame is left, not even the root. */
static void complain_of_nothing(const struct arguments *a)
{
	if (is_filtered(a))
		complain("no frame is left that has values");
	else
		complain("no frame has values: nothing was measured ('proton report --tree' prints "
			 "the names)");
}

static int refuse(const struct session *s, const struct arguments *a, const char *word, int error)
{
	int len = (int)column_word_len(s, word);

	if (error == -ENODATA)
		complain_of_nothing(a);
	else if (error == -ENOENT)
		complain("metric %.*s is not found; use the --list flag to list available metrics",
			 len, word);
	else if (error == -ENXIO)
		complain("metric %.*s has no values%s", len, word,
			 is_filtered(a) ? " in what is left" : "");
	else if (error == -EINVAL)
		complain("unsupported unit in '%.*s'", len, word);
	else
		complain("cannot print: %s", strerror(-error));
	return STATUS_FAILED;
}

static int print(struct snapshot *snap, struct snapshot *before, struct arguments *a,
		 const char **ret_word)
{
	const struct report_options *o = &a->profile.report;
	const struct viewer_options viewer = {
		.metrics = o->columns,
		.before = before,
		.include = o->include,
		.exclude = o->exclude,
		.peaks = profile_table_peaks(&a->profile),
		.threshold = a->threshold,
		.depth = a->depth,
		.format = o->format,
		.print_sorted = o->print_sorted,
	};
	struct out *out = out_new(STDOUT_FILENO);
	int r = 0;

	if (!out)
		return -ENOMEM;
	if (a->profile.list)
		r = viewer_list(snapshot_session(snap), out);
	else if (viewer.metrics)
		r = viewer_text(snap, &viewer, out, ret_word);
	return out_end(out, r);
}

static int print_loaded(const struct loaded *l, struct arguments *a)
{
	static const struct snapshot_spec spec;
	struct snapshot *snap = snapshot_new(l->s, &spec);
	struct snapshot *before = l->before ? snapshot_new(l->before, &spec) : NULL;
	const char *word = "";
	int r = -ENOMEM;

	if (snap && (before || !l->before))
		r = print(snap, before, a, &word);
	snapshot_free(snap);
	snapshot_free(before);
	return r < 0 ? refuse(l->s, a, word, r) : STATUS_OK;
}

static int print_files(struct arguments *a, char *const *paths, int n)
{
	struct loaded l;
	int r;

	if (n != 1) {
		complain("must specify one file to read (see 'proton viewer --help')");
		return STATUS_USAGE;
	}
	if (loaded_open(&l, paths, n, a->profile.before, GROUP_NONE, &a->profile.loading) < 0)
		return STATUS_FAILED;
	r = print_loaded(&l, a);
	loaded_close(&l);
	return r;
}

int cmd_viewer(int argc, char **argv)
{
	struct arguments a = {.depth = 100, .profile.names_only = true};
	int first, r;

	profile_options_spell(argc, argv);
	first = options_parse(&command_viewer, argc, argv, on_option, &a);
	if (first <= 0)
		r = first ? STATUS_USAGE : STATUS_OK;
	else
		r = print_files(&a, argv + first, argc - first);
	profile_options_done(&a.profile);
	return r;
}
