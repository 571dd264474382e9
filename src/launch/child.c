/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "launch/child.h"
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>
#include "base/util.h"
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

void child_forget_tools(void)
{
	static const char *const names[] = {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH",
					    "OPENCL_LAYERS",         "PROTON_SESSION",
					    "PROTON_FAKE",           "PROTON_EARLY",
					    "PROTON_ONLY_PID"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		unsetenv(names[i]);
}
