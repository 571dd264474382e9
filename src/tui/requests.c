/* SPDX-License-Identifier: MIT */
/* Requests that no panel answers: the view as a whole, the picture, the program. */
#include "config.h" // IWYU pragma: keep
#include "tui/requests.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <strings.h>
#include "base/buf.h"
#include "base/clock.h"
#include "core/session.h"
#include "tui/actions.h"
#include "tui/follow.h"
#include "tui/header.h"
#include "tui/layout.h"
#include "tui/names.h"
#include "tui/picture.h"
#include "tui/print.h"
#include "tui/refusals.h"
#include "tui/screen.h"
#include "tui/tabs.h"
#include "tui/tui_impl.h"

#define TWICE_NS (2 * NSEC_PER_SEC) /* a second Ctrl-C within this means it */

/* Ask the host; where it cannot, a message says so. */
static int ask_host(struct tui *t, enum tui_action action, int arg)
{
	int r = t->host.request ? t->host.request(t->host.data, action, arg) : -ENOTSUP;

	if (r == -ENOTSUP && !*t->message)
		tui_message(t, "not possible here");
	else if (r < 0 && !*t->message)
		tui_message(t, "failed: %s", strerror(-r));
	return r;
}

static bool is_running(const struct tui *t)
{
	return t->status.run == TUI_RUN_RUNNING || t->status.run == TUI_RUN_STARTING;
}

/* ---- panels and overlays ---- */

void tui_show_panel(struct tui *t, enum tui_panel panel)
{
	bool is_new = panel != t->current;

	t->overlay = NULL;
	if (is_new)
		follow_leave(t);
	t->current = panel;
	panel_spoil(t->panels[panel]); /* tables of the snapshot belong to the last who asked */
	if (is_new)
		follow_show(t);
}

/* The next panel that there is, in either direction. */
static void step_panel(struct tui *t, unsigned step)
{
	unsigned panel = t->current;

	do
		panel = (panel + step) % TUI_N_PANELS;
	while (!tui_has_panel(t, panel));
	tui_show_panel(t, panel);
}

static void do_next_panel(struct tui *t)
{
	step_panel(t, 1);
}

static void do_prev_panel(struct tui *t)
{
	step_panel(t, TUI_N_PANELS - 1);
}

static void on_request(struct tui *t, int value)
{
	tui_do_request(t, (enum request)value);
}

static void do_panel_menu(struct tui *t)
{
	menu_open(&t->menu, "panel", on_request);
	for (unsigned i = 0; i < TUI_N_PANELS; i++) {
		enum request request = REQ_PANEL_1 + i;

		if (!tui_has_panel(t, i))
			continue;
		if (i == t->current)
			t->menu.cursor = t->menu.n;
		menu_add(&t->menu, keymap_letter(&t->keys, request), (int)request,
			 "%-3.3s  %-9s  %s", keymap_words(&t->keys, request),
			 t->panels[i]->ops->title, request_info(request)->help);
	}
}

static void do_row_menu(struct tui *t)
{
	menu_open(&t->menu, "this row", on_request);
	action_list(t);
	if (t->menu.n > 0)
		return;
	menu_close(&t->menu);
	tui_message(t, "there is nothing to be done with this row");
}

static void do_help(struct tui *t)
{
	t->overlay = t->overlay == t->help ? NULL : t->help;
	panel_spoil(t->help); /* it begins with the keys of the panel in front */
	t->help->top = 0;
}

static void do_detail(struct tui *t)
{
	uint32_t node = panel_node(tui_panel(t));

	if (node == SNAP_NONE || node >= snapshot_n(t->snap)) {
		tui_message(t, "there is no more to this row");
		return;
	}
	panel_detail_show(t->detail, node);
	t->overlay = t->detail;
}

/* In any panel but the tree: show the row's calling context there. */
static void do_reveal(struct tui *t)
{
	uint32_t node = panel_node(tui_panel(t));

	if (node == SNAP_NONE || node >= snapshot_n(t->snap)) {
		tui_message(t, "this row is no calling context");
		return;
	}
	tui_show_panel(t, TUI_PANEL_TREE);
	panel_tree_reveal(t->panels[TUI_PANEL_TREE], node);
}

/* Esc: what is open is closed, one thing at a time. */
static void do_back(struct tui *t)
{
	if (t->overlay) {
		t->overlay = NULL;
	} else if (*t->filter) {
		t->filter[0] = '\0';
		tui_spoil(t);
	} else if (filters_any(&t->filters)) {
		filters_done(&t->filters);
		tui_refilter(t);
	} else if (least_any(&t->least)) {
		t->least = (struct least){0};
		tui_spoil(t);
	} else if (*t->search) {
		t->search[0] = '\0';
	}
}

/* ---- search and filter ---- */

static void say_found(struct tui *t, bool found, bool wrapped)
{
	if (t->work.stopped)
		tui_message(t, "stopped: '%s' was not looked for to the end", t->search);
	else if (!found && tui_panel(t) == t->panels[TUI_PANEL_TREE])
		tui_message(t, "'%s' is not found", t->search);
	else if (!found) /* it may be in another panel */
		tui_message(t, "'%s' is not in %s", t->search, tui_panel(t)->ops->title);
	else if (wrapped)
		tui_message(t, "'%s': began again at the other end", t->search);
}

static void search_step(struct tui *t, bool forward)
{
	bool wrapped = false, found;

	if (!*t->search) {
		tui_message(t, "nothing to find yet: / asks for it");
		return;
	}
	found = panel_find(tui_panel(t), forward, &wrapped);
	say_found(t, found, wrapped);
}

static void do_search_next(struct tui *t)
{
	search_step(t, true);
}

static void do_search_prev(struct tui *t)
{
	search_step(t, false);
}

static void spoil_front(struct tui *t)
{
	tui_spoil(t);
	panel_spoil(tui_panel(t));
}

static void note_found(struct tui *t)
{
	const struct matches *m = &t->matches;
	const char *key = keymap_words(&t->keys, REQ_NAMES);
	char elsewhere[80] = "";

	if (m->n_elsewhere == m->n && m->n)
		snprintf(elsewhere, sizeof(elsewhere), ", in names that %.20s shows", key);
	else if (m->n_elsewhere)
		snprintf(elsewhere, sizeof(elsewhere), ", %zu in names that %.20s shows",
			 m->n_elsewhere, key);
	snprintf(t->prompt.note, sizeof(t->prompt.note), "%zu found%s", m->n, elsewhere);
}

static void on_search(struct tui *t, enum prompt_event event, const char *text)
{
	snprintf(t->search, sizeof(t->search), "%s",
		 event == PROMPT_CANCELLED ? t->search_before : text);
	if (event == PROMPT_ACCEPTED && !*text) /* nothing typed: the same again */
		memcpy(t->search, t->search_before, sizeof(t->search));
	if (event == PROMPT_ACCEPTED && *t->search)
		search_step(t, true);
	t->prompt.note[0] = '\0';
	if (event == PROMPT_CHANGED && *t->search && tui_panel(t) == t->panels[TUI_PANEL_TREE]) {
		if (!tui_matches(t)) /* stopped by the next letter, which looks anew */
			t->prompt.note[0] = '\0';
		else
			note_found(t);
	}
}

static void do_search(struct tui *t)
{
	memcpy(t->search_before, t->search, sizeof(t->search));
	prompt_open(&t->prompt, "find: ", "", on_search);
}

/* A selector is used as it is typed, and what a filter leaves is said, where the tree is small enough to
 * be looked through between two letters. */
#define LIVE_FILTER_NODES 200000

static void on_filter(struct tui *t, enum prompt_event event, const char *text)
{
	snprintf(t->filter, sizeof(t->filter), "%s",
		 event == PROMPT_CANCELLED ? t->filter_before : text);
	t->prompt.note[0] = '\0';
	tui_spoil(t);
	if (event == PROMPT_ACCEPTED ||
	    (event == PROMPT_CHANGED && snapshot_n(t->snap) <= LIVE_FILTER_NODES))
		tui_say_left(t);
}

static void do_filter(struct tui *t)
{
	t->overlay = NULL;
	memcpy(t->filter_before, t->filter, sizeof(t->filter));
	prompt_open(&t->prompt, "keep paths with: ", t->filter, on_filter);
}

/* What is wrong with a selector so far, beside it. */
static void note_error(struct tui *t, const char *text, const struct selector_error *error)
{
	size_t at = error->at == SELECTOR_NOWHERE ? 0 : selector_character(text, error->at);

	if (at)
		snprintf(t->prompt.note, sizeof(t->prompt.note), "at %zu: %.100s", at, error->why);
	else
		snprintf(t->prompt.note, sizeof(t->prompt.note), "%.120s", error->why);
}

static void on_selector(struct tui *t, enum filter_kind kind, enum prompt_event event,
			const char *text)
{
	struct selector_error error = {.why = "out of memory"};
	_cleanup_(buf_done) struct buf why = {0};
	int r;

	if (event == PROMPT_EOF)
		return;
	t->prompt.note[0] = '\0';
	if (event == PROMPT_CHANGED && snapshot_n(t->snap) > LIVE_FILTER_NODES)
		return;
	if (event == PROMPT_CANCELLED)
		text = t->selector_before;
	r = filters_set(&t->filters, kind, text,
			event == PROMPT_CANCELLED ? NULL : snapshot_session(t->snap), &error);
	if (r < 0 && event == PROMPT_CHANGED) {
		note_error(t, text, &error);
		return;
	}
	if (r < 0) {
		selector_explain(text, &error, &why);
		filters_set(&t->filters, kind, t->selector_before, NULL, &error);
	}
	tui_refilter(t);
	if (r < 0)
		tui_message(t, "%s", buf_str(&why));
	panel_tree_unfold(t->panels[TUI_PANEL_TREE]); /* what was looked for is to be seen */
}

static void on_include(struct tui *t, enum prompt_event event, const char *text)
{
	on_selector(t, FILTER_INCLUDE, event, text);
}

static void on_exclude(struct tui *t, enum prompt_event event, const char *text)
{
	on_selector(t, FILTER_EXCLUDE, event, text);
}

static void ask_selector(struct tui *t, enum filter_kind kind, const char *label,
			 void (*on_event)(struct tui *, enum prompt_event, const char *))
{
	t->overlay = NULL;
	memcpy(t->selector_before, t->filters.v[kind].text, sizeof(t->selector_before));
	prompt_open(&t->prompt, label, t->selector_before, on_event);
	snprintf(t->prompt.note, sizeof(t->prompt.note), "names, time > 1ms, or **/conv*/*gemm*");
}

static void do_include(struct tui *t)
{
	ask_selector(t, FILTER_INCLUDE, "only paths through: ", on_include);
}

static void do_exclude(struct tui *t)
{
	ask_selector(t, FILTER_EXCLUDE, "without: ", on_exclude);
}

/* ---- what is shown ---- */

static void on_sort(struct tui *t, int value)
{
	panel_sort(tui_panel(t), (unsigned)value);
}

static void do_sort_menu(struct tui *t)
{
	struct panel *p = tui_panel(t);
	const struct columns *c = &p->columns;

	if (c->n == 0) {
		tui_message(t, "this panel has one order");
		return;
	}
	panel_refresh(p);
	menu_open(&t->menu, "sort by", on_sort);
	for (unsigned i = 0; i < c->n; i++) {
		if (!column_may_sort(p, &c->v[i]))
			continue;
		if (i == p->sort)
			t->menu.cursor = t->menu.n;
		menu_add(&t->menu, 0, (int)i, "%-6s %.52s", c->v[i].title, c->v[i].help);
	}
}

static void do_columns(struct tui *t)
{
	if (t->overlay) {
		t->overlay = NULL;
	} else if (t->panels[t->current]->columns.n == 0) {
		tui_message(t, "its columns cannot be chosen");
	} else {
		panel_columns_show(t->columns, t->panels[t->current]);
		t->overlay = t->columns;
	}
}

static void do_names(struct tui *t)
{
	t->names = (t->names + 1) % NAME_N;
	if (filters_any(&t->filters))
		tui_refilter(t);
	tui_message(t, "names: %s", tui_names_word(t->names));
	spoil_front(t);
}

static void do_mouse(struct tui *t)
{
	t->has_mouse = !t->has_mouse;
	if (t->screen)
		screen_mouse(t->screen, t->has_mouse);
	tui_message(t, t->has_mouse ? "the mouse is ours; M gives it back to the terminal"
				    : "the mouse is the terminal's, to select text with");
}

static void do_theme(struct tui *t)
{
	const char *now = t->look.theme ? t->look.theme : tui_theme_name(0);
	unsigned i = 0;

	while (tui_theme_name(i) && strcasecmp(tui_theme_name(i), now) != 0)
		i++;
	t->look.theme = tui_theme_name(i) && tui_theme_name(i + 1) ? tui_theme_name(i + 1)
								   : tui_theme_name(0);
	if (t->screen)
		screen_set_look(t->screen, &t->look);
	tui_message(t, t->look.no_color ? "theme: %s, but colours are off" : "theme: %s",
		    t->look.theme);
}

static void do_header(struct tui *t)
{
	header_next_size(t);
	tui_spoil(t);
}

static void do_percent(struct tui *t)
{
	t->percent_of_parent = !t->percent_of_parent;
	tui_message(t, "%% of the %s", t->percent_of_parent ? "parent" : "total");
	tui_spoil(t);
}

static void do_group(struct tui *t)
{
	enum group group = (tui_group(t) + 1) % GROUP_N;

	if (t->options.before) { /* groups are a part of the tree that both sides share */
		if (!t->host.regroup || t->host.regroup(t->host.data, group) < 0)
			tui_message(t, "what is compared cannot be grouped here");
		return;
	}
	t->work.what = "grouping";
	if (tui_regroup(t, group) < 0) {
		tui_message(t, "out of memory");
		return;
	}
	tui_message(t, "group: %s", group_word(group));
	if (filters_any(&t->filters))
		tui_refilter(t);
	tui_spoil(t);
}

static void do_contexts(struct tui *t)
{
	enum context_view now = tui_contexts(t), next;

	if (t->options.before) { /* as groups are */
		if (!t->host.next_contexts || t->host.next_contexts(t->host.data) < 0)
			tui_message(t, "what is compared has one kind of contexts here");
		return;
	}
	next = context_view_next(now, snapshot_session(t->snap));
	if (next == now) {
		tui_message(t, "no contexts but scopes were recorded: see record --context");
		return;
	}
	t->work.what = "arranging contexts";
	if (tui_show_contexts(t, next) < 0) {
		tui_message(t, "out of memory");
		return;
	}
	tui_message(t, "contexts: %s", context_view_what(next));
	if (filters_any(&t->filters))
		tui_refilter(t);
	tui_spoil(t);
}

/* ---- the picture ---- */

static void do_freeze(struct tui *t)
{
	if (!t->options.live) {
		tui_message(t, "a saved profile stands still anyway");
		return;
	}
	t->frozen = !t->frozen;
	if (t->frozen)
		tui_message(t, "the picture is held, recording goes on; z moves on");
	else
		tui_picture(t);
}

static void do_pause(struct tui *t)
{
	if (!is_running(t)) {
		tui_message(t, "nothing is being collected");
		return;
	}
	if (ask_host(t, t->status.paused ? TUI_RESUME : TUI_PAUSE, 0) < 0)
		return;
	t->status.paused = !t->status.paused;
	tui_message(t, t->status.paused ? "collecting is paused; P resumes" : "collecting again");
}

static void do_reset(struct tui *t)
{
	if (!t->options.live) {
		tui_message(t, "a saved profile does not grow: nothing can be counted from now on");
		return;
	}
	if (t->status.run == TUI_RUN_ENDED) {
		tui_message(t, "the program has ended: nothing can be counted from now on");
		return;
	}
	snapshot_reset(t->snap, false);
	t->is_reset = true;
	t->reset_up_ns = t->status.up_ns;
	tui_message(t, "counting from now; R counts the whole run again");
	tui_spoil(t);
}

static void do_unreset(struct tui *t)
{
	if (!t->is_reset) {
		tui_message(t, "the whole run is counted already");
		return;
	}
	snapshot_reset(t->snap, true);
	t->is_reset = false;
	tui_message(t, "counting the whole run");
	tui_spoil(t);
}

/* ---- the program ---- */

static void do_save(struct tui *t)
{
	const char *file = t->status.file, *name = file ? strrchr(file, '/') : NULL;

	name = name ? name + 1 : file;
	if (ask_host(t, TUI_SAVE, 0) == 0 && !*t->message)
		tui_message(t, "saved%s%s%s", name ? " in " : "", name ? name : "",
			    t->status.run == TUI_RUN_ENDED ? "; q leaves" : "");
}

static void do_resync(struct tui *t)
{
	if (ask_host(t, TUI_RESYNC, 0) == 0)
		tui_message(t, "asked for everything again");
}

static void on_save_layout(struct tui *t, enum prompt_event event, const char *text)
{
	struct buf path;
	int r;

	if (event != PROMPT_ACCEPTED)
		return;
	buf_init(&path, 4096);
	r = layout_path(t->options.config_dir, text, &path);
	if (r == 0)
		r = layout_save(t, buf_str(&path));
	if (r < 0)
		tui_message(t, "cannot save the layout '%s': %s", text,
			    r == -EINVAL ? "this is no name for one" : strerror(-r));
	else
		tui_message(t, "the layout is in %s", buf_str(&path));
	buf_done(&path);
}

static void do_save_layout(struct tui *t)
{
	if (!t->options.config_dir)
		tui_message(t, "there is no folder for settings: HOME is not set");
	else
		prompt_open(&t->prompt, "layout's name (none: the usual one): ", "",
			    on_save_layout);
}

static void on_compare(struct tui *t, enum prompt_event event, const char *text)
{
	int r;

	if (event != PROMPT_ACCEPTED)
		return;
	r = t->host.compare(t->host.data, text);
	if (r < 0)
		tui_message(t, "cannot compare with '%s': %s", text, strerror(-r));
}

static void do_compare(struct tui *t)
{
	if (!t->host.compare) {
		tui_message(t, "only saved profiles can be compared (proton view)");
		return;
	}
	prompt_open(&t->prompt,
		    t->options.before ? "compare with file (none: no more): "
				      : "compare with file: ",
		    "", on_compare);
	t->prompt.takes_file = true;
}

/* A name that is not there yet; the open file, or -errno. */
static int create_print(struct tui *t, const char *suffix, char *path, size_t size)
{
	int fd = -EEXIST;

	for (int i = 1; i < 1000 && fd == -EEXIST; i++) {
		snprintf(path, size, "%s%sproton-screen-%d.%s",
			 t->options.print_dir ? t->options.print_dir : "",
			 t->options.print_dir ? "/" : "", i, suffix);
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
		if (fd < 0)
			fd = -errno;
	}
	return fd;
}

static int write_print(struct tui *t, enum print_format format, char *path, size_t size)
{
	struct canvas canvas = {.rows = 24, .cols = 80};
	struct buf text;
	int r, fd;

	if (t->screen)
		canvas = screen_canvas(t->screen);
	buf_init(&text, 1 << 24);
	r = print_screen(t, canvas.rows, canvas.cols, format, &text);
	fd = r < 0 ? r : create_print(t, print_suffix(format), path, size);
	r = fd;
	if (fd >= 0) {
		r = fd_write_all(fd, text.data, text.len);
		close(fd);
	}
	buf_done(&text);
	return r;
}

static void on_print(struct tui *t, int value)
{
	char path[512];
	int r = write_print(t, (enum print_format)value, path, sizeof(path));

	if (r < 0)
		tui_message(t, "cannot write this screen: %s", strerror(-r));
	else
		tui_message(t, "this screen is in %s", path);
}

static void do_print(struct tui *t)
{
	menu_open(&t->menu, "write this screen to a file", on_print);
	for (int i = 0; i < PRINT_N; i++)
		menu_add(&t->menu, *print_suffix(i), i, "%-4s  %s", print_suffix(i), print_help(i));
}

static void on_signal(struct tui *t, int value)
{
	if (ask_host(t, TUI_SIGNAL, value) == 0)
		tui_message(t, "sent");
}

static void do_signal(struct tui *t)
{
	static const struct {
		int letter, signo;
		const char *text;
	} signals[] = {
		{'i', SIGINT, "i  SIGINT   interrupt, as Ctrl-C does"},
		{'t', SIGTERM, "t  SIGTERM  please end"},
		{'1', SIGUSR1, "1  SIGUSR1"},
		{'2', SIGUSR2, "2  SIGUSR2"},
		{'s', SIGSTOP, "s  SIGSTOP  stand still"},
		{'c', SIGCONT, "c  SIGCONT  go on"},
		{'K', SIGKILL, "K  SIGKILL  end at once; what it had not sent is lost"},
	};

	if (!is_running(t)) {
		tui_message(t, "there is no program to signal");
		return;
	}
	menu_open(&t->menu, "send to the program", on_signal);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		menu_add(&t->menu, signals[i].letter, signals[i].signo, "%s", signals[i].text);
}

/* Hand text to the program's terminal; where that fails, a message says why. */
static int type_text(struct tui *t, const char *text, size_t len)
{
	int r = t->host.input ? t->host.input(t->host.data, text, len) : -ESRCH;

	if (r == -ENOTTY)
		tui_message(t, "the program's standard input is not this terminal");
	else if (r == -ESRCH || r == -EPIPE)
		tui_message(t, "there is no program to type to");
	else if (r < 0)
		tui_message(t, "the program cannot be reached: %s", strerror(-r));
	return r;
}

static void do_type(struct tui *t);

/* A line goes out with what Enter sends, and the next one may follow. */
static void on_type(struct tui *t, enum prompt_event event, const char *text)
{
	char line[PROMPT_MAX + 1];
	int n;

	if (event == PROMPT_EOF) {
		type_text(t, "\4", 1);
	} else if (event == PROMPT_ACCEPTED) {
		n = snprintf(line, sizeof(line), "%s\r", text);
		if (type_text(t, line, (size_t)n) == 0)
			do_type(t);
	}
}

/* In the log, where the program's answer will be seen. */
static void do_type(struct tui *t)
{
	if (type_text(t, NULL, 0) < 0)
		return;
	tui_show_panel(t, TUI_PANEL_LOG);
	tui_do_request(t, REQ_LAST);
	prompt_open(&t->prompt, "to the program: ", "", on_type);
	t->prompt.for_program = true;
	snprintf(t->prompt.note, sizeof(t->prompt.note), "C-d end of input, Esc");
}

static void on_leave(struct tui *t, int value)
{
	if (value >= 0)
		ask_host(t, value, 0);
}

/* Nobody's training run should die of a reflex. */
static void ask_leave(struct tui *t)
{
	menu_open(&t->menu, "the program still runs", on_leave);
	if (!t->options.readonly)
		menu_add(&t->menu, 's', TUI_STOP_APP, "s  stop the program, stay here");
	menu_add(&t->menu, 'd', TUI_DETACH, "d  leave, let it run on");
	menu_add(&t->menu, 'c', -1, "c  cancel");
}

void tui_program_ended(struct tui *t)
{
	bool asks = menu_is_open(&t->menu) && t->menu.on_choice == on_leave;
	bool types = prompt_is_open(&t->prompt) && t->prompt.for_program;

	if (asks)
		menu_close(&t->menu);
	if (types)
		t->prompt.label = NULL; /* nobody reads it any more: keys are ours again */
	if (asks || types)
		tui_message(t, "the program has ended");
}

/* Is there something to ask whoever leaves? What runs elsewhere does not notice. */
static bool leaves_something(const struct tui *t)
{
	return is_running(t) && tui_has_program(t);
}

static void do_quit(struct tui *t)
{
	if (leaves_something(t))
		ask_leave(t);
	else
		ask_host(t, TUI_QUIT, 0);
}

static void do_close(struct tui *t)
{
	if (t->overlay)
		t->overlay = NULL;
	else
		do_quit(t);
}

static void do_interrupt(struct tui *t)
{
	uint64_t now_ns = clock_monotonic_ns();
	bool twice = t->interrupt_ns && now_ns - t->interrupt_ns <= TWICE_NS;

	if (!leaves_something(t)) {
		ask_host(t, TUI_QUIT, 0);
		return;
	}
	t->interrupt_ns = now_ns;
	if (twice) {
		t->menu.title = NULL;
		t->interrupt_ns = 0;
		if (!t->options.readonly)
			ask_host(t, TUI_STOP_APP, 0);
		ask_host(t, t->options.readonly ? TUI_DETACH : TUI_QUIT, 0);
		return;
	}
	ask_leave(t);
	tui_message(t, t->options.readonly ? "Ctrl-C again leaves; the program runs on"
					   : "Ctrl-C again stops the program and leaves");
}

static void do_suspend(struct tui *t)
{
	tui_suspend(t);
}

static void do_redraw(struct tui *t)
{
	if (t->screen)
		screen_redraw(t->screen);
}

static void (*const handlers[REQ_N])(struct tui *t) = {
	[REQ_NEXT_PANEL] = do_next_panel,
	[REQ_PREV_PANEL] = do_prev_panel,
	[REQ_PANEL_MENU] = do_panel_menu,
	[REQ_HELP] = do_help,
	[REQ_OPEN] = do_row_menu,
	[REQ_MENU] = do_row_menu,
	[REQ_DETAIL] = do_detail,
	[REQ_EDIT] = action_edit,
	[REQ_COPY_NAME] = action_copy_name,
	[REQ_COPY_ROW] = action_copy_row,
	[REQ_ONLY_THIS] = action_only_this,
	[REQ_WITHOUT_THIS] = action_without_this,
	[REQ_TOGGLE] = do_reveal,
	[REQ_REVEAL] = do_reveal,
	[REQ_BACK] = do_back,
	[REQ_SEARCH] = do_search,
	[REQ_SEARCH_NEXT] = do_search_next,
	[REQ_SEARCH_PREV] = do_search_prev,
	[REQ_FILTER] = do_filter,
	[REQ_INCLUDE] = do_include,
	[REQ_EXCLUDE] = do_exclude,
	[REQ_SORT_MENU] = do_sort_menu,
	[REQ_COLUMNS] = do_columns,
	[REQ_NAMES] = do_names,
	[REQ_HEADER] = do_header,
	[REQ_MOUSE] = do_mouse,
	[REQ_THEME] = do_theme,
	[REQ_PERCENT] = do_percent,
	[REQ_GROUP] = do_group,
	[REQ_CONTEXTS] = do_contexts,
	[REQ_FREEZE] = do_freeze,
	[REQ_PAUSE] = do_pause,
	[REQ_RESET] = do_reset,
	[REQ_UNRESET] = do_unreset,
	[REQ_SAVE] = do_save,
	[REQ_COMPARE] = do_compare,
	[REQ_SAVE_LAYOUT] = do_save_layout,
	[REQ_PRINT] = do_print,
	[REQ_RESYNC] = do_resync,
	[REQ_TYPE] = do_type,
	[REQ_SIGNAL] = do_signal,
	[REQ_INTERRUPT] = do_interrupt,
	[REQ_SUSPEND] = do_suspend,
	[REQ_REDRAW] = do_redraw,
	[REQ_CLOSE] = do_close,
	[REQ_QUIT] = do_quit,
};

_Static_assert(REQ_PANEL_1 + TUI_N_PANELS - 1 < REQ_RIGHT, "a key for each panel");

void tui_do_request(struct tui *t, enum request request)
{
	struct panel *p = tui_panel(t);

	if (request >= REQ_PANEL_1 && request < REQ_PANEL_1 + TUI_N_PANELS) {
		tui_show_panel(t, request - REQ_PANEL_1);
		return;
	}
	if (request != REQ_NEXT_PANEL && request != REQ_PREV_PANEL && request != REQ_PANEL_MENU) {
		panel_refresh(p);
		p->is_touched = p->is_placed = true;
	}
	if (panel_request(p, request))
		return;
	else if (request_refusal(t, request))
		tui_message(t, "%s", request_refusal(t, request));
	else if (handlers[request])
		handlers[request](t);
	else
		tui_message(t, "not in this panel");
}
