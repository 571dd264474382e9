/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "cmd/join.h"
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/util.h"
#include "cmd/commands.h"
#include "core/graph_shares.h"
#include "live/gather.h"
#include "live/recording.h"
#include "live/saver.h"
#include "naming/readable.h"
#include "report/print_line.h"

struct joined {
	struct join *o;
	struct gather *gather;
	struct session *s;
	struct snapshot *snap;
	struct tui *tui;
	struct saver saver;
	struct own_cpu own_cpu;
	char target[160];
	int signals, status;
	bool quit, over, saved, no_memory;
};

static const char *gather_strerror(int r)
{
	switch (r) {
	case -EPERM:
		return "it is another user's";
	case -ENOTSOCK:
		return "something that is no socket is there";
	case -EADDRINUSE:
		return "somebody listens there";
	default:
		return strerror(-r);
	}
}

/* ---- what the screen asks for ---- */

/* The programs are elsewhere, and streams have one direction. */
static int on_request(void *data, enum tui_action action, int arg)
{
	struct joined *j = data;

	(void)arg;
	if (action != TUI_QUIT && action != TUI_DETACH)
		return -ENOTSUP;
	j->quit = true;
	return 0;
}

/* "train.py", "train.py and 3 more": of the runs that came. */
static const char *target_of(struct joined *j)
{
	const struct session *s = j->s;
	const char *command, *name;

	if (!s->n_runs)
		return !strcmp(j->o->source, "-") ? "standard input" : j->o->source;
	command = strtab_str(s->strings, s->runs[0].strings[RUN_COMMAND]);
	name = path_name(command);
	if (s->n_runs == 1)
		snprintf(j->target, sizeof(j->target), "%s", name);
	else
		snprintf(j->target, sizeof(j->target), "%.100s and %zu more", name, s->n_runs - 1);
	return j->target;
}

/* How a run ended, as wait() says it; -1: that is not known. */
static int wait_status_of(const struct session *s)
{
	const struct session_run *run = s->runs;

	if (s->n_runs != 1 || run->end != PROCESS_ENDED)
		return -1;
	return run->signal ? (int)(run->signal & 0x7f) : (int)(run->exit_status & 0xff) << 8;
}

static uint64_t longest_ns(const struct session *s)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < s->n_runs; i++)
		ns = MAX(ns, s->runs[i].wall_ns);
	return ns;
}

static void on_status(void *data, struct tui_status *ret)
{
	struct joined *j = data;

	own_cpu_measure(&j->own_cpu);
	ret->run = TUI_RUN_ENDED;
	if (!j->over)
		ret->run = gather_n_streams(j->gather) ? TUI_RUN_RUNNING : TUI_RUN_STARTING;
	ret->target = target_of(j);
	ret->pid = j->s->n_processes ? j->s->processes[0].pid : 0;
	ret->n_children = j->s->n_processes > 1 ? (uint32_t)j->s->n_processes - 1 : 0;
	ret->wait_status = wait_status_of(j->s);
	ret->up_ns = longest_ns(j->s);
	ret->own_cpu = j->own_cpu.share;
	if (!j->saved)
		return;
	ret->file = j->o->output;
	if (j->saver.error < 0)
		ret->file_error = strerror(-j->saver.error);
}

/* ---- the streams ---- */

/* What comes, and what there is to say of it. At the end all is saved; at a socket others may begin it anew. */
static void take(struct joined *j)
{
	bool over;

	j->no_memory = j->no_memory || gather_read(j->gather) < 0;
	if (j->o->shares && graph_shares_apply(j->o->shares, j->s) < 0)
		j->no_memory = true;
	over = gather_is_over(j->gather);
	j->s->ended = over;
	if (over && !j->over && j->o->shares && graph_shares_settle(j->o->shares, j->s) < 0)
		j->no_memory = true;
	if (over && !j->over)
		j->s->end_ns = clock_realtime_ns();
	if (j->o->output && over && !j->over)
		saver_finish(&j->saver, j->s);
	else if (j->o->output && !over)
		saver_poll(&j->saver, j->s);
	j->saved = j->o->output && over;
	j->over = over;
}

static int wait_ms(const struct joined *j, uint64_t next)
{
	uint64_t now = clock_monotonic_ns();

	if (now >= next || gather_is_behind(j->gather))
		return 0;
	return (int)MIN((next - now) / NSEC_PER_MSEC + 1, UINT64_C(100));
}

static int joined_open(struct joined *j)
{
	int r = gather_new(j->o->source, &j->gather);

	if (r < 0) {
		complain("cannot read streams from '%s': %s", j->o->source, gather_strerror(r));
		return STATUS_FAILED;
	}
	j->s = gather_session(j->gather);
	if (j->o->output && saver_init(&j->saver, j->o->output, j->o->save_ns) < 0)
		return STATUS_FAILED;
	return STATUS_OK;
}

/* Nothing that came was a stream: then what was said of it is all that there is. */
static int joined_status(struct joined *j)
{
	if (j->no_memory)
		complain("out of memory: not all that came is there");
	if (j->o->output && !j->saved)
		saver_finish(&j->saver, j->s);
	if (j->o->output && j->saver.error < 0)
		complain("cannot write '%s': %s", j->o->output, strerror(-j->saver.error));
	else if (j->o->output && !j->o->quiet)
		print_line(stderr, "proton: wrote '%s'", j->o->output);
	if (!gather_n_streams(j->gather) && j->over)
		return STATUS_FAILED;
	return j->no_memory || (j->o->output && j->saver.error < 0) ? STATUS_FAILED : STATUS_OK;
}

/* ---- without a screen ---- */

static void say_news(struct joined *j)
{
	const char *news = gather_news(j->gather);

	if (news && !j->o->quiet)
		complain("%s", news);
}

static bool batch_is_over(const struct joined *j)
{
	return j->over || (pictures_are_over(&j->o->pictures) && !j->o->output);
}

static int join_batch(struct joined *j)
{
	struct pollfd p = {.fd = gather_fd(j->gather), .events = POLLIN};
	uint64_t next = clock_monotonic_ns() + j->o->interval_ns;

	if (pictures_in_vain(j->o->profile, j->s))
		return STATUS_USAGE;
	while (!batch_is_over(j)) {
		poll(&p, 1, wait_ms(j, next));
		take(j);
		say_news(j);
		if (clock_monotonic_ns() < next && !j->over)
			continue;
		next += j->o->interval_ns;
		if (gather_n_streams(j->gather))
			pictures_print(&j->o->pictures, j->o->profile, j->s);
	}
	return STATUS_OK;
}

/* ---- on the screen ---- */

static void signals_read(struct joined *j)
{
	struct signalfd_siginfo info;

	while (read(j->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGWINCH) {
			tui_resize(j->tui);
		} else if (info.ssi_signo == SIGTSTP) {
			tui_suspend(j->tui);
		} else if (info.ssi_signo == SIGCONT) {
			tui_continue(j->tui);
		} else {
			j->quit = true;
			j->status = 128 + (int)info.ssi_signo;
		}
	}
}

static void show_news(struct joined *j)
{
	const char *news = gather_news(j->gather);

	if (!news)
		return;
	/* What brings a stream, as ssh does, says why it left, here on the terminal. */
	tui_resize(j->tui);
	tui_message(j->tui, "%s", news);
	tui_refresh(j->tui);
}

static void screen_loop(struct joined *j)
{
	struct pollfd fds[3] = {{.events = POLLIN},
				{.fd = j->signals, .events = POLLIN},
				{.fd = gather_fd(j->gather), .events = POLLIN}};
	uint64_t next = clock_monotonic_ns() + j->o->interval_ns / 4;
	bool was_over = false;

	while (!j->quit) {
		fds[0].fd = tui_fd(j->tui);
		poll(fds, 3, wait_ms(j, next));
		if (fds[0].revents && tui_handle_input(j->tui) == -EIO) {
			j->quit = true;
			j->status = 128 + SIGHUP;
		}
		signals_read(j);
		take(j);
		show_news(j);
		if (j->over && j->o->leave_at_end)
			j->quit = true;
		if (clock_monotonic_ns() < next && j->over == was_over)
			continue;
		if (!j->over || !was_over)
			tui_refresh(j->tui);
		was_over = j->over;
		next = clock_monotonic_ns() + j->o->interval_ns;
	}
}

static int screen_open(struct joined *j)
{
	const struct tui_host host = {.data = j, .request = on_request, .status = on_status};
	struct snapshot_spec spec = {.group = j->o->screen->group,
				     .contexts = j->o->profile->loading.contexts,
				     .naming = &readable_naming};
	struct tui_options *options = &j->o->screen->tui;

	options->live = options->joins = true;
	options->command = "top";
	options->interval_ns = j->o->interval_ns;
	screen_take_text(j->o->screen, j->o->profile);
	j->snap = snapshot_new(j->s, &spec);
	j->tui = j->snap ? tui_new(options, j->snap, &host) : NULL;
	if (!j->tui) {
		complain("out of memory");
		return STATUS_FAILED;
	}
	if (screen_check_columns(j->o->screen, j->tui, j->s) < 0)
		return STATUS_USAGE;
	j->signals = screen_signals();
	if (tui_open(j->tui) == 0)
		return STATUS_OK;
	complain("%s", tui_why(j->tui));
	return STATUS_USAGE;
}

static int join_screen(struct joined *j)
{
	int r = screen_open(j);

	if (r)
		return r;
	if (strcmp(j->o->source, "-") != 0)
		tui_message(j->tui, "waiting for streams: proton record --forward %s APP",
			    j->o->source);
	tui_refresh(j->tui);
	screen_loop(j);
	tui_close(j->tui);
	return j->status;
}

int join_run(struct join *join)
{
	struct joined j = {.o = join, .own_cpu.share = NAN, .signals = -1};
	int r = joined_open(&j);

	if (r == STATUS_OK)
		r = join->batch ? join_batch(&j) : join_screen(&j);
	if (r == STATUS_OK)
		r = joined_status(&j);
	tui_free(j.tui);
	snapshot_free(j.snap);
	saver_done(&j.saver);
	gather_free(j.gather);
	closep(&j.signals);
	return r;
}
