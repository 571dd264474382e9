/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "cmd/metrics_asked.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/named_file.h"
#include "base/util.h"
#include "cmd/commands.h"
#include "cmd/metrics_print.h"
#include "counters/patterns.h"
#include "report/print_line.h"

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
		complain("cannot read '%s': %s", name, open_error(r));
	else {
		while (n < ARRAY_SIZE(names) && (names[n] = metric_set_name((unsigned)n)))
			n++;
		near = options_nearest(name, names, n);
		complain("'%s' is not a set of metrics%s%s%s (see 'proton metrics --help')", name,
			 near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
	}
}

int metrics_take_set(const char *name, struct metric_set **ret)
{
	unsigned line = 0;
	int r;

	if (strchr(name, '/'))
		r = metric_set_load(name, ret, &line);
	else
		r = metric_set_find(name, ret);
	if (r == 0)
		return STATUS_OK;
	complain_of_set(name, r, line);
	return strchr(name, '/') ? STATUS_FAILED : STATUS_USAGE;
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

int metrics_complain(const struct counters_answer *answer)
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
static bool is_of_kind(const char *chip, enum counting_kind counting, const char *word)
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
	enum counting_kind other = q->counting == COUNTING_RANGE ? COUNTING_PM : COUNTING_RANGE;

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

bool metrics_all_answered(const struct counters_question *q, const struct counters_answer *a)
{
	bool ok = true;

	for (size_t i = 0; i < q->n_patterns; i++)
		if (!is_answered(a, q->patterns[i])) {
			complain_of_name(q, a, q->patterns[i]);
			ok = false;
		}
	return ok;
}
