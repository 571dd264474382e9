/* SPDX-License-Identifier: MIT */
/* proton kernel insert: records for kernels of Triton, in files that its compiler reads in place of its own work. */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <string.h>
#include "base/buf.h"
#include "base/named_file.h"
#include "base/util.h"
#include "cmd/commands.h"
#include "cmd/kernel_ttgir.h"
#include "cmd/triton_told.h"
#include "format/write_file.h"
#include "ttgir/insert.h"

enum { OPT_RULES = 1 };

/* clang-format off */
static const struct option_def options[] = {
	{.name = "rules", .letter = 'r', .arg = "RULES",
	 .help = "where: rules, or a file with them (func,loop)",
	 .list_values = ttgir_list_rules, .id = OPT_RULES},
};
/* clang-format on */

const struct command_def command_kernel_insert = {
	.name = "kernel insert",
	.usage = "[options] FILE.ttgir|FOLDER…",
	.summary = "put records into kernels of Triton, by rules",
	.details =
		"Rules: func, loop, loop:iter, loc FILE:LINE, ld, st, mma, wgmma, wait, tma,\n"
		"bar, atomic, reduce, names of operations; RULE as NAME (see proton-kernel(1)).\n"
		"The files themselves are changed: see 'proton kernel dump --stage ttgir'.\n",
	.operands_first = true,
	.options = options,
	.n_options = ARRAY_SIZE(options),
};

struct inserting {
	struct ttgir_rules rules;
	unsigned n_files, n_scopes;
	bool failed;
};

static int on_option(const struct option_def *option, const char *value, void *arg)
{
	if (option->id == OPT_RULES)
		*(const char **)arg = value;
	return *value ? 0 : -EINVAL;
}

/* ---- one file ---- */

static int fill(struct out *o, void *ctx)
{
	out_put_buf(o, ctx);
	return 0;
}

static void print_places(const char *path, const struct ttgir *m, const struct ttgir_places *places)
{
	struct ttgir_text name;

	print_line(stdout, "%s: %zu scope%s", path, places->n_scopes,
		   places->n_scopes == 1 ? "" : "s");
	for (size_t i = 0; i < places->n_scopes; i++)
		print_line(stdout, "  %s", places->scopes[i].name);
	if (!places->branching)
		return;
	name = ttgir_function_name(m, places->branching);
	print_line(stdout, "  (%.*s returns at several places: it is no scope as a whole)",
		   (int)name.len, name.at);
}

static int insert_into(const char *path, const struct buf *text, const struct ttgir_rules *rules,
		       unsigned *n_scopes, char *why, size_t size)
{
	_cleanup_(buf_done) struct buf out = {0};
	struct ttgir_places places;
	struct ttgir m;
	int r = ttgir_insert(&m, text->data ? text->data : "", text->len, rules, &out, &places, why,
			     size);

	if (r < 0)
		return r;
	if (places.n_scopes)
		r = write_file_tagged(path, 0, fill, &out);
	if (r == 0)
		print_places(path, &m, &places);
	*n_scopes += (unsigned)places.n_scopes;
	ttgir_places_done(&places);
	ttgir_done(&m);
	return r;
}

/* What fails is said, and the others are done all the same. */
static int take_file(void *ctx, const char *path)
{
	struct inserting *i = ctx;
	_cleanup_(buf_done) struct buf text = {.max = TTGIR_BYTES};
	char why[256] = "";
	int r = ttgir_read_file(path, &text);

	i->n_files++;
	if (r == 0)
		r = insert_into(path, &text, &i->rules, &i->n_scopes, why, sizeof(why));
	if (r == 0)
		return STATUS_OK;
	complain("'%s' stays as it is: %s", path, *why ? why : open_error(r));
	i->failed = true;
	return STATUS_OK;
}

int cmd_kernel_insert(int argc, char **argv)
{
	const char *said = TTGIR_USUAL_RULES;
	_cleanup_(buf_done) struct buf text = {.max = TTGIR_BYTES};
	struct inserting i = {.failed = false};
	int first = options_parse(&command_kernel_insert, argc, argv, on_option, &said);

	if (first <= 0)
		return first ? STATUS_USAGE : STATUS_OK;
	if (first >= argc) {
		complain("'kernel insert' needs a file (see 'proton kernel insert --help')");
		return STATUS_USAGE;
	}
	if (ttgir_rules_said("--rules", said, &text, &i.rules) < 0)
		return STATUS_USAGE;
	for (int k = first; k < argc; k++)
		i.failed |= kernel_each_ttgir(argv[k], take_file, &i) != STATUS_OK;
	if (!i.failed && !i.n_scopes) {
		complain(i.n_files ? "no rule is about anything in these kernels"
				   : "no kernel of Triton ('*.ttgir') is there");
		i.failed = true;
	}
	ttgir_rules_done(&i.rules);
	return i.failed ? STATUS_FAILED : STATUS_OK;
}
