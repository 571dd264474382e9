/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "naming/metric_heads.h"
#include <stdbool.h>
#include <string.h>
#include "base/buf.h"
#include "base/shown.h"
#include "base/util.h"

#define WORDS_MAX  32 /* of a name: what is behind is one word */
#define SEPARATORS "_."

struct word {
	const char *text;
	size_t len, whole; /* without and with the separators behind it */
	size_t n;          /* names that have it */
	bool is_left_out;
};

static size_t split(const char *name, struct word words[WORDS_MAX])
{
	size_t n = 0;

	for (; *name && n < WORDS_MAX; n++) {
		size_t len = strcspn(name, SEPARATORS);
		size_t whole = len + strspn(name + len, SEPARATORS);

		if (n == WORDS_MAX - 1)
			len = whole = strlen(name);
		words[n] = (struct word){.text = name, .len = len, .whole = whole};
		name += whole;
	}
	return n;
}

static bool has_word(const char *name, const struct word *wanted)
{
	struct word words[WORDS_MAX];
	size_t n = split(name, words);

	for (size_t i = 0; i < n; i++)
		if (words[i].len == wanted->len &&
		    !memcmp(words[i].text, wanted->text, wanted->len))
			return true;
	return false;
}

static size_t columns_of(const struct word words[], size_t n, size_t dots)
{
	size_t columns = 0;

	for (size_t i = 0; i < n; i++)
		if (!words[i].is_left_out)
			columns += shown_columns(words[i].text, words[i].whole);
		else if (i == 0 || !words[i - 1].is_left_out)
			columns += dots;
	return columns;
}

/* False: it is the last one. */
static bool leave_out_one(struct word words[], size_t n)
{
	struct word *most = NULL;
	size_t n_left = 0;

	for (size_t i = 0; i < n; i++)
		if (!words[i].is_left_out) {
			n_left++;
			if (!most || words[i].n >= most->n)
				most = &words[i];
		}
	if (n_left < 2)
		return false;
	most->is_left_out = true;
	return true;
}

static void put_words(struct buf *out, const struct word words[], size_t n, const char *dots)
{
	for (size_t i = 0; i < n; i++)
		if (!words[i].is_left_out)
			buf_put(out, words[i].text, words[i].whole);
		else if (i == 0 || !words[i - 1].is_left_out)
			buf_puts(out, dots);
}

void metric_head_put(struct buf *out, const char *const names[], size_t n, size_t i, size_t columns,
		     const char *dots)
{
	size_t dots_columns = shown_columns(dots, strlen(dots)), len = strlen(names[i]);
	struct word words[WORDS_MAX];
	size_t n_words = split(names[i], words);
	bool fits;

	for (size_t w = 0; w < n_words; w++)
		for (size_t k = 0; k < n; k++)
			words[w].n += has_word(names[k], &words[w]);
	do
		fits = columns_of(words, n_words, dots_columns) <= columns;
	while (!fits && leave_out_one(words, n_words));
	if (fits) {
		put_words(out, words, n_words, dots);
	} else {
		buf_put(out, names[i],
			shown_fit(names[i], len, columns - MIN(columns, dots_columns)));
		buf_puts(out, dots);
	}
}
