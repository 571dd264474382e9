/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "cmd/code.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"
#include "live/disassembly.h"
#include "live/kept_code.h"

struct code {
	struct code_reader reader;
	struct source_files *files;
	struct disassembly *disassembly;
	uint64_t made_ns;
};

/* ---- what views ask ---- */

static struct source_text line(void *ctx, const char *file, size_t file_len, uint32_t number)
{
	return source_files_line(((struct code *)ctx)->files, file, file_len, number);
}

static bool is_newer(void *ctx, const char *file, size_t file_len)
{
	struct code *c = ctx;

	return c->made_ns && source_files_is_newer(c->files, file, file_len, c->made_ns);
}

static const char *instruction(void *ctx, const struct pc_instruction *is)
{
	return disassembly_text(((struct code *)ctx)->disassembly, is);
}

static unsigned functions(void *ctx, const struct pc_instruction *is,
			  struct object_function ret[NATIVE_INLINED_MAX])
{
	return disassembly_functions(((struct code *)ctx)->disassembly, is, ret);
}

static const char *why_none(void *ctx)
{
	return disassembly_why(((struct code *)ctx)->disassembly);
}

/* ---- all of it ---- */

static int find_folders(struct code *c, const struct code_places *places, const char *file)
{
	_cleanup_(freep) char *beside = NULL;
	int r = source_files_add_folder(c->files, ".");

	for (unsigned i = 0; i < places->n_folders && r == 0; i++)
		r = source_files_add_folder(c->files, places->folders[i]);
	if (r == 0 && !places->cubins && asprintf(&beside, "%s" KEPT_CODE_SUFFIX, file) < 0)
		beside = NULL;
	if (r == 0 && (places->cubins || beside))
		c->disassembly = disassembly_new(places->cubins ? places->cubins : beside);
	return c->disassembly ? r : -ENOMEM;
}

struct code *code_new(const struct code_places *places, const char *file, uint64_t made_ns)
{
	struct code *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->reader = (struct code_reader){line, is_newer, instruction, functions, why_none, c};
	c->made_ns = made_ns;
	c->files = source_files_new();
	return c->files && find_folders(c, places, file) == 0 ? c : code_free(c);
}

struct code *code_free(struct code *c)
{
	if (!c)
		return NULL;
	source_files_free(c->files);
	disassembly_free(c->disassembly);
	free(c);
	return NULL;
}

const struct code_reader *code_reader(struct code *c)
{
	return &c->reader;
}
