/* SPDX-License-Identifier: MIT */
/* proton report: a profile as text. */
#include "config.h" // IWYU pragma: keep
#include "cmd/report.h"
#include <errno.h>
#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/util.h"
#include "cmd/commands.h"
#include "cmd/load.h"
#include "cmd/warps.h"
#include "core/column.h"
#include "naming/readable.h"
#include "report/pager.h"
#include "report/report.h"

enum {
	OPT_VIEW = 1,
	OPT_SORT,
	OPT_ROWS,
	OPT_WIDTH,
	OPT_NAMES,
	OPT_GROUP,
	OPT_ASCII,
	OPT_FLAT,
	OPT_TREE,
	OPT_JSON
};

/* clang-format off */
static const struct option_def options[] = {
	{.name = "view", .arg = "LIST", .help = "print these: bottom-up,flame,callers=NAME …",
	 .values = report_view_word, .id = OPT_VIEW},
	{.name = "section", .arg = "LIST", .help = "the same as --view", .rare = true,
	 .values = report_view_word, .id = OPT_VIEW},
	{.name = "tree", .help = "print the calling contexts only", .id = OPT_TREE},
	{.name = "flat", .help = "print the kernels only", .id = OPT_FLAT},
	PROFILE_FILTER_OPTIONS(false),
	PROFILE_OPTIONS(PROFILE_LEVELS),
	{.name = "sort", .letter = 's', .arg = "METRIC", .help = "sort by this metric, or 'name'",
	 .id = OPT_SORT},
	{.name = "rows", .letter = 'n', .arg = "N", .help = "rows of each table, and of the tree (all)", .id = OPT_ROWS},
	{.name = "group", .letter = 'g', .arg = "none|process|device|stream|thread",
	 .help = "put this above the tree", .id = OPT_GROUP},
	PROFILE_CODE_OPTIONS,
	{.name = "json", .help = "of --view source or warps: print it as JSON", .rare = true, .id = OPT_JSON},
	{.name = "names", .arg = "short|demangled|raw", .help = "how names are shown (short)",
	 .rare = true, .id = OPT_NAMES},
	{.name = "width", .arg = "N", .help = "cut names to this width (the terminal's)",
	 .rare = true, .id = OPT_WIDTH},
	{.name = "ascii", .help = "draw the tree with ASCII characters", .rare = true, .id = OPT_ASCII},
};
/* clang-format on */

const struct command_def command_report = {
	.name = "report",
	.usage = "[options] FILE…",
	.summary = "print a profile, or several as one, as text",
	.operands_first = true,
	.options = options,
	.n_options = ARRAY_SIZE(options),
};

static int on_option(const struct option_def *option, const char *value, void *arg)
{
	struct profile_options *o = arg;
	int r;

	switch (option->id) {
	case OPT_VIEW:
		return parse_views(o, value);
	case OPT_TREE:
		o->report.views |= REPORT_TREE;
		return 0;
	case OPT_FLAT:
		o->flat = true;
		o->report.views |= REPORT_KERNELS;
		return 0;
	case OPT_SORT:
		o->report.sort = value;
		return 0;
	case OPT_GROUP:
		return parse_group(value, &o->group);
	case OPT_NAMES:
		return parse_names(value, &o->report.names);
	case OPT_JSON:
		o->report.json = true;
		return 0;
	case OPT_ASCII:
		o->report.ascii = true;
		return 0;
	case OPT_ROWS:
		r = parse_count(value, UINT32_MAX, &o->report.rows);
		o->report.tree_rows = o->report.rows;
		return r;
	case OPT_WIDTH:
		return parse_count(value, UINT32_MAX, &o->report.width);
	default:
		return profile_option(o, option, value);
	}
}

int report_print(const struct session *s, const struct report_options *options, enum group group)
{
	struct snapshot_spec spec = {.group = group, .naming = &readable_naming};
	struct report_options o = *options;
	struct snapshot *snap = snapshot_new(s, &spec);
	struct out *out = out_new(STDOUT_FILENO);
	int r = -ENOMEM;

	if (strcmp(nl_langinfo(CODESET), "UTF-8"))
		o.ascii = true;
	o.naming = &readable_naming;
	if (snap && out) {
		r = report_text(snap, &o, out);
		if (r == -ENODATA)
			complain_hint(filter_hint(o.include, snap),
				      o.include ? selector_text(o.include) : NULL);
	}
	snapshot_free(snap);
	return out_end(out, r);
}

/* Refuse what does not go together, with a line on stderr. */
static int check_views(const struct profile_options *o)
{
	if (o->report.views & REPORT_CALLERS && !o->report.function)
		complain("callers of which function? (--view callers=NAME)");
	else if (o->before && o->report.views & ~(unsigned)REPORT_TREE)
		complain("--diff-profile compares the tree and has no other view");
	else if (o->flat && o->report.views == REPORT_KERNELS && (o->group || o->report.depth))
		complain("--flat is of no tree: -g and -d do not go with it");
	else if (o->report.json && o->report.views != REPORT_SOURCE &&
		 o->report.views != REPORT_WARPS)
		complain("--json is of --view source or --view warps alone; 'proton export -f "
			 "json' writes what all others show");
	else
		return 0;
	return -EINVAL;
}

/* Of the views only that of source reads code. */
static int print_one(const struct loaded *l, struct profile_options *o,
		     struct report_options *report, const char *path)
{
	struct code *code = NULL;
	int r = -ENOMEM;

	if (report->views & REPORT_SOURCE)
		code = code_new(&o->code, path, l->s->end_ns);
	if (code)
		report->code = code_reader(code);
	if (code || !(report->views & REPORT_SOURCE))
		r = report_print(l->s, report, o->group);
	code_free(code);
	return r;
}

static int print_loaded(const struct loaded *l, struct profile_options *o, const char *path)
{
	static const struct snapshot_spec plain;
	struct report_options report = o->report;
	int r;

	report.peaks = profile_peaks(o);
	if (!l->before)
		return print_one(l, o, &report, path);
	/* The groups are already nodes of the tree that both sides share. */
	report.before = snapshot_new(l->before, &plain);
	r = report.before ? report_print(l->s, &report, GROUP_NONE) : -ENOMEM;
	snapshot_free(report.before);
	return r;
}

/* Print through a pager where stdout is a terminal. */
static int print_paged(const struct loaded *l, struct profile_options *o, const char *path)
{
	struct pager pager;
	int r = 0;

	pager_start(&pager, !o->no_pager);
	if (o->list)
		list_metrics(l->s);
	else
		r = print_loaded(l, o, path);
	pager_finish(&pager);
	return r;
}

/* Of the views only that of warps shows single scopes; they are a second file, or all of the first one. False: said why there
 * are none, where a document of them was asked for; a text says that there are none. */
static bool open_warps(const struct profile_options *o, const char *path, struct warp_trace **ret)
{
	bool is_asked = o->report.views & REPORT_WARPS, failed = false;

	*ret = NULL;
	if (is_asked || (!o->report.views && format_by_path(path) == &format_warps))
		*ret = warps_open(path, &failed);
	if (*ret || failed || !is_asked || !o->report.json)
		return !failed;
	complain("%s: no single scopes of warps in it, nor beside it", path);
	return false;
}

int report_profile(const struct loaded *l, struct profile_options *o, const char *path)
{
	struct warp_trace *warps;
	int r;

	if (!o->list && (check_views(o) < 0 || complain_selectors(o, l->s, false)))
		return STATUS_USAGE;
	if (!open_warps(o, path, &warps))
		return STATUS_FAILED;
	o->report.warps = warps;
	r = print_paged(l, o, path);
	warps_close(warps);
	if (r == -EINVAL) {
		if (!o->report.columns || !complain_column(l->s, o->report.columns, "-m"))
			complain_column(l->s, o->report.sort, "-s");
		return STATUS_USAGE;
	}
	if (r == -EDOM) {
		complain(
			"'%.*s' does not add up: widths of flames and ranks need a metric that does",
			(int)column_word_len(l->s, o->report.columns), o->report.columns);
		return STATUS_USAGE;
	}
	if (r == -ERANGE) {
		complain_limit(o->report.columns);
		return STATUS_USAGE;
	}
	if (r == -ENODATA)
		complain("the filter leaves nothing of %s", path);
	else if (r == -ESRCH)
		complain("no function of %s has '%s' in its name", path, o->report.function);
	else if (r < 0)
		complain("cannot print: %s", strerror(-r));
	return r < 0 || o->loading.n_failed ? STATUS_FAILED : STATUS_OK;
}

static int report_files(struct profile_options *o, char *const *paths, int n)
{
	struct loaded l;
	int r;

	if (!n) {
		complain("which file? (see 'proton report --help')");
		return STATUS_USAGE;
	}
	if (loaded_open(&l, paths, n, o->before, o->group, &o->loading) < 0)
		return STATUS_FAILED;
	r = report_profile(&l, o, paths[0]);
	loaded_close(&l);
	return r;
}

int cmd_report(int argc, char **argv)
{
	struct profile_options o = {.report = {.width = terminal_width(STDOUT_FILENO)}};
	int first, r;

	profile_options_spell(argc, argv);
	first = options_parse(&command_report, argc, argv, on_option, &o);
	if (first <= 0)
		r = first ? STATUS_USAGE : STATUS_OK;
	else
		r = report_files(&o, argv + first, argc - first);
	profile_options_done(&o);
	return r;
}
