/* SPDX-License-Identifier: MIT */
/* proton record: run a program, write its profile, print a summary. */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <poll.h>
#include <string.h>
#include "base/clock.h"
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

/* Until the target has ended. */
static void record_loop(struct run *run, struct launch *launch)
{
	struct pollfd fds[2] = {{.fd = launch_fd(launch), .events = POLLIN},
				{.fd = run->rec.dir->stream_fd, .events = POLLIN}};
	uint64_t next_tick = clock_monotonic_ns() + NSEC_PER_SEC;
	int status;

	while (!launch_ended(launch, &status)) {
		poll(fds, 2, saver_wait_ms(&run->rec.saver));
		launch_handle(launch);
		if (receiver_read(run->rec.receiver) < 0)
			complain("out of memory: the profile is not complete");
		if (clock_monotonic_ns() >= next_tick) {
			receiver_tick(run->rec.receiver);
			next_tick = clock_monotonic_ns() + NSEC_PER_SEC;
		}
		saver_poll(&run->rec.saver, receiver_session(run->rec.receiver));
	}
}

static unsigned count_interrupts(void *ctx)
{
	struct launch *launch = ctx;

	launch_handle(launch);
	return launch_interrupts(launch);
}

static int record_start(struct run *run, struct launch **ret_launch)
{
	struct launch_options o = {.path = run->path,
				   .argv = run->argv,
				   .envp = run->env.vars,
				   .only_pid = run->env.only_pid,
				   .origin = &arg_origin};
	int r = launch_start(&o, ret_launch);

	if (r < 0) {
		complain("cannot run '%s': %s", run->argv[0], target_strerror(r));
		return target_exit_status(r);
	}
	run->rec.interrupts =
		(struct interrupts){launch_fd(*ret_launch), count_interrupts, *ret_launch};
	if (run_started(run, launch_pid(*ret_launch)) < 0)
		return STATUS_OURS;
	run_release_descriptors(run);
	return 0;
}

/* Signals are held off until the profile is written: launch_free() comes last. */
static int record(struct run *run, int *ret_wait_status, int *ret_save_error)
{
	_cleanup_(launch_freep) struct launch *launch = NULL;
	int r = record_start(run, &launch);

	if (r)
		return r;
	record_loop(run, launch);
	run->rec.end_ns = clock_monotonic_ns();
	launch_ended(launch, ret_wait_status);
	run->rec.wait_status = *ret_wait_status;
	run_drain(run);
	*ret_save_error = recording_finish(&run->rec);
	if (!run->options.rec.quiet)
		recording_summary(&run->rec, stderr);
	return 0;
}

int cmd_record(int argc, char **argv)
{
	struct run_options o = {0};
	struct run run;
	int first, r, wait_status = 0, save_error = 0;

	first = options_parse(&command_record, argc, argv, on_option, &o);
	if (first <= 0)
		return first ? STATUS_USAGE : STATUS_OK;
	if (first == argc) {
		complain("which program? (see 'proton record --help')");
		return STATUS_USAGE;
	}
	r = run_prepare(&run, &o, argv + first);
	if (r == 0)
		r = record(&run, &wait_status, &save_error);
	run_done(&run);
	return r ? r : run_status(&run, wait_status, save_error);
}
