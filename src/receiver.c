/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "receiver.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/util.h"
#include "launch/session_dir.h"
#include "wire/decode.h"
#include "wire/wire.h"

enum {
	CHUNK = 256 * 1024,
	CALL_MAX = 8 * 1024 * 1024, /* then others get their turn */
};
#define KEY_EVERY_NS (10 * NSEC_PER_SEC)
#define SILENCE_NS   (400 * NSEC_PER_MSEC) /* four periods of a collector */

struct receiver {
	int fd, tape;
	int tape_error;
	uint64_t last_key_ns;
	struct control_page *control;
	struct session *session;
	struct wire_decoder *decoder;
	unsigned char chunk[CHUNK];
};

/* All or nothing, as far as the disk lets us; the first error ends the tape. */
static void tape_write(struct receiver *r, const void *data, size_t n)
{
	const char *p = data;
	ssize_t w;

	while (n && r->tape >= 0) {
		w = write(r->tape, p, n);
		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0) {
			r->tape_error = -errno;
			close(r->tape);
			r->tape = -1;
			return;
		}
		p += w;
		n -= (size_t)w;
	}
}

static int tape_open(struct receiver *r, const char *path)
{
	struct wire_tape_header h = {.version = WIRE_VERSION,
				     .header_size = sizeof(h),
				     .start_ns = clock_realtime_ns()};

	memcpy(h.magic, WIRE_TAPE_MAGIC, sizeof(h.magic));
	r->tape = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (r->tape < 0)
		return -errno;
	tape_write(r, &h, sizeof(h));
	return r->tape_error;
}

int receiver_new(int fd, struct control_page *control, const char *tape,
		 struct receiver **ret_receiver)
{
	struct receiver *r = calloc(1, sizeof(*r));
	int e = 0;

	if (!r)
		return -ENOMEM;
	r->fd = fd;
	r->tape = -1;
	r->control = control;
	r->session = session_new();
	r->decoder = r->session ? wire_decoder_new(r->session) : NULL;
	if (!r->decoder)
		e = -ENOMEM;
	else if (tape)
		e = tape_open(r, tape);
	if (e < 0) {
		receiver_free(r);
		return e;
	}
	r->session->start_ns = clock_realtime_ns();
	r->last_key_ns = clock_monotonic_ns();
	*ret_receiver = r;
	return 0;
}

struct receiver *receiver_free(struct receiver *r)
{
	if (!r)
		return NULL;
	if (r->tape >= 0)
		close(r->tape);
	wire_decoder_free(r->decoder);
	session_free(r->session);
	free(r);
	return NULL;
}

struct session *receiver_session(struct receiver *r)
{
	return r->session;
}

ssize_t receiver_read(struct receiver *r)
{
	size_t total = 0;
	ssize_t n;
	int e;

	while (total < CALL_MAX) {
		n = read(r->fd, r->chunk, sizeof(r->chunk));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		tape_write(r, r->chunk, (size_t)n);
		e = wire_decoder_feed(r->decoder, r->chunk, (size_t)n);
		if (e < 0)
			return e;
		total += (size_t)n;
	}
	return (ssize_t)total;
}

/* A process is known by its pid; its start is later than ours, so a pid that was used again is
 * told apart by its own HELLO. One in another pid namespace is not to be seen: it lives as long as
 * it speaks. */
static bool process_dead(const struct session_process *p)
{
	unsigned long long start;

	return process_start_time((pid_t)p->pid, &start) == -ESRCH &&
	       clock_monotonic_ns() - p->last_ns > SILENCE_NS;
}

unsigned receiver_alive(struct receiver *r)
{
	struct session *s = r->session;
	unsigned alive = 0;
	size_t i;

	for (i = 0; i < s->n_processes; i++) {
		struct session_process *p = &s->processes[i];

		if (p->end != PROCESS_RUNS || !p->pid)
			continue;
		if (process_dead(p)) {
			/* Its last frames may still be in the pipe. */
			receiver_read(r);
			p = &s->processes[i];
			if (p->end == PROCESS_RUNS)
				p->end = PROCESS_VANISHED;
			s->generation++;
		} else {
			alive++;
		}
	}
	return alive;
}

void receiver_tick(struct receiver *r)
{
	uint64_t now = clock_monotonic_ns();

	receiver_alive(r);
	/* A reader of the tape can begin at any key frame: the collectors send all again. */
	if (r->tape >= 0 && now - r->last_key_ns >= KEY_EVERY_NS) {
		struct {
			struct wire_header h;
			struct wire_key key;
		} f = {.h = {.magic = WIRE_MAGIC,
			     .kind = WIRE_KEY,
			     .length = sizeof(f),
			     .n = 1,
			     .time_ns = now},
		       .key = {clock_realtime_ns()}};

		tape_write(r, &f, sizeof(f));
		atomic_fetch_add(&r->control->resync, 1);
		r->last_key_ns = now;
	}
}

int receiver_finish(struct receiver *r)
{
	ssize_t n;

	while ((n = receiver_read(r)) > 0)
		;
	receiver_alive(r);
	r->session->end_ns = clock_realtime_ns();
	r->session->ended = true;
	return n < 0 ? (int)n : r->tape_error;
}

int receiver_tape_error(const struct receiver *r)
{
	return r->tape_error;
}
