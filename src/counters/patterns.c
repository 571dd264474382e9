/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "counters/patterns.h"
#include <fnmatch.h>
#include <limits.h>
#include <string.h>
#include "base/buf.h"
#include "base/near.h"

enum { NEAR_MAX = 3 };

bool pattern_is_glob(const char *pattern)
{
	return strpbrk(pattern, "*?[");
}

bool pattern_matches(const char *pattern, const char *name)
{
	return pattern_is_glob(pattern) ? fnmatch(pattern, name, 0) == 0
					: strcasestr(name, pattern) != NULL;
}

struct near {
	const char *name;
	unsigned far;
};

/* Keeps the nearest few in order; of two alike the earlier one. */
static void keep_near(struct near *near, size_t *n, struct near next)
{
	size_t at = *n;

	while (at > 0 && near[at - 1].far > next.far)
		at--;
	if (at == NEAR_MAX)
		return;
	*n += *n < NEAR_MAX;
	memmove(near + at + 1, near + at, (*n - at - 1) * sizeof(*near));
	near[at] = next;
}

void names_near(const char *word, const char *const *names, size_t n, struct buf *out)
{
	/* A third of the letters may differ, as in a name of an option. */
	unsigned limit = (unsigned)(strlen(word) + 2) / 3;
	struct near near[NEAR_MAX];
	size_t n_near = 0;

	for (size_t i = 0; i < n; i++) {
		unsigned far = edit_distance(word, strlen(word), names[i], strlen(names[i]), true);

		if (far <= limit)
			keep_near(near, &n_near, (struct near){names[i], far});
	}
	for (size_t i = 0; i < n_near; i++)
		buf_printf(out, "%s'%s'", !i ? "" : i + 1 < n_near ? ", " : " or ", near[i].name);
}
