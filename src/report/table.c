/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "report/table.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/shown.h"
#include "base/util.h"

#define DERIVED_WIDTH ((size_t)12)
#define HEAD_MAX      ((size_t)63)

struct column_kind {
	const char *word, *title;
	double (*value)(const struct report_numbers *n);
	void (*print)(char out[HUMAN_MAX], double v);
};

#define _(id, word, title, value, print)                                                           \
	static double value_of_##id(const struct report_numbers *n)                                       \
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

const char *column_title(const struct session *s, const struct report_columns *columns, unsigned i)
{
	static const char *const builtin[METRIC_N_BUILTIN] = {
#define _(id, number, name, type, scope, add, unit, title) [METRIC_##id] = title,
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
static size_t head_length(const struct session *s, const struct report_columns *columns, unsigned i)
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

static size_t head_width(const struct session *s, const struct report_columns *columns, unsigned i)
{
	return shown_columns(column_title(s, columns, i), head_length(s, columns, i));
}

size_t column_width(const struct session *s, const struct report_columns *columns, unsigned i)
{
	size_t width = columns->ids[i] == COLUMN_DERIVED ? DERIVED_WIDTH : (size_t)COLUMN_WIDTH;

	return MAX(width, MIN(head_width(s, columns, i), HEAD_MAX) + 1);
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

double column_value(unsigned column, const struct report_numbers *n)
{
	return kinds[column].value(n);
}

/* A quotient by zero is no number for people either. */
void column_print(char out[HUMAN_MAX], unsigned column, double v)
{
	kinds[column].print(out, isfinite(v) ? v : NAN);
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

static void put_cut(struct out *out, const char *name, size_t len, size_t room, bool ascii)
{
	const char *dots = ascii ? "..." : "\xe2\x80\xa6";
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
	put_cut(out, name, strlen(name), room, ascii);
}

void put_right(struct out *out, const char *text, size_t width)
{
	size_t n = name_width(text);

	out_spaces(out, width > n ? width - n : 0);
	put_shown(out, text, strlen(text));
}

void put_left(struct out *out, const char *text, size_t width)
{
	size_t n = name_width(text);

	put_shown(out, text, strlen(text));
	out_spaces(out, width > n ? width - n : 0);
}

void put_header(struct out *out, const struct session *s, const struct report_columns *columns,
		const struct report_options *o)
{
	if (o->color)
		out_puts(out, "\033[1m");
	for (unsigned i = 0; i < columns->n; i++) {
		size_t width = column_width(s, columns, i) + (o->before != NULL);

		out_spaces(out, width - MIN(head_width(s, columns, i), HEAD_MAX));
		put_cut(out, column_title(s, columns, i), head_length(s, columns, i), HEAD_MAX,
			o->ascii);
	}
	out_puts(out, "  NAME");
	if (o->color)
		out_puts(out, "\033[0m");
	out_putc(out, '\n');
}
