/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "naming/plain.h"
#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/shown.h"
#include "base/util.h"

/* What is left out of a family's names. Words are what stands between underscores. */
struct family {
	const char *begin, *has;  /* a name of it begins so, and has this in it */
	const char *last;         /* nothing stands behind the first word that begins so; or NULL */
	const char *bare;         /* of a word that begins so, the rest stands; or NULL */
	const char *const *noise; /* words that begin so are left out; NULL ends */
};

static const char *const xmma_noise[] = {"warpsize", "warpgroupsize", "ffma",   "tensor",
					 "align",    "execute",       "kernel", "5x",
					 "cublas",   "cudnn",         NULL};
static const char *const cudnn_noise[] = {"generated", "fort", "native", "kernel", "0", NULL};
static const char *const no_noise[] = {NULL};

static const struct family families[] = {
	{"sm", "_xmma_", NULL, "tilesize", xmma_noise},
	{"cudnn_generated_", "_kernel", NULL, NULL, cudnn_noise},
	{"Cijk_", "_MT", "MI", NULL, no_noise},
};

static bool starts(const char *word, const char *with)
{
	return with && !strncmp(word, with, strlen(with));
}

static const struct family *family_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(families); i++)
		if (starts(name, families[i].begin) && strstr(name, families[i].has))
			return &families[i];
	return NULL;
}

static bool is_noise(const struct family *f, const char *word, size_t len)
{
	for (size_t i = 0; f->noise[i]; i++)
		if (starts(word, f->noise[i]))
			return true;
	return len == 0;
}

char *plain_brief(const char *name)
{
	const struct family *f = family_of(name);
	char *out = f ? malloc(strlen(name) + 1) : NULL, *p = out;
	bool more = true;

	while (out && more) {
		size_t len = strcspn(name, "_");
		const char *word = starts(name, f->bare) ? name + strlen(f->bare) : name;

		if (!is_noise(f, name, len)) {
			if (p > out)
				*p++ = '_';
			p = mempcpy(p, word, (size_t)(name + len - word));
		}
		more = name[len] && !(f->last && starts(name, f->last));
		name += len + 1;
	}
	if (out)
		*p = '\0';
	return out;
}

/* ---- narrow columns ---- */

#define PLAIN_MAX    512
#define MIDDLE_LEAST 8   /* columns from which on a name is cut in its middle */
#define DOTS         '.' /* stands for dots while a name is made: words have none */

/* Says a word nothing that tells a kernel from others? Kernels say that they are, which library made
 * them and for which device. */
static bool is_common(const char *word, size_t len)
{
	static const char *const common[] = {"cga1x1x1",  "cuda",   "cutlass", "fort",
					     "generated", "kernel", "kernel0", "native",
					     "tensorop",  "xmma"};

	for (size_t i = 0; i < ARRAY_SIZE(common); i++)
		if (strlen(common[i]) == len && !memcmp(word, common[i], len))
			return true;
	return len == 4 && !memcmp(word, "sm", 2) && isdigit((unsigned char)word[2]);
}

/* A name in work: every DOTS takes `width` columns. */
struct words {
	char text[PLAIN_MAX];
	size_t len, columns, width;
};

/* Put dots in place of the characters, and of dots beside them. Returns behind the dots. */
static size_t leave_out(struct words *w, size_t from, size_t to)
{
	size_t dots = 0;

	while (from > 0 && w->text[from - 1] == DOTS)
		from--;
	while (to < w->len && w->text[to] == DOTS)
		to++;
	for (size_t i = from; i < to; i++)
		dots += w->text[i] == DOTS;
	w->columns = w->columns - (to - from) - dots * (w->width - 1) + w->width;
	w->text[from] = DOTS;
	memmove(w->text + from + 1, w->text + to, w->len - to);
	w->len -= to - from - 1;
	return from + 1;
}

/* Leave out common words, and the underscores around them, until the rest fits: but for the last. */
static void drop_common(struct words *w, size_t columns)
{
	for (size_t at = 0; at < w->len && w->columns > columns;) {
		size_t end = at;

		while (end < w->len && w->text[end] != '_')
			end++;
		if (is_common(w->text + at, end - at) && w->len - (end - at) > 2)
			at = leave_out(w, at - (at > 0), MIN(end + 1, w->len));
		else
			at = end + 1;
	}
}

/* Leave out as much of the middle as has to be; of the end where so little is left that both halves
 * would say nothing. */
static void cut_middle(struct words *w, size_t columns)
{
	size_t from = columns < MIDDLE_LEAST ? w->len : w->len / 2, to = from;

	while (w->columns - (to - from) + w->width > columns && to - from < w->len) {
		if (w->len - to >= from)
			to++;
		else
			from--;
	}
	leave_out(w, from, to);
}

/* Only then each character is one column. */
static bool is_plain(const char *name, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (name[i] == DOTS || name[i] < ' ' || name[i] > '~')
			return false;
	return len <= PLAIN_MAX;
}

void plain_fit(struct buf *out, const char *name, size_t len, size_t columns, const char *dots)
{
	struct words w = {.len = len, .columns = len, .width = shown_columns(dots, strlen(dots))};

	if (!is_plain(name, len) || columns <= w.width) {
		buf_put(out, name, shown_fit(name, len, columns));
		return;
	}
	memcpy(w.text, name, len);
	drop_common(&w, columns);
	if (w.columns > columns)
		cut_middle(&w, columns);
	for (size_t i = 0; i < w.len; i++)
		if (w.text[i] == DOTS)
			buf_puts(out, dots);
		else
			buf_putc(out, w.text[i]);
}
