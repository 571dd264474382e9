/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/settings.h"
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "tui/names.h"
#include "tui/tui_impl.h"

#define MAX_WORDS (CHOICE_MAX + 2) /* of a line */
#define MAX_LINE  2048             /* bytes */

/* ---- words of a line ---- */

struct line {
	char text[MAX_LINE];
	char *words[MAX_WORDS];
	unsigned n;
	char why[160]; /* it is skipped; "" = it is not */
};

static int skip(struct line *l, const char *format, ...) _printf_(2, 3);

/* The words of a message come from the file: what is not printable is not printed. */
static int skip(struct line *l, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(l->why, sizeof(l->why), format, ap);
	va_end(ap);
	for (char *c = l->why; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
	return -EINVAL;
}

/* A comment begins with a word's "#", except where a key is named: "bind # quit". */
static bool is_comment(const struct line *l, const char *word)
{
	bool is_key = l->n == 1 && (!strcmp(l->words[0], "bind") || !strcmp(l->words[0], "unbind"));

	return *word == '#' && !is_key;
}

static int split(struct line *l, const char *text, size_t len)
{
	char *at = l->text;

	l->n = 0;
	l->why[0] = '\0';
	if (len >= sizeof(l->text))
		return skip(l, "the line is too long");
	if (memchr(text, '\0', len))
		return skip(l, "the line holds a zero byte");
	memcpy(l->text, text, len);
	l->text[len] = '\0';
	while (*(at += strspn(at, " \t\r")) && !is_comment(l, at)) {
		if (l->n == MAX_WORDS)
			return skip(l, "there are too many words");
		l->words[l->n++] = at;
		at += strcspn(at, " \t\r");
		if (*at)
			*at++ = '\0';
	}
	return 0;
}

/* ---- settings ---- */

/* Index of a word in the list that name_of() walks, or -1. */
static int find_word(const char *word, const char *(*name_of)(unsigned))
{
	for (unsigned i = 0; name_of(i); i++)
		if (!strcmp(name_of(i), word))
			return (int)i;
	return -1;
}

static const char *switch_word(unsigned i)
{
	static const char *const words[] = {"off", "on"};

	return i < ARRAY_SIZE(words) ? words[i] : NULL;
}

static const char *group_name(unsigned i)
{
	return i < GROUP_N ? group_word(i) : NULL;
}

/* The second of two words, as one of a list. */
static int set_word(struct line *l, const char *(*name_of)(unsigned), int *ret)
{
	int i;

	if (l->n != 2)
		return skip(l, "'%.32s' takes one word", l->words[0]);
	i = find_word(l->words[1], name_of);
	if (i < 0)
		return skip(l, "'%.32s' cannot be '%.32s'", l->words[0], l->words[1]);
	*ret = i;
	return 0;
}

static int set_theme(struct settings *c, struct line *l)
{
	int i = 0, r = set_word(l, tui_theme_name, &i);

	if (r == 0)
		c->theme = tui_theme_name((unsigned)i);
	return r;
}

static int set_header(struct settings *c, struct line *l)
{
	const char *word = l->n == 2 ? l->words[1] : "";
	char *end;
	unsigned long n = strtoul(word, &end, 10);

	if (*word < '0' || *word > '9' || *end || n < 1 || n > 100)
		return skip(l, "'header' takes a number of lines, 1 to 100");
	c->header = (unsigned)n;
	return 0;
}

/* The panel that the second word names, or -EINVAL. */
static int panel_word(struct line *l)
{
	int i = l->n < 2 ? -1 : find_word(l->words[1], tui_panel_word);

	if (l->n < 2)
		return skip(l, "'%.32s' needs the word of a panel", l->words[0]);
	return i < 0 ? skip(l, "'%.32s' is no panel", l->words[1]) : i;
}

/* Whether there is such a column is known when there is a profile. */
static int set_title(struct line *l, const char *word, char title[COLUMN_TITLE])
{
	if (strlen(word) >= COLUMN_TITLE)
		return skip(l, "'%.32s' is too long for a column", word);
	snprintf(title, COLUMN_TITLE, "%s", word);
	return 0;
}

static int set_sort(struct settings *c, struct line *l)
{
	int panel = panel_word(l);
	bool ascending = l->n == 4 && !strcmp(l->words[3], "ascending");

	if (panel < 0)
		return panel;
	if (l->n != 3 && !ascending)
		return skip(l, "'sort' takes a panel, a column and perhaps 'ascending'");
	c->sort[panel].ascending = ascending;
	return set_title(l, l->words[2], c->sort[panel].title);
}

static int set_columns(struct settings *c, struct line *l)
{
	struct column_choice choice = {.n = 0};
	int panel = panel_word(l);

	if (panel < 0)
		return panel;
	for (; choice.n < l->n - 2; choice.n++)
		if (set_title(l, l->words[choice.n + 2], choice.titles[choice.n]) < 0)
			return -EINVAL;
	c->columns[panel] = choice;
	return 0;
}

/* The key that the second word names; Ctrl-C stays the way out of everything. */
static int parse_key(struct line *l, int *ret)
{
	int key = key_parse(l->words[1], strlen(l->words[1]));

	if (key <= 0)
		return skip(l, "'%.32s' is no key", l->words[1]);
	if (key == KEY_CTRL('c'))
		return skip(l, "C-c keeps its meaning");
	*ret = key;
	return 0;
}

static int set_bind(struct settings *c, struct line *l)
{
	enum request request;
	int key;

	if (l->n != 3)
		return skip(l, "'bind' takes a key and what it asks for");
	request = request_find(l->words[2]);
	if (request == REQ_NONE)
		return skip(l, "there is no request '%.32s' for a key", l->words[2]);
	if (parse_key(l, &key) < 0)
		return -EINVAL;
	return keymap_bind(&c->keys, key, request) < 0 ? skip(l, "there are too many keys") : 0;
}

static int set_unbind(struct settings *c, struct line *l)
{
	int key;

	if (l->n != 2)
		return skip(l, "'unbind' takes a key");
	if (parse_key(l, &key) < 0)
		return -EINVAL;
	keymap_unbind(&c->keys, key);
	return 0;
}

/* What a layout says of a setting; nothing where the panel (for settings that each panel has) is as
 * it would be anyway. */
static void put_theme(const struct tui *t, unsigned panel, struct buf *out)
{
	buf_puts(out, t->look.theme ? t->look.theme : tui_theme_name(0));
}

static void put_mouse(const struct tui *t, unsigned panel, struct buf *out)
{
	buf_puts(out, switch_word(t->has_mouse));
}

static void put_header(const struct tui *t, unsigned panel, struct buf *out)
{
	if (t->header_lines)
		buf_printf(out, "%u", t->header_lines);
}

static void put_names(const struct tui *t, unsigned panel, struct buf *out)
{
	buf_puts(out, tui_names_word(t->names));
}

static void put_group(const struct tui *t, unsigned panel, struct buf *out)
{
	buf_puts(out, group_name(tui_group(t)));
}

static void put_view(const struct tui *t, unsigned panel, struct buf *out)
{
	buf_puts(out, tui_panel_word(t->current));
}

/* A title as one word, by which its column is found as well. */
static void put_title(struct buf *out, const char *title)
{
	buf_putc(out, ' ');
	for (; *title; title++)
		buf_putc(out, *title == ' ' ? '_' : *title);
}

static void put_sort(const struct tui *t, unsigned panel, struct buf *out)
{
	const struct panel *p = t->panels[panel];
	bool ascending;
	unsigned sort = panel_wished_sort(p, &ascending);

	if (sort >= p->columns.n || (sort == 0 && !ascending))
		return;
	buf_puts(out, tui_panel_word(panel));
	put_title(out, p->columns.v[sort].title);
	if (ascending)
		buf_puts(out, " ascending");
}

static void put_columns(const struct tui *t, unsigned panel, struct buf *out)
{
	const struct column_choice *choice = &t->panels[panel]->choice;

	if (choice->n)
		buf_puts(out, tui_panel_word(panel));
	for (unsigned i = 0; i < choice->n; i++)
		put_title(out, choice->titles[i]);
}

#define WORD_OF(words, member) .name_of = words, .at = offsetof(struct settings, member)

static const struct keyword {
	const char *word;
	/* The setting is a word of this list, and its index is kept here; else set() reads it. */
	const char *(*name_of)(unsigned);
	size_t at;
	int (*set)(struct settings *c, struct line *l);
	void (*put)(const struct tui *t, unsigned panel, struct buf *out); /* NULL: no layout */
	bool by_panel;
} keywords[] = {
	{"theme", .set = set_theme, .put = put_theme},
	{"mouse", WORD_OF(switch_word, mouse), .put = put_mouse},
	{"ascii", WORD_OF(switch_word, ascii)},
	{"color", WORD_OF(switch_word, color)},
	{"header", .set = set_header, .put = put_header},
	{"names", WORD_OF(tui_names_word, names), .put = put_names},
	{"group", WORD_OF(group_name, group), .put = put_group},
	{"view", WORD_OF(tui_panel_word, panel), .put = put_view},
	{"sort", .set = set_sort, .put = put_sort, .by_panel = true},
	{"columns", .set = set_columns, .put = put_columns, .by_panel = true},
	{"bind", .set = set_bind},
	{"unbind", .set = set_unbind},
};

static const struct keyword *keyword_find(const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(keywords); i++)
		if (!strcmp(keywords[i].word, word))
			return &keywords[i];
	return NULL;
}

/* ---- reading ---- */

void settings_init(struct settings *c)
{
	memset(c, 0, sizeof(*c));
	c->mouse = c->ascii = c->color = c->names = c->group = c->panel = -1;
	keymap_init(&c->keys);
}

static void parse_line(struct settings *c, struct line *l, const char *text, size_t len)
{
	const struct keyword *s;

	if (split(l, text, len) < 0 || l->n == 0)
		return;
	s = keyword_find(l->words[0]);
	if (!s)
		skip(l, "'%.32s' is no setting", l->words[0]);
	else if (s->name_of)
		set_word(l, s->name_of, (int *)(void *)((char *)c + s->at));
	else
		s->set(c, l);
}

/* The next line of a text; the place behind it. */
static const char *next_line(const char *text, const char *end, size_t *ret_len)
{
	const char *newline = text < end ? memchr(text, '\n', (size_t)(end - text)) : NULL;

	*ret_len = (size_t)((newline ? newline : end) - text);
	return newline ? newline + 1 : end;
}

void settings_parse(struct settings *c, const char *text, size_t len,
		    void (*complain)(void *data, unsigned line, const char *why), void *data)
{
	const char *end = text + len, *next;
	unsigned number = 1;
	struct line l;
	size_t n;

	for (; text < end; text = next, number++) {
		next = next_line(text, end, &n);
		parse_line(c, &l, text, n);
		if (*l.why)
			complain(data, number, l.why);
	}
}

/* ---- writing ---- */

/* Which lines of the layout are written already. */
struct writer {
	const struct tui *t;
	struct buf *out;
	bool done[ARRAY_SIZE(keywords)][TUI_N_PANELS];
};

static void put_keyword(struct writer *w, const struct keyword *s, unsigned panel)
{
	bool *done = &w->done[s - keywords][panel];
	struct buf value;

	if (*done)
		return;
	*done = true;
	buf_init(&value, 0);
	s->put(w->t, panel, &value);
	if (value.len)
		buf_printf(w->out, "%s %s\n", s->word, buf_str(&value));
	buf_done(&value);
}

/* A comparison has columns of its own: what is said of the usual ones stays. */
static bool is_left_alone(const struct writer *w, const struct keyword *s, unsigned panel)
{
	return s->by_panel && panel_is_compared(w->t->panels[panel]);
}

/* A line of the old text: what it sets is set anew in its place, all else is kept. */
static void rewrite_line(struct writer *w, const char *text, size_t len)
{
	const struct keyword *s = NULL;
	struct line l;
	int panel = 0;

	if (split(&l, text, len) == 0 && l.n)
		s = keyword_find(l.words[0]);
	if (s && s->by_panel)
		panel = panel_word(&l);
	if (s && s->put && panel >= 0 && !is_left_alone(w, s, (unsigned)panel)) {
		put_keyword(w, s, (unsigned)panel);
	} else {
		buf_put(w->out, text, len);
		buf_putc(w->out, '\n');
	}
}

void settings_write_layout(const struct tui *t, const char *old, size_t old_len, struct buf *out)
{
	struct writer w = {.t = t, .out = out};
	const char *end = old + old_len, *next;
	size_t n;

	for (; old < end; old = next) {
		next = next_line(old, end, &n);
		rewrite_line(&w, old, n);
	}
	for (size_t i = 0; i < ARRAY_SIZE(keywords); i++)
		for (unsigned panel = 0; keywords[i].put && panel < TUI_N_PANELS; panel++)
			if ((panel == 0 || keywords[i].by_panel) &&
			    !is_left_alone(&w, &keywords[i], panel))
				put_keyword(&w, &keywords[i], panel);
}
