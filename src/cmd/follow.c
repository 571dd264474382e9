/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "cmd/follow.h"
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
#include "live/saver.h"
#include "naming/readable.h"
#include "report/print_line.h"

struct follower {
	const struct follow_options *o;
	const struct followed *of;
	void *data;
	struct session *s;
	struct pictures pictures;
	struct snapshot *snap;
	struct tui *tui;
	struct saver saver;
	struct own_cpu own_cpu;
	int signals;
	int status; /* of a signal that ended us */
	bool quit, over, saved, no_memory;
};

/* ---- what the screen asks for ---- */

static int on_request(void *data, enum tui_action action, int arg)
{
	struct follower *f = data;

	(void)arg;
	if (action != TUI_QUIT && action != TUI_DETACH)
		return -ENOTSUP;
	f->quit = true;
	return 0;
}

static void on_status(void *data, struct tui_status *ret)
{
	struct follower *f = data;

	own_cpu_measure(&f->own_cpu);
	f->of->status(f->data, ret);
	ret->own_cpu = f->own_cpu.share;
	if (!f->saved)
		return;
	ret->file = f->o->output;
	if (f->saver.error < 0)
		ret->file_error = strerror(-f->saver.error);
}

/* ---- what comes ---- */

/* At the end all is saved; what is over may begin anew. */
static void take(struct follower *f)
{
	bool over;

	f->no_memory = f->of->read(f->data) < 0 || f->no_memory;
	over = f->s->ended;
	if (f->o->output && over && !f->over)
		saver_finish(&f->saver, f->s);
	else if (f->o->output && !over)
		saver_poll(&f->saver, f->s);
	f->saved = f->o->output && over;
	f->over = over;
}

static int wait_ms(const struct follower *f, uint64_t next)
{
	uint64_t now = clock_monotonic_ns();

	if (now >= next || (f->of->is_behind && f->of->is_behind(f->data)))
		return 0;
	return (int)MIN((next - now) / NSEC_PER_MSEC + 1, UINT64_C(100));
}

static int fd_of(const struct follower *f)
{
	return f->of->fd ? f->of->fd(f->data) : -1;
}

/* What is there when we leave is kept. */
static int leave(struct follower *f)
{
	if (f->of->finish)
		f->of->finish(f->data);
	if (f->no_memory)
		complain("out of memory: not all that came is there");
	if (f->o->output && !f->saved)
		saver_finish(&f->saver, f->s);
	if (f->o->output && f->saver.error < 0)
		complain("cannot write '%s': %s", f->o->output, strerror(-f->saver.error));
	else if (f->o->output && !f->o->quiet)
		print_line(stderr, "proton: wrote '%s'", f->o->output);
	return f->no_memory || (f->o->output && f->saver.error < 0) ? STATUS_FAILED : STATUS_OK;
}

/* ---- signals ---- */

/* Those that end us, unless we were started with them ignored (nohup), as a descriptor. */
static int ending_signals(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction now;
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		if (sigaction(signals[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
			sigaddset(&set, signals[i]);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return -errno;
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void signals_read(struct follower *f)
{
	struct signalfd_siginfo info;

	while (read(f->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGWINCH) {
			tui_resize(f->tui);
		} else if (info.ssi_signo == SIGTSTP) {
			tui_suspend(f->tui);
		} else if (info.ssi_signo == SIGCONT) {
			tui_continue(f->tui);
		} else {
			f->quit = true;
			f->status = 128 + (int)info.ssi_signo;
		}
	}
}

/* ---- without a screen ---- */

static void say_news(struct follower *f)
{
	const char *news = f->of->news(f->data);

	if (news && !f->o->quiet)
		complain("%s", news);
}

static bool batch_is_over(const struct follower *f)
{
	return f->over || f->quit ||
	       (pictures_are_over(&f->pictures) && (f->of->is_endless || !f->o->output));
}

static int batch_loop(struct follower *f)
{
	struct pollfd fds[2] = {{.events = POLLIN}, {.events = POLLIN}};
	uint64_t next = clock_monotonic_ns() + f->o->interval_ns;

	if (pictures_in_vain(f->o->profile, f->s))
		return STATUS_USAGE;
	f->signals = fds[1].fd = ending_signals();
	while (!batch_is_over(f)) {
		fds[0].fd = fd_of(f);
		poll(fds, 2, wait_ms(f, next));
		signals_read(f);
		take(f);
		say_news(f);
		if (clock_monotonic_ns() < next && !f->over)
			continue;
		next += f->o->interval_ns;
		if (f->of->has_begun(f->data))
			pictures_print(&f->pictures, f->o->profile, f->s);
	}
	return STATUS_OK;
}

/* ---- on the screen ---- */

static void show_news(struct follower *f)
{
	const char *news = f->of->news(f->data);

	if (!news)
		return;
	/* What brings a stream, as ssh does, says why it left, here on the terminal. */
	tui_resize(f->tui);
	tui_message(f->tui, "%s", news);
	tui_refresh(f->tui);
}

static void screen_loop(struct follower *f)
{
	struct pollfd fds[3] = {
		{.events = POLLIN}, {.fd = f->signals, .events = POLLIN}, {.events = POLLIN}};
	uint64_t next = clock_monotonic_ns() + f->o->interval_ns / 4;
	bool was_over = false;

	while (!f->quit) {
		fds[0].fd = tui_fd(f->tui);
		fds[2].fd = fd_of(f);
		poll(fds, 3, wait_ms(f, next));
		if (fds[0].revents && tui_handle_input(f->tui) == -EIO) {
			f->quit = true;
			f->status = 128 + SIGHUP;
		}
		signals_read(f);
		take(f);
		show_news(f);
		if (f->over && f->o->leave_at_end)
			f->quit = true;
		if (clock_monotonic_ns() < next && f->over == was_over)
			continue;
		if (!f->over || !was_over)
			tui_refresh(f->tui);
		was_over = f->over;
		next = clock_monotonic_ns() + f->o->interval_ns;
	}
}

static int screen_open(struct follower *f)
{
	const struct tui_host host = {.data = f, .request = on_request, .status = on_status};
	struct snapshot_spec spec = {.group = f->o->screen->group,
				     .contexts = f->o->profile->loading.contexts,
				     .naming = &readable_naming};
	struct tui_options *options = &f->o->screen->tui;

	options->live = true;
	options->source = f->of->source;
	options->command = "top";
	options->interval_ns = f->o->interval_ns;
	screen_take_text(f->o->screen, f->o->profile);
	f->snap = snapshot_new(f->s, &spec);
	f->tui = f->snap ? tui_new(options, f->snap, &host) : NULL;
	if (!f->tui) {
		complain("out of memory");
		return STATUS_FAILED;
	}
	if (screen_check_columns(f->o->screen, f->tui, f->s) < 0)
		return STATUS_USAGE;
	f->signals = screen_signals();
	if (tui_open(f->tui) == 0)
		return STATUS_OK;
	complain("%s", tui_why(f->tui));
	return STATUS_USAGE;
}

static int run_screen(struct follower *f)
{
	int r = screen_open(f);

	if (r)
		return r;
	if (f->of->greet)
		f->of->greet(f->data, f->tui);
	tui_refresh(f->tui);
	screen_loop(f);
	tui_close(f->tui);
	return STATUS_OK;
}

int follow_run(const struct follow_options *options, const struct followed *of, void *data,
	       struct session *s)
{
	struct follower f = {.o = options,
			     .of = of,
			     .data = data,
			     .s = s,
			     .pictures = options->pictures,
			     .own_cpu.share = NAN,
			     .signals = -1};
	int r = STATUS_OK, left;

	if (options->output && saver_init(&f.saver, options->output, options->save_ns) < 0)
		return STATUS_FAILED;
	r = options->batch ? batch_loop(&f) : run_screen(&f);
	if (r == STATUS_OK) {
		left = leave(&f);
		r = f.status ? f.status : left;
	}
	tui_free(f.tui);
	snapshot_free(f.snap);
	saver_done(&f.saver);
	closep(&f.signals);
	return r;
}
