/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_SELECTOR_IMPL_H
#define PROTON_CORE_SELECTOR_IMPL_H
/* What the files of a selector share, and nobody else.
 *
 *   selector.c         what others call: made, explained
 *   selector_parse.c   from text to steps
 *   selector_marks.c   from steps to nodes */
#include "base/units.h"
#include "core/name_pattern.h"
#include "core/path_glob.h"
#include "core/selector.h"

/* How a value may stand to an amount; a comparison accepts some of these. */
enum standing { STANDS_BELOW = 1, STANDS_AT = 2, STANDS_ABOVE = 4 };

enum step_kind {
	STEP_COMPARE, /* these three push the nodes that match … */
	STEP_NAME,
	STEP_PATH,
	STEP_AND, /* … these two pop two and push one, … */
	STEP_OR,
	STEP_NOT, /* … and this one changes the topmost */
};

struct step {
	uint8_t kind;
	uint8_t accepts;           /* of a comparison: bits of enum standing */
	size_t at, len, at_amount; /* of a column's word and its amount, in the text */
	struct amount amount;
	struct name_pattern name;
	struct path_glob path;
};

struct selector {
	char *text;
	enum selector_form form;
	struct step *steps; /* operands before their operator */
	size_t n, cap;
};

/* Fill in the steps. 0, -EINVAL with *error, or -ENOMEM. */
int selector_parse(struct selector *x, struct selector_error *error);
void selector_fail(struct selector_error *error, size_t at, const char *format, ...) _printf_(3, 4);

#endif
