/* SPDX-License-Identifier: MIT */
/* proton receive: what libproton.so starts in a program that profiles itself. Not for people. */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <limits.h>
#include "base/util.h"
#include "cmd/commands.h"
#include "cmd/ranges_options.h"
#include "core/ranges_wanted.h"
#include "live/attend.h"
#include "live/recording.h"

enum { OPT_FOR = 1, OPT_METRICS };

static const struct option_def options[] = {
	{.name = "for", .arg = "PID", .help = "until this process has ended", .id = OPT_FOR},
	{.name = "metrics",
	 .arg = "METRICS",
	 .help = "measure hardware metrics of its kernels",
	 .id = OPT_METRICS},
};

const struct command_def command_receive = {
	.name = "receive",
	.usage = "--for PID [--metrics METRICS]",
	.summary = "receive the sessions of a program that profiles itself",
	.details = "The collector starts it where a program starts sessions by proton.h and\n"
		   "nobody else profiles it; see proton.h(3).\n",
	.options = options,
	.n_options = ARRAY_SIZE(options),
};

struct arguments {
	pid_t pid;
	struct ranges_options ranges;
	struct ranges_runs runs;
};

static int on_option(const struct option_def *option, const char *value, void *arg)
{
	struct arguments *a = arg;
	uint32_t pid;

	if (option->id == OPT_METRICS) {
		a->ranges.metrics = value;
		return *value ? 0 : -EINVAL;
	}
	if (parse_count(value, INT_MAX, &pid) < 0 || !pid)
		return -EINVAL;
	a->pid = (pid_t)pid;
	return 0;
}

/* Our library reads what we complain of, and has it noted; times are recorded all the same. */
static void want_metrics(struct recording_options *options, void *ctx)
{
	struct arguments *a = ctx;

	if (ranges_options_settle(&a->ranges, options, &a->runs))
		complain("hardware metrics are not measured");
}

int cmd_receive(int argc, char **argv)
{
	struct arguments a = {.ranges = {.is_silent = true}};
	int first = options_parse(&command_receive, argc, argv, on_option, &a), r;

	if (first <= 0)
		return first ? STATUS_USAGE : STATUS_OK;
	if (first < argc || !a.pid) {
		complain("'receive' is started by libproton.so (see 'proton receive --help')");
		return STATUS_USAGE;
	}
	r = attend(a.pid, want_metrics, &a);
	ranges_runs_done(&a.runs);
	return r;
}
