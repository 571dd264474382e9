/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "format/tokens.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

void tokens_init(struct tokens *t)
{
	*t = (struct tokens){0};
	tokens_put(t, TOKEN_NONE, 0); /* so that no value is at 0 */
}

void tokens_done(struct tokens *t)
{
	free(t->words);
	*t = (struct tokens){0};
}

static void put_word(struct tokens *t, uint64_t word)
{
	if (_unlikely_(t->n == t->cap) && ARRAY_ROOM(t->words, t->cap, t->n + 1) < 0) {
		t->failed = true;
		t->n = t->cap ? t->cap - 1 : 0;
		if (!t->cap)
			return;
	}
	t->words[t->n++] = word;
}

void tokens_put(struct tokens *t, enum token token, uint64_t payload)
{
	put_word(t, (uint64_t)token << 60 | payload);
}

void tokens_put_u64(struct tokens *t, uint64_t v)
{
	if (v < UINT64_C(1) << 60) {
		tokens_put(t, TOKEN_INT, v);
		return;
	}
	tokens_put(t, TOKEN_BIG_INT, 0);
	put_word(t, v);
}

void tokens_put_f64(struct tokens *t, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	tokens_put(t, TOKEN_FLOAT, 0);
	put_word(t, bits);
}

/* While a container is open its payload holds the position of the one around it. */
size_t tokens_begin(struct tokens *t, enum token token)
{
	size_t at = t->n;

	tokens_put(t, token, t->open);
	t->open = at;
	t->depth++;
	return at;
}

void tokens_end(struct tokens *t)
{
	size_t at = t->open;

	tokens_put(t, TOKEN_END, 0);
	t->depth--;
	if (t->failed)
		return;
	t->open = token_payload(t, at);
	t->words[at] = (uint64_t)token_at(t, at) << 60 | (t->n - 1 - at);
}

bool token_is_number(const struct tokens *t, size_t at)
{
	enum token token = token_at(t, at);

	return token >= TOKEN_FALSE && token <= TOKEN_FLOAT;
}

double token_f64(const struct tokens *t, size_t at)
{
	double v;

	switch (token_at(t, at)) {
	case TOKEN_FALSE:
	case TOKEN_TRUE:
		return token_at(t, at) == TOKEN_TRUE;
	case TOKEN_INT:
		return (double)token_payload(t, at);
	case TOKEN_BIG_INT:
		return (double)t->words[at + 1];
	case TOKEN_FLOAT:
		memcpy(&v, &t->words[at + 1], sizeof(v));
		return v;
	default:
		return NAN;
	}
}

bool token_u64(const struct tokens *t, size_t at, uint64_t *ret)
{
	double v;

	switch (token_at(t, at)) {
	case TOKEN_INT:
		*ret = token_payload(t, at);
		return true;
	case TOKEN_BIG_INT:
		*ret = t->words[at + 1];
		return true;
	default:
		v = token_f64(t, at);
		if (!(v >= 0 && v < 18446744073709551616.0))
			return false;
		/* Adding a half to what has no fraction any more would change it. */
		*ret = v < 4503599627370496.0 ? (uint64_t)(v + 0.5) : (uint64_t)v;
		return true;
	}
}

size_t token_find(const struct tokens *t, size_t map, uint32_t key)
{
	if (!map || token_at(t, map) != TOKEN_MAP)
		return 0;
	for (size_t at = token_first(map); token_at(t, at) == TOKEN_KEY; at = token_next(t, at + 1))
		if (token_payload(t, at) == key)
			return at + 1;
	return 0;
}

/* Digits from text on: their number; false when they do not fit in 64 bits. */
static bool parse_digits(const char *text, size_t len, uint64_t *ret_v, size_t *ret_n)
{
	uint64_t v = 0;
	size_t n;

	for (n = 0; n < len && text[n] >= '0' && text[n] <= '9'; n++) {
		unsigned digit = (unsigned)(text[n] - '0');

		if (_unlikely_(v > (UINT64_MAX - digit) / 10))
			return false;
		v = v * 10 + digit;
	}
	*ret_v = v;
	*ret_n = n;
	return true;
}

/* A whole number below 2^53 divided by a power of ten up to 10^15 is rounded once, thus exact. */
static bool parse_short_fraction(const char *text, size_t len, uint64_t whole, double *ret)
{
	static const double powers[] = {1,   1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
					1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
	uint64_t v = whole;
	size_t n;

	if (len >= ARRAY_SIZE(powers))
		return false;
	for (n = 0; n < len; n++) {
		if (text[n] < '0' || text[n] > '9' || v >= UINT64_C(900719925474099))
			return false;
		v = v * 10 + (unsigned)(text[n] - '0');
	}
	*ret = (double)v / powers[n];
	return true;
}

static double parse_slowly(const char *text, size_t len)
{
	static locale_t c_locale;
	char small[64], *copy = len < sizeof(small) ? small : malloc(len + 1);
	double v;

	if (!c_locale)
		c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	if (!copy)
		return NAN;
	memcpy(copy, text, len);
	copy[len] = '\0';
	v = c_locale ? strtod_l(copy, NULL, c_locale) : strtod(copy, NULL);
	if (copy != small)
		free(copy);
	return v;
}

void number_parse(const char *text, size_t len, struct number *ret)
{
	bool negative = len && *text == '-';
	uint64_t whole;
	size_t n;

	*ret = (struct number){0};
	if (!parse_digits(text + negative, len - negative, &whole, &n)) {
		ret->f64 = parse_slowly(text, len);
		return;
	}
	n += negative;
	if (n == len && !negative) {
		ret->is_int = true;
		ret->u64 = whole;
		ret->f64 = (double)whole;
		return;
	}
	if (n < len && text[n] == '.' &&
	    parse_short_fraction(text + n + 1, len - n - 1, whole, &ret->f64)) {
		ret->f64 = negative ? -ret->f64 : ret->f64;
		return;
	}
	ret->f64 = parse_slowly(text, len);
}
