/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "live/gather.h"
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/util.h"
#include "live/local_socket.h"
#include "wire/decode.h"
#include "wire/wire.h"

enum {
	CHUNK = 256 * 1024,
	CALL_MAX = 8 * 1024 * 1024, /* bytes a call, so that signals and the screen get a turn */
	STREAMS_MAX = 4096,
	HEAD_MAX = 64 * 1024, /* before a stream: what shells print when somebody logs in */
	HEADER_MAX = 4096,
	EVENTS = 64,
};

/* One connection, or what is left of it: its run may connect again. */
struct stream {
	int fd; /* -1: it has ended */
	uint64_t origin;
	struct wire_decoder *decoder; /* NULL: the header has not come yet */
	unsigned char *head;          /* bytes so far, until it has */
	size_t n_head;
	bool refused;
};

struct gather {
	struct session *session;
	struct stream **streams; /* those that were refused are gone */
	size_t n, cap;
	char *path; /* of the socket; NULL: standard input */
	int listener, epoll;
	struct stat place; /* of the socket: ours as long as it is the same */
	bool is_file;      /* standard input need not be waited for */
	unsigned n_streams, n_anonymous;
	char news[256];
	bool has_news;
	unsigned char chunk[CHUNK];
};

bool gather_is_source(const char *word)
{
	return !strcmp(word, "-") || local_socket_path(word);
}

static __attribute__((format(printf, 2, 3))) void say(struct gather *g, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(g->news, sizeof(g->news), format, args);
	va_end(args);
	g->has_news = true;
}

/* ---- beginning ---- */

static int watch(struct gather *g, int fd, void *what)
{
	struct epoll_event e = {.events = EPOLLIN, .data.ptr = what};

	return epoll_ctl(g->epoll, EPOLL_CTL_ADD, fd, &e) < 0 ? -errno : 0;
}

static void stream_free(struct stream *s)
{
	closep(&s->fd);
	wire_decoder_free(s->decoder);
	free(s->head);
	free(s);
}

/* Steals fd. */
static int stream_add(struct gather *g, int fd)
{
	struct stream *s = calloc(1, sizeof(*s));
	int r = -ENOMEM;

	if (s && ARRAY_ROOM(g->streams, g->cap, g->n + 1) == 0)
		r = watch(g, fd, s);
	if (r == -EPERM) { /* a file: it is always there */
		g->is_file = true;
		r = 0;
	}
	if (r < 0) {
		free(s);
		close(fd);
		return r;
	}
	s->fd = fd;
	g->streams[g->n++] = s;
	return 0;
}

static int gather_open(struct gather *g, const char *source)
{
	const char *path = local_socket_path(source);
	int fd = -1, r;

	g->session = session_new();
	g->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (!g->session)
		return -ENOMEM;
	if (g->epoll < 0)
		return -errno;
	if (!path) {
		fd = dup(STDIN_FILENO);
		return fd < 0 ? -errno : stream_add(g, fd);
	}
	r = local_socket_listen(path, &g->listener);
	if (r < 0)
		return r;
	g->path = strdup(path);
	if (!g->path || lstat(path, &g->place) < 0)
		return -ENOMEM;
	return watch(g, g->listener, NULL);
}

int gather_new(const char *source, struct gather **ret_gather)
{
	struct gather *g = calloc(1, sizeof(*g));
	int r;

	if (!g)
		return -ENOMEM;
	g->listener = g->epoll = -1;
	r = gather_open(g, source);
	if (r < 0) {
		gather_free(g);
		return r;
	}
	*ret_gather = g;
	return 0;
}

struct gather *gather_free(struct gather *g)
{
	struct stat st;

	if (!g)
		return NULL;
	for (size_t i = 0; i < g->n; i++)
		stream_free(g->streams[i]);
	free(g->streams);
	if (g->path && lstat(g->path, &st) == 0 && same_file(&st, &g->place))
		unlink(g->path);
	free(g->path);
	closep(&g->listener);
	closep(&g->epoll);
	session_free(g->session);
	free(g);
	return NULL;
}

struct session *gather_session(struct gather *g)
{
	return g->session;
}

int gather_fd(const struct gather *g)
{
	return g->epoll;
}

bool gather_is_behind(const struct gather *g)
{
	return g->is_file && gather_n_open(g);
}

/* ---- streams ---- */

/* The host of a stream, as far as it is known. */
static const char *host_of(const struct gather *g, const struct stream *s)
{
	uint32_t host = s->decoder ? wire_decoder_host(s->decoder) : SESSION_NONE;

	return host != SESSION_NONE ? session_text(g->session, host) : "a run";
}

/* Who compares times of two hosts is to know how far they can be trusted. */
static void note_clock(struct gather *g, const struct stream *s)
{
	_cleanup_(freep) char *note = NULL;

	if (g->session->n_intervals && wire_decoder_is_elsewhere(s->decoder) &&
	    asprintf(&note, "when operations of %s ran is told by its wall clock", host_of(g, s)) >=
		    0)
		session_note(g->session, SESSION_NONE, NOTE_INFO, note);
}

static void stream_end(struct gather *g, struct stream *s)
{
	closep(&s->fd); /* epoll forgets it */
	s->fd = -1;
	if (!s->decoder) {
		if (!s->refused)
			say(g, "a stream ended before it began");
		s->refused = true;
		return;
	}
	wire_decoder_cut(s->decoder);
	wire_decoder_finish(s->decoder);
	note_clock(g, s);
	if (wire_decoder_vanish(s->decoder))
		say(g, "the stream of a run on %s has ended before its program", host_of(g, s));
	else
		say(g, "a run on %s has ended", host_of(g, s));
}

static void refuse(struct gather *g, struct stream *s, const char *why)
{
	s->refused = true;
	stream_end(g, s);
	say(g, "a stream was refused: %s", why);
	session_note(g->session, SESSION_NONE, NOTE_WARNING, g->news);
}

/* A run that was connected before goes on where it was: its new connection takes the decoder. */
static struct stream *known_run(struct gather *g, uint64_t origin)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->streams[i]->decoder && g->streams[i]->origin == origin)
			return g->streams[i];
	return NULL;
}

static int take_decoder(struct gather *g, struct stream *s, uint64_t origin)
{
	struct stream *old = known_run(g, origin);

	if (old) {
		closep(&old->fd);
		old->fd = -1;
		wire_decoder_cut(old->decoder);
		s->decoder = old->decoder;
		old->decoder = NULL;
		old->refused = true;
	} else {
		s->decoder = wire_decoder_new(g->session);
		if (!s->decoder)
			return -ENOMEM;
		wire_decoder_of_tape(s->decoder, origin);
		g->n_streams++;
	}
	s->origin = origin;
	return 0;
}

/* Where the stream begins in what came so far; NULL: nowhere. */
static const unsigned char *find_magic(const struct stream *s)
{
	return memmem(s->head, s->n_head, WIRE_TAPE_MAGIC, strlen(WIRE_TAPE_MAGIC));
}

static int await_more(struct gather *g, struct stream *s)
{
	if (s->n_head >= HEAD_MAX)
		refuse(g, s, "what came is no stream of proton");
	return 0;
}

/* Takes the header, when it is there. 1: it is; 0: not yet, or the stream is refused; -ENOMEM. */
static int take_header(struct gather *g, struct stream *s)
{
	const unsigned char *at = find_magic(s);
	size_t n = at ? s->n_head - (size_t)(at - s->head) : 0;
	struct wire_tape_origin origin = {0};
	struct wire_tape_header h;
	int r;

	if (n < sizeof(h))
		return await_more(g, s);
	memcpy(&h, at, sizeof(h));
	if (h.version != WIRE_VERSION || h.header_size < sizeof(h) || h.header_size > HEADER_MAX) {
		refuse(g, s, "it is another version's");
		return 0;
	}
	if (n < h.header_size)
		return await_more(g, s);
	if (h.header_size >= sizeof(h) + sizeof(origin))
		memcpy(&origin, at + sizeof(h), sizeof(origin));
	r = take_decoder(g, s, origin.origin ? origin.origin : ++g->n_anonymous);
	if (r == 0)
		r = wire_decoder_feed(s->decoder, at + h.header_size, n - h.header_size);
	free(s->head);
	s->head = NULL;
	return r < 0 ? r : 1;
}

static int take_bytes(struct gather *g, struct stream *s, const unsigned char *data, size_t n)
{
	if (s->decoder)
		return wire_decoder_feed(s->decoder, data, n);
	if (!s->head)
		s->head = malloc(HEAD_MAX + CHUNK);
	if (!s->head)
		return -ENOMEM;
	memcpy(s->head + s->n_head, data, n);
	s->n_head += n;
	return MIN(take_header(g, s), 0);
}

/* Only what is there: of a descriptor that may block. >0: bytes. */
static ssize_t read_some(struct gather *g, struct stream *s)
{
	struct pollfd p = {.fd = s->fd, .events = POLLIN};
	ssize_t n;

	if (poll(&p, 1, 0) <= 0)
		return -EAGAIN;
	n = read(s->fd, g->chunk, sizeof(g->chunk));
	return n < 0 ? -errno : n;
}

/* A piece at a time, so that one that says much leaves time for others. 0 or -ENOMEM. */
static int stream_read(struct gather *g, struct stream *s, size_t *total)
{
	ssize_t n;

	if (s->fd < 0)
		return 0;
	n = read_some(g, s);
	if (n == -EAGAIN || n == -EINTR)
		return 0;
	if (n <= 0) {
		stream_end(g, s);
		return 0;
	}
	*total += (size_t)n;
	return take_bytes(g, s, g->chunk, (size_t)n);
}

static int accept_all(struct gather *g)
{
	int fd = -1, r;

	while ((r = local_socket_accept(g->listener, &fd)) != -EAGAIN) {
		if (r == 0 && g->n >= STREAMS_MAX) {
			close(fd);
			say(g, "a stream was refused: there are %d", STREAMS_MAX);
		} else if (r == 0) {
			r = stream_add(g, fd);
		} else if (r == -EPERM) {
			say(g, "a stream was refused: it is another user's");
		}
		if (r < 0 && r != -EPERM)
			return r == -ENOMEM ? r : 0;
	}
	return 0;
}

/* Forget those that nothing is kept of. Not while events may name them. */
static void sweep(struct gather *g)
{
	size_t n = 0;

	for (size_t i = 0; i < g->n; i++)
		if (g->streams[i]->refused)
			stream_free(g->streams[i]);
		else
			g->streams[n++] = g->streams[i];
	g->n = n;
}

static int read_ready(struct gather *g, size_t *total)
{
	struct epoll_event events[EVENTS];
	int n = epoll_wait(g->epoll, events, EVENTS, 0), r = 0;

	for (int i = 0; i < n && r == 0; i++) {
		struct stream *s = events[i].data.ptr;

		r = s ? stream_read(g, s, total) : accept_all(g);
	}
	if (n <= 0 && g->is_file)
		r = stream_read(g, g->streams[0], total);
	return r;
}

int gather_read(struct gather *g)
{
	size_t total = 0, before;
	int r;

	do {
		before = total;
		r = read_ready(g, &total);
		sweep(g);
	} while (r == 0 && g->n && total > before && total < CALL_MAX);
	return r;
}

unsigned gather_n_open(const struct gather *g)
{
	unsigned n = 0;

	for (size_t i = 0; i < g->n; i++)
		n += g->streams[i]->fd >= 0;
	return n;
}

unsigned gather_n_streams(const struct gather *g)
{
	return g->n_streams;
}

bool gather_is_over(const struct gather *g)
{
	return !gather_n_open(g) && (!g->path || g->n_streams);
}

const char *gather_news(struct gather *g)
{
	bool has = g->has_news;

	g->has_news = false;
	return has ? g->news : NULL;
}
