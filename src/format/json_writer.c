/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "format/json_writer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/shown.h"

void jsonw_init(struct json_writer *w, struct out *out, bool compact)
{
	*w = (struct json_writer){.out = out, .flat = compact, .empty = true};
}

static void new_line(struct json_writer *w)
{
	if (w->flat)
		return;
	out_putc(w->out, '\n');
	out_spaces(w->out, (size_t)w->depth * 4);
}

/* What stands between the previous element and the next. */
static void separate(struct json_writer *w)
{
	if (w->keyed) {
		w->keyed = false;
		return;
	}
	if (!w->empty)
		out_putc(w->out, ',');
	if (w->depth)
		new_line(w);
	w->empty = false;
}

static void open_container(struct json_writer *w, char c)
{
	separate(w);
	out_putc(w->out, c);
	w->depth++;
	w->empty = true;
}

static void close_container(struct json_writer *w, char c)
{
	w->depth--;
	if (!w->empty)
		new_line(w);
	out_putc(w->out, c);
	w->empty = false;
	if (w->flat_depth == w->depth + 1) {
		w->flat_depth = 0;
		w->flat = false;
	}
}

static void flatten(struct json_writer *w)
{
	if (w->flat)
		return;
	w->flat = true;
	w->flat_depth = w->depth;
}

void jsonw_object_flat(struct json_writer *w)
{
	jsonw_object(w);
	flatten(w);
}

void jsonw_array_flat(struct json_writer *w)
{
	jsonw_array(w);
	flatten(w);
}

void jsonw_object(struct json_writer *w)
{
	open_container(w, '{');
}

void jsonw_object_end(struct json_writer *w)
{
	close_container(w, '}');
}

void jsonw_array(struct json_writer *w)
{
	open_container(w, '[');
}

void jsonw_array_end(struct json_writer *w)
{
	close_container(w, ']');
}

/* Length of the valid UTF-8 sequence at s, 0 when there is none. */
static size_t utf8_length(const unsigned char *s, size_t left)
{
	/* First byte, range of the second (which rules out overlong forms and surrogates). */
	static const struct {
		unsigned char lo, hi, lo2, hi2, n;
	} forms[] = {
		{0x00, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2},
		{0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
		{0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
		{0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4},
		{0xf4, 0xf4, 0x80, 0x8f, 4},
	};

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		size_t n = forms[i].n;

		if (s[0] < forms[i].lo || s[0] > forms[i].hi)
			continue;
		if (n > left || (n > 1 && (s[1] < forms[i].lo2 || s[1] > forms[i].hi2)))
			return 0;
		for (size_t k = 2; k < n; k++)
			if ((s[k] & 0xc0) != 0x80)
				return 0;
		return n;
	}
	return 0;
}

bool utf8_valid(const char *s, size_t len)
{
	size_t n;

	for (size_t i = 0; i < len; i += n) {
		n = (unsigned char)s[i] < 0x80 ? 1
					       : utf8_length((const unsigned char *)s + i, len - i);
		if (!n)
			return false;
	}
	return true;
}

static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

static void put_escape(struct out *out, unsigned char c)
{
	static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
	const char *p = c ? strchr(from, c) : NULL;

	if (p) {
		out_putc(out, '\\');
		out_putc(out, to[p - from]);
	} else {
		out_printf(out, "\\u%04x", c);
	}
}

static uint32_t character(const unsigned char *s, size_t n)
{
	uint32_t c = n == 1 ? *s : *s & (0x7fu >> n);

	for (size_t i = 1; i < n; i++)
		c = c << 6 | (s[i] & 0x3f);
	return c;
}

/* Beyond 16 bits as two halves, the surrogates of UTF-16. */
static void put_number_of(struct out *out, uint32_t c)
{
	if (c >= 0x10000) {
		out_printf(out, "\\u%04x", 0xd7c0 + (c >> 10));
		c = 0xdc00 + (c & 0x3ff);
	}
	out_printf(out, "\\u%04x", c);
}

/* One character that is not plain; its length in bytes. */
static size_t put_special(const struct json_writer *w, const unsigned char *s, size_t left)
{
	size_t n = utf8_length(s, left);

	if (*s < 0x20 || *s == '"' || *s == '\\')
		put_escape(w->out, *s);
	else if (!n)
		out_puts(w->out, "\xef\xbf\xbd");
	else if (!w->upstream && shown_is_escaped(character(s, n)))
		put_number_of(w->out, character(s, n));
	else
		out_put(w->out, (const char *)s, n);
	return n ? n : 1;
}

static void put_string(const struct json_writer *w, const char *text, size_t len)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t i = 0, start;

	out_putc(w->out, '"');
	while (i < len) {
		for (start = i; i < len && is_plain(s[i]); i++)
			;
		out_put(w->out, text + start, i - start);
		if (i < len)
			i += put_special(w, s + i, len - i);
	}
	out_putc(w->out, '"');
}

void jsonw_string(struct json_writer *w, const char *s, size_t len)
{
	separate(w);
	put_string(w, s, len);
}

void jsonw_strings(struct json_writer *w, const char *s)
{
	jsonw_string(w, s, strlen(s));
}

void jsonw_key(struct json_writer *w, const char *key)
{
	jsonw_strings(w, key);
	out_putc(w->out, ':');
	if (!w->flat)
		out_putc(w->out, ' ');
	w->keyed = true;
}

void jsonw_hex(struct json_writer *w, const char *s, size_t len)
{
	static const char digits[] = "0123456789abcdef";

	separate(w);
	out_putc(w->out, '"');
	for (size_t i = 0; i < len; i++) {
		out_putc(w->out, digits[(unsigned char)s[i] >> 4]);
		out_putc(w->out, digits[(unsigned char)s[i] & 15]);
	}
	out_putc(w->out, '"');
}

static void put_u64(struct out *out, uint64_t v)
{
	char text[20], *p = text + sizeof(text);

	do {
		*--p = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	out_put(out, p, (size_t)(text + sizeof(text) - p));
}

void jsonw_u64(struct json_writer *w, uint64_t v)
{
	separate(w);
	put_u64(w->out, v);
}

void jsonw_i64(struct json_writer *w, int64_t v)
{
	separate(w);
	if (v < 0)
		out_putc(w->out, '-');
	put_u64(w->out, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

/* The fewest digits that read back as v > 0: digits without point and trailing zeros, and the
 * exponent of the first one. The decimal point of the locale is skipped, whatever it is. */
static int shortest_digits(double v, char digits[20], int *ret_exponent)
{
	/* Below the smallest normal number fewer digits than 15 may do. */
	int precision = v < 2.3e-308 ? 1 : 15, n = 0;
	char text[48];
	const char *p;

	for (; precision <= 17; precision++) {
		snprintf(text, sizeof(text), "%.*e", precision - 1, v);
		if (strtod(text, NULL) == v)
			break;
	}
	for (p = text; *p != 'e'; p++)
		if (*p >= '0' && *p <= '9')
			digits[n++] = *p;
	while (n > 1 && digits[n - 1] == '0')
		n--;
	*ret_exponent = atoi(p + 1);
	return n;
}

static size_t put_exponent_form(char *out, size_t size, const char *digits, int n, int exponent)
{
	if (n == 1)
		return (size_t)snprintf(out, size, "%ce%+03d", digits[0], exponent);
	return (size_t)snprintf(out, size, "%c.%.*se%+03d", digits[0], n - 1, digits + 1, exponent);
}

/* point = how many digits stand before the decimal point. */
static size_t put_fixed_form(char *out, size_t size, const char *digits, int n, int point)
{
	if (point <= 0)
		return (size_t)snprintf(out, size, "0.%.*s%.*s", -point, "0000", n, digits);
	if (point >= n)
		return (size_t)snprintf(out, size, "%.*s%.*s.0", n, digits, point - n,
					"000000000000000");
	return (size_t)snprintf(out, size, "%.*s.%.*s", point, digits, n - point, digits + point);
}

size_t json_format_f64(char out[JSON_NUMBER_MAX], double v)
{
	char digits[20];
	int n, exponent;
	size_t sign = signbit(v) ? 1 : 0;

	if (!isfinite(v))
		return (size_t)snprintf(out, JSON_NUMBER_MAX, "null");
	out[0] = '-';
	v = fabs(v);
	if (v < 1e15 && v == (double)(uint64_t)v)
		return sign + (size_t)snprintf(out + sign, JSON_NUMBER_MAX - sign, "%llu.0",
					       (unsigned long long)v);
	n = shortest_digits(v, digits, &exponent);
	if (exponent < -4 || exponent >= 15)
		return sign +
		       put_exponent_form(out + sign, JSON_NUMBER_MAX - sign, digits, n, exponent);
	return sign + put_fixed_form(out + sign, JSON_NUMBER_MAX - sign, digits, n, exponent + 1);
}

void jsonw_f64(struct json_writer *w, double v)
{
	char text[JSON_NUMBER_MAX];

	separate(w);
	out_put(w->out, text, json_format_f64(text, v));
}

void jsonw_bool(struct json_writer *w, bool v)
{
	separate(w);
	out_puts(w->out, v ? "true" : "false");
}

void jsonw_null(struct json_writer *w)
{
	separate(w);
	out_puts(w->out, "null");
}

/* ---- keys with their values ---- */

void jsonw_key_u64(struct json_writer *w, const char *key, uint64_t v)
{
	jsonw_key(w, key);
	jsonw_u64(w, v);
}

void jsonw_key_text(struct json_writer *w, const char *key, const char *s)
{
	jsonw_key(w, key);
	jsonw_strings(w, s);
}

void jsonw_key_object(struct json_writer *w, const char *key)
{
	jsonw_key(w, key);
	jsonw_object(w);
}

void jsonw_key_array(struct json_writer *w, const char *key)
{
	jsonw_key(w, key);
	jsonw_array(w);
}
