/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/view.h"
#include <string.h>

static const char *const words[VIEW_N] = {
#define _(name, word) word,
	VIEWS(_)
#undef _
};

const char *view_word(enum view view)
{
	return words[view];
}

enum view view_find(const char *word, size_t len)
{
	unsigned view = 0;

	while (view < VIEW_N && (strncmp(words[view], word, len) != 0 || words[view][len]))
		view++;
	return (enum view)view;
}
