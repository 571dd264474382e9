/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "launch/keeper.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include "launch/keeper_process.h"

struct keeper {
	pid_t pid, target;
	int socket_fd; /* -1: gone */
	struct log_ring *log;
	bool ended;
	int wait_status;
};

/* ---- starting ---- */

/* An open file description of our own of the user's terminal: non-blocking for us alone. */
static int open_terminal(void)
{
	const int flags = O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK;
	int fd = open("/dev/tty", flags);
	char path[32];

	for (int i = 0; fd < 0 && i < 3; i++)
		if (isatty(i)) {
			snprintf(path, sizeof(path), "/proc/self/fd/%d", i);
			fd = open(path, flags);
		}
	return fd;
}

/* The pty is like the user's terminal, but for NL to CR-NL: the log is a text file, and who shows
 * it knows about lines. */
static void choose_terminal(struct keeper_setup *s, const struct keeper_options *o)
{
	s->tty_fd = open_terminal();
	s->size = o->size;
	if (!s->size.ws_row || !s->size.ws_col)
		if (s->tty_fd < 0 || ioctl(s->tty_fd, TIOCGWINSZ, &s->size) < 0 || !s->size.ws_row)
			s->size = (struct winsize){.ws_row = 24, .ws_col = 80};
	if (o->termios) {
		s->termios = *o->termios;
		s->has_termios = true;
	} else if (s->tty_fd >= 0 && tcgetattr(s->tty_fd, &s->termios) == 0) {
		s->termios.c_oflag &= ~(tcflag_t)ONLCR;
		s->has_termios = true;
	}
	for (int fd = 0; fd < 3; fd++)
		s->use_pty[fd] = isatty(fd);
}

static int open_logs(struct keeper_setup *s, const struct keeper_options *o, const char **ret_what)
{
	_cleanup_(freep) char *path = NULL;

	*ret_what = "log";
	if (asprintf(&path, "%s/log", o->dir->path) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	if (o->app_log) {
		s->app_log_fd =
			open(o->app_log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
		if (s->app_log_fd < 0) {
			*ret_what = "app log";
			return -errno;
		}
	}
	return log_ring_create(path, LOG_RING_BYTES, &s->log);
}

/* fork, with no handler of ours running in the child. */
static int fork_keeper(struct keeper_setup *s, struct keeper *k)
{
	struct launch_origin now;
	int pair[2], r = 0;
	sigset_t all, old;

	if (!s->target.origin) { /* before the keeper ignores what it must */
		launch_origin_save(&now);
		s->target.origin = &now;
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	s->socket_fd = pair[1];
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &old);
	k->pid = fork();
	if (k->pid < 0)
		r = -errno;
	if (k->pid == 0) {
		close(pair[0]);
		keeper_process(s);
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
	close(pair[1]);
	k->socket_fd = pair[0];
	return r;
}

static void reap_failed(pid_t pid)
{
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* The first message: exec is over. */
static int wait_started(struct keeper *k, const char **ret_what)
{
	struct keeper_reply reply;
	ssize_t n;

	do
		n = recv(k->socket_fd, &reply, sizeof(reply), 0);
	while (n < 0 && errno == EINTR);
	if (n == sizeof(reply) && reply.kind == REPLY_STARTED) {
		k->target = (pid_t)reply.value;
		return 0;
	}
	reap_failed(k->pid);
	if (n != sizeof(reply))
		return -ECHILD;
	*ret_what = "exec";
	return -(int)reply.value;
}

static int start(struct keeper_setup *s, const struct keeper_options *o, struct keeper *k,
		 const char **ret_what)
{
	int r = open_logs(s, o, ret_what);

	if (r < 0)
		return r;
	k->log = s->log;
	*ret_what = "keeper";
	choose_terminal(s, o);
	r = fork_keeper(s, k);
	if (r == 0)
		r = wait_started(k, ret_what);
	if (r == 0)
		log_ring_want(k->log);
	return r;
}

int keeper_start(const struct keeper_options *o, struct keeper **ret_keeper, const char **ret_what)
{
	struct keeper_setup s = {.target = o->target,
				 .options = o,
				 .dir = o->dir,
				 .socket_fd = -1,
				 .tty_fd = -1,
				 .app_log_fd = -1};
	struct keeper *k = calloc(1, sizeof(*k));
	const char *what = "keeper";
	int r;

	if (!k)
		return -ENOMEM;
	k->socket_fd = -1;
	r = start(&s, o, k, &what);
	closep(&s.tty_fd);
	closep(&s.app_log_fd);
	if (r < 0) {
		*ret_what = what;
		if (!k->log)
			log_ring_free(s.log);
		keeper_free(k);
		return r;
	}
	*ret_keeper = k;
	return 0;
}

struct keeper *keeper_free(struct keeper *k)
{
	if (!k)
		return NULL;
	closep(&k->socket_fd);
	if (k->pid > 0)
		(void)waitpid(k->pid, NULL, WNOHANG); /* it may have more to do than we have */
	log_ring_free(k->log);
	free(k);
	return NULL;
}

/* ---- events ---- */

static void note_event(struct keeper *k, const struct keeper_event *event)
{
	if (event->kind == KEEPER_ENDED) {
		k->ended = true;
		k->wait_status = (int)event->value;
	}
	if (event->kind == KEEPER_GONE) {
		close(k->socket_fd);
		k->socket_fd = -1;
	}
}

int keeper_next(struct keeper *k, struct keeper_event *ret_event)
{
	struct keeper_reply reply;
	ssize_t n;

	if (k->socket_fd < 0)
		return 0;
	do
		n = recv(k->socket_fd, &reply, sizeof(reply), MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EAGAIN)
		return 0;
	if (n == sizeof(reply))
		*ret_event = (struct keeper_event){.kind = reply.kind, .value = reply.value};
	else
		*ret_event = (struct keeper_event){.kind = KEEPER_GONE};
	note_event(k, ret_event);
	return 1;
}

bool keeper_ended(const struct keeper *k, int *ret_wait_status)
{
	if (k->ended)
		*ret_wait_status = k->wait_status;
	return k->ended;
}

pid_t keeper_pid(const struct keeper *k)
{
	return k->pid;
}

pid_t keeper_target_pid(const struct keeper *k)
{
	return k->target;
}

struct log_ring *keeper_log(struct keeper *k)
{
	return k->log;
}

int keeper_fd(const struct keeper *k)
{
	return k->socket_fd;
}

/* ---- requests ---- */

/* The whole of a request, or, of those that have some, up to the last byte in use. */
static int send_request(struct keeper *k, const struct keeper_request *request, size_t n_bytes)
{
	size_t len = offsetof(struct keeper_request, bytes) + n_bytes;

	if (k->socket_fd < 0)
		return -EPIPE;
	while (send(k->socket_fd, request, len, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		if (errno != EINTR)
			return errno == ECONNRESET ? -EPIPE : -errno;
	return 0;
}

static int send_simple(struct keeper *k, enum keeper_request_kind kind, uint32_t a, uint32_t b)
{
	struct keeper_request request;

	memset(&request, 0, offsetof(struct keeper_request, bytes));
	request.kind = kind;
	request.a = a;
	request.b = b;
	return send_request(k, &request, 0);
}

int keeper_signal(struct keeper *k, int sig, bool whole_group)
{
	return send_simple(k, REQUEST_SIGNAL, (uint32_t)sig, whole_group);
}

int keeper_resize(struct keeper *k, unsigned rows, unsigned cols)
{
	return send_simple(k, REQUEST_RESIZE, rows, cols);
}

int keeper_input(struct keeper *k, const void *bytes, size_t len)
{
	struct keeper_request request = {.kind = REQUEST_INPUT, .a = (uint32_t)len};

	if (len > sizeof(request.bytes))
		return -EMSGSIZE;
	memcpy(request.bytes, bytes, len);
	return send_request(k, &request, len);
}

int keeper_detach(struct keeper *k, bool keep_alive)
{
	return send_simple(k, REQUEST_DETACH, keep_alive, 0);
}

int keeper_finish(struct keeper *k)
{
	return k->ended ? send_simple(k, REQUEST_FINISH, 0, 0) : -EBUSY;
}
