/* SPDX-License-Identifier: MIT */
/* What can be done with the row under the cursor: the menu of requests, and those requests about
 * one row that are the same in every panel. */
#include "config.h" // IWYU pragma: keep
#include "tui/actions.h"
#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/shown.h"
#include "core/session.h"
#include "tui/clipboard.h"
#include "tui/editor.h"
#include "tui/names.h"
#include "tui/panel_warps.h"
#include "tui/picture.h"
#include "tui/screen.h"
#include "tui/tui_impl.h"

/* ---- what the row is ---- */

struct row {
	struct panel *panel;
	const char *name; /* "" = none */
	uint32_t node;    /* or SNAP_NONE */
};

static struct row row_here(struct tui *t)
{
	struct row row = {.panel = tui_panel(t), .name = "", .node = SNAP_NONE};

	panel_refresh(row.panel);
	if (row.panel->no_cursor || row.panel->cursor >= row.panel->n_rows)
		return row;
	row.name = row.panel->ops->row_name(row.panel, row.panel->cursor);
	row.node = panel_node(row.panel);
	if (row.node != SNAP_NONE && row.node >= snapshot_n(t->snap))
		row.node = SNAP_NONE;
	return row;
}

static bool has_node(struct tui *t, const struct row *row)
{
	return row->node != SNAP_NONE;
}

static bool has_name(struct tui *t, const struct row *row)
{
	return *row->name;
}

static bool is_in(const struct tui *t, const struct row *row, enum tui_panel panel)
{
	return row->panel == t->panels[panel];
}

static bool can_zoom(struct tui *t, const struct row *row)
{
	return is_in(t, row, TUI_PANEL_TREE) || is_in(t, row, TUI_PANEL_FLAME);
}

static bool can_fold(struct tui *t, const struct row *row)
{
	if (is_in(t, row, TUI_PANEL_TREE))
		return has_node(t, row) && snapshot_node(t->snap, row->node)->n_children > 0;
	return is_in(t, row, TUI_PANEL_BOTTOM_UP);
}

static bool is_elsewhere(struct tui *t, const struct row *row)
{
	return has_node(t, row) && !is_in(t, row, TUI_PANEL_TREE);
}

static bool has_durations(struct tui *t, const struct row *row)
{
	return has_node(t, row) && !is_in(t, row, TUI_PANEL_DURATIONS);
}

static bool has_warps(struct tui *t, const struct row *row)
{
	return has_node(t, row) && !is_in(t, row, TUI_PANEL_WARPS) &&
	       warps_are_of(t->panels[TUI_PANEL_WARPS], row->node);
}

static bool has_callers(struct tui *t, const struct row *row)
{
	return has_node(t, row) && !is_in(t, row, TUI_PANEL_CALLERS);
}

static void put_file(struct tui *t, uint32_t file, uint32_t line, struct source_place *ret)
{
	const struct session *s = snapshot_session(t->snap);

	snprintf(ret->file, sizeof(ret->file), "%s", strtab_str(s->strings, file));
	ret->line = line;
}

/* The source line of a calling context: its frame's if that is known, else the one in its name. */
static bool place_of(struct tui *t, const struct row *row, struct source_place *ret)
{
	const struct session *s = snapshot_session(t->snap);
	uint32_t node =
		has_node(t, row) ? snapshot_node(t->snap, row->node)->session_node : SESSION_NONE;
	const struct session_frame *frame;

	if (node == SESSION_NONE)
		return place_of_name(row->name, ret);
	frame = &s->frames[s->nodes[node].frame];
	if (frame->file && frame->line) {
		put_file(t, frame->file, frame->line, ret);
		return true;
	}
	return place_of_name(session_node_name(s, node), ret);
}

static bool has_place(struct tui *t, const struct row *row)
{
	struct source_place place;

	return place_of(t, row, &place);
}

/* ---- the menu ---- */

static const struct {
	enum request request;
	const char *text;
	bool (*fits)(struct tui *t, const struct row *row);
} actions[] = {
	{REQ_DETAIL, "everything known about it", has_node},
	{REQ_ZOOM, "make it the root", can_zoom},
	{REQ_TOGGLE, "fold or unfold", can_fold},
	{REQ_UNFOLD_BELOW, "unfold everything below", can_fold},
	{REQ_FOLD_BELOW, "fold everything below", can_fold},
	{REQ_REVEAL, "show it in the tree", is_elsewhere},
	{REQ_PANEL_8, "its callers and callees", has_callers},
	{REQ_PANEL_11, "how long its executions took", has_durations},
	{REQ_PANEL_19, "what its warps did when", has_warps},
	{REQ_ONLY_THIS, "only paths through its name", has_node},
	{REQ_WITHOUT_THIS, "without its name", has_node},
	{REQ_EDIT, "open its file in the editor", has_place},
	{REQ_COPY_NAME, "copy its name", has_name},
	{REQ_COPY_ROW, "copy the row", has_name},
};

void action_list(struct tui *t)
{
	struct row row = row_here(t);

	for (size_t i = 0; i < ARRAY_SIZE(actions); i++) {
		enum request request = actions[i].request;
		const char *keys = keymap_words(&t->keys, request);

		if (actions[i].fits(t, &row))
			menu_add(&t->menu, keymap_letter(&t->keys, request), (int)request,
				 "%-4.*s  %s", (int)strcspn(keys, " "), keys, actions[i].text);
	}
}

/* ---- filters by the row's name ---- */

static void filter_this(struct tui *t, enum filter_kind kind)
{
	struct row row = row_here(t);
	struct selector_error error = {.why = "out of memory"};
	struct buf text;

	if (row.node == SNAP_NONE || row.node == 0) {
		tui_message(t, "this row is no calling context to filter by");
		return;
	}
	buf_init(&text, FILTER_TEXT);
	selector_put_name(tui_node_name(t, row.node), &text);
	if (text.error || text.len >= FILTER_TEXT)
		tui_message(t, "this name is too long to filter by");
	else if (filters_set(&t->filters, kind, buf_str(&text), NULL, &error) < 0)
		tui_message(t, "cannot filter by this name: %s", error.why);
	else
		tui_refilter(t);
	buf_done(&text);
}

void action_only_this(struct tui *t)
{
	filter_this(t, FILTER_INCLUDE);
}

void action_without_this(struct tui *t)
{
	filter_this(t, FILTER_EXCLUDE);
}

/* ---- copying ---- */

/* As it is shown, with line ends escaped: pasted into a shell, one would run the text. */
static void copy(struct tui *t, const char *what, const char *text)
{
	struct buf sequence, shown;
	int r;

	if (!t->screen) {
		tui_message(t, "there is no terminal to copy to");
		return;
	}
	buf_init(&sequence, 0);
	buf_init(&shown, 0);
	shown_put(&shown, text, strlen(text));
	r = shown.error;
	if (r == 0)
		r = clipboard_sequence(shown.data, shown.len, clipboard_way(), &sequence);
	if (r == 0)
		r = screen_send(t->screen, sequence.data, sequence.len);
	if (r < 0)
		tui_message(t, "cannot copy: %s", strerror(-r));
	else
		tui_message(t, "sent %s to the terminal's clipboard", what);
	buf_done(&shown);
	buf_done(&sequence);
}

void action_copy_name(struct tui *t)
{
	struct row row = row_here(t);

	if (*row.name)
		copy(t, "the name", row.name);
	else
		tui_message(t, "this row has no name to copy");
}

/* The line of the cursor as it is drawn, without the blanks around it. */
static int line_here(struct tui *t, const struct panel *p, struct buf *out)
{
	struct canvas canvas = screen_canvas(t->screen);
	size_t line = (size_t)p->y + p->cursor - p->top;
	struct buf screen;
	const char *at;
	int r;

	buf_init(&screen, 0);
	r = tui_dump(t, canvas.rows, canvas.cols, false, &screen);
	at = buf_str(&screen);
	for (; line > 0 && *at; line--)
		at += strcspn(at, "\n") + 1;
	at += strspn(at, " ");
	buf_put(out, at, strcspn(at, "\n"));
	buf_done(&screen);
	return r < 0 ? r : out->error;
}

void action_copy_row(struct tui *t)
{
	struct row row = row_here(t);
	struct buf text;

	if (!*row.name) {
		tui_message(t, "there is no row to copy");
		return;
	}
	buf_init(&text, 0);
	if (t->screen && line_here(t, row.panel, &text) < 0)
		tui_message(t, "out of memory");
	else
		copy(t, "the row", buf_str(&text));
	buf_done(&text);
}

/* ---- the editor ---- */

static void edit(struct tui *t, const struct source_place *place)
{
	int r;

	screen_leave(t->screen);
	r = editor_run(t->options.tty ? t->options.tty : "/dev/tty", place);
	screen_enter(t->screen);
	tui_resize(t); /* the terminal may be of another size by now */
	if (r < 0)
		tui_message(t, "cannot run the editor: %s", strerror(-r));
	else if (WIFEXITED(r) && WEXITSTATUS(r) >= 126)
		tui_message(t, "the editor (VISUAL, EDITOR or vi) cannot be run");
	else if (WIFSIGNALED(r))
		tui_message(t, "the editor was ended by signal %d", WTERMSIG(r));
}

void action_edit(struct tui *t)
{
	struct row row = row_here(t);
	struct source_place place;
	int r;

	if (!place_of(t, &row, &place))
		tui_message(t, "this row names no file and line");
	else if ((r = place_resolve(&place)) < 0)
		tui_message(t, "cannot open '%s': %s", place.file,
			    r == -EINVAL ? "it is no regular file" : strerror(-r));
	else if (!t->screen)
		tui_message(t, "there is no terminal to edit on");
	else
		edit(t, &place);
}
