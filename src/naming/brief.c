/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "naming/brief.h"
#include <ctype.h>
#include <string.h>
#include "base/buf.h"
#include "base/util.h"
#include "naming/rules.h"
#include "naming/signature.h"

/* Characters that a kernel's arguments may take, by level; 0: any number. */
static const unsigned arguments_max[BRIEF_N] = {[BRIEF_LEAST] = 100, [BRIEF_TYPED] = 160};

enum place { AT_KERNEL, AT_TYPE }; /* whose arguments are written */

struct writer {
	const struct signature *s;
	struct buf *out;
	enum brief_level level;
	unsigned tight; /* how much more goes since the arguments are too many: 0 to 2 */
};

static const struct name_part *part_of(const struct writer *w, uint32_t id)
{
	return &w->s->parts[id];
}

static bool is_word_of(const struct name_part *p, const char *word)
{
	return p->len == strlen(word) && !memcmp(p->text, word, p->len);
}

static bool is_operator(const struct name_part *p)
{
	static const char word[] = "operator";

	return p->kind == PART_NAME && p->len >= sizeof(word) - 1 &&
	       !memcmp(p->text, word, sizeof(word) - 1);
}

static enum rule rule_at(const struct name_part *p)
{
	return (enum rule)p->rule;
}

/* ---- what a type is ---- */

/* The first part of a path that is not a namespace: the last one, or one that has more than a name. */
static uint32_t behind_namespaces(const struct writer *w, uint32_t path)
{
	for (; part_of(w, path)->next != PART_NONE; path = part_of(w, path)->next) {
		const struct name_part *p = part_of(w, path);

		if (p->has_args || p->has_parameters || p->kind == PART_LAMBDA)
			return path;
	}
	return path;
}

static bool has_lambda(const struct writer *w, uint32_t path)
{
	for (; path != PART_NONE; path = part_of(w, path)->next)
		if (part_of(w, path)->kind == PART_LAMBDA)
			return true;
	return false;
}

/* "float (float)", "void (*)(int)" */
static bool is_function_type(const struct name_part *type)
{
	return type->behind_len > 1 && type->behind[0] == ' ' && type->behind[1] == '(';
}

static enum rule rule_of_type(const struct writer *w, const struct name_part *type)
{
	uint32_t at = behind_namespaces(w, type->child);

	return has_lambda(w, at) ? RULE_NONE : rule_at(part_of(w, at));
}

static bool is_constant(const struct writer *w, uint32_t argument)
{
	const struct name_part *p = part_of(w, argument);

	if (p->kind != PART_TYPE)
		return p->kind == PART_NUMBER;
	return rule_of_type(w, p) == RULE_CONSTANT;
}

/* Are all arguments numbers, or types that are one? */
static bool is_extent(const struct writer *w, const struct name_part *of)
{
	uint32_t argument = of->child;

	for (; argument != PART_NONE; argument = part_of(w, argument)->next)
		if (!is_constant(w, argument))
			return false;
	return of->child != PART_NONE;
}

/* The number that an argument is, or is the type of. */
static const struct name_part *number_of(const struct writer *w, uint32_t argument)
{
	const struct name_part *p = part_of(w, argument);

	if (p->kind == PART_TYPE)
		p = part_of(w, behind_namespaces(w, p->child));
	return p->kind == PART_NAME && p->child != PART_NONE ? part_of(w, p->child) : p;
}

/* "1x1x1": a cluster of one block, which is none. */
static bool is_unit(const struct writer *w, const struct name_part *type)
{
	uint32_t argument = part_of(w, behind_namespaces(w, type->child))->child;

	for (; argument != PART_NONE; argument = part_of(w, argument)->next)
		if (!is_word_of(number_of(w, argument), "1"))
			return false;
	return true;
}

enum sense { SENSE_NOISE, SENSE_VALUE, SENSE_ELEMENT, SENSE_SHAPE, SENSE_FUNCTOR };

/* What an argument is to somebody who looks for what a kernel does. */
static enum sense sense_of(const struct writer *w, uint32_t argument)
{
	const struct name_part *p = part_of(w, argument);

	if (p->kind != PART_TYPE)
		return SENSE_VALUE;
	if (is_function_type(p))
		return w->level < BRIEF_TYPED ? SENSE_NOISE : SENSE_ELEMENT;
	switch (rule_of_type(w, p)) {
	case RULE_NOISE:
		return w->level < BRIEF_ALL ? SENSE_NOISE : SENSE_FUNCTOR;
	case RULE_ELEMENT:
		return SENSE_ELEMENT;
	case RULE_CONSTANT:
		return SENSE_VALUE;
	case RULE_EXTENT:
		if (is_extent(w, part_of(w, behind_namespaces(w, p->child))))
			return w->level == BRIEF_LEAST && is_unit(w, p) ? SENSE_NOISE : SENSE_SHAPE;
		return w->level < BRIEF_ALL ? SENSE_NOISE : SENSE_FUNCTOR;
	default:
		return SENSE_FUNCTOR;
	}
}

/* The functor among arguments: a function or a lambda, or else the first type that is not of
 * elements. PART_NONE: there is none. */
static uint32_t functor_of(const struct writer *w, const struct name_part *of)
{
	uint32_t found = PART_NONE, argument = of->child;

	for (; argument != PART_NONE; argument = part_of(w, argument)->next) {
		const struct name_part *p = part_of(w, argument);

		if (sense_of(w, argument) != SENSE_FUNCTOR)
			continue;
		if (*p->text == '&' || has_lambda(w, p->child))
			return argument;
		if (found == PART_NONE)
			found = argument;
	}
	return found;
}

/* ---- writing ---- */

static void put_argument(struct writer *w, uint32_t argument);
static void put_arguments(struct writer *w, const struct name_part *of, enum place place);
static bool put_list(struct writer *w, const struct name_part *of, enum place place, bool any);

/* "2ul" is 2, and "(Order)1" is 1. */
static void put_number(struct writer *w, const struct name_part *p)
{
	const char *text = p->text, *end = p->text + p->len;

	if (*text == '(')
		text = (const char *)memrchr(text, ')', p->len) + 1;
	if (isdigit((unsigned char)end[-1]) || strchr("uUlL", end[-1]))
		while (end > text + 1 && strchr("uUlL", end[-1]))
			end--;
	buf_put(w->out, text, (size_t)(end - text));
}

static void put_extent(struct writer *w, const struct name_part *of)
{
	for (uint32_t i = of->child; i != PART_NONE; i = part_of(w, i)->next) {
		if (i != of->child)
			buf_putc(w->out, 'x');
		put_number(w, number_of(w, i));
	}
}

/* A list of parameters in a lambda's name, without namespaces. */
static void put_plain_types(struct writer *w, const char *text, const char *end)
{
	const char *word = text;

	for (; text < end; text++) {
		if (text[0] == ':' && text + 1 < end && text[1] == ':') {
			text++;
			word = text + 1;
		} else if (!isalnum((unsigned char)*text) && *text != '_') {
			buf_put(w->out, word, (size_t)(text - word) + 1);
			word = text + 1;
		}
	}
	if (word < end)
		buf_put(w->out, word, (size_t)(end - word));
}

/* "{lambda(float)#1}": "(float)" when types are wanted, and "#1" when numbers are. */
static void put_lambda(struct writer *w, const struct name_part *p, bool last)
{
	const char *end = p->text + p->len, *types = memchr(p->text, '(', p->len);
	const char *number = memrchr(p->text, '#', p->len);

	if (w->level >= BRIEF_NUMBERED && number)
		buf_put(w->out, number, (size_t)(end - number) - (end[-1] == '}'));
	if (w->level >= BRIEF_TYPED && last && types)
		put_plain_types(w, types, number ? number : end);
}

/* The function that a lambda stands in; PART_NONE: it stands alone. An operator's name says
 * nothing: then it is the class. */
static uint32_t around_lambda(const struct writer *w, uint32_t path)
{
	uint32_t found = PART_NONE;

	for (; path != PART_NONE && part_of(w, path)->kind != PART_LAMBDA;
	     path = part_of(w, path)->next)
		if (part_of(w, path)->kind == PART_NAME && !is_operator(part_of(w, path)))
			found = path;
	return found;
}

/* Of a class, and of its operator that is meant. */
static void put_arguments_of_both(struct writer *w, const struct name_part *of,
				  const struct name_part *next)
{
	bool any = put_list(w, of, AT_TYPE, false);

	if (next && is_operator(next))
		any = put_list(w, next, AT_TYPE, any);
	if (any)
		buf_putc(w->out, '>');
}

/* Returns whether it is the function itself, and not the functor that it is a wrapper of. */
static bool put_function(struct writer *w, uint32_t id)
{
	const struct name_part *p = part_of(w, id);
	uint32_t functor = rule_at(p) == RULE_WRAPPER && w->level < BRIEF_NUMBERED
				   ? functor_of(w, p)
				   : PART_NONE;

	if (functor != PART_NONE) {
		put_argument(w, functor);
		return false;
	}
	buf_put(w->out, p->text,
		w->level < BRIEF_NUMBERED ? rule_bare_len(p->text, p->len) : p->len);
	put_arguments_of_both(w, p, p->next != PART_NONE ? part_of(w, p->next) : NULL);
	return true;
}

static void put_lambda_path(struct writer *w, uint32_t path)
{
	uint32_t around = around_lambda(w, path);

	if (around == PART_NONE)
		buf_puts(w->out, "lambda");
	else if (!put_function(w, around))
		return;
	for (; path != PART_NONE; path = part_of(w, path)->next) {
		const struct name_part *p = part_of(w, path);

		if (p->kind == PART_LAMBDA)
			put_lambda(w, p, !has_lambda(w, p->next));
	}
}

/* A function by its address, as a functor. */
static bool is_address(const struct name_part *type)
{
	return *type->text == '&';
}

static void put_path(struct writer *w, const struct name_part *type)
{
	uint32_t at = behind_namespaces(w, type->child);
	const char *between = "";

	if (has_lambda(w, at)) {
		put_lambda_path(w, type->child);
		return;
	}
	if (is_address(type) && w->level < BRIEF_NUMBERED) {
		put_function(w, at);
		return;
	}
	for (; at != PART_NONE; at = part_of(w, at)->next) {
		const struct name_part *p = part_of(w, at);

		if (p->kind == PART_UNNAMED)
			continue;
		buf_puts(w->out, between);
		buf_put(w->out, p->text, p->len);
		if (p->has_args)
			put_arguments(w, p, AT_TYPE);
		between = "::";
	}
}

/* What stands behind a type: pointers always, the rest where types are wanted. */
static void put_behind(struct writer *w, const struct name_part *type)
{
	if (w->level >= BRIEF_TYPED) {
		put_plain_types(w, type->behind, type->behind + type->behind_len);
		return;
	}
	for (uint32_t i = 0; i < type->behind_len && !is_function_type(type); i++)
		if (type->behind[i] == '*')
			buf_putc(w->out, '*');
}

static void put_type(struct writer *w, const struct name_part *type)
{
	const struct name_part *p = part_of(w, behind_namespaces(w, type->child));
	enum rule rule = rule_of_type(w, type);
	uint32_t functor = PART_NONE;

	if (rule == RULE_EXTENT && is_extent(w, p)) {
		put_extent(w, p);
		return;
	}
	if (rule == RULE_CONSTANT && p->child != PART_NONE && w->level < BRIEF_ALL) {
		put_number(w, part_of(w, p->child));
		return;
	}
	if (rule == RULE_WRAPPER && w->level < BRIEF_NUMBERED)
		functor = functor_of(w, p);
	if (functor != PART_NONE) {
		put_argument(w, functor);
		return;
	}
	put_path(w, type);
	put_behind(w, type);
}

static void put_argument(struct writer *w, uint32_t argument)
{
	const struct name_part *p = part_of(w, argument);

	if (p->kind == PART_TYPE)
		put_type(w, p);
	else if (p->kind == PART_NUMBER)
		put_number(w, p);
	else
		buf_put(w->out, p->text, p->len);
}

/* ---- which arguments are written ---- */

struct counted {
	unsigned elements, functors;
	uint32_t first_functor, first_shape, first_element;
};

static struct counted count(const struct writer *w, const struct name_part *of)
{
	struct counted n = {0, 0, PART_NONE, PART_NONE, PART_NONE};

	for (uint32_t i = of->child; i != PART_NONE; i = part_of(w, i)->next) {
		enum sense sense = sense_of(w, i);

		n.elements += sense == SENSE_ELEMENT;
		n.functors += sense == SENSE_FUNCTOR;
		if (sense == SENSE_FUNCTOR && n.first_functor == PART_NONE)
			n.first_functor = i;
		if (sense == SENSE_SHAPE && n.first_shape == PART_NONE)
			n.first_shape = i;
		if (sense == SENSE_ELEMENT && n.first_element == PART_NONE)
			n.first_element = i;
	}
	return n;
}

static bool is_truth(const struct name_part *p)
{
	return is_word_of(p, "true") || is_word_of(p, "false");
}

/* What stands when there is no room for all. */
static bool is_wanted_tight(const struct writer *w, uint32_t argument, enum place place,
			    const struct counted *n)
{
	bool typed = w->level >= BRIEF_TYPED, element = sense_of(w, argument) == SENSE_ELEMENT;

	if (place == AT_TYPE && w->tight > 1)
		return argument == n->first_functor || argument == n->first_shape ||
		       (typed && argument == n->first_element);
	return (!element || typed) && !is_truth(part_of(w, argument));
}

/* In the shortest form, types of elements stand in a functor when there is one and nothing else;
 * those of a kernel stand as long as there is room. */
static bool is_wanted(const struct writer *w, uint32_t argument, enum place place,
		      const struct counted *n)
{
	enum sense sense = sense_of(w, argument);

	if (sense == SENSE_NOISE)
		return false;
	if (w->level == BRIEF_LEAST && place == AT_TYPE && sense == SENSE_ELEMENT)
		return n->elements == 1 && !n->functors;
	return !w->tight || is_wanted_tight(w, argument, place, n);
}

/* Libraries pass one functor in several disguises: in the shortest form it is said once. */
static bool is_said_before(const struct writer *w, uint32_t argument, size_t before, size_t at)
{
	const char *text = w->out->data;
	size_t len = w->out->len - at;

	if (w->level > BRIEF_LEAST || before == SIZE_MAX || sense_of(w, argument) != SENSE_FUNCTOR)
		return false;
	return at - before >= len - 1 && at - before <= len &&
	       !memcmp(text + at - (len - 2), text + at + 2, len - 2);
}

/* The arguments between the brackets; returns whether there were any. */
static bool put_list(struct writer *w, const struct name_part *of, enum place place, bool any)
{
	struct counted n = count(w, of);
	size_t at,
		last = SIZE_MAX; /* where arguments begin in the text: this, and the one before */

	for (uint32_t i = of->child; i != PART_NONE; i = part_of(w, i)->next) {
		const struct name_part *p = part_of(w, i);

		if (p->kind == PART_TYPE && rule_of_type(w, p) == RULE_SPLICED &&
		    w->level < BRIEF_ALL) {
			any = put_list(w, part_of(w, behind_namespaces(w, p->child)), place, any);
			continue;
		}
		if (!is_wanted(w, i, place, &n))
			continue;
		at = w->out->len;
		buf_puts(w->out, any ? ", " : "<");
		put_argument(w, i);
		if (is_said_before(w, i, last, at))
			w->out->len = at;
		else
			last = at;
		any = true;
	}
	return any;
}

static void put_arguments(struct writer *w, const struct name_part *of, enum place place)
{
	size_t before = w->out->len;

	if (!put_list(w, of, place, false))
		return;
	buf_putc(w->out, '>');
	if (place != AT_KERNEL || !arguments_max[w->level])
		return;
	for (w->tight = 1; w->tight < 3 && w->out->len - before > arguments_max[w->level];
	     w->tight++) {
		w->out->len = before;
		if (put_list(w, of, place, false))
			buf_putc(w->out, '>');
	}
	w->tight = 0;
}

/* ---- the whole ---- */

static void put_name(struct writer *w)
{
	uint32_t at = w->s->path;

	if (has_lambda(w, at)) {
		put_lambda_path(w, at);
		return;
	}
	for (; at != PART_NONE; at = part_of(w, at)->next) {
		const struct name_part *p = part_of(w, at);
		bool last = p->next == PART_NONE;

		if (p->kind == PART_UNNAMED || (!last && rule_is_version(p->text, p->len)))
			continue;
		buf_put(w->out, p->text, p->len);
		if (p->has_args)
			put_arguments(w, p, last ? AT_KERNEL : AT_TYPE);
		if (!last)
			buf_puts(w->out, "::");
	}
}

char *brief_make(const char *whole, enum brief_level level)
{
	_cleanup_(signature_done) struct signature signature = {0};
	_cleanup_(buf_done) struct buf text = {0};
	struct writer w = {.s = &signature, .out = &text, .level = level};
	const char *begin;

	if (signature_parse(&signature, whole) < 0)
		return NULL;
	if (level < BRIEF_WHOLE) {
		put_name(&w);
	} else {
		begin = part_of(&w, signature.path)->text;
		buf_put(&text, begin, (size_t)(signature.end - begin));
	}
	if (text.error || !text.len || isdigit((unsigned char)*text.data))
		return NULL;
	return strdup(buf_str(&text));
}
