/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "cmd/profile_options.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/named_file.h"
#include "base/util.h"
#include "cmd/commands.h"
#include "cmd/measured.h"
#include "core/column.h"
#include "core/name_pattern.h"
#include "report/names.h"

int option_expression(struct name_pattern *p, const char *value)
{
	char why[128];
	int r = name_pattern_init_whole(p, value, why, sizeof(why));

	if (r == 0)
		return 0;
	complain("'%s' is no regular expression: %s", value, r == -EINVAL ? why : strerror(-r));
	return -EBADMSG;
}

static int complain_no_selector(const char *value, const struct selector_error *error)
{
	_cleanup_(buf_done) struct buf text = {0};

	selector_explain(value, error, &text);
	complain("%s", buf_str(&text));
	return -EBADMSG;
}

static int make_selector(struct selector **ret, const char *value, bool names_only)
{
	struct selector_error error = {0};
	int r = names_only ? selector_new_names(value, ret, &error)
			   : selector_new(value, ret, &error);

	if (r == -EINVAL)
		return complain_no_selector(value, &error);
	if (r < 0)
		complain("no memory for the expression '%.60s': %s", value, strerror(-r));
	return r;
}

int option_selector(struct selector **ret, const char *value)
{
	return make_selector(ret, value, false);
}

/* report: where it is borrowed. */
static int take_selector(struct profile_options *o, struct selector **which, const char *value,
			 const struct selector **report)
{
	int r;

	if (*which) {
		complain("only one expression is taken: '%s' is a second one", value);
		return -EEXIST;
	}
	r = make_selector(which, value, o->names_only);
	if (r == 0)
		*report = *which;
	return r;
}

const struct peaks *profile_peaks(struct profile_options *o)
{
	if (!o->peaks) {
		o->peaks = peaks_new();
		measured_load(o->peaks);
	}
	return o->peaks;
}

const struct peaks *profile_table_peaks(struct profile_options *o)
{
	if (!o->peaks)
		o->peaks = peaks_new();
	return o->peaks;
}

int peaks_load(struct peaks **peaks, const char *path)
{
	_cleanup_(closep) int fd = input_open(path, INPUT_WAIT_MS);
	_cleanup_(buf_done) struct buf text = {.max = 1 << 20};
	unsigned line = 0;
	int r;

	if (fd >= 0 && !*peaks)
		*peaks = peaks_new();
	if (fd < 0 || !*peaks) {
		complain("cannot open '%s': %s", path, open_error(fd < 0 ? fd : -ENOMEM));
		return -EBADMSG;
	}
	r = buf_read(&text, fd);
	if (r == 0)
		r = peaks_parse(*peaks, buf_str(&text), &line);
	if (r == -EINVAL)
		complain("%s:%u: want type, arch, fp8, fp16, fp32, fp64, memory and, or not, "
			 "core16, core32 and core64, as in data/peaks.txt",
			 path, line);
	else if (r < 0)
		complain("cannot read '%s': %s", path, strerror(-r));
	return r ? -EBADMSG : 0;
}

void profile_options_done(struct profile_options *o)
{
	o->include = selector_free(o->include);
	o->exclude = selector_free(o->exclude);
	o->peaks = peaks_free(o->peaks);
}

void profile_options_spell(int argc, char **argv)
{
	static char diff[] = "--diff-profile";

	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (!strcmp(argv[i], "-diff"))
			argv[i] = diff;
}

/* "tree, kernels …" */
static void put_views(struct buf *out)
{
	const char *word;

	for (unsigned i = 0; (word = report_view_word(i)); i++)
		buf_printf(out, "%s%s", i ? ", " : "", word);
}

static int complain_view(enum view view, const char *word, size_t len)
{
	_cleanup_(buf_done) struct buf all = {0};

	put_views(&all);
	if (view == VIEW_N)
		complain("there is no view '%.*s'; as text there are: %s", (int)MIN(len, 100u),
			 word, buf_str(&all));
	else
		complain("'%s' is on the screen only; as text there are: %s", view_word(view),
			 buf_str(&all));
	return -EBADMSG;
}

/* What stands behind "callers=". That there is none is said when it is needed. */
static int take_function(struct report_options *o, const char *name)
{
	if (o->function) {
		complain("callers of one function only: '%s' is a second one", name);
		return -EBADMSG;
	}
	o->function = *name ? name : NULL;
	return 0;
}

static int parse_view(struct report_options *o, const char *word, size_t len)
{
	enum view view = view_find(word, len);

	if (len == strlen("all") && !strncmp(word, "all", len)) {
		o->views |= report_all_views();
		return 0;
	}
	if (!report_has_text(view))
		return complain_view(view, word, len);
	o->views |= 1u << view;
	return 0;
}

int parse_views(struct profile_options *o, const char *words)
{
	const char *callers = view_word(VIEW_CALLERS);

	for (;; words++) {
		size_t len = strcspn(words, ",");
		size_t name = strcspn(words, "=");
		bool is_function =
			name == strlen(callers) && !strncmp(words, callers, name) && words[name];
		int r = parse_view(&o->report, words, is_function ? name : len);

		if (r == 0 && is_function)
			return take_function(&o->report, words + name + 1);
		words += len;
		if (r < 0 || !*words)
			return r;
	}
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

/* "1%" is a share of the total, "1ms" a time, "4MiB" bytes, "1000" a value of the first column. */
static int option_threshold(struct report_options *o, const char *value)
{
	struct amount amount;

	if (amount_parse(value, strlen(value), &amount) < 0)
		return -EINVAL;
	if (amount.unit != AMOUNT_PERCENT)
		o->least = amount;
	else if (amount.value < 0 || amount.value > 100)
		return -EINVAL;
	else
		o->threshold = amount.value / 100;
	return 0;
}

static int option_format(struct report_options *o, const char *value)
{
	int format = name_format_parse(value);

	if (format >= 0)
		o->format = (uint8_t)format;
	return format < 0 ? -EINVAL : 0;
}

/* The root alone is one level: none would be nothing, and is what is asked for without a limit. */
static int option_depth(struct report_options *o, const char *value)
{
	uint32_t depth;
	int r = parse_count(value, UINT32_MAX, &depth);

	if (r < 0 || depth == 0)
		return -EINVAL;
	o->depth = depth;
	return 0;
}

static int option_source_path(struct code_places *places, const char *value)
{
	if (places->n_folders == CODE_FOLDERS_MAX) {
		complain("--source-path can be given %d times", CODE_FOLDERS_MAX);
		return -E2BIG;
	}
	places->folders[places->n_folders++] = value;
	return *value ? 0 : -EINVAL;
}

int profile_option(struct profile_options *o, const struct option_def *option, const char *value)
{
	switch (option->id) {
	case PROFILE_OPT_METRICS:
		o->report.columns = value;
		return *value ? 0 : -EINVAL;
	case PROFILE_OPT_LIST:
		o->list = true;
		return 0;
	case PROFILE_OPT_INCLUDE:
		return take_selector(o, &o->include, value, &o->report.include);
	case PROFILE_OPT_EXCLUDE:
		return take_selector(o, &o->exclude, value, &o->report.exclude);
	case PROFILE_OPT_KEEP_TOTALS:
		o->report.totals = TOTALS_OF_ALL;
		return 0;
	case PROFILE_OPT_THRESHOLD:
		return option_threshold(&o->report, value);
	case PROFILE_OPT_DEPTH:
		return option_depth(&o->report, value);
	case PROFILE_OPT_FORMAT:
		return option_format(&o->report, value);
	case PROFILE_OPT_PRINT_SORTED:
		o->report.print_sorted = true;
		return 0;
	case PROFILE_OPT_DIFF:
		o->before = value;
		return 0;
	case PROFILE_OPT_NO_PAGER:
		o->no_pager = true;
		return 0;
	case PROFILE_OPT_FOLD:
		o->loading.fold_numbers = true;
		return 0;
	case PROFILE_OPT_BY:
		return context_view_parse(value, &o->loading.contexts) ? 0 : -EINVAL;
	case PROFILE_OPT_GRAPH_SHARES:
		o->loading.graph_shares = value;
		return *value ? 0 : -EINVAL;
	case PROFILE_OPT_GRAPH_ANNOTATIONS:
		o->loading.graph_annotations = value;
		return *value ? 0 : -EINVAL;
	case PROFILE_OPT_KEEP_GOING:
		o->loading.keep_going = true;
		return 0;
	case PROFILE_OPT_PEAKS:
		return peaks_load(&o->peaks, value);
	case PROFILE_OPT_SOURCE_PATH:
		return option_source_path(&o->code, value);
	case PROFILE_OPT_CUBINS:
		o->code.cubins = value;
		return *value ? 0 : -EINVAL;
	default:
		return -ENOENT;
	}
}

void complain_notes(const char *path, const struct write_notes *notes)
{
	if (notes->no_values)
		complain(
			"'%s' is empty: there are no values of '%s' to weigh by (see 'proton export -m')",
			path, notes->no_values);
	if (notes->decimals)
		complain("'%s' counts in units of 1e-%u: its numbers are whole", path,
			 notes->decimals);
	if (notes->n_left_out)
		complain("'%s' leaves out %u values, which are below 0 or infinite", path,
			 notes->n_left_out);
	if (notes->n_cut)
		complain("'%s' holds no numbers so large: %u values are cut to the largest", path,
			 notes->n_cut);
	if (notes->n_deep)
		complain("'%s' has stacks of at most %u contexts: the values of %u that lie deeper "
			 "are at their ends",
			 path, notes->depth, notes->n_deep);
	if (notes->n_short)
		complain("'%s' has paths of at most %u names: those of %u contexts are shortened",
			 path, notes->depth, notes->n_short);
}

bool complain_selector(const struct selector *x, const struct session *s, const char *option,
		       bool may_come)
{
	_cleanup_(buf_done) struct buf text = {0};
	struct selector_error error;
	int r = x ? selector_check(x, s, &error) : 0;

	if (r == 0 || (r == -ENOENT && may_come))
		return false;
	selector_explain(selector_text(x), &error, &text);
	complain("%s %s", option, buf_str(&text));
	return true;
}

bool complain_selectors(const struct profile_options *o, const struct session *s, bool may_come)
{
	return complain_selector(o->include, s, "-i", may_come) ||
	       complain_selector(o->exclude, s, "-e", may_come);
}

void complain_hint(enum filter_hint hint, const char *include)
{
	static const char *const texts[FILTER_N_HINTS] = {
		[FILTER_ANCHORED] = "matches from the beginning of a name on: '.*' in front of it "
				    "matches anywhere",
		[FILTER_NO_BLANKS] = "is an expression of names: a comparison has blanks around "
				     "its operator, as 'time > 1ms'",
	};

	if (hint == FILTER_NO_STARS)
		complain("-i '%s' is an expression of names: as a path it is '%s%s'", include,
			 include, selector_stars(include));
	else if (texts[hint])
		complain("-i %s", texts[hint]);
}

void complain_limit(const char *words)
{
	complain("-t: '%s' has another unit: 1ms is of times, 4MiB of bytes, 20K of other numbers",
		 words ? words : "time");
}

bool complain_least(const struct least *x, const struct session *s)
{
	struct derived limit;

	if (least_parse(x, s, &limit) != -EDOM)
		return false;
	complain_limit(x->word);
	return true;
}

bool complain_column(const struct session *s, const char *words, const char *option)
{
	char near[200];
	size_t len;
	int why;
	const char *word = column_unknown(s, words, &len, &why, near, sizeof(near));

	if (!word)
		return false;
	if (why == -EINVAL)
		complain("%s: no such unit in '%.*s' (see proton-metrics(7))", option,
			 (int)MIN(len, (size_t)100), word);
	else
		complain("%s: no such metric: '%.*s'%s%s (all: 'proton list FILE')", option,
			 (int)MIN(len, (size_t)100), word, *near ? "; near it: " : "", near);
	return true;
}
