/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "live/forward.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/util.h"
#include "live/local_socket.h"
#include "wire/wire.h"

#define BUFFER_MAX ((size_t)64 << 20)  /* as much as a resync of a large profile */
#define TRY_NS     (NSEC_PER_SEC / 10) /* between connections that fail */
#define STILL_NS   (5 * NSEC_PER_SEC)  /* at the end: so long without a byte that is read */

enum how {
	HOW_SOCKET, /* a call says that it must not wait */
	HOW_OWN,    /* an open file of our own does */
	HOW_SHARED, /* others have it, too: what poll() says a pipe takes at once */
};

struct forward {
	char *path; /* of a socket; NULL: standard output */
	int fd;     /* -1: there is no reader */
	enum how how;
	uint64_t next_ns; /* when to try to connect again */
	uint64_t origin;  /* of this run: a reader that is connected to anew knows it by that */
	bool fresh;       /* the reader knows nothing, or too little */
	bool left_out;    /* there was no room: it is fresh when it has read what there is */
	bool had_reader;
	int error; /* of the last connection, or why it ended */
	unsigned char *data;
	size_t head, len, cap; /* what is to be sent: data[head .. head + len) */
	unsigned char carry[WIRE_FRAME_MAX];
	size_t n_carry;
	struct told {
		uint64_t instance;
		bool retold; /* by somebody else */
	} * told;            /* instances that the reader has heard of */
	size_t n_told, cap_told, last_told;
	uint64_t n_left_out;
	char text[256];
};

/* ---- the target ---- */

/* A pipe of others must not begin not to block for them: it is opened anew. */
static int open_stdout(struct forward *f)
{
	struct stat st;

	if (fstat(STDOUT_FILENO, &st) < 0)
		return -ENOTCONN;
	f->how = S_ISSOCK(st.st_mode) ? HOW_SOCKET : HOW_SHARED;
	if (S_ISFIFO(st.st_mode)) {
		f->fd = open("/proc/self/fd/1", O_WRONLY | O_NONBLOCK | O_CLOEXEC);
		f->how = f->fd >= 0 ? HOW_OWN : HOW_SHARED;
	}
	if (f->fd < 0)
		f->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	return f->fd < 0 ? -errno : 0;
}

int forward_new(const char *target, struct forward **ret_forward)
{
	const char *path = local_socket_path(target);
	struct forward *f;
	int r = 0;

	if (!path && strcmp(target, "-") != 0)
		return -EINVAL;
	f = calloc(1, sizeof(*f));
	if (!f)
		return -ENOMEM;
	f->fd = -1;
	f->how = HOW_SOCKET;
	if (getrandom(&f->origin, sizeof(f->origin), GRND_NONBLOCK) != sizeof(f->origin))
		f->origin = clock_realtime_ns();
	f->origin |= 1;
	if (path) {
		f->path = strdup(path);
		r = f->path ? local_socket_check(path) : -ENOMEM;
	} else {
		r = open_stdout(f);
	}
	if (r < 0) {
		forward_free(f);
		return r;
	}
	*ret_forward = f;
	return 0;
}

struct forward *forward_free(struct forward *f)
{
	if (!f)
		return NULL;
	closep(&f->fd);
	free(f->path);
	free(f->data);
	free(f->told);
	free(f);
	return NULL;
}

/* ---- what is to be sent ---- */

static bool has_room(struct forward *f, size_t n)
{
	if (f->len + n > BUFFER_MAX)
		return false;
	if (f->head + f->len + n > f->cap && f->head) {
		memmove(f->data, f->data + f->head, f->len);
		f->head = 0;
	}
	return array_reserve((void **)&f->data, &f->cap, f->head + f->len + n, 1) == 0;
}

static bool append(struct forward *f, const void *data, size_t n)
{
	if (!has_room(f, n))
		return false;
	memcpy(f->data + f->head + f->len, data, n);
	f->len += n;
	return true;
}

/* Of the instances that the reader has heard of; n_told: it is none of them. */
static size_t find_told(const struct forward *f, uint64_t instance)
{
	size_t i = f->last_told;

	if (i < f->n_told && f->told[i].instance == instance)
		return i;
	for (i = 0; i < f->n_told && f->told[i].instance != instance; i++)
		;
	return i;
}

bool forward_knows(const struct forward *f, uint64_t instance)
{
	return f->fd < 0 || f->fresh || f->left_out || find_told(f, instance) < f->n_told;
}

void forward_retold(struct forward *f, uint64_t instance)
{
	size_t i = find_told(f, instance);

	if (i < f->n_told)
		f->told[i].retold = true;
}

/* Is the frame one for the reader: of nobody, of whom it knows, or by whom it gets to know them? */
static bool is_for_reader(struct forward *f, const struct wire_header *h)
{
	bool is_hello = h->kind == WIRE_HELLO;

	if (!h->instance)
		return true;
	f->last_told = find_told(f, h->instance);
	if (f->last_told == f->n_told) {
		if (!is_hello || ARRAY_ROOM(f->told, f->cap_told, f->n_told + 1) < 0)
			return false;
		f->told[f->n_told++] = (struct told){.instance = h->instance};
	}
	if (is_hello)
		f->told[f->last_told].retold = false;
	return !f->told[f->last_told].retold;
}

static void leave_out(struct forward *f)
{
	f->n_left_out++;
	f->left_out = true;
	f->n_told = 0;
}

static void put_frame(struct forward *f, const unsigned char *frame, size_t n)
{
	struct wire_header h;

	if (f->fd < 0 || f->fresh)
		return;
	if (f->left_out) {
		f->n_left_out++;
		return;
	}
	memcpy(&h, frame, sizeof(h));
	if (is_for_reader(f, &h) && !append(f, frame, n))
		leave_out(f);
}

/* Whole frames from the front; returns the bytes used. */
static size_t put_frames(struct forward *f, const unsigned char *data, size_t n)
{
	size_t at = 0, size;

	while ((size = wire_frame_size(data + at, n - at)) != 0) {
		if (size == SIZE_MAX) {
			at++;
			continue;
		}
		put_frame(f, data + at, size);
		at += size;
	}
	return at;
}

void forward_put(struct forward *f, const void *data, size_t n)
{
	const unsigned char *p = data;
	size_t piece, used;

	while (n && f->n_carry) {
		piece = MIN(n, sizeof(f->carry) - f->n_carry);
		memcpy(f->carry + f->n_carry, p, piece);
		used = put_frames(f, f->carry, f->n_carry + piece);
		if (used >= f->n_carry) { /* the rest is still where it came from */
			p += used - f->n_carry;
			n -= used - f->n_carry;
			f->n_carry = 0;
			break;
		}
		f->n_carry += piece - used;
		memmove(f->carry, f->carry + used, f->n_carry);
		p += piece;
		n -= piece;
	}
	used = put_frames(f, p, n);
	memcpy(f->carry + f->n_carry, p + used, n - used);
	f->n_carry += n - used;
}

/* ---- the reader ---- */

static void lose_reader(struct forward *f, int error)
{
	closep(&f->fd);
	f->fd = -1;
	f->error = error;
	f->head = f->len = 0;
	f->fresh = f->left_out = false;
	f->n_told = 0;
	f->next_ns = clock_monotonic_ns() + TRY_NS;
}

static void greet(struct forward *f)
{
	struct {
		struct wire_tape_header h;
		struct wire_tape_origin origin;
	} head = {.h = {.version = WIRE_VERSION,
			.header_size = sizeof(head),
			.start_ns = clock_realtime_ns()},
		  .origin = {f->origin}};

	memcpy(head.h.magic, WIRE_TAPE_MAGIC, sizeof(head.h.magic));
	f->had_reader = true;
	f->error = 0;
	f->fresh = append(f, &head, sizeof(head));
}

static void connect_reader(struct forward *f)
{
	uint64_t now = clock_monotonic_ns();

	if (f->fd >= 0) { /* standard output */
		if (!f->had_reader)
			greet(f);
		return;
	}
	if (!f->path || now < f->next_ns)
		return;
	f->next_ns = now + TRY_NS;
	f->error = local_socket_connect(f->path, &f->fd);
	if (f->error == 0)
		greet(f);
	else
		f->fd = -1;
}

static bool takes_some(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};

	return poll(&p, 1, 0) > 0;
}

static ssize_t write_some(struct forward *f)
{
	const unsigned char *from = f->data + f->head;

	if (f->how == HOW_SOCKET)
		return send(f->fd, from, f->len, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (f->how == HOW_OWN)
		return write(f->fd, from, f->len);
	if (takes_some(f->fd))
		return write(f->fd, from, MIN(f->len, (size_t)PIPE_BUF));
	errno = EAGAIN;
	return -1;
}

void forward_poll(struct forward *f)
{
	ssize_t n;

	connect_reader(f);
	while (f->fd >= 0 && f->len) {
		n = write_some(f);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0) {
			lose_reader(f, n < 0 ? -errno : -EIO);
			return;
		}
		f->head += (size_t)n;
		f->len -= (size_t)n;
	}
	f->head = 0;
	if (f->fd >= 0 && f->left_out) {
		f->left_out = false;
		f->fresh = true;
	}
}

int forward_fd(const struct forward *f)
{
	return f->len ? f->fd : -1;
}

bool forward_is_fresh(const struct forward *f)
{
	return f->fresh;
}

void forward_begin(struct forward *f)
{
	f->fresh = false;
	f->n_told = 0;
}

/* ---- the end ---- */

void forward_finish(struct forward *f, bool (*leave)(void *ctx), void *ctx)
{
	uint64_t still_ns = clock_monotonic_ns();
	struct pollfd p = {.events = POLLOUT};
	size_t len = f->len;

	while (f->fd >= 0 && f->len && !leave(ctx)) {
		p.fd = f->fd;
		poll(&p, 1, 50);
		forward_poll(f);
		if (f->len != len)
			still_ns = clock_monotonic_ns();
		else if (clock_monotonic_ns() - still_ns >= STILL_NS)
			break;
		len = f->len;
	}
}

const char *forward_trouble(struct forward *f)
{
	const char *where = f->path ? f->path : "standard output";

	if (!f->had_reader)
		snprintf(f->text, sizeof(f->text),
			 "nothing was forwarded: nobody listened at '%s' (%s)", where,
			 strerror(-f->error));
	else if (f->fd < 0)
		snprintf(f->text, sizeof(f->text),
			 "the reader at '%s' has left (%s): it has not seen the end of the run",
			 where, strerror(-f->error));
	else if (f->len)
		snprintf(f->text, sizeof(f->text),
			 "the reader at '%s' stands still: it has not seen the end of the run",
			 where);
	else
		return NULL;
	return f->text;
}

uint64_t forward_left_out(const struct forward *f)
{
	return f->n_left_out;
}
