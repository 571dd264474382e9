/* SPDX-License-Identifier: MIT */
/* proton advise: what in a profile costs time that it need not. */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <langinfo.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/units.h"
#include "base/util.h"
#include "cmd/commands.h"
#include "cmd/load.h"
#include "cmd/measured.h"
#include "cmd/profile_options.h"
#include "findings/findings.h"
#include "naming/readable.h"
#include "report/findings.h"
#include "report/pager.h"

enum { STATUS_NONE = 0, STATUS_FOUND = 1, STATUS_TROUBLE = 2 };
enum { OPT_FORMAT = 1, OPT_FAIL_ON, OPT_NAMES, OPT_ASCII, OPT_WIDTH, OPT_NO_PAGER };

static const char *const format_words[] = {"text", "markdown", "json"};

/* clang-format off */
static const struct option_def options[] = {
	{.name = "format", .letter = 'f', .arg = "text|markdown|json", .help = "how to print them",
	 .id = OPT_FORMAT},
	{.name = "fail-on", .arg = "LIMIT",
	 .help = "exit with 1 on a finding: any, of 5% of the run, of rules a,b", .id = OPT_FAIL_ON},
	{.name = "names", .arg = "short|demangled|raw", .help = "how names are written",
	 .rare = true, .id = OPT_NAMES},
	{.name = "ascii", .help = "no characters beyond ASCII", .rare = true, .id = OPT_ASCII},
	{.name = "width", .arg = "N", .help = "columns of a line (those of the terminal)", .rare = true,
	 .id = OPT_WIDTH},
	PROFILE_FOLD_OPTION,
	{.name = "no-pager", .help = "print to the terminal itself", .rare = true, .id = OPT_NO_PAGER},
};
/* clang-format on */

static void print_rules(FILE *out)
{
	fprintf(out, "\nRules:");
	for (unsigned i = 0, column = 80; i < FINDING_N_RULES; i++) {
		const char *word = finding_word((enum finding_rule)i);

		column += (unsigned)strlen(word) + 1;
		if (column > 76) {
			fprintf(out, "\n ");
			column = (unsigned)strlen(word) + 2;
		}
		fprintf(out, " %s", word);
	}
	fprintf(out, "\n");
}

const struct command_def command_advise = {
	.name = "advise",
	.usage = "[options] FILE…",
	.summary = "say what costs time that it need not, and what to do",
	.operands_first = true,
	.options = options,
	.n_options = ARRAY_SIZE(options),
	.print_more = print_rules,
};

struct arguments {
	struct report_options report;
	enum findings_format format;
	bool fail_on[FINDING_N_RULES];
	double least; /* a share of the whole; negative: not asked for */
	bool no_pager;
	struct loading loading;
};

/* "10%", "any", or a rule. */
static int add_reason(struct arguments *a, const char *word)
{
	struct amount share = {.unit = AMOUNT_PERCENT};
	int rule = finding_parse(word);

	if (rule >= 0) {
		a->fail_on[rule] = true;
		return 0;
	}
	if (strcmp(word, "any") != 0 && amount_parse(word, strlen(word), &share) < 0)
		return -EINVAL;
	if (share.unit != AMOUNT_PERCENT || share.value < 0)
		return -EINVAL;
	a->least = a->least < 0 ? share.value / 100 : fmin(a->least, share.value / 100);
	return 0;
}

static int on_fail_on(struct arguments *a, const char *value)
{
	_cleanup_(freep) char *copy = strdup(value);
	char *rest = copy, *word;
	int r = copy ? 0 : -ENOMEM;

	while (r == 0 && (word = strsep(&rest, ",")))
		r = add_reason(a, word);
	return r;
}

static int on_option(const struct option_def *option, const char *value, void *arg)
{
	struct arguments *a = arg;
	int i;

	switch (option->id) {
	case OPT_FORMAT:
		i = parse_word(value, format_words, ARRAY_SIZE(format_words));
		a->format = i < 0 ? FINDINGS_TEXT : (enum findings_format)i;
		return i < 0 ? i : 0;
	case OPT_FAIL_ON:
		return on_fail_on(a, value);
	case OPT_NAMES:
		return parse_names(value, &a->report.names);
	case OPT_WIDTH:
		return parse_count(value, UINT32_MAX, &a->report.width);
	case PROFILE_OPT_FOLD:
		a->loading.fold_numbers = true;
		return 0;
	case OPT_NO_PAGER:
		a->no_pager = true;
		return 0;
	default:
		a->report.ascii = true;
		return 0;
	}
}

/* Was it asked to fail on something? */
static bool is_limit(const struct arguments *a)
{
	bool any = a->least >= 0;

	for (size_t i = 0; i < ARRAY_SIZE(a->fail_on); i++)
		any = any || a->fail_on[i];
	return any;
}

static bool fails(const struct arguments *a, const struct findings *f)
{
	for (size_t i = 0; i < f->n; i++) {
		double share = f->v[i].price_ns / f->whole_ns;

		/* Losses have no price: none is small enough. */
		if (a->fail_on[f->v[i].rule] ||
		    (a->least >= 0 && (isnan(share) || share >= a->least)))
			return true;
	}
	return false;
}

static int print(const struct session *s, const struct findings *f, const struct arguments *a)
{
	struct out *out = out_new(STDOUT_FILENO);
	struct pager pager;
	int r;

	if (!out)
		return -ENOMEM;
	pager_start(&pager, !a->no_pager);
	r = out_end(out, report_findings(s, f, a->format, &a->report, out));
	pager_finish(&pager);
	return r;
}

static int advise(const struct session *s, const struct arguments *a, const struct peaks *peaks)
{
	struct findings f = {0};
	int r = findings_make(&f, s, peaks), status = STATUS_NONE;

	if (r == 0)
		r = print(s, &f, a);
	if (r < 0) {
		complain("cannot print: %s", strerror(-r));
		status = STATUS_TROUBLE;
	} else if (fails(a, &f)) {
		status = STATUS_FOUND;
	} else if (f.nothing_measured || (f.host_alone && is_limit(a))) {
		status = STATUS_TROUBLE; /* of nothing it cannot be said that it is well */
	}
	/* The document of programs is whole all the same, and text that tells of losses does not say it. */
	if (status == STATUS_TROUBLE && r == 0 && (a->format == FINDINGS_JSON || f.n > 0))
		complain("%s", f.nothing_measured ? REPORT_NOTHING : REPORT_HOST_ALONE);
	findings_done(&f);
	return status;
}

int cmd_advise(int argc, char **argv)
{
	struct arguments a = {.report = {.naming = &readable_naming}, .least = -1};
	_cleanup_(session_freep) struct session *s = NULL;
	struct peaks *peaks;
	int first, status;

	a.report.width = terminal_width(STDOUT_FILENO);
	first = options_parse(&command_advise, argc, argv, on_option, &a);
	if (first <= 0)
		return first ? STATUS_TROUBLE : STATUS_NONE;
	if (first == argc) {
		complain("which file? (see 'proton advise --help')");
		return STATUS_TROUBLE;
	}
	a.report.ascii = a.report.ascii || strcmp(nl_langinfo(CODESET), "UTF-8");
	s = load_files(argv + first, argc - first, &a.loading);
	if (!s)
		return STATUS_TROUBLE;
	peaks = peaks_new();
	measured_load(peaks);
	status = advise(s, &a, peaks);
	peaks_free(peaks);
	return status;
}
