/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/sessions.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>
#include "collect/asks.h"
#include "collect/burst.h"
#include "collect/epochs.h"
#include "collect/flushing.h"
#include "collect/internal.h"
#include "collect/late_values.h"
#include "collect/measured.h"
#include "collect/patience.h"
#include "collect/phases.h"
#include "collect/session_table.h"
#include "collect/session_wait.h"
#include "collect/whole_file.h"
#include "core/session_words.h"

enum {
	SETTLE_MS = 10000, /* without a record: what is launched yet is waited for no longer */
	ASK_EVERY =
		200, /* of so many looks whether there is an answer one whether proton is there */
	SUFFIX_MAX = 64, /* of the file and what is made beside it while it is written */
};

/* ---- what is asked for ---- */

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

/* The word that it is; it points to NULL where it is none of these. */
static const char *const *word_of(const char *const *words, const char *text)
{
	while (*words && strcasecmp(*words, text) != 0)
		words++;
	return words;
}

/* Of the devices of a backend; "": of all, and NULL: there is no such backend. */
static const char *device_type_of(const char *const *backends, const char *word)
{
	const char *const *b = word_of(backends, word);

	if (!*word)
		return "";
	if (!strcasecmp(word, WIRE_INSIDE_KERNELS))
		return WIRE_INSIDE_KERNELS;
	return *b ? backend_of((unsigned)(b - backends))->device_type : NULL;
}

static const char *const contexts[] = {"", "shadow", "scopes", "python", NULL};
static const char *const backends[] = {
#define _(id, name, ...) [SOURCE_##id] = #name,
	BACKENDS(_)
#undef _
		[N_SOURCES] = NULL};
static const char *const datas[] = {"", "tree", "trace", "events", "warps", NULL};

/* What a session is made of; texts are the caller's. */
struct spec {
	char name[PATH_MAX];
	const char *context, *device_type;
	bool traced, events, warps;
	struct session_mode mode;
};

/* The current folder by its path, which proton writes the file by: one that was deleted has none, and folders above
 * it may not be open to the program. Said now, for at the end there would be no file. */
static int spec_folder(struct spec *spec)
{
	static const char hint[] = "give the session a name that begins with '/'";
	struct stat here, there;

	if (!getcwd(spec->name, sizeof(spec->name)) || *spec->name != '/')
		return session_fail(PROTON_INVALID, "the current folder was deleted: %s", hint);
	if (stat(".", &here) == 0 && stat(spec->name, &there) == 0 && here.st_dev == there.st_dev &&
	    here.st_ino == there.st_ino)
		return 0;
	return session_fail(PROTON_INVALID, "the current folder cannot be reached by its path: %s",
			    hint);
}

/* The file is named from where the program stands now. */
static int spec_name(struct spec *spec, const char *name)
{
	size_t len = 0, n;
	int r;

	name = *or_empty(name) ? name : "proton";
	n = MIN(strlen(name), (size_t)PATH_MAX);
	if (!strcmp(name, "-"))
		return session_fail(PROTON_INVALID,
				    "a session is written to a file: '-' names none");
	if (*name != '/') {
		r = spec_folder(spec);
		if (r < 0)
			return r;
		len = strlen(spec->name);
		if (len + 1 < sizeof(spec->name))
			spec->name[len++] = '/';
	}
	if (len + n + SUFFIX_MAX > sizeof(spec->name))
		return session_fail(PROTON_INVALID, "the name is too long for a file: '%.40s...'",
				    name);
	memcpy(spec->name + len, name, n + 1);
	return 0;
}

static int spec_fill(struct spec *spec, const char *name,
		     const struct proton_session_options *given)
{
	struct proton_session_options o = {0};

	/* A program of an older header knows fewer, and one of a newer header wants what is not known here. */
	if (given)
		memcpy(&o, given, MIN(given->size, sizeof(o)));
	if (given && given->size > sizeof(o))
		return session_fail(PROTON_INVALID, "options of a newer version of proton.h");
	spec->context = *word_of(contexts, or_empty(o.context));
	spec->device_type = device_type_of(backends, or_empty(o.backend));
	if (!spec->context)
		return session_fail(PROTON_INVALID,
				    "context '%.40s' is not known: shadow, scopes or python",
				    o.context);
	if (!spec->device_type)
		return session_fail(PROTON_INVALID,
				    "backend '%.40s' is not known: cupti, opencl, openmp or "
				    "instrumentation",
				    o.backend);
	if (!*word_of(datas, or_empty(o.data)))
		return session_fail(PROTON_INVALID,
				    "data '%.40s' of a session is not known: tree or trace",
				    o.data);
	spec->events = !strcasecmp(or_empty(o.data), "events");
	spec->traced = spec->events || !strcasecmp(or_empty(o.data), "trace");
	spec->warps = !strcasecmp(or_empty(o.data), "warps");
	if (!session_mode_read(or_empty(o.mode), spec->traced || spec->warps, &spec->mode))
		return session_fail(PROTON_INVALID,
				    "mode '%.60s' is not known: pcsampling, metrics:names=gmp, and "
				    "periodic_flushing, with or without :format=%s",
				    o.mode, session_formats_text(spec->traced || spec->warps));
	if (*or_empty(o.hook))
		return session_fail(PROTON_INVALID, "hook '%.40s' is not known: sessions have none",
				    o.hook);
	return spec_name(spec, name);
}

/* ---- the file between us and proton ---- */

static void answer_name(uint32_t id, char name[static WIRE_SESSION_FILE_MAX])
{
	snprintf(name, WIRE_SESSION_FILE_MAX, WIRE_SESSION_FILE, collector->instance, id);
}

static void answer_path(uint32_t id, char path[static PATH_MAX])
{
	char name[WIRE_SESSION_FILE_MAX];

	answer_name(id, name);
	snprintf(path, PATH_MAX, "%s/%s", collector->dir, name);
}

/* Made with the session, so that it can be written however the program ends; and anew when its end is asked
 * for, as a program that has given up its rights by then may not have it written. Where that fails, the one of its start
 * stays. */
static int answer_prepare(uint32_t id, const char *path)
{
	char name[WIRE_SESSION_FILE_MAX];

	answer_name(id, name);
	return whole_file_write(name, path, strlen(path));
}

/* 1: there is one that is whole, and whoever made it anew could as well have written to it. 0: there is none that proton
 * answers in. A negative errno: that cannot be told. */
static int answer_is_prepared(uint32_t id, const char *name)
{
	char path[PATH_MAX], text[PATH_MAX];
	size_t len = strlen(name);
	ssize_t n;
	int fd;

	answer_path(id, path);
	fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	n = read(fd, text, sizeof(text));
	close(fd);
	return n == (ssize_t)len && !memcmp(text, name, len);
}

/* 1: it is answered, with *ret_error (0, or a positive errno). 0: not yet. -ENOENT: the file is gone. */
static int answer_read(uint32_t id, int *ret_error)
{
	char path[PATH_MAX], text[16];
	ssize_t n;
	int fd;

	answer_path(id, path);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return errno == ENOENT ? -ENOENT : 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0 || *text == '/' || text[n - 1] != '\n')
		return 0;
	text[n] = '\0';
	*ret_error = (int)strtol(text, NULL, 10);
	return 1;
}

/* False: it is there, and not ours to remove. */
static bool answer_remove(uint32_t id)
{
	char path[PATH_MAX];

	answer_path(id, path);
	return unlink(path) == 0 || errno == ENOENT;
}

/* ---- starting and switching ---- */

/* One that is to be written to the same file and is not finalized, or WIRE_NONE. */
static uint32_t session_find(const char *name)
{
	for (uint32_t i = 0; i < n_sessions(); i++)
		if (session_is_live(i) && !strcmp(collector->session[i].name, name))
			return i;
	return WIRE_NONE;
}

static uint32_t n_live(void)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < n_sessions(); i++)
		n += session_state(i) <= WIRE_SESSION_ACTIVE;
	return n;
}

static uint32_t intern(const char *text)
{
	return string_intern(text, strlen(text));
}

static uint32_t intern_format(const struct session_entry *e, const char *format)
{
	return intern(e->events ? WIRE_FORMAT_EVENTS : e->warps ? WIRE_FORMAT_WARPS : format);
}

static void session_forget(uint32_t place)
{
	atomic_store(&collector->session[place].state, WIRE_SESSION_GONE);
	collector->session[place].is_done = true;
}

/* What its epochs had is the run's alone, and its place may be another one's. Under the lock. */
static void session_done(uint32_t place)
{
	epochs_leave(place, 0, UINT32_MAX);
	session_forget(place);
}

/* Also one whose file proton had not written when the program waited no longer, and has by now, or never will. */
static bool place_is_free(uint32_t place)
{
	const struct session_entry *e = &collector->session[place];
	int error;

	if (!e->is_done && e->is_left && answer_read(place, &error)) {
		answer_remove(place);
		session_done(place);
	}
	return e->is_done;
}

/* The sender, which no lock keeps out, holds what it reads and then looks at the number: it sees that this is another
 * place now, or is seen here. */
static bool place_claim(uint32_t place)
{
	atomic_store(&collector->session[place].number, SESSION_NOBODY);
	return !atomic_load(&collector->session[place].is_held);
}

/* The lowest that nobody uses, so that few are in use over all. WIRE_NONE: there is none. */
static uint32_t place_take(void)
{
	uint32_t i = 0, n = n_sessions();

	while (i < n && !(place_is_free(i) && place_claim(i)))
		i++;
	return i == MAX_SESSIONS ? WIRE_NONE : i;
}

/* A new one, not active yet; WIRE_NONE: there are too many. */
static uint32_t session_new_entry(const struct spec *spec)
{
	uint32_t id = n_live() < MAX_LIVE_SESSIONS ? place_take() : WIRE_NONE;
	struct session_entry *e = &collector->session[id];

	if (id == WIRE_NONE)
		return id;
	memcpy(e->name, spec->name, sizeof(e->name));
	e->number = collector->n_started++;
	e->is_done = e->is_left = false;
	e->finalizing = false;
	e->phase = e->next_flush = 0;
	e->traced = spec->traced;
	e->events = spec->events;
	e->warps = spec->warps;
	if (e->traced)
		atomic_store(&collector->traced, true);
	e->flush_format = spec->mode.flush_format ? intern_format(e, spec->mode.flush_format) : 0;
	e->format = e->flush_format ? e->flush_format
				    : intern_format(e, session_format(session_is_trace(id), NULL));
	e->context = intern(spec->context);
	e->device_type = intern(spec->device_type);
	(void)answer_prepare(id, spec->name); /* said when it ends */
	atomic_store(&e->state, WIRE_SESSION_INACTIVE);
	if (id == n_sessions())
		atomic_store_explicit(&collector->n_sessions, id + 1, memory_order_release);
	return id;
}

static bool session_switch(uint32_t id, uint32_t state)
{
	atomic_store(&collector->session[id].state, state);
	return epochs_update();
}

static int start_locked(const struct spec *spec)
{
	uint32_t id = session_find(spec->name);

	if (id == WIRE_NONE && collector->n_started == INT_MAX)
		return session_fail(PROTON_FULL, "there are no numbers for more sessions");
	if (id == WIRE_NONE)
		id = session_new_entry(spec);
	if (id == WIRE_NONE)
		return session_fail(PROTON_FULL, "a process may have %d sessions at a time",
				    MAX_LIVE_SESSIONS);
	if (!session_switch(id, WIRE_SESSION_ACTIVE)) {
		session_switch(id, WIRE_SESSION_INACTIVE);
		return session_fail(
			PROTON_FULL,
			"there are too many sets of sessions that were active together");
	}
	return (int)collector->session[id].number;
}

/* What is measured has a place in each value's set, and CUPTI's profiler a plan: both are made once, at first. */
static void say_if_unmeasured(void)
{
	if (!measured_wanted() && !measured_asked())
		collect_note(
			NOTE_WARNING,
			"no hardware metrics: the first session of a program that starts by itself asks for them, "
			"else the run (proton record --metrics)");
}

/* Whoever asked for others would take the first one's for its own. */
static int check_metrics(const char *names)
{
	const char *missing = names && measured_asked() ? measured_missing(names) : NULL;

	if (!missing)
		return 0;
	return session_fail(
		PROTON_INVALID,
		"the first session asked for all metrics of this program, '%.40s', without '%.*s'",
		measured_asked(), (int)MIN(strcspn(missing, ","), (size_t)60), missing);
}

int collect_session_start(const char *name, const struct proton_session_options *options)
{
	struct spec spec;
	int r = spec_fill(&spec, name, options);

	r = r < 0 ? r : check_metrics(spec.mode.metrics);
	if (r < 0)
		return r;
	if (!sessions_lock())
		return session_fail_locked();
	r = start_locked(&spec);
	sessions_unlock();
	if (r < 0)
		return r;
	/* Launches are told apart from now on: those before are of no session. */
	backends_attribute();
	if (spec.mode.samples)
		backends_sample();
	if (spec.mode.metrics)
		say_if_unmeasured();
	/* Whoever ends the next moment has a session that proton knows. */
	session_wait_begin();
	sender_deliver();
	return r;
}

/* All of them, or the one. Under the lock. */
static int switch_locked(int session, uint32_t state)
{
	int place = session_place(session);
	bool fits;

	if (session != PROTON_ALL_SESSIONS && place < 0)
		return session_fail_unknown(session);
	for (uint32_t i = 0; i < n_sessions(); i++)
		if (session == PROTON_ALL_SESSIONS ? session_is_live(i) : i == (uint32_t)place)
			atomic_store(&collector->session[i].state, state);
	fits = epochs_update();
	return fits ? PROTON_OK
		    : session_fail(PROTON_FULL,
				   "there are too many sets of sessions that were active together");
}

static int session_set_state(int session, uint32_t state)
{
	int r;

	if (!sessions_lock())
		return session_fail_locked();
	r = switch_locked(session, state);
	sessions_unlock();
	return r;
}

int collect_session_activate(int session)
{
	return session_set_state(session, WIRE_SESSION_ACTIVE);
}

/* How many launches are to be waited for yet. */
typedef uint64_t left_fn(uint64_t of);

/* … until so many have ended. */
static uint64_t n_left(uint64_t launched)
{
	uint64_t n_ended;

	burst_launches(&n_ended);
	return launched - MIN(n_ended, launched);
}

/* … of the session in a place, before the epochs turned. */
static uint64_t n_left_of(uint64_t place)
{
	uint64_t n;

	if (!sessions_lock())
		return 0;
	n = epochs_n_unended((uint32_t)place);
	sessions_unlock();
	return n;
}

/* Wait until these have been recorded and sent, as long as records come. In a program that ends, they have been waited
 * for. */
static void settle_those(left_fn *left, uint64_t of)
{
	struct patience p = patience(SETTLE_MS);
	uint64_t n, seen = 0;

	if (atomic_load(&collector->sender) > SENDER_ON)
		return;
	while (sender_deliver() && (n = left(of))) {
		if (n != seen)
			p = patience(SETTLE_MS);
		seen = n;
		if (!session_wait_look(&p))
			break;
	}
}

/* … what was launched until now. */
static void settle(void)
{
	uint64_t n_ended;

	settle_those(n_left, burst_launches(&n_ended));
}

/* … and what has not is not waited for by phases that are over. */
static void settle_session(int session)
{
	settle();
	if (!sessions_lock())
		return;
	for (uint32_t i = 0; i < n_sessions(); i++)
		if (session == PROTON_ALL_SESSIONS ||
		    collector->session[i].number == (uint32_t)session)
			epochs_give_up(i, collector->session[i].phase);
	sessions_unlock();
}

int collect_session_deactivate(int session, bool flush)
{
	int r = session_set_state(session, WIRE_SESSION_INACTIVE);

	session_wait_begin();
	if (r == PROTON_OK && flush)
		settle_session(session);
	return r;
}

static int flush_locked(int session)
{
	int place = session_place(session);

	if (place < 0)
		return session_fail_unknown(session);
	if (!epochs_turn())
		return session_fail(
			PROTON_FULL,
			"there are too many sets of sessions that were active together");
	return place;
}

int collect_session_flush(int session)
{
	int place;

	if (!sessions_lock())
		return session_fail_locked();
	place = flush_locked(session);
	sessions_unlock();
	if (place < 0)
		return place;
	session_wait_begin();
	settle_those(n_left_of, (uint64_t)place);
	return PROTON_OK;
}

/* ---- the end of one ---- */

/* As answer_read(), as long as proton is there. */
static int answer_await(uint32_t id, int *ret_error)
{
	struct patience p = patience(ANSWER_MS);
	int answered;

	for (int i = 0; !(answered = answer_read(id, ret_error)); i++) {
		if (i % ASK_EVERY == 0 &&
		    (!atomic_load(&collector->control->alive) || !sender_deliver()))
			break;
		if (!session_wait_look(&p)) {
			session_wait_give_up();
			break;
		}
	}
	return answered;
}

static int fail_unanswered(int answered)
{
	if (answered < 0)
		return session_fail(PROTON_UNWRITTEN,
				    "proton's folder was removed: the file may be missing");
	return session_fail(PROTON_UNWRITTEN,
			    session_wait_is_over()
				    ? "proton does not answer: it writes the file when it goes on"
				    : "proton did not answer: the file may be missing");
}

/* Nothing can be asked for. With the file of its start, if that may be there, proton writes it all the same when the
 * program has ended. */
static int fail_unasked(uint32_t id, int error, bool may_be_there)
{
	bool is_kept = may_be_there || !answer_remove(id);

	if (!is_kept)
		atomic_store_explicit(&collector->session[id].state, WIRE_SESSION_FINALIZED,
				      memory_order_release);
	/* A folder, or what was just written there: whoever removes the one removes the other. */
	if (!is_kept && error == ENOENT)
		return fail_unanswered(-ENOENT);
	return session_fail(PROTON_UNWRITTEN, "proton's folder cannot be written to: %s%s",
			    strerror(error),
			    is_kept ? "; the file is written when the program has ended" : "");
}

/* Tell proton, and wait until the file is there. One that stands still may write it later: then the file in which it
 * is to answer, without which it does not, stays. */
static int finalize_write(uint32_t id)
{
	struct session_entry *e = &collector->session[id];
	int error = answer_prepare(id, e->name), answered;
	int prepared = error < 0 ? answer_is_prepared(id, e->name) : 1;

	if (prepared <= 0)
		return fail_unasked(id, -error, prepared < 0);
	atomic_store_explicit(&e->state, WIRE_SESSION_FINALIZED, memory_order_release);
	answered = answer_await(id, &error);
	if (answered <= 0)
		return fail_unanswered(answered);
	answer_remove(id);
	return error ? session_fail(PROTON_UNWRITTEN, "the file was not written: %s",
				    strerror(error))
		     : PROTON_OK;
}

/* Its place, which is nobody else's from now on: not to be activated, and its name is free. Or why not. */
static int claim_locked(int session, const char *format)
{
	int place = session_place(session);
	struct session_entry *e;
	bool traced;

	if (place < 0)
		return session_fail_unknown(session);
	e = &collector->session[place];
	traced = session_is_trace((uint32_t)place);
	if (*format && !session_format(traced, format))
		return session_fail(PROTON_INVALID, "format '%.40s' is not one of this session: %s",
				    format, session_formats_text(traced));
	e->finalizing = true;
	if (*format)
		e->format = intern_format(e, session_format(traced, format));
	session_switch((uint32_t)place, WIRE_SESSION_INACTIVE);
	return place;
}

static int finalize_claim(int session, const char *format)
{
	int r;

	if (!sessions_lock())
		return session_fail_locked();
	r = claim_locked(session, format);
	sessions_unlock();
	return r;
}

/* A file for each phase that is there, and for that of now in any case. */
static int finalize_phases(uint32_t id)
{
	struct session_entry *e = &collector->session[id];
	uint32_t phase = 0, last = e->phase;
	int r = PROTON_OK, one;

	for (bool more = true; more; phase++) {
		if (!sessions_lock())
			return session_fail_locked();
		phase = MIN(epochs_next_phase(id, phase), last);
		sessions_unlock();
		one = phase_write(id, phase, e->format);
		r = one < 0 ? one : r;
		more = phase < last && one != PROTON_BUSY;
	}
	/* Asked for none by itself, proton writes all that are there. */
	if (r == PROTON_UNWRITTEN)
		return finalize_write(id);
	/* Without a file to answer in nobody writes another one. */
	answer_remove(id);
	atomic_store_explicit(&e->state, WIRE_SESSION_FINALIZED, memory_order_release);
	return r;
}

/* That is all, unless proton may be yet to write it. */
static void finalize_release(uint32_t place, bool is_written)
{
	if (!sessions_lock())
		return;
	if (is_written)
		session_done(place);
	else
		collector->session[place].is_left = true;
	sessions_unlock();
}

static int finalize_one(int session, const char *format)
{
	int r = finalize_claim(session, or_empty(format));
	uint32_t place = (uint32_t)r;

	if (r < 0)
		return r;
	settle();
	phases_await_files(place);
	r = collector->session[place].phase ? finalize_phases(place) : finalize_write(place);
	finalize_release(place, r == PROTON_OK || (session_state(place) == WIRE_SESSION_FINALIZED &&
						   !session_wait_is_over()));
	return r;
}

int collect_session_finalize(int session, const char *format)
{
	int r = PROTON_OK, one;

	if (*or_empty(format) && !session_format(false, format) && !session_format(true, format))
		return session_fail(PROTON_INVALID,
				    "format '%.40s' is not one of sessions: %s or %s", format,
				    session_formats_text(false), session_formats_text(true));
	session_wait_begin();
	if (session != PROTON_ALL_SESSIONS)
		return finalize_one(session, format);
	for (uint32_t i = 0; i < n_sessions(); i++) {
		one = session_is_live(i) ? finalize_one((int)collector->session[i].number, format)
					 : PROTON_OK;
		if (one < 0 && one != PROTON_UNKNOWN) /* another thread was faster */
			r = one;
	}
	return r;
}

void sessions_end(void)
{
	if (collector_is_ours())
		collect_session_finalize(PROTON_ALL_SESSIONS, NULL);
}

void sessions_forked(void)
{
	atomic_store(&collector->sessions_lock, 0);
	for (uint32_t i = 0; i < n_sessions(); i++) {
		session_forget(i);
		collector->session[i].is_held = false; /* by a sender that is not here */
	}
	epochs_forked();
	late_values_forked();
	asks_forked();
	flushing_forked();
}
