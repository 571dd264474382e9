/* SPDX-License-Identifier: MIT */
/* proton record: run a program, write its profile, print a summary. */
#include "config.h" // IWYU pragma: keep
#include "base/util.h"
#include "cmd/commands.h"
#include "cmd/run_options.h"

static const struct option_def options[] = {RUN_OPTIONS};

const struct command_def command_record = {
	.name = "record",
	.usage = "[options] [--] APP [ARGS]",
	.summary = "run APP and write its GPU profile",
	.options = options,
	.n_options = ARRAY_SIZE(options),
};

static int on_option(const struct option_def *option, const char *value, void *arg)
{
	return run_option(arg, option, value);
}

int cmd_record(int argc, char **argv)
{
	struct run_options o = {.origin = &arg_origin};
	struct run run;
	int first = options_parse(&command_record, argc, argv, on_option, &o), r;

	if (first <= 0)
		return first ? STATUS_USAGE : STATUS_OK;
	if (first == argc) {
		complain("which program? (see 'proton record --help')");
		return STATUS_USAGE;
	}
	r = run_options_settle(&o);
	if (r)
		return r;
	r = run_prepare(&run, &o, argv + first);
	if (r == 0)
		r = run_record(&run, NSEC_PER_SEC, NULL, NULL);
	run_done(&run);
	run_options_done(&o);
	return r ? r : run_status(&run);
}
