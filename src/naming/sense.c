/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "naming/sense.h"

bool part_is_operator(const struct name_part *p)
{
	static const char word[] = "operator";

	return p->kind == PART_NAME && p->len >= sizeof(word) - 1 &&
	       !memcmp(p->text, word, sizeof(word) - 1);
}

uint32_t path_behind_namespaces(const struct signature *s, uint32_t path)
{
	for (; part_of(s, path)->next != PART_NONE; path = part_of(s, path)->next) {
		const struct name_part *p = part_of(s, path);

		if (p->has_args || p->has_parameters || p->kind == PART_LAMBDA)
			return path;
	}
	return path;
}

bool path_has_lambda(const struct signature *s, uint32_t path)
{
	for (; path != PART_NONE; path = part_of(s, path)->next)
		if (part_of(s, path)->kind == PART_LAMBDA)
			return true;
	return false;
}

bool type_is_function(const struct name_part *type)
{
	return type->behind_len > 1 && type->behind[0] == ' ' && type->behind[1] == '(';
}

enum rule type_rule(const struct signature *s, const struct name_part *type)
{
	uint32_t at = path_behind_namespaces(s, type->child), last = at;

	if (path_has_lambda(s, at))
		return RULE_NONE;
	while (part_of(s, last)->next != PART_NONE)
		last = part_of(s, last)->next;
	/* What a type says of itself, a kernel says again by the type: "Gemm<…>, Gemm<…>::Kargs". */
	return part_rule(part_of(s, last)) == RULE_NOISE ? RULE_NOISE : part_rule(part_of(s, at));
}

static bool is_constant(const struct signature *s, uint32_t argument)
{
	const struct name_part *p = part_of(s, argument);

	if (p->kind != PART_TYPE)
		return p->kind == PART_NUMBER;
	return type_rule(s, p) == RULE_CONSTANT;
}

bool type_is_extent(const struct signature *s, const struct name_part *of)
{
	uint32_t argument = of->child;

	for (; argument != PART_NONE; argument = part_of(s, argument)->next)
		if (!is_constant(s, argument))
			return false;
	return of->child != PART_NONE;
}

const struct name_part *type_number(const struct signature *s, uint32_t argument)
{
	const struct name_part *p = part_of(s, argument);

	if (p->kind == PART_TYPE)
		p = part_of(s, path_behind_namespaces(s, p->child));
	return p->kind == PART_NAME && p->child != PART_NONE ? part_of(s, p->child) : p;
}

/* "1x1x1": a cluster of one block, which is none. */
static bool is_unit(const struct signature *s, const struct name_part *type)
{
	uint32_t argument = part_of(s, path_behind_namespaces(s, type->child))->child;

	for (; argument != PART_NONE; argument = part_of(s, argument)->next)
		if (!part_is(type_number(s, argument), "1"))
			return false;
	return true;
}

enum sense sense_of(const struct signature *s, enum brief_level level, uint32_t argument)
{
	const struct name_part *p = part_of(s, argument);

	if (p->kind != PART_TYPE)
		return SENSE_VALUE;
	if (type_is_function(p))
		return level < BRIEF_TYPED ? SENSE_NOISE : SENSE_ELEMENT;
	switch (type_rule(s, p)) {
	case RULE_NOISE:
		return level < BRIEF_ALL ? SENSE_NOISE : SENSE_FUNCTOR;
	case RULE_ELEMENT:
	case RULE_POINTER:
		return SENSE_ELEMENT;
	case RULE_CONSTANT:
		return SENSE_VALUE;
	case RULE_EXTENT:
		if (type_is_extent(s, part_of(s, path_behind_namespaces(s, p->child))))
			return level == BRIEF_LEAST && is_unit(s, p) ? SENSE_NOISE : SENSE_SHAPE;
		return level < BRIEF_ALL ? SENSE_NOISE : SENSE_FUNCTOR;
	default:
		return SENSE_FUNCTOR;
	}
}

uint32_t functor_of(const struct signature *s, enum brief_level level, const struct name_part *of)
{
	uint32_t found = PART_NONE, argument = of->child;

	for (; argument != PART_NONE; argument = part_of(s, argument)->next) {
		const struct name_part *p = part_of(s, argument);

		if (sense_of(s, level, argument) != SENSE_FUNCTOR)
			continue;
		if (*p->text == '&' || path_has_lambda(s, p->child))
			return argument;
		if (found == PART_NONE)
			found = argument;
	}
	return found;
}

uint32_t path_around_lambda(const struct signature *s, uint32_t path)
{
	uint32_t found = PART_NONE;

	for (; path != PART_NONE && part_of(s, path)->kind != PART_LAMBDA;
	     path = part_of(s, path)->next)
		if (part_of(s, path)->kind == PART_NAME && !part_is_operator(part_of(s, path)))
			found = path;
	return found;
}

bool type_is_address(const struct name_part *type)
{
	return *type->text == '&';
}
