/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "live/run.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/clock.h"
#include "base/util.h"
#include "launch/descriptors.h"
#include "report/print_line.h"

extern char **environ;

#define DRAIN_NS (2 * NSEC_PER_SEC)

/* ---- start ---- */

static int find_target(struct run *run)
{
	int r = target_find(run->argv[0], getenv("PATH"), &run->path);

	if (r < 0) {
		complain("cannot run '%s': %s", run->argv[0], target_strerror(r));
		return target_exit_status(r);
	}
	target_inspect(run->path, getenv("PATH"), &run->image);
	return 0;
}

static int build_env(struct run *run)
{
	struct target_env_options o = {.session = run->rec.dir->path,
				       .image = &run->image,
				       .no_preload = run->options.no_preload,
				       .no_follow = run->options.no_follow,
				       .early = run->options.early,
				       .backends_off = run->options.rec.wanted.backends_off};
	_cleanup_(freep) char *library = NULL, *why = NULL;
	size_t i;
	int r = target_library(&library, &why);

	if (r < 0) {
		complain("cannot find libproton.so: %s", why ? why : strerror(-r));
		return STATUS_OURS;
	}
	o.library = library;
	r = target_env_build(&o, environ, &run->env);
	if (r < 0) {
		complain("cannot make the environment of '%s': %s", run->argv[0], strerror(-r));
		return STATUS_OURS;
	}
	if (run->options.rec.verbose) {
		complain("program '%s'", run->path);
		complain("collector '%s'", library);
		complain("session directory '%s', pipe of %zu bytes", run->rec.dir->path,
			 run->rec.dir->stream_bytes);
	}
	for (i = 0; i < run->env.n_notes; i++)
		session_note(receiver_session(run->rec.receiver), SESSION_NONE, NOTE_INFO,
			     run->env.notes[i]);
	return 0;
}

int run_prepare(struct run *run, const struct run_options *options, char *const *argv)
{
	int r;

	*run = (struct run){.options = *options, .argv = argv};
	/* A reader of our output who leaves must end neither the run nor us. */
	signal(SIGPIPE, SIG_IGN);
	r = find_target(run);
	if (r == 0)
		r = recording_check(&run->options.rec);
	if (r == 0)
		r = recording_open(&run->rec, &run->options.rec);
	return r ? r : build_env(run);
}

/* Do we still need a descriptor that we were started with? Standard error is for messages; the
 * profile may go to any (/dev/stdout, or the pipe of a shell's ">(gzip)"); and a terminal is open
 * in the user's shell anyway. */
static bool needs_descriptor(int fd, const void *ctx)
{
	const struct run *run = ctx;
	struct stat here, output;

	if (fd == STDERR_FILENO || (fd == STDOUT_FILENO && run->prints) ||
	    (fd < STDERR_FILENO && isatty(fd)))
		return true;
	return stat(run->rec.file, &output) == 0 && fstat(fd, &here) == 0 &&
	       same_file(&output, &here);
}

int run_started(struct run *run, pid_t pid)
{
	int r;

	run->pid = pid;
	run->sid = getsid(pid);
	session_dir_set_target(run->rec.dir, pid);
	if (run->options.rec.verbose)
		complain("pid %d", (int)pid);
	r = recording_begin(&run->rec, run->argv, pid);
	if (r == 0 && !run->options.again)
		descriptors_release(needs_descriptor, run);
	return r;
}

struct launch_options run_target(struct run *run)
{
	recording_starts(&run->rec);
	return (struct launch_options){.path = run->path,
				       .argv = run->argv,
				       .envp = run->env.vars,
				       .only_pid = run->env.only_pid,
				       .origin = run->options.origin};
}

static unsigned count_interrupts(void *ctx)
{
	struct launch *launch = ctx;

	launch_handle(launch);
	return launch_interrupts(launch);
}

static int start_target(struct run *run, struct launch **ret_launch)
{
	const struct launch_options o = run_target(run);
	int ours = run->prints ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) : -1, r;

	if (ours >= 0)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	r = launch_start(&o, ret_launch);
	if (ours >= 0) {
		dup2(ours, STDOUT_FILENO);
		close(ours);
	}
	if (r < 0) {
		complain("cannot run '%s': %s", run->argv[0], target_strerror(r));
		return target_exit_status(r);
	}
	run->rec.interrupts =
		(struct interrupts){launch_fd(*ret_launch), count_interrupts, *ret_launch};
	return run_started(run, launch_pid(*ret_launch)) < 0 ? STATUS_OURS : 0;
}

/* ---- to the end ---- */

static int ms_until(uint64_t then_ns)
{
	uint64_t now = clock_monotonic_ns();

	return now >= then_ns ? 0 : (int)MIN((then_ns - now) / NSEC_PER_MSEC + 1, UINT64_C(1000));
}

static void receive(struct run *run, struct launch *launch, uint64_t tick_ns,
		    void (*on_tick)(void *ctx), void *ctx)
{
	struct pollfd fds[3] = {{.fd = launch_fd(launch), .events = POLLIN},
				{.fd = run->rec.dir->stream_fd, .events = POLLIN},
				{.events = POLLOUT}};
	uint64_t next = clock_monotonic_ns() + tick_ns;

	while (!launch_ended(launch, &run->rec.wait_status)) {
		fds[2].fd = recording_forward_fd(&run->rec);
		poll(fds, 3, MIN(saver_wait_ms(&run->rec.saver), ms_until(next)));
		launch_handle(launch);
		if (receiver_read(run->rec.receiver) < 0)
			complain("out of memory: the profile is not complete");
		recording_poll(&run->rec);
		if (clock_monotonic_ns() < next)
			continue;
		next += tick_ns;
		receiver_tick(run->rec.receiver);
		if (on_tick)
			on_tick(ctx);
	}
	run->rec.end_ns = clock_monotonic_ns();
}

/* Signals are held off until the profile is written: launch_free() comes last. */
int run_record(struct run *run, uint64_t tick_ns, void (*on_tick)(void *ctx), void *ctx)
{
	_cleanup_(launch_freep) struct launch *launch = NULL;
	int r = start_target(run, &launch);

	if (r)
		return r;
	receive(run, launch, tick_ns, on_tick, ctx);
	run_drain(run);
	recording_end(&run->rec);
	run->told_to_end = launch_told_to_end(launch);
	if (on_tick)
		on_tick(ctx);
	run->save_error = recording_finish(&run->rec);
	if (!run->options.rec.quiet && !run->options.again)
		recording_summary(&run->rec, stderr);
	recording_settle(&run->rec);
	return 0;
}

/* ---- end ---- */

/* Is this descendant waited for? Not if it has left the program's session (setsid), as daemons do,
 * unless --wait asks for it or a process with data to send was not heard of yet. */
static bool is_awaited(const struct run *run, const struct survivor *s)
{
	return run->options.wait || s->sid == run->sid || s->sid == run->pid ||
	       receiver_unheard(run->rec.receiver);
}

/* Look for descendants by their environment: that finds unconnected ones too. */
static bool has_survivors(struct run *run)
{
	struct survivor *list = NULL;
	uint64_t now = clock_monotonic_ns();
	size_t n = 0, i;

	if (now < run->look_ns)
		return run->survivors;
	run->look_ns = now + NSEC_PER_SEC / 4; /* all of /proc is read for it */
	run->survivors = false;
	if (launch_survivors(run->rec.dir->path, run->pid, &list, &n) < 0)
		return false;
	for (i = 0; i < n; i++)
		run->survivors = run->survivors || is_awaited(run, &list[i]);
	run->daemons = n && !run->survivors;
	free(list);
	return run->survivors;
}

bool run_lives_on(struct run *run)
{
	return receiver_alive(run->rec.receiver) || has_survivors(run);
}

void run_name_survivors(const struct run *run)
{
	struct survivor *list = NULL;
	size_t n = 0, i;
	_cleanup_(buf_done) struct buf text = {0};

	if (launch_survivors(run->rec.dir->path, run->pid, &list, &n) < 0 || !n)
		return;
	for (i = 0; i < n && i < 8; i++)
		buf_printf(&text, "%s%s (%d)", i ? ", " : "", list[i].name, (int)list[i].pid);
	complain("%zu %s still running: %s%s; %s", n, n == 1 ? "process is" : "processes are",
		 buf_str(&text), n > 8 ? ", …" : "",
		 run->options.wait ? "no longer waited for" : "not waited for (see --wait)");
	free(list);
}

void run_drain(struct run *run)
{
	uint64_t start = clock_monotonic_ns();

	for (;;) {
		while (receiver_read(run->rec.receiver) > 0)
			;
		if (!run_lives_on(run)) {
			if (run->daemons)
				run_name_survivors(run);
			break;
		}
		if ((!run->options.wait && clock_monotonic_ns() >= start + DRAIN_NS) ||
		    recording_is_interrupted(&run->rec, start)) {
			run_name_survivors(run);
			break;
		}
		recording_wait(&run->rec, run->rec.dir->stream_fd);
		recording_poll(&run->rec);
	}
}

void run_done(struct run *run)
{
	recording_done(&run->rec);
	target_env_done(&run->env);
	target_image_done(&run->image);
	free(run->path);
}

int run_status(const struct run *run, int wait_status)
{
	if (run->save_error < 0 && run->options.strict)
		return STATUS_OURS;
	fflush(NULL);
	if (WIFSIGNALED(wait_status))
		launch_die_like(wait_status);
	return launch_exit_status(wait_status);
}
