/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "naming/signature.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"
#include "naming/rules.h"

#define DEPTH_MAX 100 /* of arguments within arguments */

struct parser {
	struct signature *s;
	const char *at;
	unsigned depth;
	int error;
};

/* What characters are: long names are read more than once. */
enum { WORD = 1, OPENS };

static const uint8_t classes[256] = {
	['0' ... '9'] = WORD, ['A' ... 'Z'] = WORD, ['a' ... 'z'] = WORD, [0x80 ... 0xff] = WORD,
	['_'] = WORD,         ['$'] = WORD,         ['.'] = WORD,         ['('] = OPENS,
	['['] = OPENS,        ['{'] = OPENS,        ['<'] = OPENS,
};

static inline bool is_word(char c)
{
	return classes[(unsigned char)c] == WORD;
}

static inline bool starts(const char *at, const char *with)
{
	return *at == *with && !strncmp(at, with, strlen(with));
}

/* ---- text in brackets ---- */

static char closing(char c)
{
	return c == '(' ? ')' : (char)(c + 2); /* as ASCII has them */
}

static inline bool opens(char c)
{
	return classes[(unsigned char)c] == OPENS;
}

/* Behind an "operator" and its sign: "operator()", "operator<<". NULL: there is none here. */
static const char *behind_operator(const char *at)
{
	static const char word[] = "operator";

	if (!starts(at, word) || is_word(at[sizeof(word) - 1]))
		return NULL;
	at += sizeof(word) - 1;
	if (starts(at, "()") || starts(at, "[]"))
		return at + 2;
	if (*at == ' ') { /* a conversion, or new and delete */
		at++;
		return at + strcspn(at, "(,>");
	}
	return at + strspn(at, "<>=!+-*/%^&|~,");
}

const char *signature_behind_bracket(const char *at)
{
	char open[DEPTH_MAX];
	unsigned n = 0;

	while (*at) {
		const char *word = at;

		while (is_word(*at))
			at++;
		if (*word == 'o' && at - word == 8 && behind_operator(word)) {
			at = behind_operator(word);
			continue;
		}
		if (opens(*at)) {
			if (n == DEPTH_MAX)
				return NULL;
			open[n++] = closing(*at);
		} else if (n && *at == open[n - 1] && (*at != '>' || at[-1] != '-')) {
			if (--n == 0)
				return at + 1;
		}
		at += *at != '\0';
	}
	return NULL;
}

/* ---- parts ---- */

static uint32_t part_new(struct parser *p, enum part_kind kind, const char *text, const char *end)
{
	struct signature *s = p->s;

	if (ARRAY_ROOM(s->parts, s->cap, s->n + 1) < 0) {
		p->error = -ENOMEM;
		return PART_NONE;
	}
	s->parts[s->n] = (struct name_part){.text = text,
					    .len = (uint32_t)(end - text),
					    .kind = (uint8_t)kind,
					    .rule = RULE_NONE,
					    .child = PART_NONE,
					    .next = PART_NONE};
	return (uint32_t)s->n++;
}

static uint32_t parse_argument(struct parser *p);

/* "'lambda'(float)", as LLVM's demangler writes them */
static bool is_quoted(const char *at)
{
	return (starts(at, "'lambda") || starts(at, "'unnamed")) && strchr(at + 1, '\'');
}

static void skip_blanks(struct parser *p)
{
	while (*p->at == ' ')
		p->at++;
}

/* What stands between brackets, of a part. */
static void parse_list(struct parser *p, uint32_t of, char close)
{
	uint32_t last = PART_NONE;

	p->at++;
	if (++p->depth > DEPTH_MAX)
		p->error = -EINVAL;
	skip_blanks(p);
	while (p->error == 0 && *p->at && *p->at != close) {
		const char *before = p->at;
		uint32_t argument = parse_argument(p);

		if (p->error == 0 && p->at == before)
			p->error = -EINVAL; /* a bracket that nobody opened */
		if (p->error)
			break;
		if (last == PART_NONE)
			p->s->parts[of].child = argument;
		else
			p->s->parts[last].next = argument;
		last = argument;
		skip_blanks(p);
		if (*p->at == ',')
			p->at++;
		skip_blanks(p);
	}
	p->depth--;
	if (*p->at == close)
		p->at++;
	else
		p->error = p->error ? p->error : -EINVAL;
}

/* "<a, b>" of a part. */
static void parse_arguments(struct parser *p, uint32_t of)
{
	p->s->parts[of].has_args = true;
	parse_list(p, of, '>');
}

/* Types of more than one word are one: "unsigned long long". */
static const char *behind_words(const char *at, const char *end)
{
	while (*end == ' ' && rule_is_basic(at, (size_t)(end - at))) {
		const char *next = end + 1;

		while (is_word(*next))
			next++;
		at = end + 1;
		if (!rule_is_basic(at, (size_t)(next - at)))
			break;
		end = next;
	}
	return end;
}

/* The next part of a path, without what belongs to it. PART_NONE: there is none. */
static uint32_t parse_name(struct parser *p)
{
	static const char unnamed[] = "(anonymous namespace)";
	const char *begin = p->at, *end = begin;
	enum part_kind kind = PART_NAME;

	if (starts(begin, unnamed)) {
		kind = PART_UNNAMED;
		end = begin + sizeof(unnamed) - 1;
	} else if (*begin == '{') {
		kind = PART_LAMBDA;
		end = signature_behind_bracket(begin);
	} else if (is_quoted(begin)) {
		kind = PART_LAMBDA;
		end = strchr(begin + 1, '\'') + 1;
		if (*end == '(')
			end = signature_behind_bracket(end);
	} else if (*begin == 'o' && behind_operator(begin)) {
		end = behind_operator(begin);
	} else {
		while (is_word(*end) || (*end == '~' && end == begin))
			end++;
		if (*end == ' ')
			end = behind_words(begin, end);
	}
	if (end && starts(end, "[abi:"))
		end = signature_behind_bracket(end);
	if (!end || end == begin) {
		p->error = -EINVAL;
		return PART_NONE;
	}
	p->at = end;
	return part_new(p, kind, begin, end);
}

/* Behind the qualifiers of a function within a path: "f() const::x"; `at` itself if the path ends. */
static const char *behind_qualifiers(const char *at)
{
	static const char *const words[] = {" const", " volatile", " &&", " &", "&&", "&"};
	const char *end = at;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (starts(end, words[i]))
			end += strlen(words[i]);
	return starts(end, "::") ? end : at;
}

/* The parameters of a function in a path. Those of the last one end it: of a type or of the whole. */
static bool parse_parameters(struct parser *p, uint32_t of, bool whole)
{
	const char *end = signature_behind_bracket(p->at);

	if (!end) {
		p->error = -EINVAL;
		return false;
	}
	if (!starts(behind_qualifiers(end), "::") && whole)
		return false;
	p->s->parts[of].has_parameters = true;
	p->at = behind_qualifiers(end);
	return starts(p->at, "::");
}

/* Namespaces have no rules: they are most of the names there are. */
static void set_rule(struct name_part *part, bool more)
{
	if (part->kind == PART_NAME && (!more || part->has_args || part->has_parameters))
		part->rule = (uint8_t)rule_of(part->text, part->len);
}

/* A path; `whole`: that of the name itself, whose parameters are not read. */
static uint32_t parse_path(struct parser *p, bool whole)
{
	uint32_t first = PART_NONE, last = PART_NONE;
	bool more = true;

	while (more) {
		uint32_t part = parse_name(p);

		if (p->error)
			return PART_NONE;
		if (first == PART_NONE)
			first = part;
		else
			p->s->parts[last].next = part;
		last = part;
		if (*p->at == ' ' && p->at[1] == '<') /* "operator< <int>" */
			p->at++;
		if (*p->at == '<')
			parse_arguments(p, part);
		if (p->error)
			return PART_NONE;
		more = starts(p->at, "::");
		if (*p->at == '(')
			more = parse_parameters(p, part, whole);
		set_rule(&p->s->parts[part], more);
		if (more)
			p->at += 2;
	}
	return first;
}

/* Up to the comma or bracket that ends an argument. */
static const char *behind_rest(const char *at)
{
	while (*at && *at != ',' && *at != '>' && *at != ')') {
		const char *end = opens(*at) ? signature_behind_bracket(at) : at + 1;

		if (!end)
			return at + strlen(at);
		if (starts(at, "->"))
			end = at + 2;
		at = end;
	}
	return at;
}

/* An argument that is not a type: as it stands, casts and signs included. */
static uint32_t parse_value(struct parser *p)
{
	const char *begin = p->at, *end = behind_rest(begin), *digits;

	while (end > begin && end[-1] == ' ')
		end--;
	p->at = behind_rest(begin);
	digits = *begin == '(' ? signature_behind_bracket(begin) : begin;
	if (digits && (isdigit((unsigned char)*digits) ||
		       (*digits == '-' && isdigit((unsigned char)digits[1]))))
		return part_new(p, PART_NUMBER, begin, end);
	return part_new(p, PART_TEXT, begin, end);
}

static bool is_truth(const char *at)
{
	size_t n = starts(at, "true") ? 4 : starts(at, "false") ? 5 : 0;

	return n && !is_word(at[n]);
}

static const char *behind_return_type(const char *text);

/* "&f", "&(f(int))" and "&(int f<int>(int))" are f. */
static const char *behind_address(const char *at)
{
	const char *name, *end;

	if (*at != '&')
		return at;
	if (*++at != '(' || starts(at, "(anonymous"))
		return at;
	end = signature_behind_bracket(at++);
	name = behind_return_type(at);
	return name && end && name < end ? name : at;
}

static uint32_t parse_argument(struct parser *p)
{
	const char *begin = p->at, *name = behind_address(begin), *end;
	uint32_t type, path;
	size_t n = p->s->n;

	if (is_truth(begin)) {
		p->at = begin + (*begin == 't' ? 4 : 5);
		return part_new(p, PART_NUMBER, begin, p->at);
	}
	if (!is_word(*name) && !strchr("{~", *name) && !is_quoted(name) &&
	    !starts(name, "(anonymous"))
		return parse_value(p);
	if (isdigit((unsigned char)*name))
		return parse_value(p);
	type = part_new(p, PART_TYPE, begin, begin);
	p->at = name;
	path = p->error ? PART_NONE : parse_path(p, false);
	if (p->error == -EINVAL && p->depth < DEPTH_MAX) { /* an expression */
		p->error = 0;
		p->s->n = n;
		p->at = begin;
		return parse_value(p);
	}
	if (p->error)
		return PART_NONE;
	if (name > begin + 1 && *p->at == ')')
		p->at++;
	p->s->parts[type].child = path;
	p->s->parts[type].behind = p->at;
	p->at = end = behind_rest(p->at);
	while (end > p->s->parts[type].behind && end[-1] == ' ')
		end--;
	p->s->parts[type].behind_len = (uint32_t)(end - p->s->parts[type].behind);
	p->s->parts[type].len = (uint32_t)(p->at - begin);
	return type;
}

/* ---- the whole ---- */

/* Behind the return type: the last blank that is not within brackets, nor part of a name. */
static const char *behind_return_type(const char *text)
{
	const char *begin = text, *at = text;

	while (*at) {
		const char *skip =
			*at == 'o' && (at == text || !is_word(at[-1])) ? behind_operator(at) : NULL;

		if (!skip && opens(*at)) {
			bool parameters = *at == '(' && !starts(at, "(anonymous");

			skip = signature_behind_bracket(at);
			if (!skip)
				return NULL;
			if (parameters && !starts(behind_qualifiers(skip), "::"))
				return begin;
			if (parameters)
				skip = behind_qualifiers(skip);
		}
		if (!skip && *at == ' ' && at[1] != '<') /* "operator< <int>" */
			begin = at + 1;
		at = skip ? skip : at + 1;
	}
	return begin;
}

int signature_parse(struct signature *s, const char *text)
{
	struct parser p = {.s = s};

	s->n = 0;
	s->parameters = PART_NONE;
	s->marked = false;
	s->begin = text;
	p.at = starts(text, "void ") ? text + 5 : behind_return_type(text);
	if (!p.at || !*p.at)
		return -EINVAL;
	s->path = parse_path(&p, true);
	s->path_end = s->end = p.at;
	return p.error;
}

int signature_parse_parameters(struct signature *s)
{
	struct parser p = {.s = s, .at = s->end};
	uint32_t of;

	if (*p.at != '(')
		return -EINVAL;
	of = part_new(&p, PART_TEXT, p.at, p.at);
	if (p.error == 0)
		parse_list(&p, of, ')');
	if (p.error == 0) {
		s->parameters = of;
		s->end = p.at;
	}
	return p.error;
}

void signature_done(struct signature *s)
{
	free(s->parts);
	*s = (struct signature){0};
}
