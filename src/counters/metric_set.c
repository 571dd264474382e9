/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "counters/metric_set.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/named_file.h"
#include "base/util.h"

#define TEXT_MAX   (1 << 20)
#define PASSES_MAX 1000

static const struct {
	const char *name, *text;
} builtin[] = {
#include "counters/metric_sets_text.h" // data/metric-sets/, by the build
};

/* ---- lines ---- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* The next word of a line, ended by a NUL; NULL: no more. */
static char *next_word(char **line)
{
	char *word = *line, *end;

	while (is_blank(*word))
		word++;
	if (!*word)
		return NULL;
	for (end = word; *end && !is_blank(*end); end++)
		;
	*line = *end ? end + 1 : end;
	*end = '\0';
	return word;
}

static int take_metric(struct metric_set *set, char *line)
{
	struct metric_choice *choice;
	size_t cap = 0;
	char *word;

	if (ARRAY_ROOM(set->choices, set->cap, set->n + 1) < 0)
		return -ENOMEM;
	choice = &set->choices[set->n++];
	*choice = (struct metric_choice){NULL, 0};
	while ((word = next_word(&line))) {
		if (ARRAY_ROOM(choice->names, cap, choice->n + 1) < 0)
			return -ENOMEM;
		choice->names[choice->n++] = word;
	}
	return 0;
}

static int take_about(struct metric_set *set, char *rest)
{
	while (is_blank(*rest))
		rest++;
	set->about = rest;
	return 0;
}

static int take_counting(struct metric_set *set, char *rest)
{
	const char *word = next_word(&rest);

	for (int i = 0; word && i < N_COUNTINGS; i++)
		if (!strcmp(word, counting_words[i])) {
			set->counting = (enum counting_kind)i;
			return next_word(&rest) ? -EINVAL : 0;
		}
	return -EINVAL;
}

static int take_passes(struct metric_set *set, char *rest)
{
	const char *word = next_word(&rest);
	char *end = NULL;
	long n = word ? strtol(word, &end, 10) : 0;

	if (n < 1 || n > PASSES_MAX || *end || next_word(&rest))
		return -EINVAL;
	set->most_passes = (size_t)n;
	return 0;
}

/* Names of metrics have a unit of the hardware before "__"; words of ours have none. */
static int take_line(struct metric_set *set, char *line)
{
	static const struct {
		const char *word;
		int (*take)(struct metric_set *set, char *rest);
	} words[] = {{"about", take_about}, {"counting", take_counting}, {"passes", take_passes}};
	size_t len;

	while (is_blank(*line))
		line++;
	if (!*line)
		return 0;
	len = strcspn(line, " \t\r");
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (len == strlen(words[i].word) && !memcmp(line, words[i].word, len))
			return words[i].take(set, line + len);
	return memmem(line, len, "__", 2) ? take_metric(set, line) : -EINVAL;
}

static int take_text(struct metric_set *set, char *text, unsigned *ret_line)
{
	char *next;
	int r;

	for (*ret_line = 1; text; text = next, ++*ret_line) {
		next = strchr(text, '\n');
		if (next)
			*next++ = '\0';
		text[strcspn(text, "#")] = '\0';
		r = take_line(set, text);
		if (r < 0)
			return r;
	}
	*ret_line = 0;
	return set->n ? 0 : -EINVAL;
}

int metric_set_parse(const char *name, const char *text, struct metric_set **ret,
		     unsigned *ret_line)
{
	_cleanup_(metric_set_freep) struct metric_set *set = calloc(1, sizeof(*set));
	size_t name_size = strlen(name) + 1, text_size = strlen(text) + 1;
	int r;

	*ret_line = 0;
	if (!set || !(set->text = malloc(name_size + text_size)))
		return -ENOMEM;
	memcpy(set->text, name, name_size);
	memcpy(set->text + name_size, text, text_size);
	set->name = set->text;
	set->about = "";
	r = take_text(set, set->text + name_size, ret_line);
	if (r < 0)
		return r;
	*ret = set;
	set = NULL;
	return 0;
}

/* ---- where they are ---- */

int metric_set_load(const char *path, struct metric_set **ret, unsigned *ret_line)
{
	_cleanup_(closep) int fd = input_open(path, INPUT_WAIT_MS);
	_cleanup_(buf_done) struct buf text = {.max = TEXT_MAX};
	const char *all;
	int r;

	*ret_line = 0;
	if (fd < 0)
		return fd;
	r = buf_read(&text, fd);
	if (r < 0)
		return r;
	all = buf_str(&text);
	if (strlen(all) == text.len)
		return metric_set_parse(path, all, ret, ret_line);
	for (*ret_line = 1; *all; all++)
		*ret_line += *all == '\n';
	return -EINVAL; /* what follows would not be read */
}

int metric_set_find(const char *name, struct metric_set **ret)
{
	unsigned line;

	for (size_t i = 0; i < ARRAY_SIZE(builtin); i++)
		if (!strcmp(builtin[i].name, name))
			return metric_set_parse(name, builtin[i].text, ret, &line);
	return -ENOENT;
}

const char *metric_set_name(unsigned i)
{
	return i < ARRAY_SIZE(builtin) ? builtin[i].name : NULL;
}

struct metric_set *metric_set_of(const char *const *names, size_t n, enum counting_kind counting)
{
	struct metric_set *set = calloc(1, sizeof(*set));

	if (!set)
		return NULL;
	set->name = set->about = "";
	set->counting = counting;
	for (size_t i = 0; i < n; i++)
		if (metric_set_add(set, names[i]) < 0)
			return metric_set_free(set);
	return set;
}

int metric_set_add(struct metric_set *set, const char *name)
{
	const char **one;

	if (ARRAY_ROOM(set->choices, set->cap, set->n + 1) < 0 || !(one = malloc(sizeof(*one))))
		return -ENOMEM;
	*one = name;
	set->choices[set->n++] = (struct metric_choice){one, 1};
	return 0;
}

static void choice_leave_out(struct metric_choice *choice, bool (*is_out)(const char *name))
{
	size_t n = 0;

	for (size_t i = 0; i < choice->n; i++)
		if (!is_out(choice->names[i]))
			choice->names[n++] = choice->names[i];
	choice->n = n;
}

size_t metric_set_leave_out(struct metric_set *set, bool (*is_out)(const char *name))
{
	size_t n = 0, n_before = set->n;

	for (size_t i = 0; i < n_before; i++) {
		choice_leave_out(&set->choices[i], is_out);
		if (set->choices[i].n)
			set->choices[n++] = set->choices[i];
		else
			free(set->choices[i].names);
	}
	set->n = n;
	return n_before - n;
}

struct metric_set *metric_set_free(struct metric_set *set)
{
	if (!set)
		return NULL;
	for (size_t i = 0; i < set->n; i++)
		free(set->choices[i].names);
	free(set->choices);
	free(set->text);
	free(set);
	return NULL;
}
