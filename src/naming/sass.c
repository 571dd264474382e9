/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "naming/sass.h"
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/strtab.h"
#include "base/util.h"

enum { TEXT_MAX = 256, OFFSET_DIGITS_MAX = 12 };

#define KEPT_FUNCTION "function "

struct span {
	const char *at, *end;
};

static void skip_blanks(struct span *s)
{
	while (s->at < s->end && (*s->at == ' ' || *s->at == '\t'))
		s->at++;
}

static bool skip_word(struct span *s, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(s->end - s->at) < n || memcmp(s->at, word, n) != 0)
		return false;
	s->at += n;
	return true;
}

static int digit_of(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool take_number(struct span *s, uint64_t *ret)
{
	unsigned n = 0;

	for (*ret = 0; s->at < s->end && digit_of(*s->at) >= 0 && n < OFFSET_DIGITS_MAX; n++)
		*ret = *ret << 4 | (uint64_t)digit_of(*s->at++);
	return n > 0;
}

/* The offset that an instruction stands behind. */
static bool take_offset(struct span *s, uint64_t *ret)
{
	return skip_word(s, "/*") && take_number(s, ret) && skip_word(s, "*/");
}

/* The next line, without its end. False: there is none that is whole: half an instruction is none. */
static bool next_line(struct span *all, struct span *ret)
{
	const char *end =
		all->at < all->end ? memchr(all->at, '\n', (size_t)(all->end - all->at)) : NULL;

	if (!end)
		return false;
	*ret = (struct span){all->at, end};
	all->at = end + 1;
	return true;
}

/* Up to its semicolon. Blanks are for columns; what is not printable is none of nvdisasm's. */
static size_t take_text(struct span s, char ret[TEXT_MAX])
{
	size_t n = 0;

	for (; s.at < s.end && *s.at != ';' && n < TEXT_MAX - 1; s.at++) {
		char c = *s.at == '\t' ? ' ' : *s.at;

		if (c != ' ' || (n && ret[n - 1] != ' '))
			ret[n++] = c >= ' ' && c <= '~' ? c : '?';
	}
	while (n && ret[n - 1] == ' ')
		n--;
	ret[n] = '\0';
	return n;
}

static int add(struct sass *s, uint64_t offset, const char *text, size_t len)
{
	uint32_t id;

	if (s->n && s->rows[s->n - 1].offset >= offset)
		return 0; /* instructions stand in order */
	if (ARRAY_ROOM(s->rows, s->cap, s->n + 1) < 0)
		return -ENOMEM;
	id = strtab_add(s->texts, text, len);
	if (id == STRTAB_NONE)
		return -ENOMEM;
	s->rows[s->n++] = (struct sass_instruction){offset, strtab_str(s->texts, id)};
	return 0;
}

/* *is_ours: the lines behind this one are of the function's section. */
static int take_line(struct span line, const struct cubin_function *f, bool *is_ours,
		     struct sass *ret)
{
	char text[TEXT_MAX];
	uint64_t offset;
	size_t n;

	skip_blanks(&line);
	if (skip_word(&line, ".section\t") || skip_word(&line, ".section ")) {
		skip_blanks(&line);
		*is_ours = skip_word(&line, f->section_name) && skip_word(&line, ",");
		return 0;
	}
	if (!*is_ours || !take_offset(&line, &offset) || offset < f->offset ||
	    offset - f->offset >= f->size)
		return 0;
	n = take_text(line, text);
	return n ? add(ret, offset - f->offset, text, n) : 0;
}

static int begin(const char *text, size_t len, struct sass *ret, struct span *ret_all)
{
	*ret = (struct sass){.texts = strtab_new()};
	*ret_all = (struct span){text, len ? text + len : text};
	return ret->texts ? 0 : -ENOMEM;
}

int sass_parse(const char *text, size_t len, const struct cubin_function *f, struct sass *ret)
{
	struct span all, line;
	bool is_ours = false;
	int r = begin(text, len, ret, &all);

	while (r == 0 && next_line(&all, &line))
		r = take_line(line, f, &is_ours, ret);
	if (r < 0)
		sass_done(ret);
	return r;
}

/* ---- what is kept ---- */

void sass_keep(const struct sass *s, const char *function, struct buf *out)
{
	if (strchr(function, '\n'))
		return;
	buf_printf(out, KEPT_FUNCTION "%zx %s\n", s->n, function);
	for (size_t i = 0; i < s->n; i++)
		buf_printf(out, "%" PRIx64 " %s\n", s->rows[i].offset, s->rows[i].text);
}

/* "function 1d NAME": behind it stand so many. */
static bool take_any_head(struct span line, struct span *ret_name, uint64_t *ret_n)
{
	bool is_head = skip_word(&line, KEPT_FUNCTION) && take_number(&line, ret_n) &&
		       skip_word(&line, " ");

	*ret_name = line;
	return is_head;
}

static bool take_head(struct span line, const char *function, uint64_t *ret_n)
{
	struct span name;

	return take_any_head(line, &name, ret_n) && skip_word(&name, function) &&
	       name.at == name.end;
}

static int take_kept(struct span line, struct sass *ret)
{
	char text[TEXT_MAX];
	uint64_t offset;
	size_t n;

	if (!take_number(&line, &offset) || !skip_word(&line, " "))
		return 0;
	n = take_text(line, text);
	return n ? add(ret, offset, text, n) : 0;
}

int sass_kept(const char *text, size_t len, const char *function, struct sass *ret)
{
	struct span all, line;
	uint64_t n = 0;
	int r = begin(text, len, ret, &all);
	bool is_there = false;

	while (r == 0 && !is_there && next_line(&all, &line))
		is_there = take_head(line, function, &n);
	for (uint64_t i = 0; r == 0 && i < n && is_there && next_line(&all, &line); i++)
		r = take_kept(line, ret);
	if (r == 0 && is_there && ret->n != n)
		ret->n = 0;
	if (r < 0)
		sass_done(ret);
	return r;
}

static int add_function(const char *text, size_t len, const char *function, struct buf *out)
{
	struct sass there, other = {0};
	int r = sass_kept(out->data, out->len, function, &there);

	if (r == 0 && !there.n)
		r = sass_kept(text, len, function, &other);
	if (other.n)
		sass_keep(&other, function, out);
	if (r == 0) {
		sass_done(&there);
		sass_done(&other);
	}
	return r;
}

int sass_kept_add(const char *text, size_t len, struct buf *out)
{
	struct span all = {text, text + len}, line, name;
	size_t whole = out->len;
	uint64_t n;
	int r = 0;

	while (r == 0 && !out->error && next_line(&all, &line)) {
		_cleanup_(freep) char *function =
			take_any_head(line, &name, &n)
				? strndup(name.at, (size_t)(name.end - name.at))
				: NULL;

		whole = out->len;
		if (function)
			r = add_function(text, len, function, out);
	}
	if (out->error)
		out->len = whole;
	return r < 0 ? r : out->error;
}

void sass_done(struct sass *s)
{
	free(s->rows);
	strtab_free(s->texts);
	*s = (struct sass){0};
}

const char *sass_at(const struct sass *s, uint64_t offset)
{
	size_t low = 0;

	BISECT(low, s->n, i, s->rows[i].offset < offset);
	return low < s->n && s->rows[low].offset == offset ? s->rows[low].text : NULL;
}
