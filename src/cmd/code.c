/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "cmd/code.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"
#include "launch/disassembler.h"
#include "live/kept_code.h"
#include "naming/cubin.h"
#include "naming/cubins.h"
#include "naming/sass.h"

enum {
	PARTS_MAX = 256
}; /* functions that are kept: there are hundreds of kernels, few of them hot */

/* A function of a cubin that was asked for. */
struct part {
	uint64_t checksum;
	char *name;
	const struct cubin *cubin; /* NULL: it is not there */
	const struct cubin_function *function;
	struct sass sass;
	bool was_asked; /* of nvdisasm */
};

struct code {
	struct code_reader reader;
	struct source_files *files;
	struct cubins *cubins;
	char *tool;
	bool was_sought; /* the tool */
	bool has_hung;   /* … which is not waited for again */
	uint64_t made_ns;
	struct part parts[PARTS_MAX];
	size_t n;
	const char *why;
};

/* ---- cubins ---- */

static void find_cubin(struct code *c, struct part *p)
{
	char name[32];

	snprintf(name, sizeof(name), PC_CUBIN_NAME, p->checksum);
	p->cubin = cubins_find(c->cubins, name);
	p->function = p->cubin ? cubin_find(p->cubin, p->name) : NULL;
}

/* NULL: there are too many, or no memory. */
static struct part *part_of(struct code *c, const struct pc_instruction *is)
{
	struct part *p;

	for (size_t i = 0; i < c->n; i++) {
		p = &c->parts[i];
		if (p->checksum == is->cubin && !strncmp(p->name, is->function, is->function_len) &&
		    !p->name[is->function_len])
			return p;
	}
	if (c->n == PARTS_MAX)
		return NULL;
	p = &c->parts[c->n];
	*p = (struct part){.checksum = is->cubin, .name = strndup(is->function, is->function_len)};
	if (!p->name)
		return NULL;
	c->n++;
	find_cubin(c, p);
	return p;
}

static const char *tool_of(struct code *c)
{
	if (!c->was_sought)
		c->tool = disassembler_find();
	c->was_sought = true;
	return c->tool;
}

/* The instructions of a function, once. NULL, or why there are none. */
static const char *ask(struct code *c, struct part *p)
{
	static const char hung[] = "nvdisasm did not end in time";
	struct probe answer;
	const char *why = NULL;
	char *path;

	p->was_asked = true;
	if (!p->function)
		return "the cubin of their kernel is not there";
	if (!tool_of(c))
		return "nvdisasm is not installed (it comes with CUDA)";
	if (c->has_hung)
		return hung;
	if (asprintf(&path, "%s/" PC_CUBIN_NAME, cubins_folder(c->cubins), p->checksum) < 0)
		return "memory is out";
	disassemble(c->tool, path, p->function->symbol, &answer);
	free(path);
	if (sass_parse(answer.text.data, answer.text.len, p->function, &p->sass) < 0)
		why = "memory is out";
	else if (answer.end == PROBE_HUNG)
		why = hung;
	else if (answer.end != PROBE_ANSWERED || !p->sass.n)
		why = "nvdisasm does not know this chip's code, or failed";
	c->has_hung = answer.end == PROBE_HUNG;
	probe_done(&answer);
	return why;
}

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
	struct code *c = ctx;
	struct part *p = part_of(c, is);
	const char *why = NULL;

	if (p && !p->was_asked)
		why = ask(c, p);
	if (why)
		c->why = why;
	return p ? sass_at(&p->sass, is->offset) : NULL;
}

static unsigned functions(void *ctx, const struct pc_instruction *is,
			  struct object_function ret[NATIVE_INLINED_MAX])
{
	struct part *p = part_of(ctx, is);

	return p && p->function ? cubin_lines(p->cubin, p->function, is->offset, ret) : 0;
}

static const char *why_none(void *ctx)
{
	return ((struct code *)ctx)->why;
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
		c->cubins = cubins_new(places->cubins ? places->cubins : beside);
	return c->cubins ? r : -ENOMEM;
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
	for (size_t i = 0; i < c->n; i++) {
		free(c->parts[i].name);
		sass_done(&c->parts[i].sass);
	}
	source_files_free(c->files);
	cubins_free(c->cubins);
	free(c->tool);
	free(c);
	return NULL;
}

const struct code_reader *code_reader(struct code *c)
{
	return &c->reader;
}
