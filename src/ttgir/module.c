/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "ttgir/module.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "ttgir/module_line.h"

struct reader {
	struct ttgir *m;
	struct module_line line;
	size_t at, end;                   /* of that line in the text */
	uint32_t number;                  /* of that line */
	uint32_t open[TTGIR_DEPTH];       /* operations whose region it is in, outermost first */
	uint32_t blocks[TTGIR_DEPTH + 1]; /* the block at each depth */
	uint32_t n_open, n_blocks;
	uint32_t
		last[TTGIR_DEPTH + 1]; /* the operation before it at each depth; TTGIR_NONE: none */
	bool ended;                    /* what the compiler writes behind the module is no code */
	char *why;
	size_t why_size;
};

static int _printf_(2, 3) refuse(struct reader *r, const char *format, ...)
{
	va_list ap;
	int n = snprintf(r->why, r->why_size, "line %u: ", r->number);

	va_start(ap, format);
	if (n > 0 && (size_t)n < r->why_size)
		vsnprintf(r->why + n, r->why_size - (size_t)n, format, ap);
	va_end(ap);
	return -EINVAL;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '$';
}

/* ---- names of locations ---- */

static int alias_compare(const void *a, const void *b)
{
	const struct ttgir_text *x = &((const struct ttgir_alias *)a)->name;
	const struct ttgir_text *y = &((const struct ttgir_alias *)b)->name;
	int r = memcmp(x->at, y->at, MIN(x->len, y->len));

	return r ? r : COMPARE(x->len, y->len);
}

/* "#loc3 = loc(…)"; of other names, "#blocked = …", nothing is kept. */
static int take_alias(struct reader *r)
{
	struct ttgir *m = r->m;
	size_t len = 1;

	if (r->n_open || r->line.braces || r->line.brackets)
		return refuse(r, "the name does not stand by itself");
	if (!r->line.location)
		return 0;
	if (ARRAY_ROOM(m->aliases, m->cap_aliases, m->n_aliases + 1) < 0)
		return -ENOMEM;
	while (len < r->line.len && is_word(r->line.at[len]))
		len++;
	m->aliases[m->n_aliases++] =
		(struct ttgir_alias){{r->line.at, len}, {r->line.location, r->line.location_len}};
	return 0;
}

/* ---- regions ---- */

static int open_region(struct reader *r, uint32_t op)
{
	if (r->n_open == TTGIR_DEPTH)
		return refuse(r, "more than %u regions are in each other", TTGIR_DEPTH);
	r->open[r->n_open++] = op;
	r->blocks[r->n_open] = r->n_blocks++;
	r->last[r->n_open] = TTGIR_NONE;
	r->m->ops[op].body = r->end;
	return 0;
}

/* "^bb0(…):" is before the first operation of a block. */
static int take_label(struct reader *r)
{
	bool is_first = r->last[r->n_open] == TTGIR_NONE;

	if (!r->n_open || r->line.braces || r->line.brackets)
		return refuse(r, "the name of a block does not stand by itself");
	if (is_first)
		r->m->ops[r->open[r->n_open - 1]].body = r->end;
	r->blocks[r->n_open] = r->n_blocks++;
	return 0;
}

static bool opens_region(const struct reader *r)
{
	return r->line.len && r->line.at[r->line.len - 1] == '{';
}

/* How a line that opens a region, or ends one, must be: of what else it begins all ends on it. */
static bool is_balanced(const struct reader *r, int braces)
{
	return r->line.braces == braces && (r->line.brackets == 0 || braces || opens_region(r));
}

static void end_operation(struct reader *r, struct ttgir_op *op)
{
	op->end = r->end;
	if (r->line.location)
		op->location = (struct ttgir_text){r->line.location, r->line.location_len};
}

/* "} loc(…)", "})…", and "} else {", "}, {": another region of the same operation. */
static int close_region(struct reader *r)
{
	uint32_t op;

	if (!r->n_open)
		return refuse(r, "there is no region to end");
	if (r->line.lowest < -1 || !is_balanced(r, opens_region(r) ? 0 : -1))
		return refuse(r, "more than one region ends here");
	op = r->open[--r->n_open];
	if (opens_region(r))
		return open_region(r, op);
	end_operation(r, &r->m->ops[op]);
	return 0;
}

/* "default {" and "partition0(…) num_warps(4) {" belong to the operation before them. */
static bool is_more_regions(const struct reader *r)
{
	uint32_t last = r->last[r->n_open];

	return last != TTGIR_NONE && ttgir_is_named(&r->m->ops[last], "ttg.warp_specialize") &&
	       (module_line_begins(&r->line, "default ") ||
		module_line_begins(&r->line, "partition"));
}

static int reopen(struct reader *r)
{
	if (!opens_region(r) || !is_balanced(r, 1))
		return refuse(r, "no region begins where one is named");
	return open_region(r, r->last[r->n_open]);
}

/* ---- operations ---- */

/* Behind "%a, %b:2 = ". NULL: there is no "=". */
static const char *skip_results(const char *p, const char *end)
{
	if (p == end || *p != '%')
		return p;
	while (p < end && *p != '=')
		p++;
	if (p == end)
		return NULL;
	for (p++; p < end && *p == ' '; p++)
		;
	return p;
}

/* "tt.load", as a word or in quotes. */
static struct ttgir_text operation_name(const struct module_line *l)
{
	const char *end = l->at + l->len, *p = skip_results(l->at, end), *q;

	if (!p || p == end)
		return (struct ttgir_text){0};
	if (*p == '"') {
		q = module_quoted_end(p, end);
		return q ? (struct ttgir_text){p + 1, (size_t)(q - p) - 2} : (struct ttgir_text){0};
	}
	for (q = p; q < end && is_word(*q); q++)
		;
	return (struct ttgir_text){p, (size_t)(q - p)};
}

static bool is_operation(struct ttgir_text name)
{
	static const char outermost[] = "module";

	return name.len && isalpha((unsigned char)*name.at) &&
	       (memchr(name.at, '.', name.len) ||
		(name.len == sizeof(outermost) - 1 && !memcmp(name.at, outermost, name.len)));
}

static int take_operation(struct reader *r)
{
	struct ttgir *m = r->m;
	struct ttgir_text name = operation_name(&r->line);
	uint32_t op = (uint32_t)m->n_ops;
	bool opens = opens_region(r);

	if (!is_operation(name))
		return refuse(r, "'%.*s' is no operation", (int)MIN(r->line.len, (size_t)40),
			      r->line.at);
	if (!is_balanced(r, opens))
		return refuse(r, "%.*s does not end where its line does",
			      (int)MIN(name.len, (size_t)60), name.at);
	if (ARRAY_ROOM(m->ops, m->cap_ops, m->n_ops + 1) < 0)
		return -ENOMEM;
	m->ops[m->n_ops++] = (struct ttgir_op){
		.name = name,
		.at = r->at,
		.end = r->end,
		.parent = r->n_open ? r->open[r->n_open - 1] : TTGIR_NONE,
		.block = r->blocks[r->n_open],
		.line = r->number,
		.indent = (uint32_t)(r->line.at - (m->text.at + r->at)),
	};
	r->last[r->n_open] = op;
	if (opens)
		return open_region(r, op);
	end_operation(r, &m->ops[op]);
	return 0;
}

static int take_line(struct reader *r)
{
	if (r->line.is_broken)
		return refuse(r, "a text in quotes does not end");
	if (!r->line.len || r->ended)
		return 0;
	switch (*r->line.at) {
	case '#':
	case '!':
		return take_alias(r);
	case '^':
		return take_label(r);
	case '}':
		return close_region(r);
	}
	if (module_line_begins(&r->line, "{-#") && !r->n_open) {
		r->ended = true;
		return 0;
	}
	return is_more_regions(r) ? reopen(r) : take_operation(r);
}

static int take_lines(struct reader *r)
{
	struct ttgir_text text = r->m->text;
	int error = 0;

	while (!error && r->end < text.len) {
		const char *line = text.at + r->end, *newline;
		size_t left = text.len - r->end;

		newline = memchr(line, '\n', left);
		module_line_read(&r->line, line, newline ? (size_t)(newline - line) : left);
		r->at = r->end;
		r->end += newline ? (size_t)(newline - line) + 1 : left;
		r->number++;
		error = take_line(r);
	}
	if (!error && r->n_open)
		return refuse(r, "it ends within %.*s",
			      (int)MIN(r->m->ops[r->open[r->n_open - 1]].name.len, (size_t)60),
			      r->m->ops[r->open[r->n_open - 1]].name.at);
	if (!error && !r->m->n_ops) {
		snprintf(r->why, r->why_size, "it has no operation");
		return -EINVAL;
	}
	return error;
}

int ttgir_read(struct ttgir *m, const char *text, size_t len, char *ret_why, size_t size)
{
	struct reader r = {
		.m = m, .n_blocks = 1, .last = {TTGIR_NONE}, .why = ret_why, .why_size = size};
	int error;

	*m = (struct ttgir){.text = {text, len}};
	if (len > TTGIR_BYTES)
		return -EFBIG;
	error = take_lines(&r);
	if (error < 0)
		ttgir_done(m);
	else if (m->n_aliases)
		qsort(m->aliases, m->n_aliases, sizeof(*m->aliases), alias_compare);
	return error;
}

void ttgir_done(struct ttgir *m)
{
	free(m->ops);
	free(m->aliases);
	*m = (struct ttgir){0};
}

bool ttgir_is_named(const struct ttgir_op *op, const char *name)
{
	return op->name.len == strlen(name) && !memcmp(op->name.at, name, op->name.len);
}

struct ttgir_text ttgir_function_name(const struct ttgir *m, const struct ttgir_op *op)
{
	const char *end = m->text.at + op->end, *at, *p;

	if (!ttgir_is_named(op, "tt.func"))
		return (struct ttgir_text){0};
	at = memchr(op->name.at, '@', (size_t)(end - op->name.at));
	if (!at)
		return (struct ttgir_text){0};
	at++;
	if (at < end && *at == '"') {
		p = module_quoted_end(at, end);
		return p ? (struct ttgir_text){at + 1, (size_t)(p - at) - 2}
			 : (struct ttgir_text){0};
	}
	for (p = at; p < end && (is_word(*p) || *p == '-'); p++)
		;
	return (struct ttgir_text){at, (size_t)(p - at)};
}

bool ttgir_is_kernel(const struct ttgir *m, const struct ttgir_op *op)
{
	static const char word[] = " public @";
	const char *p = op->name.at + op->name.len;

	return ttgir_function_name(m, op).len && op->body &&
	       (size_t)(m->text.at + m->text.len - p) >= sizeof(word) &&
	       !memcmp(p, word, sizeof(word) - 1);
}
