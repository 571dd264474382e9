/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "cmd/scopes_options.h"
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"
#include "cmd/options.h"
#include "intra/warp_set.h"
#include "report/print_line.h"

/* A word of the list, with what is behind its '='. */
struct word {
	const char *name;
	int (*set)(struct scopes_wanted *w, const char *value); /* value: NULL: none */
};

static int set_warps(struct scopes_wanted *w, const char *value)
{
	return value ? warp_set_add(value, strlen(value), &w->warps) : -EINVAL;
}

/* "16" or "16:3" */
static int set_nth(struct every_nth *ret, const char *value)
{
	const char *colon = value ? strchr(value, ':') : NULL;
	char first[16] = "";

	snprintf(first, sizeof(first), "%.*s", colon ? (int)(colon - value) : 15,
		 value ? value : "");
	if (parse_count(first, INT32_MAX, &ret->modulus) < 0 || !ret->modulus ||
	    (colon && (parse_count(colon + 1, INT32_MAX, &ret->remainder) < 0 ||
		       ret->remainder >= ret->modulus)))
		return -EINVAL;
	return 0;
}

static int set_blocks(struct scopes_wanted *w, const char *value)
{
	return set_nth(&w->blocks, value);
}

static int set_multiprocessors(struct scopes_wanted *w, const char *value)
{
	return set_nth(&w->multiprocessors, value);
}

static int set_shift(struct scopes_wanted *w, const char *value)
{
	w->time_shift = true;
	return value ? -EINVAL : 0;
}

static int set_off(struct scopes_wanted *w, const char *value)
{
	w->off = true;
	return value ? -EINVAL : 0;
}

/* Nothing but that there are such kernels. */
static int set_all(struct scopes_wanted *w, const char *value)
{
	(void)w;
	return value ? -EINVAL : 0;
}

static const struct word words[] = {
	{"warps", set_warps},      {"blocks", set_blocks}, {"multiprocessors", set_multiprocessors},
	{"time-shift", set_shift}, {"all", set_all},       {"off", set_off}};

static const struct word *find(const char *text, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strlen(words[i].name) == len && !memcmp(words[i].name, text, len))
			return &words[i];
	return NULL;
}

/* One that has no name goes on with what the one before it began: a list of warps. */
static int set_word(struct scopes_wanted *w, const char *text, const struct word **last)
{
	size_t len = strcspn(text, "=");
	const struct word *word = find(text, len);

	if (!word && !text[len] && *last && (*last)->set == set_warps)
		return set_warps(w, text);
	*last = word;
	return word ? word->set(w, text[len] ? text + len + 1 : NULL) : -EINVAL;
}

int scopes_option(const char *value, struct scopes_wanted *ret)
{
	_cleanup_(freep) char *text = strdup(value);
	struct scopes_wanted w = {.asked = true};
	const struct word *last = NULL;
	char *at = text, *one;

	while ((one = strsep(&at, ","))) {
		if (set_word(&w, one, &last) == 0)
			continue;
		complain(
			"--kernel-scopes: '%s' is not understood: there are warps=LIST (0 to 31, 0,4-7), "
			"blocks=N and multiprocessors=N (each N-th; N:R from the R-th on), time-shift, all and off",
			one);
		return -EINVAL;
	}
	*ret = w;
	return 0;
}
