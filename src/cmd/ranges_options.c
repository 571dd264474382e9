/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "cmd/ranges_options.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/util.h"
#include "cmd/commands.h"
#include "cmd/metrics_asked.h"
#include "cmd/replay_groups.h"
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

/*    id, word */
#define REPLAYS(_)                                                                                 \
	_(USER, "user")                                                                            \
	_(KERNEL, "kernel")                                                                        \
	_(APPLICATION, "application")

enum replay {
	REPLAY_AS_NEEDED,
#define _(id, word) REPLAY_##id,
	REPLAYS(_)
#undef _
};

static int check_replay(const char *word, enum replay *ret)
{
	static const struct {
		const char *word;
		enum replay replay;
	} words[] = {
#define _(id, word) {word, REPLAY_##id},
		REPLAYS(_)
#undef _
	};

	*ret = REPLAY_AS_NEEDED;
	for (size_t i = 0; word && i < ARRAY_SIZE(words); i++)
		if (!strcmp(words[i].word, word))
			*ret = words[i].replay;
	if (!word || *ret != REPLAY_AS_NEEDED)
		return STATUS_OK;
	complain("--replay: '%s' is no replay: there are user, kernel and application", word);
	return STATUS_USAGE;
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

static bool is_file(char *name, char *end)
{
	char was = *end;
	bool is;

	*end = '\0';
	is = access(name, F_OK) == 0;
	*end = was;
	return is;
}

/* Where the first of these ends. The path of a set may have commas: the longest one that is there is meant. */
static char *name_end(char *list)
{
	char *first = list + strcspn(list, ","), *end = list + strlen(list);

	if (!strchr(list, '/'))
		return first;
	while (end > first && !is_file(list, end))
		do
			end--;
		while (*end != ',');
	return end;
}

/* "a,b,c" in place: their number. */
static size_t split(char *list, const char **names, size_t max)
{
	size_t n = 0;

	for (char *name = list; name && n < max;) {
		char *end = name_end(name), *comma = *end ? end : NULL;

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

static bool add_metric(struct ranges_wanted *w, const struct counter_metric *m, int add)
{
	return ranges_wanted_add(w, m->name, unit_of(m->unit),
				 add >= 0 ? (uint8_t)add : range_metric_add(m->name));
}

static int take_metrics(const struct counters_answer *a, int add, struct ranges_wanted *w)
{
	for (size_t i = 0; i < a->n; i++) {
		const struct counter_metric *m = &a->metrics[i];

		if (m->role != COUNTER_PLANNED || m->state != PLAN_COUNTED)
			continue;
		if (!add_metric(w, m, add)) {
			complain("--metrics: no more than %d metrics at once", RANGES_METRICS_MAX);
			return STATUS_USAGE;
		}
	}
	return w->n ? STATUS_OK : STATUS_USAGE;
}

/* ---- replay ---- */

static int refuse_passes(size_t passes, const struct ranges_wanted *w)
{
	if (w->of != RANGES_OF_KERNELS)
		complain(
			"the metrics take %zu pass%s, and what a %s range is around runs once: --replay application "
			"runs APP once a pass, --range kernel replays each kernel; or ask for fewer (see 'proton "
			"metrics')",
			passes, passes == 1 ? "" : "es", ranges_of_words[w->of]);
	else
		complain(
			"the metrics take %zu passes, and a range runs once: --replay kernel runs each kernel %zu "
			"times, --replay application APP; or ask for fewer (see 'proton metrics')",
			passes, passes);
	return STATUS_USAGE;
}

/* What is asked, and how it is to be measured. */
struct wish {
	struct counters_question question;
	enum ranges_of of;
	enum replay replay;
	int add; /* -1: by the metric's name */
	bool is_silent;
};

/* Are ranges ours, whatever is asked for? Kernels are replayed where that is needed. */
static bool are_ranges_ours(const struct wish *wish)
{
	return wish->of != RANGES_OF_KERNELS || wish->replay == REPLAY_USER ||
	       wish->replay == REPLAY_APPLICATION;
}

#define ONLY_KERNELS                                                                               \
	"counted only where CUPTI replays each kernel, to which it adds code: --range kernel --replay kernel"

/* Metrics that would be 0 in ranges of ours; set: NULL: they were named. */
static int check_added(const struct wish *wish, struct metric_set *set)
{
	const struct counters_question *q = &wish->question;
	size_t n =
		set && are_ranges_ours(wish) ? metric_set_leave_out(set, range_metric_is_added) : 0;

	if (n)
		complain("left out: %zu metric%s of '%s' with __sass_ in the name, " ONLY_KERNELS,
			 n, n == 1 ? "" : "s", set->name);
	for (size_t i = 0; !set && are_ranges_ours(wish) && i < q->n_patterns; i++)
		if (range_metric_is_added(q->patterns[i])) {
			complain("'%s' is " ONLY_KERNELS, q->patterns[i]);
			return STATUS_USAGE;
		}
	if (!set || set->n)
		return STATUS_OK;
	complain("no metric of '%s' is left", set->name);
	return STATUS_USAGE;
}

static bool has_added(const struct ranges_wanted *w)
{
	for (size_t i = 0; i < w->n; i++)
		if (range_metric_is_added(w->metrics[i].name))
			return true;
	return false;
}

/* Without running APP again. */
static int choose_replay(size_t passes, enum replay replay, bool is_silent, struct ranges_wanted *w)
{
	if ((w->of != RANGES_OF_KERNELS && (passes > 1 || replay == REPLAY_KERNEL)) ||
	    (replay == REPLAY_USER && passes > 1))
		return refuse_passes(passes, w);
	w->replay = replay == REPLAY_KERNEL || passes > 1 || has_added(w) ? RANGES_KERNELS
									  : RANGES_ONCE;
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

/* What each run measures, of metrics that the chip has. */
static int make_runs(const struct counters_answer *a, const struct wish *wish,
		     struct ranges_runs *runs)
{
	struct ranges_wanted *w = ranges_runs_new(runs);
	int status;

	if (!w)
		return STATUS_OURS;
	w->of = wish->of;
	status = take_metrics(a, wish->add, w);
	if (status)
		return status;
	if (wish->replay != REPLAY_APPLICATION)
		return choose_replay(a->passes, wish->replay, wish->is_silent, w);
	if (a->passes > 1)
		return replay_groups_make(runs, wish->question.set != NULL);
	print_line(stderr, "proton: the metrics take one pass: APP runs once");
	return STATUS_OK;
}

static int ask(const struct wish *wish, struct recording_options *rec, struct ranges_runs *runs)
{
	const struct counters_question *q = &wish->question;
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
		status = make_runs(&a, wish, runs);
		if (status == STATUS_OK)
			rec->ranges = &runs->of[0];
		else
			ranges_runs_done(runs);
	}
	counters_answer_done(&a);
	return status;
}

/* Other options that leave no room for it. */
static int check_alone(const struct recording_options *rec)
{
	if (rec->wanted.counters_ns) {
		complain("--metrics and --counters both program the GPU's counters: one at a time");
		return STATUS_USAGE;
	}
	if (rec->wanted.backends.pc_sampling) {
		complain("--pc-sampling and --metrics are for two runs: samples of code keep the "
			 "hardware counters of the device");
		return STATUS_USAGE;
	}
	return STATUS_OK;
}

int ranges_options_settle(const struct ranges_options *o, struct recording_options *rec,
			  struct ranges_runs *runs)
{
	_cleanup_(freep) char *list = o->metrics ? strdup(o->metrics) : NULL;
	_cleanup_(metric_set_freep) struct metric_set *set = NULL;
	const char *names[RANGES_METRICS_MAX + 1];
	struct wish wish = {.question = {.counting = COUNTING_RANGE, .patterns = names},
			    .add = -1,
			    .is_silent = o->is_silent};
	int status;

	if (!o->metrics) {
		if (!o->range && !o->replay && !o->reduce)
			return STATUS_OK;
		complain("--range, --replay and --reduce are of --metrics");
		return STATUS_USAGE;
	}
	status = check_alone(rec);
	status = status ? status : check_range(o->range, &wish.of);
	status = status ? status : check_replay(o->replay, &wish.replay);
	status = status ? status : check_reduce(o->reduce, &wish.add);
	if (status || !list)
		return status ? status : STATUS_OURS;
	wish.question.n_patterns = split(list, names, ARRAY_SIZE(names));
	if (wish.question.n_patterns && is_set(names[0])) {
		status = take_set(names, wish.question.n_patterns, &set);
		if (status)
			return status;
		wish.question.set = set;
		wish.question.n_patterns = 0;
	}
	status = check_added(&wish, set);
	return status ? status : ask(&wish, rec, runs);
}
