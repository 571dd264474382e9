/* SPDX-License-Identifier: MIT */
/* proton report: a profile as text. */
#include "config.h" // IWYU pragma: keep
#include "cmd_report.h"
#include <errno.h>
#include <langinfo.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/util.h"
#include "commands.h"
#include "demangle.h"
#include "format/report.h"
#include "load.h"

enum {
	OPT_SECTION = 1, OPT_SORT, OPT_DEPTH, OPT_THRESHOLD, OPT_ROWS, OPT_WIDTH, OPT_NAMES, OPT_GROUP,
	OPT_METRICS, OPT_ASCII, OPT_FLAT, OPT_TREE
};

static const struct option_def options[] = {
	{.name = "section", .arg = "NAME",
	 .help = "print this part: summary, tree, kernels, transfers, devices, processes, losses, "
		 "notes, all; may be given several times",
	 .id = OPT_SECTION},
	{.name = "tree", .help = "print the calling contexts only", .id = OPT_TREE},
	{.name = "flat", .help = "print the kernels only", .id = OPT_FLAT},
	{.name = "metrics", .letter = 'm', .arg = "LIST",
	 .help = "columns: total, %, calls, avg, bytes, gb/s, flops, tf/s or names of metrics",
	 .id = OPT_METRICS},
	{.name = "sort", .letter = 's', .arg = "METRIC", .help = "sort by this metric, or 'name'",
	 .id = OPT_SORT},
	{.name = "depth", .letter = 'd', .arg = "N", .help = "levels of the tree (all)",
	 .id = OPT_DEPTH},
	{.name = "threshold", .letter = 't', .arg = "PERCENT",
	 .help = "leave out what is below this share of the total", .id = OPT_THRESHOLD},
	{.name = "rows", .letter = 'n', .arg = "N", .help = "rows of flat tables (all)", .id = OPT_ROWS},
	{.name = "group", .letter = 'g', .arg = "none|process|device|stream|thread",
	 .help = "put this above the tree", .id = OPT_GROUP},
	{.name = "names", .arg = "short|demangled|raw", .help = "how names are shown (short)",
	 .id = OPT_NAMES},
	{.name = "width", .arg = "N", .help = "cut names to this width (the terminal's)",
	 .id = OPT_WIDTH},
	{.name = "ascii", .help = "draw the tree with ASCII characters", .id = OPT_ASCII},
};

const struct command_def command_report = {
	.name = "report",
	.usage = "[options] FILE",
	.summary = "print a profile or a tape as text",
	.operands_first = true,
	.options = options,
	.n_options = ARRAY_SIZE(options),
};

struct arguments {
	struct report_options report;
	enum group group;
};

static int parse_number(const char *text, double max, double *ret)
{
	char *end;

	*ret = strtod(text, &end);
	return end == text || *end || !(*ret >= 0 && *ret <= max) ? -EINVAL : 0;
}

int parse_word(const char *word, const char *const *words, unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++)
		if (!strcmp(word, words[i]))
			return (int)i;
	return -EINVAL;
}

int parse_group(const char *word, enum group *ret)
{
	unsigned i;

	for (i = 0; i < GROUP_N; i++) {
		if (!strcmp(group_word((enum group)i), word)) {
			*ret = (enum group)i;
			return 0;
		}
	}
	return -EINVAL;
}

int parse_names(const char *word, uint8_t *ret)
{
	static const char *const words[] = {"short", "demangled", "raw"};
	int i = parse_word(word, words, ARRAY_SIZE(words));

	if (i >= 0)
		*ret = (uint8_t)i;
	return i < 0 ? i : 0;
}

static int on_number(struct arguments *a, int id, const char *value)
{
	double v;
	int r = parse_number(value, id == OPT_THRESHOLD ? 100 : 1e9, &v);

	if (r < 0)
		return r;
	switch (id) {
	case OPT_DEPTH:
		a->report.depth = (unsigned)v;
		break;
	case OPT_ROWS:
		a->report.rows = (unsigned)v;
		break;
	case OPT_WIDTH:
		a->report.width = (unsigned)v;
		break;
	default:
		a->report.threshold = v / 100;
		break;
	}
	return 0;
}

static int on_option(const struct option_def *option, const char *value, void *arg)
{
	struct arguments *a = arg;
	unsigned section;

	switch (option->id) {
	case OPT_SECTION:
		section = report_section_parse(value);
		a->report.sections |= section;
		return section ? 0 : -EINVAL;
	case OPT_TREE:
		a->report.sections |= REPORT_TREE;
		return 0;
	case OPT_FLAT:
		a->report.sections |= REPORT_KERNELS;
		return 0;
	case OPT_SORT:
		a->report.sort = value;
		return 0;
	case OPT_METRICS:
		a->report.columns = value;
		return 0;
	case OPT_GROUP:
		return parse_group(value, &a->group);
	case OPT_NAMES:
		return parse_names(value, &a->report.names);
	case OPT_ASCII:
		a->report.ascii = true;
		return 0;
	default:
		return on_number(a, option->id, value);
	}
}

unsigned terminal_width(int fd)
{
	struct winsize size;

	if (!isatty(fd) || ioctl(fd, TIOCGWINSZ, &size) < 0)
		return 0;
	return size.ws_col;
}

int report_print(const struct session *s, const struct report_options *options, enum group group)
{
	struct snapshot_spec spec = {.group = group, .demangle = demangle_name};
	struct report_options o = *options;
	struct snapshot *snap = snapshot_new(s, &spec);
	struct out *out = malloc(sizeof(*out));
	int r = -ENOMEM;

	if (strcmp(nl_langinfo(CODESET), "UTF-8"))
		o.ascii = true;
	/* `| head` closes the pipe early: quiet, as if by SIGPIPE. */
	signal(SIGPIPE, SIG_DFL);
	if (snap && out && snapshot_update(snap, clock_monotonic_ns()) == 0) {
		out_to_fd(out, STDOUT_FILENO);
		r = report_text(snap, &o, out);
		if (r == 0)
			r = out_flush(out);
	}
	snapshot_free(snap);
	free(out);
	return r;
}

int cmd_report(int argc, char **argv)
{
	struct arguments a = {.report = {.width = terminal_width(STDOUT_FILENO)}};
	struct session *s;
	int first = options_parse(&command_report, argc, argv, on_option, &a), r;

	if (first <= 0)
		return first ? STATUS_USAGE : STATUS_OK;
	if (argc - first != 1) {
		complain("%s (see 'proton report --help')",
			 first == argc ? "which file?" : "one file at a time");
		return STATUS_USAGE;
	}
	s = load_file(argv[first]);
	if (!s)
		return STATUS_FAILED;
	r = report_print(s, &a.report, a.group);
	session_free(s);
	if (r == -EINVAL) {
		complain("no such metric or column (see 'proton list %s')", argv[first]);
		return STATUS_USAGE;
	}
	if (r < 0)
		complain("cannot print: %s", strerror(-r));
	return r < 0 ? STATUS_FAILED : STATUS_OK;
}
