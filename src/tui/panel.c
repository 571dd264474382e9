/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/panel.h"
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/util.h"
#include "core/frame.h"
#include "core/session.h"
#include "naming/table.h"
#include "tui/names.h"
#include "tui/row_columns.h"
#include "tui/tui_impl.h"

#define FOOT_MIN_ROWS 12 /* fewer, and each row is worth more than a path */

/* ---- columns ---- */

struct numbers *panel_numbers(struct panel *p)
{
	return tui_numbers(p->tui);
}

struct numbers *panel_all(struct panel *p)
{
	return tui_all(p->tui);
}

bool panel_is_compared(const struct panel *p)
{
	return columns_find(&p->columns, "STATUS") >= 0;
}

/* The columns that the user has chosen, as far as there is room beside a short name. */
static void fit_choice(struct panel *p)
{
	int left = p->width - 2 - MIN(18, p->width - 10);

	p->shown.name_width = p->width - 2;
	for (unsigned k = 0; k < p->choice.n; k++) {
		int i = columns_find(&p->columns, p->choice.titles[k]);
		const struct column *c = i < 0 ? NULL : &p->columns.v[i];

		if (!c || c->is_name || column_is_absent(p, c) || c->width + 1 > left)
			continue;
		left -= c->width + 1;
		p->shown.v[p->shown.n++] = (uint16_t)i;
		p->shown.name_width -= c->width + 1;
	}
}

void panel_fit(struct panel *p, int sorted)
{
	p->shown.n = 0;
	if (p->choice.n)
		fit_choice(p);
	if (!p->shown.n) /* nothing was chosen, or none of it is there */
		fit_make(&p->shown, p, &p->columns, p->width, sorted);
}

void panel_draw_head(struct panel *p, struct pen *pen)
{
	fit_head(&p->shown, pen, &p->columns, p->ops->name, (int)p->sort, p->ascending);
}

enum role kind_role(unsigned kind)
{
	static const unsigned char roles[FRAME_N_KINDS] = {
		[FRAME_ROOT] = ROLE_GROUP,    [FRAME_FUNCTION] = ROLE_CODE,
		[FRAME_SCOPE] = ROLE_SCOPE,   [FRAME_STATE] = ROLE_SCOPE,
		[FRAME_NVTX] = ROLE_SCOPE,    [FRAME_PYTHON] = ROLE_CODE,
		[FRAME_MODULE] = ROLE_SCOPE,  [FRAME_OPERATOR] = ROLE_CODE,
		[FRAME_NATIVE] = ROLE_CODE,   [FRAME_KERNEL] = ROLE_KERNEL,
		[FRAME_COPY] = ROLE_COPY,     [FRAME_SET] = ROLE_COPY,
		[FRAME_ALLOC] = ROLE_COPY,    [FRAME_SYNC] = ROLE_COPY,
		[FRAME_GRAPH] = ROLE_GROUP,   [FRAME_GRAPH_RUN] = ROLE_KERNEL,
		[FRAME_LINE] = ROLE_CODE,     [FRAME_INSTRUMENT] = ROLE_SCOPE,
		[FRAME_PROCESS] = ROLE_GROUP, [FRAME_RANGE] = ROLE_SCOPE,
		[FRAME_MARK] = ROLE_SCOPE,    [FRAME_OTHER] = ROLE_WARNING,
		[FRAME_DEVICE] = ROLE_GROUP,  [FRAME_STREAM] = ROLE_GROUP,
		[FRAME_THREAD] = ROLE_GROUP,  [FRAME_CALL] = ROLE_CODE,
		[FRAME_PAGES] = ROLE_COPY,
	};

	return kind < FRAME_N_KINDS ? roles[kind] : ROLE_NORMAL;
}

/* ---- life ---- */

const char *tui_panel_word(unsigned i)
{
	static const enum view views[TUI_N_PANELS] = {
#define _(view, ops) [TUI_PANEL_##view] = VIEW_##view,
		TUI_PANELS(_)
#undef _
	};

	return i < TUI_N_PANELS ? view_word(views[i]) : NULL;
}

struct panel *panel_new(const struct panel_ops *ops, struct tui *t)
{
	struct panel *p = calloc(1, ops->size);

	if (!p)
		return NULL;
	p->ops = ops;
	p->tui = t;
	p->columns = ops->columns;
	p->height = 20;
	p->width = 80;
	p->stale = true;
	if (ops->init && ops->init(p) < 0)
		return panel_free(p);
	return p;
}

struct panel *panel_free(struct panel *p)
{
	if (!p)
		return NULL;
	if (p->ops->done)
		p->ops->done(p);
	free(p);
	return NULL;
}

void panel_forget(struct panel *p)
{
	if (p->ops->forget)
		p->ops->forget(p);
	p->cursor_key = 0;
	p->cursor = p->top = 0;
	p->is_placed = p->has_carried = false;
	if (p->rows)
		past_done(&p->rows->past);
	panel_spoil(p);
}

void panel_spoil(struct panel *p)
{
	p->stale = true;
}

/* ---- cursor ---- */

static bool is_heading(struct panel *p, size_t row)
{
	return p->ops->is_heading && p->ops->is_heading(p, row);
}

/* The heading that stands in the window's first line in place of the row that is there; SIZE_MAX: none. */
static size_t covering(struct panel *p)
{
	if (!p->ops->head_of || p->height < 3 || p->top >= p->n_rows)
		return SIZE_MAX;
	return p->ops->head_of(p, p->top);
}

/* Keep the cursor inside the window, and the window inside the rows. */
static void clamp_view(struct panel *p)
{
	size_t height = (size_t)MAX(p->height, 1);
	size_t last_top = p->n_rows > height ? p->n_rows - height : 0;

	if (p->no_cursor) {
		p->top = MIN(p->top, last_top);
		p->cursor = p->top;
		return;
	}
	if (p->cursor < p->top)
		p->top = p->cursor;
	if (p->cursor >= p->top + height)
		p->top = p->cursor - height + 1;
	p->top = MIN(p->top, last_top);
	if (p->cursor == p->top && p->top > 0 && covering(p) != SIZE_MAX)
		p->top--;
}

/* The nearest row that is not a heading, first in the direction of the move. */
static size_t skip_headings(struct panel *p, size_t row, bool down)
{
	for (int turn = 0; turn < 2; turn++, down = !down) {
		size_t i = row;

		while (i < p->n_rows && is_heading(p, i))
			i = down ? i + 1 : i - 1; /* 0 - 1 ends the loop */
		if (i < p->n_rows)
			return i;
	}
	return row;
}

void panel_goto(struct panel *p, size_t row)
{
	bool down = row >= p->cursor;

	if (p->n_rows == 0)
		return;
	row = MIN(row, p->n_rows - 1);
	if (p->no_cursor) {
		p->top = row;
	} else {
		p->is_placed = true;
		p->cursor = skip_headings(p, row, down);
		p->cursor_key = p->ops->row_key(p, p->cursor);
		if (p->cursor > 0 && p->cursor <= p->top) /* show the headings above, if any */
			while (p->top > 0 && is_heading(p, p->top - 1))
				p->top--;
	}
	clamp_view(p);
}

bool panel_request_zoomed(struct panel *p, enum request request,
			  void (*const handlers[REQ_N])(struct panel *p), size_t n_zoom)
{
	if (p->n_rows == 0)
		return false;
	if (request == REQ_BACK) {
		if (!n_zoom)
			return false;
		request = REQ_ZOOM_OUT;
	}
	if (handlers[request])
		handlers[request](p);
	return handlers[request] != NULL;
}

/* n_rows and more: it is gone. */
static size_t find_row(struct panel *p, uint64_t key)
{
	size_t row = 0;

	if (p->ops->find_row)
		return p->ops->find_row(p, key);
	while (row < p->n_rows && p->ops->row_key(p, row) != key)
		row++;
	return row;
}

/* Find the cursor's row again; it keeps its place on the screen. */
static void restore_cursor(struct panel *p)
{
	size_t offset = p->cursor - p->top, row, found;

	if (p->n_rows == 0 || p->no_cursor) {
		if (p->n_rows == 0)
			p->cursor = p->top = 0;
		clamp_view(p);
		return;
	}
	if (!p->is_placed)
		offset = p->cursor = 0;
	row = found = p->is_placed ? find_row(p, p->cursor_key) : SIZE_MAX;
	if (row >= p->n_rows)
		row = skip_headings(p, MIN(p->cursor, p->n_rows - 1), true);
	p->cursor = row;
	p->cursor_key = p->ops->row_key(p, row);
	if (found < p->n_rows)
		p->top = row > offset ? row - offset : 0;
	clamp_view(p);
}

void panel_refresh(struct panel *p)
{
	if (!p->stale)
		return;
	p->stale = false;
	p->ops->update(p);
	restore_cursor(p);
}

static void move_by(struct panel *p, long n)
{
	size_t from = p->no_cursor ? p->top : p->cursor;

	if (n < 0)
		panel_goto(p, from > (size_t)-n ? from - (size_t)-n : 0);
	else
		panel_goto(p, from + (size_t)n);
}

void panel_moved(struct panel *p)
{
	if (p->ops->moved && !p->stale && p->n_rows > 0)
		p->ops->moved(p);
}

void panel_scroll(struct panel *p, int n)
{
	size_t height = (size_t)MAX(p->height, 1), last_top, cursor;

	panel_refresh(p);
	last_top = p->n_rows > height ? p->n_rows - height : 0;
	p->top = n < 0 ? p->top - MIN(p->top, (size_t)-n) : MIN(p->top + (size_t)n, last_top);
	cursor = CLAMP(p->cursor, p->top, p->top + height - 1);
	if (!p->no_cursor && cursor != p->cursor)
		panel_goto(p, cursor);
	panel_moved(p);
}

uint32_t panel_node(struct panel *p)
{
	panel_refresh(p);
	if (!p->ops->row_node || p->cursor >= p->n_rows)
		return SNAP_NONE;
	return p->ops->row_node(p, p->cursor);
}

/* ---- function keys ---- */

static const char *usual_label(struct panel *p, enum request request)
{
	const char *label = request_info(request)->label;

	switch (request) {
	case REQ_SORT_MENU:
	case REQ_COLUMNS:
		return p->columns.n ? label : "";
	case REQ_FILTER:
		return p->ops->is_filtered ? label : "";
	case REQ_GROUP:
		return p->ops->is_grouped ? label : "";
	case REQ_TOGGLE: /* it leaves for the tree, where there is something to be shown */
		return panel_node(p) != SNAP_NONE ? "Tree" : "";
	default:
		return label;
	}
}

const char *panel_label(struct panel *p, enum request request)
{
	for (const struct panel_key *k = p->ops->keys; k && k->request; k++)
		if (k->request == request && k->label)
			return k->label;
	return usual_label(p, request);
}

/* ---- requests ---- */

static void scroll_by(struct panel *p, int n)
{
	p->scroll = CLAMP(p->scroll + n, 0, 1 << 20);
}

void panel_sort(struct panel *p, unsigned column)
{
	if (column >= p->columns.n)
		return;
	p->sort = column;
	p->ascending = false;
	if (p->rows)
		p->rows->wish = column;
	panel_spoil(p);
}

unsigned panel_wished_sort(const struct panel *p, bool *ret_ascending)
{
	bool waits = p->rows && p->rows->wish != p->sort;

	*ret_ascending = waits ? p->rows->wish_ascending : p->ascending;
	return waits ? p->rows->wish : p->sort;
}

/* The next column that has values, in either direction. */
static void sort_step(struct panel *p, int step)
{
	const struct columns *c = &p->columns;
	unsigned i = p->sort;

	if (c->n == 0)
		return;
	do
		i = (i + c->n + (unsigned)step) % c->n;
	while (i != p->sort && !column_may_sort(p, &c->v[i]));
	panel_sort(p, i);
}

int panel_column(struct panel *p, const char *word)
{
	return p->rows ? row_columns_find(p->rows, p, word) : columns_find(&p->columns, word);
}

bool panel_sort_title(struct panel *p, const char *title)
{
	int i = p->rows ? row_columns_await(p->rows, p, title) : panel_column(p, title);

	if (i >= 0)
		panel_sort(p, (unsigned)i);
	return i >= 0;
}

/* Requests that sort, by the column's title. */
static const char *const sort_titles[REQ_N] = {
	[REQ_SORT_TOTAL] = "TOTAL", [REQ_SORT_SELF] = "SELF",   [REQ_SORT_AVERAGE] = "AVG",
	[REQ_SORT_BYTES] = "BYTES", [REQ_SORT_FLOPS] = "FLOPS",
};

static bool sort_request(struct panel *p, enum request request)
{
	int column;

	if (p->columns.n == 0)
		return false;
	switch (request) {
	case REQ_SORT_NEXT:
		sort_step(p, 1);
		return true;
	case REQ_SORT_PREV:
		sort_step(p, -1);
		return true;
	case REQ_SORT_REVERSE:
		p->ascending = !p->ascending;
		panel_spoil(p);
		return true;
	default:
		column =
			sort_titles[request] ? columns_find(&p->columns, sort_titles[request]) : -1;
		if (column >= 0)
			panel_sort(p, (unsigned)column);
		return column >= 0;
	}
}

/* Moves of the cursor, in rows: a number, or a share of the height. */
static const struct {
	signed char rows, halves;
} moves[REQ_N] = {
	[REQ_DOWN] = {1, 0},     [REQ_UP] = {-1, 0},       [REQ_PAGE_DOWN] = {0, 2},
	[REQ_PAGE_UP] = {0, -2}, [REQ_HALF_DOWN] = {0, 1}, [REQ_HALF_UP] = {0, -1},
};

static bool move_request(struct panel *p, enum request request)
{
	long half = MAX(p->height / 2, 1);

	if (!moves[request].rows && !moves[request].halves)
		return false;
	move_by(p, moves[request].rows + half * moves[request].halves);
	return true;
}

static bool list_request(struct panel *p, enum request request)
{
	if (move_request(p, request) || sort_request(p, request))
		return true;
	switch (request) {
	case REQ_FIRST:
		p->top = 0; /* with the headings above the first row */
		panel_goto(p, 0);
		return true;
	case REQ_LAST:
		panel_goto(p, p->n_rows ? p->n_rows - 1 : 0);
		return true;
	case REQ_SCROLL_LEFT:
		scroll_by(p, -8);
		return true;
	case REQ_SCROLL_RIGHT:
		scroll_by(p, 8);
		return true;
	default:
		return false;
	}
}

bool panel_request(struct panel *p, enum request request)
{
	bool handled;

	panel_refresh(p);
	if (p->ops->request && p->ops->request(p, request))
		return true;
	handled = list_request(p, request);
	if (handled)
		panel_moved(p);
	return handled;
}

/* ---- search ---- */

size_t panel_step(size_t at, size_t n, bool forward, bool *wrapped)
{
	*wrapped |= at == (forward ? n - 1 : 0);
	return (at + (forward ? 1 : n - 1)) % n;
}

/* Names match however they are shown. */
static bool row_matches(struct panel *p, size_t row, const char *needle, bool match_case)
{
	const char *name = is_heading(p, row) ? "" : p->ops->row_name(p, row);
	uint32_t node = *name && p->ops->row_node ? p->ops->row_node(p, row) : SNAP_NONE;

	return *name && (text_find(name, needle, match_case) ||
			 (node != SNAP_NONE && tui_node_has(p->tui, node, needle, match_case)));
}

bool panel_find(struct panel *p, bool forward, bool *ret_wrapped)
{
	panel_refresh(p);
	*ret_wrapped = false;
	if (p->n_rows == 0)
		return false;
	return p->ops->find ? p->ops->find(p, forward, ret_wrapped)
			    : panel_find_row(p, forward, ret_wrapped);
}

bool panel_find_row(struct panel *p, bool forward, bool *ret_wrapped)
{
	const char *needle = p->tui->search;
	bool match_case = text_is_smart_case(needle);
	size_t row = p->cursor;

	for (size_t i = 0; i < p->n_rows; i++) {
		row = panel_step(row, p->n_rows, forward, ret_wrapped);
		if (row_matches(p, row, needle, match_case)) {
			panel_goto(p, row);
			return true;
		}
	}
	return false;
}

/* ---- why there are no rows ---- */

/* Of what is counted from then on. */
static void explain_reset(struct tui *t, struct buf *out)
{
	char text[HUMAN_MAX];

	human_clock(text, t->reset_up_ns);
	buf_printf(out, "nothing %s since %s\nR counts the whole run again",
		   t->status.run == TUI_RUN_ENDED ? "was counted" : "has been counted", text);
}

/* Nothing is known of a run before its stream has come. */
static void explain_stream(struct tui *t, struct buf *out)
{
	buf_puts(out, t->status.run == TUI_RUN_ENDED ? "no stream of a run came\n"
						     : "no stream of a run has come yet\n");
	buf_puts(out,
		 "'proton record --forward' sends it; why it does not is said where that runs");
}

/* Which of three reasons it is. */
static void explain_live(struct tui *t, struct buf *out)
{
	const struct session *s = snapshot_session(t->snap);
	bool over = t->status.run == TUI_RUN_ENDED;
	uint64_t launches = 0;

	for (size_t i = 0; i < s->n_processes; i++)
		launches += s->processes[i].n_launches;
	if (s->n_processes == 0) {
		buf_puts(out, over ? "nothing connected: the program never loaded a GPU library\n"
				   : "nothing has connected yet: the program has not loaded a GPU "
				     "library\n");
		buf_puts(out, "(a static, set-id or 32-bit program cannot be seen)");
	} else if (launches == 0) {
		buf_printf(out, "%zu %s connected, but no GPU work %s\n", s->n_processes,
			   s->n_processes == 1 ? "process" : "processes",
			   over ? "was seen" : "has been seen yet");
	} else {
		buf_printf(out, "%llu launches were counted, but no record of them %s\n",
			   (unsigned long long)launches, over ? "arrived" : "has arrived yet");
		buf_puts(out, "5 shows what the collectors say");
	}
	buf_puts(out, "\n'proton doctor' says what can be seen on this machine");
}

void panel_explain_empty(struct panel *p, struct buf *out)
{
	if (p->tui->is_reset)
		explain_reset(p->tui, out);
	else if (p->tui->options.source == TUI_OF_STREAMS &&
		 snapshot_session(p->tui->snap)->n_runs == 0)
		explain_stream(p->tui, out);
	else if (p->tui->options.source == TUI_OF_DEVICES)
		buf_puts(out,
			 "no program was started: of devices alone there are no calling contexts\n"
			 "'proton top APP' runs one, 4 shows the devices");
	else if (p->tui->options.live)
		explain_live(p->tui, out);
	else if (snapshot_n(p->tui->snap) <= 1)
		buf_puts(out, "this profile holds no calling contexts\n"
			      "'proton doctor' says what can be seen on a machine");
	else
		buf_puts(out, "nothing of this profile ran on a device");
}

void panel_explain(struct panel *p, struct buf *out)
{
	if (*p->tui->filter)
		buf_printf(out, "no path has '%s' in a name\nEsc clears the filter",
			   p->tui->filter);
	else
		panel_explain_empty(p, out);
}

/* ---- drawing ---- */

void panel_draw_name(struct panel *p, struct pen *pen, enum role role, const char *text,
		     enum text_cut cut)
{
	const struct pen_name name = {text, p->scroll, p->tui->search, cut};

	pen_name(pen, role, &name);
}

void panel_draw_key(struct panel *p, struct pen *pen, enum request request, const char *word)
{
	const char *key = keymap_words(&p->tui->keys, request);
	int n = (int)strcspn(key, " ");

	if (!n || pen_left(pen) < n + (int)strlen(word) + 3)
		return;
	pen_printf(pen, ROLE_TITLE, "%.*s", n, key);
	pen_printf(pen, ROLE_NORMAL, " %s  ", word);
}

/* Before a row: that the cursor is there, where nothing else says it; that it came along to it. */
static const char *mark_of(struct panel *p, const struct look *look, size_t row)
{
	if (row == p->cursor && !p->no_cursor && look->mono)
		return look->glyphs->cursor;
	if (p->has_carried && p->ops->row_key(p, row) == p->carried_key)
		return look->glyphs->carried;
	return " ";
}

static void draw_row(struct panel *p, const struct canvas *canvas, int y, size_t row)
{
	struct pen pen = pen_at(canvas, y, 0, canvas->cols);

	pen.selected = row == p->cursor && !p->no_cursor;
	pen_put(&pen, ROLE_NORMAL, mark_of(p, canvas->look, row));
	p->ops->draw_row(p, &pen, row);
	pen_fill(&pen, ROLE_NORMAL);
}

static void draw_each_row(struct panel *p, const struct canvas *canvas, int y)
{
	size_t head = covering(p);

	for (int i = 0; i < p->height && p->top + (size_t)i < p->n_rows; i++)
		draw_row(p, canvas, y + i, i == 0 && head != SIZE_MAX ? head : p->top + (size_t)i);
}

/* A list of tables opens with its first one, whose title says what is listed: what was taken over is marked
 * where that shows it. */
static void open_at_top(struct panel *p)
{
	if (!p->ops->head_of || !p->has_carried || p->is_touched || p->cursor < (size_t)p->height)
		return;
	p->has_carried = false;
	p->top = 0;
	panel_goto(p, 0);
}

/* Once more where names of two rows read alike: they are cut elsewhere then. */
static void draw_rows(struct panel *p, const struct canvas *canvas, int y)
{
	_cleanup_(name_table_freep) struct name_table *names = name_table_new(canvas_dots(canvas));
	struct canvas rows = *canvas;

	rows.names = names;
	draw_each_row(p, &rows, y);
	if (!names || !name_table_tell_apart(names))
		return;
	rows.hits = NULL;
	draw_each_row(p, &rows, y);
}

/* The end of the first line of a text that is broken between words. */
static size_t break_line(const char *s, int width)
{
	size_t end = strcspn(s, "\n"), n;

	if ((int)end <= width)
		return end;
	for (n = (size_t)MAX(width, 1); n > 0 && s[n] != ' '; n--)
		;
	return n ? n : (size_t)MAX(width, 1);
}

/* Sentences in the middle of an empty panel. */
static void draw_explanation(struct panel *p, const struct canvas *canvas, int y, int rows)
{
	struct buf text;
	const char *s;

	buf_init(&text, 4096);
	if (p->ops->explain)
		p->ops->explain(p, &text);
	y += rows > 6 ? 1 : 0;
	for (s = buf_str(&text); *s && rows > 0; y++, rows--) {
		struct pen pen = pen_at(canvas, y, 2, canvas->cols - 2);
		size_t n = break_line(s, canvas->cols - 4);

		pen_printf(&pen, ROLE_NORMAL, "%.*s", (int)n, s);
		s += n + (s[n] != '\0');
	}
	buf_done(&text);
}

static int foot_rows(struct panel *p, int rows)
{
	if (!p->ops->draw_foot || rows < FOOT_MIN_ROWS)
		return 0;
	return p->ops->foot_rows ? p->ops->foot_rows(p, rows) : 1;
}

void panel_draw(struct panel *p, const struct canvas *canvas, int y, int rows)
{
	bool head = p->ops->draw_head != NULL;
	int foot;

	if (p->width != canvas->cols)
		panel_spoil(p);
	p->width = canvas->cols;
	foot = foot_rows(p, rows);
	if (p->height != rows - head - foot)
		panel_spoil(p);
	p->height = rows - head - foot;
	p->y = y + head;
	panel_refresh(p);
	open_at_top(p);
	clamp_view(p);
	if (p->n_rows == 0) {
		draw_explanation(p, canvas, y, rows);
		return;
	}
	if (head) {
		struct pen pen = pen_at(canvas, y, 0, canvas->cols);

		p->ops->draw_head(p, &pen);
	}
	draw_rows(p, canvas, y + head);
	if (p->ops->draw_below && p->n_rows < (size_t)p->height)
		p->ops->draw_below(p, canvas, p->y + (int)p->n_rows, p->height - (int)p->n_rows);
	if (foot) {
		struct pen pen = pen_at(canvas, y + rows - foot, 0, canvas->cols);

		p->ops->draw_foot(p, &pen);
	}
}
