/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/restore.h"
#include <signal.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>
#include "base/util.h"

static const int signals[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSYS, SIGTRAP};

/* A handler can reach nothing but globals. Written before the handlers are installed. */
static struct {
	int fd;
	char bytes[512];
	size_t len;
	struct termios saved;
	bool has_saved;
	struct sigaction before[ARRAY_SIZE(signals)];
	bool armed;
} state;

/* Stack overflow leaves no stack for a handler. */
static char handler_stack[16384];

static void give_back(void)
{
	size_t done = 0;
	ssize_t n;

	while (done < state.len && (n = write(state.fd, state.bytes + done, state.len - done)) > 0)
		done += (size_t)n;
	if (state.has_saved)
		tcsetattr(state.fd, TCSANOW, &state.saved);
}

static void on_fatal(int signo)
{
	give_back();
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		if (signals[i] == signo)
			sigaction(signo, &state.before[i], NULL);
	raise(signo); /* blocked here: it arrives when we return */
}

static void install(void)
{
	struct sigaction act = {.sa_handler = on_fatal, .sa_flags = SA_ONSTACK};
	stack_t stack = {.ss_sp = handler_stack, .ss_size = sizeof(handler_stack)}, old;

	if (sigaltstack(NULL, &old) == 0 && (old.ss_flags & SS_DISABLE))
		sigaltstack(&stack, NULL);
	sigfillset(&act.sa_mask);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		sigaction(signals[i], &act, &state.before[i]);
	state.armed = true;
}

void restore_arm(int fd, const char *bytes, size_t len, const struct termios *saved)
{
	restore_disarm();
	state.fd = fd;
	state.len = MIN(len, sizeof(state.bytes));
	memcpy(state.bytes, bytes, state.len);
	state.has_saved = saved != NULL;
	if (saved)
		state.saved = *saved;
	install();
}

void restore_disarm(void)
{
	if (!state.armed)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		sigaction(signals[i], &state.before[i], NULL);
	state.armed = false;
}
