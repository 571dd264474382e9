/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "live/run_facts.h"
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/clock.h"
#include "base/util.h"
#include "core/runs.h"
#include "report/print_line.h"

extern char **environ;

static void add_word(struct buf *words, const char *word)
{
	buf_put(words, word, strlen(word) + 1);
}

/* Is the variable's name one of those in a list with commas, in which * stands for anything? */
static bool is_asked_for(const char *variable, const char *list)
{
	_cleanup_(freep) char *name = strndup(variable, strcspn(variable, "="));
	_cleanup_(freep) char *patterns = strdup(list);
	char *rest = patterns, *pattern;

	while (name && rest && (pattern = strsep(&rest, ",")))
		if (fnmatch(pattern, name, 0) == 0)
			return true;
	return false;
}

static void add_environment(struct buf *words, const char *list)
{
	for (char **variable = environ; list && *variable; variable++)
		if (is_asked_for(*variable, list))
			add_word(words, *variable);
}

/* What was asked for by a pattern that no variable has was mistyped, or is not set here. */
static void complain_of_unset(const char *list)
{
	_cleanup_(freep) char *patterns = list ? strdup(list) : NULL;
	char *rest = patterns, *pattern;

	while (rest && (pattern = strsep(&rest, ","))) {
		char **variable = environ;

		while (*variable && !is_asked_for(*variable, pattern))
			variable++;
		if (*pattern && !*variable)
			complain("--save-env: no variable is called '%s'", pattern);
	}
}

/* STRTAB_NONE: out of memory, for the words too. */
static uint32_t add_words(struct session *s, struct buf *words)
{
	return words->error ? STRTAB_NONE : strtab_add(s->strings, buf_str(words), words->len);
}

/* Without a folder, one that was removed for example, the profile just does not name one. */
static uint32_t add_folder(struct session *s)
{
	char path[PATH_MAX];

	return strtab_adds(s->strings, getcwd(path, sizeof(path)) ? path : "");
}

static uint32_t add_host(struct session *s)
{
	char name[HOST_NAME_MAX + 1] = "";

	gethostname(name, sizeof(name) - 1);
	return strtab_adds(s->strings, name);
}

int run_facts_begin(struct session *s, const struct recording_options *options, char *const *argv,
		    uint64_t start_ns)
{
	_cleanup_(buf_done) struct buf command = {0}, environment = {0};
	uint64_t since_ns = clock_monotonic_ns() - start_ns;
	struct session_run run = {.start_ns = clock_realtime_ns() - since_ns, .end = PROCESS_RUNS};

	for (; *argv; argv++)
		add_word(&command, *argv);
	add_environment(&environment, options->save_env);
	complain_of_unset(options->save_env);
	run.strings[RUN_COMMAND] = add_words(s, &command);
	run.strings[RUN_ENVIRONMENT] = add_words(s, &environment);
	run.strings[RUN_FOLDER] = add_folder(s);
	run.strings[RUN_HOST] = add_host(s);
	run.strings[RUN_LABEL] = strtab_adds(s->strings, options->label ? options->label : "");
	run.strings[RUN_VERSION] = strtab_adds(s->strings, PACKAGE_VERSION);
	for (unsigned i = 0; i < RUN_STRING_N; i++)
		if (run.strings[i] == STRTAB_NONE)
			return -ENOMEM;
	return session_run_add(s, &run);
}

static uint64_t busy_of_all(const struct session *s)
{
	uint64_t busy = 0;

	for (size_t i = 0; i < s->n_uses; i++)
		busy += s->uses[i].busy_ns;
	return busy;
}

/* Work is seen when its record comes: when the first came, the first work was no longer ago than all
 * work so far and the period of collectors took. */
static void note_work(struct session_run *run, struct recording *rec)
{
	const struct session *s = receiver_session(rec->receiver);
	uint64_t now = clock_monotonic_ns() - rec->start_ns, busy;

	if (s->generation == rec->generation)
		return;
	rec->generation = s->generation;
	busy = busy_of_all(s);
	if (busy == rec->busy_ns)
		return;
	if (!rec->busy_ns)
		run->first_work_ns = now > busy ? now - busy : 1;
	run->last_work_ns = now;
	rec->busy_ns = busy;
}

static uint64_t now_of(const struct recording *rec)
{
	return rec->end_ns ? rec->end_ns : clock_monotonic_ns();
}

static uint64_t paused_ns(const struct recording *rec, uint64_t now)
{
	bool pauses = rec->paused_since_ns && now > rec->paused_since_ns;

	return rec->paused_ns + (pauses ? now - rec->paused_since_ns : 0);
}

uint64_t run_facts_counted_ns(const struct recording *rec)
{
	uint64_t now = now_of(rec), wall = now - rec->start_ns;

	return wall - MIN(paused_ns(rec, now), wall);
}

void run_facts_update(struct session_run *run, struct recording *rec)
{
	uint64_t now = now_of(rec);

	note_work(run, rec);
	run->wall_ns = now - rec->start_ns;
	run->paused_ns = paused_ns(rec, now);
	if (rec->end_ns)
		run_set_end(run, rec->wait_status);
}
