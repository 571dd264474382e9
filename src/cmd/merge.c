/* SPDX-License-Identifier: MIT */
/* proton merge: profiles of several ranks, processes or phases as one. */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <langinfo.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/named_file.h"
#include "base/util.h"
#include "cmd/commands.h"
#include "cmd/load.h"
#include "cmd/merge_warps.h"
#include "cmd/profile_options.h"
#include "core/column.h"
#include "format/format.h"
#include "format/write_file.h"
#include "live/kept_code.h"
#include "naming/readable.h"
#include "report/pager.h"
#include "report/ranks.h"

#define ROWS_DEFAULT 20

enum {
	OPT_OUT = 1,
	OPT_FORMAT,
	OPT_KEEP_GOING,
	OPT_RANKS,
	OPT_METRIC,
	OPT_ROWS,
	OPT_NAMES,
	OPT_WIDTH,
	OPT_ASCII,
	OPT_NO_PAGER
};

/* clang-format off */
static const struct option_def options[] = {
	{.name = "output", .letter = 'o', .arg = "OUT", .help = "write the merged profile to OUT",
	 .id = OPT_OUT},
	{.name = "format", .letter = 'f', .arg = "NAME",
	 .help = "format of OUT (hatchet, or as its name says)", .id = OPT_FORMAT},
	{.name = "keep-going", .letter = 'k',
	 .help = "name a file that cannot be read, leave it out and exit with 1 at the end",
	 .id = OPT_KEEP_GOING},
	PROFILE_FOLD_OPTION,
	{.name = "ranks", .help = "print how evenly each path is spread over the ranks",
	 .id = OPT_RANKS},
	{.name = "metrics", .letter = 'm', .arg = "METRIC",
	 .help = "with --ranks: of this metric, with or without its unit (the time)", .id = OPT_METRIC},
	{.name = "rows", .letter = 'n', .arg = "N", .help = "with --ranks: lines at most (20)",
	 .id = OPT_ROWS},
	{.name = "names", .arg = "short|demangled|raw", .help = "how names are shown (short)",
	 .id = OPT_NAMES},
	{.name = "width", .arg = "N", .help = "cut names to this width (the terminal's)",
	 .id = OPT_WIDTH},
	{.name = "ascii", .help = "print ASCII characters only", .id = OPT_ASCII},
	{.name = "no-pager", .help = "print to the terminal itself", .rare = true, .id = OPT_NO_PAGER},
};
/* clang-format on */

const struct command_def command_merge = {
	.name = "merge",
	.usage = "[options] -o OUT FILE… | [options] --ranks FILE…",
	.summary = "make one profile of several ranks, processes or phases",
	.operands_first = true,
	.options = options,
	.n_options = ARRAY_SIZE(options),
};

struct arguments {
	const char *out, *format, *metric;
	const struct format *writer;
	struct loading loading;
	struct merged_warps warps;
	bool ranks, ascii, no_pager;
	uint8_t names;
	unsigned rows, width;
};

static int on_option(const struct option_def *option, const char *value, void *arg)
{
	struct arguments *a = arg;

	switch (option->id) {
	case OPT_OUT:
		a->out = value;
		return 0;
	case OPT_FORMAT:
		a->format = value;
		return 0;
	case PROFILE_OPT_FOLD:
		a->loading.fold_numbers = true;
		return 0;
	case OPT_KEEP_GOING:
		a->loading.keep_going = true;
		return 0;
	case OPT_RANKS:
		a->ranks = true;
		return 0;
	case OPT_METRIC:
		a->metric = value;
		return 0;
	case OPT_ROWS:
		return parse_count(value, UINT32_MAX, &a->rows);
	case OPT_NAMES:
		return parse_names(value, &a->names);
	case OPT_WIDTH:
		return parse_count(value, UINT32_MAX, &a->width);
	case OPT_NO_PAGER:
		a->no_pager = true;
		return 0;
	default:
		a->ascii = true;
		return 0;
	}
}

/* ---- the ranks ---- */

static int print_ranks(const struct session *s, struct arguments *a)
{
	const struct report_options o = {.width = a->width,
					 .rows = a->rows,
					 .names = a->names,
					 .naming = &readable_naming,
					 .ascii = a->ascii};
	struct column_spec column;
	struct out *out;
	struct pager pager;
	int r;

	if (!a->metric)
		a->metric = derive_time(s) == METRIC_TIME ? "time" : "cpu_time";
	if (complain_column(s, a->metric, "-m"))
		return STATUS_USAGE;
	if (column_parse(s, a->metric, strlen(a->metric), &column) == 0 && column.derived.is_said &&
	    !column.derived.inclusive) {
		complain("'%s' is without what is below: ranks are compared by all of a path",
			 a->metric);
		return STATUS_USAGE;
	}
	out = out_new(STDOUT_FILENO);
	if (!out) {
		complain("out of memory");
		return STATUS_FAILED;
	}
	pager_start(&pager, !a->no_pager);
	r = out_end(out, report_ranks(s, column_metric(s, a->metric), NULL, &o, out));
	pager_finish(&pager);
	if (r == -EINVAL)
		complain("'%s' is no metric that adds up over ranks", a->metric);
	else if (r < 0)
		complain("cannot print: %s", strerror(-r));
	return r == -EINVAL ? STATUS_USAGE : r < 0 ? STATUS_FAILED : STATUS_OK;
}

/* ---- the command ---- */

static int check_arguments(struct arguments *a, int n_files)
{
	if (!n_files) {
		complain("which files? (see 'proton merge --help')");
		return -EINVAL;
	}
	if (!a->out && !a->ranks) {
		complain("where to? (-o OUT, or --ranks to see the ranks)");
		return -EINVAL;
	}
	if (!a->out)
		return 0;
	a->writer = a->format ? format_by_name(a->format) : format_by_path(a->out);
	if (!a->writer && !a->format)
		a->writer = &format_hatchet;
	if (a->writer && a->writer->write)
		return 0;
	complain("'%s' is not a format that can be written (see 'proton export --help')",
		 a->format ? a->format : a->out);
	return -EINVAL;
}

static int save(const struct session *s, struct arguments *a)
{
	struct write_notes notes = {0};
	const struct write_options options = {.notes = &notes};
	int r = format_save(output_path(a->out), a->writer, s, &options);

	if (r < 0)
		complain("cannot write '%s': %s", a->out, strerror(-r));
	else
		complain_notes(a->out, &notes);
	if (r == 0)
		r = merged_warps_save(&a->warps, output_path(a->out));
	return r < 0 ? STATUS_FAILED : STATUS_OK;
}

/* Beside what can be looked at again. */
static void save_code(const struct arguments *a, char *const files[], int n)
{
	if (!a->writer->read || write_file_descriptor(output_path(a->out)) >= 0)
		return;
	for (int i = 0; i < n; i++) {
		int r = kept_code_add(files[i], a->out);

		if (r < 0)
			complain("cannot keep the code that '%s" KEPT_CODE_SUFFIX
				 "' has beside '%s': %s",
				 files[i], a->out, open_error(r));
	}
}

static int merge(char *const *paths, int n, struct arguments *a)
{
	_cleanup_(session_freep) struct session *s = load_merged(paths, n, &a->loading);
	int status = STATUS_OK;

	if (!s)
		return STATUS_FAILED;
	if (a->out)
		status = save(s, a);
	if (a->out && status == STATUS_OK)
		save_code(a, paths, n);
	if (a->ranks && status == STATUS_OK)
		status = print_ranks(s, a);
	return status == STATUS_OK && a->loading.n_failed ? STATUS_FAILED : status;
}

int cmd_merge(int argc, char **argv)
{
	struct arguments a = {.rows = ROWS_DEFAULT};
	int first, status;

	a.width = terminal_width(STDOUT_FILENO);
	first = options_parse(&command_merge, argc, argv, on_option, &a);
	if (first <= 0)
		return first ? STATUS_USAGE : STATUS_OK;
	if (check_arguments(&a, argc - first) < 0)
		return STATUS_USAGE;
	a.ascii = a.ascii || strcmp(nl_langinfo(CODESET), "UTF-8");
	a.loading.merged = merged_warps_add;
	a.loading.merged_ctx = &a.warps;
	status = merge(argv + first, argc - first, &a);
	merged_warps_done(&a.warps);
	return status;
}
