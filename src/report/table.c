/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "report/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/shown.h"
#include "base/util.h"
#include "naming/fit.h"
#include "naming/table.h"

#define HEAD_MAX ((size_t)63)

int report_columns_add(struct report_columns *c, const struct column_spec *spec, const char *word,
		       size_t len)
{
	struct report_column *new;

	if (ARRAY_ROOM(c->v, c->cap, c->n + 1) < 0)
		return -ENOMEM;
	new = &c->v[c->n];
	*new = (struct report_column){.spec = *spec, .width = COLUMN_WIDTH};
	new->title = word ? strndup(word, len) : strdup(spec->title);
	if (!new->title)
		return -ENOMEM;
	new->width = MAX(new->width, MIN(name_width(new->title), HEAD_MAX) + 1);
	c->n++;
	return 0;
}

int report_columns_add_usual(struct report_columns *c, enum usual_column usual)
{
	return report_columns_add(c, &usual_columns[usual], NULL, 0);
}

int report_columns_add_word(struct report_columns *c, const struct session *s, const char *word,
			    size_t len)
{
	struct column_spec spec;

	if (column_parse(s, word, len, &spec) < 0)
		return -EINVAL;
	return report_columns_add(c, &spec, spec.title ? NULL : word, len);
}

int report_columns_add_words(struct report_columns *c, const struct session *s, const char *words)
{
	int r = 0;

	while (*words && r == 0) {
		size_t len = column_word_len(s, words);

		r = report_columns_add_word(c, s, words, len);
		words += len + (words[len] == ',');
	}
	return r;
}

/* Of those behind the first, the one that is missed least. */
static size_t least_wanted(const struct report_columns *c)
{
	size_t found = 1;

	for (size_t i = 2; i < c->n; i++)
		if (c->v[i].spec.priority >= c->v[found].spec.priority)
			found = i;
	return found;
}

unsigned report_columns_narrow(struct report_columns *c, unsigned width)
{
	size_t room = MIN(NAME_ROOM, width * 2 / 5), i;
	unsigned n = 0;

	for (; width && c->n > 1 && report_columns_width(c) + room > width; n++) {
		i = least_wanted(c);
		free(c->v[i].title);
		c->n--;
		memmove(&c->v[i], &c->v[i + 1], (c->n - i) * sizeof(*c->v));
	}
	return n;
}

void put_omitted(struct out *out, unsigned n)
{
	if (n)
		out_printf(out, "(%u more %s)\n", n,
			   n == 1 ? "column: -m NAME shows it" : "columns: -m NAME,... shows them");
}

void report_columns_done(struct report_columns *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->v[i].title);
	free(c->v);
}

void put_code(struct out *out, const char *name, size_t most)
{
	const char *end = name + strlen(name);
	struct shown s = {0};
	size_t n = 0;

	out_putc(out, '`');
	while (name < end && (!most || n < most)) {
		name = shown_next(name, end, &s);
		n += s.columns;
		if (*s.text == '|')
			out_puts(out, "\\|");
		else if (*s.text == '`')
			out_putc(out, '\'');
		else
			out_put(out, s.text, s.len);
	}
	out_puts(out, name < end ? "...`" : "`");
}

void put_path(struct buf *out, const char *const *names, size_t n, bool ascii)
{
	while (n-- > 0) {
		buf_puts(out, names[n]);
		if (n)
			buf_puts(out, ascii ? " > " : " \xe2\x80\xba ");
	}
}

void put_node_path(struct buf *out, const struct session *s, struct frame_names *names,
		   uint32_t node, enum name_mode mode, bool ascii)
{
	const char *path[64];
	uint32_t n = 0, i;

	if (node == SESSION_ROOT)
		buf_puts(out, session_node_name(s, node));
	for (i = node; i != SESSION_ROOT && n < ARRAY_SIZE(path); i = s->nodes[i].parent)
		path[n++] = frame_names_get(names, i, mode);
	if (i != SESSION_ROOT)
		buf_puts(out, "... > ");
	put_path(out, path, n, ascii);
}

void column_make_room(struct report_column *c, const char *text, const struct report_options *o)
{
	size_t width = name_width(text) + 1;

	if (c->spec.form == FORM_WORD && o->width)
		width = MIN(width, MAX(o->width / 3, COLUMN_WIDTH));
	c->width = MAX(c->width, width);
}

size_t report_columns_width(const struct report_columns *c)
{
	size_t width = 2;

	for (size_t i = 0; i < c->n; i++)
		width += c->v[i].width;
	return width;
}

size_t name_room(const struct report_options *o, size_t used)
{
	if (!o->width)
		return 0;
	return o->width > used + NAME_LEAST ? o->width - used : NAME_LEAST;
}

size_t name_width(const char *name)
{
	return shown_columns(name, strlen(name));
}

void put_shown(struct out *out, const char *text, size_t len)
{
	struct shown s = {0};

	if (shown_is_same(text, len)) {
		out_put(out, text, len);
		return;
	}
	for (const char *end = text + len; text < end;) {
		text = shown_next(text, end, &s);
		out_put(out, s.text, s.len);
	}
}

const char *dots_of(bool ascii)
{
	return ascii ? "..." : "\xe2\x80\xa6";
}

static void put_cut(struct out *out, const char *name, size_t len, size_t room, bool ascii)
{
	const char *dots = dots_of(ascii);
	size_t dots_width = ascii ? 3 : 1;

	if (!room || shown_columns(name, len) <= room) {
		put_shown(out, name, len);
		return;
	}
	if (room <= dots_width)
		dots_width = 0;
	put_shown(out, name, shown_fit(name, len, room - dots_width));
	if (dots_width)
		out_puts(out, dots);
}

void put_name(struct out *out, const char *name, size_t room, bool ascii)
{
	_cleanup_(buf_done) struct buf scratch = {0};

	if (room)
		name = fit_name(name, room, dots_of(ascii), &scratch);
	put_cut(out, name, strlen(name), room, ascii);
}

/* A word that is longer than a line goes on in the next ones: the columns that are used in the last. */
static size_t put_long_word(struct out *out, const char *word, size_t indent, size_t room)
{
	size_t len = strlen(word), n = shown_fit(word, len, room);

	while (n && n < len) {
		put_shown(out, word, n);
		out_putc(out, '\n');
		out_spaces(out, indent);
		word += n;
		len -= n;
		n = shown_fit(word, len, room);
	}
	put_shown(out, word, len);
	return shown_columns(word, len);
}

void put_wrapped(struct out *out, const char *text, size_t indent, size_t width)
{
	_cleanup_(buf_done) struct buf word = {0};
	size_t room = width - indent, used = 0;

	for (size_t len; *text; text += len + (text[len] == ' ')) {
		size_t columns;

		len = strcspn(text, " ");
		buf_clear(&word);
		shown_put(&word, text, len);
		columns = name_width(buf_str(&word));
		if (used && used + 1 + columns > room) {
			out_putc(out, '\n');
			out_spaces(out, indent);
			used = 0;
		} else if (used) {
			out_putc(out, ' ');
			used++;
		}
		used += put_long_word(out, buf_str(&word), indent, room);
	}
}

void put_name_of(struct out *out, struct name_table *names, const char *name, size_t room,
		 bool ascii)
{
	if (names && room)
		name = name_table_get(names, name, room);
	put_name(out, name, room, ascii);
}

void put_right(struct out *out, const char *text, size_t width)
{
	size_t n = name_width(text);

	out_spaces(out, width > n ? width - n : 0);
	put_shown(out, text, strlen(text));
}

void column_put(struct out *out, const struct report_column *c, const char *text,
		const struct report_options *o)
{
	if (c->spec.form != FORM_WORD || name_width(text) < c->width) {
		put_right(out, text, c->width);
		return;
	}
	out_putc(out, ' ');
	put_name(out, text, c->width - 1, o->ascii);
}

void put_left(struct out *out, const char *text, size_t width)
{
	size_t n = name_width(text);

	put_shown(out, text, strlen(text));
	out_spaces(out, width > n ? width - n : 0);
}

void put_header(struct out *out, const struct report_columns *columns, size_t gap,
		const struct report_options *o)
{
	if (o->color)
		out_puts(out, "\033[1m");
	for (size_t i = 0; i < columns->n; i++) {
		const struct report_column *c = &columns->v[i];

		out_spaces(out, c->width - MIN(name_width(c->title), HEAD_MAX));
		put_name(out, c->title, HEAD_MAX, o->ascii);
	}
	out_spaces(out, gap + 2);
	out_puts(out, "NAME");
	if (o->color)
		out_puts(out, "\033[0m");
	out_putc(out, '\n');
}
