/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "live/replays.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/rank.h"
#include "base/util.h"
#include "core/other_run.h"
#include "format/write_file.h"
#include "live/output_name.h"
#include "report/print_line.h"

/* ---- may it run again? ---- */

/* What was read from a pipe is gone. */
static bool is_read_once(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
}

/* The profile is written after each run. */
static bool is_written_once(const struct recording_options *o)
{
	_cleanup_(freep) char *path = o->output ? output_name_foresee(o->output) : NULL;
	struct stat st;

	return path &&
	       (write_file_descriptor(path) >= 0 || (stat(path, &st) == 0 && !S_ISREG(st.st_mode)));
}

int replays_check(const struct recording_options *o)
{
	long n_ranks = rank_n();

	if (n_ranks > 1)
		complain("--replay application: this is one of %ld ranks, which cannot be started "
			 "again by itself: put 'proton record' before the launcher",
			 n_ranks);
	else if (is_read_once(STDIN_FILENO))
		complain("--replay application: each run would read standard input, and a pipe is "
			 "read once: give it a file, or '< /dev/null'");
	else if (o->tape || o->forward)
		complain(
			"--replay application: a stream is of one run: %s is for metrics that take "
			"one pass",
			o->tape ? "--tape" : "--forward");
	else if (is_written_once(o))
		complain("--replay application: the profile is written after each run: '%s' is no "
			 "file that can be written again",
			 o->output);
	else
		return STATUS_OK;
	return STATUS_USAGE;
}

/* ---- runs ---- */

struct replays {
	struct run *first;
	const struct ranges_runs *runs;
	size_t at;               /* this run */
	const struct run *other; /* … unless it is the first */
	off_t input_at;  /* of standard input, as the first run got it; -1: it has no places */
	int wait_status; /* of the last run that ended */
	bool is_over;    /* no other run is begun */
};

/* What handles Ctrl-C, or the SIGTERM of a job that is cancelled, may end with status 0 before it has done all. */
static bool went_well(const struct run *run)
{
	int wait_status = run->rec.wait_status;

	return WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0 && !run->told_to_end;
}

static struct session *session_of(const struct run *run)
{
	return receiver_session(run->rec.receiver);
}

/* The profile, and those of the program's sessions, with what they have by now. */
static void save(struct replays *r)
{
	struct run *first = r->first;
	int e;

	session_files_again(&first->rec.sessions, first->rec.receiver);
	e = recording_save(&first->rec);

	if (e < 0 && first->options.rec.quiet) /* if not quiet, the summary says it */
		complain("cannot write '%s': %s", first->rec.file, recording_strerror(e));
	first->save_error = e;
}

static void tell_failed(struct replays *r)
{
	_cleanup_(buf_done) struct buf text = {0};

	buf_printf(&text, "run %zu of %zu ", r->at + 1, r->runs->n);
	if (WIFSIGNALED(r->wait_status))
		buf_printf(&text, "failed (%s)", strsignal(WTERMSIG(r->wait_status)));
	else if (WEXITSTATUS(r->wait_status))
		buf_printf(&text, "failed (exit status %d)", WEXITSTATUS(r->wait_status));
	else
		buf_puts(&text, "was told to end");
	buf_printf(&text, ", and is the last: the profile has hardware metrics of %s",
		   r->at > 1 ? "those before it"
		   : r->at   ? "the first"
			     : "this one");
	complain("%s", buf_str(&text));
	(void)session_note(session_of(r->first), SESSION_NONE, NOTE_WARNING, buf_str(&text));
}

/* A run has ended, and all of it was read. */
static void take(struct replays *r, const struct run *run)
{
	r->wait_status = run->rec.wait_status;
	r->is_over = !went_well(run);
	if (r->is_over) {
		tell_failed(r);
	} else if (run != r->first &&
		   other_run_join(session_of(r->first), session_of(run), (unsigned)r->at + 1,
				  (unsigned)r->runs->n) < 0) {
		complain("out of memory: run %zu of %zu is not in the profile", r->at + 1,
			 r->runs->n);
		r->is_over = true;
		return; /* the session is not whole, and the file is */
	}
	if (run != r->first)
		save(r);
}

/* While signals are still held off: the file is whole before one ends us. */
static void on_tick(void *ctx)
{
	struct replays *r = ctx;
	const struct run *run = r->other ? r->other : r->first;

	if (run->rec.is_read)
		take(r, run);
}

static void tell_run(const struct replays *r)
{
	const struct ranges_wanted *w = &r->runs->of[r->at];
	_cleanup_(buf_done) struct buf text = {0};

	if (r->first->options.rec.quiet)
		return;
	for (size_t i = 0; i < w->n; i++)
		buf_printf(&text, "%s%s", i ? ", " : "", w->metrics[i].name);
	print_line(stderr, "proton: run %zu of %zu: %s", r->at + 1, r->runs->n, buf_str(&text));
}

/* What a later run is not asked for: all but its metrics, and what tells where they belong. */
static struct run_options options_of(const struct replays *r)
{
	struct run_options o = r->first->options;

	o.rec.ranges = &r->runs->of[r->at];
	o.rec.no_files = o.rec.no_sweep = o.rec.no_sensors = true;
	o.rec.wanted.trace = false;
	o.rec.shares = NULL;
	return o;
}

static int record_other(struct replays *r)
{
	struct run_options o = options_of(r);
	struct run run;
	int e;

	if (r->input_at >= 0)
		(void)lseek(STDIN_FILENO, r->input_at, SEEK_SET);
	tell_run(r);
	e = run_prepare(&run, &o, r->first->argv);
	r->other = &run;
	if (e == 0)
		e = run_record(&run, NSEC_PER_SEC, on_tick, r);
	r->other = NULL;
	run_done(&run);
	return e;
}

int replays_record(struct run *first, const struct ranges_runs *runs, int *ret_wait_status)
{
	struct replays r = {
		.first = first, .runs = runs, .input_at = lseek(STDIN_FILENO, 0, SEEK_CUR)};
	int e;

	tell_run(&r);
	e = run_record(first, NSEC_PER_SEC, on_tick, &r);
	if (e)
		return e;
	while (++r.at < runs->n && !r.is_over && e == 0)
		e = record_other(&r);
	if (!first->options.rec.quiet)
		recording_summary(&first->rec, stderr);
	*ret_wait_status = r.wait_status;
	return e;
}
