/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "naming/cubins.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/util.h"
#include "naming/cubin.h"

struct cubins {
	char *folder;
	struct known {
		char *name;
		struct cubin *cubin; /* NULL: … */
		int error;           /* … for this */
	} * v;
	size_t n, cap;
};

struct cubins *cubins_new(const char *folder)
{
	struct cubins *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->folder = strdup(folder);
	return c->folder ? c : cubins_free(c);
}

struct cubins *cubins_free(struct cubins *c)
{
	if (!c)
		return NULL;
	for (size_t i = 0; i < c->n; i++) {
		free(c->v[i].name);
		cubin_free(c->v[i].cubin);
	}
	free(c->v);
	free(c->folder);
	free(c);
	return NULL;
}

const char *cubins_folder(const struct cubins *c)
{
	return c->folder;
}

static int open_in(const char *folder, const char *name, struct cubin **ret)
{
	_cleanup_(buf_done) struct buf path = {0};

	if (strchr(name, '/'))
		return -ENOENT;
	buf_init(&path, 1 << 16);
	buf_printf(&path, "%s/%s", folder, name);
	return path.error ? path.error : cubin_open(buf_str(&path), ret);
}

const struct cubin *cubins_find(struct cubins *c, const char *name)
{
	struct known one = {0};

	for (size_t i = 0; i < c->n; i++)
		if (!strcmp(c->v[i].name, name))
			return c->v[i].cubin;
	if (ARRAY_ROOM(c->v, c->cap, c->n + 1) < 0 || !(one.name = strdup(name)))
		return NULL;
	one.error = open_in(c->folder, name, &one.cubin);
	c->v[c->n++] = one;
	return one.cubin;
}

int cubins_error(const struct cubins *c, const char *name)
{
	for (size_t i = 0; i < c->n; i++)
		if (!strcmp(c->v[i].name, name))
			return c->v[i].error;
	return -ENOENT;
}
