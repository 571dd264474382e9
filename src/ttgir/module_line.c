/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "ttgir/module_line.h"

#include <string.h>

const char *module_quoted_end(const char *p, const char *end)
{
	for (p++; p < end; p++) {
		if (*p == '\\')
			p++;
		else if (*p == '"')
			return p + 1;
	}
	return NULL;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static void count_brackets(struct module_line *l, const char *p)
{
	switch (*p) {
	case '{':
		l->braces++;
		break;
	case '}':
		l->braces--;
		break;
	case '(':
	case '[':
	case '<':
		l->brackets++;
		break;
	case ')':
	case ']':
		l->brackets--;
		break;
	case '>':
		l->brackets -= p == l->at || p[-1] != '-'; /* no arrow */
		break;
	}
	if (l->braces < l->lowest)
		l->lowest = l->braces;
}

/* " loc(…)" that ends the line: the last one, for others are within brackets before it. */
static void find_location(struct module_line *l)
{
	static const char word[] = "loc(";
	const char *end = l->at + l->len;
	int depth = 0;

	if (!l->len || end[-1] != ')')
		return;
	for (const char *p = l->at; p && p < end; p++) {
		if (*p == '"') {
			p = module_quoted_end(p, end);
			if (!p)
				return;
			p--;
		} else if (*p == '(' || *p == '{' || *p == '[') {
			depth++;
		} else if (*p == ')' || *p == '}' || *p == ']') {
			depth--;
		} else if (depth <= 0 && (size_t)(end - p) > sizeof(word) &&
			   !memcmp(p, word, sizeof(word) - 1) && p > l->at && is_space(p[-1])) {
			l->location = p + sizeof(word) - 1;
			l->location_len = (size_t)(end - 1 - l->location);
		}
	}
}

void module_line_read(struct module_line *l, const char *line, size_t len)
{
	const char *end = line + len, *p;

	while (line < end && is_space(*line))
		line++;
	*l = (struct module_line){.at = line};
	for (p = line; p < end; p++) {
		if (*p == '"') {
			p = module_quoted_end(p, end);
			if (!p) {
				l->is_broken = true;
				return;
			}
			p--;
		} else if (*p == '/' && p + 1 < end && p[1] == '/') {
			break;
		} else {
			count_brackets(l, p);
		}
	}
	while (p > line && is_space(p[-1]))
		p--;
	l->len = (size_t)(p - line);
	find_location(l);
}

bool module_line_begins(const struct module_line *l, const char *word)
{
	size_t len = strlen(word);

	return l->len >= len && !memcmp(l->at, word, len);
}
