/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "naming/forms.h"
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"
#include "core/activity.h"

struct form {
	char *key; /* the same for all forms of a function */
	size_t index;
	bool symbol;
};

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* ---- what forms have in common ---- */

/* Some write the type before a number, others behind it. */
static const struct {
	const char *cast, *suffix;
} casts[] = {
	{"(int)", ""},         {"(unsigned int)", "u"},
	{"(long)", "l"},       {"(unsigned long)", "ul"},
	{"(long long)", "ll"}, {"(unsigned long long)", "ull"},
};

/* What a form has instead of a cast and a number. Returns behind them; NULL: there are none here. */
static const char *put_number(char **out, const char *at)
{
	for (size_t i = 0; i < ARRAY_SIZE(casts); i++) {
		size_t len = strlen(casts[i].cast);
		const char *begin = at + len, *end = begin;

		if (strncmp(at, casts[i].cast, len) != 0)
			continue;
		end += *end == '-';
		while (isdigit((unsigned char)*end))
			end++;
		if (!isdigit((unsigned char)end[-1]))
			return NULL;
		*out = stpcpy(mempcpy(*out, begin, (size_t)(end - begin)), casts[i].suffix);
		return end;
	}
	return NULL;
}

static const char *put_truth(char **out, const char *at)
{
	if (strncmp(at, "(bool)0", 7) != 0 && strncmp(at, "(bool)1", 7) != 0)
		return NULL;
	*out = stpcpy(*out, at[6] == '1' ? "true" : "false");
	return at + 7;
}

/* A blank counts only where words would grow together. */
static bool is_blank_needed(char last, const char *at)
{
	at += strspn(at, " ");
	return is_word(last) && is_word(*at);
}

/* malloc'd; no longer than the two texts. NULL: out of memory. */
static char *make_key(const char *whole, const char *shape)
{
	char *key = malloc(strlen(whole) + strlen(shape) + 1), *out = key;
	const char *at = !strncmp(whole, "void ", 5) ? whole + 5 : whole;

	while (key && *at) {
		const char *behind = *at == '(' ? put_number(&out, at) : NULL;

		if (!behind && *at == '(')
			behind = put_truth(&out, at);
		if (!behind && (*at != ' ' || (out > key && is_blank_needed(out[-1], at))))
			*out++ = *at;
		at = behind ? behind : at + 1;
	}
	if (key)
		memcpy(out, shape, strlen(shape) + 1);
	return key;
}

/* ---- who has it ---- */

static int form_init(struct form *f, const char *raw, const char *whole, size_t index)
{
	size_t len = activity_bare_len(raw, strlen(raw));

	*f = (struct form){.key = make_key(whole, raw + len),
			   .index = index,
			   .symbol = strlen(whole) != len || memcmp(raw, whole, len) != 0};
	return f->key ? 0 : -ENOMEM;
}

static int by_key(const void *a, const void *b)
{
	const struct form *x = a, *y = b;
	int r = strcmp(x->key, y->key);

	return r ? r : (x->index > y->index) - (x->index < y->index);
}

/* Forms of one key. */
static void join(const struct form *f, size_t n, size_t ret_of[])
{
	unsigned symbols = 0;

	for (size_t i = 0; i < n; i++)
		symbols += f[i].symbol;
	for (size_t i = 0; i < n; i++)
		ret_of[f[i].index] = symbols > 1 ? f[i].index : f[0].index;
}

int forms_find(const char *const raw[], const char *const whole[], size_t n, size_t ret_of[])
{
	struct form *forms = calloc(n + 1, sizeof(*forms));
	int r = forms ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && r == 0; i++)
		r = form_init(&forms[i], raw[i], whole[i], i);
	if (r == 0)
		qsort(forms, n, sizeof(*forms), by_key);
	for (size_t from = 0, to; from < n && r == 0; from = to) {
		for (to = from + 1; to < n && !strcmp(forms[to].key, forms[from].key); to++)
			;
		join(forms + from, to - from, ret_of);
	}
	for (size_t i = 0; forms && i < n; i++)
		free(forms[i].key);
	free(forms);
	return r;
}
