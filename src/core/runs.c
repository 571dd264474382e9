/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/runs.h"
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include "base/shell.h"
#include "base/util.h"

/* ---- words ---- */

/* What no shell takes for more than letters. */
static bool is_plain(const char *word)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_-+=./,:@%^";

	return *word && !word[strspn(word, letters)];
}

static void put_word(struct buf *out, const char *word)
{
	if (is_plain(word))
		buf_puts(out, word);
	else
		shell_put_quoted(out, word);
}

/* NAME='the value' */
static void put_variable(struct buf *out, const char *word)
{
	const char *value = strchr(word, '=');

	if (!value) {
		put_word(out, word);
		return;
	}
	buf_put(out, word, (size_t)(value + 1 - word));
	if (value[1])
		put_word(out, value + 1);
}

/* Words, each with a NUL behind it, with spaces between. */
static void put_words(const struct session *s, uint32_t words, struct buf *out,
		      void (*put)(struct buf *out, const char *word))
{
	const char *start = strtab_str(s->strings, words), *word = start;
	const char *end = start + strtab_len(s->strings, words);

	for (; word < end; word += strlen(word) + 1) {
		if (word > start)
			buf_putc(out, ' ');
		put(out, word);
	}
}

void run_put_command(const struct session *s, const struct session_run *run, struct buf *out)
{
	put_words(s, run->strings[RUN_COMMAND], out, put_word);
}

void run_put_environment(const struct session *s, const struct session_run *run, struct buf *out)
{
	put_words(s, run->strings[RUN_ENVIRONMENT], out, put_variable);
}

void run_set_end(struct session_run *run, int wait_status)
{
	run->end = PROCESS_ENDED;
	run->signal = run->exit_status = 0;
	if (WIFSIGNALED(wait_status))
		run->signal = (uint32_t)WTERMSIG(wait_status);
	else if (WIFEXITED(wait_status))
		run->exit_status = (uint32_t)WEXITSTATUS(wait_status);
	else
		run->end = PROCESS_VANISHED;
}

static void put_signal(struct buf *out, uint32_t number)
{
	const char *name = number < INT_MAX ? sigabbrev_np((int)number) : NULL;

	if (name)
		buf_printf(out, "killed by SIG%s", name);
	else
		buf_printf(out, "killed by signal %u", number);
}

void run_put_end(const struct session_run *run, struct buf *out)
{
	if (run->end == PROCESS_RUNS)
		buf_puts(out, "saved before its end");
	else if (run->end == PROCESS_ENDED && run->signal)
		put_signal(out, run->signal);
	else if (run->end == PROCESS_ENDED)
		buf_printf(out, "exit %u", run->exit_status);
}

/* ---- time ---- */

uint64_t runs_wall_ns(const struct session *s)
{
	return s->n_runs == 1 ? s->runs[0].wall_ns : 0;
}

/* Another one had CUPTI: of processes side by side that is what all of them lack. */
static uint64_t aside_ns(const struct session *s)
{
	uint64_t least_ms = UINT64_MAX;

	for (size_t i = 0; i < s->n_processes; i++)
		if (session_process_collected(&s->processes[i]))
			least_ms = MIN(least_ms, s->processes[i].losses[LOSS_ASIDE]);
	return least_ms == UINT64_MAX ? 0 : least_ms * NSEC_PER_MSEC;
}

uint64_t runs_unseen_ns(const struct session *s)
{
	return s->n_runs == 1 ? s->runs[0].paused_ns + aside_ns(s) : 0;
}

uint64_t runs_counted_ns(const struct session *s)
{
	uint64_t wall = runs_wall_ns(s);

	return wall ? wall - MIN(runs_unseen_ns(s), wall) : 0;
}

double runs_busy_share(const struct session *s, uint32_t device)
{
	double wall = (double)runs_counted_ns(s), busy = session_busy_ns(s, device);

	return wall > 0 && !isnan(busy) ? fmin(busy / wall, 1) : NAN;
}

/* From the first work to the last, over all processes. false: of one it is not known. */
static bool worked(const struct session *s, uint32_t device, uint64_t *ret_first,
		   uint64_t *ret_last)
{
	uint64_t first = UINT64_MAX, last = 0;

	for (size_t i = 0; i < s->n_uses; i++) {
		const struct session_use *use = &s->uses[i];

		if (use->device != device || !use->busy_ns)
			continue;
		if (!use->first_ns)
			return false;
		first = MIN(first, use->first_ns);
		last = MAX(last, use->last_ns);
	}
	*ret_first = first;
	*ret_last = last;
	return last > 0;
}

bool runs_parts(const struct session *s, uint32_t device, struct run_parts *ret)
{
	uint64_t wall = runs_wall_ns(s), start, first, last;
	double busy = session_busy_ns(s, device);

	if (!wall || !s->runs[0].start_ns || !worked(s, device, &first, &last))
		return false;
	start = s->runs[0].start_ns;
	/* A clock that was set meanwhile, or a fake one. */
	if (first < start || last < first || last - start > wall || busy > (double)(last - first))
		return false;
	*ret = (struct run_parts){.before_ns = (double)(first - start),
				  .busy_ns = busy,
				  .gaps_ns = (double)(last - first) - busy,
				  .after_ns = (double)(wall - (last - start))};
	return true;
}

/* ---- what profiles are compared by ---- */

static void put_versions(const struct session *s, struct buf *out)
{
	for (size_t i = 0; i < s->n_runs; i++) {
		uint32_t version = s->runs[i].strings[RUN_VERSION];

		if (i == 0 || version != s->runs[i - 1].strings[RUN_VERSION])
			buf_printf(out, "%s%s", i ? "; " : "", strtab_str(s->strings, version));
	}
}

/* How many devices of the name of one there are, if it is the first of them; else 0. */
static size_t count_alike(const struct session *s, size_t device)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_devices; i++) {
		if (s->devices[i].name != s->devices[device].name)
			continue;
		if (i < device)
			return 0;
		n++;
	}
	return n;
}

/* "2 NVIDIA H200, 1 NVIDIA A100" */
static void put_devices(const struct session *s, struct buf *out)
{
	const char *separator = "";

	for (size_t i = 0; i < s->n_devices; i++) {
		const char *name = strtab_str(s->strings, s->devices[i].name);
		size_t n = *name ? count_alike(s, i) : 0;

		if (!n)
			continue;
		buf_printf(out, "%s%zu %s", separator, n, name);
		separator = ", ";
	}
}

static bool end_alike(const struct session_run *a, const struct session_run *b)
{
	return a->end == b->end && a->signal == b->signal && a->exit_status == b->exit_status;
}

static void put_ends(const struct session *s, struct buf *out)
{
	for (size_t i = 0; i < s->n_runs; i++) {
		if (i > 0 && end_alike(&s->runs[i], &s->runs[i - 1]))
			continue;
		buf_puts(out, i ? "; " : "");
		run_put_end(&s->runs[i], out);
	}
}

static const struct {
	const char *key, *words;
	/* Either of each run, or of the whole profile. */
	void (*put_run)(const struct session *s, const struct session_run *run, struct buf *out);
	void (*put)(const struct session *s, struct buf *out);
} facts[RUN_FACT_N] = {
	[RUN_FACT_COMMAND] = {"command", "another command line", .put_run = run_put_command},
	[RUN_FACT_DEVICES] = {"devices", "other devices", .put = put_devices},
	[RUN_FACT_ENVIRONMENT] = {"environment", "another environment",
				  .put_run = run_put_environment},
	[RUN_FACT_VERSION] = {"version", "another version of proton", .put = put_versions},
	[RUN_FACT_END] = {"end", "another end", .put = put_ends},
};

const char *run_fact_key(enum run_fact fact)
{
	return facts[fact].key;
}

const char *run_fact_words(enum run_fact fact)
{
	return facts[fact].words;
}

void run_put_fact(const struct session *s, enum run_fact fact, struct buf *out)
{
	if (facts[fact].put) {
		facts[fact].put(s, out);
		return;
	}
	for (size_t i = 0; i < s->n_runs; i++) {
		buf_puts(out, i ? "; " : "");
		facts[fact].put_run(s, &s->runs[i], out);
	}
}

/* ---- two sides ---- */

int run_facts_take(struct run_facts *facts, const struct session *s)
{
	for (unsigned i = 0; i < RUN_FACT_N; i++) {
		_cleanup_(buf_done) struct buf text = {0};

		run_put_fact(s, (enum run_fact)i, &text);
		free(facts->text[i]);
		facts->text[i] = strdup(buf_str(&text));
		if (!facts->text[i])
			return -ENOMEM;
	}
	return 0;
}

void run_facts_done(struct run_facts *facts)
{
	for (unsigned i = 0; i < RUN_FACT_N; i++)
		free(facts->text[i]);
	*facts = (struct run_facts){0};
}

bool run_facts_differ(const struct run_facts *a, const struct run_facts *b, enum run_fact fact)
{
	const char *x = a->text[fact], *y = b->text[fact];

	return x && y && *x && *y && strcmp(x, y) != 0;
}

void run_facts_put_differences(const struct session *a, const struct session *b, struct buf *out)
{
	struct run_facts facts[2] = {0};
	bool known = run_facts_take(&facts[0], a) == 0 && run_facts_take(&facts[1], b) == 0;

	for (unsigned i = 0; known && i < RUN_FACT_N; i++)
		if (run_facts_differ(&facts[0], &facts[1], (enum run_fact)i))
			buf_printf(out, "%s%s",
				   out->len ? ", " : "B: ", run_fact_words((enum run_fact)i));
	run_facts_done(&facts[0]);
	run_facts_done(&facts[1]);
}
