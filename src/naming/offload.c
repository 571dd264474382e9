/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "naming/offload.h"
#include <ctype.h>
#include <string.h>

/* Behind a number and the underscore that ends it; NULL: there is none. */
static const char *behind_number(const char *at)
{
	const char *end = at;

	while (isxdigit((unsigned char)*end))
		end++;
	return end > at && *end == '_' ? end + 1 : NULL;
}

static bool is_line(const char *at)
{
	return at[0] == '_' && at[1] == 'l' && isdigit((unsigned char)at[2]);
}

bool offload_parse(struct offload *o, const char *name)
{
	static const char begin[] = "__omp_offloading_";
	const char *at = name + sizeof(begin) - 1;

	if (strncmp(name, begin, sizeof(begin) - 1) != 0)
		return false;
	at = behind_number(at); /* device */
	at = at ? behind_number(at) : NULL;
	if (!at)
		return false;
	o->function = at;
	o->line = NULL;
	for (; *at; at++)
		if (is_line(at))
			o->line = at;
	o->function_len = o->line ? (size_t)(o->line - o->function) : 0;
	return o->function_len > 0;
}
