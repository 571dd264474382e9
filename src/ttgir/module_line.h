/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TTGIR_MODULE_LINE_H
#define PROTON_TTGIR_MODULE_LINE_H
/* One line of MLIR: what is in it as far as brackets, texts in quotes and the location at its end go.
 *   threads  any: nothing is kept */
#include <stdbool.h>
#include <stddef.h>

struct module_line {
	const char *at; /* its first sign that is no space */
	size_t len;     /* to its last one, without a comment */
	int braces;     /* { that it opens, less those that it closes */
	int brackets;   /* of ( [ and <, the same */
	int lowest; /* braces at the least, on the way: a line that begins with } has -1 or less */
	bool is_broken;       /* a text in quotes does not end */
	const char *location; /* what stands in loc(…) at its end; NULL: none */
	size_t location_len;
};

/* line: without the newline. */
void module_line_read(struct module_line *l, const char *line, size_t len);
/* Does it begin with that? */
bool module_line_begins(const struct module_line *l, const char *word);

/* Behind the text in quotes that begins at p, with both signs; NULL: it does not end. */
const char *module_quoted_end(const char *p, const char *end);

#endif
