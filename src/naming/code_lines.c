/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "naming/code_lines.h"
#include <inttypes.h>
#include <stdlib.h>
#include "base/buf.h"
#include "naming/cubin.h"
#include "naming/cubins.h"

struct code_lines {
	struct cubins *cubins;
	struct buf text[NATIVE_INLINED_MAX];
};

struct code_lines *code_lines_new(const char *folder)
{
	struct code_lines *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	for (size_t i = 0; i < NATIVE_INLINED_MAX; i++)
		buf_init(&l->text[i], 1 << 16);
	l->cubins = cubins_new(folder);
	return l->cubins ? l : code_lines_free(l);
}

struct code_lines *code_lines_free(struct code_lines *l)
{
	if (!l)
		return NULL;
	for (size_t i = 0; i < NATIVE_INLINED_MAX; i++)
		buf_done(&l->text[i]);
	cubins_free(l->cubins);
	free(l);
	return NULL;
}

unsigned code_lines_find(void *ctx, const struct native_place *place,
			 struct native_function ret[NATIVE_INLINED_MAX])
{
	struct code_lines *l = ctx;
	struct object_function lines[NATIVE_INLINED_MAX] = {{0}};
	const struct cubin *cubin = cubins_find(l->cubins, place->path);
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
