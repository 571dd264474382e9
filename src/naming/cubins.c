/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "naming/cubins.h"
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/util.h"
#include "naming/cubin.h"

struct cubins {
	char *folder;
	struct known {
		char *name;
		struct cubin *cubin; /* NULL: it is not there */
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

static struct cubin *open_in(const char *folder, const char *name)
{
	_cleanup_(buf_done) struct buf path = {0};
	struct cubin *cubin = NULL;

	buf_init(&path, 1 << 16);
	buf_printf(&path, "%s/%s", folder, name);
	if (strchr(name, '/') || path.error || cubin_open(buf_str(&path), &cubin) < 0)
		return NULL;
	return cubin;
}

const struct cubin *cubins_find(struct cubins *c, const char *name)
{
	struct known one = {0};

	for (size_t i = 0; i < c->n; i++)
		if (!strcmp(c->v[i].name, name))
			return c->v[i].cubin;
	if (ARRAY_ROOM(c->v, c->cap, c->n + 1) < 0 || !(one.name = strdup(name)))
		return NULL;
	one.cubin = open_in(c->folder, name);
	c->v[c->n++] = one;
	return one.cubin;
}
