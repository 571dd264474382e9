/* SPDX-License-Identifier: MIT */
/* proton metrics: which hardware metrics a chip has, and in how many passes they are counted. */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <langinfo.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include "base/util.h"
#include "cmd/commands.h"
#include "cmd/metrics_asked.h"
#include "cmd/metrics_print.h"
#include "report/pager.h"
#include "report/print_line.h"

enum { OPT_CHIP = 1, OPT_CHIPS, OPT_KIND, OPT_SET, OPT_PASSES, OPT_FORMAT, OPT_NO_PAGER };

static const char *set_word(unsigned i)
{
	return metric_set_name(i);
}

static void list_chips(FILE *out)
{
	struct counters_answer answer;

	counters_ask(&(struct counters_question){.chip = NULL}, &answer);
	for (size_t i = 0; i < answer.n_chips; i++)
		print_line(out, "%s", answer.chips[i]);
	counters_answer_done(&answer);
}

/* clang-format off */
static const struct option_def options[] = {
	{.name = "chip", .arg = "CHIP", .help = "of this chip, as GH100 (that of the first GPU here)",
	 .list_values = list_chips, .id = OPT_CHIP},
	{.name = "chips", .help = "list the chips that are known", .id = OPT_CHIPS},
	{.name = "kind", .arg = "range|pm",
	 .help = "counted in ranges of kernels, or of the whole device at intervals (range)",
	 .id = OPT_KIND},
	{.name = "set", .arg = "NAME", .help = "those of a set, or of a FILE with a '/' in its name",
	 .values = set_word, .id = OPT_SET},
	{.name = "passes", .help = "passes of each, without a PATTERN too",
	 .id = OPT_PASSES},
	{.name = "format", .letter = 'f', .arg = "text|json|csv", .help = "how to print it (text)",
	 .id = OPT_FORMAT},
	{.name = "no-pager", .help = "print to the terminal itself", .id = OPT_NO_PAGER},
};
/* clang-format on */

static void print_sets(FILE *out)
{
	const char *name;

	fprintf(out, "Sets:");
	for (unsigned i = 0; (name = metric_set_name(i)); i++)
		fprintf(out, " %s", name);
	fprintf(out, ".\n");
}

const struct command_def command_metrics = {
	.name = "metrics",
	.usage = "[options] [PATTERN]…",
	.summary = "list the hardware metrics of a chip, also without a GPU",
	.details =
		"A PATTERN is a name, a part of names, or like names of files in a shell. Names\n"
		"with what stands behind them, as dram__bytes.sum, are counted together.\n",
	.print_more = print_sets,
	.operands_first = true,
	.options = options,
	.n_options = ARRAY_SIZE(options),
};

enum form { FORM_TEXT, FORM_JSON, FORM_CSV, N_FORMS };
static const char *const form_words[N_FORMS] = {"text", "json", "csv"};

struct arguments {
	struct counters_question question;
	bool has_kind, chips, no_pager;
	enum form form;
	const char *set;
};

static int on_option(const struct option_def *option, const char *value, void *arg)
{
	struct arguments *a = arg;

	switch (option->id) {
	case OPT_CHIP:
		a->question.chip = value;
		break;
	case OPT_CHIPS:
		a->chips = true;
		break;
	case OPT_KIND:
		a->question.counting =
			(enum counting_kind)parse_word(value, counting_words, N_COUNTINGS);
		a->has_kind = true;
		break;
	case OPT_SET:
		a->set = value;
		break;
	case OPT_PASSES:
		a->question.passes = true;
		break;
	case OPT_FORMAT:
		a->form = (enum form)parse_word(value, form_words, N_FORMS);
		break;
	default:
		a->no_pager = true;
	}
	return 0;
}

/* ---- the command ---- */

static int print_answer(const struct arguments *a, struct metrics_print *p)
{
	static metrics_print_fn *const print[2][N_FORMS] = {
		{print_metrics_text, print_metrics_json, print_metrics_csv},
		{print_chips_text, print_chips_json, print_chips_csv}};
	struct pager pager;
	struct out *out;
	int r;

	p->width = terminal_width(STDOUT_FILENO);
	p->ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
	pager_start(&pager, a->form == FORM_TEXT && !a->no_pager);
	out = out_new(STDOUT_FILENO);
	if (out) {
		print[a->chips][a->form](p, out);
		r = out_end(out, 0);
	} else {
		r = -ENOMEM;
	}
	pager_finish(&pager);
	if (r == 0 || r == -EPIPE)
		return STATUS_OK;
	complain("cannot print: %s", strerror(-r));
	return STATUS_FAILED;
}

static int ask_and_print(const struct arguments *a)
{
	struct counters_answer answer;
	struct metrics_print print = {.metrics = NULL};
	int status;

	counters_ask(&a->question, &answer);
	if (answer.error || (answer.why && !(a->chips && answer.n_chips)))
		status = metrics_complain(&answer);
	else if (!metrics_all_answered(&a->question, &answer))
		status = STATUS_USAGE;
	else if (metrics_print_init(&print, &a->question, &answer) < 0)
		status = metrics_complain(&answer);
	else
		status = print_answer(a, &print);
	metrics_print_done(&print);
	counters_answer_done(&answer);
	return status;
}

int cmd_metrics(int argc, char **argv)
{
	struct arguments a = {.form = FORM_TEXT};
	int first = options_parse(&command_metrics, argc, argv, on_option, &a), status;
	_cleanup_(metric_set_freep) struct metric_set *set = NULL;

	if (first <= 0)
		return first ? STATUS_USAGE : STATUS_OK;
	if ((a.set || a.chips) && (first < argc || (a.set && a.chips))) {
		complain("--set and --chips stand alone (see 'proton metrics --help')");
		return STATUS_USAGE;
	}
	if (a.set) {
		status = metrics_take_set(a.set, &set);
		if (status != STATUS_OK)
			return status;
		if (!a.has_kind)
			a.question.counting = set->counting;
	}
	a.question.set = set;
	a.question.patterns = (const char *const *)argv + first;
	a.question.n_patterns = (size_t)(argc - first);
	a.question.passes = a.question.passes || first < argc;
	return ask_and_print(&a);
}
