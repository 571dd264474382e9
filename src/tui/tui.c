/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/tui.h"
#include <errno.h>
#include <langinfo.h>
#include <math.h>
#include <string.h>
#include "tui/compose.h"
#include "tui/picture.h"
#include "tui/requests.h"
#include "tui/row_columns.h"
#include "tui/screen.h"
#include "tui/settings.h"
#include "tui/tui_impl.h"

static void ask_status(struct tui *t)
{
	t->status = (struct tui_status){.own_cpu = NAN};
	if (t->host.status)
		t->host.status(t->host.data, &t->status);
}

/* ---- life ---- */

static int make_panels(struct tui *t)
{
	static const struct panel_ops *const ops[TUI_N_PANELS] = {
#define _(view, ops) [TUI_PANEL_##view] = &panel_##ops##_ops,
		TUI_PANELS(_)
#undef _
	};

	for (unsigned i = 0; i < TUI_N_PANELS; i++)
		if (!(t->panels[i] = panel_new(ops[i], t)))
			return -ENOMEM;
	t->help = panel_new(&panel_help_ops, t);
	t->detail = panel_new(&panel_detail_ops, t);
	t->columns = panel_new(&panel_columns_ops, t);
	return t->help && t->detail && t->columns ? 0 : -ENOMEM;
}

/* A running program may get a metric later; a file does not. */
static void check_column(struct tui *t, struct panel *p, const char *title)
{
	if (*title && !t->options.live && panel_column(p, title) < 0)
		tui_message(t, "configuration: there is no column '%s' to choose for %s", title,
			    p->ops->title);
}

static void apply_settings(struct tui *t, const struct settings *c)
{
	for (unsigned i = 0; i < TUI_N_PANELS; i++) {
		struct panel *p = t->panels[i];

		/* Columns that the command line names are not chosen a second time. */
		if (!p->rows || !p->rows->is_chosen)
			p->choice = c->columns[i];
		if (panel_is_compared(p)) /* a comparison is sorted by the change */
			continue;
		for (unsigned k = 0; k < p->choice.n; k++)
			check_column(t, p, p->choice.titles[k]);
		check_column(t, p, c->sort[i].title);
		if (*c->sort[i].title && panel_sort_title(p, c->sort[i].title))
			p->ascending = c->sort[i].ascending;
	}
}

/* From the command line, which has checked it. */
static void set_filter(struct tui *t, enum filter_kind kind, const char *text)
{
	struct selector_error error = {.why = "out of memory"};

	if (text && filters_set(&t->filters, kind, text, NULL, &error) < 0)
		tui_message(t, "'%s': %s", text, error.why);
}

static void apply_options(struct tui *t)
{
	if (t->options.sort)
		panel_sort_title(t->panels[TUI_PANEL_TREE], t->options.sort);
	if (t->options.filter)
		snprintf(t->filter, sizeof(t->filter), "%s", t->options.filter);
	t->has_mouse = !t->options.no_mouse;
	if (t->options.panel < TUI_N_PANELS)
		t->current = t->options.panel;
	if (t->options.names < NAME_N)
		t->names = t->options.names;
	set_filter(t, FILTER_INCLUDE, t->options.include);
	set_filter(t, FILTER_EXCLUDE, t->options.exclude);
	t->least = t->options.least;
	t->look = (struct look_options){t->options.theme, t->options.ascii, t->options.no_color};
}

struct tui *tui_new(const struct tui_options *options, struct snapshot *snap,
		    const struct tui_host *host)
{
	struct tui *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->options = *options;
	t->header_lines = options->header;
	if (strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
		t->options.ascii = true;
	t->snap = snap;
	t->carried = t->here = SNAP_NONE;
	work_init(t);
	if (host)
		t->host = *host;
	t->why = "";
	if (options->settings)
		t->keys = options->settings->keys;
	else
		keymap_init(&t->keys);
	if (kept_init(t) < 0 || make_panels(t) < 0)
		return tui_free(t);
	if (options->settings)
		apply_settings(t, options->settings);
	apply_options(t);
	t->options.settings = NULL; /* it need not live longer */
	ask_status(t);
	tui_picture(t);
	if (!t->options.live && !*t->message) /* nothing has come yet of what runs */
		tui_say_left(t);
	return t;
}

struct tui *tui_free(struct tui *t)
{
	if (!t)
		return NULL;
	tui_close(t);
	snapshot_set_tick(t->snap, NULL);
	for (unsigned i = 0; i < TUI_N_PANELS; i++)
		panel_free(t->panels[i]);
	panel_free(t->help);
	panel_free(t->detail);
	panel_free(t->columns);
	usage_done(&t->usage);
	advice_done(&t->advice);
	filters_done(&t->filters);
	prompt_done(&t->prompt);
	kept_done(&t->kept);
	matches_done(&t->matches);
	alphabet_done(&t->alphabet);
	free(t);
	return NULL;
}

int tui_columns_error(const struct tui *t)
{
	return t->panels[TUI_PANEL_TREE]->rows->error;
}

const char *tui_missing_column(const struct tui *t)
{
	return row_columns_missing(t->panels[TUI_PANEL_TREE]->rows);
}

const char *tui_missing_sort(const struct tui *t)
{
	const struct panel *p = t->panels[TUI_PANEL_TREE];
	const struct row_column *c = p->columns.v[p->rows->wish].of;

	return c && c->is_missing ? c->title : NULL;
}

bool tui_has_column(struct tui *t, const char *title)
{
	return panel_column(t->panels[TUI_PANEL_TREE], title) >= 0;
}

/* ---- input ---- */

/* Pasted text goes into a line of input, and is never a command. */
static void take_pasted(struct tui *t, int c)
{
	if (prompt_is_open(&t->prompt))
		prompt_key(&t->prompt, t, c < ' ' ? ' ' : c);
	else
		tui_message(t, "pasted text is no command; / asks for a text to find");
}

void tui_key(struct tui *t, int key)
{
	struct panel *panel = tui_panel(t);
	enum request request;

	t->message[0] = '\0';
	if (key & KEY_PASTED) {
		take_pasted(t, key & ~KEY_PASTED);
		return;
	}
	if (key == KEY_CTRL('l')) { /* in a prompt or menu too */
		tui_do_request(t, REQ_REDRAW);
	} else if (menu_is_open(&t->menu)) {
		if (key == KEY_CTRL('c') && t->interrupt_ns)
			tui_do_request(t, REQ_INTERRUPT); /* the second one */
		else
			menu_key(&t->menu, t, key);
	} else if (prompt_is_open(&t->prompt)) {
		prompt_key(&t->prompt, t, key);
	} else if (!panel->ops->key || !panel->ops->key(panel, key_canonical(key))) {
		request = keymap_find(&t->keys, key);
		if (request != REQ_NONE)
			tui_do_request(t, request);
		else
			tui_message(t, "this key does nothing; ? shows the keys");
	}
}

static void press(struct tui *t)
{
	struct mouse_event event;

	if (!t->has_mouse || !screen_read_mouse(t->screen, &event))
		return;
	tui_redraw(t); /* keys that came with it may have changed what lies where */
	mouse_press(t, &event);
}

int tui_handle_input(struct tui *t)
{
	int key;

	if (!t->screen)
		return -ENXIO;
	for (;;) {
		key = screen_read_key(t->screen);
		if (key <= 0)
			break;
		work_serve(t, true);
		if (key == (KEY_FUNCTION | KEY_MOUSE))
			press(t);
		else
			tui_key(t, key);
		if (!t->screen) /* the host closed it */
			return 0;
	}
	tui_redraw(t);
	work_serve(t, false);
	return key < 0 ? key : 0;
}

/* The key of one word of a script. */
static int script_word(struct tui *t, const char *word, size_t len)
{
	int key = key_parse(word, len);

	if (key < 0)
		return -EINVAL;
	tui_key(t, key);
	return 0;
}

/* Type what stands between quotes; the place behind the closing one, or NULL. */
static const char *script_text(struct tui *t, const char *p)
{
	const char *end = strchr(++p, '\'');
	struct text_glyph g;

	while (end && p < end) {
		p = text_next(p, end, false, &g);
		tui_key(t, (int)g.wc[0]);
	}
	return end ? end + 1 : NULL;
}

int tui_key_script(struct tui *t, const char *script)
{
	while (*(script += strspn(script, " \n"))) {
		size_t len = strcspn(script, " \n");

		if (*script == '\'' && len > 1) {
			script = script_text(t, script);
			if (!script)
				return -EINVAL;
			continue;
		}
		if (script_word(t, script, len) < 0)
			return -EINVAL;
		script += len;
	}
	return 0;
}

/* ---- time ---- */

int tui_refresh(struct tui *t)
{
	ask_status(t);
	if (t->status.run == TUI_RUN_ENDED)
		tui_program_ended(t);
	if (!t->frozen)
		tui_picture(t);
	else
		panel_spoil(t->panels[TUI_PANEL_LOG]);
	tui_redraw(t);
	return 0;
}

void tui_log_grew(struct tui *t)
{
	struct panel *log = t->panels[TUI_PANEL_LOG];

	panel_spoil(log);
	if (tui_panel(t) == log)
		tui_redraw(t);
}
