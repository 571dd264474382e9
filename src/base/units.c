/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "base/units.h"
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/util.h"

struct unit {
	const char *word;
	double factor;
};

static const struct unit times[] = {
	{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"min", 60e9}, {"h", 3600e9},
};

/* IEC prefixes before SI ones, so that the first that fits is the whole one. */
static const struct unit prefixes[] = {
	{"Ki", 0x1p10}, {"Mi", 0x1p20}, {"Gi", 0x1p30}, {"Ti", 0x1p40}, {"Pi", 0x1p50},
	{"Ei", 0x1p60}, {"k", 1e3},     {"M", 1e6},     {"G", 1e9},     {"T", 1e12},
	{"P", 1e15},    {"E", 1e18},    {"", 1},
};

static bool same(const char *word, size_t len, const char *name)
{
	return strlen(name) == len && !strncasecmp(word, name, len);
}

static int find(const struct unit *units, size_t n, const char *word, size_t len, double *ret)
{
	for (size_t i = 0; i < n; i++)
		if (same(word, len, units[i].word)) {
			*ret = units[i].factor;
			return 0;
		}
	return -EINVAL;
}

int unit_factor(enum unit_of of, const char *word, size_t len, double *ret)
{
	if (of == UNIT_OF_TIME)
		return find(times, ARRAY_SIZE(times), word, len, ret);
	if (of == UNIT_OF_BYTES && len && tolower((unsigned char)word[len - 1]) == 'b')
		len--;
	while (len && word[len - 1] == ' ')
		len--;
	return find(prefixes, ARRAY_SIZE(prefixes), word, len, ret);
}

const char *unit_prefix(size_t i, double *ret)
{
	if (i >= ARRAY_SIZE(prefixes))
		return NULL;
	*ret = prefixes[i].factor;
	return prefixes[i].word;
}

/* ---- amounts ---- */

/* As it is printed: lower case of times, upper case of prefixes ("k" as well), and "B". */
static bool is_spelt(enum amount_unit unit, const char *word, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (unit == AMOUNT_TIME ? !islower((unsigned char)word[i])
					: !isupper((unsigned char)word[i]) && word[i] != 'i' &&
						  !(i == 0 && word[i] == 'k'))
			return false;
	return true;
}

static int parse_unit(const char *word, size_t len, double *ret_factor)
{
	static const struct {
		enum amount_unit unit;
		enum unit_of of;
	} kinds[] = {{AMOUNT_TIME, UNIT_OF_TIME},
		     {AMOUNT_SCALED, UNIT_OF_NUMBERS},
		     {AMOUNT_BYTES, UNIT_OF_BYTES}};

	*ret_factor = 1;
	if (len == 0)
		return AMOUNT_PLAIN;
	if (len == 1 && *word == '%')
		return AMOUNT_PERCENT;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (unit_factor(kinds[i].of, word, len, ret_factor) == 0 &&
		    is_spelt(kinds[i].unit, word, len))
			return kinds[i].unit;
	return -EINVAL;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Longer ones say no more than this many digits do. */
#define NUMBER_MAX 64

int amount_parse(const char *text, size_t len, struct amount *ret)
{
	char copy[NUMBER_MAX + 1], *end;
	const char *digits;
	double value, factor;
	int unit;

	while (len && is_blank(text[len - 1]))
		len--;
	while (len && is_blank(*text)) {
		text++;
		len--;
	}
	if (!len || len > NUMBER_MAX || memchr(text, '\0', len))
		return -EINVAL;
	memcpy(copy, text, len);
	copy[len] = '\0';
	digits = copy + strspn(copy, "+-");
	if (!strchr("0123456789.", *digits) ||
	    (*digits == '0' && (digits[1] == 'x' || digits[1] == 'X')))
		return -EINVAL; /* strtod() would take "inf", "nan" and "0x1f", too */
	value = strtod(copy, &end);
	if (end == copy || !isfinite(value))
		return -EINVAL;
	end += strspn(end, " \t");
	unit = parse_unit(end, strlen(end), &factor);
	if (unit < 0 || !isfinite(value * factor))
		return -EINVAL;
	*ret = (struct amount){.value = value * factor, .unit = (uint8_t)unit};
	return 0;
}
