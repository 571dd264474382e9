/* SPDX-License-Identifier: MIT */
/* proton kernel probe: PTX that records, and what of it does. */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include "base/buf.h"
#include "base/named_file.h"
#include "base/util.h"
#include "cmd/commands.h"
#include "cmd/kernel_mode.h"
#include "cmd/kernel_wait.h"
#include "images/images.h"
#include "naming/brief.h"
#include "naming/readable.h"
#include "ptx/probe.h"

enum { OPT_OUTPUT = 1, OPT_INTRA, OPT_MODE, OPT_CTAS };
enum { TEXT_MOST = 256 << 20 };

/* clang-format off */
static const struct option_def options[] = {
	{.name = "output", .letter = 'o', .arg = "OUT", .help = "write the PTX that records to OUT (\"-\": here)", .id = OPT_OUTPUT},
	{.name = "intra", .arg = "RULES", .help = "where it records: rules, or a file with them (" PTX_RULES_USUAL ")", .id = OPT_INTRA},
	{.name = "intra-mode", .arg = "MODE", .help = "how it records, in the words of Triton's Proton (default)", .id = OPT_MODE},
	{.name = "ctas", .arg = "N", .help = "only every N-th block records", .id = OPT_CTAS},
};
/* clang-format on */

#define _(id, word, takes, what) " " word
static const char details[] =
	"Rules, separated by commas or on lines of their own (see proton-kernel(1)):\n"
	" " PTX_ANCHORS(_) "\n  kernel skip limit\n";
#undef _

const struct command_def command_kernel_probe = {
	.name = "kernel probe",
	.usage = "[options] FILE.ptx",
	.summary = "make the kernels of a PTX file record scopes within them",
	.details = details,
	.operands_first = true,
	.options = options,
	.n_options = ARRAY_SIZE(options),
};

struct arguments {
	const char *output; /* NULL: it is not written */
	const char *rules;
	struct ptx_options options;
};

static int on_option(const struct option_def *option, const char *value, void *arg)
{
	struct arguments *a = arg;

	switch (option->id) {
	case OPT_OUTPUT:
		a->output = value;
		return 0;
	case OPT_INTRA:
		a->rules = value;
		return 0;
	case OPT_MODE:
		return kernel_mode_take(value, &a->options);
	default:
		return parse_count(value, INT32_MAX, &a->options.ctas) < 0 || !a->options.ctas
			       ? -EINVAL
			       : 0;
	}
}

/* ---- what was probed ---- */

static void print_name(const struct ptx_kernel *k, FILE *out)
{
	_cleanup_(freep) char *name = readable_name(k->name, FRAME_KERNEL, BRIEF_TYPED);
	static const char *const buffers[] = {"", "shared memory", "global memory", "registers"};

	if (k->why)
		print_line(out, "%s: left as it was: %s", name ? name : k->name, k->why);
	else if (k->shared_bytes)
		print_line(out, "%s: %u scope%s, by %s (%u bytes of a block)",
			   name ? name : k->name, k->n_places, k->n_places == 1 ? "" : "s",
			   buffers[k->buffer], k->shared_bytes);
	else
		print_line(out, "%s: %u scope%s, by %s", name ? name : k->name, k->n_places,
			   k->n_places == 1 ? "" : "s", buffers[k->buffer]);
	if (k->note)
		print_line(out, "    %s", k->note);
}

static void print_place(const struct ptx_place *p, FILE *out)
{
	static const char *const kinds[] = {
#define _(id, word, takes, what) word,
		PTX_ANCHORS(_)
#undef _
	};

	if (!p->row)
		print_line(out, "    %-32s %s", p->scope, kinds[p->anchor]);
	else if (p->file)
		print_line(out, "    %-32s %-9s %s:%u, line %u of the PTX", p->scope,
			   kinds[p->anchor], p->file, p->line, p->row);
	else
		print_line(out, "    %-32s %-9s line %u of the PTX", p->scope, kinds[p->anchor],
			   p->row);
}

/* ---- what it costs, where there is an assembler ---- */

/* Kernels of a text, assembled. */
struct cost {
	struct assembled assembled;
	struct image_kernels kernels;
};

static void cost_done(struct cost *c)
{
	image_kernels_done(&c->kernels);
	assembled_done(&c->assembled);
}

/* False: nothing is known of it, and why. */
static bool cost_of(const char *text, size_t n, struct cost *ret)
{
	const struct image image = {.kind = IMAGE_CUBIN};
	struct elf_part cubin;

	*ret = (struct cost){0};
	if (kernel_assemble_shown((struct elf_part){(const uint8_t *)text, n},
				  &(struct assemble_options){0}, &ret->assembled) < 0)
		return false;
	cubin = (struct elf_part){(const uint8_t *)ret->assembled.cubin.data,
				  ret->assembled.cubin.len};
	return image_kernels(&image, cubin, &ret->kernels) == 0;
}

/* "registers 104 -> 108", and what a thread spills where it does. */
static void print_cost(struct cost *before, struct cost *after, const char *name, FILE *out)
{
	size_t len = strlen(name);
	const struct image_kernel *was = image_kernels_find(&before->kernels, name, len),
				  *is = image_kernels_find(&after->kernels, name, len);
	struct spills s = {0}, t = {0};

	if (!was || !is)
		return;
	print_line(out,
		   "    registers %u -> %u, shared memory %llu -> %llu, local %llu -> %llu bytes",
		   was->registers, is->registers, (unsigned long long)was->shared_bytes,
		   (unsigned long long)is->shared_bytes, (unsigned long long)was->local_bytes,
		   (unsigned long long)is->local_bytes);
	if (assembled_spills(&before->assembled, name, len, &s) &&
	    assembled_spills(&after->assembled, name, len, &t) && t.stores_bytes > s.stores_bytes)
		print_line(out, "    a thread spills %u -> %u bytes", s.stores_bytes,
			   t.stores_bytes);
}

static void print_kernels(const struct ptx_probed *probed, struct cost *before, struct cost *after,
			  FILE *out)
{
	size_t place = 0;

	if (!probed->n_kernels)
		print_line(out, "there are no kernels in it");
	for (uint32_t i = 0; i < probed->n_kernels; i++) {
		print_name(&probed->kernel[i], out);
		if (!probed->kernel[i].why)
			print_cost(before, after, probed->kernel[i].name, out);
		for (; place < probed->n_places && probed->place[place].kernel == i; place++)
			print_place(&probed->place[place], out);
	}
}

static void print_probed(const struct ptx_probed *probed, const struct buf *text, FILE *out)
{
	struct cost before, after = {0};
	bool is_known = cost_of(text->data, text->len, &before);

	if (is_known && probed->n_probed)
		is_known = cost_of(probed->text.data, probed->text.len, &after);
	print_kernels(probed, &before, &after, out);
	if (!is_known)
		print_line(out, "what it costs is not known: %s",
			   buf_str(before.assembled.why.len ? &before.assembled.why
							    : &after.assembled.why));
	cost_done(&before);
	cost_done(&after);
}

/* ---- files ---- */

static int write_text(const char *path, const struct ptx_probed *probed)
{
	_cleanup_(closep) int fd = -1;
	int r;

	if (!strcmp(path, "-"))
		return fwrite(probed->text.data, 1, probed->text.len, stdout) == probed->text.len
			       ? 0
			       : -EIO;
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	r = fd < 0 ? -errno : fd_write_all(fd, probed->text.data, probed->text.len);
	return r;
}

static int read_text(const char *path, struct buf *text)
{
	_cleanup_(closep) int fd = input_open(path, INPUT_WAIT_MS);

	return fd < 0 ? fd : buf_read(text, fd);
}

static int finish(const struct arguments *a, const struct buf *text,
		  const struct ptx_probed *probed)
{
	int r;

	/* What is said does not get into the text. */
	print_probed(probed, text, a->output && !strcmp(a->output, "-") ? stderr : stdout);
	r = a->output ? write_text(a->output, probed) : 0;
	if (r == 0)
		return STATUS_OK;
	complain("cannot write '%s': %s", a->output, strerror(-r));
	return STATUS_FAILED;
}

static int probe(const char *path, const struct arguments *a, const struct ptx_rules *rules)
{
	_cleanup_(buf_done) struct buf text = {.max = TEXT_MOST};
	struct ptx_probed probed = {0};
	int r = read_text(path, &text), status = STATUS_FAILED;

	if (r < 0) {
		complain("cannot read '%s': %s", path, open_error(r));
		return STATUS_FAILED;
	}
	r = ptx_probe(text.len ? text.data : "", text.len, rules, &a->options, &probed);
	if (r < 0)
		complain("cannot probe '%s': %s", path, ptx_probe_error(r));
	else
		status = finish(a, &text, &probed);
	ptx_probed_done(&probed);
	return status;
}

int cmd_kernel_probe(int argc, char **argv)
{
	struct arguments a = {.rules = PTX_RULES_USUAL};
	_cleanup_(buf_done) struct buf why = {0};
	struct ptx_rules *rules;
	int first = options_parse(&command_kernel_probe, argc, argv, on_option, &a), status;

	if (first <= 0)
		return first ? STATUS_USAGE : STATUS_OK;
	if (argc - first != 1) {
		complain("'kernel probe' needs a file of PTX (see 'proton kernel probe --help')");
		return STATUS_USAGE;
	}
	if (ptx_rules_said(a.rules, &rules, &why) < 0) {
		complain("--intra: %s", why.len ? buf_str(&why) : strerror(ENOMEM));
		return STATUS_USAGE;
	}
	status = probe(argv[first], &a, rules);
	ptx_rules_free(rules);
	return status;
}
