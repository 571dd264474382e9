/* SPDX-License-Identifier: MIT */
/* proton top: run a program and show its GPU call tree while it runs. */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/clock.h"
#include "base/util.h"
#include "cmd/code.h"
#include "cmd/commands.h"
#include "cmd/join.h"
#include "cmd/pictures.h"
#include "cmd/run_options.h"
#include "cmd/screen_options.h"
#include "cmd/top_devices.h"
#include "launch/keeper.h"
#include "live/gather.h"
#include "live/warps_now.h"
#include "live/warps_so_far.h"
#include "naming/readable.h"
#include "report/print_line.h"
#include "tui/text.h"

enum { OPT_APP_LOG = 1, OPT_BATCH, OPT_JSON_LINES, OPT_INTERVAL, OPT_EXIT, OPT_DEVICE };

/* Which devices there are takes a driver to know. */
static void list_choices(FILE *out)
{
	fputs("all\n", out);
}

/* clang-format off */
static const struct option_def options[] = {
	OPTION_HEADING("Screen:"),
	{.name = "interval", .letter = 'i', .arg = "SECONDS", .help = "between pictures (1); what to show is --include here",
	 .id = OPT_INTERVAL},
	{.name = "exit", .help = "leave as soon as APP has ended", .rare = true, .id = OPT_EXIT},
	{.name = "device", .arg = "LIST", .help = "devices alone, without APP: 0,2 or all",
	 .list_values = list_choices, .id = OPT_DEVICE},
	{.name = "app-log", .arg = "FILE", .help = "copy what APP prints to FILE", .rare = true, .id = OPT_APP_LOG},
	{.name = "batch", .letter = 'b', .arg = "N",
	 .help = "no screen: print N pictures as text (0: to the end)", .id = OPT_BATCH},
	{.name = "json-lines", .help = "no screen: print each picture as one line of JSON",
	 .rare = true, .id = OPT_JSON_LINES},
	PROFILE_COLUMN_OPTIONS(true, PROFILE_LEVELS_SCREEN),
	PROFILE_BY_OPTION,
	SCREEN_OPTIONS(0, 'e'),
	OPTION_HEADING("Run:"),
	RUN_OPTIONS,
};
/* clang-format on */

const struct command_def command_top = {
	.name = "top",
	.usage = "[options] [--] APP [ARGS] | - | unix:PATH | --device LIST",
	.summary = "run APP and watch its GPU call tree live",
	.options = options,
	.n_options = ARRAY_SIZE(options),
};

struct top {
	struct run_options run_options;
	struct screen_options screen;
	struct profile_options profile; /* the same for --batch */
	struct run run;
	uint64_t interval_ns;
	const char *app_log;
	bool batch, leave_at_end;
	uint64_t devices;  /* bits; 0: it is about a program */
	bool has_counters; /* how often, or that they are not read, was said */
	const char *of_run
		[TUI_N_SOURCES]; /* an option that each has no use for; NULL: none was given */
	struct pictures pictures;

	struct keeper *keeper;
	struct tui *tui;
	struct code
		*code; /* that samples are of: collectors leave cubins in the session directory */
	struct warps_now
		*warps; /* that collectors left there, too; NULL: they were not asked for */
	struct warps_so_far *warps_so_far; /* the same for pictures, of all launches at once */
	struct snapshot *snap;
	int signals;
	bool quit, detach, ended, drained, terminal_gone,
		lost;                       /* lost: how the program ends will not be known */
	bool saved;                         /* the last save is done */
	bool leaving;                       /* the screen is closed: signals end our waits */
	unsigned n_interrupts;              /* signals since then */
	bool output_done;                   /* the log is complete */
	bool reads_us;                      /* the program can read what we type */
	uint64_t log_due_ns;                /* when to show new output; 0: there is none */
	bool stopped;                       /* by a signal: it can be continued */
	bool was_paused;                    /* collecting, once or more */
	uint64_t stopped_ns;                /* when the program was last asked to stop; 0: never */
	bool leave_when_ended, left_behind; /* descendants ran when the stream was closed */
	char *log;
	size_t log_len;
	uint64_t log_start, log_end;
	struct own_cpu own_cpu;
};

#define STOP_NS (2 * NSEC_PER_SEC)  /* how long a program that was told to stop is waited for */
#define LOG_NS  (NSEC_PER_SEC / 20) /* delay before output is shown, to collect more of it */

enum { LOG_SHOWN = 1 << 20, LOG_TAIL_LINES = 10, LOG_LINE_MAX = 4096 };

/* -i selects in other commands. */
static int set_interval(struct top *t, const char *value)
{
	int r = parse_seconds(value, &t->interval_ns);

	if (r == 0 || strspn(value, "0123456789.") == strlen(value))
		return r;
	complain("'%s' is no number of seconds: -i is the interval of 'proton top', --include says "
		 "what to show",
		 value);
	return -EDOM;
}

static int on_own_option(struct top *t, const struct option_def *option, const char *value)
{
	switch (option->id) {
	case OPT_APP_LOG:
		t->app_log = value;
		return 0;
	case OPT_BATCH:
		t->batch = true;
		return parse_count(value, UINT32_MAX, &t->pictures.n_pictures);
	case OPT_JSON_LINES:
		t->pictures.json_lines = true;
		return 0;
	case OPT_INTERVAL:
		return set_interval(t, value);
	case OPT_DEVICE:
		return devices_parse(value, &t->devices);
	case OPT_EXIT:
		t->leave_at_end = true;
		return 0;
	default:
		return -ENOENT;
	}
}

#define STREAMS (1u << TUI_OF_STREAMS)
#define DEVICES (1u << TUI_OF_DEVICES)

/* Options of a run that mean something where none is started, too. */
static unsigned sources_of(const struct option_def *option)
{
	static const struct {
		int id;
		unsigned sources;
	} others[] = {
		{OPT_OUTPUT, STREAMS | DEVICES},  {OPT_QUIET, STREAMS | DEVICES},
		{OPT_VERBOSE, STREAMS | DEVICES}, {OPT_SAVE, STREAMS | DEVICES},
		{OPT_GRAPH_SHARES, STREAMS},      {OPT_NO_SENSORS, DEVICES},
		{OPT_COUNTERS, DEVICES},
	};

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (others[i].id == option->id)
			return others[i].sources;
	return 0;
}

static void note_given(struct top *t, const struct option_def *option)
{
	for (unsigned i = 0; i < TUI_N_SOURCES; i++)
		if (!(sources_of(option) >> i & 1))
			t->of_run[i] = option->name;
	t->has_counters |= option->id == OPT_COUNTERS;
}

static int on_option(const struct option_def *option, const char *value, void *arg)
{
	struct top *t = arg;
	int r = on_own_option(t, option, value);

	if (r == -ENOENT)
		r = screen_or_text_option(&t->screen, &t->profile, option, value);
	if (r != -ENOENT)
		return r;
	note_given(t, option);
	return run_option(&t->run_options, option, value);
}

/* ---- what the screen asks for ---- */

/* A stopped program acts on SIGINT only after it is continued. */
static int ask_to_end(struct top *t)
{
	int r = t->ended ? -ESRCH : keeper_signal(t->keeper, SIGINT, true);

	return r == 0 && t->stopped ? keeper_signal(t->keeper, SIGCONT, true) : r;
}

/* The profile says once that something is missing in it. */
static void pause_collecting(struct top *t, bool pause)
{
	recording_pause(&t->run.rec, pause);
	if (pause && !t->was_paused)
		session_note(receiver_session(t->run.rec.receiver), SESSION_NONE, NOTE_INFO,
			     "collecting was paused: what ran then is not counted");
	t->was_paused |= pause;
}

static int on_request(void *data, enum tui_action action, int arg)
{
	struct top *t = data;
	struct control_page *control = t->run.rec.dir->control;

	switch (action) {
	case TUI_QUIT:
		/* If it was asked to stop, give it time to end: it still sends data. */
		if (!t->ended && t->stopped_ns)
			t->leave_when_ended = true;
		else
			t->quit = true;
		return 0;
	case TUI_DETACH:
		t->quit = t->detach = true;
		return 0;
	case TUI_STOP_APP:
		t->stopped_ns = clock_monotonic_ns();
		return ask_to_end(t);
	case TUI_SIGNAL:
		return t->ended ? -ESRCH : keeper_signal(t->keeper, arg, true);
	case TUI_PAUSE:
	case TUI_RESUME:
		pause_collecting(t, action == TUI_PAUSE);
		return 0;
	case TUI_RESYNC:
		atomic_fetch_add(&control->resync, 1);
		return 0;
	case TUI_SAVE:
		t->run.rec.saver.next_ns = 0;
		t->run.rec.saver.generation = 0;
		return 0;
	}
	return -ENOTSUP;
}

static void on_status(void *data, struct tui_status *ret)
{
	struct top *t = data;
	const struct session *s = receiver_session(t->run.rec.receiver);

	own_cpu_measure(&t->own_cpu);
	ret->run = t->ended ? TUI_RUN_ENDED : TUI_RUN_RUNNING;
	ret->target = t->run.argv[0];
	ret->pid = (uint32_t)t->run.pid;
	ret->n_children = s->n_processes > 1 ? (uint32_t)s->n_processes - 1 : 0;
	ret->wait_status = t->run.rec.wait_status;
	if (t->saved) {
		ret->file = t->run.rec.file;
		if (t->run.save_error < 0)
			ret->file_error = recording_strerror(t->run.save_error);
	}
	ret->up_ns = (t->ended ? t->run.rec.end_ns : clock_monotonic_ns()) - t->run.rec.start_ns;
	ret->stopped = t->stopped && !t->ended;
	ret->paused = atomic_load(&t->run.rec.dir->control->paused);
	ret->own_cpu = t->own_cpu.share;
}

/* The tail of the program's output, read anew when it has grown. */
static const char *on_log(void *data, size_t *ret_len, uint64_t *ret_start)
{
	struct top *t = data;
	struct log_ring *ring = t->keeper ? keeper_log(t->keeper) : NULL;
	uint64_t end = ring ? log_ring_end(ring) : 0, start = ring ? log_ring_start(ring) : 0;
	ssize_t n;

	*ret_len = 0;
	*ret_start = 0;
	if (!ring) /* the first picture is drawn before the program starts */
		return NULL;
	if (!t->log)
		t->log = malloc(LOG_SHOWN);
	if (t->log && (end != t->log_end || !end)) {
		start = end - start > LOG_SHOWN ? end - LOG_SHOWN : start;
		n = log_ring_read(ring, start, t->log, LOG_SHOWN);
		t->log_len = n > 0 ? (size_t)n : 0;
		t->log_start = start;
		t->log_end = end;
	}
	*ret_len = t->log ? t->log_len : 0;
	*ret_start = t->log_start;
	return t->log ? t->log : "";
}

static int on_input(void *data, const char *text, size_t len)
{
	struct top *t = data;

	if (t->ended)
		return -ESRCH;
	if (!t->reads_us)
		return -ENOTTY;
	return len ? keeper_input(t->keeper, text, len) : 0;
}

/* ---- the loop ---- */

static void target_ended(struct top *t, int wait_status)
{
	t->ended = true;
	t->run.rec.wait_status = wait_status;
	t->run.rec.end_ns = clock_monotonic_ns();
}

static void keeper_events(struct top *t)
{
	struct keeper_event e;

	while (keeper_next(t->keeper, &e) > 0) {
		switch (e.kind) {
		case KEEPER_ENDED:
			target_ended(t, (int)e.value);
			break;
		case KEEPER_LOG_GREW:
			t->log_due_ns = clock_monotonic_ns() + LOG_NS;
			break;
		case KEEPER_STOPPED:
			t->stopped = true;
			tui_message(t->tui, "stopped by SIG%s: K, then c lets it go on",
				    sigabbrev_np((int)e.value));
			tui_refresh(t->tui);
			break;
		case KEEPER_CONTINUED:
			t->stopped = false;
			tui_refresh(t->tui);
			break;
		case KEEPER_LOG_FAILED:
			tui_message(t->tui, "cannot write '%s': %s", t->app_log,
				    strerror((int)e.value));
			break;
		case KEEPER_DRAINED:
			t->output_done = true;
			tui_refresh(t->tui); /* its last lines */
			break;
		case KEEPER_GONE:
			t->output_done = true;
			if (!t->ended) {
				tui_message(t->tui,
					    "the keeper died: how the program ends is not known");
				target_ended(t, -1);
				t->lost = true;
			}
			break;
		default:
			break;
		}
	}
}

static void resized(struct top *t)
{
	struct winsize size;

	tui_resize(t->tui);
	if (ioctl(tui_fd(t->tui), TIOCGWINSZ, &size) == 0 && !t->ended)
		keeper_resize(t->keeper, size.ws_row, size.ws_col);
}

static void signals_read(struct top *t)
{
	struct signalfd_siginfo info;

	while (read(t->signals, &info, sizeof(info)) == sizeof(info)) {
		switch (info.ssi_signo) {
		case SIGWINCH:
			resized(t);
			break;
		case SIGTSTP: /* stops us only: the program has a terminal of its own */
			tui_suspend(t->tui);
			resized(t);
			break;
		case SIGCONT:
			tui_continue(t->tui);
			resized(t);
			break;
		case SIGHUP:
			t->quit = t->detach = t->terminal_gone = true;
			t->n_interrupts += t->leaving;
			break;
		case SIGTERM:
			/* Pass it on to the program. When that has ended, leave. */
			t->quit = t->ended;
			t->n_interrupts += t->leaving;
			if (!t->ended && !t->leaving)
				keeper_signal(t->keeper, SIGTERM, true);
			break;
		case SIGINT:
			t->n_interrupts += t->leaving;
			break;
		default:
			break;
		}
	}
}

static void show_log(struct top *t)
{
	t->log_due_ns = 0;
	log_ring_want(keeper_log(t->keeper));
	tui_log_grew(t->tui);
}

/* Once, when the program has ended: read the rest and save. Then the screen stands still. */
static void finish_stream(struct top *t)
{
	uint64_t now = clock_monotonic_ns();

	if (t->drained || !t->ended)
		return;
	t->left_behind = run_lives_on(&t->run);
	if (t->left_behind && (t->run_options.wait || now - t->run.rec.end_ns < 2 * NSEC_PER_SEC))
		return;
	t->drained = true;
	/* If the output waits for a reader, save when we leave: Ctrl-C could not end that here. */
	if (!recording_output_waits(&t->run.rec)) {
		t->saved = true;
		t->run.save_error = recording_finish(&t->run.rec);
	}
	tui_refresh(t->tui);
	if (t->leave_at_end || t->leave_when_ended)
		t->quit = true;
}

static void top_loop(struct top *t)
{
	struct pollfd fds[4] = {{.fd = tui_fd(t->tui), .events = POLLIN},
				{.fd = t->signals, .events = POLLIN},
				{.fd = keeper_fd(t->keeper), .events = POLLIN},
				{.fd = t->run.rec.dir->stream_fd, .events = POLLIN}};
	uint64_t next = clock_monotonic_ns() + t->interval_ns / 4, tick = next, now;

	while (!t->quit) {
		now = clock_monotonic_ns();
		poll(fds, 4,
		     now >= next ? 0 : (int)MIN((next - now) / NSEC_PER_MSEC + 1, UINT64_C(100)));
		fds[0].fd = tui_fd(t->tui);
		fds[2].fd = keeper_fd(t->keeper);
		fds[3].fd =
			t->drained ? -1 : t->run.rec.dir->stream_fd; /* descendants may write on */
		if (fds[0].revents && tui_handle_input(t->tui) == -EIO)
			t->quit = t->detach = t->terminal_gone = true;
		signals_read(t);
		keeper_events(t);
		if (!t->drained) {
			receiver_read(t->run.rec.receiver);
			recording_poll(&t->run.rec);
		}
		finish_stream(t);
		now = clock_monotonic_ns();
		if (t->leave_when_ended && !t->ended && now - t->stopped_ns >= STOP_NS)
			t->quit = true;
		if (t->log_due_ns && now >= t->log_due_ns)
			show_log(t);
		if (now >= tick && !t->drained) {
			receiver_tick(t->run.rec.receiver);
			tick = now + NSEC_PER_SEC;
		}
		if (now >= next && !t->drained) {
			tui_refresh(t->tui);
			next = now + t->interval_ns;
		} else if (t->drained) {
			next = now + NSEC_PER_SEC;
		}
	}
}

/* ---- start and end of the screen ---- */

static int top_open(struct top *t)
{
	static const struct tui_host host = {
		.request = on_request, .status = on_status, .log = on_log, .input = on_input};
	struct snapshot_spec spec = {.group = t->screen.group,
				     .contexts = t->profile.loading.contexts,
				     .naming = &readable_naming};
	const struct code_places places = {.cubins = t->run.rec.dir->path};
	struct tui_host mine = host;

	mine.data = t;
	t->reads_us = isatty(STDIN_FILENO);
	t->screen.tui.live = true;
	t->screen.tui.sync =
		t->run_options.rec.wanted.backends.sync || t->run_options.rec.wanted.backends.api;
	t->screen.tui.command = "top";
	t->screen.tui.interval_ns = t->interval_ns;
	screen_take_text(&t->screen, &t->profile);
	t->snap = snapshot_new(receiver_session(t->run.rec.receiver), &spec);
	t->code = code_new(&places, "", 0);
	if (t->code)
		t->screen.tui.code = code_reader(t->code);
	if (t->run_options.rec.wanted.warps.launches)
		t->warps = warps_now_new(t->run.rec.dir->path);
	if (t->warps)
		t->screen.tui.warps = warps_now_source(t->warps);
	t->tui = t->snap ? tui_new(&t->screen.tui, t->snap, &mine) : NULL;
	if (!t->tui) {
		complain("out of memory");
		return STATUS_OURS;
	}
	if (screen_check_columns(&t->screen, t->tui, receiver_session(t->run.rec.receiver)) < 0)
		return STATUS_USAGE;
	if (tui_missing_column(t->tui))
		tui_message(t->tui, "'%s' is no metric yet: empty until the program has it",
			    tui_missing_column(t->tui));
	else if (tui_missing_sort(t->tui))
		tui_message(t->tui, "'%s' is no metric yet: sorted by it when the program has it",
			    tui_missing_sort(t->tui));
	return 0;
}

static int top_start(struct top *t)
{
	struct keeper_options o = {.termios = tui_saved_termios(t->tui),
				   .target = run_target(&t->run),
				   .dir = t->run.rec.dir,
				   .app_log = t->app_log};
	const char *what = "keeper";
	int r;

	o.restore = tui_restore_bytes(t->tui, &o.restore_len);
	r = keeper_start(&o, &t->keeper, &what);
	if (r < 0)
		tui_close(t->tui); /* the message below is for the restored terminal */
	if (r < 0 && !strcmp(what, "exec")) {
		complain("cannot run '%s': %s", t->run.argv[0], target_strerror(r));
		return target_exit_status(r);
	}
	if (r < 0) {
		complain("cannot open '%s': %s", strcmp(what, "app log") ? what : t->app_log,
			 strerror(-r));
		return STATUS_OURS;
	}
	return run_started(&t->run, keeper_target_pid(t->keeper)) < 0 ? STATUS_OURS : 0;
}

/* Open the screen before the program is started, which is then not started in vain. From here on a
 * signal must not end us before the terminal is restored. */
static int top_take_terminal(struct top *t)
{
	t->signals = screen_signals();
	if (tui_open(t->tui) == 0)
		return 0;
	complain("%s", tui_why(t->tui));
	return STATUS_USAGE;
}

/* Print the last lines of the program's output, which were gone with the screen. */
static void print_log_tail(struct top *t)
{
	uint64_t start;
	size_t len, i, lines = 0;
	const char *log = on_log(t, &len, &start);

	for (i = len; i > 0 && lines < LOG_TAIL_LINES; i--)
		lines += log[i - 1] == '\n' && i != len;
	if (lines == LOG_TAIL_LINES)
		i++;
	if (!len)
		return;
	for (const char *line = log + i, *end = log + len, *eol; line < end; line = eol + 1) {
		char plain[LOG_LINE_MAX];

		eol = memchr(line, '\n', (size_t)(end - line));
		eol = eol ? eol : end;
		text_plain(plain, sizeof(plain), line, (size_t)(eol - line));
		print_line(stderr, "%s", plain);
	}
}

/* Wait for the program's last output to reach the log. The keeper itself waits 2 s at most. */
static void await_output(struct top *t)
{
	uint64_t end = clock_monotonic_ns() + 3 * NSEC_PER_SEC;
	struct pollfd p = {.events = POLLIN};

	while (!t->output_done && clock_monotonic_ns() < end) {
		p.fd = keeper_fd(t->keeper);
		poll(&p, 1, 50);
		keeper_events(t);
	}
}

static unsigned screen_interrupts(void *data)
{
	struct top *t = data;

	signals_read(t);
	return t->n_interrupts;
}

/* Tell that the program goes on, or is stopped, without us. */
static void name_left_behind(const struct top *t)
{
	if (t->stopped)
		complain("'%s' (pid %d) stands still: 'kill -CONT %d' lets it go on",
			 t->run.argv[0], (int)t->run.pid, (int)t->run.pid);
	else
		complain("'%s' (pid %d) runs on without proton", t->run.argv[0], (int)t->run.pid);
}

/* Can stderr be written to? If the terminal is gone, only when it is a file or a pipe. */
static bool can_say(const struct top *t)
{
	struct stat st;

	return !t->terminal_gone || (fstat(STDERR_FILENO, &st) == 0 && !S_ISCHR(st.st_mode));
}

static void top_leave(struct top *t)
{
	if (t->ended && !t->terminal_gone)
		await_output(t);
	tui_close(t->tui);
	t->leaving = true;
	t->run.rec.interrupts = (struct interrupts){t->signals, screen_interrupts, t};
	t->run.options.wait = false; /* the user has left: do not wait for descendants */
	if (t->ended && !t->drained)
		run_drain(&t->run);
	if (t->ended && !t->saved) {
		t->run.save_error = recording_finish(&t->run.rec);
	} else if (!t->ended) {
		receiver_read(t->run.rec.receiver);
		t->run.save_error = recording_save(&t->run.rec);
	}
	if (!t->run_options.rec.quiet && can_say(t)) {
		print_log_tail(t);
		recording_summary(&t->run.rec, stderr);
		if (t->left_behind)
			run_name_survivors(&t->run);
		if (!t->ended)
			name_left_behind(t);
	}
	recording_settle(&t->run.rec);
}

static int top_screen(struct top *t)
{
	int r = top_open(t);

	if (r == 0)
		r = top_take_terminal(t);
	if (r == 0)
		r = top_start(t);
	if (r)
		return r;
	if (*t->screen.skipped)
		tui_message(t->tui, "%s", t->screen.skipped);
	tui_refresh(t->tui);
	top_loop(t);
	top_leave(t);
	if (t->ended) {
		keeper_finish(t->keeper);
		return t->lost ? STATUS_OURS : 0;
	}
	keeper_detach(t->keeper, false);
	/* The keeper removes the directory. */
	t->run.rec.dir = session_dir_free(t->run.rec.dir);
	return t->terminal_gone ? 128 + SIGHUP : 0;
}

/* ---- without a screen ---- */

static void print_picture(void *data)
{
	struct top *t = data;

	if (t->warps_so_far)
		t->profile.report.warps = warps_so_far_look(t->warps_so_far, t->run.rec.is_read);
	pictures_print(&t->pictures, &t->profile, receiver_session(t->run.rec.receiver));
}

static int top_batch(struct top *t)
{
	int r;

	if (pictures_in_vain(&t->profile, receiver_session(t->run.rec.receiver)))
		return STATUS_USAGE;
	if (t->pictures.views & REPORT_WARPS)
		t->warps_so_far = warps_so_far_new(t->run.rec.dir->path);
	t->run.prints = true;
	r = run_record(&t->run, t->interval_ns, print_picture, t);
	t->ended = r == 0;
	return r;
}

/* Single scopes are kept beside a program that was asked for them; no stream has them. False: said why. */
static bool can_print_warps(const struct top *t, bool is_run)
{
	if (!(t->pictures.views & REPORT_WARPS) ||
	    (is_run && t->run_options.rec.wanted.warps.launches))
		return true;
	complain(is_run ? "--view warps: --intra-trace keeps single scopes of warps"
			: "--view warps: single scopes of warps stay where the program runs");
	return false;
}

static bool have_terminal(void)
{
	return isatty(STDOUT_FILENO) || isatty(STDERR_FILENO) || isatty(STDIN_FILENO);
}

/* What was not started here. */
static struct follow_options followed_by(struct top *t)
{
	return (struct follow_options){.output = t->run_options.rec.output,
				       .screen = &t->screen,
				       .profile = &t->profile,
				       .pictures = t->pictures,
				       .interval_ns = t->interval_ns,
				       .save_ns = t->run_options.rec.save_ns,
				       .batch = t->batch || t->pictures.json_lines,
				       .leave_at_end = t->leave_at_end,
				       .quiet = t->run_options.rec.quiet};
}

/* Runs elsewhere. */
static int top_join(struct top *t, char *const *words, int n)
{
	const struct join join = {
		.source = words[0], .shares = t->run_options.rec.shares, .follow = followed_by(t)};

	if (n > 1)
		complain("'%s' is no word for '%s': APP is started by 'proton record --forward'",
			 words[1], words[0]);
	else if (t->of_run[TUI_OF_STREAMS])
		complain("--%s says how a program is run: it is for 'proton record --forward'",
			 t->of_run[TUI_OF_STREAMS]);
	else if (t->app_log)
		complain("--app-log: what programs print is where they run");
	else if (!strcmp(words[0], "-") && isatty(STDIN_FILENO))
		complain(
			"standard input is a terminal: a stream comes from 'proton record --forward -'");
	else
		return recording_check(&t->run_options.rec) ? STATUS_USAGE : join_run(&join);
	return STATUS_USAGE;
}

/* No program at all. */
static int top_devices(struct top *t, const char *word)
{
	const struct run_options *run = &t->run_options;
	const struct devices_options of = {
		.numbers = t->devices,
		.counters_ns = t->has_counters ? run->rec.wanted.counters_ns : COUNTERS_USUAL_NS,
		.no_sensors = run->rec.no_sensors};
	struct follow_options options = followed_by(t);

	/* Of a program's views these have something to say. */
	if (!screen_view_given(&t->screen)) {
		t->screen.tui.panel = of.counters_ns ? TUI_PANEL_COUNTERS : TUI_PANEL_DEVICES;
		options.pictures.views =
			1u << VIEW_DEVICES | 1u << VIEW_COUNTERS | 1u << VIEW_NOTES;
	}
	if (word)
		complain("--device is about devices without a program: '%s' is not run", word);
	else if (t->of_run[TUI_OF_DEVICES])
		complain("--%s says how a program is run: with --device there is none",
			 t->of_run[TUI_OF_DEVICES]);
	else if (t->app_log || t->leave_at_end)
		complain("--%s is about a program: with --device there is none",
			 t->app_log ? "app-log" : "exit");
	else
		return recording_check(&run->rec) ? STATUS_USAGE : top_devices_run(&of, &options);
	return STATUS_USAGE;
}

int cmd_top(int argc, char **argv)
{
	struct top t = {.run_options.origin = &arg_origin,
			.interval_ns = NSEC_PER_SEC,
			.own_cpu.share = NAN};
	int first = options_parse(&command_top, argc, argv, on_option, &t), r;

	if (first <= 0)
		return first ? STATUS_USAGE : STATUS_OK;
	if (t.screen.keys)
		return screen_print_keys(&t.screen);
	if (first == argc && !t.devices) {
		complain("which program? (see 'proton top --help')");
		return STATUS_USAGE;
	}
	if (!t.batch && !t.pictures.json_lines && !have_terminal()) {
		complain(
			"no terminal for the screen; use 'proton record', --batch N or --json-lines");
		return STATUS_USAGE;
	}
	if (!t.batch && !t.pictures.json_lines && screen_settle(&t.screen))
		return STATUS_USAGE;
	if ((t.batch || t.pictures.json_lines) &&
	    !pictures_take_view(&t.pictures, screen_view_given(&t.screen)))
		return STATUS_USAGE;
	text_take_screen(&t.profile, &t.screen);
	if (!can_print_warps(&t, !t.devices && !gather_is_source(argv[first])))
		return STATUS_USAGE;
	r = run_options_settle(&t.run_options);
	if (r || t.devices || gather_is_source(argv[first])) {
		if (r == 0)
			r = t.devices ? top_devices(&t, argv[first])
				      : top_join(&t, argv + first, argc - first);
		run_options_done(&t.run_options);
		profile_options_done(&t.profile);
		return r;
	}
	r = run_prepare(&t.run, &t.run_options, argv + first);
	if (r == 0)
		r = t.batch || t.pictures.json_lines ? top_batch(&t) : top_screen(&t);
	tui_free(t.tui);
	code_free(t.code);
	warps_now_free(t.warps);
	warps_so_far_free(t.warps_so_far);
	snapshot_free(t.snap);
	keeper_free(t.keeper);
	run_done(&t.run);
	run_options_done(&t.run_options);
	profile_options_done(&t.profile);
	free(t.log);
	return r || !t.ended ? r : run_status(&t.run, t.run.rec.wait_status);
}
