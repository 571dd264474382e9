/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/menu.h"
#include <stdarg.h>
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

static int menu_width(const struct menu *m)
{
	int width = (int)strlen(m->title) + 4;

	for (int i = 0; i < m->n; i++)
		width = MAX(width, (int)strlen(m->items[i].text) + 6);
	return width;
}

/* A line of the frame: a rule with a title in it. */
static void draw_rule(const struct canvas *canvas, int y, int x, int width, const char *title)
{
	struct pen pen = pen_at(canvas, y, x, width);
	const char *rule = canvas->look->glyphs->rule;

	pen_repeat(&pen, ROLE_POPUP, rule, 1);
	if (title)
		pen_printf(&pen, ROLE_TITLE, " %s ", title);
	pen_repeat(&pen, ROLE_POPUP, rule, pen_left(&pen));
}

static void draw_item(const struct menu *m, const struct canvas *canvas, int y, int x, int width,
		      int i)
{
	struct pen pen = pen_at(canvas, y, x, width);

	pen.selected = i == m->cursor;
	pen_put(&pen, ROLE_POPUP, i == m->cursor ? canvas->look->glyphs->cursor : " ");
	pen_skip(&pen, ROLE_POPUP, 1);
	pen_put(&pen, ROLE_POPUP, m->items[i].text);
	pen_fill(&pen, ROLE_POPUP);
	pen_hit(&pen, x, HIT_CHOICE, i);
}

void menu_draw(const struct menu *m, const struct canvas *canvas)
{
	int width = MIN(menu_width(m), canvas->cols), shown = MIN(m->n, MAX(canvas->rows - 4, 1));
	int x = (canvas->cols - width) / 2, y = MAX((canvas->rows - shown - 2) / 2, 0);
	int top = MAX(m->cursor - shown + 1, 0);

	draw_rule(canvas, y, x, width, m->title);
	for (int i = 0; i < shown; i++)
		draw_item(m, canvas, y + 1 + i, x, width, top + i);
	draw_rule(canvas, y + 1 + shown, x, width, NULL);
}
