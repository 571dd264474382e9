/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "ttgir/positions.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "ttgir/module_line.h"

enum { DEEPEST = 32, MOST_STEPS = 1024 }; /* names may be given in a circle */

struct walk {
	const struct ttgir *m;
	position_fn *fn;
	void *ctx;
	unsigned steps;
};

static bool walk_location(struct walk *w, struct ttgir_text location, unsigned depth);

static struct ttgir_text from(const char *at, const char *end)
{
	while (at < end && *at == ' ')
		at++;
	return (struct ttgir_text){at, (size_t)(end - at)};
}

static bool begins(struct ttgir_text text, const char *word)
{
	size_t len = strlen(word);

	return text.len >= len && !memcmp(text.at, word, len);
}

static int name_compare(const void *key, const void *entry)
{
	const struct ttgir_text *x = key, *y = &((const struct ttgir_alias *)entry)->name;
	int r = memcmp(x->at, y->at, MIN(x->len, y->len));

	return r ? r : COMPARE(x->len, y->len);
}

static bool walk_name(struct walk *w, struct ttgir_text name, unsigned depth)
{
	const struct ttgir_alias *alias = NULL;

	while (name.len && name.at[name.len - 1] == ' ')
		name.len--;
	if (w->m->n_aliases)
		alias = bsearch(&name, w->m->aliases, w->m->n_aliases, sizeof(*alias),
				name_compare);
	return alias && walk_location(w, alias->location, depth + 1);
}

/* What stands in a bracket, of which p is the first sign behind it: to where it ends, or to a separator. */
static const char *part_end(const char *p, const char *end, const char *separator)
{
	size_t len = strlen(separator);
	int depth = 0;

	for (; p && p < end; p++) {
		if (depth == 0 && (size_t)(end - p) >= len && !memcmp(p, separator, len))
			return p;
		if (*p == '"') {
			p = module_quoted_end(p, end);
			if (!p)
				return end;
			p--;
		} else if (strchr("([<", *p)) {
			depth++;
		} else if (strchr(")]>", *p) && depth-- == 0) {
			return p;
		}
	}
	return end;
}

/* "k.py":10:16, and a name that somebody gave to another location. */
static bool walk_quoted(struct walk *w, struct ttgir_text location, unsigned depth)
{
	const char *end = location.at + location.len, *p = module_quoted_end(location.at, end);
	struct ttgir_position position;
	size_t digits = 0;

	if (!p || p == end)
		return false;
	if (*p == '(')
		return walk_location(w, from(p + 1, part_end(p + 1, end, ")")), depth + 1);
	if (*p != ':')
		return false;
	position = (struct ttgir_position){{location.at + 1, (size_t)(p - location.at) - 2}, 0};
	for (p++; p < end && isdigit((unsigned char)*p) && digits < 9; p++, digits++)
		position.line = position.line * 10 + (uint32_t)(*p - '0');
	return w->fn(w->ctx, &position);
}

/* callsite(what is called at where) */
static bool walk_call(struct walk *w, struct ttgir_text location, unsigned depth)
{
	static const char at[] = " at ";
	const char *end = location.at + location.len;
	const char *called = memchr(location.at, '(', location.len), *p;

	if (!called)
		return false;
	p = part_end(++called, end, at);
	return ((size_t)(end - p) > sizeof(at) && *p == ' ' &&
		walk_location(w, from(p + sizeof(at) - 1, part_end(p + sizeof(at) - 1, end, ")")),
			      depth + 1)) ||
	       walk_location(w, from(called, p), depth + 1);
}

/* fused<…>[one, other] */
static bool walk_fused(struct walk *w, struct ttgir_text location, unsigned depth)
{
	const char *end = location.at + location.len, *p, *next;

	p = part_end(location.at, end, "[");
	while (p < end && *p != ']') {
		next = part_end(p + 1, end, ",");
		if (walk_location(w, from(p + 1, next), depth + 1))
			return true;
		p = next;
	}
	return false;
}

static bool walk_location(struct walk *w, struct ttgir_text location, unsigned depth)
{
	static const char call[] = "callsite(", fused[] = "fused", wrapped[] = "loc(";

	if (!location.len || depth > DEEPEST || w->steps++ > MOST_STEPS)
		return false;
	if (*location.at == '#')
		return walk_name(w, location, depth);
	if (*location.at == '"')
		return walk_quoted(w, location, depth);
	if (begins(location, call))
		return walk_call(w, location, depth);
	if (begins(location, fused))
		return walk_fused(w, location, depth);
	return begins(location, wrapped) &&
	       walk_location(w,
			     (struct ttgir_text){location.at + sizeof(wrapped) - 1,
						 location.len - (sizeof(wrapped) - 1)},
			     depth + 1);
}

bool ttgir_positions(const struct ttgir *m, const struct ttgir_op *op, position_fn *fn, void *ctx)
{
	struct walk w = {.m = m, .fn = fn, .ctx = ctx};

	return walk_location(&w, op->location, 0);
}

static bool take_first(void *ctx, const struct ttgir_position *position)
{
	*(struct ttgir_position *)ctx = *position;
	return true;
}

bool ttgir_position(const struct ttgir *m, const struct ttgir_op *op, struct ttgir_position *ret)
{
	return ttgir_positions(m, op, take_first, ret);
}

struct ttgir_text ttgir_base_name(struct ttgir_text file)
{
	const char *slash = file.len ? memrchr(file.at, '/', file.len) : NULL;

	if (!slash)
		return file;
	return from(slash + 1, file.at + file.len);
}
