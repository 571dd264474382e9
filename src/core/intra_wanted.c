/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/intra_wanted.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"

static const char *const libraries[] = {[false] = "users", [true] = "all"};

char *intra_wanted_text(const struct intra_wanted *w)
{
	char *text;

	return asprintf(&text, "mode %s\nlibraries %s\n%s", w->mode, libraries[w->has_all],
			w->rules) < 0
		       ? NULL
		       : text;
}

/* What stands behind the word on its line; *text goes on behind that. NULL: another word, or no memory. */
static char *take_line(const char **text, const char *word)
{
	const char *at = *text, *end = strchr(at, '\n');
	size_t len = strlen(word);

	if (!end || strncmp(at, word, len) != 0 || at[len] != ' ')
		return NULL;
	*text = end + 1;
	at += len + 1;
	return strndup(at, (size_t)(end - at));
}

bool intra_wanted_parse(const char *text, struct intra_wanted *ret)
{
	_cleanup_(freep) char *word = NULL;

	*ret = (struct intra_wanted){.mode = take_line(&text, "mode")};
	if (!ret->mode)
		return false;
	word = take_line(&text, "libraries");
	if (!word || (strcmp(word, libraries[false]) && strcmp(word, libraries[true])))
		return false;
	ret->has_all = !strcmp(word, libraries[true]);
	ret->rules = strdup(text);
	return ret->rules;
}

void intra_wanted_done(struct intra_wanted *w)
{
	free(w->mode);
	free(w->rules);
	*w = (struct intra_wanted){NULL};
}
