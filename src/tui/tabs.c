/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/tabs.h"
#include <string.h>
#include "base/buf.h"
#include "core/session.h"
#include "tui/names.h"
#include "tui/tui_impl.h"

#define CLOSES " (Esc closes)" /* goes whole, or not at all */
#define NARROW 60              /* columns below which words are few */

/* How much of a tab there is room for: "M-2:Ranks", its short title, "M-2", "-2" behind another M-. */
enum tab_size { TAB_TITLE, TAB_SHORT, TAB_KEY, TAB_KEY_END };

struct tab {
	char text[40];
	bool alarm;
};

bool tui_has_panel(const struct tui *t, enum tui_panel panel)
{
	const struct panel_ops *ops = t->panels[panel]->ops;

	if (t->options.source == TUI_OF_DEVICES && !ops->is_of_devices)
		return false;
	return !ops->is_there || ops->is_there(t);
}

/* What is in front has one, also where it has nothing to show. */
static bool has_tab(const struct tui *t, unsigned i)
{
	return tui_has_panel(t, (enum tui_panel)i) || i == (unsigned)t->current;
}

/* One of them is enough. */
static const char *key_of(const struct tui *t, unsigned i, int *ret_n)
{
	const char *key = keymap_words(&t->keys, REQ_PANEL_1 + i);

	*ret_n = (int)strcspn(key, " ");
	return key;
}

/* Has the tab before it the same modifier, as M-2 behind M-1? */
static bool shares_modifier(const struct tui *t, unsigned i)
{
	int n, n_before = 0;
	const char *key = key_of(t, i, &n), *before = "";

	for (unsigned k = i; k-- > 0 && !n_before;)
		if (has_tab(t, k))
			before = key_of(t, k, &n_before);
	return n == 3 && n_before == 3 && key[1] == '-' && !memcmp(key, before, 2);
}

static struct tab make_tab(const struct tui *t, unsigned i, enum tab_size size)
{
	const struct panel_ops *ops = t->panels[i]->ops;
	int n;
	const char *key = key_of(t, i, &n);
	struct tab tab;

	tab.alarm = i == TUI_PANEL_LOSSES && session_loss_total(snapshot_session(t->snap));
	if (size == TAB_KEY_END && shares_modifier(t, i))
		snprintf(tab.text, sizeof(tab.text), "%s%s", key + 1, tab.alarm ? "!" : "");
	else if (size >= TAB_KEY)
		snprintf(tab.text, sizeof(tab.text), "%.*s%s", n, key, tab.alarm ? "!" : "");
	else
		snprintf(tab.text, sizeof(tab.text), "%.*s%s%s%s", n, key, n ? ":" : "",
			 size == TAB_TITLE || !ops->tab ? ops->title : ops->tab,
			 tab.alarm ? "!" : "");
	return tab;
}

/* Columns of the tabs [from, to), with the blank behind each. */
static int tabs_width(const struct tui *t, unsigned from, unsigned to, const uint8_t *sizes)
{
	int width = 0;

	for (unsigned i = from; i < to; i++)
		if (has_tab(t, i))
			width += (int)strlen(make_tab(t, i, sizes[i]).text) + 1;
	return width;
}

static int tab_width(const struct tui *t, unsigned i, enum tab_size size)
{
	return (int)strlen(make_tab(t, i, size).text);
}

/* Is there room for these when any of those that are keys alone comes to the front, with its short
 * title? */
static bool have_room(const struct tui *t, int room, const uint8_t *sizes)
{
	int most = 0;

	for (unsigned i = 0; i < TUI_N_PANELS; i++)
		if (has_tab(t, i) && sizes[i] >= TAB_KEY)
			most = MAX(most, tab_width(t, i, TAB_SHORT) - tab_width(t, i, sizes[i]));
	return tabs_width(t, 0, TUI_N_PANELS, sizes) + most <= room;
}

/* Titles when all of them fit, else short ones, else those of as many from the left as there is room
 * for, and keys, which say a modifier once where even they do not fit. None of this depends on which is in front: the others stay as they are while one goes
 * from panel to panel. */
static void size_tabs(const struct tui *t, int room, uint8_t *sizes)
{
	for (unsigned size = TAB_TITLE; size <= TAB_KEY; size++) {
		memset(sizes, (int)size, TUI_N_PANELS);
		if (tabs_width(t, 0, TUI_N_PANELS, sizes) <= room && size < TAB_KEY)
			return;
	}
	if (!have_room(t, room, sizes)) {
		memset(sizes, TAB_KEY_END, TUI_N_PANELS);
		return;
	}
	for (unsigned i = 0; i < TUI_N_PANELS; i++) {
		sizes[i] = TAB_SHORT;
		if (have_room(t, room, sizes))
			continue;
		sizes[i] = TAB_KEY;
		return;
	}
}

/* The tab in front always has a title: that of its own, else the short one where only that fits. */
static void size_front(const struct tui *t, int room, uint8_t *sizes)
{
	uint8_t *front = &sizes[t->current];

	if (t->overlay || *front < TAB_KEY)
		return;
	*front = TAB_TITLE;
	if (tabs_width(t, 0, TUI_N_PANELS, sizes) <= room)
		return;
	*front = TAB_SHORT;
	if (tabs_width(t, 0, TUI_N_PANELS, sizes) > room)
		*front = TAB_TITLE; /* those at the left go */
}

/* In the form of its unit; a plain number is one of the first column, or nanoseconds. */
static void put_least(struct tui *t, struct buf *out)
{
	const struct amount *at = &t->least.at;
	char text[HUMAN_MAX];

	if (at->unit == AMOUNT_BYTES)
		human_bytes(text, at->value);
	else if (at->unit == AMOUNT_TIME || !t->least.word)
		human_time_ns(text, at->value);
	else
		snprintf(text, sizeof(text), "%g", at->value);
	buf_printf(out, "  from: %s", text);
}

static const char *alone_words(bool is_narrow)
{
	return is_narrow ? "  B alone" : "  B alone, not compared";
}

/* What two profiles are compared by, or that the panel in front has the numbers of one alone, which
 * nobody should take for differences. */
static void put_compared(struct tui *t, bool is_narrow, struct buf *out)
{
	const struct panel *front = tui_panel(t);

	if (front == t->help || front == t->columns || front == t->panels[TUI_PANEL_LOG])
		return; /* these have no numbers */
	if (front == t->detail)
		buf_puts(out, is_narrow ? "  B alone" : "  numbers A and B, rest B alone");
	else if (!panel_is_compared(front) && !front->ops->compares)
		buf_puts(out, alone_words(is_narrow));
	else if (panel_is_compared(front) && t->options.metrics)
		buf_printf(out, "  compared: %.*s", (int)strcspn(t->options.metrics, ","),
			   t->options.metrics);
}

/* How far the filters hold in the panel in front, where that is not all the way. */
static const char *filters_hold(struct tui *t)
{
	const struct panel_ops *front = tui_panel(t)->ops;

	if (front->is_of_run)
		return " (whole run here)";
	if (!front->is_filtered)
		return "";
	if (*t->filter && front->numbers == panel_all)
		return filters_any(&t->filters) ? " (hides rows)" : " (numbers of all)";
	return " (of what is left)";
}

/* The filters, and what they do here. */
static void put_filters(struct tui *t, struct buf *out)
{
	const char *only = t->filters.v[FILTER_INCLUDE].text;
	const char *without = t->filters.v[FILTER_EXCLUDE].text;

	if (*only)
		buf_printf(out, "  only: %s", only);
	if (*without)
		buf_printf(out, "  without: %s", without);
	if (*t->filter)
		buf_printf(out, "  filter: %s", t->filter);
	if (*t->filter || *only || *without)
		buf_puts(out, filters_hold(t));
	else if (t->is_reset && tui_panel(t)->ops->is_of_run)
		buf_puts(out, "  whole run here");
}

/* What the view is set to, where that is not the default. */
static void put_state(struct tui *t, bool is_narrow, struct buf *out)
{
	if (t->options.before)
		put_compared(t, is_narrow, out);
	put_filters(t, out);
	if (t->least.share > 0)
		buf_printf(out, "  from: %g%%", t->least.share * 100);
	else if (t->least.at.value != 0)
		put_least(t, out);
	panel_tree_state(t->panels[TUI_PANEL_TREE], out);
	if (tui_group(t) != GROUP_NONE)
		buf_printf(out, "  group: %s", group_word(tui_group(t)));
	if (tui_contexts(t) != CONTEXTS_ALL)
		buf_printf(out, "  contexts: %s", context_view_word(tui_contexts(t)));
	if (t->names != NAME_SHORT)
		buf_printf(out, "  names: %s", tui_names_word(t->names));
}

/* The overlay and the settings matter more than the titles of other tabs, up to half of the
 * line. What is said of the panel in front has its room whichever that is. */
static int width_behind(const struct tui *t, const struct buf *state, int cols)
{
	int width = (int)state->len;

	if (t->options.before)
		width = MAX(width, (int)strlen(alone_words(cols < NARROW)));
	width = MIN(width, cols / 2);

	if (t->overlay)
		width += (int)strlen(t->overlay->ops->title) + 14;
	return width;
}

static void draw_tab(struct tui *t, struct pen *pen, unsigned i, enum tab_size size)
{
	struct tab tab = make_tab(t, i, size);
	bool now = i == t->current && !t->overlay;
	int x = pen->x;

	pen_put(pen, now ? ROLE_TAB_NOW : tab.alarm ? ROLE_WARNING : ROLE_TAB, tab.text);
	pen_hit(pen, x, HIT_TAB, (int)i);
	pen_put(pen, ROLE_TAB, " ");
}

/* Is something said that nobody should overlook: that numbers are compared, or that not all is shown? */
static bool says_much(const struct tui *t)
{
	return t->options.before || tui_is_filtered(t) || least_any(&t->least);
}

/* Behind the tab in front, what one has to know of the panel goes before keys of others. */
static bool has_room(const struct tui *t, const struct pen *pen, unsigned i, enum tab_size size,
		     int behind)
{
	return i <= t->current || !says_much(t) ||
	       pen_left(pen) - (int)strlen(make_tab(t, i, size).text) - 1 >= behind;
}

/* "-2", which means nothing as the first one. */
static bool is_half(const struct tui *t, unsigned i, const uint8_t *sizes)
{
	return i > 0 && sizes[i] == TAB_KEY_END && shares_modifier(t, i);
}

void tabs_draw(struct tui *t, const struct canvas *canvas, int y)
{
	struct pen pen = pen_at(canvas, y, 0, canvas->cols);
	uint8_t sizes[TUI_N_PANELS];
	unsigned first = 0;
	struct buf state;
	int behind, room, beside;

	buf_init(&state, 4096);
	put_state(t, canvas->cols < NARROW, &state);
	behind = width_behind(t, &state, canvas->cols);
	/* The blank behind the last tab needs no room at the end of the line. */
	room = canvas->cols - behind + (behind == 0);
	size_tabs(t, room, sizes);
	size_front(t, room, sizes);
	/* Where not even keys fit, those at the left go until the one in front is there, and whether it is
	 * compared or filtered. */
	beside = says_much(t) && state.len ? behind : 0;
	while (first < t->current &&
	       (is_half(t, first, sizes) || tabs_width(t, first, t->current + 1, sizes) >
						    canvas->cols + (beside == 0) - beside))
		first++;
	for (unsigned i = first; i < TUI_N_PANELS && has_room(t, &pen, i, sizes[i], behind); i++)
		if (has_tab(t, i))
			draw_tab(t, &pen, i, sizes[i]);
	if (t->overlay) {
		int x = pen.x;

		pen_put(&pen, ROLE_TAB_NOW, t->overlay->ops->title);
		if (pen_left(&pen) >= (int)strlen(CLOSES))
			pen_put(&pen, ROLE_TAB_NOW, CLOSES);
		pen_hit(&pen, x, HIT_REQUEST, REQ_BACK);
	}
	pen_put(&pen, ROLE_TAB, buf_str(&state));
	pen_fill(&pen, ROLE_TAB);
	buf_done(&state);
}
