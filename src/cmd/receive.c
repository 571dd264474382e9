/* SPDX-License-Identifier: MIT */
/* proton receive: what libproton.so starts in a program that profiles itself. Not for people. */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <limits.h>
#include "base/util.h"
#include "cmd/commands.h"
#include "live/attend.h"

enum { OPT_FOR = 1 };

static const struct option_def options[] = {
	{.name = "for", .arg = "PID", .help = "until this process has ended", .id = OPT_FOR},
};

const struct command_def command_receive = {
	.name = "receive",
	.usage = "--for PID",
	.summary = "receive the sessions of a program that profiles itself",
	.details = "The collector starts it where a program starts sessions by proton.h and\n"
		   "nobody else profiles it; see proton.h(3).\n",
	.options = options,
	.n_options = ARRAY_SIZE(options),
};

static int on_option(const struct option_def *option, const char *value, void *arg)
{
	uint32_t pid;

	(void)option;
	if (parse_count(value, INT_MAX, &pid) < 0 || !pid)
		return -EINVAL;
	*(pid_t *)arg = (pid_t)pid;
	return 0;
}

int cmd_receive(int argc, char **argv)
{
	pid_t pid = 0;
	int first = options_parse(&command_receive, argc, argv, on_option, &pid);

	if (first <= 0)
		return first ? STATUS_USAGE : STATUS_OK;
	if (first < argc || !pid) {
		complain("'receive' is started by libproton.so (see 'proton receive --help')");
		return STATUS_USAGE;
	}
	return attend(pid);
}
