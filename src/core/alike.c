/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/alike.h"
#include <ctype.h>
#include "base/hash.h"

/* The next character; a number is one '#'. 0: the end. */
static char next_char(const char **p)
{
	char c = **p;

	if (!c)
		return 0;
	(*p)++;
	if (!isdigit((unsigned char)c))
		return c;
	while (isdigit((unsigned char)**p))
		(*p)++;
	return '#';
}

bool names_alike(const char *a, const char *b)
{
	char c;

	do {
		c = next_char(&a);
		if (c != next_char(&b))
			return false;
	} while (c);
	return true;
}

uint64_t alike_hash(const char *name, uint32_t seed)
{
	uint64_t h = seed;
	char c;

	while ((c = next_char(&name)))
		h = hash_u64(h ^ (unsigned char)c); /* names of others may be made to collide */
	return h;
}

void alike_pattern(const char *name, char *out, size_t size)
{
	size_t n = 0;
	char c;

	while (n + 1 < size && (c = next_char(&name)))
		out[n++] = c;
	out[n] = '\0';
}
