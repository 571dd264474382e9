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
#include "cmd/metrics_print.h"
#include "counters/patterns.h"
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
			(enum counting)parse_word(value, counting_words, N_COUNTINGS);
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

/* ---- sets ---- */

static void complain_of_set(const char *name, int r, unsigned line)
{
	const char *names[16], *near;
	size_t n = 0;

	if (line)
		complain("'%s', line %u: not a line of a set of metrics (see proton-metrics(1))",
			 name, line);
	else if (r == -EINVAL)
		complain("'%s' has no metrics", name);
	else if (strchr(name, '/') || r != -ENOENT)
		complain("cannot read '%s': %s", name, strerror(-r));
	else {
		while (n < ARRAY_SIZE(names) && (names[n] = metric_set_name((unsigned)n)))
			n++;
		near = options_nearest(name, names, n);
		complain("'%s' is not a set of metrics%s%s%s (see 'proton metrics --help')", name,
			 near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
	}
}

/* The exit status. */
static int take_set(const struct arguments *a, struct metric_set **ret)
{
	unsigned line = 0;
	int r;

	if (strchr(a->set, '/'))
		r = metric_set_load(a->set, ret, &line);
	else
		r = metric_set_find(a->set, ret);
	if (r == 0)
		return STATUS_OK;
	complain_of_set(a->set, r, line);
	return strchr(a->set, '/') ? STATUS_FAILED : STATUS_USAGE;
}

/* ---- why there is nothing ---- */

static void complain_of_library(const struct counters_answer *answer)
{
	const char *list = getenv("PROTON_CUPTI_PATH");
	const char *where = "in CUDA_HOME, CONDA_PREFIX, /usr/local/cuda or the library path";

	if (list && *list)
		where = "at PROTON_CUPTI_PATH";
	complain(
		"no libcupti of CUDA 12.6 or later %s%s%s; pip has it as nvidia-cuda-cupti, the CUDA "
		"toolkit as cuda-cupti: name its folder in PROTON_CUPTI_PATH",
		where, answer->broken ? ": " : "", answer->broken ? answer->broken : "");
}

static void complain_of_chip(const struct counters_answer *answer)
{
	_cleanup_(buf_done) struct buf cupti = {0};
	const char *near = options_nearest(answer->text, answer->chips, answer->n_chips);

	put_cupti(&cupti, answer->version);
	complain("'%s' is not a chip that %s knows%s%s%s (see 'proton metrics --chips')",
		 answer->text, buf_str(&cupti), near ? ", did you mean '" : "", near ? near : "",
		 near ? "'?" : "");
}

/* The exit status. */
static int complain_of_answer(const struct counters_answer *answer)
{
	_cleanup_(buf_done) struct buf end = {0};

	switch (answer->why) {
	case COUNTERS_OK:
		complain("out of memory");
		return STATUS_FAILED;
	case COUNTERS_DIED:
		probe_say_end(&answer->probe, &end);
		complain("%s", buf_str(&end));
		return STATUS_FAILED;
	case COUNTERS_NO_LIBRARY:
		complain_of_library(answer);
		return STATUS_FAILED;
	case COUNTERS_NO_GPU:
		complain(
			"which chip? there is no GPU to ask (%s): name one with --chip, as GH100 for "
			"an H100 (see 'proton metrics --chips')",
			answer->text);
		return STATUS_USAGE;
	case COUNTERS_NO_CHIP:
		complain_of_chip(answer);
		return STATUS_USAGE;
	case COUNTERS_FAILED:
		break;
	}
	complain("%s (asked: '%s')", answer->text, answer->path);
	return STATUS_FAILED;
}

/* ---- names that nobody knows ---- */

/* Where it begins what stands behind a base metric; NULL: there is no such metric. */
static const char *behind_name(const struct counters_answer *a, const char *word,
			       enum abi_metric_type *ret_type)
{
	for (size_t i = 0; i < a->n; i++) {
		const struct counter_metric *m = &a->metrics[i];
		size_t len = strlen(m->name);

		if (m->role == COUNTER_PLANNED || strncmp(word, m->name, len) != 0 ||
		    word[len] != '.')
			continue;
		*ret_type = m->type;
		return word + len;
	}
	return NULL;
}

/* What stands behind the name is not compared. */
static void put_near(const struct counters_answer *a, const char *word, struct buf *out)
{
	_cleanup_(freep) const char **names = calloc(a->n + 1, sizeof(*names));
	_cleanup_(buf_done) struct buf name = {0};
	const char *unit = strstr(word, "__");
	size_t n = 0;

	buf_put(&name, word, unit ? (size_t)(unit - word) + strcspn(unit, ".") : strlen(word));
	for (size_t i = 0; names && i < a->n; i++)
		if (a->metrics[i].role != COUNTER_PLANNED)
			names[n++] = a->metrics[i].name;
	names_near(buf_str(&name), names, n, out);
}

static bool is_answered(const struct counters_answer *a, const char *pattern)
{
	for (size_t i = 0; i < a->n; i++)
		if (a->metrics[i].role != COUNTER_OTHER &&
		    (!strcmp(a->metrics[i].name, pattern) ||
		     (a->metrics[i].role == COUNTER_ASKED &&
		      pattern_matches(pattern, a->metrics[i].name))))
			return true;
	return false;
}

/* Would it be answered if the device were counted on in this way? */
static bool is_of_kind(const char *chip, enum counting counting, const char *word)
{
	struct counters_question question = {
		.chip = chip, .counting = counting, .patterns = &word, .n_patterns = 1};
	struct counters_answer answer;
	bool found;

	counters_ask(&question, &answer);
	found = answer.why == COUNTERS_OK && !answer.error && is_answered(&answer, word);
	counters_answer_done(&answer);
	return found;
}

static void complain_of_name(const struct counters_question *q, const struct counters_answer *a,
			     const char *word)
{
	_cleanup_(buf_done) struct buf near = {0};
	enum abi_metric_type type = ABI_METRIC_COUNTER;
	const char *behind = behind_name(a, word, &type);
	enum counting other = q->counting == COUNTING_RANGE ? COUNTING_PM : COUNTING_RANGE;

	if (behind) {
		names_near(behind, a->submetrics[type], a->n_submetrics[type], &near);
		complain(
			"'%.*s' is not counted with '%s' behind it%s%s%s ('proton metrics --chip %s "
			"%.*s' says with what)",
			(int)(behind - word), word, behind, near.len ? ", did you mean " : "",
			buf_str(&near), near.len ? "?" : "", a->chip, (int)(behind - word), word);
		return;
	}
	if (is_of_kind(a->chip, other, word)) {
		complain("%s has no metric '%s' (%s), but with --kind %s", a->chip, word,
			 counting_titles[q->counting], counting_words[other]);
		return;
	}
	put_near(a, word, &near);
	complain("%s has no metric '%s' (%s)%s%s%s", a->chip, word, counting_titles[q->counting],
		 near.len ? ", did you mean " : "", buf_str(&near), near.len ? "?" : "");
}

static bool all_answered(const struct counters_question *q, const struct counters_answer *a)
{
	bool ok = true;

	for (size_t i = 0; i < q->n_patterns; i++)
		if (!is_answered(a, q->patterns[i])) {
			complain_of_name(q, a, q->patterns[i]);
			ok = false;
		}
	return ok;
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
		status = complain_of_answer(&answer);
	else if (!all_answered(&a->question, &answer))
		status = STATUS_USAGE;
	else if (metrics_print_init(&print, &a->question, &answer) < 0)
		status = complain_of_answer(&answer);
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
		status = take_set(&a, &set);
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
