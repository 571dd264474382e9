/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_PATH_GLOB_H
#define PROTON_CORE_PATH_GLOB_H
/* Paths of calling contexts with wildcards, as of files: names from a child of the root on, with "/"
 * between them.
 *
 *   train / ** / conv? / *gemm*       *   any characters of one name, a "/" too
 *            │                        ?   one character
 *            └ any number of levels   \  makes what follows it mean itself
 *
 * A name is matched to its end, raw, demangled or short.
 *   thread  one */
#include <stddef.h>
#include <stdint.h>
#include "core/snapshot.h"

struct path_glob {
	char *text; /* names behind one another, each with its zero */
	const char **names;
	uint32_t n;
};

/* 0; -ENOMEM; or -EINVAL with why, and *ret_at where in the text. */
int path_glob_init(struct path_glob *p, const char *text, size_t len, const char **ret_why,
		   size_t *ret_at);
void path_glob_done(struct path_glob *p);

/* Does a name match, to its end? */
bool glob_match(const char *pattern, const char *name);

/* By node: does its path match? 0, -ENOMEM, or -ECANCELED: the snapshot's tick said to stop. */
int path_glob_marks(const struct path_glob *p, struct snapshot *snap, uint8_t *marks);

#endif
