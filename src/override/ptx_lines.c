/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "override/ptx_lines.h"
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/strtab.h"
#include "base/util.h"
#include "naming/cubin.h"

enum {
	VERSION_INLINED =
		72 /* of PTX, times ten: from it on a place says what it was inlined into */
};

/* Of a row. Files and names are numbers in their tables; line 0: not known, in_line 0: not inlined. */
struct place {
	uint32_t file, line, in_file, in_line, name;
};

struct row {
	const char *at;
	size_t n; /* with its end */
	struct place place;
	bool is_border; /* what is behind it is another block */
	bool is_end;    /* … of no function */
	bool is_remains;
};

struct writer {
	struct cubin *cubin;
	struct row *rows;
	size_t n;
	struct strtab *files, *names;
	bool has_inlined; /* the language has words for it */
	bool is_inlined;  /* something is */
	struct place now; /* of what is written next, if nothing else is said */
	struct buf text;
};

/* ---- rows ---- */

static int split(struct writer *w, const struct buf *ptx)
{
	const char *at = ptx->data, *end = ptx->data + ptx->len, *newline;
	size_t n = 1;

	for (const char *p = at; (p = memchr(p, '\n', (size_t)(end - p))); p++)
		n++;
	w->rows = calloc(n, sizeof(*w->rows));
	if (!w->rows)
		return -ENOMEM;
	for (; at < end; at = newline) {
		newline = memchr(at, '\n', (size_t)(end - at));
		newline = newline ? newline + 1 : end;
		w->rows[w->n++] = (struct row){.at = at, .n = (size_t)(newline - at)};
	}
	return 0;
}

static size_t skip_name(const struct row *r, size_t at)
{
	while (at < r->n && (isalnum((unsigned char)r->at[at]) || strchr("$_%", r->at[at])))
		at++;
	return at;
}

static bool is_label(const struct row *r)
{
	size_t at = 0, end;

	while (at < r->n && isspace((unsigned char)r->at[at]))
		at++;
	end = skip_name(r, at);
	return end > at && end < r->n && r->at[end] == ':' &&
	       (end + 1 == r->n || r->at[end + 1] != ':');
}

/* How many more braces are open behind it. */
static int braces_of(const struct row *r)
{
	int n = 0;

	for (size_t i = 0; i < r->n; i++) {
		if (r->at[i] == '/' && i + 1 < r->n && r->at[i + 1] == '/')
			break;
		n += (r->at[i] == '{') - (r->at[i] == '}');
	}
	return n;
}

/* Braces within functions are around what belongs together. */
static void find_borders(struct writer *w)
{
	int depth = 0, was;

	for (size_t i = 0; i < w->n; i++) {
		struct row *r = &w->rows[i];

		was = depth;
		depth = MAX(depth + braces_of(r), 0);
		r->is_border = !was != !depth || (depth && is_label(r));
		r->is_end = !depth;
	}
}

static bool begins_section(const struct row *r)
{
	static const char word[] = ".section";
	size_t at = 0;

	while (at < r->n && isspace((unsigned char)r->at[at]))
		at++;
	return r->n - at >= sizeof(word) && !memcmp(r->at + at, word, sizeof(word) - 1);
}

/* Sections for debuggers stand there without their bytes. The assembler's library takes their labels for symbols that somebody
 * deleted, and refuses a text in which another such section follows. */
static void find_remains(struct writer *w)
{
	bool is_within = false;
	int depth = 0;

	for (size_t i = 0; i < w->n; i++) {
		struct row *r = &w->rows[i];

		is_within |= !depth && begins_section(r);
		r->is_remains = is_within;
		depth = MAX(depth + braces_of(r), 0);
		is_within = is_within && (depth || !memchr(r->at, '}', r->n));
	}
}

/* ---- what the cubin says ---- */

/* .loc knows one level of inlining. */
static int place_of(struct writer *w, const struct object_function *at, unsigned n,
		    struct place *ret)
{
	const struct object_function *last = &at[n - 1], *around = n > 1 ? &at[n - 2] : NULL;

	if (around && !w->has_inlined)
		last = around;
	*ret = (struct place){.line = last->line, .file = strtab_adds(w->files, last->file)};
	if (around && w->has_inlined) {
		ret->in_line = around->line;
		ret->in_file = strtab_adds(w->files, around->file);
		ret->name = strtab_adds(w->names, last->name ? last->name : "");
	}
	return ret->file == STRTAB_NONE || ret->in_file == STRTAB_NONE || ret->name == STRTAB_NONE
		       ? -ENOMEM
		       : 0;
}

static bool are_files(const struct object_function *at, unsigned n)
{
	for (unsigned i = n > 1 ? n - 2 : 0; i < n; i++)
		if (!at[i].file || !*at[i].file || !at[i].line || strpbrk(at[i].file, "\"\\\n"))
			return false;
	return n;
}

/* The first instruction that a row became says where it is. */
static int see(struct writer *w, size_t i)
{
	struct object_function at[NATIVE_INLINED_MAX];
	uint32_t row;
	unsigned n = cubin_row(w->cubin, i, &row, at);

	if (!are_files(at, n) || !row || row > w->n || w->rows[row - 1].place.line)
		return 0;
	return place_of(w, at, n, &w->rows[row - 1].place);
}

static int see_all(struct writer *w)
{
	size_t n;
	int r = cubin_read_rows(w->cubin, &n);

	for (size_t i = 0; i < n && r == 0; i++)
		r = see(w, i);
	return r;
}

/* Of a border, what is known first behind it, up to the next one. */
static void look_ahead(struct writer *w)
{
	struct place ahead = {0};

	for (size_t i = w->n; i-- > 0;) {
		struct row *r = &w->rows[i];

		if (r->is_border) {
			r->place = ahead;
			ahead = (struct place){0};
		} else if (r->place.line) {
			ahead = r->place;
		}
	}
}

/* ---- the text ---- */

static void put_place(struct writer *w, const struct place *p)
{
	if (!memcmp(p, &w->now, sizeof(*p)))
		return;
	w->now = *p;
	if (p->in_line) /* assemblers want to have seen the place of a call */
		buf_printf(&w->text, ".loc %u %u 0\n", p->in_file, p->in_line);
	buf_printf(&w->text, ".loc %u %u 0", MAX(p->file, 1u), p->line);
	if (p->in_line)
		buf_printf(&w->text, ", function_name $proton_name_%u, inlined_at %u %u 0", p->name,
			   p->in_file, p->in_line);
	buf_putc(&w->text, '\n');
	w->is_inlined |= p->in_line != 0;
}

/* Of what is behind a border its row tells, of others the row itself. Behind a function nothing is known of the next one. */
static void put_rows(struct writer *w)
{
	for (size_t i = 0; i < w->n; i++) {
		const struct row *r = &w->rows[i];

		if (r->is_remains)
			continue;
		if (!r->is_border && !r->is_end && r->place.line)
			put_place(w, &r->place);
		buf_put(&w->text, r->at, r->n);
		if (r->is_end)
			w->now = (struct place){0};
		else if (r->is_border)
			put_place(w, &r->place);
	}
}

static void put_bytes(struct buf *to, const char *text)
{
	for (; *text; text++)
		buf_printf(to, "%u,", (unsigned char)*text);
	buf_puts(to, "0\n");
}

/* What stands behind all functions: files, and the names of those that were inlined. */
static void put_tables(struct writer *w)
{
	buf_putc(&w->text, '\n');
	for (uint32_t i = 1; i < strtab_count(w->files); i++)
		buf_printf(&w->text, ".file %u \"%s\"\n", i, strtab_str(w->files, i));
	if (!w->is_inlined)
		return;
	buf_puts(&w->text, ".section .debug_str\n{\n");
	for (uint32_t i = 0; i < strtab_count(w->names); i++) {
		buf_printf(&w->text, "$proton_name_%u:\n.b8 ", i);
		put_bytes(&w->text, strtab_str(w->names, i));
	}
	buf_puts(&w->text, "}\n");
}

static bool can_say_inlined(struct buf *ptx)
{
	static const char word[] = ".version";
	const char *at = strstr(buf_str(ptx), word);
	unsigned major = 0, minor = 0;

	return at && sscanf(at + sizeof(word) - 1, "%3u.%1u", &major, &minor) == 2 &&
	       major * 10 + minor >= VERSION_INLINED;
}

static int write_all(struct writer *w, struct buf *ptx)
{
	struct buf was = *ptx;

	if (strtab_count(w->files) < 2) /* no line is known */
		return 0;
	find_borders(w);
	find_remains(w);
	look_ahead(w);
	put_rows(w);
	put_tables(w);
	if (w->text.error)
		return w->text.error;
	*ptx = w->text;
	w->text = was;
	return 0;
}

int ptx_lines_put(struct elf_part cubin, struct buf *ptx)
{
	struct writer w = {.files = strtab_new(), .names = strtab_new()};
	int r = w.files && w.names ? cubin_read(cubin.at, cubin.size, &w.cubin) : -ENOMEM;

	if (r == 0) {
		w.has_inlined = can_say_inlined(ptx);
		r = split(&w, ptx);
	}
	if (r == 0)
		r = see_all(&w);
	if (r == 0)
		r = write_all(&w, ptx);
	cubin_free(w.cubin);
	strtab_free(w.files);
	strtab_free(w.names);
	free(w.rows);
	buf_done(&w.text);
	return r == -ENOMEM ? r : 0;
}
