/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "base/fit.h"
#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include "base/buf.h"
#include "base/shown.h"

#define HEAD_LEAST 5 /* characters of a function's name that always stand */

static bool fits(const char *text, size_t columns)
{
	return shown_columns(text, strlen(text)) <= columns;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Behind the brackets that open here; NULL: they do not close. */
static const char *behind(const char *at)
{
	int depth = 0;

	for (; *at; at++) {
		depth += strchr("<({[", *at) != NULL;
		depth -= strchr(">)}]", *at) != NULL;
		if (depth == 0)
			return at + 1;
	}
	return NULL;
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
	return *at == '<' ? behind(at) && !*behind(at) ? at : NULL : *at ? NULL : at;
}

/* Does an argument say what is done? A number and a type of elements do not. */
static bool is_functor(const char *at)
{
	static const char *const words[] = {
		"true",          "false",  "float",      "double", "int",    "unsigned", "long",
		"short",         "char",   "bool",       "signed", "Half",   "BFloat16", "__half",
		"__nv_bfloat16", "half_t", "bfloat16_t", "float2", "float4", "double2",  "complex"};
	size_t len = 0;

	if (isdigit((unsigned char)*at) || !is_word(*at))
		return false;
	while (is_word(at[len]))
		len++;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strlen(words[i]) == len && !memcmp(words[i], at, len))
			return false;
	return true;
}

/* The first functor among the arguments that begin at '<', and its end; NULL: there is none. */
static const char *find_functor(const char *at, const char **ret_end)
{
	while (*at && *at != '>') {
		const char *end = at + 1 + strspn(at + 1, " "), *argument = end;

		while (*end && *end != ',' && *end != '>') {
			const char *next = strchr("<({[", *end) ? behind(end) : end + 1;

			end = next ? next : end + 1;
		}
		*ret_end = end;
		if (is_functor(argument))
			return argument;
		at = end;
	}
	return NULL;
}

const char *fit_name(const char *name, size_t columns, const char *dots, struct buf *scratch)
{
	const char *last, *arguments, *functor, *end = NULL;
	size_t head;

	if (fits(name, columns))
		return name;
	arguments = end_of_path(name, &last);
	if (!arguments)
		return name;
	while (name < last && !fits(name, columns))
		name = strstr(name, "::") + 2;
	functor = *arguments ? find_functor(arguments, &end) : NULL;
	if (!functor || fits(name, columns))
		return name;
	for (head = (size_t)(arguments - name);; head--) {
		buf_clear(scratch);
		buf_put(scratch, name, head);
		buf_puts(scratch, name + head < arguments ? dots : "");
		buf_putc(scratch, '<');
		buf_puts(scratch, functor > arguments + 1 ? dots : "");
		buf_put(scratch, functor, (size_t)(end - functor));
		buf_puts(scratch, end[0] == ',' ? dots : "");
		buf_putc(scratch, '>');
		if (head <= HEAD_LEAST || fits(buf_str(scratch), columns))
			break;
	}
	return scratch->error ? name : buf_str(scratch);
}
