/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "live/session_files.h"
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/util.h"
#include "core/cut.h"
#include "core/metadata.h"
#include "core/session_words.h"
#include "format/format.h"
#include "format/warps.h"
#include "format/write_file.h"
#include "live/kept_code.h"
#include "live/receiver.h"
#include "live/session_warps.h"
#include "report/print_line.h"
#include "wire/decode.h"
#include "wire/wire.h"

/* Is the row of work on a device of this type, or of the host's? */
static bool row_fits(const struct session *s, const struct session_row *row,
		     const char *device_type)
{
	uint32_t device = session_lane_at(s, row->lane)->device;

	return device >= s->n_devices ||
	       !strcmp(strtab_str(s->strings, s->devices[device].type), device_type);
}

/* As programs name formats. */
static const struct format *format_of(const char *word)
{
	static const char *const traces[] = {"chrome_trace", WIRE_FORMAT_EVENTS, WIRE_FORMAT_WARPS};

	for (size_t i = 0; i < ARRAY_SIZE(traces); i++)
		if (!strcmp(word, traces[i]))
			return &format_chrome;
	return format_by_name(word);
}

static bool is_trace(const struct format *format)
{
	return format == &format_chrome;
}

/* A trace in which nothing ran. */
static int fill_empty(struct out *out, void *ctx)
{
	out_puts(out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[]}\n");
	return out->error;
}

/* A part of what is received: a session (phase WIRE_NONE), or a phase of one. */
struct wanted {
	const struct wire_session_state *session;
	size_t at; /* of the session in the decoder */
	uint32_t phase;
	const char *format;
	bool into_answer; /* … else into its file */
	const char *stem; /* of that */
};

static int wanted_rows(struct receiver *r, const struct wanted *w, uint8_t *rows)
{
	struct wire_decoder *d = receiver_decoder(r);

	return w->phase == WIRE_NONE ? wire_decoder_session_rows(d, w->at, rows)
				     : wire_decoder_phase_rows(d, w->session->instance,
							       w->session->id, w->phase, rows);
}

/* The operations of the rows: those of their epochs, on their lanes. */
static int wanted_intervals(const struct session *s, const struct wanted *w, const uint8_t *rows,
			    uint8_t *intervals)
{
	_cleanup_(freep) uint8_t *lanes = calloc(s->n_lanes + 1, 1);
	_cleanup_(freep) uint8_t *epochs = calloc(s->n_epochs + 1, 1);

	if (!lanes || !epochs)
		return -ENOMEM;
	for (size_t k = 0; k < s->n_rows; k++)
		if (rows[k] && s->rows[k].lane < s->n_lanes)
			lanes[s->rows[k].lane] = epochs[s->rows[k].epoch] = 1;
	for (size_t k = 0; k < s->n_intervals; k++)
		intervals[k] = s->intervals[k].epoch && epochs[s->intervals[k].epoch] &&
			       s->intervals[k].lane < s->n_lanes && lanes[s->intervals[k].lane];
	return 0;
}

static int cut_session(struct receiver *r, const struct wanted *w, const struct format *format,
		       struct session **ret)
{
	const struct session *s = receiver_session(r);
	const char *type = w->session->device_type;
	_cleanup_(freep) uint8_t *rows = calloc(s->n_rows + 1, 1);
	_cleanup_(freep) uint8_t *intervals = calloc(s->n_intervals + 1, 1);
	int e = rows && intervals ? wanted_rows(r, w, rows) : -ENOMEM;

	if (e < 0)
		return e;
	if (!strcmp(type, WIRE_INSIDE_KERNELS))
		e = cut_to_inside(s, rows);
	else
		for (size_t k = 0; *type && k < s->n_rows; k++)
			rows[k] = rows[k] && row_fits(s, &s->rows[k], type);
	if (e == 0 && is_trace(format))
		e = wanted_intervals(s, w, rows, intervals);
	if (e == 0)
		e = session_cut(s, rows, is_trace(format) ? intervals : NULL,
				session_kinds_without(w->session->context), ret);
	if (e == 0)
		metadata_put_last(*ret);
	return e;
}

static char *file_path(const struct wanted *w, const struct format *format)
{
	char *path = NULL;
	int n = w->phase == WIRE_NONE ? asprintf(&path, "%s%s", w->stem, format->suffix)
				      : asprintf(&path, "%s.part_%" PRIu32 "%s", w->stem, w->phase,
						 format->suffix);

	return n < 0 ? NULL : path;
}

/* Nobody may ever read from a FIFO. */
static int check_path(const char *path)
{
	struct stat st;

	if (!path)
		return -ENOMEM;
	return stat(path, &st) == 0 && !S_ISREG(st.st_mode) ? -EINVAL : 0;
}

/* The code that it has samples of; a child of ours has it printed. */
static void keep_code(const struct receiver *r, const struct session *part, const char *path)
{
	kept_code_complain(kept_code_copy_of(part, receiver_folder(r), path), path);
	kept_code_disassemble(part, &path, 1);
}

/* Single scopes of warps that the run keeps, of its launches. */
static void keep_warps(struct receiver *r, const struct wanted *w, const char *path)
{
	const struct session_warps of = {w->session->instance, w->session->id, w->phase};
	int e = session_warps_keep(r, &of, path);

	if (e < 0)
		complain("cannot keep scopes of single warps beside '%s': %s", path, strerror(-e));
}

static int write_file(struct receiver *r, const struct wanted *w, const struct format *format,
		      const struct session *part)
{
	const struct write_options options = {.as_given = true,
					      .host_if_asked = *w->session->context,
					      .no_names = !strcmp(w->format, WIRE_FORMAT_EVENTS)};
	_cleanup_(freep) char *path = file_path(w, format);
	int e = check_path(path);

	if (e < 0)
		return e;
	if (is_trace(format) && !part->n_intervals)
		return write_file_tagged(path, 0, fill_empty, NULL);
	e = format_save(path, format, part, &options);
	if (e == 0 && format->read) {
		keep_code(r, part, path);
		keep_warps(r, w, path);
	}
	return e;
}

static int begin_answer(int fd, struct out **ret)
{
	if (lseek(fd, WIRE_ANSWER_HEAD, SEEK_SET) < 0)
		return -errno;
	*ret = out_new(fd);
	return *ret ? 0 : -ENOMEM;
}

/* As Triton's Proton gives it to its programs. */
static int write_answer(int fd, const struct wanted *w, const struct format *format,
			const struct session *part)
{
	const struct write_options options = {.plain = true,
					      .as_given = true,
					      .host_if_asked = *w->session->context,
					      .compact = true};
	struct out *out = NULL;
	int e = begin_answer(fd, &out);

	if (e < 0)
		return e;
	return out_end(out, is_trace(format) && !part->n_intervals
				    ? fill_empty(out, NULL)
				    : format->write(part, &options, out));
}

static int fill_warps(struct out *out, void *ctx)
{
	const struct warps_write_options options = {.compact = true};
	int e = warps_chrome(ctx, &options, out);

	return e == -ENODATA ? out->error : e;
}

static int put_warps(const struct wanted *w, const struct format *format, int answer,
		     struct warp_trace *t)
{
	_cleanup_(freep) char *path = NULL;
	struct out *out = NULL;
	int e;

	if (w->into_answer) {
		e = begin_answer(answer, &out);
		return e < 0 ? e : out_end(out, fill_warps(out, t));
	}
	path = file_path(w, format);
	e = check_path(path);
	return e < 0 ? e : write_file_tagged(path, 0, fill_warps, t);
}

/* Single scopes within its kernels are not of what is received, but in files of their own. */
static int write_warps(struct receiver *r, const struct wanted *w, const struct format *format,
		       int answer)
{
	const struct session_warps of = {w->session->instance, w->session->id, w->phase};
	struct warp_trace t;
	int e = warp_trace_init(&t);

	if (e == 0)
		e = session_warps_read(r, &of, &t);
	if (e == 0)
		e = put_warps(w, format, answer, &t);
	warp_trace_done(&t);
	return e;
}

static int write_one(struct receiver *r, const struct wanted *w, const struct format *format,
		     int answer)
{
	_cleanup_(session_freep) struct session *part = NULL;
	int e;

	if (!strcmp(w->format, WIRE_FORMAT_WARPS))
		return write_warps(r, w, format, answer);
	e = cut_session(r, w, format, &part);
	if (e < 0)
		return e;
	return w->into_answer ? write_answer(answer, w, format, part)
			      : write_file(r, w, format, part);
}

/* One that its program did not finalize: a file for each phase, where there is another one than the first. */
static int write_phases(struct receiver *r, const struct wanted *w, const struct format *format)
{
	struct wire_decoder *d = receiver_decoder(r);
	struct wanted one = *w;
	int e = 0;

	one.phase = wire_decoder_session_phase(d, w->at, 0);
	if (one.phase == WIRE_NONE ||
	    (!one.phase && wire_decoder_session_phase(d, w->at, 1) == WIRE_NONE))
		return write_one(r, w, format, -1);
	for (; one.phase != WIRE_NONE && e == 0;
	     one.phase = wire_decoder_session_phase(d, w->at, one.phase + 1))
		e = write_one(r, &one, format, -1);
	return e;
}

static int write_wanted(struct receiver *r, const struct wanted *w, int answer)
{
	const struct format *format = format_of(w->format);

	if (!format || !format->write || *w->session->name != '/')
		return -EINVAL;
	return w->phase == WIRE_NONE ? write_phases(r, w, format) : write_one(r, w, format, answer);
}

/* ---- answers ---- */

static const char finalized_form[] = "%d\n", asked_form[] = "%15d\n";
_Static_assert(WIRE_ANSWER_HEAD == 16, "the form of an answer");

static void answer(const struct session_job *job, int error)
{
	char text[32];
	int n = snprintf(text, sizeof(text), job->form, error);

	(void)!pwrite(job->answer, text, (size_t)n, 0);
}

static struct session_job *job_free(struct session_files *f)
{
	for (size_t i = 0; i < SESSION_JOBS; i++)
		if (!f->jobs[i].child)
			return &f->jobs[i];
	return NULL;
}

static void note_other_name(struct receiver *r, const struct wire_session_state *session,
			    const char *stem, const char *suffix)
{
	_cleanup_(freep) char *text = NULL;

	if (asprintf(
		    &text,
		    "session '%s' is written to '%s%s': in '%s%s' is another profile of this run, or what "
		    "another program wrote meanwhile",
		    session->name, stem, suffix, session->name, suffix) >= 0)
		session_note(receiver_session(r), session->process, NOTE_WARNING, text);
}

static struct session_owner owner_of(const struct session *s, const struct wire_session_state *w)
{
	const struct session_process *p = &s->processes[w->process];

	return (struct session_owner){(pid_t)p->pid, p->start_ns};
}

/* Where it is written to, if into a file. 0 or -errno. */
static int find_name(struct session_files *f, struct receiver *r, const struct wanted *w,
		     char **ret_stem)
{
	const struct format *format = format_of(w->format);
	const char *suffix = format ? format->suffix : "";
	struct session_owner owner;
	bool is_other = false;
	int e;

	if (w->into_answer || *w->session->name != '/')
		return 0;
	owner = owner_of(receiver_session(r), w->session);
	e = session_names_find(&f->names, w->session, &owner, suffix, ret_stem, &is_other);
	if (e == 0 && is_other)
		note_other_name(r, w->session, *ret_stem, suffix);
	return e;
}

/* What they do, the program does not wait for. */
static void await_children(void)
{
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
}

static void start(struct session_files *f, struct session_job *job, struct receiver *r,
		  const struct wanted *given)
{
	_cleanup_(freep) char *stem = NULL;
	struct wanted w = *given;
	int e;

	if (f->unwritten && !w.into_answer) {
		answer(job, 0);
		close(job->answer);
		return;
	}
	e = find_name(f, r, &w, &stem);
	w.stem = stem;
	if (e < 0)
		errno = -e;
	job->child = e < 0 ? -1 : fork();
	if (job->child == 0) {
		/* Ctrl-C is for the program; this child only finishes its file. */
		signal(SIGINT, SIG_IGN);
		signal(SIGQUIT, SIG_IGN);
		e = write_wanted(r, &w, job->answer);
		answer(job, -e);
		await_children();
		_exit(e < 0);
	}
	if (job->child > 0)
		return;
	answer(job, errno);
	job->child = 0;
	f->n_failed++;
	close(job->answer);
}

/* The program has named the file where only who may write to the directory can; what the stream says of it
 * anybody may have said who kept the pipe. What is in there then is the answer. */
static bool is_permitted(int fd, const char *name)
{
	char text[PATH_MAX];
	size_t len = strlen(name);

	/* It is not emptied: on a disk that is full the answer has room where a byte of the name was. */
	return len < sizeof(text) && pread(fd, text, sizeof(text), 0) == (ssize_t)len &&
	       !memcmp(text, name, len) && ftruncate(fd, 1) == 0;
}

/* Does it end now? Without a word of its program where that is over. */
static bool is_due(const struct session_files *f, const struct wire_session_state *state)
{
	return !state->taken && (state->state == WIRE_SESSION_FINALIZED ||
				 (f->all && state->state <= WIRE_SESSION_ACTIVE));
}

/* How many sessions a process has started by now. */
static uint32_t n_started(const struct wire_decoder *d, uint64_t instance)
{
	struct wire_session_state state;
	uint32_t n = 0;

	for (size_t i = 0; wire_decoder_session(d, i, &state); i++)
		if (state.instance == instance)
			n = MAX(n, state.serial + 1);
	return n;
}

/* The next session that is over, if its program may ask for it. False: there is none. */
static bool start_session(struct session_files *f, struct session_job *job, struct receiver *r)
{
	struct wire_decoder *d = receiver_decoder(r);
	char name[WIRE_SESSION_FILE_MAX];
	struct wire_session_state state;

	for (size_t i = 0; wire_decoder_session(d, i, &state); i++) {
		if (!is_due(f, &state))
			continue;
		wire_decoder_session_take(d, i);
		snprintf(name, sizeof(name), WIRE_SESSION_FILE, state.instance, state.id);
		job->answer = receiver_open_file(r, name);
		if (job->answer < 0)
			continue;
		if (!is_permitted(job->answer, state.name)) {
			close(job->answer);
			continue;
		}
		job->form = finalized_form;
		start(f, job, r,
		      &(struct wanted){.session = &state,
				       .at = i,
				       .phase = WIRE_NONE,
				       .format =
					       *state.format ? state.format : format_hatchet.name});
		session_names_over(&f->names, &state, n_started(d, state.instance));
		return true;
	}
	return false;
}

/* The next phase that is asked for. */
static bool start_ask(struct session_files *f, struct session_job *job, struct receiver *r)
{
	char name[WIRE_ANSWER_FILE_MAX];
	struct wire_ask_state ask;

	while (wire_decoder_ask(receiver_decoder(r), &ask)) {
		snprintf(name, sizeof(name), WIRE_ANSWER_FILE, ask.session.instance, ask.id);
		job->answer = receiver_open_file(r, name);
		if (job->answer < 0)
			continue;
		if (ask.what != WIRE_ASK_DATA && !is_permitted(job->answer, ask.session.name)) {
			close(job->answer);
			continue;
		}
		job->form = asked_form;
		start(f, job, r,
		      &(struct wanted){.session = &ask.session,
				       .phase = ask.phase,
				       .format = ask.format,
				       .into_answer = ask.what == WIRE_ASK_DATA});
		return true;
	}
	return false;
}

/* A child that was killed has answered nothing. As process 1 of a container we reap all processes
 * elsewhere, this one too: then it has. */
static void ended(struct session_files *f, struct session_job *job, int status)
{
	if (WIFSIGNALED(status))
		answer(job, EIO);
	f->n_failed += status != 0;
	f->n_written += status == 0;
	job->child = 0;
	close(job->answer);
}

static void reap(struct session_files *f, struct session_job *job, int options)
{
	int status = 0;
	pid_t pid;

	do
		pid = waitpid(job->child, &status, options);
	while (pid < 0 && errno == EINTR);
	if (pid)
		ended(f, job, pid < 0 ? 0 : status);
}

void session_files_poll(struct session_files *f, struct receiver *r)
{
	struct session_job *job;

	for (size_t i = 0; i < SESSION_JOBS; i++)
		if (f->jobs[i].child)
			reap(f, &f->jobs[i], WNOHANG);
	/* Operations come beside the pipe: what is asked for is there when all that was announced is. */
	if (!f->all && receiver_is_behind(r))
		return;
	while ((job = job_free(f)) && (start_session(f, job, r) || start_ask(f, job, r)))
		;
}

static size_t job_running(const struct session_files *f)
{
	size_t i;

	for (i = 0; i < SESSION_JOBS && !f->jobs[i].child; i++)
		;
	return i;
}

bool session_files_busy(const struct session_files *f)
{
	return job_running(f) < SESSION_JOBS;
}

void session_files_finish(struct session_files *f, struct receiver *r)
{
	f->all = true;
	for (session_files_poll(f, r); session_files_busy(f); session_files_poll(f, r))
		reap(f, &f->jobs[job_running(f)], 0);
}

/* One whose file was written, and not by what was asked of it later. Nobody waits for an answer any more. */
static void start_again(struct session_files *f, struct receiver *r, size_t at,
			const struct wire_session_state *state)
{
	const struct wanted w = {.session = state,
				 .at = at,
				 .phase = WIRE_NONE,
				 .format = *state->format ? state->format : format_hatchet.name};
	const struct format *format = format_of(w.format);

	if (!state->taken || !format || !session_names_has(&f->names, state, format->suffix))
		return;
	f->jobs[0] = (struct session_job){.answer = -1, .form = finalized_form};
	start(f, &f->jobs[0], r, &w);
	if (f->jobs[0].child)
		reap(f, &f->jobs[0], 0);
}

void session_files_again(struct session_files *f, struct receiver *r)
{
	struct wire_session_state state;

	for (size_t i = 0; wire_decoder_session(receiver_decoder(r), i, &state); i++)
		start_again(f, r, i, &state);
}

void session_files_done(struct session_files *f)
{
	session_names_done(&f->names);
}
