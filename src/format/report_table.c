/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "format/report_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/util.h"

#define DERIVED_WIDTH ((size_t)12)

struct column_kind {
	const char *word, *title;
	double (*value)(const struct numbers *n);
	void (*print)(char out[HUMAN_MAX], double v);
};

#define _(id, word, title, value, print)                                                           \
	static double value_of_##id(const struct numbers *n)                                       \
	{                                                                                          \
		return value;                                                                      \
	}
REPORT_COLUMNS(_)
#undef _

static const struct column_kind kinds[COLUMN_N] = {
#define _(id, word, title, value, print) {word, title, value_of_##id, print},
	REPORT_COLUMNS(_)
#undef _
};

const char *column_title(const struct session *s, const struct columns *columns, unsigned i)
{
	static const char *const builtin[METRIC_N_BUILTIN] = {
#define _(id, name, type, scope, add, unit, title) [METRIC_##id] = title,
		METRICS_BUILTIN(_)
#undef _
	};
	unsigned column = columns->ids[i];

	if (column == COLUMN_DERIVED)
		return columns->titles[i];
	if (column < COLUMN_N)
		return kinds[column].title;
	if (column - COLUMN_N < METRIC_N_BUILTIN)
		return builtin[column - COLUMN_N];
	return metric_table_get(s->metrics, column - COLUMN_N)->name;
}

/* Times and bytes are shown with a unit of their own: "launch_time (ns)" is no title for "6.64ms". */
static size_t head_length(const struct session *s, const struct columns *columns, unsigned i)
{
	const char *title = column_title(s, columns, i), *unit = "";
	size_t n = strlen(title), end;

	if (columns->ids[i] != COLUMN_DERIVED && columns->ids[i] >= COLUMN_N)
		unit = metric_table_get(s->metrics, columns->ids[i] - COLUMN_N)->unit;
	if (strcmp(unit, "ns") != 0 && strcmp(unit, "B") != 0)
		return n;
	end = strcspn(title, "(");
	return end && end < n && title[end - 1] == ' ' ? end - 1 : n;
}

size_t column_width(const struct session *s, const struct columns *columns, unsigned i)
{
	size_t width = columns->ids[i] == COLUMN_DERIVED ? DERIVED_WIDTH : (size_t)COLUMN_WIDTH;

	return MAX(width, MIN(head_length(s, columns, i), 63u) + 1);
}

static bool word_equal(const char *word, size_t len, const char *name)
{
	return strlen(name) == len && !strncasecmp(word, name, len);
}

/* "cpu_time" is "cpu_time (ns)" */
static bool metric_equal(const char *word, size_t len, const char *name)
{
	return word_equal(word, len, name) ||
	       (!strncasecmp(word, name, len) && strlen(name) > len && name[len] == ' ' &&
		name[len + 1] == '(');
}

int column_parse(const struct session *s, const char *word, size_t len)
{
	for (unsigned i = 0; i < COLUMN_N; i++)
		if (word_equal(word, len, kinds[i].word))
			return (int)i;
	for (uint32_t i = 0; i < metric_table_count(s->metrics); i++)
		if (metric_equal(word, len, metric_table_get(s->metrics, i)->name))
			return (int)(COLUMN_N + i);
	return -1;
}

double column_value(unsigned column, const struct numbers *n)
{
	return kinds[column].value(n);
}

/* A quotient by zero is no number for people either. */
void column_print(char out[HUMAN_MAX], unsigned column, double v)
{
	kinds[column].print(out, isfinite(v) ? v : NAN);
}

static bool is_continuation(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

size_t name_width(const char *name)
{
	size_t n = 0;

	for (; *name; name++)
		n += !is_continuation(*name);
	return n;
}

/* Whatever a program called its kernels: it must not steer the terminal. */
static void put_clean(struct out *out, const char *name, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)name[i];

		out_putc(out, c < 0x20 || c == 0x7f ? '?' : (char)c);
	}
}

void put_name(struct out *out, const char *name, size_t room, bool ascii)
{
	const char *dots = ascii ? "..." : "\xe2\x80\xa6";
	size_t dots_width = ascii ? 3 : 1, len = 0, width = 0;

	if (!room || name_width(name) <= room) {
		put_clean(out, name, strlen(name));
		return;
	}
	if (room <= dots_width)
		dots_width = 0;
	while (name[len] && (width < room - dots_width || is_continuation(name[len])))
		width += !is_continuation(name[len++]);
	while (len && width > room - dots_width)
		width -= !is_continuation(name[--len]);
	put_clean(out, name, len);
	if (dots_width)
		out_puts(out, dots);
}

void put_right(struct out *out, const char *text, size_t width)
{
	size_t n = name_width(text);

	out_spaces(out, width > n ? width - n : 0);
	out_puts(out, text);
}

void put_left(struct out *out, const char *text, size_t width)
{
	size_t n = name_width(text);

	put_clean(out, text, strlen(text));
	out_spaces(out, width > n ? width - n : 0);
}

void put_header(struct out *out, const struct session *s, const struct columns *columns,
		const struct report_options *o)
{
	if (o->color)
		out_puts(out, "\033[1m");
	for (unsigned i = 0; i < columns->n; i++) {
		char title[64];

		snprintf(title, sizeof(title), "%.*s", (int)head_length(s, columns, i),
			 column_title(s, columns, i));
		put_right(out, title, column_width(s, columns, i) + (o->before != NULL));
	}
	out_puts(out, "  NAME");
	if (o->color)
		out_puts(out, "\033[0m");
	out_putc(out, '\n');
}
