/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "cmd/ranges_options.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"
#include "cmd/commands.h"
#include "cmd/metrics_asked.h"
#include "core/metric.h"
#include "core/ranges_wanted.h"
#include "live/recording.h"
#include "report/print_line.h"

/* ---- words ---- */

static int check_range(const char *word, enum ranges_of *ret)
{
	*ret = RANGES_OF_KERNELS;
	for (unsigned i = 0; word && i < RANGES_N_OF; i++)
		if (!strcmp(word, ranges_of_words[i])) {
			*ret = (enum ranges_of)i;
			return STATUS_OK;
		}
	if (!word)
		return STATUS_OK;
	complain("--range: '%s' is no range: there are kernel, scope, nvtx and graph", word);
	return STATUS_USAGE;
}

enum replay { REPLAY_AS_NEEDED, REPLAY_USER, REPLAY_KERNEL };

static int check_replay(const char *word, enum replay *ret)
{
	*ret = REPLAY_AS_NEEDED;
	if (!word)
		return STATUS_OK;
	if (!strcmp(word, "user"))
		*ret = REPLAY_USER;
	else if (!strcmp(word, "kernel"))
		*ret = REPLAY_KERNEL;
	else if (!strcmp(word, "application"))
		complain(
			"--replay application: APP is run once; metrics of several passes are for --replay kernel");
	else
		complain("--replay: '%s' is no replay: there are user and kernel", word);
	return *ret == REPLAY_AS_NEEDED ? STATUS_USAGE : STATUS_OK;
}

static int check_reduce(const char *word, int *ret)
{
	*ret = word ? range_metric_add_of(word) : -1;
	if (!word || *ret >= 0)
		return STATUS_OK;
	complain("--reduce: '%s' is none of SUM, MAX, MEAN and MIN", word);
	return STATUS_USAGE;
}

/* ---- metrics ---- */

/* "a,b,c" in place: their number. */
static size_t split(char *list, const char **names, size_t max)
{
	size_t n = 0;

	for (char *name = list; name && n < max;) {
		char *comma = strchr(name, ',');

		if (comma)
			*comma++ = '\0';
		if (*name)
			names[n++] = name;
		name = comma;
	}
	return n;
}

static bool is_set(const char *word)
{
	return strchr(word, '/') || !strstr(word, "__");
}

static const char *unit_of(const char *cupti)
{
	return !strcmp(cupti, "byte") ? "B" : !strcmp(cupti, "nanosecond") ? "ns" : "";
}

/* "dram__bytes" is asked for with what stands behind it. */
static bool has_submetrics(const struct counters_answer *a)
{
	for (size_t i = 0; i < a->n; i++)
		if (a->metrics[i].role == COUNTER_ASKED) {
			complain("'%s' is counted with something behind it, such as '%s%s'",
				 a->metrics[i].name, a->metrics[i].name,
				 cupti_usual_submetric(a->metrics[i].type));
			return false;
		}
	return true;
}

enum { LEFT_OUT_NAMED = 4 }; /* metrics of a set, one by one */

static bool is_left_out(const struct counter_metric *m)
{
	return m->role == COUNTER_PLANNED && m->state != PLAN_COUNTED;
}

/* Of a set, which is of all chips, one has some: many names that it has not are no news. */
static void say_left_out(const struct counters_answer *a, const struct metric_set *set)
{
	size_t n = 0, n_planned = 0;

	for (size_t i = 0; i < a->n; i++) {
		n += is_left_out(&a->metrics[i]);
		n_planned += a->metrics[i].role == COUNTER_PLANNED;
	}
	if (set && n > (size_t)LEFT_OUT_NAMED) {
		complain(
			"%s cannot count %zu of %zu metrics, which are left out ('proton metrics --set %s' says which)",
			a->chip, n, n_planned, set->name);
		return;
	}
	for (size_t i = 0; i < a->n; i++)
		if (is_left_out(&a->metrics[i]))
			complain("%s cannot count '%s': it is left out", a->chip,
				 a->metrics[i].name);
}

static int take_metrics(const struct counters_answer *a, int add, struct ranges_wanted *w)
{
	for (size_t i = 0; i < a->n; i++) {
		const struct counter_metric *m = &a->metrics[i];
		bool ok;

		if (m->role != COUNTER_PLANNED || m->state != PLAN_COUNTED)
			continue;
		ok = ranges_wanted_add(w, m->name, unit_of(m->unit),
				       add >= 0 ? (uint8_t)add : range_metric_add(m->name));
		if (!ok) {
			complain("--metrics: no more than %d metrics at once", RANGES_METRICS_MAX);
			return STATUS_USAGE;
		}
	}
	return w->n ? STATUS_OK : STATUS_USAGE;
}

static int choose_replay(size_t passes, enum replay replay, bool is_silent, struct ranges_wanted *w)
{
	if (w->of != RANGES_OF_KERNELS && (passes > 1 || replay == REPLAY_KERNEL)) {
		complain(
			"the metrics take %zu pass%s, and what a %s range is around runs once: --range kernel replays "
			"each kernel; or ask for fewer (see 'proton metrics')",
			passes, passes == 1 ? "" : "es", ranges_of_words[w->of]);
		return STATUS_USAGE;
	}
	if (replay == REPLAY_USER && passes > 1) {
		complain(
			"the metrics take %zu passes, and a range runs once: --replay kernel runs each kernel %zu "
			"times; or ask for fewer (see 'proton metrics')",
			passes, passes);
		return STATUS_USAGE;
	}
	w->replay = replay == REPLAY_KERNEL || passes > 1 ? RANGES_KERNELS : RANGES_ONCE;
	if (passes > 1 && !is_silent)
		print_line(stderr,
			   "proton: the metrics take %zu passes: each kernel runs %zu times",
			   passes, passes);
	if (w->replay != RANGES_KERNELS || ranges_wanted_has(w, RANGES_DURATION) ||
	    ranges_wanted_add(w, RANGES_DURATION, "ns", METRIC_SUM))
		return STATUS_OK;
	complain("--metrics: no more than %d metrics beside %s, which replayed kernels need",
		 RANGES_METRICS_MAX - 1, RANGES_DURATION);
	return STATUS_USAGE;
}

/* A set may say for whom it is. */
static int check_counting(const char *name, const struct metric_set *set)
{
	if (set->counting == COUNTING_RANGE)
		return STATUS_OK;
	complain(
		"'%s' is a set for --counters, which count the whole device: --metrics take one that says 'counting %s'",
		name, counting_words[COUNTING_RANGE]);
	return STATUS_USAGE;
}

/* A set, and metrics beside those of it. */
static int take_set(const char *const *names, size_t n, struct metric_set **ret)
{
	int status = metrics_take_set(names[0], ret);

	if (status == STATUS_OK)
		status = check_counting(names[0], *ret);
	for (size_t i = 1; i < n && status == STATUS_OK; i++)
		if (metric_set_add(*ret, names[i]) < 0)
			status = STATUS_OURS;
	return status;
}

/* Is it the machine, and not what was asked? */
static bool is_elsewhere(const struct counters_answer *a)
{
	return a->error || a->why == COUNTERS_DIED || a->why == COUNTERS_NO_LIBRARY ||
	       a->why == COUNTERS_NO_GPU || a->why == COUNTERS_FAILED;
}

static int ask(const struct counters_question *q, enum replay replay, int add, bool is_silent,
	       struct recording_options *rec, struct ranges_wanted *w)
{
	struct counters_answer a;
	int status = STATUS_OK;

	counters_ask(q, &a);
	if (a.why || a.error) {
		status = metrics_complain(&a);
		if (is_elsewhere(&a)) {
			complain("hardware metrics are not measured");
			status = STATUS_OK;
		}
	} else if (!q->set && (!metrics_all_answered(q, &a) || !has_submetrics(&a))) {
		status = STATUS_USAGE;
	} else {
		say_left_out(&a, q->set);
		status = take_metrics(&a, add, w);
		if (status == STATUS_OK)
			status = choose_replay(a.passes, replay, is_silent, w);
		if (status == STATUS_OK)
			rec->ranges = w;
		else
			ranges_wanted_done(w);
	}
	counters_answer_done(&a);
	return status;
}

int ranges_options_settle(const struct ranges_options *o, struct recording_options *rec,
			  struct ranges_wanted *wanted)
{
	_cleanup_(freep) char *list = o->metrics ? strdup(o->metrics) : NULL;
	_cleanup_(metric_set_freep) struct metric_set *set = NULL;
	const char *names[RANGES_METRICS_MAX + 1];
	struct counters_question q = {.counting = COUNTING_RANGE, .patterns = names};
	enum replay replay;
	int status, add = -1;

	if (!o->metrics) {
		if (!o->range && !o->replay && !o->reduce)
			return STATUS_OK;
		complain("--range, --replay and --reduce are of --metrics");
		return STATUS_USAGE;
	}
	if (rec->wanted.counters_ns) {
		complain("--metrics and --counters both program the GPU's counters: one at a time");
		return STATUS_USAGE;
	}
	if (rec->wanted.backends.pc_sampling) {
		complain("--pc-sampling and --metrics are for two runs: samples of code keep the "
			 "hardware counters of the device");
		return STATUS_USAGE;
	}
	status = check_range(o->range, &wanted->of);
	status = status ? status : check_replay(o->replay, &replay);
	status = status ? status : check_reduce(o->reduce, &add);
	if (status || !list)
		return status ? status : STATUS_OURS;
	q.n_patterns = split(list, names, ARRAY_SIZE(names));
	if (q.n_patterns && is_set(names[0])) {
		status = take_set(names, q.n_patterns, &set);
		if (status)
			return status;
		q.set = set;
		q.n_patterns = 0;
	}
	return ask(&q, replay, add, o->is_silent, rec, wanted);
}
