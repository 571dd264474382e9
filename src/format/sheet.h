/* SPDX-License-Identifier: MIT */
#ifndef PROTON_FORMAT_SHEET_H
#define PROTON_FORMAT_SHEET_H
/* A table as text: CSV as RFC 4180 has it, or one of Markdown.
 *
 *   sheet_title() … sheet_end()  sheet_rule() … sheet_end()  then of each row: sheet_word() … sheet_end()
 *
 *   thread  one */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "format/out.h"

struct sheet_form;
extern const struct sheet_form sheet_csv, sheet_markdown;

struct sheet {
	const struct sheet_form *form;
	struct out *out;
	size_t n; /* fields in the line that there are already */
};

/* The next field of a line. */
void sheet_word(struct sheet *t, const char *text);
void sheet_number(struct sheet *t, double v);  /* with all its digits; nothing where it is none */
void sheet_index(struct sheet *t, uint32_t v); /* nothing: SESSION_NONE */
void sheet_next(struct sheet *t);              /* empty, or put into t->out by the caller */
/* Below the titles: text goes to the left, numbers to the right. A form that has none leaves it out. */
void sheet_rule(struct sheet *t, bool is_text);
void sheet_end(struct sheet *t);

#endif
