/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "base/loaded.h"
#include <string.h>

struct search {
	const char *begins;
	loaded_fn *see;
	void *arg;
};

static int look(struct dl_phdr_info *info, size_t size, void *arg)
{
	const struct search *s = arg;
	const char *path = info->dlpi_name ? info->dlpi_name : "", *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;

	(void)size;
	return strncmp(base, s->begins, strlen(s->begins)) ? 0 : s->see(info, base, s->arg);
}

int loaded_each(const char *begins, loaded_fn *see, void *arg)
{
	struct search s = {begins, see, arg};

	return dl_iterate_phdr(look, &s);
}

static int take_path(const struct dl_phdr_info *info, const char *base, void *ret_path)
{
	(void)base;
	*(const char **)ret_path = info->dlpi_name;
	return 1;
}

const char *loaded_path(const char *begins)
{
	const char *path = NULL;

	loaded_each(begins, take_path, &path);
	return path;
}
