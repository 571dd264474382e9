/* SPDX-License-Identifier: MIT */
/* proton-viewer: the options and the output of Triton's viewer, for scripts that call it. */
#include "config.h" // IWYU pragma: keep
#include "cmd_viewer.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/util.h"
#include "cmd_report.h"
#include "commands.h"
#include "format/report_viewer.h"
#include "load.h"

enum {
	OPT_LIST = 1, OPT_METRICS, OPT_INCLUDE, OPT_EXCLUDE, OPT_THRESHOLD, OPT_DEPTH, OPT_FORMAT,
	OPT_PRINT_SORTED, OPT_DIFF, OPT_PEAKS
};

static const struct option_def options[] = {
	{.name = "list", .letter = 'l', .help = "list the metrics of the profile", .id = OPT_LIST},
	{.name = "metrics", .letter = 'm', .arg = "LIST",
	 .help = "what to print, separated by commas; proton-metrics(7) has the names",
	 .id = OPT_METRICS},
	{.name = "include", .letter = 'i', .arg = "REGEX",
	 .help = "only paths through frames whose name it matches from the beginning", .id = OPT_INCLUDE},
	{.name = "exclude", .letter = 'e', .arg = "REGEX",
	 .help = "without frames whose name it matches, and what is below", .id = OPT_EXCLUDE},
	{.name = "threshold", .letter = 't', .arg = "X",
	 .help = "only frames whose first metric is at least X, and what is above", .id = OPT_THRESHOLD},
	{.name = "depth", .letter = 'd', .arg = "N", .help = "levels of the tree (100)", .id = OPT_DEPTH},
	{.name = "format", .letter = 'f', .arg = "full|file_function_line|function_line|file_function",
	 .help = "what to keep of file:line@function", .id = OPT_FORMAT},
	{.name = "print-sorted", .help = "add a list, sorted by the first metric", .id = OPT_PRINT_SORTED},
	{.name = "diff-profile", .arg = "FILE", .help = "(see 'proton help')", .id = OPT_DIFF},
	{.name = "peaks", .arg = "FILE", .help = "peaks of devices, as in data/peaks.txt", .id = OPT_PEAKS},
};

static const struct command_def command_viewer = {
	.name = "viewer",
	.usage = "[options] FILE",
	.summary = "print a profile as Triton's proton-viewer does",
	.operands_first = true,
	.options = options,
	.n_options = ARRAY_SIZE(options),
};

struct arguments {
	struct viewer_options viewer;
	struct report_filter filter;
	bool list;
};

static int on_option(const struct option_def *option, const char *value, void *arg)
{
	struct arguments *a = arg;
	char *end = NULL;

	switch (option->id) {
	case OPT_LIST:
		a->list = true;
		return 0;
	case OPT_METRICS:
		a->viewer.metrics = value;
		return 0;
	case OPT_INCLUDE:
		return report_filter_set(&a->filter, &a->filter.include, value);
	case OPT_EXCLUDE:
		return report_filter_set(&a->filter, &a->filter.exclude, value);
	case OPT_THRESHOLD:
		a->viewer.threshold = strtod(value, &end);
		return end == value || *end ? -EINVAL : 0;
	case OPT_DEPTH:
		a->viewer.depth = strtol(value, &end, 10);
		return end == value || *end ? -EINVAL : 0;
	case OPT_FORMAT:
		a->viewer.format = (uint8_t)name_format_parse(value);
		return 0;
	case OPT_PRINT_SORTED:
		a->viewer.print_sorted = true;
		return 0;
	case OPT_PEAKS:
		return report_peaks_load(&a->filter, value);
	default:
		complain("this viewer does not compare profiles: '%s' is not read", value);
		return -ENOTSUP;
	}
}

static int refuse(const char *word, int error)
{
	int len = (int)strcspn(word, ",");

	if (error == -ENODATA)
		complain("the filter leaves no frame");
	else if (error == -ENOENT)
		complain("metric %.*s is not found; use the --list flag to list available metrics", len, word);
	else if (error == -EINVAL)
		complain("unsupported unit in '%.*s'", len, word);
	else
		complain("cannot print: %s", strerror(-error));
	return STATUS_FAILED;
}

static int print(struct session *s, const struct arguments *a)
{
	static const struct snapshot_spec spec;
	struct snapshot *snap = snapshot_new(s, &spec);
	struct out *out = malloc(sizeof(*out));
	const char *word = "";
	int r = -ENOMEM;

	signal(SIGPIPE, SIG_DFL);
	if (snap && out && snapshot_update(snap, clock_monotonic_ns()) == 0) {
		out_to_fd(out, STDOUT_FILENO);
		r = 0;
		if (a->list)
			r = viewer_list(s, out);
		else if (a->viewer.metrics)
			r = viewer_text(snap, &a->viewer, out, &word);
		if (r == 0)
			r = out_flush(out);
	}
	snapshot_free(snap);
	free(out);
	return r < 0 ? refuse(word, r) : STATUS_OK;
}

/* Python's argparse takes "-diff"; to us that would be "-d iff". */
static void spell_out(int argc, char **argv)
{
	static char diff[] = "--diff-profile";

	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "-diff"))
			argv[i] = diff;
}

int cmd_viewer(int argc, char **argv)
{
	struct arguments a = {.viewer = {.depth = 100}};
	struct session *s;
	int first, r = STATUS_USAGE;

	spell_out(argc, argv);
	first = options_parse(&command_viewer, argc, argv, on_option, &a);
	if (first == 0)
		r = STATUS_OK;
	if (first > 0 && argc - first != 1)
		complain("must specify one file to read (see 'proton viewer --help')");
	if (first > 0 && argc - first == 1) {
		a.viewer.include = a.filter.include;
		a.viewer.exclude = a.filter.exclude;
		r = STATUS_FAILED;
		s = load_file(argv[first]);
		a.viewer.peaks = report_peaks(&a.filter);
		if (s)
			r = print(s, &a);
		session_free(s);
	}
	report_filter_done(&a.filter);
	return r;
}
