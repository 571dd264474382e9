/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BASE_ANY_CASE_H
#define PROTON_BASE_ANY_CASE_H
/* Words in text that nothing ends, in whatever case they are written.
 *   thread  any */
#include <string.h>
#include <strings.h>

/* Where the first one is; NULL: nowhere. */
static inline const char *find_any_case(const char *text, size_t len, const char *word)
{
	size_t n = strlen(word);

	for (size_t i = 0; i + n <= len; i++)
		if (!strncasecmp(text + i, word, n))
			return text + i;
	return NULL;
}

#endif
