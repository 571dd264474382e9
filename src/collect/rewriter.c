/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/rewriter.h"
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "backends/pages.h"
#include "base/memory_file.h"
#include "base/util.h"
#include "collect/alone_spawn.h"
#include "collect/futex.h"
#include "collect/internal.h"
#include "collect/own_stack.h"
#include "collect/own_thread.h"

enum {
	RUNNING_MAX = 4,
	END_MS = 1000,
	STATUS_MAX = 1 << 20, /* a thread may be of 65,536 groups, of eleven characters each */
};
#define INTERRUPTED "a signal that ends programs came meanwhile"
static const int ends[] = {SIGINT, SIGTERM, SIGQUIT, SIGHUP};

static _Atomic uint32_t n_running; /* futex */

bool rewriter_fail(struct rewrite_job *j, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(j->why, sizeof(j->why), format, ap);
	va_end(ap);
	return false;
}
#define fail rewriter_fail

struct rewrite_job *rewrite_job_free(struct rewrite_job *j)
{
	if (j)
		free(j->text);
	free(j);
	return NULL;
}

/* ---- the answer ---- */

/* A descriptor that is not ours any more is another's file by now. */
static ssize_t read_some(struct rewrite_job *j, void *to, size_t n)
{
	struct pollfd p = {.fd = j->answer.fd, .events = POLLIN};
	uint32_t ms;

	while ((ms = patience_ms(&j->patience))) {
		if (poll(&p, 1, (int)ms) > 0)
			return own_fd_read(&j->answer, to, n);
		if (atomic_load(&j->is_given_up))
			return -EINTR;
	}
	return -ETIMEDOUT;
}

static bool fail_by(struct rewrite_job *j, ssize_t r)
{
	switch (r) {
	case -EINTR:
		return fail(j, INTERRUPTED);
	case -ETIMEDOUT:
		return fail(j, "it took more than %u s to rewrite it (--intra-limit)", j->limit_s);
	case -EBADF:
		return fail(j, "the program closed the descriptor that the answer comes by");
	default:
		return fail(j, "the process that rewrites it ended too early");
	}
}

/* As much as there is of it; *ret_n. */
static bool read_all(struct rewrite_job *j, void *to, size_t n, size_t *ret_n)
{
	size_t done = 0;
	ssize_t r = 1;

	while (done < n && r > 0) {
		r = read_some(j, (char *)to + done, n - done);
		if (r > 0)
			done += (size_t)r;
	}
	*ret_n = done;
	return done == n || fail_by(j, r);
}

static bool read_head(struct rewrite_job *j)
{
	size_t n;
	int e;

	if (!read_all(j, &j->head, sizeof(j->head), &n)) {
		char text[sizeof(j->head) + 1] = "";

		memcpy(text, &j->head, n);
		return sscanf(text, "exec %d", &e) == 1
			       ? fail(j, "the process that rewrites it cannot be started: %s",
				      strerror(e))
			       : false;
	}
	if (j->head.magic != REWRITTEN_MAGIC || j->head.text_bytes > REWRITTEN_TEXT_MOST ||
	    j->head.image_bytes > REWRITTEN_MOST)
		return fail(j, "the process that rewrites it is of another version, or complained");
	return true;
}

static bool read_text(struct rewrite_job *j)
{
	size_t n;

	j->text = calloc(1, j->head.text_bytes + 1u);
	if (!j->text)
		return fail(j, "out of memory");
	return read_all(j, j->text, j->head.text_bytes, &n);
}

static bool read_image(struct rewrite_job *j)
{
	size_t size = (size_t)j->head.image_bytes, n;
	void *at;

	if (!size)
		return true;
	at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		return fail(j, "out of memory");
	j->out = (struct module_instead){at, size};
	return read_all(j, at, size, &n);
}

/* It is not to be found running after the program. Others may have its descriptor, where the table is the program's: a
 * child that another thread forked meanwhile. */
static void await_end(struct rewrite_job *j)
{
	char end;

	j->patience = patience(END_MS);
	read_some(j, &end, sizeof(end));
}

/* ---- the process ---- */

static int start(const struct rewrite_job *j, const char *command, int input, int *ret_fd)
{
	char chip[16], limit[16],
		*argv[] = {(char *)"proton",
			   (char *)"rewrite",
			   (char *)"--session",
			   collector->dir,
			   (char *)"--chip",
			   chip,
			   (char *)"--limit",
			   limit,
			   NULL};
	char **envp = spawn_environment();
	int r;

	if (!envp)
		return -ENOMEM;
	snprintf(chip, sizeof(chip), "%u", j->chip);
	snprintf(limit, sizeof(limit), "%u", j->limit_s);
	r = spawn_detached(command, argv, envp, input, ret_fd);
	free(envp);
	return r;
}

static bool ask(struct rewrite_job *j)
{
	char command[PATH_MAX], why[COMMAND_WHY_MAX];
	struct own_fd input;
	int fd, r;
	bool is_read;

	if (command_find(command, why) < 0)
		return fail(j, "there is no command 'proton': %s", why);
	r = memory_file("proton-module", j->in.at, j->in.size);
	if (r < 0)
		return fail(j, "it cannot be handed over: %s", strerror(-r));
	input = own_fd_of(r);
	r = start(j, command, r, &fd);
	own_fd_close(&input);
	if (r < 0)
		return fail(j, "the process that rewrites it cannot be started: %s", strerror(-r));
	j->answer = own_fd_of(fd);
	is_read = read_head(j) && read_text(j) && read_image(j);
	if (is_read)
		await_end(j);
	own_fd_close(&j->answer);
	return is_read;
}

/* ---- turns ---- */

/* Has the program been asked to end? */
static bool is_interrupted(const struct rewrite_job *j)
{
	sigset_t pending;

	if (sigpending(&pending) < 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		if (sigismember(&pending, ends[i]) == 1 && !sigismember(&j->blocked, ends[i]))
			return true;
	return false;
}

/* One of those that may rewrite at a time, where the wait for it is not too long. */
static bool turn_take(struct rewrite_job *j)
{
	uint32_t n = atomic_load(&n_running), ms;

	while ((ms = patience_ms(&j->patience))) {
		if (n < RUNNING_MAX) {
			if (atomic_compare_exchange_weak(&n_running, &n, n + 1))
				return true;
			continue;
		}
		if (is_interrupted(j))
			return fail(j, INTERRUPTED);
		futex_wait(&n_running, n, ms);
		n = atomic_load(&n_running);
	}
	return fail(j, "other modules took all of the time (--intra-limit)");
}

static void turn_give(void)
{
	atomic_fetch_sub(&n_running, 1);
	futex_wake(&n_running);
}

/* ---- what the program forbids itself ---- */

/* Filters of system calls (seccomp) that the calling thread has; 0: none, or the kernel does not say. */
static uint32_t n_filters(void)
{
	static const char name[] = "\nSeccomp_filters:";
	char *text = pages_reserve_sparse(STATUS_MAX); /* mostly a page of it */
	const char *at = NULL;
	uint32_t n;

	if (text && own_fd_read_file("/proc/thread-self/status", text, STATUS_MAX) > 0)
		at = strstr(text, name);
	n = at ? (uint32_t)strtoul(at + strlen(name), NULL, 10) : 0;
	if (text)
		munmap(text, STATUS_MAX);
	return n;
}

static uint32_t n_filters_first;

void rewriter_begin(void)
{
	n_filters_first = n_filters();
}

/* ---- our thread ---- */

static void *work(void *arg)
{
	struct rewrite_job *j = arg;

	own_thread_begin("proton-rewrite");
	own_fd_isolate();
	j->is_done = ask(j);
	turn_give();
	atomic_store(&j->is_over, 1);
	futex_wake(&j->is_over);
	return NULL;
}

/* What is forbidden may not fail, but end the program: it is not tried. */
static void begin(void *arg)
{
	struct rewrite_job *j = arg;
	int r;

	if (n_filters() > n_filters_first) {
		fail(j, "the program forbids itself system calls since it began (seccomp)");
		return;
	}
	r = own_thread_make(&j->thread, work, j);
	if (r)
		fail(j, "a thread for it cannot be made: %s", strerror(r));
}

/* A handler that forks has a child here, where our thread is not. Joined, it leaves its stack and its arena to the next one. */
static void await(struct rewrite_job *j)
{
	pid_t us = getpid();

	while (!atomic_load(&j->is_over)) {
		futex_wait(&j->is_over, 0, PATIENCE_GAP_MS);
		if (getpid() != us) {
			fail(j, "it was begun before a fork");
			return;
		}
		if (is_interrupted(j))
			atomic_store(&j->is_given_up, true);
	}
	pthread_join(j->thread, NULL);
}

static void run(struct rewrite_job *j)
{
	j->patience = patience(j->limit_s * 1000);
	if (!turn_take(j))
		return;
	own_stack_run(begin, j);
	if (*j->why)
		turn_give();
	else
		await(j);
}

/* ---- in the program's thread ---- */

void rewriter_run(struct rewrite_job *j)
{
	sigset_t held;
	int cancel;

	sigemptyset(&held);
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		sigaddset(&held, ends[i]);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	pthread_sigmask(SIG_BLOCK, &held, &j->blocked);
	run(j);
	pthread_sigmask(SIG_SETMASK, &j->blocked, NULL);
	pthread_setcancelstate(cancel, NULL);
}

void rewriter_forked(void)
{
	atomic_store(&n_running, 0);
}
