/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "naming/code_place.h"
#include <ctype.h>
#include <string.h>
#include "base/buf.h"
#include "base/shown.h"
#include "base/util.h"
#include "core/line_name.h"

#define FILE_LEAST     4 /* columns of a file's name that are more than dots */
#define ENDS_LEAST     6 /* columns from which on a name is cut in its middle */
#define FUNCTION_LEAST 8 /* columns of a function before which the line goes */

/* ---- what a place is ---- */

static size_t digits_before(const char *text, size_t at)
{
	size_t n = 0;

	while (n < at && isdigit((unsigned char)text[at - n - 1]))
		n++;
	return n;
}

/* "…:12@function" */
static bool find_line(struct code_place *p)
{
	struct line_name at;

	if (!line_name_parse(p->text, p->len, &at) || !at.file_len)
		return false;
	p->line = at.file_len;
	p->function = at.function;
	return true;
}

/* "…(12): function" */
static bool find_traced_line(struct code_place *p)
{
	const char *at = strstr(p->text, "): ");
	size_t end = at ? (size_t)(at - p->text) : 0, n = digits_before(p->text, end);

	if (!n || end < n + 2 || p->text[end - n - 1] != '(')
		return false;
	p->line = end - n - 1;
	p->function = end + 3;
	return true;
}

bool code_place_parse(struct code_place *p, const char *text)
{
	const char *slash;

	*p = (struct code_place){.text = text, .len = strlen(text)};
	if (!find_line(p) && !find_traced_line(p))
		return false;
	slash = memrchr(text, '/', p->line);
	p->file = slash ? (size_t)(slash + 1 - text) : 0;
	return p->file < p->line && p->function < p->len;
}

/* ---- in so many columns ---- */

static size_t columns_of(const struct code_place *p, size_t from, size_t to)
{
	return shown_columns(p->text + from, to - from);
}

/* Behind the character at `at`. */
static size_t next_character(const char *text, size_t at)
{
	do
		at++;
	while (((unsigned char)text[at] & 0xc0) == 0x80);
	return at;
}

/* Without its middle, or its end where two ends would say nothing. */
static void put_ends(struct buf *out, const char *text, size_t len, size_t columns,
		     const char *dots)
{
	size_t width = shown_columns(dots, strlen(dots)), from = 0;
	size_t tail = columns < ENDS_LEAST ? 0 : (columns - width) / 2;

	if (shown_columns(text, len) <= columns || columns <= width + 1) {
		buf_put(out, text, shown_fit(text, len, columns));
		return;
	}
	while (shown_columns(text + from, len - from) > tail)
		from = next_character(text, from);
	buf_put(out, text, shown_fit(text, len, columns - width - tail));
	buf_puts(out, dots);
	buf_put(out, text + from, len - from);
}

/* Without as many folders as have to go. NULL: the file's name is too long by itself. */
static const char *drop_folders(const struct code_place *p, size_t columns)
{
	size_t at = 0;

	while (at < p->file && columns_of(p, at, p->len) > columns)
		at = (size_t)((char *)memchr(p->text + at, '/', p->file - at) + 1 - p->text);
	return columns_of(p, at, p->len) <= columns ? p->text + at : NULL;
}

/* The line and the function, of which the middle goes where there is no room. */
static void put_function(const struct code_place *p, size_t columns, const char *dots,
			 struct buf *out)
{
	const char *function = p->text + p->function;
	size_t width = shown_columns(dots, strlen(dots));
	size_t line = columns_of(p, p->line, p->function) + width;
	size_t least = MIN(columns_of(p, p->function, p->len), (size_t)FUNCTION_LEAST);

	if (line + least <= columns) {
		buf_puts(out, dots);
		buf_put(out, p->text + p->line, p->function - p->line);
		columns -= line;
	}
	put_ends(out, function, p->len - p->function, columns, dots);
}

const char *code_place_fit(const struct code_place *p, size_t columns, const char *dots,
			   struct buf *scratch)
{
	const char *text = drop_folders(p, columns);
	size_t behind = columns_of(p, p->line, p->len);

	if (text)
		return text;
	buf_clear(scratch);
	if (columns >= behind + FILE_LEAST) {
		put_ends(scratch, p->text + p->file, p->line - p->file, columns - behind, dots);
		buf_put(scratch, p->text + p->line, p->len - p->line);
	} else {
		put_function(p, columns, dots, scratch);
	}
	return scratch->error ? p->text : buf_str(scratch);
}

const char *code_place_fit_with(const struct code_place *p, size_t columns, const char *dots,
				size_t differs, struct buf *scratch)
{
	const char *slash = differs < p->file ? memrchr(p->text, '/', differs) : NULL;
	size_t from = slash ? (size_t)(slash + 1 - p->text) : 0, to;
	struct code_place rest = {.text = p->text + p->file,
				  .line = p->line - p->file,
				  .function = p->function - p->file,
				  .len = p->len - p->file};
	_cleanup_(buf_done) struct buf file = {0};
	size_t used;

	if (differs >= p->file)
		return code_place_fit(p, columns, dots, scratch);
	to = (size_t)((char *)memchr(p->text + from, '/', p->file - from) + 1 - p->text);
	used = columns_of(p, from, to) + (to < p->file ? shown_columns(dots, strlen(dots)) + 1 : 0);
	if (used + columns_of(p, p->line, p->len) + FILE_LEAST > columns)
		return code_place_fit(p, columns, dots, scratch);
	buf_clear(scratch);
	buf_put(scratch, p->text + from, to - from);
	if (to < p->file) {
		buf_puts(scratch, dots);
		buf_putc(scratch, '/');
	}
	buf_puts(scratch, code_place_fit(&rest, columns - used, dots, &file));
	return scratch->error ? p->text : buf_str(scratch);
}
