/* SPDX-License-Identifier: MIT */
/* The target of the launch tests: each word of main() is one way in which a program behaves. */
#include "config.h" // IWYU pragma: keep
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include "base/util.h"

#define PATIENCE 60000 /* ms; then the test has failed elsewhere */

static void note(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		_exit(90);
	close(fd);
}

static void wait_for(const char *path)
{
	for (int i = 0; i < PATIENCE / 5 && access(path, F_OK) < 0; i++)
		poll(NULL, 0, 5);
}

static void set_default(int sig)
{
	struct sigaction action = {.sa_handler = SIG_DFL};

	(void)sigaction(sig, &action, NULL);
}

static int die_of(int sig)
{
	struct rlimit none = {0, 0};

	setrlimit(RLIMIT_CORE, &none);
	set_default(sig);
	raise(sig);
	return 91;
}

/* What we were started with: ignored and blocked signals, and open descriptors. */
static int print_state(void)
{
	struct sigaction action;
	sigset_t mask;

	sigprocmask(SIG_BLOCK, NULL, &mask);
	for (int sig = 1; sig < 32; sig++) {
		if (sigaction(sig, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
			printf("ignored %d\n", sig);
		if (sigismember(&mask, sig))
			printf("blocked %d\n", sig);
	}
	for (int fd = 0; fd < 256; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			printf("fd %d\n", fd);
	return 0;
}

/* Note each signal that comes; SIGUSR2 ends. With ourselves: first signal the whole group. */
static int take_signals(const char *path, bool ourselves)
{
	sigset_t set;
	int sig = 0;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	note(path, "ready\n");
	alarm(PATIENCE / 1000);
	if (ourselves)
		kill(0, SIGTERM);
	while (sig != SIGUSR2) {
		char text[32];

		sigwait(&set, &sig);
		snprintf(text, sizeof(text), "%d\n", sig);
		note(path, text);
	}
	return 9;
}

/* n bytes that tell where they are. */
static int fill(long n)
{
	for (long i = 0; i < n; i += 16)
		printf("%015lx\n", i);
	fflush(stdout);
	return 0;
}

static int print_size(void)
{
	struct winsize size;
	sigset_t set;
	int sig;

	sigemptyset(&set);
	sigaddset(&set, SIGWINCH);
	sigprocmask(SIG_BLOCK, &set, NULL);
	for (int i = 0; i < 2; i++) {
		if (i > 0)
			sigwait(&set, &sig);
		ioctl(1, TIOCGWINSZ, &size);
		printf("size %d %d\n", size.ws_row, size.ws_col);
		fflush(stdout);
	}
	return 0;
}

/* Leave a process behind that keeps all descriptors until a file is there. */
static int leave_behind(const char *until)
{
	if (fork() == 0) {
		set_default(SIGHUP);
		wait_for(until);
		printf("late\n");
		fflush(stdout);
	} else {
		printf("early\n");
		fflush(stdout);
	}
	return 3;
}

static int close_all(const char *until, const char *then)
{
	for (int fd = 0; fd < 256; fd++)
		close(fd);
	wait_for(until);
	note(then, "closed\n");
	return 4;
}

/* Print all the while, more than any pipe holds. */
static int print_until(const char *until, const char *then)
{
	char line[1024];

	memset(line, 'x', sizeof(line));
	line[sizeof(line) - 1] = '\n';
	note(then, "ready\n");
	alarm(PATIENCE / 1000);
	do
		for (int i = 0; i < 256; i++)
			if (write(1, line, sizeof(line)) < 0)
				return 92;
	while (access(until, F_OK) < 0);
	note(then, "end\n");
	return 5;
}

static int read_line(void)
{
	char text[100];

	printf("tty %d %d %d\n", isatty(0), isatty(1), isatty(2));
	printf("front %d\n", tcgetpgrp(2) == getpgrp());
	fflush(stdout);
	if (fgets(text, sizeof(text), stdin))
		printf("got %s", text);
	return 6;
}

int main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : "", *a = argc > 2 ? argv[2] : "",
		   *b = argc > 3 ? argv[3] : "";

	if (!strcmp(word, "exit"))
		return atoi(a);
	if (!strcmp(word, "die"))
		return die_of(atoi(a));
	if (!strcmp(word, "state"))
		return print_state();
	if (!strcmp(word, "signals"))
		return take_signals(a, false);
	if (!strcmp(word, "signal-all"))
		return take_signals(a, true);
	if (!strcmp(word, "fill"))
		return fill(atol(a));
	if (!strcmp(word, "size"))
		return print_size();
	if (!strcmp(word, "leave"))
		return leave_behind(a);
	if (!strcmp(word, "close"))
		return close_all(a, b);
	if (!strcmp(word, "print"))
		return print_until(a, b);
	if (!strcmp(word, "read"))
		return read_line();
	return 99;
}
