/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "launch/spawn.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include "base/named_file.h"

void launch_origin_save(struct launch_origin *origin)
{
	struct sigaction old;

	memset(origin, 0, sizeof(*origin));
	sigprocmask(SIG_BLOCK, NULL, &origin->mask);
	for (int sig = 1; sig < NSIG; sig++)
		if (sigaction(sig, NULL, &old) == 0 && old.sa_handler == SIG_IGN)
			origin->ignored |= UINT64_C(1) << (sig - 1);
	getrlimit(RLIMIT_NOFILE, &origin->nofile);
	getrlimit(RLIMIT_CORE, &origin->core);
}

/* ---- in the child, all signals blocked ---- */

static void restore_limit(__rlimit_resource_t which, const struct rlimit *wanted)
{
	struct rlimit now;

	if (getrlimit(which, &now) == 0 &&
	    (now.rlim_cur != wanted->rlim_cur || now.rlim_max != wanted->rlim_max))
		(void)setrlimit(which, wanted);
}

/* Handlers of ours go before the mask does: none of them may run here. */
static void restore_origin(const struct launch_origin *origin)
{
	for (int sig = 1; sig < NSIG; sig++) {
		bool ignored = origin->ignored >> (sig - 1) & 1;
		struct sigaction action = {.sa_handler = ignored ? SIG_IGN : SIG_DFL};

		(void)sigaction(sig, &action, NULL); /* KILL, STOP and libc's own refuse */
	}
	restore_limit(RLIMIT_NOFILE, &origin->nofile);
	restore_limit(RLIMIT_CORE, &origin->core);
	(void)sigprocmask(SIG_SETMASK, &origin->mask, NULL);
}

/* Blocked SIGTTOU lets us take the foreground from the background. */
static void attach_terminal(const struct spawn_terminal *t)
{
	(void)setpgid(0, 0);
	(void)tcsetpgrp(t->slave, getpid());
	for (int fd = 0; fd < 3; fd++)
		if (t->use[fd])
			(void)dup2(t->slave, fd);
}

static void write_pid(char *digits)
{
	unsigned pid = (unsigned)getpid();
	char text[16];
	size_t n = 0;

	for (; pid; pid /= 10)
		text[n++] = (char)('0' + pid % 10);
	while (n > 0)
		*digits++ = text[--n];
	*digits = '\0';
}

/* A script without "#!" may be given to the shell, other junk may not. */
static bool looks_like_text(const char *path)
{
	_cleanup_(closep) int fd = regular_open(path, O_RDONLY, NULL);
	char head[128];
	ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof(head));

	return n >= 0 && !memchr(head, '\0', (size_t)n);
}

/* Returns only with an errno. */
static int exec_target(const struct launch_options *o)
{
	size_t n = 1; /* argv may be empty */

	execve(o->path, o->argv, o->envp);
	if (errno != ENOEXEC || !looks_like_text(o->path))
		return errno == EAGAIN ? ENOEXEC : errno;
	while (o->argv[0] && o->argv[n])
		n++;
	char **argv = calloc(n + 2, sizeof(*argv)); /* execvp would do the same */

	if (!argv)
		return ENOMEM;
	argv[0] = (char *)"/bin/sh";
	argv[1] = (char *)o->path;
	for (size_t i = 1; i < n; i++)
		argv[i + 1] = o->argv[i];
	execve(argv[0], argv, o->envp);
	return errno;
}

static _Noreturn void child_main(const struct launch_options *o, const struct launch_origin *origin,
				 const struct spawn_terminal *terminal, int report_fd)
{
	int error;

	if (terminal)
		attach_terminal(terminal);
	if (o->only_pid)
		write_pid(o->only_pid);
	restore_origin(origin);
	error = exec_target(o);
	while (write(report_fd, &error, sizeof(error)) < 0 && errno == EINTR)
		;
	_exit(127);
}

/* ---- in the parent ---- */

/* The child's errno; 0 when exec closed the pipe. */
static int read_report(int fd)
{
	int error = 0;
	ssize_t n;

	do
		n = read(fd, &error, sizeof(error));
	while (n < 0 && errno == EINTR);
	return n == sizeof(error) ? error : 0;
}

static void reap(pid_t pid)
{
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* A pipe end above 2: with closed standard descriptors ours would land there, and be covered by
 * the pty. */
static int lift(int fd)
{
	int high = fd > 2 ? fd : fcntl(fd, F_DUPFD_CLOEXEC, 3);

	if (high != fd)
		close(fd);
	return high;
}

int spawn_target(const struct launch_options *o, const struct spawn_terminal *terminal,
		 pid_t *ret_pid)
{
	struct launch_origin now;
	sigset_t all, old;
	int report[2], error;
	pid_t pid;

	if (pipe2(report, O_CLOEXEC) < 0)
		return -errno;
	report[1] = lift(report[1]);
	launch_origin_save(&now);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &old);
	pid = fork();
	error = errno;
	if (pid == 0)
		child_main(o, o->origin ? o->origin : &now, terminal, report[1]);
	sigprocmask(SIG_SETMASK, &old, NULL);
	close(report[1]);
	if (pid > 0)
		error = read_report(report[0]);
	close(report[0]);
	if (pid < 0)
		return -error;
	if (error) {
		reap(pid);
		return -error;
	}
	if (terminal)
		(void)setpgid(pid, pid); /* the child did; whoever is first */
	*ret_pid = pid;
	return 0;
}
