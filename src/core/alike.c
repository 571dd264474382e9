/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/alike.h"
#include <string.h>
#include "base/hash.h"

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* The next character; a number is one '#'. 0: the end. */
static char next_char(const char **p)
{
	char c = **p;

	if (!c)
		return 0;
	(*p)++;
	if (!is_digit(c))
		return c;
	while (is_digit(**p))
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
	return alike_hash_n(name, strlen(name), seed);
}

uint64_t alike_hash_n(const char *name, size_t n, uint32_t seed)
{
	uint64_t h = seed;
	bool was_digit = false;

	for (size_t i = 0; i < n; i++) {
		bool digit = is_digit(name[i]);

		/* names of others may be made to collide */
		if (!digit || !was_digit)
			h = hash_u64(h ^ (unsigned char)(digit ? '#' : name[i]));
		was_digit = digit;
	}
	return h;
}

size_t alike_pattern(const char *name, char *out, size_t size)
{
	return alike_pattern_n(name, strlen(name), out, size);
}

size_t alike_pattern_n(const char *name, size_t n, char *out, size_t size)
{
	const char *end = name + n;
	size_t len = 0;

	while (len + 1 < size && name < end) {
		bool number = is_digit(*name);

		out[len++] = number ? '#' : *name;
		name++;
		while (number && name < end && is_digit(*name))
			name++;
	}
	out[len] = '\0';
	return len;
}

bool alike_number(const char *name, size_t n, uint64_t *ret)
{
	uint64_t all = 0, one;
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		if (!is_digit(name[i]))
			continue;
		for (one = 0; i < n && is_digit(name[i]); i++)
			one = one * 10 + (uint64_t)(name[i] - '0');
		all = (all << ALIKE_NUMBER_BITS) + one;
		any = true;
	}
	*ret = all;
	return any;
}

bool alike_is_path(const char *name, size_t n)
{
	bool any_letter = false, any_number = false, any_dot = false;

	for (size_t i = 0, from = 0, n_digits = 0; i <= n; i++) {
		if (i == n || name[i] == '.') {
			any_number |= i > from && n_digits == i - from;
			any_dot |= i < n;
			from = i + 1;
			n_digits = 0;
		} else if (is_digit(name[i])) {
			n_digits++;
		} else if (is_letter(name[i])) {
			any_letter = true;
		} else {
			return false;
		}
	}
	return any_letter && any_number && any_dot;
}
