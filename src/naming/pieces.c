/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "naming/pieces.h"
#include <ctype.h>
#include <string.h>
#include "base/shown.h"
#include "base/util.h"
#include "naming/rules.h"
#include "naming/signature.h"

#define UNNAMED "(anonymous namespace)::"

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool is_unnamed(const char *text)
{
	return !strncmp(text, UNNAMED, strlen(UNNAMED));
}

static enum piece_kind kind_of(const char *text)
{
	size_t len = 0;

	if (isdigit((unsigned char)*text) || !is_word(*text))
		return PIECE_NUMBER;
	while (is_word(text[len]))
		len++;
	if ((len == 4 && !memcmp(text, "true", 4)) || (len == 5 && !memcmp(text, "false", 5)))
		return PIECE_TRUTH;
	switch (rule_of(text, len)) {
	case RULE_ELEMENT:
		return PIECE_ELEMENT;
	case RULE_NOISE:
		return PIECE_NOISE;
	default:
		return PIECE_FUNCTOR;
	}
}

/* Behind the argument here: at ',' or at the '>' that ends them all. */
static const char *end_of_argument(const char *at)
{
	while (*at && *at != ',' && *at != '>') {
		const char *next = strchr("<({[", *at) ? signature_behind_bracket(at) : at + 1;

		at = next ? next : at + 1;
	}
	return at;
}

/* The end of a name with namespaces, which *text is moved behind. */
static const char *end_of_name(const char **text, const char *end)
{
	const char *at = *text;

	while (at < end && *at != '<' && (*at != '(' || is_unnamed(at))) {
		if (*at == '(')
			*text = at += strlen(UNNAMED);
		else if (end - at > 2 && at[0] == ':' && at[1] == ':')
			*text = at += 2;
		else
			at++;
	}
	return at;
}

static struct piece piece_of(const char *text, const char *end)
{
	struct piece p = {.behind = end};
	const char *name_end = is_word(*text) || is_unnamed(text) ? end_of_name(&text, end) : end;
	const char *behind = name_end;

	p.kind = (uint8_t)kind_of(text);
	if (p.kind != PIECE_FUNCTOR && p.kind != PIECE_NOISE)
		name_end = behind = end;
	if (behind < end && *behind == '<')
		behind = signature_behind_bracket(behind);
	if (behind && behind <= end) {
		p.behind = behind;
		p.behind_len = (size_t)(end - behind);
	}
	p.text = text;
	p.len = (size_t)(name_end - text);
	p.room = p.columns = shown_columns(p.text, p.len);
	return p;
}

static bool is_like(const struct piece *a, const struct piece *b)
{
	return a->len == b->len && !memcmp(a->text, b->text, a->len);
}

static void add(struct pieces *pieces, size_t first, struct piece p, const struct piece *of)
{
	p.of = of;
	for (size_t i = first; i < pieces->n && p.kind == PIECE_ELEMENT; i++)
		p.repeats |= is_like(&p, &pieces->v[i]);
	pieces->v[pieces->n++] = p;
}

/* Those between brackets; returns how many. */
static size_t add_all(struct pieces *pieces, const char *arguments, const struct piece *of)
{
	size_t first = pieces->n;

	for (const char *at = arguments; *at && *at != '>' && pieces->n < PIECES_MAX;) {
		const char *text = at + 1 + strspn(at + 1, " "), *end;

		at = end = end_of_argument(text);
		while (end > text && end[-1] == ' ')
			end--;
		if (end > text)
			add(pieces, first, piece_of(text, end), of);
	}
	return pieces->n - first;
}

void pieces_of(struct pieces *pieces, const char *arguments)
{
	pieces->n = 0;
	pieces->n_top = add_all(pieces, arguments, NULL);
	for (size_t i = 0; i < pieces->n; i++) {
		struct piece *p = &pieces->v[i];

		p->first = pieces->n;
		if (p->text[p->len] == '<')
			p->n = add_all(pieces, p->text + p->len, p);
	}
}
