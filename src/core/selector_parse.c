/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"
#include "core/selector_impl.h"

#define ROOT      "ROOT/"
#define DEPTH_MAX 64 /* of parentheses and of "!" */
#define TERMS_MAX 1000
#define BYTES_MAX ((size_t)256 << 20) /* of all its expressions */

/* Longer ones first. */
static const struct {
	const char *word;
	uint8_t accepts; /* 0: it is about names or paths */
	bool is_not;
} operators[] = {
	{"<=", STANDS_BELOW | STANDS_AT, false},
	{">=", STANDS_ABOVE | STANDS_AT, false},
	{"==", STANDS_AT, false},
	{"!=", STANDS_BELOW | STANDS_ABOVE, false},
	{"!~", 0, true},
	{"<", STANDS_BELOW, false},
	{">", STANDS_ABOVE, false},
	{"~", 0, false},
};

void selector_fail(struct selector_error *error, size_t at, const char *format, ...)
{
	va_list ap;

	error->at = at;
	va_start(ap, format);
	vsnprintf(error->why, sizeof(error->why), format, ap);
	va_end(ap);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* ---- which form ---- */

/* The operator that stands there between blanks: its index, or -1. */
static int operator_at(const char *text, size_t at)
{
	if (at == 0 || !is_blank(text[at - 1]))
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(operators); i++) {
		size_t len = strlen(operators[i].word);

		if (!strncmp(text + at, operators[i].word, len) &&
		    (is_blank(text[at + len]) || !text[at + len]))
			return (int)i;
	}
	return -1;
}

/* Behind what is in brackets or in quotes there; `at` itself: nothing is. A quote begins a word. */
static size_t skip_quoted(const char *text, size_t at)
{
	const char *end = NULL;

	if (text[at] == '[') {
		end = text + at + 1;
		end += *end == '^';
		end += *end == ']';
		end = strchr(end, ']');
	}
	if ((text[at] == '\'' || text[at] == '"') && at && is_blank(text[at - 1]))
		end = strchr(text + at + 1, text[at]);
	return end ? (size_t)(end - text) + 1 : at;
}

/* The first operator from there on, or the end of the text and *ret = -1. */
static size_t find_operator(const char *text, size_t at, int *ret)
{
	*ret = -1;
	while (text[at]) {
		size_t behind = skip_quoted(text, at);

		*ret = operator_at(text, at);
		if (*ret >= 0)
			break;
		at = behind > at ? behind : at + 1;
	}
	return at;
}

enum selector_form selector_form_of(const char *text)
{
	int op;

	if (*text == '*' || !strncmp(text, ROOT, strlen(ROOT)))
		return SELECTOR_PATH;
	find_operator(text, 0, &op);
	if (op >= 0)
		return SELECTOR_CONDITION;
	return strstr(text, "/**") ? SELECTOR_PATH : SELECTOR_NAMES;
}

/* ---- steps ---- */

struct parser {
	struct selector *x;
	const char *text;
	size_t at;
	unsigned depth, n_terms;
	size_t bytes; /* of expressions so far */
	struct selector_error *error;
};

static int fail(struct parser *p, size_t at, const char *why)
{
	selector_fail(p->error, at, "%s", why);
	return -EINVAL;
}

static struct step *add(struct parser *p, enum step_kind kind)
{
	struct selector *x = p->x;

	if (ARRAY_ROOM(x->steps, x->cap, x->n + 1) < 0)
		return NULL;
	x->steps[x->n] = (struct step){.kind = (uint8_t)kind, .at = p->at};
	return &x->steps[x->n++];
}

static int add_operator(struct parser *p, enum step_kind kind)
{
	return add(p, kind) ? 0 : -ENOMEM;
}

static char *copy_of(const struct parser *p, size_t from, size_t len)
{
	return strndup(p->text + from, len);
}

/* An expression; where it stands is told of it alone, if it is only a part of the text. */
static int add_name(struct parser *p, size_t from, size_t len, bool is_all)
{
	_cleanup_(freep) char *text = copy_of(p, from, len);
	struct name_pattern pattern;
	char why[128];
	int r = text ? name_pattern_init(&pattern, text, why, sizeof(why)) : -ENOMEM;
	struct step *s;

	if (r == -EINVAL)
		selector_fail(p->error, is_all ? SELECTOR_NOWHERE : from,
			      is_all ? "%s" : "no regular expression: %s", why);
	if (r < 0)
		return r;
	p->bytes += pattern.bytes;
	s = p->bytes <= BYTES_MAX ? add(p, STEP_NAME) : NULL;
	if (s)
		s->name = pattern;
	else
		name_pattern_done(&pattern);
	if (p->bytes > BYTES_MAX)
		return fail(p, from, "its expressions are too large together");
	return s ? 0 : -ENOMEM;
}

static int add_path(struct parser *p, size_t from, size_t len)
{
	struct path_glob glob;
	const char *why;
	size_t at = 0;
	struct step *s;
	int r;

	if (len >= strlen(ROOT) && !strncmp(p->text + from, ROOT, strlen(ROOT))) {
		from += strlen(ROOT);
		len -= strlen(ROOT);
	}
	r = path_glob_init(&glob, p->text + from, len, &why, &at);
	if (r == -EINVAL)
		return fail(p, from + at, why);
	if (r < 0)
		return r;
	s = add(p, STEP_PATH);
	if (s)
		s->path = glob;
	else
		path_glob_done(&glob);
	return s ? 0 : -ENOMEM;
}

/* ---- conditions ---- */

static void skip_blanks(struct parser *p)
{
	while (is_blank(p->text[p->at]))
		p->at++;
}

static bool stands_there(const struct parser *p, const char *word)
{
	return !strncmp(p->text + p->at, word, strlen(word));
}

static bool takes(struct parser *p, const char *word)
{
	skip_blanks(p);
	if (!stands_there(p, word))
		return false;
	p->at += strlen(word);
	return true;
}

static size_t trimmed(const struct parser *p, size_t from, size_t to)
{
	while (to > from && is_blank(p->text[to - 1]))
		to--;
	return to - from;
}

static bool is_joint(const char *text)
{
	return !strncmp(text, "&&", 2) || !strncmp(text, "||", 2);
}

/* Where && or || stands, or the end; also the first of these characters. */
static size_t find_joint(const struct parser *p, size_t at, const char *stops)
{
	while (p->text[at] && !strchr(stops, p->text[at]) && !is_joint(p->text + at))
		at++;
	return at;
}

/* Where an expression or a path ends that is in no quotes: at && or || behind a blank, and at a ")" that
 * closes nothing in it. */
static size_t pattern_end(const struct parser *p, size_t at)
{
	unsigned open = 0;

	for (size_t behind; p->text[at]; at = behind) {
		char c = p->text[at];

		behind = skip_quoted(p->text, at);
		if (behind > at)
			continue;
		behind = at + 1 + (c == '\\' && p->text[at + 1]);
		if ((c == ')' && open == 0) ||
		    (at && is_blank(p->text[at - 1]) && is_joint(p->text + at)))
			break;
		open += c == '(';
		open -= c == ')';
	}
	return at;
}

/* "name ~ RE", "path ~ GLOB" */
static int parse_pattern(struct parser *p, size_t word, size_t len, bool is_not)
{
	bool is_name = len == 4 && !strncmp(p->text + word, "name", len), is_quoted;
	size_t from, to;
	const char *end;
	int r;

	if (!is_name && !(len == 4 && !strncmp(p->text + word, "path", len)))
		return fail(p, word, "~ is for 'name' and 'path'");
	skip_blanks(p);
	from = p->at;
	is_quoted = p->text[from] == '\'' || p->text[from] == '"';
	end = is_quoted ? strchr(p->text + from + 1, p->text[from]) : NULL;
	if (is_quoted && !end)
		return fail(p, from, "the quote is not closed");
	to = is_quoted ? (size_t)(end - p->text) : pattern_end(p, from);
	p->at = to + is_quoted;
	from += is_quoted;
	len = is_quoted ? to - from : trimmed(p, from, to);
	if (len == 0)
		return fail(p, from, is_name ? "an expression is wanted" : "a path is wanted");
	r = is_name ? add_name(p, from, len, false) : add_path(p, from, len);
	return r == 0 && is_not ? add_operator(p, STEP_NOT) : r;
}

static int parse_amount(struct parser *p, size_t word, size_t len, uint8_t accepts)
{
	size_t from, to;
	struct amount amount;
	struct step *s;

	skip_blanks(p);
	from = p->at;
	to = find_joint(p, from, ")");
	if (to == from)
		return fail(p, from, "a number is wanted");
	if (amount_parse(p->text + from, to - from, &amount) < 0) {
		int shown = (int)MIN(trimmed(p, from, to), 40u);

		selector_fail(p->error, from, "'%.*s' is no number, or has no such unit", shown,
			      p->text + from);
		return -EINVAL;
	}
	s = add(p, STEP_COMPARE);
	if (!s)
		return -ENOMEM;
	s->accepts = accepts;
	s->at = word;
	s->len = len;
	s->at_amount = from;
	s->amount = amount;
	p->at = to;
	return 0;
}

/* Where the quote closes that begins a column's name there: an operator follows. 0: none begins it, or the
 * name has a quote in front. */
static size_t find_quoted(const struct parser *p, size_t word)
{
	char quote = p->text[word];
	bool is_quote = quote == '\'' || quote == '"';
	const char *end = is_quote ? strchr(p->text + word + 1, quote) : NULL;
	size_t at = end ? (size_t)(end - p->text) : 0, behind = at + 1;

	while (at && is_blank(p->text[behind]))
		behind++;
	return at && operator_at(p->text, behind) >= 0 ? at : 0;
}

/* Up to an operator stands the name of a column, which may have blanks and parentheses in it; in quotes
 * anything. */
static int parse_comparison(struct parser *p)
{
	size_t word = p->at, quote = find_quoted(p, word), at, len;
	int i;

	if (++p->n_terms > TERMS_MAX)
		return fail(p, word, "there are more than 1000 comparisons");
	at = find_operator(p->text, quote ? quote + 1 : word, &i);
	len = trimmed(p, word, at);
	if (i < 0 || (!quote && find_joint(p, word, "") < at))
		return fail(p, word, "a comparison is wanted, as 'time > 1ms'");
	if (quote)
		len = quote - ++word;
	if (len == 0)
		return fail(p, word, "the name of a column is wanted");
	p->at = at + strlen(operators[i].word);
	if (!operators[i].accepts)
		return parse_pattern(p, word, len, operators[i].is_not);
	return parse_amount(p, word, len, operators[i].accepts);
}

static int parse_any(struct parser *p);

static int parse_one(struct parser *p)
{
	int r;

	if (p->depth > DEPTH_MAX)
		return fail(p, p->at, "nested too deep");
	p->depth++;
	if (takes(p, "!")) {
		r = parse_one(p);
		r = r == 0 ? add_operator(p, STEP_NOT) : r;
	} else if (takes(p, "(")) {
		r = parse_any(p);
		if (r == 0 && !takes(p, ")"))
			r = fail(p, p->at, "')' is wanted");
	} else {
		r = parse_comparison(p);
	}
	p->depth--;
	return r;
}

static int parse_all(struct parser *p)
{
	int r = parse_one(p);

	while (r == 0 && takes(p, "&&")) {
		r = parse_one(p);
		r = r == 0 ? add_operator(p, STEP_AND) : r;
	}
	return r;
}

static int parse_any(struct parser *p)
{
	int r = parse_all(p);

	while (r == 0 && takes(p, "||")) {
		r = parse_all(p);
		r = r == 0 ? add_operator(p, STEP_OR) : r;
	}
	return r;
}

static int parse_condition(struct parser *p)
{
	int r = parse_any(p);

	skip_blanks(p);
	return r == 0 && p->text[p->at] ? fail(p, p->at, "'&&' or '||' is wanted") : r;
}

int selector_parse(struct selector *x, struct selector_error *error)
{
	struct parser p = {.x = x, .text = x->text, .error = error};

	switch (x->form) {
	case SELECTOR_PATH:
		return add_path(&p, 0, strlen(x->text));
	case SELECTOR_CONDITION:
		return parse_condition(&p);
	default:
		return add_name(&p, 0, strlen(x->text), true);
	}
}
