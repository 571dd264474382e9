/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/phases.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>
#include "collect/asks.h"
#include "collect/epochs.h"
#include "collect/flushing.h"
#include "collect/host_clock.h"
#include "collect/patience.h"
#include "collect/session_table.h"
#include "collect/session_wait.h"
#include "core/session_words.h"

enum {
	ASK_EVERY =
		200,   /* of so many looks whether there is an answer one whether proton is there */
	LEFT_MAX = 32, /* epochs that are not needed any more and not free yet */
	BEHIND_MAX = 32,  /* phases that are not in their files */
	BEHIND_MS = 2000, /* how long the program waits for these */
};

/* ---- one after another ---- */

/* What is cleared is to be used anew before there is much of it. */
static void relieve(void)
{
	bool many = false;

	if (sessions_lock()) {
		many = epochs_n_left() > LEFT_MAX;
		sessions_unlock();
	}
	if (many)
		sender_deliver();
}

static int advance_locked(int session, uint32_t *ret_place)
{
	int place = session_place(session);
	struct session_entry *e;

	if (place < 0)
		return session_fail_unknown(session);
	*ret_place = (uint32_t)place;
	e = &collector->session[place];
	if (e->phase == INT_MAX)
		return session_fail(PROTON_FULL, "there are no numbers for more phases");
	e->phase++;
	if (session_state(*ret_place) != WIRE_SESSION_ACTIVE || epochs_update())
		return (int)e->phase;
	e->phase--;
	epochs_update();
	return session_fail(PROTON_FULL, "a process may have %d phases that are not cleared",
			    MAX_EPOCHS);
}

/* Wait while more than n files are missing that are asked for, as long as proton is there. */
static void await_files(uint32_t session, uint32_t n, uint32_t ms)
{
	struct patience p = patience(ms);

	for (int i = 0; flushing_n(session) > n; i++) {
		if (i % ASK_EVERY == 0 &&
		    (!atomic_load(&collector->control->alive) || !sender_deliver()))
			break;
		flushing_poll();
		if (!session_wait_look(&p))
			break;
	}
}

void phases_await_files(uint32_t session)
{
	await_files(session, 0, ANSWER_MS);
}

/* A program that goes on faster than its phases are written waits for them, lest they become many. */
static void keep_up(uint32_t session)
{
	flushing_poll();
	for (int i = 0; i < BEHIND_MAX && flushing_behind(session) > BEHIND_MAX; i++) {
		uint32_t n = flushing_n(session);

		if (!n) /* what is launched is not over */
			break;
		await_files(session, n - 1, BEHIND_MS);
		flushing_poll();
	}
}

/* Phases of a session repeat as steps of a loop do: those of the session that advanced last. The first began before
 * anybody looked. */
static void tell_step(int session, int phase)
{
	static _Atomic int last_session = -1;
	static _Atomic uint64_t last_ns;
	uint64_t now = host_clock_ns(), began_ns = atomic_exchange(&last_ns, now);
	bool is_same = atomic_exchange(&last_session, session) == session;
	char name[32];
	int len = snprintf(name, sizeof(name), "phase %d", phase);

	if (is_same && began_ns && now >= began_ns)
		collect_step(name, (size_t)len, began_ns, now);
}

int collect_phase_advance(int session)
{
	uint32_t place = 0;
	int r;

	if (!sessions_lock())
		return session_fail_locked();
	r = advance_locked(session, &place);
	sessions_unlock();
	if (r > 0)
		tell_step(session, r - 1);
	session_wait_begin();
	if (r >= 0 && collector->session[place].flush_format) {
		keep_up(place);
		relieve();
	}
	return r;
}

static int fail_phase(int session, int phase)
{
	return session_fail(PROTON_INVALID, "there is no phase %d of session %d", phase, session);
}

int collect_phase_is_complete(int session, int phase)
{
	int place, r;

	if (!sessions_lock())
		return session_fail_locked();
	place = session_place(session);
	if (place < 0)
		r = session_fail_unknown(session);
	else if (phase < 0)
		r = fail_phase(session, phase);
	else
		r = (uint32_t)phase < collector->session[place].phase &&
		    epochs_are_complete((uint32_t)place, (uint32_t)phase);
	sessions_unlock();
	return r;
}

static int clear_locked(int session, int phase, int up_to)
{
	int place = session_place(session);

	if (place < 0)
		return session_fail_unknown(session);
	if (phase < 0)
		return fail_phase(session, phase);
	epochs_leave((uint32_t)place, up_to ? 0 : (uint32_t)phase, (uint32_t)phase);
	/* The phase of now begins anew. */
	return epochs_update() ? PROTON_OK
			       : session_fail(PROTON_FULL,
					      "there are too many sets of sessions and phases");
}

int collect_phase_clear(int session, int phase, int up_to)
{
	int r;

	if (!sessions_lock())
		return session_fail_locked();
	r = clear_locked(session, phase, up_to);
	sessions_unlock();
	session_wait_begin();
	relieve();
	return r;
}

/* ---- asking ---- */

static int fail_unanswered(void)
{
	return session_fail(PROTON_UNWRITTEN, "proton did not answer");
}

/* Others ask, too: a place for one more. */
static int ask_patiently(const struct ask *ask)
{
	struct patience p = patience(ANSWER_MS);
	int place;

	while ((place = ask_post(ask)) == -EAGAIN && session_wait_look(&p))
		;
	return place;
}

/* Until there is an answer, as long as proton is there. */
static int ask_await(int place, int *ret_error, int *ret_fd)
{
	struct patience p = patience(ANSWER_MS);
	int r;

	for (int i = 0;; i++) {
		if (i % ASK_EVERY == 0 &&
		    (!atomic_load(&collector->control->alive) || !sender_deliver()))
			return 0;
		r = ask_look(place, ret_error, ret_fd);
		if (r == 0 && session_wait_look(&p))
			continue;
		if (r == 0)
			session_wait_give_up();
		return r;
	}
}

/* A status of proton.h; ret_fd may be NULL. */
static int ask(const struct ask *what, int *ret_fd)
{
	int place = ask_patiently(what), error = 0, r;

	if (place < 0)
		return session_fail(PROTON_UNWRITTEN, "proton's folder cannot be written to: %s",
				    strerror(-place));
	r = ask_await(place, &error, ret_fd);
	/* A file may be written later, by a proton that stands still. */
	if (r == 0 && what->what == WIRE_ASK_FILE)
		ask_leave(place);
	else
		ask_done(place);
	if (r <= 0)
		return fail_unanswered();
	if (!error)
		return PROTON_OK;
	if (ret_fd)
		close(*ret_fd);
	return session_fail(PROTON_UNWRITTEN, "%s: %s",
			    ret_fd ? "the data was not made" : "the file was not written",
			    strerror(error));
}

int phase_write(uint32_t session, uint32_t phase, uint32_t format)
{
	const struct ask what = {WIRE_ASK_FILE, session, phase, format};

	return ask(&what, NULL);
}

/* ---- data ---- */

/* Data may be in a format of ours, too. */
static const char *data_format(bool traced, const char *word)
{
	return !traced && word && !strcasecmp(word, "json") ? "json" : session_format(traced, word);
}

/* All behind the head, with a zero behind it. */
static int data_read(int fd, char **ret_data, size_t *ret_size)
{
	struct stat st;
	size_t size, at = 0;
	ssize_t n = 1;
	char *data;

	if (fstat(fd, &st) < 0 || st.st_size < WIRE_ANSWER_HEAD)
		return fail_unanswered();
	size = (size_t)st.st_size - WIRE_ANSWER_HEAD;
	data = malloc(size + 1);
	if (!data)
		return session_fail(PROTON_FULL, "there is no memory for %zu bytes", size);
	for (; at < size && n > 0; at += n > 0 ? (size_t)n : 0)
		n = pread(fd, data + at, size - at, (off_t)(WIRE_ANSWER_HEAD + at));
	if (at < size) {
		free(data);
		return fail_unanswered();
	}
	data[size] = '\0';
	*ret_data = data;
	*ret_size = size;
	return PROTON_OK;
}

/* Where the session is, or why not. */
static int data_check(int session, int phase)
{
	int place;

	if (!sessions_lock())
		return session_fail_locked();
	place = session_place(session);
	if (place < 0)
		place = session_fail_unknown(session);
	else if (phase < 0 || (uint32_t)phase > collector->session[place].phase)
		place = fail_phase(session, phase);
	sessions_unlock();
	return place;
}

int collect_session_data(int session, int phase, const char *format, char **ret_data,
			 size_t *ret_size)
{
	struct ask what = {WIRE_ASK_DATA, 0, (uint32_t)phase, 0};
	int fd = -1, r = data_check(session, phase);
	const char *word;
	bool traced;

	if (r < 0)
		return r;
	session_wait_begin();
	what.session = (uint32_t)r;
	traced = session_is_trace((uint32_t)r);
	word = data_format(traced, format);
	if (!word)
		return session_fail(PROTON_INVALID, "format '%.40s' is not one of data: %s", format,
				    traced ? "chrome_trace" : "hatchet, hatchet_msgpack or json");
	if (collector->session[r].warps)
		word = WIRE_FORMAT_WARPS;
	what.format = string_intern(word, strlen(word));
	r = ask(&what, &fd);
	if (r < 0)
		return r;
	r = data_read(fd, ret_data, ret_size);
	close(fd);
	return r;
}

void collect_data_free(char *data)
{
	free(data);
}
