/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "naming/plain.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
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
