/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/menu.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "tui/keys.h"

void menu_open(struct menu *m, const char *title, void (*on_choice)(struct tui *, int))
{
	m->title = title;
	m->n = m->cursor = 0;
	m->on_choice = on_choice;
}

void menu_add(struct menu *m, int letter, int value, const char *format, ...)
{
	struct menu_item *item = &m->items[m->n];
	va_list ap;

	if (m->n == MENU_MAX)
		return;
	m->n++;
	item->letter = letter;
	item->value = value;
	va_start(ap, format);
	vsnprintf(item->text, sizeof(item->text), format, ap);
	va_end(ap);
}

/* Close before the call: it may open another menu. */
void menu_choose(struct menu *m, struct tui *t, int i)
{
	m->title = NULL;
	m->on_choice(t, m->items[i].value);
}

static bool choose_letter(struct menu *m, struct tui *t, int key)
{
	for (int i = 0; i < m->n; i++)
		if (m->items[i].letter && m->items[i].letter == key) {
			menu_choose(m, t, i);
			return true;
		}
	return false;
}

void menu_move(struct menu *m, int n)
{
	m->cursor = MAX(MIN(m->cursor + n, m->n - 1), 0);
}

void menu_key(struct menu *m, struct tui *t, int key)
{
	if (choose_letter(m, t, key))
		return;
	switch (key) {
	case KEY_FUNCTION | KEY_DOWN:
	case 'j':
		menu_move(m, 1);
		break;
	case KEY_FUNCTION | KEY_NPAGE:
	case KEY_FUNCTION | KEY_END:
		menu_move(m, m->n);
		break;
	case KEY_FUNCTION | KEY_PPAGE:
	case KEY_FUNCTION | KEY_HOME:
		menu_move(m, -m->n);
		break;
	case KEY_FUNCTION | KEY_UP:
	case 'k':
		menu_move(m, -1);
		break;
	case '\r':
	case '\n':
		if (m->n > 0)
			menu_choose(m, t, m->cursor);
		break;
	case 27:
	case 'q':
	case KEY_CTRL('c'):
	case KEY_CTRL('g'):
		menu_close(m);
		break;
	default:
		break;
	}
}

/* With the frame. */
static int menu_width(const struct menu *m)
{
	int width = (int)strlen(m->title) + 6;

	for (int i = 0; i < m->n; i++)
		width = MAX(width, (int)strlen(m->items[i].text) + 6);
	return width;
}

/* Where it lies: `shown` items between two lines of the frame. */
struct place {
	int y, x, width, shown, top;
};

/* The upper line of the frame or the lower one, with a word in it. */
static void draw_rule(const struct canvas *canvas, const struct place *at, bool lower,
		      enum role role, const char *word)
{
	struct pen pen = pen_at(canvas, lower ? at->y + at->shown + 1 : at->y, at->x, at->width);
	const struct glyphs *g = canvas->look->glyphs;
	const char *const *corners = g->frame + (lower ? 2 : 0);

	pen_put(&pen, ROLE_POPUP, corners[0]);
	if (*word)
		pen_printf(&pen, role, " %s ", word);
	pen_repeat(&pen, ROLE_POPUP, g->rule, pen_left(&pen) - 1);
	pen_put(&pen, ROLE_POPUP, corners[1]);
}

static void draw_item(const struct menu *m, const struct canvas *canvas, const struct place *at,
		      int i)
{
	struct pen pen = pen_at(canvas, at->y + 1 + i - at->top, at->x, at->width);
	const struct glyphs *g = canvas->look->glyphs;

	pen_put(&pen, ROLE_POPUP, g->frame_side);
	pen.end--;
	pen.selected = i == m->cursor;
	pen_put(&pen, ROLE_POPUP, i == m->cursor ? g->cursor : " ");
	pen_skip(&pen, ROLE_POPUP, 1);
	pen_put(&pen, ROLE_POPUP, m->items[i].text);
	pen_fill(&pen, ROLE_POPUP);
	pen_hit(&pen, at->x, HIT_CHOICE, i);
	pen.selected = false;
	pen.end++;
	pen_put(&pen, ROLE_POPUP, g->frame_side);
}

void menu_draw(const struct menu *m, const struct canvas *canvas)
{
	struct place at = {.width = MIN(menu_width(m), canvas->cols),
			   .shown = MIN(m->n, MAX(canvas->rows - 4, 1))};
	char more[32] = "";

	at.x = (canvas->cols - at.width) / 2;
	at.y = MAX((canvas->rows - at.shown - 2) / 2, 0);
	at.top = MAX(m->cursor - at.shown + 1, 0);
	if (at.shown < m->n)
		snprintf(more, sizeof(more), "%d of %d", m->cursor + 1, m->n);
	draw_rule(canvas, &at, false, ROLE_TITLE, m->title);
	for (int i = at.top; i < at.top + at.shown; i++)
		draw_item(m, canvas, &at, i);
	draw_rule(canvas, &at, true, ROLE_POPUP, more);
}
