/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "naming/fit.h"
#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include "base/buf.h"
#include "base/shown.h"
#include "base/util.h"
#include "naming/rules.h"
#include "naming/signature.h"

#define HEAD_LEAST 5 /* characters of a function's name that always stand */

static bool fits(const char *text, size_t columns)
{
	return shown_columns(text, strlen(text)) <= columns;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* The end of "a::b::c" at the beginning, with *ret_last where its last name begins. NULL: the text
 * is not a name of C++ with namespaces or arguments. */
static const char *end_of_path(const char *name, const char **ret_last)
{
	const char *at = name;

	*ret_last = name;
	for (;;) {
		if (!is_word(*at))
			return NULL;
		while (is_word(*at))
			at++;
		if (at[0] != ':' || at[1] != ':')
			break;
		at += 2;
		*ret_last = at;
	}
	if (*at == '<') {
		const char *end = signature_behind_bracket(at);

		return end && !*end ? at : NULL;
	}
	return *at ? NULL : at;
}

/* Does an argument say what is done? A number and a type of elements do not. */
static bool is_functor(const char *at)
{
	size_t len = 0;

	if (isdigit((unsigned char)*at) || !is_word(*at))
		return false;
	while (is_word(at[len]))
		len++;
	if ((len == 4 && !memcmp(at, "true", 4)) || (len == 5 && !memcmp(at, "false", 5)))
		return false;
	return rule_of(at, len) != RULE_ELEMENT;
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

/* Append the arguments that are functors, with dots for what is left out; bare: without their own
 * arguments. Returns how many there are. */
static unsigned put_functors(struct buf *out, const char *arguments, const char *dots, bool bare)
{
	bool left_out = false;
	unsigned n = 0;

	buf_putc(out, '<');
	for (const char *at = arguments; *at && *at != '>';) {
		const char *argument = at + 1 + strspn(at + 1, " ");
		size_t len;

		at = end_of_argument(argument);
		len = (size_t)(at - argument);
		if (!is_functor(argument)) {
			left_out = true;
			continue;
		}
		if (bare)
			len = MIN(len, strcspn(argument, "<(,>"));
		buf_puts(out, left_out ? dots : n ? ", " : "");
		buf_put(out, argument, len);
		left_out = false;
		n++;
	}
	buf_puts(out, left_out ? dots : "");
	buf_putc(out, '>');
	return n;
}

/* The function's name as far as it fits, and its functors. Returns whether all fits. */
static bool put_fitted(struct buf *out, const char *name, size_t head, size_t columns,
		       const char *dots, bool bare)
{
	const char *arguments = name + head;
	size_t least = MIN(head, HEAD_LEAST);

	for (size_t n = head;; n--) {
		buf_clear(out);
		buf_put(out, name, n);
		buf_puts(out, n < head ? dots : "");
		put_functors(out, arguments, dots, bare);
		if (fits(buf_str(out), columns))
			return true;
		if (n <= least)
			return false;
	}
}

const char *fit_name(const char *name, size_t columns, const char *dots, struct buf *scratch)
{
	const char *last, *arguments;

	if (fits(name, columns))
		return name;
	arguments = end_of_path(name, &last);
	if (!arguments)
		return name;
	while (name < last && !fits(name, columns))
		name = strstr(name, "::") + 2;
	buf_clear(scratch);
	if (fits(name, columns) || !*arguments || !put_functors(scratch, arguments, dots, true))
		return name;
	if (!put_fitted(scratch, name, (size_t)(arguments - name), columns, dots, false))
		put_fitted(scratch, name, (size_t)(arguments - name), columns, dots, true);
	return scratch->error ? name : buf_str(scratch);
}
