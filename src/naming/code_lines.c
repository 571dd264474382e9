/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "naming/code_lines.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/util.h"
#include "naming/cubin.h"

/* A cubin that was asked for; NULL: it is not there. */
struct code {
	char *name;
	struct cubin *cubin;
};

struct code_lines {
	char *folder;
	struct code *codes;
	size_t n, cap;
	struct buf text[NATIVE_INLINED_MAX];
};

struct code_lines *code_lines_new(const char *folder)
{
	struct code_lines *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	for (size_t i = 0; i < NATIVE_INLINED_MAX; i++)
		buf_init(&l->text[i], 1 << 16);
	l->folder = strdup(folder);
	return l->folder ? l : code_lines_free(l);
}

struct code_lines *code_lines_free(struct code_lines *l)
{
	if (!l)
		return NULL;
	for (size_t i = 0; i < l->n; i++) {
		free(l->codes[i].name);
		cubin_free(l->codes[i].cubin);
	}
	for (size_t i = 0; i < NATIVE_INLINED_MAX; i++)
		buf_done(&l->text[i]);
	free(l->codes);
	free(l->folder);
	free(l);
	return NULL;
}

static struct cubin *read_code(const struct code_lines *l, const char *name)
{
	_cleanup_(buf_done) struct buf path = {0};
	struct cubin *cubin = NULL;

	buf_init(&path, 1 << 16);
	buf_printf(&path, "%s/%s", l->folder, name);
	if (strchr(name, '/') || path.error || cubin_open(buf_str(&path), &cubin) < 0)
		return NULL;
	return cubin;
}

static const struct cubin *code_of(struct code_lines *l, const char *name)
{
	struct code c = {0};

	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(l->codes[i].name, name))
			return l->codes[i].cubin;
	if (ARRAY_ROOM(l->codes, l->cap, l->n + 1) < 0 || !(c.name = strdup(name)))
		return NULL;
	c.cubin = read_code(l, name);
	l->codes[l->n++] = c;
	return c.cubin;
}

unsigned code_lines_find(void *ctx, const struct native_place *place,
			 struct native_function ret[NATIVE_INLINED_MAX])
{
	struct code_lines *l = ctx;
	struct object_function lines[NATIVE_INLINED_MAX] = {{0}};
	const struct cubin *cubin = code_of(l, place->path);
	const struct cubin_function *f = cubin ? cubin_find(cubin, place->build_id) : NULL;
	unsigned n = f ? cubin_lines(cubin, f, place->offset, lines) : 0;

	for (unsigned i = 0; i < n; i++) {
		const char *name = lines[i].name ? lines[i].name : place->build_id;

		if (!lines[i].file || !lines[i].line)
			return 0;
		buf_clear(&l->text[i]);
		buf_printf(&l->text[i], "%s:%" PRIu32 "@%s", lines[i].file, lines[i].line, name);
		if (l->text[i].error)
			return 0;
		ret[i] = (struct native_function){buf_str(&l->text[i]), lines[i].file,
						  lines[i].line};
	}
	return n;
}
