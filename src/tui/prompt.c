/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/prompt.h"
#include <string.h>
#include "tui/keys.h"

void prompt_open(struct prompt *p, const char *label, const char *text,
		 void (*on_event)(struct tui *, enum prompt_event, const char *))
{
	p->label = label;
	p->on_event = on_event;
	p->note[0] = '\0';
	p->for_program = false;
	p->len = MIN(strlen(text), sizeof(p->text) - 1);
	memcpy(p->text, text, p->len);
	p->text[p->len] = '\0';
}

/* Close before the call: it may open another prompt. */
static void prompt_end(struct prompt *p, struct tui *t, enum prompt_event event)
{
	char text[sizeof(p->text)];

	memcpy(text, p->text, sizeof(text));
	p->label = NULL;
	p->on_event(t, event, text);
}

/* Append a character as UTF-8; true: there was room. */
static bool append(struct prompt *p, uint32_t c)
{
	char out[4];
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	if (c > 0x10ffff || p->len + n >= sizeof(p->text))
		return false;
	for (size_t i = n - 1; i > 0; i--, c >>= 6)
		out[i] = (char)(0x80 | (c & 0x3f));
	out[0] = (char)(n == 1 ? c : (0xf00u >> n & 0xf0) | c);
	memcpy(p->text + p->len, out, n);
	p->len += n;
	p->text[p->len] = '\0';
	return true;
}

/* Remove the last character, all its bytes. */
static void erase_last(struct prompt *p)
{
	while (p->len > 0 && ((unsigned char)p->text[p->len - 1] & 0xc0) == 0x80)
		p->len--;
	if (p->len > 0)
		p->len--;
	p->text[p->len] = '\0';
}

void prompt_key(struct prompt *p, struct tui *t, int key)
{
	switch (key) {
	case '\r':
	case '\n':
		prompt_end(p, t, PROMPT_ACCEPTED);
		return;
	case 27:
	case KEY_CTRL('c'):
	case KEY_CTRL('g'):
		prompt_end(p, t, PROMPT_CANCELLED);
		return;
	case KEY_FUNCTION | KEY_BACKSPACE:
	case 127:
	case '\b':
		erase_last(p);
		break;
	case KEY_CTRL('d'):
		if (p->len == 0)
			p->on_event(t, PROMPT_EOF, p->text);
		return;
	case KEY_CTRL('u'):
		p->len = 0;
		p->text[0] = '\0';
		break;
	default:
		if (key < ' ' || key >= KEY_FUNCTION || !append(p, (uint32_t)key))
			return;
	}
	p->on_event(t, PROMPT_CHANGED, p->text);
}

void prompt_draw(const struct prompt *p, const struct canvas *canvas, int y, int *ret_x)
{
	struct pen pen = pen_at(canvas, y, 0, canvas->cols);
	int columns = text_columns(p->text, p->len, canvas->look->ascii);
	struct pen_name name = {.text = p->text, .cut = TEXT_CUT_END};

	pen_put(&pen, ROLE_PROMPT, p->label);
	name.scroll = MAX(columns - pen_left(&pen) + 1, 0);
	pen_name(&pen, ROLE_NORMAL, &name);
	*ret_x = MIN(pen.x, canvas->cols - 1);
	pen.x = MAX(pen.x + 2, canvas->cols - (int)strlen(p->note));
	pen_put(&pen, ROLE_DIM, p->note);
}
