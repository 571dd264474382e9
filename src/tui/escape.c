/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/escape.h"
#include <curses.h>
#include <errno.h>
#include "base/util.h"
#include "tui/keys.h"

#define MAX_NUMBER 9999
#define PLAIN      1 /* the number of no modifier, as when none stands there */
#define SHIFT      2

/* What xterm, the VT220 and nearly all others send. */
static const struct {
	char final;
	unsigned number, modifier;
	int key;
} known[] = {
	{'A', 1, PLAIN, KEY_UP},
	{'B', 1, PLAIN, KEY_DOWN},
	{'C', 1, PLAIN, KEY_RIGHT},
	{'D', 1, PLAIN, KEY_LEFT},
	{'C', 1, SHIFT, KEY_SRIGHT},
	{'D', 1, SHIFT, KEY_SLEFT},
	{'H', 1, PLAIN, KEY_HOME},
	{'F', 1, PLAIN, KEY_END},
	{'Z', 1, PLAIN, KEY_BTAB},
	{'P', 1, PLAIN, KEY_F(1)},
	{'Q', 1, PLAIN, KEY_F(2)},
	{'R', 1, PLAIN, KEY_F(3)},
	{'S', 1, PLAIN, KEY_F(4)},
	{'~', 1, PLAIN, KEY_HOME},
	{'~', 3, PLAIN, KEY_DC},
	{'~', 4, PLAIN, KEY_END},
	{'~', 5, PLAIN, KEY_PPAGE},
	{'~', 6, PLAIN, KEY_NPAGE},
	{'~', 7, PLAIN, KEY_HOME},
	{'~', 8, PLAIN, KEY_END},
	{'~', 11, PLAIN, KEY_F(1)},
	{'~', 12, PLAIN, KEY_F(2)},
	{'~', 13, PLAIN, KEY_F(3)},
	{'~', 14, PLAIN, KEY_F(4)},
	{'~', 15, PLAIN, KEY_F(5)},
	{'~', 17, PLAIN, KEY_F(6)},
	{'~', 18, PLAIN, KEY_F(7)},
	{'~', 19, PLAIN, KEY_F(8)},
	{'~', 20, PLAIN, KEY_F(9)},
	{'~', 21, PLAIN, KEY_F(10)},
	{'~', 23, PLAIN, KEY_F(11)},
	{'~', 24, PLAIN, KEY_F(12)},
	{'~', 200, PLAIN, KEY_PASTE_BEGIN},
	{'~', 201, PLAIN, KEY_PASTE_END},
};

static int find_key(const struct escape *e, int final)
{
	for (size_t i = 0; !e->is_odd && i < ARRAY_SIZE(known); i++)
		if (known[i].final == final && known[i].number == MAX(e->numbers[0], 1) &&
		    known[i].modifier == MAX(e->numbers[1], PLAIN))
			return KEY_FUNCTION | known[i].key;
	return KEY_NOTHING;
}

/* The console of Linux has a form of its own for the first five. */
static int find_console_key(int final)
{
	return final >= 'A' && final <= 'E' ? KEY_FUNCTION | KEY_F(final - 'A' + 1) : KEY_NOTHING;
}

bool escape_begin(struct escape *e, int intro)
{
	*e = (struct escape){.intro = intro};
	return intro == '[' || intro == 'O';
}

static void add_digit(struct escape *e, unsigned digit)
{
	unsigned *number = &e->numbers[e->field];

	if (*number > MAX_NUMBER / 10)
		e->is_odd = true;
	else
		*number = *number * 10 + digit;
}

int escape_add(struct escape *e, int c)
{
	if (c < ' ' || c > '~')
		return -EINVAL;
	if (e->is_console)
		return find_console_key(c);
	if (e->intro == '[' && c == '[' && e->n == 0)
		e->is_console = true;
	else if (c >= '@')
		return find_key(e, c);
	else if (c >= '0' && c <= '9')
		add_digit(e, (unsigned)(c - '0'));
	else if (c == ';' && e->field + 1 < ARRAY_SIZE(e->numbers))
		e->field++;
	else
		e->is_odd = true;
	e->n++;
	return 0;
}

#define BEL 7
#define CAN 0x18
#define ESC 27
#define SUB 0x1a
#define ST  0x9c

bool answer_begins(int intro)
{
	return intro == ']' || intro == 'P' || intro == 'X' || intro == '^' || intro == '_';
}

enum answer_step answer_add(struct answer *a, int c)
{
	if (a->has_esc && c != '\\')
		return ANSWER_BROKE_OFF;
	if (a->has_esc || c == ST || c == CAN || c == SUB || (c == BEL && a->intro == ']'))
		return ANSWER_ENDED;
	if (c & KEY_FUNCTION)
		return ANSWER_BROKE_OFF;
	a->has_esc = c == ESC;
	return ANSWER_GOES_ON;
}
