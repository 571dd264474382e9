/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "view_screen.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/util.h"
#include "commands.h"
#include "demangle.h"
#include "format/report_names.h"

/* How names of frames are cut; snapshots ask for names by a function that is told nothing else. */
static uint8_t arg_format;

struct viewer;

/* What one screen shows, and what it is made of. Its tui asks it. */
struct picture {
	struct viewer *v;
	struct loaded pair; /* empty: nothing is compared */
	struct snapshot *snap, *before;
	struct tui *tui;
	char *target, *compared; /* as the header calls them; nothing is compared with NULL */
};

struct viewer {
	const struct view_screen *o;
	struct session *s; /* what the files say */
	struct picture pictures[2], *at; /* one of them; the other is the next */
	enum group group; /* that of the last view without a comparison */
	char *compare;    /* asked for: a file to compare with, "" for none; or NULL */
	int signals;
	bool quit;
};

/* A name that is shown: demangled, and what is asked for of file:line@function. */
static char *shown_name(const char *raw, enum name_mode mode)
{
	char *demangled = demangle_name(raw, mode), *shown;
	struct buf scratch;
	const char *cut;

	if (arg_format == FORMAT_FULL)
		return demangled;
	buf_init(&scratch, 0);
	cut = name_format(demangled ? demangled : raw, (enum name_format)arg_format, true,
			  &scratch);
	shown = strdup(cut);
	buf_done(&scratch);
	free(demangled);
	return shown;
}

/* ---- what the screen asks for ---- */

static int on_request(void *data, enum tui_action action, int arg)
{
	struct viewer *v = ((struct picture *)data)->v;

	(void)arg;
	if (action != TUI_QUIT && action != TUI_DETACH)
		return -ENOTSUP;
	v->quit = true;
	return 0;
}

/* Can it be a profile at all? What can be said without reading it is said on this screen. */
static int check_readable(const char *path)
{
	struct stat st;

	if (access(path, R_OK) < 0 || stat(path, &st) < 0)
		return -errno;
	return S_ISDIR(st.st_mode) ? -EISDIR : 0;
}

/* What is compared needs another tree: the screen is made anew, see compare_again(). */
static int on_compare(void *data, const char *path)
{
	struct viewer *v = ((struct picture *)data)->v;
	const char *home = !strncmp(path, "~/", 2) ? getenv("HOME") : NULL; /* as shells have it */
	char *full;
	int r;

	if (asprintf(&full, "%s%s", home ? home : "", home ? path + 1 : path) < 0)
		return -ENOMEM;
	r = *path ? check_readable(full) : 0;
	if (r < 0 || (!*path && !v->at->before)) {
		free(full);
		return r;
	}
	v->compare = full;
	return 0;
}

static void on_status(void *data, struct tui_status *ret)
{
	const struct picture *p = data;

	ret->run = TUI_RUN_FILE;
	ret->target = p->target;
	ret->compared = p->compared;
}

/* ---- pictures ---- */

static void picture_done(struct picture *p)
{
	tui_free(p->tui);
	snapshot_free(p->snap);
	snapshot_free(p->before);
	loaded_close(&p->pair);
	free(p->target);
	free(p->compared);
}

static struct snapshot *snapshot_of(const struct session *s, enum group group)
{
	struct snapshot_spec spec = {.group = group, .demangle = shown_name};

	return s ? snapshot_new(s, &spec) : NULL;
}

/* "b.hatchet", "b.hatchet and 3 more" */
static char *name_files(const struct view_screen *o)
{
	char *name;

	if (o->n_paths == 1)
		return strdup(o->paths[0]);
	return asprintf(&name, "%s and %d more", o->paths[0], o->n_paths - 1) < 0 ? NULL : name;
}

/* The screen on the profile alone, or beside that of a file. 0, or -errno and a sentence in `why`.
 */
static int picture_make(struct viewer *v, const char *before, struct picture *p, struct buf *why)
{
	const struct tui_host host = {
		.data = p, .request = on_request, .status = on_status, .compare = on_compare};
	struct tui_options options = v->o->screen->tui;

	*p = (struct picture){.v = v, .target = name_files(v->o)};
	if (before && loaded_compare(&p->pair, v->s, before, why) < 0) {
		picture_done(p);
		return -ECANCELED;
	}
	p->snap = before ? snapshot_of(p->pair.s, GROUP_NONE) : snapshot_of(v->s, v->group);
	p->before = snapshot_of(p->pair.before, GROUP_NONE);
	if (before)
		p->compared = strdup(before);
	options.command = v->o->command;
	options.before = p->before;
	if (p->target && p->snap && (p->before || !before))
		p->tui = tui_new(&options, p->snap, &host);
	if (p->tui)
		return 0;
	picture_done(p);
	buf_puts(why, "out of memory");
	return -ENOMEM;
}

/* Another comparison: a comparison has a tree of its own, hence a screen. What cannot be read
 * leaves everything as it is. */
static int change_picture(struct viewer *v, const char *before, struct buf *why)
{
	struct picture *next = &v->pictures[v->at == v->pictures];
	sigset_t none, ours;
	int r;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, &ours); /* reading may take long: Ctrl-C ends it */
	if (!v->at->before)
		v->group = snapshot_group(v->at->snap);
	r = picture_make(v, before, next, why);
	sigprocmask(SIG_SETMASK, &ours, NULL);
	if (r < 0)
		return r;
	tui_take_view(next->tui, v->at->tui);
	picture_done(v->at);
	v->at = next;
	return 0;
}

static int compare_again(struct viewer *v)
{
	const char *before = *v->compare ? v->compare : NULL;
	struct buf why;
	int r;

	buf_init(&why, 0);
	tui_close(v->at->tui); /* what reads may say how far it is */
	change_picture(v, before, &why);
	r = tui_open(v->at->tui);
	if (why.len)
		tui_message(v->at->tui, "%s", buf_str(&why));
	else if (before && v->group != GROUP_NONE)
		tui_message(v->at->tui, "whole profiles are compared: not grouped until that ends");
	buf_done(&why);
	free(v->compare);
	v->compare = NULL;
	return r < 0 ? r : tui_refresh(v->at->tui);
}

/* ---- the loop ---- */

static int view_loop(struct viewer *v)
{
	struct pollfd fds[2] = {{.events = POLLIN}, {.fd = v->signals, .events = POLLIN}};
	struct signalfd_siginfo info;

	while (!v->quit) {
		fds[0].fd = tui_fd(v->at->tui);
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return STATUS_FAILED;
		if (fds[0].revents && tui_handle_input(v->at->tui) < 0)
			return STATUS_FAILED; /* the terminal has gone away */
		while (read(v->signals, &info, sizeof(info)) == sizeof(info)) {
			if (info.ssi_signo != SIGWINCH)
				return 128 + (int)info.ssi_signo;
			tui_resize(v->at->tui);
		}
		if (v->compare && compare_again(v) < 0)
			return STATUS_FAILED;
	}
	return STATUS_OK;
}

static int run_screen(struct viewer *v)
{
	struct tui *t = v->at->tui;
	int r;

	if (screen_check_columns(v->o->screen, t) < 0)
		return STATUS_USAGE;
	if (tui_open(t) < 0) {
		complain("%s (without a screen: 'proton report %s')", tui_why(t), v->o->paths[0]);
		return STATUS_USAGE;
	}
	if (*v->o->screen->skipped)
		tui_message(t, "%s", v->o->screen->skipped);
	tui_refresh(t);
	r = view_loop(v);
	tui_close(v->at->tui);
	return r;
}

static int first_picture(struct viewer *v)
{
	struct buf why;
	int r;

	buf_init(&why, 0);
	r = picture_make(v, v->o->before, v->at, &why);
	if (r < 0)
		complain("%s", buf_str(&why));
	buf_done(&why);
	return r;
}

int view_screen_run(const struct view_screen *o)
{
	struct viewer v = {.o = o, .group = o->screen->group, .signals = -1};
	int r = STATUS_FAILED;

	v.at = v.pictures;
	arg_format = o->format;
	v.s = load_files(o->paths, o->n_paths, o->loading);
	if (v.s && first_picture(&v) == 0) {
		v.signals = screen_signals();
		r = v.signals < 0 ? STATUS_FAILED : run_screen(&v);
		picture_done(v.at);
	}
	session_free(v.s);
	free(v.compare);
	if (v.signals >= 0)
		close(v.signals);
	return r == STATUS_OK && o->loading->failed ? STATUS_FAILED : r;
}
