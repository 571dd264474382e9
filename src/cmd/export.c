/* SPDX-License-Identifier: MIT */
/* proton export: a profile in another format. */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "base/util.h"
#include "cmd/commands.h"
#include "cmd/load.h"
#include "cmd/profile_options.h"
#include "cmd/export_warps.h"
#include "core/reduce.h"
#include "core/regroup.h"
#include "format/export.h"
#include "format/format.h"
#include "format/warps.h"
#include "naming/readable.h"

#define MAX_FORMATS 32 /* of which names are compared */

enum {
	OPT_FORMAT = 1,
	OPT_OUT,
	OPT_COMPACT,
	OPT_PLAIN,
	OPT_METRIC,
	OPT_TABLE,
	OPT_NAMES,
	OPT_KEEP_GOING,
	OPT_PEAKS,
	OPT_GROUP,
	OPT_WARPS,
	OPT_INTRA_TIME,
	OPT_TIME_SHIFT
};

/* Name of the i-th format that can be written. */
static const char *format_word(unsigned i)
{
	for (size_t f = 0; formats[f]; f++)
		if (formats[f]->write && i-- == 0)
			return formats[f]->name;
	return NULL;
}

static const char *const table_words[WRITE_N_TABLES + 1] = {
	[WRITE_CONTEXTS] = "contexts",     [WRITE_COPY_PAIRS] = "copy-pairs",
	[WRITE_COPY_SIZES] = "copy-sizes", [WRITE_COPY_STREAMS] = "copy-streams",
	[WRITE_DEVICES] = "devices",
};

static const char *const time_words[] = {"cycles", "ns", NULL};
#define SHIFT_MOST 1000000 /* cycles */

static const char *table_word(unsigned i)
{
	return table_words[MIN(i, WRITE_N_TABLES)];
}

/* clang-format off */
static const struct option_def options[] = {
	{.name = "format", .letter = 'f', .arg = "NAME",
	 .help = "one of those below; else told by the name of OUT", .values = format_word,
	 .id = OPT_FORMAT},
	{.name = "output", .letter = 'o', .arg = "OUT", .help = "write to OUT, not to standard output",
	 .id = OPT_OUT},
	{.name = "metric", .letter = 'm', .arg = "METRIC",
	 .help = "weight of stacks (time); columns of csv, markdown",
	 .id = OPT_METRIC},
	{.name = "table", .arg = "NAME", .help = "csv, markdown: of contexts, copy-pairs, copy-sizes, copy-streams, devices",
	 .values = table_word, .rare = true, .id = OPT_TABLE},
	{.name = "names", .arg = "short|demangled|raw", .help = "how names are written",
	 .rare = true, .id = OPT_NAMES},
	{.name = "keep-going", .letter = 'k',
	 .help = "name a file that cannot be read, leave it out, exit with 1 at the end",
	 .rare = true, .id = OPT_KEEP_GOING},
	{.name = "warps", .help = "chrome, perfetto: single scopes of warps within kernels", .rare = true,
	 .id = OPT_WARPS},
	{.name = "intra-time", .arg = "cycles|ns",
	 .help = "… a cycle is a nanosecond (cycles), or by the clock that was measured", .rare = true,
	 .id = OPT_INTRA_TIME},
	{.name = "time-shift", .arg = "CYCLES", .optional = true,
	 .help = "… without what records cost (7 cycles each)", .rare = true, .id = OPT_TIME_SHIFT},
	PROFILE_FOLD_OPTION,
	PROFILE_BY_OPTION,
	PROFILE_GRAPH_OPTIONS,
	PROFILE_FILTER_OPTIONS(true),
	{.name = "threshold", .letter = 't', .arg = "X[%]",
	 .help = "what has less than X (1ms), or X% of the total, is in what calls it",
	 .rare = true, .id = PROFILE_OPT_THRESHOLD},
	{.name = "depth", .letter = 'd', .arg = "N", .help = "levels of the tree (all)",
	 .rare = true, .id = PROFILE_OPT_DEPTH},
	{.name = "group", .letter = 'g', .arg = "none|process|device|stream|thread",
	 .help = "put this above the tree", .rare = true, .id = OPT_GROUP},
	{.name = "peaks", .arg = "FILE", .help = "peaks of devices, as in data/peaks.txt", .rare = true,
	 .id = OPT_PEAKS},
	{.name = "compact", .help = "no line breaks and no indentation", .rare = true, .id = OPT_COMPACT},
	{.name = "plain", .help = "hatchet: only what Triton's Proton writes", .rare = true, .id = OPT_PLAIN},
};
/* clang-format on */

static void print_formats(FILE *out)
{
	char names[64] = "";

	for (size_t f = 0; formats[f]; f++) {
		size_t n = strlen(names);

		if (!formats[f]->write)
			continue;
		snprintf(names + n, sizeof(names) - n, "%s%s", n ? ", " : "", formats[f]->name);
		if (!formats[f]->help)
			continue;
		fprintf(out, "  %-16s %s\n", names, formats[f]->help);
		names[0] = '\0';
	}
}

const struct command_def command_export = {
	.name = "export",
	.usage = "--format NAME [-o OUT] FILE…",
	.summary = "write a profile, or several as one, in another format",
	.details = "Formats:\n",
	.print_more = print_formats,
	.operands_first = true,
	.options = options,
	.n_options = ARRAY_SIZE(options),
};

struct arguments {
	const char *format, *out;
	struct write_options write;
	struct profile_options profile; /* what of the profile: those that a report has, too */
	bool names;                     /* were chosen */
	bool warps;                     /* single scopes of warps were asked for */
	struct warps_write_options write_warps;
};

static int on_option(const struct option_def *option, const char *value, void *arg)
{
	struct arguments *a = arg;
	uint8_t names;
	int r;

	switch (option->id) {
	case OPT_FORMAT:
		a->format = value;
		break;
	case OPT_OUT:
		a->out = value;
		break;
	case OPT_METRIC:
		a->write.metric = value;
		break;
	case OPT_TABLE:
		r = parse_word(value, table_words, WRITE_N_TABLES);
		a->write.table = (enum write_table)MAX(r, 0);
		return MIN(r, 0);
	case OPT_NAMES:
		r = parse_names(value, &names);
		if (r < 0)
			return r;
		a->write.names = (enum name_mode)names;
		a->names = true;
		break;
	case OPT_PEAKS:
		return peaks_load(&a->profile.peaks, value);
	case OPT_GROUP:
		return parse_group(value, &a->profile.group);
	case OPT_KEEP_GOING:
		a->profile.loading.keep_going = true;
		break;
	case OPT_WARPS:
		a->warps = true;
		break;
	case OPT_INTRA_TIME:
		a->warps = true;
		r = parse_word(value, time_words, 2);
		a->write_warps.in_ns = r == 1;
		return MIN(r, 0);
	case OPT_TIME_SHIFT:
		a->warps = true;
		a->write_warps.cost = WARP_SHIFT_CUDA;
		return value ? parse_count(value, SHIFT_MOST, &a->write_warps.cost) : 0;
	case OPT_COMPACT:
		a->write.compact = true;
		break;
	case OPT_PLAIN:
		a->write.plain = true;
		break;
	default:
		return profile_option(&a->profile, option, value);
	}
	return 0;
}

static void unknown_format(const char *word)
{
	const char *names[MAX_FORMATS], *near;
	size_t n = 0;

	for (size_t i = 0; formats[i] && n < ARRAY_SIZE(names); i++)
		if (formats[i]->write)
			names[n++] = formats[i]->name;
	near = options_nearest(word, names, n);
	if (near)
		complain("'%s' is not a format, did you mean '%s'? (see 'proton export --help')",
			 word, near);
	else
		complain("'%s' is not a format that can be written (see 'proton export --help')",
			 word);
}

/* What is no calling context has columns of its own. */
static bool fits_table(const struct arguments *a, const struct format *f)
{
	if (a->write.table == WRITE_CONTEXTS)
		return true;
	if (!f->has_columns)
		complain("'%s' is no table, --table is for csv and markdown", f->name);
	else if (a->write.metric)
		complain("-m is of contexts: '%s' has columns of its own",
			 table_words[a->write.table]);
	else
		return true;
	return false;
}

static const struct format *choose(const struct arguments *a)
{
	const struct format *f = NULL;

	if (a->format)
		f = format_by_name(a->format);
	else if (a->out)
		f = format_by_path(a->out);
	if (f && f->write && f->names == NAME_RAW && a->names) {
		complain("'%s' keeps names as they are, --names is for the other formats", f->name);
		return NULL;
	}
	if (f && f->write)
		return fits_table(a, f) ? f : NULL;
	if (a->format)
		unknown_format(a->format);
	else
		complain("which format? (--format json)");
	return NULL;
}

/* Is the metric one that the format can show? If not, say why. */
static bool is_known(const struct arguments *a, const struct format *format,
		     const struct session *s, const char *name)
{
	const char *words = a->write.metric;
	uint32_t metric;

	if (!words)
		return true;
	if (format->has_columns && *words)
		return !complain_column(s, words, "-m");
	metric = export_metric(s, &a->write);
	if (metric != METRIC_NONE && export_has_values(s, metric))
		return true;
	if (metric != METRIC_NONE)
		complain("no values of '%s' to weigh by (see 'proton list %s')", words, name);
	else if (!complain_column(s, words, "-m"))
		complain("'%s' is not a metric of '%s' that adds up (see 'proton list %s')", words,
			 name, name);
	return false;
}

static int save(struct arguments *a, const struct format *format, const struct session *s,
		const char *name)
{
	const char *out = output_path(a->out ? a->out : "-");
	struct write_notes notes = {0};
	int r;

	a->write.notes = &notes;
	r = format_save(out, format, s, &a->write);
	if (r == -ENODATA)
		complain("'%s' holds no trace, only sums: there is nothing to show as %s (see "
			 "'proton record --trace')",
			 name, format->name);
	else if (r < 0)
		complain("cannot write '%s': %s", out, strerror(-r));
	else
		complain_notes(a->out ? a->out : "standard output", &notes);
	return r < 0 ? STATUS_FAILED : STATUS_OK;
}

/* ---- what is left of it ---- */

/* Say why a part of a profile cannot be made; an exit status. */
static int complain_part(const struct arguments *a, int r, enum filter_hint hint, const char *name)
{
	const struct selector *include = a->profile.report.include;

	if (r == -ENODATA) {
		complain_hint(hint, include ? selector_text(include) : NULL);
		complain("the filter leaves nothing of %s", name);
	} else if (r == -EDOM) {
		complain_limit(a->write.metric);
		return STATUS_USAGE;
	} else if (r == -ENOENT || r == -EINVAL) {
		return STATUS_USAGE; /* said */
	} else {
		complain("cannot filter: %s", strerror(-r));
	}
	return STATUS_FAILED;
}

/* Replace the profile by what filters and limits leave of it; an exit status. */
static int reduce(const struct arguments *a, const struct format *format, struct session **s,
		  const char *name)
{
	const struct report_options *o = &a->profile.report;
	const struct reduce_options reduce = {
		.filter = {o->include, o->exclude, a->write.peaks},
		.least = {a->write.metric, o->least, o->threshold, a->write.peaks},
		.depth = o->depth,
		.naming = &readable_naming,
	};
	enum filter_hint hint = FILTER_NO_HINT;
	struct session *part = NULL;
	struct filter_left left;
	char text[FILTER_LEFT_MAX];
	int r;

	if (complain_selectors(&a->profile, *s, false))
		return STATUS_USAGE;
	if (!reduce_any(&reduce))
		return STATUS_OK;
	r = session_reduce(*s, &reduce, &part, &left, &hint);
	if (r < 0)
		return complain_part(a, r, hint, name);
	if (filter_any(&reduce.filter)) {
		filter_left_text(&left, text);
		complain("left: %s", text);
	}
	if (a->write.table == WRITE_COPY_STREAMS && part->copy_lanes_of_all)
		complain("copies by stream are of the whole profile");
	if (a->write.table == WRITE_DEVICES)
		complain("how long devices were busy is of the whole profile");
	session_free(*s);
	*s = part;
	return is_known(a, format, part, name) ? STATUS_OK : STATUS_USAGE;
}

/* Put groups above the tree. */
static int regroup(const struct arguments *a, struct session **s)
{
	struct session *grouped;

	if (a->profile.group == GROUP_NONE)
		return STATUS_OK;
	grouped = session_regroup(*s, a->profile.group);
	if (!grouped) {
		complain("out of memory");
		return STATUS_FAILED;
	}
	session_free(*s);
	*s = grouped;
	return STATUS_OK;
}

static void arguments_done(struct arguments *a)
{
	profile_options_done(&a->profile);
}

/* Single scopes of warps, where they were asked for, or are all that the format could show of the file. False: neither is so. */
static bool wrote_warps(const struct arguments *a, const struct format *format,
			const struct session *s, char *const *paths, int n, int *ret)
{
	bool none;

	if (!a->warps && (!export_takes_warps(format) || !s || s->n_intervals || n != 1))
		return false;
	*ret = export_warps(paths, n, format, &a->write_warps, a->out, &none);
	if (none && a->warps)
		complain("%s: no single scopes of warps in it, nor beside it", paths[0]);
	return !none || a->warps;
}

int cmd_export(int argc, char **argv)
{
	_cleanup_(arguments_done) struct arguments a = {.write.naming = &readable_naming};
	_cleanup_(session_freep) struct session *s = NULL;
	const struct format *format;
	int first = options_parse(&command_export, argc, argv, on_option, &a), r;

	if (first <= 0)
		return first ? STATUS_USAGE : STATUS_OK;
	if (first == argc) {
		complain("which file? (see 'proton export --help')");
		return STATUS_USAGE;
	}
	format = choose(&a);
	if (!format)
		return STATUS_USAGE;
	if (!a.names)
		a.write.names = format->names;
	a.write_warps.names = a.write.names;
	a.write_warps.naming = a.write.naming;
	if (a.warps && wrote_warps(&a, format, NULL, argv + first, argc - first, &r))
		return r;
	s = load_files(argv + first, argc - first, &a.profile.loading);
	if (!s)
		return STATUS_FAILED;
	if (wrote_warps(&a, format, s, argv + first, argc - first, &r))
		return r;
	a.write.peaks = profile_peaks(&a.profile);
	if (!is_known(&a, format, s, argv[first]))
		return STATUS_USAGE;
	r = regroup(&a, &s);
	if (r == STATUS_OK)
		r = reduce(&a, format, &s, argv[first]);
	if (r == STATUS_OK)
		r = save(&a, format, s, argv[first]);
	return r == STATUS_OK && a.profile.loading.n_failed ? STATUS_FAILED : r;
}
