/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/hash.h"
#include "base/util.h"
#include "naming/plain.h"

#define WORDS_MAX   (1 << 16) /* of all names that are told apart at once */
#define ANSWERS_MAX (1 << 22)
#define WORK_MAX    (1 << 26) /* answers that are compared */

/* A word of a name: "LBSPPA512", and with what stands behind it, "MIWT4_8". What it is about are the
 * letters that it begins with; names answer with the word. */
struct word {
	const char *text;
	uint64_t about, answer;
	uint32_t name, len, question;
};

struct question {
	uint64_t about;
	size_t characters; /* of all answers */
	bool is_asked;
};

struct plain {
	const char *const *raw;
	char **ret;
	uint32_t *name; /* those that are told apart, by their number here */
	uint32_t n;
	struct word *words; /* name by name, as they stand there */
	size_t n_words, cap_words;
	struct question *questions;
	size_t n_questions;
	uint64_t *answers; /* by question and name; 0: has no such word */
	uint64_t *told;    /* by name: the same where all answers so far were */
	uint64_t *seen;    /* scratch, by name */
	int64_t work;
};

static void plain_done(struct plain *p)
{
	free(p->name);
	free(p->words);
	free(p->questions);
	free(p->answers);
	free(p->told);
	free(p->seen);
}

static uint64_t mix(uint64_t so_far, uint64_t next)
{
	return hash_u64(so_far + hash_u64(next));
}

/* ---- words ---- */

/* With the numbers that stand behind a word. */
static size_t word_len(const char *at)
{
	size_t len = strcspn(at, "_");

	while (at[len] && isdigit((unsigned char)at[len + 1])) {
		size_t number = 1 + strspn(at + len + 1, "0123456789");

		if (at[len + number] && at[len + number] != '_')
			break;
		len += number;
	}
	return len;
}

static int add_words(struct plain *p, uint32_t name)
{
	for (const char *at = p->raw[p->name[name]]; *at && p->n_words < WORDS_MAX;) {
		size_t len = word_len(at), letters = 0;

		while (letters < len && !isdigit((unsigned char)at[letters]))
			letters++;
		if (ARRAY_ROOM(p->words, p->cap_words, p->n_words + 1) < 0)
			return -ENOMEM;
		p->words[p->n_words++] = (struct word){.text = at,
						       .about = hash_bytes(at, letters),
						       .answer = hash_bytes(at, len) | 1,
						       .name = name,
						       .len = (uint32_t)len};
		at += len + (at[len] == '_');
	}
	return 0;
}

/* Those that have a short form. */
static int choose_names(struct plain *p, size_t n)
{
	int r = 0;

	p->name = calloc(n + 1, sizeof(*p->name));
	if (!p->name)
		return -ENOMEM;
	for (size_t i = 0; i < n && r == 0; i++) {
		_cleanup_(freep) char *brief = plain_brief(p->raw[i]);

		if (!brief)
			continue;
		p->name[p->n++] = (uint32_t)i;
		r = add_words(p, p->n - 1);
	}
	return r;
}

/* ---- questions ---- */

static int by_about(const void *a, const void *b)
{
	const struct question *x = a, *y = b;

	return (x->about > y->about) - (x->about < y->about);
}

static int find_questions(struct plain *p)
{
	p->questions = calloc(p->n_words + 1, sizeof(*p->questions));
	if (!p->questions)
		return -ENOMEM;
	for (size_t i = 0; i < p->n_words; i++)
		p->questions[i].about = p->words[i].about;
	qsort(p->questions, p->n_words, sizeof(*p->questions), by_about);
	for (size_t i = 0; i < p->n_words; i++)
		if (i == 0 || p->questions[i].about != p->questions[i - 1].about)
			p->questions[p->n_questions++].about = p->questions[i].about;
	return 0;
}

static int answer_all(struct plain *p)
{
	p->answers = calloc(p->n_questions * p->n + 1, sizeof(*p->answers));
	if (!p->answers)
		return -ENOMEM;
	for (size_t i = 0; i < p->n_words; i++) {
		struct word *w = &p->words[i];
		struct question *q = bsearch(&(struct question){.about = w->about}, p->questions,
					     p->n_questions, sizeof(*p->questions), by_about);
		uint64_t *answer;

		w->question = (uint32_t)(q - p->questions);
		answer = &p->answers[(size_t)w->question * p->n + w->name];
		*answer = mix(*answer, w->answer) | 1;
		q->characters += w->len;
	}
	return 0;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* How many are told apart by what they were asked and one question more. */
static uint32_t count_told(struct plain *p, size_t question)
{
	uint32_t n = p->n > 0;

	for (uint32_t i = 0; i < p->n; i++)
		p->seen[i] = mix(p->told[i], p->answers[question * p->n + i]);
	qsort(p->seen, p->n, sizeof(*p->seen), by_value);
	for (uint32_t i = 1; i < p->n; i++)
		n += p->seen[i] != p->seen[i - 1];
	p->work -= p->n;
	return n;
}

/* Ask what tells most apart, of these what is shortest, until all are told apart, or no question helps.
 * Questions have an order of their own: that of the names does not matter. */
static void ask(struct plain *p)
{
	for (uint32_t told = 1, most = 1; told < p->n && p->work > 0; told = most) {
		struct question *best = NULL;

		for (size_t q = 0; q < p->n_questions && p->work > 0; q++) {
			uint32_t n = p->questions[q].is_asked ? 0 : count_told(p, q);

			if (n <= told || n < most ||
			    (best && n == most && p->questions[q].characters >= best->characters))
				continue;
			most = n;
			best = &p->questions[q];
		}
		if (!best)
			return;
		best->is_asked = true;
		for (uint32_t i = 0; i < p->n; i++)
			p->told[i] = mix(p->told[i],
					 p->answers[(size_t)(best - p->questions) * p->n + i]);
	}
}

/* ---- names ---- */

/* Is a word one of the short form already? */
static bool is_said(const char *brief, const struct word *w)
{
	const char *at = brief;

	while ((at = memmem(at, strlen(at), w->text, w->len))) {
		if ((at == brief || at[-1] == '_') && (at[w->len] == '_' || !at[w->len]))
			return true;
		at++;
	}
	return false;
}

static int write_name(struct plain *p, uint32_t name, const struct word *w)
{
	uint32_t i = p->name[name];
	_cleanup_(freep) char *brief = plain_brief(p->raw[i]);
	_cleanup_(buf_done) struct buf out = {0};

	if (!brief)
		return -ENOMEM;
	buf_puts(&out, brief);
	for (; w < p->words + p->n_words && w->name == name; w++)
		if (p->questions[w->question].is_asked && !is_said(brief, w)) {
			buf_putc(&out, '_');
			buf_put(&out, w->text, w->len);
		}
	free(p->ret[i]);
	p->ret[i] = out.error ? NULL : strdup(buf_str(&out));
	return p->ret[i] ? 0 : -ENOMEM;
}

static int write_names(struct plain *p)
{
	const struct word *w = p->words;
	int r = 0;

	for (uint32_t i = 0; i < p->n && r == 0; i++) {
		while (w < p->words + p->n_words && w->name < i)
			w++;
		r = write_name(p, i, w);
	}
	return r;
}

static int tell_apart(struct plain *p)
{
	int r;

	p->told = calloc(p->n, sizeof(*p->told));
	p->seen = calloc(p->n, sizeof(*p->seen));
	r = p->told && p->seen ? find_questions(p) : -ENOMEM;
	if (r < 0 || p->n_questions * p->n > ANSWERS_MAX)
		return r;
	r = answer_all(p);
	if (r < 0)
		return r;
	ask(p);
	return write_names(p);
}

int plain_apart(const char *const raw[], size_t n, char *ret[])
{
	struct plain p = {.raw = raw, .ret = ret, .work = WORK_MAX};
	int r = choose_names(&p, n);

	if (r == 0 && p.n > 1 && p.n_words < WORDS_MAX)
		r = tell_apart(&p);
	plain_done(&p);
	return r;
}

/* The short form, then words of the name. */
bool plain_could_be(const char *raw, const char *text)
{
	_cleanup_(freep) char *brief = plain_brief(raw);
	size_t len = brief ? strlen(brief) : 0;

	if (!brief || strncmp(text, brief, len) != 0)
		return false;
	for (text += len; *text == '_'; text += len) {
		const char *at = raw;

		len = 1 + word_len(text + 1);
		while ((at = memmem(at, strlen(at), text, len)) && at[len] && at[len] != '_')
			at++;
		if (!at)
			return false;
	}
	return !*text;
}
