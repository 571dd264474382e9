/* SPDX-License-Identifier: MIT */
#ifndef PROTON_NAMING_SENSE_H
#define PROTON_NAMING_SENSE_H
/* What the parts of a signature are to somebody who looks for what a kernel does.
 *   thread  any */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "naming/brief.h"
#include "naming/rules.h"
#include "naming/signature.h"

enum sense { SENSE_NOISE, SENSE_VALUE, SENSE_ELEMENT, SENSE_SHAPE, SENSE_FUNCTOR };

static inline const struct name_part *part_of(const struct signature *s, uint32_t id)
{
	return &s->parts[id];
}

static inline bool part_is(const struct name_part *p, const char *word)
{
	return p->len == strlen(word) && !memcmp(p->text, word, p->len);
}

static inline enum rule part_rule(const struct name_part *p)
{
	return (enum rule)p->rule;
}

bool part_is_operator(const struct name_part *p);

/* Of an argument, at a level. */
enum sense sense_of(const struct signature *s, enum brief_level level, uint32_t argument);
/* The functor among arguments: a function or a lambda, or else the first type that is not of
 * elements. PART_NONE: there is none. */
uint32_t functor_of(const struct signature *s, enum brief_level level, const struct name_part *of);

/* The first part of a path that is not a namespace: the last one, or one that has more than a name. */
uint32_t path_behind_namespaces(const struct signature *s, uint32_t path);
bool path_has_lambda(const struct signature *s, uint32_t path);
/* The function that a lambda stands in; PART_NONE: it stands alone. An operator's name says
 * nothing: then it is the class. */
uint32_t path_around_lambda(const struct signature *s, uint32_t path);

enum rule type_rule(const struct signature *s, const struct name_part *type);
/* "float (float)", "void (*)(int)" */
bool type_is_function(const struct name_part *type);
/* A function by its address, as a functor. */
bool type_is_address(const struct name_part *type);
/* Are all arguments of a part numbers, or types that are one? */
bool type_is_extent(const struct signature *s, const struct name_part *of);
/* The number that an argument is, or is the type of. */
const struct name_part *type_number(const struct signature *s, uint32_t argument);

#endif
