/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "live/session_files.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/util.h"
#include "core/cut.h"
#include "format/format.h"
#include "live/receiver.h"
#include "wire/decode.h"
#include "wire/wire.h"

/* What a session leaves out of the contexts that the run reads, by the word for what it wants. */
static uint32_t kinds_without(const char *context)
{
	static const struct {
		const char *word;
		uint32_t without;
	} contexts[] = {
		{"shadow", CUT_KIND(FRAME_PYTHON) | CUT_KIND(FRAME_NATIVE) |
				   CUT_KIND(FRAME_MODULE) | CUT_KIND(FRAME_OPERATOR)},
		{"python", CUT_KIND(FRAME_SCOPE) | CUT_KIND(FRAME_NVTX) | CUT_KIND(FRAME_NATIVE) |
				   CUT_KIND(FRAME_MODULE) | CUT_KIND(FRAME_OPERATOR)},
	};

	for (size_t i = 0; i < ARRAY_SIZE(contexts); i++)
		if (!strcmp(contexts[i].word, context))
			return contexts[i].without;
	return 0;
}

/* Is the row of work on a device of this type, or of the host's? */
static bool row_fits(const struct session *s, const struct session_row *row,
		     const char *device_type)
{
	uint32_t device = session_lane_at(s, row->lane)->device;

	return device >= s->n_devices ||
	       !strcmp(strtab_str(s->strings, s->devices[device].type), device_type);
}

static int cut_session(struct receiver *r, size_t i, const struct wire_session_state *state,
		       struct session **ret)
{
	const struct session *s = receiver_session(r);
	_cleanup_(freep) uint8_t *rows = calloc(s->n_rows + 1, 1);
	int e = rows ? wire_decoder_session_rows(receiver_decoder(r), i, rows) : -ENOMEM;

	if (e < 0)
		return e;
	for (size_t k = 0; *state->device_type && k < s->n_rows; k++)
		rows[k] = rows[k] && row_fits(s, &s->rows[k], state->device_type);
	return session_cut(s, rows, kinds_without(state->context), ret);
}

static int write_session(struct receiver *r, size_t i, const struct wire_session_state *state)
{
	const struct format *format = format_by_name(state->format);
	_cleanup_(session_freep) struct session *part = NULL;
	_cleanup_(freep) char *path = NULL;
	struct stat st;
	int e;

	if (!format || !format->write || *state->name != '/')
		return -EINVAL;
	if (asprintf(&path, "%s%s", state->name, format->suffix) < 0)
		return -ENOMEM;
	/* Nobody may ever read from a FIFO. */
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return -EINVAL;
	e = cut_session(r, i, state, &part);
	return e < 0 ? e : format_save(path, format, part, NULL);
}

static void answer(const struct session_files *f, int error)
{
	char text[16];
	int n = snprintf(text, sizeof(text), "%d\n", error);

	(void)!write(f->answer, text, (size_t)n);
}

static void start(struct session_files *f, struct receiver *r, size_t i,
		  const struct wire_session_state *state)
{
	int e;

	f->child = fork();
	if (f->child == 0) {
		/* Ctrl-C is for the program; this child only finishes its file. */
		signal(SIGINT, SIG_IGN);
		signal(SIGQUIT, SIG_IGN);
		e = write_session(r, i, state);
		answer(f, -e);
		_exit(e < 0);
	}
	if (f->child > 0)
		return;
	answer(f, errno);
	f->child = 0;
	f->n_failed++;
	close(f->answer);
}

/* The next one that is due, if its program may ask for it. */
static void start_next(struct session_files *f, struct receiver *r)
{
	struct wire_decoder *d = receiver_decoder(r);
	char name[WIRE_SESSION_FILE_MAX];
	struct wire_session_state state;

	for (size_t i = 0; !f->child && wire_decoder_session(d, i, &state); i++) {
		if (state.state != WIRE_SESSION_FINALIZED || state.taken)
			continue;
		wire_decoder_session_take(d, i);
		snprintf(name, sizeof(name), WIRE_SESSION_FILE, state.instance, state.id);
		f->answer = receiver_open_file(r, name);
		if (f->answer >= 0)
			start(f, r, i, &state);
	}
}

/* A child that was killed has answered nothing. As process 1 of a container we reap all processes
 * elsewhere, this one too: then it has. */
static void ended(struct session_files *f, int status)
{
	if (WIFSIGNALED(status))
		answer(f, EIO);
	f->n_failed += status != 0;
	f->n_written += status == 0;
	f->child = 0;
	close(f->answer);
}

static void reap(struct session_files *f, int options)
{
	int status = 0;
	pid_t pid;

	do
		pid = waitpid(f->child, &status, options);
	while (pid < 0 && errno == EINTR);
	if (pid)
		ended(f, pid < 0 ? 0 : status);
}

void session_files_poll(struct session_files *f, struct receiver *r)
{
	if (f->child)
		reap(f, WNOHANG);
	if (!f->child)
		start_next(f, r);
}

void session_files_finish(struct session_files *f, struct receiver *r)
{
	for (session_files_poll(f, r); f->child; session_files_poll(f, r))
		reap(f, 0);
}
