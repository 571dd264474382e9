/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "launch/keeper_process.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include "launch/descriptors.h"
#include "launch/spawn.h"

#define DRAIN_MS        2000
#define READS_A_TURN    32 /* of the pty, before the socket is looked at again */
#define INPUT_MAX       (64 << 10)
#define TTY_PATIENCE_MS 200

/* Events that wait for room in the socket; bit n: enum keeper_event_kind n. */
struct pending {
	uint32_t kinds;
	uint64_t value[KEEPER_GONE];
};

struct process {
	const struct keeper_setup *setup;
	int socket_fd; /* -1: the screen is gone, or has taken its leave */
	int master_fd; /* -1: nobody has the pty open any more */
	int slave_fd;  /* ours, until the target ends: a target that closes it may open it again */
	int signal_fd, tty_fd, app_log_fd;

	pid_t target;
	bool ended, drained;
	bool owns_dir; /* the session directory is for us to remove */
	uint64_t drain_deadline_ms;

	char input[INPUT_MAX]; /* typed text that the pty has no room for */
	size_t input_len;
	struct pending pending;
};

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* ---- to the screen ---- */

static bool send_reply(struct process *p, uint32_t kind, uint64_t value)
{
	struct keeper_reply reply = {.kind = kind, .value = value};

	return p->socket_fd < 0 ||
	       send(p->socket_fd, &reply, sizeof(reply), MSG_DONTWAIT | MSG_NOSIGNAL) >= 0 ||
	       (errno != EAGAIN && errno != EINTR);
}

static void send_pending(struct process *p)
{
	for (uint32_t kind = 0; kind < KEEPER_GONE; kind++)
		if (p->pending.kinds >> kind & 1) {
			if (!send_reply(p, kind, p->pending.value[kind]))
				return;
			p->pending.kinds &= ~(1u << kind);
		}
}

/* Never waits: a screen that is stopped (^Z) does not stop the target. */
static void tell(struct process *p, enum keeper_event_kind kind, uint64_t value)
{
	p->pending.kinds |= 1u << kind;
	p->pending.value[kind] = value;
	send_pending(p);
}

/* ---- the output ---- */

static void write_app_log(struct process *p, const char *data, size_t len)
{
	while (p->app_log_fd >= 0 && len > 0) {
		ssize_t n = write(p->app_log_fd, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			tell(p, KEEPER_LOG_FAILED, (uint64_t)errno);
			close(p->app_log_fd);
			p->app_log_fd = -1;
			return;
		}
		data += n;
		len -= (size_t)n;
	}
}

static void take_output(struct process *p, const char *data, size_t len)
{
	log_ring_append(p->setup->log, data, len);
	write_app_log(p, data, len);
	if (log_ring_wanted(p->setup->log))
		tell(p, KEEPER_LOG_GREW, log_ring_end(p->setup->log));
}

static void set_drained(struct process *p, bool others_have_it)
{
	p->drained = true;
	tell(p, KEEPER_DRAINED, others_have_it);
	if (p->owns_dir)
		(void)session_dir_remove(p->setup->dir->path);
}

/* EIO is how a pty says that its other side is closed. */
static void read_pty(struct process *p)
{
	static char data[64 << 10];

	for (int i = 0; i < READS_A_TURN && p->master_fd >= 0; i++) {
		ssize_t n = read(p->master_fd, data, sizeof(data));

		if (n > 0) {
			take_output(p, data, (size_t)n);
		} else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
			close(p->master_fd);
			p->master_fd = -1;
			set_drained(p, false);
		} else if (errno == EAGAIN) {
			return;
		}
	}
}

static void write_input(struct process *p)
{
	ssize_t n;

	if (!p->input_len || p->master_fd < 0)
		return;
	n = write(p->master_fd, p->input, p->input_len);
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		p->input_len = 0;
	if (n <= 0)
		return;
	p->input_len -= (size_t)n;
	memmove(p->input, p->input + n, p->input_len);
}

/* ---- the target ---- */

static void target_ended(struct process *p, int wait_status)
{
	p->ended = true;
	p->drain_deadline_ms = now_ms() + DRAIN_MS;
	closep(&p->slave_fd);
	p->slave_fd = -1;
	tell(p, KEEPER_ENDED, (uint64_t)(unsigned)wait_status);
}

static void wait_target(struct process *p)
{
	int status;

	while (!p->ended) {
		pid_t pid = waitpid(p->target, &status, WNOHANG | WUNTRACED | WCONTINUED);

		if (pid < 0 && errno == EINTR)
			continue;
		if (pid <= 0)
			return;
		if (WIFSTOPPED(status))
			tell(p, KEEPER_STOPPED, (uint64_t)WSTOPSIG(status));
		else if (WIFCONTINUED(status))
			tell(p, KEEPER_CONTINUED, 0);
		else
			target_ended(p, status);
	}
}

/* A signal to the keeper (shutdown of the system, a user who found us in ps) is for the target. */
static void read_signals(struct process *p)
{
	struct signalfd_siginfo info;

	while (read(p->signal_fd, &info, sizeof(info)) == sizeof(info))
		if (info.ssi_signo != SIGCHLD && !p->ended)
			(void)kill(p->target, (int)info.ssi_signo);
	wait_target(p);
}

/* ---- the screen ---- */

/* Best effort, and soon: the line may be lost, or stopped by ^S. We are in another session, so no
 * SIGTTOU can stop us. */
static void restore_terminal(struct process *p)
{
	const struct keeper_options *o = p->setup->options;
	const char *data = o->restore;
	size_t len = o->restore_len;

	if (!data || p->tty_fd < 0)
		return;
	if (o->termios)
		(void)tcsetattr(p->tty_fd, TCSANOW, o->termios);
	while (len > 0) {
		ssize_t n = write(p->tty_fd, data, len);
		struct pollfd wait = {.fd = p->tty_fd, .events = POLLOUT};

		if (n < 0 && errno == EAGAIN && poll(&wait, 1, TTY_PATIENCE_MS) > 0)
			continue;
		if (n <= 0)
			return;
		data += n;
		len -= (size_t)n;
	}
}

/* From here on we are alone: nobody reads events, nobody but us removes the directory. */
static void take_over(struct process *p, bool keep_alive)
{
	closep(&p->socket_fd);
	p->socket_fd = -1;
	p->owns_dir = true;
	if (!keep_alive)
		atomic_store(&p->setup->dir->control->alive, 0);
	if (p->drained)
		(void)session_dir_remove(p->setup->dir->path);
}

static void screen_died(struct process *p)
{
	restore_terminal(p);
	take_over(p, false);
}

static void on_signal(struct process *p, const struct keeper_request *request)
{
	pid_t group = p->target;

	/* The group in front may be a shell's job. After the end, both numbers may mean somebody
	 * else: only a process that still has the pty open can be in our group. */
	if (request->b)
		group = p->master_fd >= 0 ? tcgetpgrp(p->master_fd) : -1;
	if (request->b && group > 1)
		(void)kill(-group, (int)request->a);
	else if (!request->b && !p->ended)
		(void)kill(p->target, (int)request->a);
}

static void on_resize(struct process *p, const struct keeper_request *request)
{
	struct winsize size = {.ws_row = (unsigned short)request->a,
			       .ws_col = (unsigned short)request->b};

	if (p->master_fd >= 0)
		(void)ioctl(p->master_fd, TIOCSWINSZ, &size);
}

static void on_input(struct process *p, const struct keeper_request *request)
{
	size_t len = MIN((size_t)request->a, sizeof(p->input) - p->input_len);

	memcpy(p->input + p->input_len, request->bytes, len);
	p->input_len += len;
	write_input(p);
}

static void handle_request(struct process *p, const struct keeper_request *request)
{
	switch ((enum keeper_request_kind)request->kind) {
	case REQUEST_SIGNAL:
		on_signal(p, request);
		break;
	case REQUEST_RESIZE:
		on_resize(p, request);
		break;
	case REQUEST_INPUT:
		on_input(p, request);
		break;
	case REQUEST_DETACH:
		take_over(p, request->a);
		break;
	case REQUEST_FINISH:
		closep(&p->socket_fd);
		p->socket_fd = -1;
		break;
	}
}

static void read_requests(struct process *p)
{
	struct keeper_request request;

	while (p->socket_fd >= 0) {
		ssize_t n = recv(p->socket_fd, &request, sizeof(request), MSG_DONTWAIT);

		/* A screen that dies with events unread resets the connection: that is reported
		 * first, once, and what it had sent before is still there to be read. */
		if (n < 0 && (errno == EINTR || errno == ECONNRESET))
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0)
			screen_died(p);
		else
			handle_request(p, &request);
	}
}

/* ---- getting ready ---- */

static int take_signals(struct process *p)
{
	static const int ignored[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGPIPE,
				      SIGTSTP, SIGTTIN, SIGTTOU, SIGXFSZ};
	static const int taken[] = {SIGCHLD, SIGTERM, SIGUSR1, SIGUSR2};
	struct sigaction action = {.sa_handler = SIG_DFL};
	sigset_t set;

	for (int sig = 1; sig < NSIG; sig++) /* handlers of the screen are not for us */
		(void)sigaction(sig, &action, NULL);
	action.sa_handler = SIG_IGN;
	for (size_t i = 0; i < ARRAY_SIZE(ignored); i++)
		(void)sigaction(ignored[i], &action, NULL);
	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(taken); i++)
		sigaddset(&set, taken[i]);
	p->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (p->signal_fd < 0)
		return -errno;
	return sigprocmask(SIG_SETMASK, &set, NULL) < 0 ? -errno : 0;
}

static int open_pty(struct process *p)
{
	char name[64];

	p->master_fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	if (p->master_fd < 0 || grantpt(p->master_fd) < 0 || unlockpt(p->master_fd) < 0)
		return -errno;
	if (ptsname_r(p->master_fd, name, sizeof(name)) != 0)
		return -errno;
	p->slave_fd = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (p->slave_fd < 0)
		return -errno;
	if (p->setup->has_termios)
		(void)tcsetattr(p->slave_fd, TCSANOW, &p->setup->termios);
	(void)ioctl(p->slave_fd, TIOCSWINSZ, &p->setup->size);
	return ioctl(p->slave_fd, TIOCSCTTY, 0) < 0 ? -errno : 0;
}

static int start_target(struct process *p)
{
	struct spawn_terminal terminal = {.slave = p->slave_fd};

	memcpy(terminal.use, p->setup->use_pty, sizeof(terminal.use));
	return spawn_target(&p->setup->target, &terminal, &p->target);
}

/* The user's pipes and files are the target's: a reader of one waits until all writers are gone,
 * and must not wait for us. */
static void let_go_of_descriptors(const struct process *p)
{
	const int kept[] = {p->socket_fd,
			    p->master_fd,
			    p->slave_fd,
			    p->signal_fd,
			    p->tty_fd,
			    p->app_log_fd,
			    log_ring_fd(p->setup->log),
			    p->setup->dir->stream_fd,
			    p->setup->dir->owner_fd};

	descriptors_keep(kept, ARRAY_SIZE(kept));
	(void)!chdir("/"); /* no file system is kept busy */
}

/* ---- the loop ---- */

static int poll_timeout(const struct process *p)
{
	uint64_t now = now_ms();

	if (!p->ended || p->drained)
		return -1;
	return p->drain_deadline_ms > now ? (int)(p->drain_deadline_ms - now) : 0;
}

static void turn(struct process *p)
{
	struct pollfd fds[] = {
		{.fd = p->socket_fd, .events = POLLIN | (p->pending.kinds ? POLLOUT : 0)},
		{.fd = p->master_fd, .events = POLLIN | (p->input_len ? POLLOUT : 0)},
		{.fd = p->signal_fd, .events = POLLIN},
	};

	if (poll(fds, ARRAY_SIZE(fds), poll_timeout(p)) < 0)
		return;
	if (fds[2].revents)
		read_signals(p);
	if (fds[0].revents & POLLOUT)
		send_pending(p);
	if (fds[0].revents & ~POLLOUT)
		read_requests(p);
	if (fds[1].revents & POLLOUT)
		write_input(p);
	if (fds[1].revents & ~POLLOUT)
		read_pty(p);
	if (p->ended && !p->drained && now_ms() >= p->drain_deadline_ms)
		set_drained(p, true);
}

/* Not before nobody has the pty open: closing it would hang up on them. */
static bool is_over(const struct process *p)
{
	return p->ended && p->socket_fd < 0 && p->master_fd < 0;
}

static int get_ready(struct process *p)
{
	int r = take_signals(p);

	if (setsid() < 0)
		return -errno;
	(void)prctl(PR_SET_NAME, "proton-keeper");
	if (r == 0)
		r = open_pty(p);
	if (r == 0)
		r = start_target(p);
	return r;
}

_Noreturn void keeper_process(const struct keeper_setup *setup)
{
	static struct process process; /* large, and of a process that does nothing else */
	struct process *p = &process;
	int r;

	p->setup = setup;
	p->socket_fd = setup->socket_fd;
	p->tty_fd = setup->tty_fd;
	p->app_log_fd = setup->app_log_fd;
	p->master_fd = p->slave_fd = p->signal_fd = -1;
	r = get_ready(p);
	if (r < 0) {
		(void)send_reply(p, REPLY_FAILED, (uint64_t)-r);
		_exit(1);
	}
	(void)session_dir_set_target(setup->dir, p->target);
	(void)send_reply(p, REPLY_STARTED, (uint64_t)p->target);
	let_go_of_descriptors(p);
	while (!is_over(p))
		turn(p);
	_exit(0);
}
