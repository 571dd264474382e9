/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "launch/witness.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include "base/util.h"
#include "launch/descriptors.h"

#define TITLE     "signal-witness"
#define WATCH_MS  100
#define ANSWER_MS 1000 /* then it is stopped, or dead: it has seen nothing */

struct witness {
	pid_t pid;
	int socket_fd;
	uint32_t n_questions;
};

struct question {
	uint32_t number; /* of the question; 0: it is none, watch */
	pid_t watch;
};

struct answer {
	uint32_t number, unused;
	uint64_t seen;
};

/* ---- the witness itself ---- */

/* The command line is ours to write over, as far as it goes; the copy of our parent's is not. */
static void set_title(void)
{
	_cleanup_(closep) int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	char *line = program_invocation_name, piece[4096];
	size_t size = 0;
	ssize_t n;

	(void)prctl(PR_SET_NAME, TITLE);
	while (fd >= 0 && (n = read(fd, piece, sizeof(piece))) > 0)
		size += (size_t)n;
	if (!size || !line || strlen(line) >= size)
		return;
	memset(line, 0, size);
	memcpy(line, TITLE, MIN(size - 1, sizeof(TITLE) - 1));
}

/* 'T' stopped, 't' stopped by a debugger. */
static bool stands_still(pid_t pid)
{
	char path[64], text[512];
	const char *p;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	_cleanup_(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return false;
	text[n] = '\0';
	p = strrchr(text, ')'); /* the name in brackets may hold anything */
	return p && (p[2] == 'T' || p[2] == 't');
}

static uint64_t take_pending(int signal_fd)
{
	struct signalfd_siginfo info;
	uint64_t seen = 0;

	while (read(signal_fd, &info, sizeof(info)) == sizeof(info))
		seen |= UINT64_C(1) << (info.ssi_signo - 1);
	return seen;
}

/* What is pending stays so until it is asked for: nothing is to be done about it before. */
static _Noreturn void witness_main(int socket_fd, int signal_fd, pid_t proton)
{
	const int kept[] = {socket_fd, signal_fd};
	struct pollfd p = {.fd = socket_fd, .events = POLLIN};
	struct question q;
	pid_t watch = 0;

	descriptors_keep(kept, ARRAY_SIZE(kept));
	set_title();
	for (;;) {
		int n = poll(&p, 1, watch ? WATCH_MS : -1);

		if (n == 0 && !stands_still(watch)) {
			(void)kill(proton, SIGCONT);
			watch = 0;
		}
		if (n <= 0)
			continue;
		if (recv(socket_fd, &q, sizeof(q), 0) != sizeof(q))
			_exit(0); /* proton is gone */
		if (q.number) {
			struct answer a = {.number = q.number, .seen = take_pending(signal_fd)};

			(void)send(socket_fd, &a, sizeof(a), MSG_NOSIGNAL);
		} else {
			watch = q.watch;
		}
	}
}

/* ---- our side ---- */

int witness_new(struct witness **ret_witness)
{
	struct witness *w = calloc(1, sizeof(*w));
	pid_t proton = getpid();
	sigset_t all, old;
	int pair[2], fd, r = 0;

	if (!w)
		return -ENOMEM;
	sigfillset(&all);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
		r = -errno;
		free(w);
		return r;
	}
	fd = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK); /* tells its reader's signals */
	sigprocmask(SIG_SETMASK, &all, &old);
	w->pid = fd < 0 ? -1 : fork();
	if (w->pid < 0)
		r = -errno;
	if (w->pid == 0)
		witness_main(pair[1], fd, proton);
	sigprocmask(SIG_SETMASK, &old, NULL);
	closep(&fd);
	close(pair[1]);
	w->socket_fd = pair[0];
	if (r < 0)
		witness_free(w);
	else
		*ret_witness = w;
	return r;
}

/* It may be stopped, and would not see that we go. */
struct witness *witness_free(struct witness *w)
{
	if (!w)
		return NULL;
	closep(&w->socket_fd);
	if (w->pid > 0) {
		(void)kill(w->pid, SIGKILL);
		while (waitpid(w->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	free(w);
	return NULL;
}

pid_t witness_pid(const struct witness *w)
{
	return w->pid;
}

/* A signal to a group is sent under the lock of the process table, one process after the other; we
 * may be awake while the others wait for theirs. setpgid() takes the same lock for writing: when it
 * returns, all have it. There is no such process: our own group has no number (0) where its leader is
 * outside of our pid namespace, and setpgid(0, 0) would take us out of it. */
static void let_group_signals_arrive(void)
{
	(void)setpgid(INT_MAX, 0);
}

static bool receive(struct witness *w, uint32_t number, struct answer *a)
{
	struct pollfd p = {.fd = w->socket_fd, .events = POLLIN};

	do
		if (poll(&p, 1, ANSWER_MS) <= 0 ||
		    recv(w->socket_fd, a, sizeof(*a), MSG_DONTWAIT) != sizeof(*a))
			return false;
	while (a->number != number); /* of a question that was given up */
	return true;
}

uint64_t witness_ask(struct witness *w)
{
	struct question q = {.number = ++w->n_questions};
	struct answer a;

	let_group_signals_arrive();
	if (send(w->socket_fd, &q, sizeof(q), MSG_NOSIGNAL | MSG_DONTWAIT) != sizeof(q) ||
	    !receive(w, q.number, &a))
		return 0;
	let_group_signals_arrive();
	return a.seen;
}

void witness_watch(struct witness *w, pid_t pid)
{
	struct question q = {.watch = pid};

	(void)send(w->socket_fd, &q, sizeof(q), MSG_NOSIGNAL | MSG_DONTWAIT);
}
