/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "launch/child.h"
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>
#include "launch/descriptors.h"

void child_settle(pid_t parent, int keep)
{
	const struct rlimit none = {0, 0};

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_CORE, &none);
	if (getppid() != parent)
		_exit(1);
	descriptors_keep(&keep, 1);
}
