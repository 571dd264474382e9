/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "live/recording.h"
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/util.h"
#include "core/graph_shares.h"
#include "core/intra_wanted.h"
#include "core/ranges_wanted.h"
#include "core/runs.h"
#include "core/stepped.h"
#include "format/write_file.h"
#include "intra/warp_file.h"
#include "launch/launch.h"
#include "live/forward.h"
#include "live/kept_code.h"
#include "live/run_facts.h"
#include "naming/source_nodes.h"
#include "report/print_line.h"

#define HURRY_NS NSEC_PER_SEC /* how long a wait goes on after a first signal */

enum { TRACE_MAX_DEFAULT = 1000000 };

/* ---- names ---- */

const char *path_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* ---- beginning ---- */

/* A file in the folder of a name that is not known; NULL: the folder is not, either. */
static char *some_file(const char *pattern)
{
	const char *slash = strrchr(pattern, '/');
	_cleanup_(freep) char *of =
		slash ? strndup(pattern, (size_t)(slash - pattern) + 1) : strdup("./");
	_cleanup_(freep) char *folder = of ? output_name_foresee(of) : NULL;
	char *path = NULL;

	return folder && asprintf(&path, "%s.proton-check", folder) >= 0 ? path : NULL;
}

/* Find out before the run whether the profile can be written. A name may not be known before the program has a pid:
 * then only the folder is checked. */
static int check_output(const struct recording_options *o)
{
	_cleanup_(freep) char *known = o->output ? output_name_foresee(o->output) : NULL;
	_cleanup_(freep) char *some = known ? NULL : some_file(o->output ? o->output : "./");
	const char *path = known ? known : o->output;
	int r;

	if (!known && !some)
		return 0;
	r = write_file_check(known ? known : some);
	if (r == 0)
		return 0;
	if (o->output)
		complain("cannot write '%s': %s", path, strerror(-r));
	else
		complain("cannot write a profile in this folder: %s (choose a file with -o)",
			 strerror(-r));
	return STATUS_OURS;
}

static int check_name(const struct recording_options *o)
{
	_cleanup_(freep) char *why = NULL;

	if (!o->output || output_name_check(o->output, &why))
		return 0;
	complain("%s", why ? why : "out of memory");
	return STATUS_USAGE;
}

/* Tape and profile must not be the same file. */
static int check_tape(const struct recording_options *o)
{
	struct stat a, b;

	if (!o->tape || !o->output ||
	    (strcmp(o->tape, o->output) != 0 && (stat(o->tape, &a) < 0 || stat(o->output, &b) < 0 ||
						 !same_file(&a, &b) || !S_ISREG(a.st_mode))))
		return 0;
	complain("the tape and the profile cannot both be written to '%s'", o->output);
	return STATUS_USAGE;
}

int recording_check(const struct recording_options *options)
{
	int r = check_tape(options);

	if (!r)
		r = check_name(options);
	return r ? r : check_output(options);
}

static uint32_t contexts_of(const struct recording_options *o)
{
	return o->has_contexts ? o->wanted.contexts : CONTEXT_AUTO;
}

/* By itself a run keeps within a budget; who asks for a context has it of each launch. */
static uint32_t budget_ppm(const struct recording_options *o)
{
	if (o->has_budget)
		return o->wanted.context_budget_ppm;
	return contexts_of(o) & CONTEXT_AUTO ? CONTEXT_BUDGET_AUTO : 0;
}

/* With what a run does by itself. */
static struct run_wanted wanted_of(const struct recording_options *o)
{
	struct run_wanted w = o->wanted;

	w.backends.ranges = o->ranges != NULL;
	w.backends.count_launches = !o->no_count_launches;
	w.contexts = contexts_of(o);
	w.context_budget_ppm = budget_ppm(o);
	w.trace_max = w.trace_max ? w.trace_max : TRACE_MAX_DEFAULT;
	return w;
}

static const char *forward_strerror(int r)
{
	switch (r) {
	case -EINVAL:
		return "neither - nor unix:PATH";
	case -EPERM:
		return "the socket is another user's";
	case -ENOTSOCK:
		return "it is no socket";
	case -ENOTCONN:
		return "standard output is closed";
	default:
		return strerror(-r);
	}
}

static int forward_open(struct recording *rec)
{
	int r = rec->options->forward ? forward_new(rec->options->forward, &rec->forward) : 0;

	if (r == 0)
		return 0;
	complain("cannot forward to '%s': %s", rec->options->forward, forward_strerror(r));
	return r == -EINVAL ? STATUS_USAGE : STATUS_OURS;
}

/* For the collectors to read. */
static int write_wanted(const char *dir, const char *name, const char *text)
{
	_cleanup_(freep) char *path = NULL;
	FILE *out;

	if (!text || asprintf(&path, "%s/%s", dir, name) < 0)
		return -ENOMEM;
	out = fopen(path, "wxe");
	if (!out)
		return -errno;
	fputs(text, out);
	return fclose(out) ? -errno : 0;
}

static int write_all_wanted(const char *dir, const struct recording_options *o)
{
	_cleanup_(freep) char *ranges = o->ranges ? ranges_wanted_text(o->ranges) : NULL;
	_cleanup_(freep) char *intra = o->intra ? intra_wanted_text(o->intra) : NULL;
	int r = 0;

	if (o->ranges)
		r = write_wanted(dir, RANGES_FILE, ranges);
	return r == 0 && o->intra ? write_wanted(dir, INTRA_FILE, intra) : r;
}

int recording_open(struct recording *rec, const struct recording_options *options)
{
	int r;

	rec->options = options;
	r = forward_open(rec);
	if (r)
		return r;
	if (!options->no_sweep)
		session_dir_sweep();
	r = session_dir_new(&rec->dir);
	if (r == 0)
		r = write_all_wanted(rec->dir->path, options);
	if (r < 0) {
		complain("cannot make a session directory in $XDG_RUNTIME_DIR, $TMPDIR or /tmp: %s",
			 strerror(-r));
		return STATUS_OURS;
	}
	rec->dir->control->wanted = wanted_of(options);
	/* Until it is known better. */
	atomic_store(&rec->dir->control->start_ns, clock_monotonic_ns());
	rec->source_nodes = source_nodes_new();
	r = receiver_new(rec->dir, options->tape, &rec->receiver);
	if (r < 0) {
		complain("cannot %s '%s': %s", options->tape ? "open" : "start",
			 options->tape ? options->tape : "receiver", strerror(-r));
		return STATUS_OURS;
	}
#ifndef HAVE_LIBDW
	if (contexts_of(options) & CONTEXT_BIT(CONTEXT_NATIVE))
		session_note(
			receiver_session(rec->receiver), SESSION_NONE, NOTE_INFO,
			"functions of compiled code have no names: proton was built without libdw");
#endif
	receiver_forward(rec->receiver, rec->forward);
	rec->sensors = (struct watch){.off = options->no_sensors, .path = rec->dir->path};
	if (options->wanted.counters_ns)
		counting_begin(&rec->counters, options->wanted.counters_ns, rec->dir->path,
			       receiver_session(rec->receiver));
	rec->sessions.unwritten = options->no_files;
	session_names_begin(&rec->sessions.names, receiver_session(rec->receiver)->start_ns);
	return 0;
}

/* The file of the run; NULL: no memory. What is a descriptor of ours is for all who have it; and a run that is
 * kept in the files of the program's sessions has no name of its own to keep. */
static char *name_file(struct recording *rec, const char *pattern, pid_t pid)
{
	_cleanup_(freep) char *wanted = output_name_expand(pattern, rec->source, pid), *note = NULL;
	char *file;

	if (!wanted)
		return NULL;
	if (rec->options->by_sessions || rec->options->no_files ||
	    write_file_descriptor(wanted) >= 0)
		return strdup(wanted);
	file = output_claim(&rec->claim, wanted);
	if (file && strcmp(file, wanted) != 0 &&
	    asprintf(&note, "another run writes '%s' now: the profile is in '%s'", wanted, file) >=
		    0)
		session_note(receiver_session(rec->receiver), SESSION_NONE, NOTE_WARNING, note);
	return file;
}

/* For who reads the profile: is what recording cost more than that? */
static int keep_budget(struct session *s, const struct recording_options *o)
{
	const struct metric budget = {BUDGET_METRIC,   "",          METRIC_U64,
				      METRIC_PROPERTY, METRIC_LAST, METRIC_NONE};
	uint32_t metric = session_metric_add(s, &budget);
	uint32_t lane = session_lane_intern(s, &session_nowhere);

	if (metric == METRIC_NONE || lane == SESSION_NONE)
		return -ENOMEM;
	return session_add(s, SESSION_ROOT, lane, 0, metric,
			   (union metric_value){.u64 = o->wanted.context_budget_ppm});
}

void recording_starts(struct recording *rec)
{
	counting_await(&rec->counters, receiver_session(rec->receiver));
	rec->start_ns = clock_monotonic_ns();
	atomic_store(&rec->dir->control->start_ns, rec->start_ns);
}

/* Is there a profile of the run, and beside it room for another file? */
static bool has_profile_file(const struct recording *rec)
{
	return rec->file && !rec->options->by_sessions && !rec->options->no_files &&
	       write_file_descriptor(rec->file) < 0;
}

/* Those of a run before are not of this one, and of this one they are there whatever becomes of us. */
static int begin_warps(struct recording *rec)
{
	_cleanup_(freep) char *path = NULL;

	if (!has_profile_file(rec))
		return 0;
	kept_warps_forget(rec->file);
	if (!rec->options->wanted.warps.launches)
		return 0;
	path = warp_file_beside(rec->file);
	if (path && !strcmp(path, rec->file)) /* said at the end */
		return 0;
	return path ? saver_init(&rec->warp_saver, path, rec->options->save_ns) : -ENOMEM;
}

int recording_begin(struct recording *rec, char *const *argv, pid_t pid)
{
	struct session *s = receiver_session(rec->receiver);
	const char *pattern = rec->options->output;
	int r = -ENOMEM;

	rec->source = strdup(path_name(argv[0]));
	if (rec->source) {
		s->source = strtab_adds(s->strings, rec->source);
		rec->file = name_file(rec, pattern ? pattern : "proton.%e.%p.hatchet", pid);
	}
	rec->run = s->n_runs;
	if (rec->file)
		r = run_facts_begin(s, rec->options, argv, rec->start_ns);
	if (r == 0 && rec->options->has_budget)
		r = keep_budget(s, rec->options);
	receiver_tape_facts(rec->receiver);
	if (r == 0)
		r = saver_init(&rec->saver, rec->file, rec->options->save_ns);
	if (r == 0)
		r = begin_warps(rec);
	/* Sessions of the program may ask for it, and have it then. */
	rec->saver.no_trace = !rec->options->wanted.trace;
	if (rec->file && !rec->options->by_sessions && !rec->options->no_files)
		session_names_run(&rec->sessions.names, rec->file);
	if (r < 0)
		complain("out of memory");
	return r;
}

/* How long it takes so far, or took, and how it ended. */
static void update_run(struct recording *rec)
{
	struct session *s = receiver_session(rec->receiver);

	if (rec->run < s->n_runs)
		run_facts_update(&s->runs[rec->run], rec);
}

/* Without memory lines keep their names, and graphs stay whole, which are looked for by names. */
static void name_and_share(struct recording *rec)
{
	if (rec->source_nodes)
		source_nodes_name(rec->source_nodes, receiver_session(rec->receiver));
	if (rec->options->shares)
		graph_shares_apply(rec->options->shares, receiver_session(rec->receiver));
}

/* A tape that is no pipe is looked at elsewhere, too. */
static bool has_tape_file(const struct recording *rec)
{
	const char *tape = rec->options->tape;
	struct stat st;

	return tape && write_file_descriptor(tape) < 0 && stat(tape, &st) == 0 &&
	       S_ISREG(st.st_mode);
}

/* In a child. The code comes first, so that a profile that is there has that of its samples; what cannot be kept is tried again,
 * and told at the end. */
static int save_profile(const struct saver *v, void *ctx)
{
	const struct recording *rec = ctx;

	(void)kept_code_copy(rec->dir->path, rec->file);
	if (has_tape_file(rec))
		(void)kept_code_copy(rec->dir->path, rec->options->tape);
	return saver_save_part(v, receiver_session(rec->receiver));
}

static void poll_profile(struct recording *rec)
{
	if (saver_is_due(&rec->saver))
		saver_start(&rec->saver, receiver_session(rec->receiver)->generation, save_profile,
			    rec);
}

/* In a child. */
static int save_warps(const struct saver *v, void *ctx)
{
	const struct recording *rec = ctx;
	struct kept_warps_counts counts;

	return kept_warps_copy(rec->dir->path, rec->file, v->started_ns, &counts);
}

static void poll_warps(struct recording *rec)
{
	struct saver *v = &rec->warp_saver;

	if (v->path && saver_is_due(v))
		saver_start(v, kept_warps_generation(rec->dir->path), save_warps, rec);
}

void recording_poll(struct recording *rec)
{
	update_run(rec);
	name_and_share(rec);
	watch_update(&rec->sensors, receiver_session(rec->receiver));
	if (counting_update(&rec->counters, receiver_session(rec->receiver)))
		receiver_tape_counters(rec->receiver);
	session_files_poll(&rec->sessions, rec->receiver);
	if (!rec->options->by_sessions && !rec->options->no_files)
		poll_profile(rec);
	poll_warps(rec);
}

/* ---- waiting ---- */

bool recording_is_interrupted(struct recording *rec, uint64_t start_ns)
{
	unsigned n = rec->interrupts.count ? rec->interrupts.count(rec->interrupts.ctx) : 0;
	uint64_t now = clock_monotonic_ns();

	if (n && !rec->interrupted_ns)
		rec->interrupted_ns = now;
	return n > 1 || (n && now >= MAX(rec->interrupted_ns, start_ns) + HURRY_NS);
}

void recording_wait(const struct recording *rec, int fd)
{
	struct pollfd p[2] = {
		{.fd = rec->interrupts.count ? rec->interrupts.fd : -1, .events = POLLIN},
		{.fd = fd, .events = POLLIN}};

	poll(p, 2, 50);
}

int recording_forward_fd(const struct recording *rec)
{
	return rec->forward ? forward_fd(rec->forward) : -1;
}

/* ---- the end ---- */

bool recording_output_waits(const struct recording *rec)
{
	struct stat st;

	return stat(rec->file, &st) == 0 && !S_ISREG(st.st_mode);
}

/* A child's status, as of wait(); -EINTR: a signal ended the wait, and the child. */
static int await(struct recording *rec, pid_t pid)
{
	uint64_t start = clock_monotonic_ns();
	int status = 0;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (recording_is_interrupted(rec, start)) {
			kill(pid, SIGKILL);
			waitpid(pid, &status, 0);
			return -EINTR;
		}
		recording_wait(rec, -1);
	}
	return status;
}

/* Save in a child, because a write to a FIFO may block until a reader comes: a signal ends that. */
static int save_in_child(struct recording *rec)
{
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(-saver_finish(&rec->saver, receiver_session(rec->receiver)) & 0xff);
	}
	if (pid < 0)
		return -errno;
	status = await(rec, pid);
	if (status < 0)
		return status;
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -EIO;
}

void recording_pause(struct recording *rec, bool pause)
{
	uint64_t now = clock_monotonic_ns();

	atomic_store(&rec->dir->control->paused, pause);
	if (pause && !rec->paused_since_ns)
		rec->paused_since_ns = now;
	if (pause || !rec->paused_since_ns)
		return;
	rec->paused_ns += now - rec->paused_since_ns;
	rec->paused_since_ns = 0;
}

int recording_save(struct recording *rec)
{
	update_run(rec);
	name_and_share(rec);
	if (!recording_output_waits(rec))
		return saver_finish(&rec->saver, receiver_session(rec->receiver));
	rec->saver.error = save_in_child(rec);
	return rec->saver.error;
}

/* -EINTR: a signal ended the wait for the reader of a FIFO. */
const char *recording_strerror(int r)
{
	return r == -EINTR ? "nobody read it" : strerror(-r);
}

static bool is_interrupted(void *ctx)
{
	struct recording *rec = ctx;

	return recording_is_interrupted(rec, rec->end_ns);
}

/* The rest of the stream, which the program does not wait for any more. */
static void forward_rest(struct recording *rec)
{
	uint64_t n = forward_left_out(rec->forward);
	const char *trouble;

	forward_finish(rec->forward, is_interrupted, rec);
	trouble = forward_trouble(rec->forward);
	if (trouble)
		complain("%s", trouble);
	if (n && rec->options->verbose)
		complain("%llu frames were left out for a slow reader, and told again",
			 (unsigned long long)n);
}

/* Steps that are known by what was launched are known too late. */
static bool is_window_of_launches(const struct recording *rec, const struct session *s)
{
	uint32_t n;
	struct stepped *v =
		rec->options->wanted.window.kind == TRACE_WINDOW_STEPS ? stepped_new(s, &n) : NULL;
	bool are_launches = v && v->node == SESSION_ROOT;

	free(v);
	return are_launches;
}

/* Whoever named a range that there was not would wait for a trace. */
static void note_empty_window(struct recording *rec)
{
	struct session *s = receiver_session(rec->receiver);
	const char *word = rec->options->window_word;
	char text[320];

	if (!word || s->n_intervals)
		return;
	snprintf(
		text, sizeof(text),
		is_window_of_launches(rec, s)
			? "the trace is empty: steps that are found by what is launched have no window "
			  "('%.80s'); scopes or NVTX ranges named step 0, step 1 and so on have one, and so has "
			  "time:A-B"
			: "the trace is empty: nothing ran in its window, '%.120s'",
		word);
	session_note(s, SESSION_NONE, NOTE_WARNING, text);
}

void recording_end(struct recording *rec)
{
	if (rec->is_read)
		return;
	counting_stop(&rec->counters);
	update_run(rec);
	watch_finish(&rec->sensors, receiver_session(rec->receiver));
	counting_finish(&rec->counters, receiver_session(rec->receiver));
	rec->read_error = receiver_finish(rec->receiver);
	note_empty_window(rec);
	name_and_share(rec);
	if (rec->options->shares)
		graph_shares_settle(rec->options->shares, receiver_session(rec->receiver));
	rec->is_read = true;
	if (rec->forward)
		forward_rest(rec);
}

static void keep_code(struct recording *rec)
{
	const char *const files[] = {rec->file, rec->options->tape};
	size_t n = has_tape_file(rec) ? 2 : 1;

	for (size_t i = 0; i < n; i++)
		kept_code_complain(kept_code_copy(rec->dir->path, files[i]), files[i]);
	if (!rec->disassembles)
		rec->disassembles =
			kept_code_disassemble(receiver_session(rec->receiver), files, n);
}

static void keep_warps(struct recording *rec)
{
	const char *const files[] = {rec->file, rec->options->tape};
	size_t n = has_tape_file(rec) ? 2 : 1;
	int r;

	saver_settle(&rec->warp_saver);
	for (size_t i = 0; i < n; i++) {
		r = write_file_descriptor(files[i]) < 0
			    ? kept_warps_copy(rec->dir->path, files[i], 0, &rec->warps)
			    : 0;
		if (r < 0)
			complain("cannot keep scopes of single warps beside '%s': %s", files[i],
				 strerror(-r));
		if (r < 0)
			rec->warps_error = r;
	}
}

void recording_settle(struct recording *rec)
{
	if (rec->disassembles)
		await(rec, rec->disassembles);
	rec->disassembles = 0;
}

int recording_finish(struct recording *rec)
{
	int r, e;

	recording_end(rec);
	r = rec->read_error;
	if ((r == -EPIPE || r == -ETIMEDOUT) && rec->options->tape)
		complain("the reader of the tape %s: the tape is not complete",
			 r == -EPIPE ? "has left" : "stands still");
	else if (r < 0 && rec->options->tape)
		complain("cannot write '%s': %s", rec->options->tape, strerror(-r));
	session_files_finish(&rec->sessions, rec->receiver);
	if (rec->options->no_files)
		return r == -EPIPE ? 0 : r;
	e = rec->options->by_sessions && rec->sessions.n_written ? 0 : recording_save(rec);
	if (e == 0 && rec->file && rec->dir) {
		keep_code(rec);
		keep_warps(rec);
	}
	if (rec->options->verbose)
		complain(
			"saved %u times while it ran, once at the end; %u failed; %u sessions of the program, %u failed",
			rec->saver.n_saves, rec->saver.n_failed, rec->sessions.n_written,
			rec->sessions.n_failed);
	if (e < 0 && rec->options->quiet) /* if not quiet, the summary says it */
		complain("cannot write '%s': %s", rec->file, recording_strerror(e));
	return e < 0 ? e : r == -EPIPE ? 0 : r;
}

void recording_done(struct recording *rec)
{
	_cleanup_(freep) char *path = NULL;

	saver_done(&rec->saver);
	saver_done(&rec->warp_saver);
	session_files_done(&rec->sessions);
	watch_done(&rec->sensors);
	counting_done(&rec->counters);
	rec->source_nodes = source_nodes_free(rec->source_nodes);
	rec->receiver = receiver_free(rec->receiver);
	rec->forward = forward_free(rec->forward);
	if (rec->dir) {
		atomic_store(&rec->dir->control->alive, 0);
		path = strdup(rec->dir->path);
		rec->dir = session_dir_free(rec->dir);
		if (path)
			session_dir_remove(path);
	}
	output_claim_done(&rec->claim);
	free(rec->file);
	free(rec->source);
}
