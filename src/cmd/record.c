/* SPDX-License-Identifier: MIT */
/* proton record: run a program, write its profile, print a summary. */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "base/util.h"
#include "cmd/commands.h"
#include "cmd/ranges_options.h"
#include "cmd/run_options.h"
#include "core/ranges_wanted.h"
#include "counters/metric_set.h"
#include "format/write_file.h"
#include "live/replays.h"

enum { OPT_FORWARD = 1, OPT_METRICS, OPT_RANGE, OPT_REPLAY, OPT_REDUCE };

static void list_sets(FILE *out)
{
	const char *name;

	for (unsigned i = 0; (name = metric_set_name(i)); i++)
		fprintf(out, "%s\n", name);
}

static void list_targets(FILE *out)
{
	fprintf(out, "-\nunix:\n");
}

/* clang-format off */
static const struct option_def options[] = {
	RUN_OPTIONS,
	{.name = "forward", .arg = "TARGET",
	 .help = "send the stream of the run to another proton: -, unix:PATH",
	 .list_values = list_targets, .id = OPT_FORWARD},
	{.name = "metrics", .arg = "METRICS",
	 .help = "measure hardware metrics of each kernel (see 'proton metrics')",
	 .list_values = list_sets, .id = OPT_METRICS},
	{.name = "range", .arg = "RANGE", .help = "… what they are of: kernel (default), scope, nvtx, graph", .rare = true,
	 .id = OPT_RANGE},
	{.name = "replay", .arg = "HOW",
	 .help = "… user: in one pass; kernel, application: it runs once a pass (kernel)",
	 .rare = true, .id = OPT_REPLAY},
	{.name = "reduce", .arg = "RULE",
	 .help = "… how those of kernels add up: SUM, MAX, MEAN, MIN (by their names)", .rare = true,
	 .id = OPT_REDUCE},
};
/* clang-format on */

const struct command_def command_record = {
	.name = "record",
	.usage = "[options] [--] APP [ARGS]",
	.summary = "run APP and write its GPU profile",
	.options = options,
	.n_options = ARRAY_SIZE(options),
};

struct record_arguments {
	struct run_options run;
	struct ranges_options ranges;
};

static int on_option(const struct option_def *option, const char *value, void *arg)
{
	struct record_arguments *r = arg;

	switch (option->id) {
	case OPT_FORWARD:
		r->run.rec.forward = value;
		break;
	case OPT_METRICS:
		r->ranges.metrics = value;
		break;
	case OPT_RANGE:
		r->ranges.range = value;
		break;
	case OPT_REPLAY:
		r->ranges.replay = value;
		break;
	case OPT_REDUCE:
		r->ranges.reduce = value;
		break;
	default:
		return run_option(&r->run, option, value);
	}
	return *value ? 0 : -EINVAL;
}

/* Standard output is the stream's then: the program's goes to standard error, as ours does. */
static bool is_for_stdout(const char *path)
{
	return path && write_file_descriptor(path) == STDOUT_FILENO;
}

static int check_forward(const struct recording_options *o)
{
	if (!o->forward || strcmp(o->forward, "-") != 0)
		return STATUS_OK;
	if (isatty(STDOUT_FILENO))
		complain("standard output is a terminal: --forward - is read by 'proton top -'");
	else if (is_for_stdout(o->output) || is_for_stdout(o->tape))
		complain("standard output is what --forward - sends: choose a file with %s",
			 is_for_stdout(o->tape) ? "--tape" : "-o");
	else
		return STATUS_OK;
	return STATUS_USAGE;
}

/* 0, or an exit status after a message. */
static int record(struct run *run, const struct ranges_runs *ranges, int *ret_wait_status)
{
	int r;

	if (run->options.again)
		return replays_record(run, ranges, ret_wait_status);
	r = run_record(run, NSEC_PER_SEC, NULL, NULL);
	*ret_wait_status = run->rec.wait_status;
	return r;
}

int cmd_record(int argc, char **argv)
{
	struct record_arguments args = {.run.origin = &arg_origin};
	struct run_options *o = &args.run;
	struct ranges_runs ranges = {.n = 0};
	struct run run;
	int first = options_parse(&command_record, argc, argv, on_option, &args), r;
	int wait_status;

	if (first <= 0)
		return first ? STATUS_USAGE : STATUS_OK;
	if (first == argc) {
		complain("which program? (see 'proton record --help')");
		return STATUS_USAGE;
	}
	r = check_forward(&o->rec);
	if (r == 0)
		r = run_options_settle(o);
	if (r == 0)
		r = ranges_options_settle(&args.ranges, &o->rec, &ranges);
	o->again = ranges.n > 1;
	if (r == 0 && o->again)
		r = replays_check(&o->rec);
	if (r) {
		ranges_runs_done(&ranges);
		return r;
	}
	r = run_prepare(&run, o, argv + first);
	run.prints = o->rec.forward && !strcmp(o->rec.forward, "-");
	if (r == 0)
		r = record(&run, &ranges, &wait_status);
	run_done(&run);
	ranges_runs_done(&ranges);
	run_options_done(o);
	return r ? r : run_status(&run, wait_status);
}
