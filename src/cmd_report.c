/* SPDX-License-Identifier: MIT */
/* proton report: a profile as text. */
#include "config.h" // IWYU pragma: keep
#include "cmd_report.h"
#include <errno.h>
#include <langinfo.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/clock.h"
#include "base/util.h"
#include "commands.h"
#include "demangle.h"
#include "format/report.h"
#include "format/report_names.h"
#include "load.h"

enum {
	OPT_SECTION = 1, OPT_SORT, OPT_DEPTH, OPT_THRESHOLD, OPT_ROWS, OPT_WIDTH, OPT_NAMES, OPT_GROUP,
	OPT_METRICS, OPT_ASCII, OPT_FLAT, OPT_TREE, OPT_LIST, OPT_INCLUDE, OPT_EXCLUDE, OPT_KEEP_TOTALS,
	OPT_FORMAT, OPT_PRINT_SORTED, OPT_DIFF, OPT_PEAKS
};

static const struct option_def options[] = {
	{.name = "section", .arg = "NAME",
	 .help = "print this part: summary, tree, kernels, transfers, devices, processes, losses, "
		 "notes, all; may be given several times",
	 .id = OPT_SECTION},
	{.name = "tree", .help = "print the calling contexts only", .id = OPT_TREE},
	{.name = "flat", .help = "print the kernels only", .id = OPT_FLAT},
	{.name = "metrics", .letter = 'm', .arg = "LIST",
	 .help = "columns: total, %, calls, avg, bytes, gb/s, flops, tf/s or names of metrics, "
		 "also derived ones, see proton-metrics(7)",
	 .id = OPT_METRICS},
	{.name = "list", .letter = 'l', .help = "list the metrics of the profile", .id = OPT_LIST},
	{.name = "include", .letter = 'i', .arg = "REGEX",
	 .help = "only paths through frames whose name it matches from the beginning", .id = OPT_INCLUDE},
	{.name = "exclude", .letter = 'e', .arg = "REGEX",
	 .help = "without frames whose name it matches, and what is below", .id = OPT_EXCLUDE},
	{.name = "keep-totals", .help = "count what is filtered out, too", .id = OPT_KEEP_TOTALS},
	{.name = "format", .letter = 'f', .arg = "full|file_function_line|function_line|file_function",
	 .help = "what to keep of file:line@function", .id = OPT_FORMAT},
	{.name = "print-sorted", .help = "after the tree, its nodes by the first column",
	 .id = OPT_PRINT_SORTED},
	{.name = "peaks", .arg = "FILE", .help = "peaks of devices, as in data/peaks.txt",
	 .id = OPT_PEAKS},
	{.name = "diff-profile", .arg = "FILE", .id = OPT_DIFF},
	{.name = "sort", .letter = 's', .arg = "METRIC", .help = "sort by this metric, or 'name'",
	 .id = OPT_SORT},
	{.name = "depth", .letter = 'd', .arg = "N", .help = "levels of the tree (all)",
	 .id = OPT_DEPTH},
	{.name = "threshold", .letter = 't', .arg = "X[%]",
	 .help = "leave out nodes whose first column is below X, or below this share of the total",
	 .id = OPT_THRESHOLD},
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
	struct report_filter filter;
	enum group group;
	bool list;
};

int report_filter_set(struct report_filter *f, const struct name_pattern **which, const char *value)
{
	char why[128];
	int r;

	if (*which) {
		complain("one expression is enough: '%s' is a second", value);
		return -EEXIST;
	}
	r = name_pattern_init(&f->patterns[f->n_patterns], value, why, sizeof(why));
	if (r < 0) {
		complain("'%s' is no regular expression: %s", value, r == -EINVAL ? why : strerror(-r));
		return -EBADMSG;
	}
	*which = &f->patterns[f->n_patterns++];
	return 0;
}

int report_peaks_load(struct report_filter *f, const char *path)
{
	_cleanup_(fclosep) FILE *file = fopen(path, "re");
	struct buf text;
	unsigned line = 0;
	int r = -errno, c;

	if (!file || !report_peaks(f)) {
		complain("cannot open '%s': %s", path, strerror(file ? ENOMEM : -r));
		return -EBADMSG;
	}
	buf_init(&text, 1 << 20);
	while ((c = getc(file)) != EOF)
		buf_putc(&text, (char)c);
	r = text.error ? text.error : ferror(file) ? -EIO : peaks_parse(f->peaks, buf_str(&text), &line);
	buf_done(&text);
	if (r == -EINVAL)
		complain("%s:%u: want type, arch, fp8, fp16, fp32, fp64 and memory, as in data/peaks.txt", path,
			 line);
	else if (r < 0)
		complain("cannot read '%s': %s", path, strerror(r < 0 ? -r : r));
	return r ? -EBADMSG : 0;
}

const struct peaks *report_peaks(struct report_filter *f)
{
	if (!f->peaks)
		f->peaks = peaks_new();
	return f->peaks;
}

void report_filter_done(struct report_filter *f)
{
	while (f->n_patterns)
		name_pattern_done(&f->patterns[--f->n_patterns]);
	f->peaks = peaks_free(f->peaks);
}

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

/* "1%" is a share of the total, "1000" a value of the first column. */
static int parse_threshold(struct report_options *o, const char *value)
{
	char *end;
	double v = strtod(value, &end);

	if (end == value || !isfinite(v))
		return -EINVAL;
	if (!*end) {
		o->least = v;
		return 0;
	}
	o->threshold = v / 100;
	return strcmp(end, "%") || v < 0 || v > 100 ? -EINVAL : 0;
}

static int on_number(struct arguments *a, int id, const char *value)
{
	double v;
	int r = id == OPT_THRESHOLD ? parse_threshold(&a->report, value) : parse_number(value, 1e9, &v);

	if (r < 0 || id == OPT_THRESHOLD)
		return r;
	switch (id) {
	case OPT_DEPTH:
		a->report.depth = (unsigned)v;
		break;
	case OPT_ROWS:
		a->report.rows = (unsigned)v;
		break;
	default:
		a->report.width = (unsigned)v;
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

/* The options of Triton's viewer. */
static int on_viewer_option(const struct option_def *option, const char *value, void *arg)
{
	struct arguments *a = arg;

	switch (option->id) {
	case OPT_LIST:
		a->list = true;
		return 0;
	case OPT_INCLUDE:
		return report_filter_set(&a->filter, &a->filter.include, value);
	case OPT_EXCLUDE:
		return report_filter_set(&a->filter, &a->filter.exclude, value);
	case OPT_KEEP_TOTALS:
		a->report.totals = TOTALS_OF_ALL;
		return 0;
	case OPT_FORMAT:
		a->report.format = (uint8_t)name_format_parse(value);
		return 0;
	case OPT_PRINT_SORTED:
		a->report.print_sorted = true;
		return 0;
	case OPT_PEAKS:
		return report_peaks_load(&a->filter, value);
	case OPT_DIFF:
		complain("a report is of one profile: '%s' is not read", value);
		return -ENOTSUP;
	default:
		return on_option(option, value, arg);
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

static int report_file(const char *path, struct arguments *a)
{
	struct session *s = load_file(path);
	int r = 0;

	if (!s)
		return STATUS_FAILED;
	a->report.include = a->filter.include;
	a->report.exclude = a->filter.exclude;
	a->report.peaks = report_peaks(&a->filter);
	if (a->list)
		list_metrics(s);
	else
		r = report_print(s, &a->report, a->group);
	session_free(s);
	if (r == -EINVAL) {
		complain("no such metric or column (see 'proton list %s')", path);
		return STATUS_USAGE;
	}
	if (r == -ENODATA) {
		complain("the filter leaves nothing of %s", path);
		return STATUS_FAILED;
	}
	if (r < 0)
		complain("cannot print: %s", strerror(-r));
	return r < 0 ? STATUS_FAILED : STATUS_OK;
}

int cmd_report(int argc, char **argv)
{
	struct arguments a = {.report = {.width = terminal_width(STDOUT_FILENO)}};
	int first = options_parse(&command_report, argc, argv, on_viewer_option, &a), r;

	if (first <= 0) {
		r = first ? STATUS_USAGE : STATUS_OK;
	} else if (argc - first != 1) {
		complain("%s (see 'proton report --help')",
			 first == argc ? "which file?" : "one file at a time");
		r = STATUS_USAGE;
	} else {
		r = report_file(argv[first], &a);
	}
	report_filter_done(&a.filter);
	return r;
}
