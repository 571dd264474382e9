/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/prompt.h"
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "tui/complete.h"
#include "tui/keys.h"

#define TEXT_ROOM 24 /* columns that a label leaves to the text */

static void set_text(struct prompt *p, const char *text)
{
	p->len = MIN(strlen(text), sizeof(p->text) - 1);
	memmove(p->text, text, p->len);
	p->text[p->len] = '\0';
	p->at = p->len;
}

void prompt_open(struct prompt *p, const char *label, const char *text, prompt_event_fn *on_event)
{
	p->label = label;
	p->on_event = on_event;
	p->note[0] = '\0';
	p->for_program = p->takes_file = false;
	p->back = 0;
	set_text(p, text);
}

/* ---- history ---- */

/* Of the question that is open; NULL: there are too many. */
static struct prompt_history *history_of(struct prompt *p)
{
	for (unsigned i = 0; i < PROMPT_KINDS; i++) {
		struct prompt_history *h = &p->histories[i];

		if (!h->of)
			h->of = p->on_event;
		if (h->of == p->on_event)
			return h;
	}
	return NULL;
}

static void remember(struct prompt *p)
{
	struct prompt_history *h = history_of(p);
	char *line;

	if (!h || !p->len || (h->n && !strcmp(h->lines[h->n - 1], p->text)))
		return;
	line = strdup(p->text);
	if (!line)
		return;
	if (h->n == PROMPT_HISTORY) {
		free(h->lines[0]);
		memmove(h->lines, h->lines + 1, --h->n * sizeof(*h->lines));
	}
	h->lines[h->n++] = line;
}

void prompt_take_histories(struct prompt *p, struct prompt *from)
{
	memcpy(p->histories, from->histories, sizeof(p->histories));
	memset(from->histories, 0, sizeof(from->histories));
}

void prompt_done(struct prompt *p)
{
	for (unsigned i = 0; i < PROMPT_KINDS; i++)
		while (p->histories[i].n)
			free(p->histories[i].lines[--p->histories[i].n]);
}

/* Show the line so far back; the one that was being typed comes after the newest. */
static bool go_back(struct prompt *p, unsigned back)
{
	const struct prompt_history *h = history_of(p);

	if (!h || back > h->n)
		return false;
	if (p->back == 0)
		memcpy(p->typed, p->text, sizeof(p->typed));
	p->back = back;
	set_text(p, back ? h->lines[h->n - back] : p->typed);
	return true;
}

/* ---- places ---- */

/* The place behind the character at a place and the marks that are drawn on it. */
static size_t place_after(const struct prompt *p, size_t at)
{
	const char *end = p->text + p->len, *here = p->text + at;
	struct text_glyph g;

	if (here < end)
		here = text_next(here, end, false, &g);
	while (here < end) {
		const char *next = text_next(here, end, false, &g);

		if (g.columns > 0)
			break;
		here = next;
	}
	return (size_t)(here - p->text);
}

static size_t place_before(const struct prompt *p, size_t at)
{
	size_t before = 0, next;

	while ((next = place_after(p, before)) < at)
		before = next;
	return before;
}

static bool is_letter(char c)
{
	unsigned char u = (unsigned char)c;

	return u >= 0x80 || (u >= '0' && u <= '9') || (u >= 'A' && u <= 'Z') ||
	       (u >= 'a' && u <= 'z') || u == '_';
}

static size_t word_before(const struct prompt *p)
{
	size_t at = p->at;

	while (at > 0 && !is_letter(p->text[at - 1]))
		at--;
	while (at > 0 && is_letter(p->text[at - 1]))
		at--;
	return at;
}

static size_t word_after(const struct prompt *p)
{
	size_t at = p->at;

	while (at < p->len && !is_letter(p->text[at]))
		at++;
	while (at < p->len && is_letter(p->text[at]))
		at++;
	return at;
}

/* What lies between blanks, as a shell takes it away. */
static size_t blank_before(const struct prompt *p)
{
	size_t at = p->at;

	while (at > 0 && p->text[at - 1] == ' ')
		at--;
	while (at > 0 && p->text[at - 1] != ' ')
		at--;
	return at;
}

/* ---- changes ---- */

/* Bytes [from, to) go; the cursor is where they were. */
static bool cut(struct prompt *p, size_t from, size_t to)
{
	memmove(p->text + from, p->text + to, p->len - to + 1);
	p->len -= to - from;
	p->at = from;
	return to > from;
}

static bool insert(struct prompt *p, const char *bytes, size_t n)
{
	if (p->len + n >= sizeof(p->text))
		return false;
	memmove(p->text + p->at + n, p->text + p->at, p->len - p->at + 1);
	memcpy(p->text + p->at, bytes, n);
	p->len += n;
	p->at += n;
	return true;
}

/* A character as UTF-8; true: there was room. */
static bool insert_character(struct prompt *p, uint32_t c)
{
	char out[4];

	return c <= 0x10ffff && insert(p, out, utf8_put(out, c));
}

/* ---- keys: true means that the text has changed ---- */

static bool do_left(struct prompt *p)
{
	p->at = place_before(p, p->at);
	return false;
}

static bool do_right(struct prompt *p)
{
	p->at = place_after(p, p->at);
	return false;
}

static bool do_word_left(struct prompt *p)
{
	p->at = word_before(p);
	return false;
}

static bool do_word_right(struct prompt *p)
{
	p->at = word_after(p);
	return false;
}

static bool do_begin(struct prompt *p)
{
	p->at = 0;
	return false;
}

static bool do_end(struct prompt *p)
{
	p->at = p->len;
	return false;
}

static bool do_erase(struct prompt *p)
{
	return cut(p, place_before(p, p->at), p->at);
}

static bool do_delete(struct prompt *p)
{
	return cut(p, p->at, place_after(p, p->at));
}

static bool do_erase_word(struct prompt *p)
{
	return cut(p, blank_before(p), p->at);
}

static bool do_delete_word(struct prompt *p)
{
	return cut(p, p->at, word_after(p));
}

static bool do_erase_left(struct prompt *p)
{
	return cut(p, 0, p->at);
}

static bool do_erase_right(struct prompt *p)
{
	return cut(p, p->at, p->len);
}

static bool do_older(struct prompt *p)
{
	return go_back(p, p->back + 1);
}

static bool do_newer(struct prompt *p)
{
	return p->back > 0 && go_back(p, p->back - 1);
}

static bool do_complete(struct prompt *p)
{
	bool changed = false;
	struct buf rest;

	if (!p->takes_file)
		return false;
	buf_init(&rest, 4096);
	complete_path(p->text, p->at, &rest, p->note, sizeof(p->note));
	if (rest.len)
		changed = insert(p, rest.data, rest.len);
	buf_done(&rest);
	return changed;
}

static bool (*const edits[EDIT_N])(struct prompt *p) = {
	[EDIT_LEFT] = do_left,
	[EDIT_RIGHT] = do_right,
	[EDIT_WORD_LEFT] = do_word_left,
	[EDIT_WORD_RIGHT] = do_word_right,
	[EDIT_BEGIN] = do_begin,
	[EDIT_END] = do_end,
	[EDIT_ERASE] = do_erase,
	[EDIT_DELETE] = do_delete,
	[EDIT_ERASE_WORD] = do_erase_word,
	[EDIT_DELETE_WORD] = do_delete_word,
	[EDIT_ERASE_LEFT] = do_erase_left,
	[EDIT_ERASE_RIGHT] = do_erase_right,
	[EDIT_OLDER] = do_older,
	[EDIT_NEWER] = do_newer,
	[EDIT_COMPLETE] = do_complete,
};

/* Close before the call: it may open another prompt. */
static void prompt_end(struct prompt *p, struct tui *t, enum prompt_event event)
{
	char text[sizeof(p->text)];

	if (event == PROMPT_ACCEPTED)
		remember(p);
	memcpy(text, p->text, sizeof(text));
	p->label = NULL;
	p->on_event(t, event, text);
}

void prompt_key(struct prompt *p, struct tui *t, int key)
{
	enum edit edit = edit_find(key);
	bool changed;

	if (p->takes_file)
		p->note[0] = '\0'; /* it was about the text before this key */
	if (edit == EDIT_ACCEPT || edit == EDIT_CANCEL) {
		prompt_end(p, t, edit == EDIT_ACCEPT ? PROMPT_ACCEPTED : PROMPT_CANCELLED);
		return;
	}
	if (key == KEY_CTRL('d') && p->len == 0) {
		p->on_event(t, PROMPT_EOF, p->text);
		return;
	}
	if (edit != EDIT_NONE)
		changed = edits[edit](p);
	else
		changed = key >= ' ' && key < KEY_FUNCTION && insert_character(p, (uint32_t)key);
	if (changed)
		p->on_event(t, PROMPT_CHANGED, p->text);
}

/* ---- drawing ---- */

/* Columns to leave out at the left, so that the cursor is in sight: half a width at a time, up to
 * where a character begins. */
static int scroll_of(const struct prompt *p, int width, bool ascii)
{
	int before = text_columns(p->text, p->at, ascii), step = MAX(width / 2, 1), scroll = 0;
	const char *s = p->text, *end = p->text + p->at;
	struct text_glyph g;

	if (before <= width)
		return 0;
	while (s < end && scroll < (before - width + step - 1) / step * step) {
		s = text_next(s, end, ascii, &g);
		scroll += g.columns;
	}
	return scroll;
}

/* What is asked; on a narrow screen its beginning. */
static void draw_label(const struct prompt *p, struct pen *pen)
{
	struct pen label = *pen;

	label.end = MIN(pen->end, pen->x + MAX(pen_left(pen) - TEXT_ROOM, pen_left(pen) / 3));
	pen_put(&label, ROLE_PROMPT, p->label);
	pen->x = label.x;
}

void prompt_draw(const struct prompt *p, const struct canvas *canvas, int y, int *ret_x)
{
	struct pen pen = pen_at(canvas, y, 0, canvas->cols);
	bool ascii = canvas->look->ascii;
	struct pen_name name = {.text = p->text, .cut = TEXT_CUT_END};

	draw_label(p, &pen);
	/* Beside the cursor there is room for a wide character and the dots behind it. */
	name.scroll = scroll_of(p, pen_left(&pen) - 3, ascii);
	*ret_x = MIN(pen.x + text_columns(p->text, p->at, ascii) - name.scroll, canvas->cols - 1);
	pen_name(&pen, ROLE_NORMAL, &name);
	pen.x = MAX(pen.x + 2, canvas->cols - text_columns(p->note, strlen(p->note), ascii));
	pen_put(&pen, ROLE_DIM, p->note);
}
