/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/flushing.h"
#include <stdio.h>
#include <string.h>
#include "collect/asks.h"
#include "collect/epochs.h"
#include "collect/session_table.h"

enum { FLUSHING_MAX = 8 }; /* files at a time */

/* By place of an ask; under the sessions' lock. */
static struct {
	bool on;
	uint32_t session, phase;
} files[MAX_ASKS];

static uint32_t n_files(uint32_t session)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < MAX_ASKS; i++)
		n += files[i].on && (session == WIRE_NONE || files[i].session == session);
	return n;
}

/* It stays, and finalizing the session tries again. */
static void note_unwritten(uint32_t session, const char *why)
{
	char text[256];

	snprintf(text, sizeof(text),
		 "phases of session %u are kept until it is finalized: a file was not written: %s",
		 collector->session[session].number, why);
	note_add(NOTE_WARNING, text);
}

static void file_look(uint32_t place)
{
	uint32_t session = files[place].session, phase = files[place].phase;
	int error = 0, r = ask_look((int)place, &error, NULL);

	if (r == 0)
		return;
	files[place].on = false;
	ask_done((int)place);
	if (r > 0 && !error)
		epochs_leave(session, phase, phase);
	else
		note_unwritten(session, strerror(r < 0 ? -r : error));
}

/* Ask for the next phase of a session. False: there is none that is over and complete, or too many are under way. */
static bool file_ask(uint32_t session)
{
	struct session_entry *e = &collector->session[session];
	uint32_t phase = epochs_next_phase(session, e->next_flush);
	int place;

	if (phase >= e->phase || n_files(WIRE_NONE) >= FLUSHING_MAX ||
	    !epochs_are_complete(session, phase))
		return false;
	place = ask_post(&(struct ask){WIRE_ASK_FILE, session, phase, e->flush_format});
	if (place < 0)
		return false;
	files[place].on = true;
	files[place].session = session;
	files[place].phase = phase;
	e->next_flush = phase + 1;
	return true;
}

void flushing_poll(void)
{
	if (!n_sessions() || !sessions_try_lock())
		return;
	for (uint32_t i = 0; i < MAX_ASKS; i++)
		if (files[i].on)
			file_look(i);
	for (uint32_t i = 0; i < n_sessions(); i++)
		while (collector->session[i].flush_format && session_is_live(i) && file_ask(i))
			;
	sessions_unlock();
}

uint32_t flushing_n(uint32_t session)
{
	uint32_t n = 0;

	if (sessions_lock()) {
		n = n_files(session);
		sessions_unlock();
	}
	return n;
}

uint32_t flushing_behind(uint32_t session)
{
	const struct session_entry *e = &collector->session[session];
	uint32_t n = 0, first;

	if (!e->flush_format || !sessions_lock())
		return 0;
	first = epochs_next_phase(session, 0);
	if (first < e->phase)
		n = e->phase - first;
	sessions_unlock();
	return n;
}

void flushing_forked(void)
{
	memset(files, 0, sizeof(files));
}
