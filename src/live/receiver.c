/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "live/receiver.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/clock.h"
#include "base/named_file.h"
#include "base/util.h"
#include "format/write_file.h"
#include "launch/launch.h"
#include "launch/session_dir.h"
#include "live/forward.h"
#include "naming/code_lines.h"
#include "naming/native.h"
#include "wire/counters.h"
#include "wire/decode.h"
#include "wire/retell.h"
#include "wire/run.h"
#include "wire/sensors.h"
#include "wire/wire.h"

enum {
	CHUNK = 256 * 1024,
	PIPE_CHUNK = 16 * 1024,     /* at a time into a tape that is a pipe */
	CALL_MAX = 8 * 1024 * 1024, /* bytes a call, so that signals and the screen get a turn */
	TAPE_MS = 1000,             /* how long to wait for a reader of a tape that is a pipe */
	BULK_MAX = WIRE_PAYLOAD_MAX - sizeof(struct wire_bulk), /* bytes of a segment in a frame */
};
/* To look up names of compiled code, a call: the screen waits for so long. */
#define NAMES_NS        (100 * NSEC_PER_MSEC)
#define KEY_EVERY_NS    (10 * NSEC_PER_SEC)
#define SILENCE_NS      (400 * NSEC_PER_MSEC) /* four periods of a collector */
#define LONG_SILENCE_NS (3 * NSEC_PER_SEC)

struct receiver {
	const struct session_dir *dir;
	int tape;
	bool tape_is_pipe;
	int tape_error;
	struct forward *forward; /* NULL: nobody reads elsewhere */
	pid_t expected;          /* a process that started us; 0: none */
	uint64_t last_key_ns;
	uint64_t n_read; /* bytes of the stream */
	struct session *session;
	struct wire_decoder *decoder;
	struct native_names *names;
	struct code_lines *lines;
	struct native_namer namer; /* of both */
	struct wire_counters_told counters_told;
	unsigned char chunk[CHUNK];
};

/* Wait only a moment for a reader that does not read: otherwise it would stop us, and with us all
 * collectors. When poll() says that a pipe is writable, it takes PIPE_BUF bytes at once. */
static int pipe_write(int fd, const char *data, size_t n)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};
	size_t piece;
	int e = 0;

	for (; n && e == 0; data += piece, n -= piece) {
		piece = MIN(n, (size_t)PIPE_BUF);
		if (poll(&p, 1, TAPE_MS) <= 0)
			return -ETIMEDOUT;
		e = out_write_fd((void *)(intptr_t)fd, data, piece);
	}
	return e;
}

/* The first error ends the tape, but not the run. A reader who leaves is such an error. */
static void tape_write(struct receiver *r, const void *data, size_t n)
{
	if (r->tape < 0)
		return;
	r->tape_error = r->tape_is_pipe ? pipe_write(r->tape, data, n)
					: out_write_fd((void *)(intptr_t)r->tape, data, n);
	if (r->tape_error < 0) {
		close(r->tape);
		r->tape = -1;
	}
}

/* To all who read the stream. */
static void pass_on(struct receiver *r, const void *data, size_t n)
{
	tape_write(r, data, n);
	if (r->forward)
		forward_put(r->forward, data, n);
}

static int tape_open(struct receiver *r, const char *path)
{
	struct wire_tape_header h = {
		.version = WIRE_VERSION, .header_size = sizeof(h), .start_ns = clock_realtime_ns()};
	int ours = write_file_descriptor(path);
	struct stat st;

	memcpy(h.magic, WIRE_TAPE_MAGIC, sizeof(h.magic));
	r->tape = ours >= 0 ? fcntl(ours, F_DUPFD_CLOEXEC, 0)
			    : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
	if (r->tape < 0)
		return -errno;
	r->tape_is_pipe = fstat(r->tape, &st) == 0 && S_ISFIFO(st.st_mode);
	tape_write(r, &h, sizeof(h));
	return r->tape_error;
}

int receiver_new(const struct session_dir *dir, const char *tape, struct receiver **ret_receiver)
{
	struct receiver *r = calloc(1, sizeof(*r));
	int e = 0;

	if (!r)
		return -ENOMEM;
	r->dir = dir;
	r->tape = -1;
	r->session = session_new();
	r->decoder = r->session ? wire_decoder_new(r->session) : NULL;
	r->names = native_names_new();
	r->lines = code_lines_new(dir->path);
	if (!r->decoder || !r->names || !r->lines)
		e = -ENOMEM;
	else if (tape)
		e = tape_open(r, tape);
	if (e < 0) {
		receiver_free(r);
		return e;
	}
	r->namer = *native_names_namer(r->names);
	r->namer.lines = code_lines_find;
	r->namer.lines_ctx = r->lines;
	wire_decoder_set_namer(r->decoder, &r->namer);
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
	native_names_free(r->names);
	code_lines_free(r->lines);
	wire_counters_told_done(&r->counters_told);
	session_free(r->session);
	free(r);
	return NULL;
}

void receiver_expect(struct receiver *r, pid_t pid)
{
	r->expected = pid;
}

struct session *receiver_session(struct receiver *r)
{
	return r->session;
}

struct wire_decoder *receiver_decoder(struct receiver *r)
{
	return r->decoder;
}

/* Names that there was no time for: all of them now, before what is not from the FIFO. 0 or -ENOMEM. */
static int name_rest(struct receiver *r)
{
	native_names_slice(r->names, 0);
	return wire_decoder_feed(r->decoder, NULL, 0);
}

/* ---- bulk files ---- */

/* Pass n bytes of a file, at `offset`, as one frame to the tape and to the decoder. */
static int bulk_take(struct receiver *r, const struct wire_segment_state *g, uint64_t offset,
		     const void *data, size_t n)
{
	struct {
		struct wire_header h;
		struct wire_bulk bulk;
		unsigned char data[BULK_MAX];
	} f = {.h = {.magic = WIRE_MAGIC,
		     .kind = WIRE_BULK,
		     .n = 1,
		     .instance = g->instance,
		     .seq = WIRE_NO_SEQ,
		     .time_ns = clock_monotonic_ns()},
	       .bulk = {g->id, (uint32_t)n, offset}};
	size_t length = offsetof(__typeof__(f), data) + n;

	f.h.length = (uint16_t)length;
	memcpy(f.data, data, n);
	memset(f.data + n, 0, wire_padded(length) - length);
	pass_on(r, &f, wire_padded(length));
	return wire_decoder_feed(r->decoder, &f, wire_padded(length));
}

const char *receiver_folder(const struct receiver *r)
{
	return r->dir->path;
}

static bool file_path(const struct receiver *r, const char *name, char path[PATH_MAX])
{
	return snprintf(path, PATH_MAX, "%s/%s", r->dir->path, name) < PATH_MAX;
}

/* Open a file of a collector; -1: it is not a regular file with a single name. Writable, because
 * what was read is removed from it. */
int receiver_open_file(const struct receiver *r, const char *name)
{
	char path[PATH_MAX];
	struct stat st;
	int fd;

	if (!file_path(r, name, path))
		return -1;
	fd = regular_open(path, O_RDWR | O_NOFOLLOW, &st);
	if (fd >= 0 && st.st_nlink <= 1)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* The name came over the wire: it must be the one that this collector makes for this segment. */
static int bulk_open(const struct receiver *r, const struct wire_segment_state *g)
{
	char name[WIRE_SEGMENT_NAME_MAX];

	snprintf(name, sizeof(name), WIRE_SEGMENT_NAME, g->instance, g->id);
	return strcmp(g->path, name) ? -1 : receiver_open_file(r, name);
}

/* The whole entries in so many bytes. */
static size_t whole(const struct wire_segment_state *g, uint64_t bytes)
{
	return (size_t)(bytes / g->entry * g->entry);
}

/* Read what was announced and not read yet, at most CALL_MAX bytes. What was read is freed on the
 * disk, which is often memory (tmpfs). Only whole entries are read at a time: after a part of one,
 * all that follows would be misread. >= 0: bytes read, or -ENOMEM. */
static ssize_t bulk_read(struct receiver *r, const struct wire_segment_state *g)
{
	uint64_t at = g->taken, end = at + whole(g, MIN(g->size - at, (uint64_t)CALL_MAX));
	int fd = bulk_open(r, g), e = 0;
	size_t piece, got;
	ssize_t n;

	if (fd < 0)
		return 0;
	while (e == 0 && at < end) {
		n = pread(fd, r->chunk, whole(g, MIN(sizeof(r->chunk), end - at)), (off_t)at);
		got = n > 0 ? whole(g, (uint64_t)n) : 0;
		if (!got)
			break;
		for (size_t i = 0; e == 0 && i < got; i += piece, at += piece) {
			piece = MIN(whole(g, BULK_MAX), got - i);
			e = bulk_take(r, g, at, r->chunk + i, piece);
		}
	}
	fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t)at);
	close(fd);
	return e < 0 ? e : (ssize_t)(at - g->taken);
}

bool receiver_is_behind(const struct receiver *r)
{
	struct wire_segment_state g;

	for (size_t i = 0; wire_decoder_segment(r->decoder, i, &g); i++)
		if (g.taken < g.size)
			return true;
	return false;
}

static ssize_t bulk_read_all(struct receiver *r)
{
	struct wire_segment_state g;
	size_t i, total = 0;
	ssize_t n;

	/* Our frames must not go between the parts of a frame from the FIFO. */
	if (wire_decoder_pending(r->decoder))
		return 0;
	for (i = 0; wire_decoder_segment(r->decoder, i, &g); i++) {
		if (g.taken >= g.size)
			continue;
		n = bulk_read(r, &g);
		if (n < 0)
			return n;
		total += (size_t)n;
	}
	return (ssize_t)total;
}

/* ---- what came too late for the pipe ---- */

/* Feed the frames that a process wrote to a file at its end. 0 or -ENOMEM. */
static int rest_feed(struct receiver *r, int fd)
{
	ssize_t n;
	int e = name_rest(r);

	while (e == 0 && (n = read(fd, r->chunk, sizeof(r->chunk))) > 0) {
		pass_on(r, r->chunk, (size_t)n);
		e = wire_decoder_feed(r->decoder, r->chunk, (size_t)n);
	}
	wire_decoder_cut(r->decoder);
	return e;
}

/* Take the file of a process, once, after all that the pipe held of it. */
static int rest_take(struct receiver *r, uint64_t instance)
{
	char path[PATH_MAX], name[WIRE_REST_NAME_MAX];
	int fd, e;

	snprintf(name, sizeof(name), WIRE_REST_NAME, instance);
	fd = receiver_open_file(r, name);
	if (fd < 0)
		return 0;
	if (file_path(r, name, path))
		unlink(path);
	e = rest_feed(r, fd);
	close(fd);
	return e;
}

/* May the process still run? Yes, too, if nothing was heard of it yet. */
static bool may_run(const struct session *s, uint64_t instance)
{
	uint32_t process = session_process_find(s, instance);

	return process == SESSION_NONE || s->processes[process].end == PROCESS_RUNS;
}

/* Take the files of processes that have ended. last: the run is over, so take all files, even those
 * of processes that were never heard of. */
static int rest_take_all(struct receiver *r, bool last)
{
	DIR *d = opendir(r->dir->path);
	struct dirent *entry;
	uint64_t instance;
	char *end;
	int e = 0;

	while (d && e == 0 && (entry = readdir(d))) {
		instance = strtoull(entry->d_name, &end, 16);
		if (end != entry->d_name + 16 || strcmp(end, WIRE_REST_SUFFIX) != 0)
			continue;
		if (last || !may_run(r->session, instance))
			e = rest_take(r, instance);
	}
	if (d)
		closedir(d);
	return e;
}

/* ---- what proton itself says on the stream ---- */

/* Without memory some are not told. */
static void counters_frames(struct receiver *r, struct buf *frames)
{
	(void)wire_counters_frames(r->session, &r->counters_told, clock_monotonic_ns(), frames);
}

/* Not to go between the parts of a frame from the FIFO. */
static void facts_frames(struct receiver *r, struct buf *frames)
{
	for (size_t i = 0; i < r->session->n_runs; i++)
		wire_run_frames(r->session, &r->session->runs[i], clock_monotonic_ns(), frames);
	wire_sensors_frames(r->session, clock_monotonic_ns(), frames);
	counters_frames(r, frames);
}

/* To all who read what we read. */
static void tell(struct receiver *r, void (*put)(struct receiver *, struct buf *))
{
	_cleanup_(buf_done) struct buf frames = {0};

	if ((r->tape < 0 && !r->forward) || wire_decoder_pending(r->decoder))
		return;
	put(r, &frames);
	if (!frames.error && frames.len)
		pass_on(r, frames.data, frames.len);
}

void receiver_tape_facts(struct receiver *r)
{
	tell(r, facts_frames);
}

void receiver_tape_counters(struct receiver *r)
{
	tell(r, counters_frames);
}

static void went_on_frame(struct buf *out, uint64_t instance)
{
	struct {
		struct wire_header h;
		struct wire_bye bye;
	} f = {.h = {.magic = WIRE_MAGIC,
		     .kind = WIRE_BYE,
		     .length = sizeof(f),
		     .n = 1,
		     .instance = instance,
		     .seq = WIRE_NO_SEQ,
		     .time_ns = clock_monotonic_ns()},
	       .bye = {.reason = WIRE_BYE_RUNS}};

	buf_put(out, &f, sizeof(f));
}

/* Nobody reads any more what these have to say: they have not vanished. */
static void went_on_frames(struct receiver *r, struct buf *out)
{
	const struct session *s = r->session;

	for (size_t i = 0; i < s->n_processes; i++)
		if (s->processes[i].end == PROCESS_RUNS && s->processes[i].pid)
			went_on_frame(out, s->processes[i].instance);
}

static void key_frame(struct buf *out)
{
	struct {
		struct wire_header h;
		struct wire_key key;
	} f = {.h = {.magic = WIRE_MAGIC,
		     .kind = WIRE_KEY,
		     .length = sizeof(f),
		     .n = 1,
		     .time_ns = clock_monotonic_ns()},
	       .key = {clock_realtime_ns()}};

	buf_put(out, &f, sizeof(f));
}

/* A reader can begin at a key frame: collectors then send all again. */
static void key_frames(struct receiver *r, struct buf *frames)
{
	key_frame(frames);
	facts_frames(r, frames);
	atomic_fetch_add(&r->dir->control->resync, 1);
}

static void tape_key(struct receiver *r)
{
	_cleanup_(buf_done) struct buf frames = {0};

	key_frames(r, &frames);
	if (!frames.error)
		tape_write(r, frames.data, frames.len);
	r->last_key_ns = clock_monotonic_ns();
}

static int retell_emit(void *arg, const void *frame, size_t n)
{
	forward_put(arg, frame, n);
	return 0;
}

/* Of processes that have ended, and cannot say it again; last: of all that the reader has not heard of. */
static void forward_retell(struct receiver *r, bool last)
{
	const struct session *s = r->session;

	if (!r->forward || wire_decoder_pending(r->decoder))
		return;
	for (uint32_t i = 0; i < s->n_processes; i++) {
		const struct session_process *p = &s->processes[i];

		if ((p->end == PROCESS_RUNS && !last) || !p->pid ||
		    forward_knows(r->forward, p->instance))
			continue;
		wire_retell(s, i, retell_emit, r->forward);
		forward_retold(r->forward, p->instance);
	}
}

/* Send on, and tell a reader who knows nothing all that there is. */
static void forward_step(struct receiver *r)
{
	_cleanup_(buf_done) struct buf frames = {0};

	forward_poll(r->forward);
	if (!forward_is_fresh(r->forward) || wire_decoder_pending(r->decoder))
		return;
	forward_begin(r->forward);
	key_frames(r, &frames);
	if (!frames.error)
		forward_put(r->forward, frames.data, frames.len);
	forward_retell(r, false);
}

void receiver_forward(struct receiver *r, struct forward *forward)
{
	r->forward = forward;
	if (forward)
		forward_step(r);
}

static void forward_facts(struct receiver *r)
{
	_cleanup_(buf_done) struct buf frames = {0};

	facts_frames(r, &frames);
	if (!frames.error && frames.len)
		forward_put(r->forward, frames.data, frames.len);
	forward_retell(r, false);
}

/* ---- the stream ---- */

ssize_t receiver_read(struct receiver *r)
{
	ssize_t n, bulk;
	size_t total = 0;
	int e;

	native_names_slice(r->names, NAMES_NS);
	if (wire_decoder_stalled(r->decoder)) {
		e = wire_decoder_feed(r->decoder, NULL, 0);
		if (e < 0 || wire_decoder_stalled(r->decoder))
			return e < 0 ? e : 1;
	}
	/* If the tape is a pipe, its reader may be slow: read one piece a call, so that the caller
	 * can handle signals in between. */
	while (total < (r->tape_is_pipe && r->tape >= 0 ? 1 : CALL_MAX)) {
		n = read(r->dir->stream_fd, r->chunk,
			 r->tape_is_pipe ? PIPE_CHUNK : sizeof(r->chunk));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		r->n_read += (size_t)n;
		pass_on(r, r->chunk, (size_t)n);
		e = wire_decoder_feed(r->decoder, r->chunk, (size_t)n);
		if (e < 0)
			return e;
		total += (size_t)n;
		if (wire_decoder_stalled(r->decoder))
			break;
	}
	bulk = bulk_read_all(r);
	if (r->forward)
		forward_step(r);
	return bulk < 0 ? bulk : (ssize_t)total + bulk;
}

/* All that is in the pipe by now. */
static void read_all(struct receiver *r)
{
	uint64_t end = r->n_read;
	int left = 0;

	if (ioctl(r->dir->stream_fd, FIONREAD, &left) < 0)
		return;
	end += (unsigned)left;
	while (r->n_read < end && receiver_read(r) > 0)
		;
}

/* Has a silent process ended? Yes, if no process has its pid. If one has, it may be another: the
 * process may live in another pid namespace. So after a longer silence the environment of that pid
 * must name our session. The silence must be longer because a stopped process that has overwritten
 * its environment looks the same. */
static bool process_dead(const struct receiver *r, const struct session_process *p)
{
	uint64_t silence_ns = clock_monotonic_ns() - p->last_ns;
	unsigned long long start;

	if (silence_ns <= SILENCE_NS)
		return false;
	return process_start_time((pid_t)p->pid, &start) == -ESRCH ||
	       ((pid_t)p->pid != r->expected && silence_ns > LONG_SILENCE_NS &&
		!launch_may_be_ours(r->dir->path, getpid(), (pid_t)p->pid));
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
		if (process_dead(r, p)) {
			/* Its last frames may still be in the pipe, or beside it. */
			read_all(r);
			rest_take(r, s->processes[i].instance);
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
	rest_take_all(r, false);
	if (wire_decoder_pending(r->decoder))
		return;
	if (r->tape >= 0 && now - r->last_key_ns >= KEY_EVERY_NS)
		tape_key(r);
	if (r->forward)
		forward_facts(r);
}

unsigned receiver_unheard(const struct receiver *r)
{
	uint32_t n_news = atomic_load(&r->dir->control->n_with_news), n_heard = 0;
	size_t i;

	for (i = 0; i < r->session->n_processes; i++)
		n_heard += r->session->processes[i].pid != 0;
	return n_news > n_heard ? n_news - n_heard : 0;
}

/* Losses that processes counted on the control page because the pipe could not be used. */
static void count_unsaid(struct receiver *r)
{
	const struct control_page *c = r->dir->control;
	uint64_t *losses = r->session->losses;

	losses[LOSS_UNHEARD] = receiver_unheard(r);
	losses[LOSS_LATE] = atomic_load(&c->n_late);
	losses[LOSS_REFUSED] = atomic_load(&c->n_refused);
	losses[LOSS_UNSENT] = atomic_load(&c->n_unsent);
	losses[LOSS_LEFT_OPEN] = atomic_load(&c->n_left_open);
}

/* Was the session directory removed? New processes then did not find the pipe: add a note. */
static void look_for_folder(struct receiver *r)
{
	char path[PATH_MAX];
	struct stat st;

	if (file_path(r, "stream", path) && stat(path, &st) < 0 && errno == ENOENT)
		session_note(
			r->session, SESSION_NONE, NOTE_WARNING,
			"the session directory was removed during the run: processes that began "
			"after that are not in the profile");
}

int receiver_finish(struct receiver *r)
{
	ssize_t n;

	while ((n = receiver_read(r)) > 0)
		;
	if (n == 0) {
		n = rest_take_all(r, true);
		receiver_read(r); /* bulk files that these frames announced */
	}
	/* Counts bulk files as lost that were removed or could not be read. */
	wire_decoder_finish(r->decoder);
	receiver_alive(r);
	forward_retell(r, true);
	tell(r, went_on_frames);
	receiver_tape_facts(r);
	look_for_folder(r);
	count_unsaid(r);
	r->session->end_ns = clock_realtime_ns();
	r->session->ended = true;
	return n < 0 ? (int)n : r->tape_error;
}
