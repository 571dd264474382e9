/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "launch/probe.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include "base/clock.h"
#include "launch/child.h"

enum {
	ANSWER_MAX = 4 << 20, /* eight times what the longest list of metrics takes */
	LOOK_MS = 20,         /* between two looks whether it has ended */
	FAREWELL_MS = 500     /* for a killed child to go: one that the kernel holds never does */
};

/* ---- the child ---- */

void probe_tell(int fd, const char *format, ...)
{
	_cleanup_(buf_done) struct buf line = {0};
	va_list ap;

	va_start(ap, format);
	buf_vprintf(&line, format, ap);
	va_end(ap);
	for (size_t i = 0; i < line.len; i++)
		if (line.data[i] == '\n' || line.data[i] == '\r')
			line.data[i] = ' ';
	buf_putc(&line, '\n');
	if (!line.error)
		(void)fd_write_all(fd, line.data, line.len);
}

/* ---- the parent ---- */

/* What is in the pipe now. Returns false when nobody can write to it any more. */
static bool take(int fd, struct buf *text)
{
	char piece[4096];
	ssize_t n;

	while ((n = read(fd, piece, sizeof(piece))) > 0)
		buf_put(text, piece, (size_t)n);
	return n < 0 && (errno == EAGAIN || errno == EINTR);
}

/* Once it has ended, what it has left behind goes too: before its pid is free for somebody else. */
static bool has_ended(pid_t pid, struct probe *ret)
{
	siginfo_t info = {0};

	if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0) {
		if (errno == EINTR)
			return false;
		ret->end = PROBE_FAILED;
		ret->detail = errno;
		return true;
	}
	if (info.si_pid != pid)
		return false;
	kill(-pid, SIGKILL);
	waitpid(pid, NULL, 0);
	ret->detail = info.si_status;
	ret->end = info.si_code != CLD_EXITED ? PROBE_DIED
		   : info.si_status           ? PROBE_LEFT
					      : PROBE_ANSWERED;
	return true;
}

/* Waits for the pipes a moment; once they are closed, or when they say nothing, for time to pass. */
static void pass_time(const struct probe_child child[], size_t n)
{
	struct pollfd p[PROBES_MAX];

	for (size_t i = 0; i < n; i++)
		p[i] = (struct pollfd){.fd = child[i].pid && child[i].is_open ? child[i].fd : -1,
				       .events = POLLIN};
	(void)poll(p, n, LOOK_MS);
}

static void put_down(pid_t pid, struct probe *ret)
{
	uint64_t end = clock_monotonic_ns() + FAREWELL_MS * NSEC_PER_MSEC;
	struct probe ignored = {.text = {0}};

	kill(-pid, SIGKILL);
	kill(pid, SIGKILL);
	while (!has_ended(pid, &ignored) && clock_monotonic_ns() < end)
		pass_time(NULL, 0);
	ret->end = PROBE_HUNG;
}

static void close_child(struct probe_child *child)
{
	close(child->fd);
	child->pid = 0;
}

bool probe_begin(probe_fn *fn, const void *ctx, struct probe *ret, struct probe_child *child)
{
	pid_t parent = getpid();
	int pipe_fds[2];

	*ret = (struct probe){.end = PROBE_FAILED};
	*child = (struct probe_child){.is_open = true};
	buf_init(&ret->text, ANSWER_MAX);
	if (pipe2(pipe_fds, O_CLOEXEC) < 0) {
		ret->detail = errno;
		return false;
	}
	child->pid = fork();
	if (child->pid == 0) {
		child_settle(parent, pipe_fds[1]);
		fn(ctx, pipe_fds[1]);
		_exit(0);
	}
	ret->detail = errno;
	close(pipe_fds[1]);
	child->fd = pipe_fds[0];
	if (child->pid < 0) {
		close_child(child);
		return false;
	}
	setpgid(child->pid, child->pid);
	(void)fcntl(child->fd, F_SETFL, O_NONBLOCK);
	ret->detail = 0;
	return true;
}

bool probe_look(struct probe_child *child, struct probe *ret)
{
	bool ended = has_ended(child->pid, ret); /* before the last look at what it told */

	child->is_open = child->is_open && take(child->fd, &ret->text);
	if (ended)
		close_child(child);
	return ended;
}

void probe_stop(struct probe_child *child, unsigned seconds, struct probe *ret)
{
	if (!child->pid)
		return;
	put_down(child->pid, ret);
	(void)take(child->fd, &ret->text);
	ret->detail = (int)seconds;
	close_child(child);
}

/* How many go on. */
static size_t look_all(struct probe_child child[], size_t n, unsigned deadline_ms, uint64_t end,
		       struct probe ret[])
{
	size_t n_left = 0;

	for (size_t i = 0; i < n; i++) {
		if (!child[i].pid || probe_look(&child[i], &ret[i]))
			continue;
		if (clock_monotonic_ns() >= end)
			probe_stop(&child[i], (deadline_ms + 999) / 1000, &ret[i]);
		n_left += child[i].pid != 0;
	}
	return n_left;
}

static void run_all(probe_fn *fn, const void *const ctx[], size_t n, unsigned deadline_ms,
		    const struct probe_waiting *waiting, struct probe ret[])
{
	struct probe_child child[PROBES_MAX];
	uint64_t begin;

	for (size_t i = 0; i < n; i++)
		probe_begin(fn, ctx[i], &ret[i], &child[i]);
	begin = clock_monotonic_ns();
	while (look_all(child, n, deadline_ms, begin + deadline_ms * NSEC_PER_MSEC, ret)) {
		if (waiting)
			waiting->call(waiting->data,
				      (unsigned)((clock_monotonic_ns() - begin) / NSEC_PER_MSEC));
		pass_time(child, n);
	}
}

void probe_run_all(probe_fn *fn, const void *const ctx[], size_t n, unsigned deadline_ms,
		   struct probe ret[])
{
	run_all(fn, ctx, n, deadline_ms, NULL, ret);
}

void probe_run(probe_fn *fn, const void *ctx, unsigned deadline_ms, struct probe *ret)
{
	run_all(fn, &ctx, 1, deadline_ms, NULL, ret);
}

void probe_run_told(probe_fn *fn, const void *ctx, unsigned deadline_ms,
		    const struct probe_waiting *waiting, struct probe *ret)
{
	run_all(fn, &ctx, 1, deadline_ms, waiting, ret);
}

void probe_done(struct probe *p)
{
	buf_done(&p->text);
}

/* ---- the answer ---- */

const char *probe_value(struct buf *scratch, const struct probe *p, const char *key, unsigned n)
{
	size_t key_len = strlen(key), len;
	const char *line = p->text.data, *end = line ? line + p->text.len : line;

	for (; line < end; line += len + 1) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));

		if (!stop)
			break; /* it died while it wrote */
		len = (size_t)(stop - line);
		if (len <= key_len || memcmp(line, key, key_len) != 0 || line[key_len] != ' ' ||
		    n-- > 0)
			continue;
		buf_clear(scratch);
		buf_put(scratch, line + key_len + 1, len - key_len - 1);
		return buf_str(scratch);
	}
	return NULL;
}

bool probe_number(const struct probe *p, const char *key, long *ret)
{
	_cleanup_(buf_done) struct buf scratch = {0};
	const char *text = probe_value(&scratch, p, key, 0);
	char *end;
	long v;

	if (!text)
		return false;
	v = strtol(text, &end, 10);
	if (end == text || *end)
		return false;
	*ret = v;
	return true;
}

/* The last of its stages: what it was at when it ended. */
static const char *last_stage(const struct probe *p, struct buf *scratch)
{
	const char *stage = "the question", *next;

	for (unsigned i = 0; (next = probe_value(scratch, p, "stage", i)); i++)
		stage = next;
	return stage;
}

void probe_say_end(const struct probe *p, struct buf *out)
{
	_cleanup_(buf_done) struct buf scratch = {0};

	probe_say_end_of(last_stage(p, &scratch), p, out);
}

void probe_say_end_of(const char *stage, const struct probe *p, struct buf *out)
{
	const char *name;

	switch (p->end) {
	case PROBE_ANSWERED:
		buf_printf(out, "%s: answered", stage);
		break;
	case PROBE_FAILED:
		buf_printf(out, "cannot start a process to ask: %s", strerror(p->detail));
		break;
	case PROBE_LEFT:
		buf_printf(out, "%s ended the process with status %d", stage, p->detail);
		break;
	case PROBE_DIED:
		name = sigabbrev_np(p->detail);
		buf_printf(out, "%s crashed with SIG%s", stage, name ? name : "?");
		break;
	case PROBE_HUNG:
		buf_printf(out, "%s did not end within %d s", stage, p->detail);
		break;
	}
}
