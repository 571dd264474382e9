/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "ptx/text.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"

enum { STATEMENTS_MOST = 1 << 24, DEPTH_MOST = 256 };

struct reader {
	struct ptx_text *text;
	size_t at;
	uint32_t row, place;
	uint32_t open[DEPTH_MOST]; /* statements: braces that are open */
	unsigned depth;
};

/* ---- characters ---- */

static char peek(const struct reader *r)
{
	return r->at < r->text->n ? r->text->at[r->at] : '\0';
}

static bool is_at_end(const struct reader *r)
{
	return r->at >= r->text->n;
}

static void step(struct reader *r)
{
	r->row += peek(r) == '\n';
	r->at += r->at < r->text->n;
}

static bool starts(const struct reader *r, const char *word)
{
	size_t n = strlen(word);

	return r->text->n - r->at >= n && !memcmp(r->text->at + r->at, word, n);
}

static void skip_line(struct reader *r)
{
	while (!is_at_end(r) && peek(r) != '\n')
		step(r);
}

static void skip_comment(struct reader *r)
{
	while (!is_at_end(r) && !starts(r, "*/"))
		step(r);
	for (int i = 0; i < 2 && !is_at_end(r); i++)
		step(r);
}

/* False: there is none here. */
static bool skip_one_blank(struct reader *r)
{
	if (starts(r, "//"))
		skip_line(r);
	else if (starts(r, "/*"))
		skip_comment(r);
	else if (!is_at_end(r) && (isspace((unsigned char)peek(r)) || !peek(r)))
		step(r);
	else
		return false;
	return true;
}

static void skip_blanks(struct reader *r)
{
	while (skip_one_blank(r))
		;
}

static void skip_string(struct reader *r)
{
	step(r);
	while (!is_at_end(r) && peek(r) != '"') {
		if (peek(r) == '\\')
			step(r);
		step(r);
	}
	step(r);
}

/* To the first of some characters that is in no comment and no string. False: there is none. */
static bool skip_to(struct reader *r, const char *ends)
{
	while (!is_at_end(r)) {
		if (peek(r) == '"')
			skip_string(r);
		else if (peek(r) && strchr(ends, peek(r)))
			return true;
		else if (!skip_one_blank(r))
			step(r);
	}
	return false;
}

static bool is_of_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%' || c == '.';
}

static struct ptx_span span(const struct reader *r, size_t begin, size_t end)
{
	end = MIN(end, r->text->n);
	begin = MIN(begin, end);
	return (struct ptx_span){r->text->at + begin, end - begin};
}

/* An opcode has "::" within it; a label's colon ends it. */
static struct ptx_span read_word(struct reader *r)
{
	size_t begin = r->at;

	for (;;) {
		if (is_of_name(peek(r)))
			step(r);
		else if (starts(r, "::"))
			r->at += 2;
		else
			return span(r, begin, r->at);
	}
}

bool ptx_span_is(struct ptx_span s, const char *word)
{
	return s.n == strlen(word) && !memcmp(s.at, word, s.n);
}

bool ptx_opcode_is(struct ptx_span opcode, const char *begin)
{
	size_t n = strlen(begin);

	return opcode.n >= n && !memcmp(opcode.at, begin, n) &&
	       (opcode.n == n || opcode.at[n] == '.');
}

size_t ptx_span_find(struct ptx_span in, const char *word, size_t n)
{
	const char *at = in.at, *end = in.at + in.n;

	for (; (at = memmem(at, (size_t)(end - at), word, n)); at++)
		if ((at == in.at || !is_of_name(at[-1])) && (at + n == end || !is_of_name(at[n])))
			return (size_t)(at - in.at) + n;
	return 0;
}

/* The next number; 0: there is none before `end`. */
static uint32_t read_number(const struct ptx_text *t, size_t *at, size_t end)
{
	uint32_t n = 0;

	while (*at < end && !isdigit((unsigned char)t->at[*at]))
		++*at;
	for (; *at < end && isdigit((unsigned char)t->at[*at]); ++*at)
		n = n * 10 + (uint32_t)(t->at[*at] - '0');
	return n;
}

/* ---- what lines say ---- */

/* .loc FILE LINE COLUMN [, function_name NAME, inlined_at FILE LINE COLUMN] */
static int read_place(struct reader *r)
{
	static const char inlined[] = "inlined_at";
	struct ptx_text *t = r->text;
	size_t at = r->at + strlen(".loc"), end;
	struct ptx_source place;
	const char *in;

	skip_line(r);
	end = r->at;
	place.file = read_number(t, &at, end);
	place.line = read_number(t, &at, end);
	in = memmem(t->at + at, end - at, inlined, strlen(inlined));
	if (in)
		at = (size_t)(in - t->at) + strlen(inlined);
	place.in_file = in ? read_number(t, &at, end) : 0;
	place.in_line = in ? read_number(t, &at, end) : 0;
	if (ARRAY_ROOM(t->place, t->cap_places, t->n_places + 1) < 0)
		return -ENOMEM;
	r->place = (uint32_t)t->n_places;
	t->place[t->n_places++] = place;
	return 0;
}

/* .file NUMBER "NAME" [, …] */
static int read_file(struct reader *r)
{
	struct ptx_text *t = r->text;
	size_t at = r->at + strlen(".file"), end;
	const char *quote, *last;
	uint32_t number;

	skip_line(r);
	end = r->at;
	number = read_number(t, &at, end);
	quote = memchr(t->at + at, '"', end - at);
	last = quote ? memchr(quote + 1, '"', (size_t)(t->at + end - quote - 1)) : NULL;
	if (!last)
		return 0;
	if (ARRAY_ROOM(t->file, t->cap_files, t->n_files + 1) < 0)
		return -ENOMEM;
	t->file[t->n_files++] = (struct ptx_file){number, {quote + 1, (size_t)(last - quote - 1)}};
	return 0;
}

struct ptx_span ptx_text_file(const struct ptx_text *t, uint32_t number)
{
	for (size_t i = 0; i < t->n_files; i++)
		if (t->file[i].number == number)
			return t->file[i].name;
	return (struct ptx_span){"", 0};
}

/* ---- statements of a function ---- */

static int add_statement(struct reader *r, struct ptx_statement *s, size_t end)
{
	struct ptx_text *t = r->text;

	s->end = MIN(end, t->n);
	s->place = r->place;
	s->scope = r->depth ? r->open[r->depth - 1] : PTX_NONE;
	if (t->n_statements == STATEMENTS_MOST)
		return -EBADMSG;
	if (ARRAY_ROOM(t->statement, t->cap_statements, t->n_statements + 1) < 0)
		return -ENOMEM;
	t->statement[t->n_statements++] = *s;
	return 0;
}

/* Up to its semicolon. */
static int end_statement(struct reader *r, struct ptx_statement *s)
{
	size_t begin;

	skip_blanks(r);
	begin = r->at;
	if (!skip_to(r, ";"))
		return -EBADMSG;
	s->operands = span(r, begin, r->at);
	step(r);
	return add_statement(r, s, r->at);
}

static int read_open(struct reader *r, struct ptx_statement *s)
{
	int e;

	if (r->depth == DEPTH_MOST)
		return -EBADMSG;
	step(r);
	s->kind = PTX_IS_OPEN;
	e = add_statement(r, s, r->at);
	r->open[r->depth++] = (uint32_t)r->text->n_statements - 1;
	return e;
}

static int read_close(struct reader *r, struct ptx_statement *s)
{
	step(r);
	r->depth--;
	s->kind = PTX_IS_CLOSE;
	return add_statement(r, s, r->at);
}

static void read_guard(struct reader *r, struct ptx_statement *s)
{
	size_t begin;

	step(r);
	skip_blanks(r);
	begin = r->at;
	if (peek(r) == '!')
		step(r);
	skip_blanks(r);
	read_word(r);
	s->guard = span(r, begin, r->at);
	skip_blanks(r);
}

static int read_instruction(struct reader *r, struct ptx_statement *s)
{
	s->kind = PTX_IS_INSTRUCTION;
	if (peek(r) == '@')
		read_guard(r, s);
	s->opcode = read_word(r);
	skip_blanks(r);
	if (peek(r) == ':' && !s->guard.n && s->opcode.n) {
		s->kind = PTX_IS_LABEL;
		step(r);
		return add_statement(r, s, r->at);
	}
	return end_statement(r, s);
}

static int read_directive(struct reader *r, struct ptx_statement *s)
{
	s->kind = PTX_IS_DIRECTIVE;
	s->opcode = read_word(r);
	return end_statement(r, s);
}

static int read_statement(struct reader *r)
{
	struct ptx_statement s = {.begin = r->at, .row = r->row};

	if (starts(r, ".loc") && !is_of_name(r->at + 4 < r->text->n ? r->text->at[r->at + 4] : ' '))
		return read_place(r);
	if (starts(r, ".file"))
		return read_file(r);
	switch (peek(r)) {
	case ';':
		step(r);
		return 0;
	case '{':
		return read_open(r, &s);
	case '}':
		return read_close(r, &s);
	case '.':
		return read_directive(r, &s);
	default:
		return read_instruction(r, &s);
	}
}

/* Behind its opening brace, to behind its closing one. */
static int read_body(struct reader *r, struct ptx_function *f)
{
	int e = 0;

	f->body = r->at;
	f->first = (uint32_t)r->text->n_statements;
	r->depth = 0;
	r->place = PTX_NONE;
	for (skip_blanks(r); e == 0 && (r->depth || peek(r) != '}'); skip_blanks(r)) {
		if (is_at_end(r))
			return -EBADMSG;
		e = read_statement(r);
	}
	f->close = r->at;
	f->n = (uint32_t)(r->text->n_statements - f->first);
	if (e == 0)
		step(r);
	return e;
}

/* ---- the module ---- */

/* Of what is not read: braces that match. */
static void skip_braces(struct reader *r)
{
	unsigned long depth = 0;

	while (skip_to(r, "{}")) {
		depth += peek(r) == '{';
		depth -= peek(r) == '}';
		step(r);
		if (!depth)
			return;
	}
}

/* How many threads a block has at most, as a word says that is followed by up to three numbers. */
static uint32_t read_threads(const struct ptx_text *t, struct ptx_span head, const char *word)
{
	const char *at = memmem(head.at, head.n, word, strlen(word));
	uint64_t n = 1;
	size_t from, end = (size_t)(head.at + head.n - t->at);

	if (!at)
		return 0;
	from = (size_t)(at - t->at) + strlen(word);
	do {
		n *= read_number(t, &from, end);
		while (from < end && isspace((unsigned char)t->at[from]))
			from++;
	} while (from < end && t->at[from++] == ',' && n < UINT32_MAX);
	return n < UINT32_MAX ? (uint32_t)n : 0;
}

/* Behind .entry or .func: a parameter that is returned may stand before the name. */
static struct ptx_span read_name(struct reader *r, size_t from)
{
	struct reader at = *r;

	at.at = from;
	skip_blanks(&at);
	if (peek(&at) == '(' && skip_to(&at, ")")) {
		step(&at);
		skip_blanks(&at);
	}
	return read_word(&at);
}

static size_t find_word(struct ptx_span in, const char *word)
{
	return ptx_span_find(in, word, strlen(word));
}

static int read_function(struct reader *r, struct ptx_function *f, struct ptx_span head)
{
	struct ptx_text *t = r->text;
	size_t entry = find_word(head, ".entry"), name = entry ? entry : find_word(head, ".func");
	int e;

	f->is_entry = entry;
	f->name = read_name(r, f->begin + name);
	f->n_threads = read_threads(t, head, ".reqntid");
	if (!f->n_threads)
		f->n_threads = read_threads(t, head, ".maxntid");
	step(r);
	e = read_body(r, f);
	if (e < 0)
		return e;
	if (ARRAY_ROOM(t->function, t->cap_functions, t->n_functions + 1) < 0)
		return -ENOMEM;
	t->function[t->n_functions++] = *f;
	return 0;
}

/* Bytes of a type: ".b8", ".u32", ".f64x2"; 0: it is no type. */
static uint64_t bytes_of_type(struct ptx_span word)
{
	char letter = word.n > 2 ? word.at[1] : ' ';
	uint64_t bits = 0;

	if (!strchr("busfv", letter))
		return 0;
	for (size_t i = 2; i < word.n && isdigit((unsigned char)word.at[i]); i++)
		bits = bits * 10 + (uint64_t)(word.at[i] - '0');
	return letter == 'v' ? 0 : bits / 8;
}

/* [4][16]; [] is as long as a launch says. */
static uint64_t read_elements(struct ptx_span *in)
{
	uint64_t n = 1;

	while (in->n && *in->at == '[') {
		size_t at = 0, end = 0;
		const struct ptx_text of = {.at = in->at};

		while (end < in->n && in->at[end] != ']')
			end++;
		n *= read_number(&of, &at, end);
		n = MIN(n, UINT32_MAX);
		end += end < in->n;
		in->at += end;
		in->n -= end;
	}
	return n;
}

struct ptx_shared ptx_shared_read(struct ptx_span in)
{
	struct ptx_text text = {.at = in.at, .n = in.n};
	struct reader r = {.text = &text};
	struct ptx_shared ret = {.bytes = 1};
	uint64_t size = 1;

	for (skip_blanks(&r); !is_at_end(&r); skip_blanks(&r)) {
		struct ptx_span word = read_word(&r), rest;

		if (!word.n) {
			step(&r); /* the number of .align is a word */
			continue;
		}
		if (*word.at == '.')
			size = MAX(size, bytes_of_type(word));
		ret.name = word;
		rest = span(&r, r.at, in.n);
		if (rest.n && *rest.at == '[') {
			ret.bytes = read_elements(&rest);
			break;
		}
	}
	ret.bytes *= size;
	return ret;
}

/* A pragma within a function's head has a semicolon. */
static bool is_of_pragma(const struct reader *r, size_t begin)
{
	size_t at = r->at;

	while (at > begin && isspace((unsigned char)r->text->at[at - 1]))
		at--;
	return at > begin && r->text->at[at - 1] == '"' &&
	       find_word(span(r, begin, r->at), ".entry");
}

static int read_shared(struct reader *r, struct ptx_span head)
{
	struct ptx_text *t = r->text;

	if (ARRAY_ROOM(t->shared, t->cap_shared, t->n_shared + 1) < 0)
		return -ENOMEM;
	t->shared[t->n_shared++] = ptx_shared_read(head);
	if (skip_to(r, ";"))
		step(r);
	return 0;
}

static int read_declaration(struct reader *r)
{
	struct ptx_function f = {.begin = r->at};
	struct ptx_span head;

	while (skip_to(r, ";{=") && peek(r) == ';' && is_of_pragma(r, f.begin))
		step(r);
	head = span(r, f.begin, r->at);
	if (peek(r) == '{' && (find_word(head, ".entry") || find_word(head, ".func")))
		return read_function(r, &f, head);
	if (find_word(head, ".shared"))
		return read_shared(r, head);
	if (peek(r) == '{')
		skip_braces(r);
	else if (skip_to(r, ";"))
		step(r);
	return 0;
}

static void read_version(struct reader *r)
{
	size_t at = r->at + strlen(".version");
	uint32_t major;

	skip_line(r);
	major = read_number(r->text, &at, r->at);
	r->text->version = MIN(major, 1000) * 10 + MIN(read_number(r->text, &at, r->at), 9);
}

static void read_chip(struct reader *r)
{
	size_t at = r->at + strlen(".target");

	skip_line(r);
	r->text->chip = read_number(r->text, &at, r->at);
	r->text->body = r->at;
}

static void read_address_size(struct reader *r)
{
	size_t at = r->at + strlen(".address_size");

	skip_line(r);
	r->text->address_bits = read_number(r->text, &at, r->at);
	r->text->body = r->at;
}

static void read_section(struct reader *r)
{
	if (skip_to(r, "{"))
		skip_braces(r);
}

static int read_module(struct reader *r)
{
	int e = 0;

	for (skip_blanks(r); e == 0 && !is_at_end(r); skip_blanks(r)) {
		if (starts(r, ".version"))
			read_version(r);
		else if (starts(r, ".target"))
			read_chip(r);
		else if (starts(r, ".address_size"))
			read_address_size(r);
		else if (starts(r, ".file"))
			e = read_file(r);
		else if (starts(r, ".section"))
			read_section(r);
		else
			e = read_declaration(r);
	}
	return e;
}

int ptx_text_read(const char *text, size_t n, struct ptx_text *ret)
{
	static const char version[] = ".version";
	struct reader r = {.text = ret, .row = 1, .place = PTX_NONE};

	/* The files that the driver is handed end with 0. */
	*ret = (struct ptx_text){.at = text, .n = strnlen(text, n)};
	if (ret->n != n && ret->n + 1 != n)
		return -EBADMSG;
	skip_blanks(&r);
	if (!starts(&r, version))
		return -EBADMSG;
	return read_module(&r);
}

void ptx_text_done(struct ptx_text *t)
{
	free(t->statement);
	free(t->function);
	free(t->place);
	free(t->file);
	free(t->shared);
	*t = (struct ptx_text){0};
}
