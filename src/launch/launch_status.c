/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <sys/prctl.h>
#include <sys/wait.h>
#include "launch/launch.h"

int launch_exit_status(int wait_status)
{
	if (WIFSIGNALED(wait_status))
		return 128 + WTERMSIG(wait_status);
	return WEXITSTATUS(wait_status);
}

/* The target has left its core file; a second one, of ours, would cover it. A core_pattern that is
 * a pipe pays no attention to the limit, hence both. */
static void no_core(void)
{
	struct rlimit none = {0, 0};

	(void)setrlimit(RLIMIT_CORE, &none);
	(void)prctl(PR_SET_DUMPABLE, 0);
}

static void die_of(int sig)
{
	struct sigaction standard = {.sa_handler = SIG_DFL};
	sigset_t set;

	(void)sigaction(sig, &standard, NULL);
	sigemptyset(&set);
	sigaddset(&set, sig);
	(void)sigprocmask(SIG_UNBLOCK, &set, NULL);
	(void)kill(getpid(), sig);
}

_Noreturn void launch_die_like(int wait_status)
{
	fflush(NULL);
	if (!WIFSIGNALED(wait_status))
		_exit(launch_exit_status(wait_status));
	no_core();
	if (getpid() != 1)
		die_of(WTERMSIG(wait_status));
	_exit(launch_exit_status(wait_status));
}
