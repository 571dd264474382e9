/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "cmd/view_screen.h"
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
#include "cmd/commands.h"
#include "cmd/warps.h"
#include "intra/warp_source.h"
#include "core/in_view.h"
#include "core/pair.h"
#include "core/runs.h"
#include "format/format.h"
#include "naming/readable.h"
#include "report/names.h"

/* How names of frames are cut. Global, as the function that makes names has no context. */
static uint8_t arg_format;

struct viewer;

/* One screen and its data. Callbacks of the tui get it. */
struct picture {
	struct viewer *v;
	struct loaded pair; /* empty: nothing is compared */
	struct snapshot *snap, *before;
	struct tui *tui;
	char *target, *compared; /* names for the header; compared is NULL without a comparison */
};

struct viewer {
	const struct view_screen *o;
	struct code *code;               /* of the first file's samples; NULL: no memory */
	struct warp_trace *warps;        /* of the first file, or beside it; NULL: none */
	struct warp_source warp_source;  /* … as the screen takes them */
	struct session *s, *other;       /* of the files; of the one to compare with, or NULL */
	struct picture pictures[2], *at; /* at: the one on the screen; the other is for the next */
	enum group group;
	enum context_view contexts;
	char *compare; /* requested: a file to compare with, "" to stop comparing; or NULL */
	bool regroup;  /* requested: the comparison with other groups */
	int signals;
	bool quit;
};

/* The name to show: demangled, and cut as asked for when it is file:line@function. */
static char *shown_name(const char *raw, enum frame_kind kind, unsigned level)
{
	char *demangled = readable_name(raw, kind, level), *shown;
	_cleanup_(buf_done) struct buf scratch = {0};
	const char *cut;

	if (arg_format == FORMAT_FULL)
		return demangled;
	cut = name_format(demangled ? demangled : raw, (enum name_format)arg_format, true,
			  &scratch);
	shown = demangled || strcmp(cut, raw) != 0 ? strdup(cut) : NULL; /* as it is */
	free(demangled);
	return shown;
}

static const struct naming shown_naming = {shown_name, readable_apart, readable_could_be};

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

/* Could the path be a profile? Errors that need no reading are shown on the current screen. */
static int check_readable(const char *path)
{
	struct stat st;

	if (access(path, R_OK) < 0 || stat(path, &st) < 0)
		return -errno;
	return S_ISDIR(st.st_mode) ? -EISDIR : 0;
}

/* A comparison needs another tree, and so a new screen: see compare_again(). */
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

/* The sides of a comparison have one tree: made anew, from what was recorded. */
static int on_next_contexts(void *data)
{
	struct viewer *v = ((struct picture *)data)->v;

	v->contexts = context_view_next(v->contexts, v->s);
	v->regroup = true;
	return 0;
}

static int on_regroup(void *data, enum group group)
{
	struct viewer *v = ((struct picture *)data)->v;

	v->group = group;
	v->regroup = true;
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

static struct snapshot *snapshot_of(const struct session *s, enum group group,
				    enum context_view contexts)
{
	struct snapshot_spec spec = {.group = group, .contexts = contexts, .naming = &shown_naming};

	return s ? snapshot_new(s, &spec) : NULL;
}

/* "b.hatchet", "b.hatchet and 3 more" */
static char *name_files(const struct view_screen *o)
{
	int n = o->n_paths - o->loading->n_failed;
	char *name;

	if (!o->loading->first)
		return strdup(o->paths[0]);
	if (n == 1)
		return strdup(o->loading->first);
	return asprintf(&name, "%s and %d more", o->loading->first, n - 1) < 0 ? NULL : name;
}

static int pair_in_view(const struct viewer *v, const struct session *other,
			struct session *sides[PAIR_N])
{
	_cleanup_(session_freep) struct session *a = NULL;
	_cleanup_(session_freep) struct session *b = NULL;
	int r;

	if (v->contexts == CONTEXTS_ALL)
		return pair_make_grouped(other, v->s, v->group, sides);
	r = session_in_view(other, v->contexts, &a);
	if (r == 0)
		r = session_in_view(v->s, v->contexts, &b);
	return r < 0 ? r : pair_make_grouped(a, b, v->group, sides);
}

static int picture_snapshots(struct picture *p, const struct session *other)
{
	struct viewer *v = p->v;
	struct session *sides[PAIR_N];

	if (!other) {
		p->snap = snapshot_of(v->s, v->group, v->contexts);
		return p->snap ? 0 : -ENOMEM;
	}
	if (pair_in_view(v, other, sides) < 0)
		return -ENOMEM;
	p->pair = (struct loaded){.s = sides[PAIR_AFTER], .before = sides[PAIR_BEFORE]};
	p->snap = snapshot_of(p->pair.s, GROUP_NONE, CONTEXTS_ALL);
	p->before = snapshot_of(p->pair.before, GROUP_NONE, CONTEXTS_ALL);
	return p->snap && p->before ? 0 : -ENOMEM;
}

/* A file of single scopes alone is about these. */
static bool is_of_warps(const struct viewer *v)
{
	return format_by_path(v->o->paths[0]) == &format_warps && !screen_view_given(v->o->screen);
}

/* The screen on the profile alone, or beside another one of this name. 0 or -ENOMEM. */
static int picture_make(struct viewer *v, struct picture *p, const struct session *other,
			const char *name)
{
	const struct tui_host host = {.data = p,
				      .request = on_request,
				      .status = on_status,
				      .compare = on_compare,
				      .regroup = on_regroup,
				      .next_contexts = on_next_contexts};
	struct tui_options options = v->o->screen->tui;

	*p = (struct picture){.v = v, .target = name_files(v->o)};
	if (other)
		p->compared = strdup(name);
	if (p->target && picture_snapshots(p, other) == 0) {
		options.command = v->o->command;
		options.before = p->before;
		options.code = v->code ? code_reader(v->code) : NULL;
		options.warps = v->warps ? &v->warp_source : NULL;
		if (is_of_warps(v))
			options.panel = TUI_PANEL_WARPS;
		options.group = v->group;
		options.contexts = v->contexts;
		p->tui = tui_new(&options, p->snap, &host);
	}
	if (p->tui)
		return 0;
	picture_done(p);
	return -ENOMEM;
}

/* Replace the picture: each comparison has its own tree, and so its own screen. */
static int change_picture(struct viewer *v, const struct session *other, const char *name)
{
	struct picture *next = &v->pictures[v->at == v->pictures];

	if (picture_make(v, next, other, name) < 0)
		return -ENOMEM;
	tui_take_view(next->tui, v->at->tui);
	picture_done(v->at);
	v->at = next;
	return 0;
}

/* Numbers of other programs or machines compare, but not as one may think. */
static void put_differences(const struct viewer *v, struct buf *say)
{
	if (v->other)
		run_facts_put_differences(v->other, v->s, say);
}

/* Compare with the requested file. If it cannot be read, nothing changes. */
static void compare_again(struct viewer *v, struct buf *say)
{
	struct session *other = *v->compare ? load_quietly(v->compare, v->o->loading, say) : NULL;

	if (!other && *v->compare)
		return;
	if (!v->at->before) {
		v->group = snapshot_group(v->at->snap);
		v->contexts = snapshot_contexts(v->at->snap);
	}
	if (change_picture(v, other, v->compare) < 0) {
		buf_puts(say, "out of memory");
		session_free(other);
		return;
	}
	session_free(v->other);
	v->other = other;
	put_differences(v, say);
}

static void regroup_again(struct viewer *v, struct buf *why)
{
	_cleanup_(freep) char *name = strdup(v->at->compared ? v->at->compared : "");

	if (!name || change_picture(v, v->other, name) < 0)
		buf_puts(why, "out of memory");
	else
		buf_printf(why, "group: %s; contexts: %s", group_word(v->group),
			   context_view_word(v->contexts));
}

/* Reading may take long: leave the screen, so that progress is printed and Ctrl-C ends us. */
static void compare_off_screen(struct viewer *v, struct buf *say)
{
	sigset_t none, ours;

	tui_close(v->at->tui);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, &ours);
	compare_again(v, say);
	sigprocmask(SIG_SETMASK, &ours, NULL);
	free(v->compare);
	v->compare = NULL;
}

static int do_asked(struct viewer *v)
{
	_cleanup_(buf_done) struct buf say = {0};
	int r;

	if (v->compare) {
		compare_off_screen(v, &say);
	} else { /* quick: the old screen stays until the new one is ready */
		tui_message(v->at->tui, "arranging anew");
		tui_resize(v->at->tui);
		regroup_again(v, &say);
	}
	v->regroup = false;
	r = tui_open(v->at->tui);
	if (say.len)
		tui_message(v->at->tui, "%s", buf_str(&say));
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
			if (info.ssi_signo == SIGWINCH)
				tui_resize(v->at->tui);
			else if (info.ssi_signo == SIGTSTP)
				tui_suspend(v->at->tui);
			else if (info.ssi_signo == SIGCONT)
				tui_continue(v->at->tui);
			else
				return 128 + (int)info.ssi_signo;
		}
		if ((v->compare || v->regroup) && do_asked(v) < 0)
			return STATUS_FAILED;
	}
	return STATUS_OK;
}

static int run_screen(struct viewer *v)
{
	_cleanup_(buf_done) struct buf differences = {0};
	struct tui *t = v->at->tui;
	int r;

	if (screen_check_columns(v->o->screen, t, v->s) < 0)
		return STATUS_USAGE;
	if (tui_open(t) < 0) {
		complain("%s (without a screen: 'proton report %s')", tui_why(t), v->o->paths[0]);
		return STATUS_USAGE;
	}
	put_differences(v, &differences);
	if (differences.len)
		tui_message(t, "%s", buf_str(&differences));
	if (*v->o->screen->skipped)
		tui_message(t, "%s", v->o->screen->skipped);
	if (v->o->loading->n_failed)
		tui_message(t,
			    "%d of %d files could not be read, as was printed before this screen",
			    v->o->loading->n_failed, v->o->n_paths);
	tui_refresh(t);
	r = view_loop(v);
	tui_close(v->at->tui);
	return r;
}

static int first_picture(struct viewer *v)
{
	bool failed; /* the rest is shown nevertheless, and a line on stderr says why */

	v->s = load_files(v->o->paths, v->o->n_paths, v->o->loading);
	if (v->s && v->o->before)
		v->other = load_file(v->o->before, v->o->loading);
	if (!v->s || (v->o->before && !v->other))
		return -ECANCELED;
	v->warps = warps_open(v->o->paths[0], &failed);
	v->warp_source = warp_source_of(v->warps);
	v->code = code_new(v->o->code, v->o->paths[0], v->s->end_ns);
	if (picture_make(v, v->at, v->other, v->o->before) == 0)
		return 0;
	complain("out of memory");
	return -ENOMEM;
}

int view_screen_run(const struct view_screen *o)
{
	struct viewer v = {
		.o = o, .group = o->screen->group, .contexts = o->loading->contexts, .signals = -1};
	int r = STATUS_FAILED;

	o->loading->contexts = CONTEXTS_ALL; /* a key brings back what is left out */
	v.at = v.pictures;
	arg_format = o->format;
	if (first_picture(&v) == 0) {
		v.signals = screen_signals();
		r = v.signals < 0 ? STATUS_FAILED : run_screen(&v);
		picture_done(v.at);
	}
	session_free(v.s);
	session_free(v.other);
	code_free(v.code);
	warps_close(v.warps);
	free(v.compare);
	if (v.signals >= 0)
		close(v.signals);
	return r == STATUS_OK && o->loading->n_failed ? STATUS_FAILED : r;
}
