/* SPDX-License-Identifier: MIT */
/* proton diff: two profiles, or two sets of them, path by path: on the screen, or as text. */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <langinfo.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/util.h"
#include "cmd/commands.h"
#include "cmd/diff_limits.h"
#include "cmd/load.h"
#include "cmd/profile_options.h"
#include "cmd/view_screen.h"
#include "core/graph_forms.h"
#include "format/terminal.h"
#include "naming/readable.h"
#include "report/diff.h"
#include "report/pager.h"
#include "report/table.h"

enum {
	OPT_A = 1,
	OPT_B,
	OPT_METRIC,
	OPT_EXCLUSIVE,
	OPT_TREE,
	OPT_FLAT,
	OPT_PER,
	OPT_ALL,
	OPT_THRESHOLD,
	OPT_ROWS,
	OPT_FAIL_OVER,
	OPT_FAIL_UNDER,
	OPT_EACH,
	OPT_NOISE,
	OPT_FORMAT,
	OPT_WIDTH,
	OPT_TEXT
};

#define NOISE 0.01 /* of A: smaller changes happen without a cause */

/* clang-format off */
static const struct option_def options[] = {
	{.name = "a", .arg = "FILE", .help = "runs of the first side; several files may follow",
	 .id = OPT_A},
	{.name = "b", .arg = "FILE", .help = "runs of the second side; several files may follow",
	 .id = OPT_B},
	{.name = "metrics", .letter = 'm', .arg = "LIST",
	 .help = "metrics to compare (time), see proton-metrics(7)",
	 .id = OPT_METRIC},
	{.name = "exclusive", .help = "compare a context's own value, without those called from it",
	 .rare = true, .id = OPT_EXCLUSIVE},
	{.name = "text", .help = "print, as where stdout is no terminal", .id = OPT_TEXT},
	{.name = "tree", .help = "print in the order of the tree, not by size",
	 .rare = true, .id = OPT_TREE},
	{.name = "flat", .help = "compare kernels, copies and sets, not paths", .id = OPT_FLAT},
	{.name = "per", .arg = "REGEX",
	 .help = "divide by how often this was called, as a step", .id = OPT_PER},
	{.name = "all", .help = "print what is the same too", .id = OPT_ALL},
	SCREEN_FILTER_OPTIONS('i', 'e'),
	SCREEN_GROUP_OPTION(true),
	{.name = "depth", .letter = 'd', .arg = "N", .help = PROFILE_LEVELS, .rare = true,
	 .id = PROFILE_OPT_DEPTH},
	{.name = "threshold", .letter = 't', .arg = "X[%]",
	 .help = "leave out changes below X, or X% of the total", .id = OPT_THRESHOLD},
	PROFILE_FOLD_OPTION,
	PROFILE_BY_OPTION,
	{.name = "peaks", .arg = "FILE", .help = "peaks of devices, as in data/peaks.txt",
	 .rare = true, .id = PROFILE_OPT_PEAKS},
	{.name = "rows", .letter = 'n', .arg = "N", .help = "lines at most (all; markdown: 100)",
	 .rare = true, .id = OPT_ROWS},
	{.name = "fail-over", .arg = "PERCENT",
	 .help = "exit with 1 when the total has grown by more", .id = OPT_FAIL_OVER},
	{.name = "fail-under", .arg = "PERCENT",
	 .help = "exit with 1 when the total has shrunk by more, as a throughput should not",
	 .rare = true, .id = OPT_FAIL_UNDER},
	{.name = "noise", .arg = "PERCENT",
	 .help = "changes up to this are none (1)", .rare = true, .id = OPT_NOISE},
	{.name = "each", .help = "with these two: or any one path", .rare = true, .id = OPT_EACH},
	{.name = "format", .letter = 'f', .arg = "text|markdown|json", .help = "how to print it (text)",
	 .id = OPT_FORMAT},
	{.name = "names", .arg = "short|demangled|raw", .help = "how names are shown (short)",
	 .rare = true, .id = OPT_NAMES},
	{.name = "width", .arg = "N", .help = "cut names to this width (the terminal's)",
	 .rare = true, .id = OPT_WIDTH},
	{.name = "ascii", .help = "print ASCII characters only", .rare = true, .id = OPT_ASCII},
	{.name = "no-pager", .help = "print to the terminal itself", .rare = true, .id = PROFILE_OPT_NO_PAGER},
};
/* clang-format on */

const struct command_def command_diff = {
	.name = "diff",
	.usage = "[options] A B | [options] --a FILE… --b FILE…",
	.summary = "compare two profiles, or several runs of each",
	.details = "On a terminal it opens the screen of 'proton view', unless a side has several\n"
		   "runs or an option is about text.\n"
		   "Exit status: 0 within the limit, 1 over it (--fail-over), 2 trouble.\n",
	.operands_first = true,
	.options = options,
	.n_options = ARRAY_SIZE(options),
};

struct arguments {
	struct diff_options diff;
	struct diff_print print;
	struct profile_options profile; /* those that a report has, too */
	const char **files[DIFF_N_SIDES];
	struct session *first[DIFF_N_SIDES]; /* of the files, until it is added */
	struct diff_limits limits;
	struct amount least;     /* smallest change, in the unit in which it was given */
	struct name_pattern per; /* what values are divided by, when print.per is not NULL */
	bool text;               /* --text was given, or an option that only text output supports */
	struct screen_options screen;
};

static int on_limit(const char *value, double *ret_ratio)
{
	double v; /* a percentage with and without the sign */
	int r = parse_percent(value, &v);

	if (r < 0 || v < 0)
		return -EINVAL;
	*ret_ratio = v / 100;
	return 0;
}

static int on_threshold(struct arguments *a, const char *value)
{
	struct amount amount;

	if (amount_parse(value, strlen(value), &amount) < 0 || amount.value < 0 ||
	    (amount.unit == AMOUNT_PERCENT && amount.value > 100))
		return -EINVAL;
	if (amount.unit == AMOUNT_PERCENT)
		a->print.threshold = amount.value / 100;
	else
		a->least = amount;
	return 0;
}

static int on_format(struct arguments *a, const char *value)
{
	static const char *const words[] = {"text", "markdown", "json"};
	int i = parse_word(value, words, ARRAY_SIZE(words));

	if (i >= 0)
		a->print.format = (uint8_t)i;
	return i < 0 ? i : 0;
}

static int on_per(struct arguments *a, const char *value)
{
	int r;

	if (a->print.per) {
		complain("only one --per is taken: '%s' is a second one", value);
		return -EEXIST;
	}
	r = option_expression(&a->per, value);
	if (r < 0)
		return r;
	a->print.per = value;
	a->diff.per = &a->per;
	return 0;
}

static void add_file(struct arguments *a, enum diff_side side, const char *path)
{
	a->files[side][a->print.n_files[side]++] = path;
}

/* Does the screen support this option? The others are for text only. */
static bool is_for_screen(int id)
{
	static const int ids[] = {OPT_A,
				  OPT_B,
				  OPT_METRIC,
				  OPT_EXCLUSIVE,
				  PROFILE_OPT_DEPTH,
				  PROFILE_OPT_PEAKS,
				  OPT_GROUP,
				  OPT_SCREEN_INCLUDE,
				  OPT_SCREEN_EXCLUDE,
				  PROFILE_OPT_FOLD,
				  OPT_NAMES,
				  OPT_ASCII};

	for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
		if (ids[i] == id)
			return true;
	return false;
}

static int on_option(const struct option_def *option, const char *value, void *arg)
{
	struct arguments *a = arg;

	a->text = a->text || !is_for_screen(option->id);
	switch (option->id) {
	case OPT_TEXT:
		return 0;
	case OPT_A:
	case OPT_B:
		add_file(a, option->id == OPT_A ? DIFF_A : DIFF_B, value);
		return 0;
	case OPT_METRIC:
		a->diff.metrics = value;
		return *value ? 0 : -EINVAL;
	case OPT_EXCLUSIVE:
		a->diff.exclusive = true;
		return 0;
	case OPT_TREE:
		a->print.tree = true;
		return 0;
	case OPT_FLAT:
		a->diff.flat = a->print.flat = true;
		return 0;
	case OPT_PER:
		return on_per(a, value);
	case OPT_ALL:
		a->print.all = true;
		return 0;
	case OPT_EACH:
		a->limits.each = true;
		return 0;
	case OPT_FORMAT:
		return on_format(a, value);
	case OPT_FAIL_OVER:
		return on_limit(value, &a->limits.over);
	case OPT_FAIL_UNDER:
		return on_limit(value, &a->limits.under);
	case OPT_NOISE:
		return on_limit(value, &a->diff.noise);
	case OPT_THRESHOLD:
		return on_threshold(a, value);
	case OPT_ROWS:
		return parse_count(value, UINT32_MAX, &a->print.rows);
	case OPT_WIDTH:
		return parse_count(value, UINT32_MAX, &a->print.width);
	default:
		return screen_or_text_option(&a->screen, &a->profile, option, value);
	}
}

/* Turn "--a f1 f2" into "--a f1 --a f2", because an option takes one value. The files of a side end
 * at the next word with a dash. The result has at most twice the words, and a NULL at the end. */
static char **spread_sides(int argc, char **argv, int *ret_argc)
{
	char **words = calloc(2 * (size_t)argc + 1, sizeof(*words)), *side = NULL;
	bool first = false;
	int i, n = 0;

	for (i = 0; words && i < argc; i++) {
		bool is_option = argv[i][0] == '-' && argv[i][1];

		if (is_option)
			side = !strcmp(argv[i], "--a") || !strcmp(argv[i], "--b") ? argv[i] : NULL;
		else if (side && !first)
			words[n++] = side;
		first = is_option && side;
		words[n++] = argv[i];
	}
	*ret_argc = n;
	return words;
}

/* Take the files from the operands. Negative: a line on stderr says what is wrong. */
static int take_operands(struct arguments *a, char **operands, int n)
{
	if (!a->print.n_files[DIFF_A] && !a->print.n_files[DIFF_B] && n == 2) {
		add_file(a, DIFF_A, operands[0]);
		add_file(a, DIFF_B, operands[1]);
		return 0;
	}
	if (n == 0 && a->print.n_files[DIFF_A] && a->print.n_files[DIFF_B])
		return 0;
	if (n && (a->print.n_files[DIFF_A] || a->print.n_files[DIFF_B]))
		complain("'%s' is on neither side (see 'proton diff --help')", operands[0]);
	else
		complain("which two files? (see 'proton diff --help')");
	return -EINVAL;
}

/* "-" may be given once: a second read of standard input would find nothing. */
static int check_stdin(const struct arguments *a)
{
	unsigned n = 0;

	for (unsigned side = 0; side < DIFF_N_SIDES; side++)
		for (unsigned i = 0; i < a->print.n_files[side]; i++)
			n += !strcmp(a->files[side][i], "-");
	if (n <= 1)
		return 0;
	complain("standard input can be read once: '-' is there twice");
	return -EINVAL;
}

static void complain_values(const struct arguments *a, const char *word)
{
	complain("no values of '%s' to compare (see 'proton list %s')", word, a->files[DIFF_A][0]);
}

/* Say why a run cannot be compared. -EINVAL: it was not said. */
static int complain_refused(const struct diff *d, const struct arguments *a,
			    const struct session *s)
{
	const char *word = NULL;

	for (size_t i = 0; i < diff_n_metrics(d) && !word; i++)
		if (diff_metric(d, i)->is_refused)
			word = diff_metric(d, i)->word;
	if (!word)
		return -EINVAL;
	if (!complain_column(s, word, "-m"))
		complain_values(a, word);
	return -ECANCELED;
}

/* That no file has a metric is known after the last one. */
static int check_known(const struct diff *d, const struct session *last)
{
	for (size_t i = 0; i < diff_n_metrics(d); i++)
		if (!diff_metric(d, i)->is_known &&
		    complain_column(last, diff_metric(d, i)->word, "-m"))
			return -ECANCELED;
	return 0;
}

/* The smallest change in the unit of the metric that decides. */
static int settle_least(const struct diff *d, struct arguments *a, const struct session *s)
{
	const char *word = diff_metric(d, 0)->word;
	struct column_spec c;
	double factor;

	if (a->least.value == 0 || column_parse(s, word, strlen(word), &c) < 0)
		return 0; /* another run may have the metric */
	factor = c.derived.factor;
	if (column_in_unit(&c, s, &a->least) < 0) {
		complain_limit(word);
		return -ECANCELED;
	}
	a->print.least = a->least.value * c.derived.factor / factor;
	return 0;
}

static int add_run(struct diff *d, struct arguments *a, enum diff_side side, const char *path,
		   const struct session *s)
{
	int r = diff_add(d, side, s);
	bool is_last = diff_n_runs(d, DIFF_A) + diff_n_runs(d, DIFF_B) ==
		       (size_t)a->print.n_files[DIFF_A] + a->print.n_files[DIFF_B];

	if (r == -EINVAL)
		return complain_refused(d, a, s);
	if (r == -ENODATA) {
		complain("nothing in %s that is called '%s' has a count", path, a->print.per);
		return -ECANCELED;
	}
	if (r == 0 && complain_selectors(&a->profile, s, false))
		r = -ECANCELED;
	if (r == 0)
		r = settle_least(d, a, s);
	return r == 0 && is_last ? check_known(d, s) : r;
}

/* What of a run compares. NULL, and a line on stderr: nothing does. Steals it. */
static struct session *compared_of(const struct arguments *a, const char *path, struct session *s)
{
	struct session *next = NULL;
	int r = s && a->print.graphs_differ ? graph_forms_drop(s, &next) : 0;

	if (r < 0)
		complain("%s: %s", path, strerror(-r));
	if (r == 0 && !next)
		return s;
	session_free(s);
	return next;
}

static struct session *load_run(struct arguments *a, enum diff_side side, unsigned i)
{
	const char *path = a->files[side][i];
	struct session *s = i ? load_file(path, &a->profile.loading) : a->first[side];

	if (!i)
		a->first[side] = NULL;
	return compared_of(a, path, s);
}

/* Kernels within whole graphs are there by name where they were estimated. */
static enum graph_form form_of(const struct arguments *a, const struct session *s)
{
	return a->diff.flat && session_has_values(s, METRIC_ESTIMATED) ? GRAPHS_NONE
								       : graph_form_of(s);
}

/* Are graphs there by their nodes on one side, and whole on the other? By the first run of each, which is kept. */
static int look_at_graphs(struct arguments *a)
{
	enum graph_form form[DIFF_N_SIDES];

	for (unsigned side = 0; side < DIFF_N_SIDES; side++) {
		a->first[side] = load_file(a->files[side][0], &a->profile.loading);
		if (!a->first[side])
			return -ECANCELED;
		form[side] = form_of(a, a->first[side]);
	}
	a->print.graphs_differ = form[DIFF_A] && form[DIFF_B] && form[DIFF_A] != form[DIFF_B];
	return 0;
}

static int load_side(struct diff *d, struct arguments *a, enum diff_side side)
{
	unsigned i;
	int r = 0;

	for (i = 0; i < a->print.n_files[side] && r == 0; i++) {
		struct session *s = load_run(a, side, i);

		if (!s)
			return -ECANCELED;
		r = add_run(d, a, side, a->files[side][i], s);
		/* The runs of a side repeat one another. */
		if (r == 0 && i == 0)
			r = run_facts_take(&a->print.facts[side], s);
		session_free(s);
	}
	return r;
}

/* Does the filter leave anything? */
static int check_left(const struct diff *d, const struct arguments *a)
{
	if (!diff_is_empty(d, DIFF_A) || !diff_is_empty(d, DIFF_B))
		return 0;
	diff_complain_inside(d, a->print.include);
	complain("the filter leaves nothing of %s and %s", a->files[DIFF_A][0],
		 a->files[DIFF_B][0]);
	return -ECANCELED;
}

/* Is there a kernel? */
static int check_rows(const struct diff *d, const struct arguments *a)
{
	if (!a->diff.flat || diff_n(d) > 1)
		return 0;
	complain("there are no kernels, copies or sets in %s and %s", a->files[DIFF_A][0],
		 a->files[DIFF_B][0]);
	return -ECANCELED;
}

/* Is there something to compare of each metric that was asked for? Runs without work are alike in their
 * time, too: that is no error. */
static int check_values(const struct diff *d, const struct arguments *a)
{
	for (size_t i = 0; i < diff_n_metrics(d); i++) {
		const struct diff_metric *m = diff_metric(d, i);

		if (!m->has_values) {
			complain_values(a, m->word);
			if (a->diff.metrics)
				return -ECANCELED;
		}
		if (m->differs)
			complain("files differ on '%s': inclusive in some, exclusive in others, "
				 "compared as it is",
				 m->name);
	}
	return 0;
}

static int load_sides(struct diff *d, struct arguments *a)
{
	int r = look_at_graphs(a);

	if (r == 0)
		r = load_side(d, a, DIFF_A);
	if (r == 0)
		r = load_side(d, a, DIFF_B);
	for (unsigned side = 0; side < DIFF_N_SIDES; side++)
		a->first[side] = session_free(a->first[side]);
	if (r == 0)
		r = diff_compare(d);
	if (r < 0 && r != -ECANCELED)
		complain("cannot compare: %s", strerror(-r));
	if (r == 0)
		r = check_left(d, a);
	if (r == 0)
		r = check_rows(d, a);
	return r < 0 ? r : check_values(d, a);
}

/* JSON output has raw names: on a terminal, or in a pager, control characters are made safe. */
static int print(const struct diff *d, const struct arguments *a, const struct pager *pager)
{
	bool shown = a->print.format == DIFF_JSON && (pager->pid || isatty(STDOUT_FILENO));
	struct out *out = malloc(sizeof(*out));
	struct terminal terminal;
	int r;

	if (!out)
		return -ENOMEM;
	if (shown)
		out_to_terminal(out, &terminal, STDOUT_FILENO);
	else
		out_to_fd(out, STDOUT_FILENO);
	r = diff_print(d, &a->print, out);
	if (r == 0)
		r = out_flush(out);
	if (r == 0 && shown)
		r = terminal_end(&terminal);
	free(out);
	return r;
}

static int diff_files(struct arguments *a)
{
	_cleanup_(diff_freep) struct diff *d = NULL;
	struct pager pager;
	int r;

	d = diff_new(&a->diff);
	if (!d) {
		complain("out of memory");
		return STATUS_TROUBLE;
	}
	if (load_sides(d, a) < 0)
		return STATUS_TROUBLE;
	pager_start(&pager, !a->profile.no_pager);
	r = print(d, a, &pager);
	pager_finish(&pager);
	if (r < 0) {
		complain("cannot print: %s", strerror(-r));
		return STATUS_TROUBLE;
	}
	return diff_limits_judge(&a->limits, d, &a->print);
}

/* ---- the command ---- */

/* Is there a terminal that can do more than print? */
static bool has_terminal(void)
{
	const char *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && term && *term && strcmp(term, "dumb") != 0;
}

static bool wants_color(void)
{
	const char *none = getenv("NO_COLOR");

	return has_terminal() && !(none && *none);
}

static int diff_as_text(struct arguments *a)
{
	for (unsigned side = 0; side < DIFF_N_SIDES; side++)
		a->print.files[side] = a->files[side];
	a->diff.include = a->profile.report.include;
	a->diff.exclude = a->profile.report.exclude;
	a->diff.naming = a->print.naming;
	a->diff.group = a->print.group = a->screen.group;
	a->diff.peaks = profile_peaks(&a->profile);
	a->print.include = a->screen.tui.include;
	a->print.exclude = a->screen.tui.exclude;
	a->print.depth = a->profile.report.depth;
	a->print.names = (uint8_t)a->screen.tui.names;
	a->print.ascii = a->screen.tui.ascii || strcmp(nl_langinfo(CODESET), "UTF-8");
	a->print.color = wants_color();
	return diff_files(a);
}

/* The tree of `view`, with the columns of a comparison. */
static int diff_on_screen(struct arguments *a)
{
	const struct view_screen screen = {
		.command = "diff",
		.loading = &a->profile.loading,
		.code = &a->profile.code,
		.screen = &a->screen,
		.paths = (char *const *)a->files[DIFF_B],
		.n_paths = 1,
		.before = a->files[DIFF_A][0],
	};
	struct tui_options *o = &a->screen.tui;
	_cleanup_(freep) char *own = NULL;
	int r;

	if (screen_settle(&a->screen) != 0)
		return STATUS_TROUBLE;
	if (a->diff.exclusive &&
	    asprintf(&own, "%s (exc)", a->diff.metrics ? a->diff.metrics : "time") < 0) {
		complain("out of memory");
		return STATUS_TROUBLE;
	}
	if (own || a->diff.metrics)
		o->metrics = own ? own : a->diff.metrics;
	o->peaks = profile_peaks(&a->profile);
	o->depth = a->profile.report.depth;
	r = view_screen_run(&screen);
	return r > 0 && r < 128 ? STATUS_TROUBLE : r; /* here 1 means that a limit was exceeded */
}

static bool is_for_people(const struct arguments *a)
{
	return !a->text && a->print.n_files[DIFF_A] == 1 && a->print.n_files[DIFF_B] == 1 &&
	       has_terminal();
}

/* Options that contradict each other. */
static int check_options(const struct arguments *a)
{
	if (a->limits.each && !diff_limits_any(&a->limits))
		complain("--each goes with --fail-over or --fail-under (see 'proton diff --help')");
	else if (a->diff.flat && (a->print.tree || a->screen.group || a->profile.report.depth))
		complain("--flat is of no tree: --tree, -g and -d do not go with it");
	else
		return 0;
	return -EINVAL;
}

static int run(struct arguments *a, int argc, char **argv)
{
	int first = options_parse(&command_diff, argc, argv, on_option, a);

	if (first <= 0)
		return first ? STATUS_TROUBLE : STATUS_WITHIN;
	if (take_operands(a, argv + first, argc - first) < 0 || check_stdin(a) < 0 ||
	    check_options(a) < 0)
		return STATUS_TROUBLE;
	if (is_for_people(a))
		return diff_on_screen(a);
	return diff_as_text(a);
}

int cmd_diff(int argc, char **argv)
{
	struct arguments a = {.diff = {.noise = NOISE},
			      .print.naming = &readable_naming,
			      .limits = {.over = -1, .under = -1}};
	int n_words, status = STATUS_TROUBLE;
	char **words = spread_sides(argc, argv, &n_words);
	unsigned side;

	a.print.width = terminal_width(STDOUT_FILENO);
	for (side = 0; side < DIFF_N_SIDES; side++)
		a.files[side] = calloc((size_t)argc + 1, sizeof(**a.files));
	if (words && a.files[DIFF_A] && a.files[DIFF_B])
		status = run(&a, n_words, words);
	else
		complain("out of memory");
	for (side = 0; side < DIFF_N_SIDES; side++) {
		free(a.files[side]);
		run_facts_done(&a.print.facts[side]);
	}
	profile_options_done(&a.profile);
	if (a.print.per)
		name_pattern_done(&a.per);
	free(words);
	return status;
}
