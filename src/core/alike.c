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

/* ---- numbers ---- */

/* Of a name with several:
 *
 *     all but the first have 24 bits      |      first |     24 |     24 |   below 2^53
 *     of two, where the second has more   | 1 | 20 |         32          |   WIDE
 *     what does not fit so                | 1 | the lowest bits of these |   UNTOLD: it grows, and says no more
 *
 * Below 2^53, for readers have them as floating point numbers. */
enum { NUMBER_BITS = 24, FIRST_BITS = 20, SECOND_BITS = 32 };
#define WIDE   (UINT64_C(1) << (FIRST_BITS + SECOND_BITS))
#define TOLD   (UINT64_C(1) << 53)
#define UNTOLD (UINT64_C(1) << 63)

struct numbers {
	uint64_t v[ALIKE_NUMBERS_MAX], packed;
	unsigned n; /* more than that may be */
	bool fit;
};

/* The digits at *i, one of which is there. */
static uint64_t number_read(const char *name, size_t n, size_t *i)
{
	uint64_t v = 0;

	for (; *i < n && is_digit(name[*i]); ++*i)
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(name[*i] - '0'), &v))
			v = UINT64_MAX - 1;
	return v;
}

static struct numbers numbers_read(const char *name, size_t n)
{
	struct numbers of = {.fit = true};

	for (size_t i = 0; i < n;) {
		uint64_t v;

		if (!is_digit(name[i])) {
			i++;
			continue;
		}
		v = number_read(name, n, &i);
		of.fit &= !of.n || (v >> NUMBER_BITS == 0 && of.packed < TOLD >> NUMBER_BITS);
		of.packed = (of.packed << NUMBER_BITS) + v;
		if (of.n < ALIKE_NUMBERS_MAX)
			of.v[of.n] = v;
		of.n++;
	}
	return of;
}

bool alike_number(const char *name, size_t n, uint64_t *ret)
{
	const struct numbers of = numbers_read(name, n);
	uint64_t limit = of.n == 2 ? WIDE : TOLD;

	if (of.n <= 1 || (of.fit && of.n <= ALIKE_NUMBERS_MAX && of.packed < limit))
		*ret = of.packed;
	else if (of.n == 2 && of.v[0] >> FIRST_BITS == 0 && of.v[1] >> SECOND_BITS == 0)
		*ret = WIDE | of.v[0] << SECOND_BITS | of.v[1];
	else
		*ret = UNTOLD | of.packed;
	return of.n;
}

bool alike_numbers(uint64_t number, unsigned n, uint64_t ret[ALIKE_NUMBERS_MAX])
{
	bool is_wide = n == 2 && number >= WIDE;
	unsigned bits = is_wide ? SECOND_BITS : NUMBER_BITS;

	if (number >= TOLD || n > ALIKE_NUMBERS_MAX)
		return false;
	number -= is_wide ? WIDE : 0;
	for (unsigned i = n; i-- > 1; number >>= bits)
		ret[i] = number & ((UINT64_C(1) << bits) - 1);
	ret[0] = number;
	return true;
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
