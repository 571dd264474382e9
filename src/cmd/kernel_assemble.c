/* SPDX-License-Identifier: MIT */
/* proton kernel assemble: PTX made into a cubin, and what its kernels take, beside what they took before. */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include "base/named_file.h"
#include "base/util.h"
#include "cmd/commands.h"
#include "cmd/kernel_wait.h"
#include "images/images.h"
#include "naming/brief.h"
#include "naming/readable.h"

enum { OPT_OUTPUT = 1, OPT_ARCH, OPT_REGISTERS, OPT_BESIDE, OPT_PTXAS };

#define FILE_MAX (UINT64_C(1) << 30)

/* clang-format off */
static const struct option_def options[] = {
	{.name = "output", .letter = 'o', .arg = "FILE", .help = "write the cubin to FILE", .id = OPT_OUTPUT},
	{.name = "arch", .arg = "ARCH", .help = "for this chip (what the PTX is for)", .id = OPT_ARCH},
	{.name = "max-registers", .arg = "N", .help = "at most N registers a thread", .id = OPT_REGISTERS},
	{.name = "beside", .arg = "FILE", .help = "show what the kernels of the cubin FILE take, too", .id = OPT_BESIDE},
	{.name = "ptxas", .arg = "FILE", .help = "assemble by this program, and no other", .id = OPT_PTXAS},
};
/* clang-format on */

const struct command_def command_kernel_assemble = {
	.name = "kernel assemble",
	.usage = "[options] FILE",
	.summary = "assemble PTX, and show what its kernels take",
	.details = "ptxas of CUDA or Triton does it, or else libnvJitLink.\n",
	.operands_first = true,
	.options = options,
	.n_options = ARRAY_SIZE(options),
};

struct arguments {
	const char *output, *beside;
	struct assemble_options options;
};

static int on_option(const struct option_def *option, const char *value, void *arg)
{
	struct arguments *a = arg;

	switch (option->id) {
	case OPT_OUTPUT:
		a->output = value;
		break;
	case OPT_ARCH:
		a->options.arch = value;
		break;
	case OPT_BESIDE:
		a->beside = value;
		break;
	case OPT_PTXAS:
		a->options.ptxas = value;
		break;
	default:
		/* 0 would be no limit. */
		return parse_count(value, 255, &a->options.registers_max) < 0 ||
				       !a->options.registers_max
			       ? -EINVAL
			       : 0;
	}
	return 0;
}

/* ---- what it takes ---- */

static int complain_about(const char *path, const char *why)
{
	complain("cannot read '%s': %s", path, why);
	return -EINVAL;
}

static int read_file(const char *path, struct buf *ret)
{
	_cleanup_(closep) int fd = input_open(path, INPUT_WAIT_MS);
	int r;

	buf_init(ret, FILE_MAX);
	r = fd < 0 ? fd : buf_read(ret, fd);
	return r < 0 ? complain_about(path, open_error(r)) : 0;
}

static struct elf_part part_of(const struct buf *b)
{
	return (struct elf_part){(const uint8_t *)b->data, b->len};
}

/* What a kernel takes, and what it took before: "24 (was 21)". */
static void print_count(uint64_t now, const uint64_t *before)
{
	if (before)
		printf("%6llu %7llu", (unsigned long long)*before, (unsigned long long)now);
	else
		printf("%6s %7llu", "-", (unsigned long long)now);
}

static void print_kernel(const struct image_kernel *k, const struct image_kernel *was,
			 struct assembled *a)
{
	_cleanup_(freep) char *raw = strndup(k->name, k->name_len);
	_cleanup_(freep) char *name = raw ? readable_name(raw, FRAME_KERNEL, BRIEF_TYPED) : NULL;
	uint64_t registers = was ? was->registers : 0, shared = was ? was->shared_bytes : 0;
	struct spills spills;

	print_count(k->registers, was ? &registers : NULL);
	printf("  ");
	print_count(k->shared_bytes, was ? &shared : NULL);
	if (assembled_spills(a, k->name, k->name_len, &spills))
		printf("  %6u", spills.stores_bytes + spills.loads_bytes);
	else
		printf("  %6s", "-");
	print_line(stdout, "  %s", name ? name : raw ? raw : "");
}

static void print_kernels(const struct image_kernels *now, const struct image_kernels *before,
			  struct assembled *a)
{
	const struct image_kernel *k;

	printf("registers       shared, bytes   spilled\n"
	       "before     now  before     now   bytes  kernel\n");
	for (size_t i = 0; i < now->n; i++) {
		k = &now->v[i];
		print_kernel(k, image_kernels_find(before, k->name, k->name_len), a);
	}
}

/* Kernels of the cubin to be shown beside; none where none is. */
static int read_beside(const char *path, struct buf *bytes, struct image_kernels *ret)
{
	int r;

	if (!path)
		return 0;
	r = read_file(path, bytes);
	if (r < 0)
		return r;
	r = cubin_kernels(part_of(bytes), ret);
	return r < 0 ? complain_about(path, "it is no cubin") : 0;
}

static int show(const char *beside, struct assembled *a)
{
	struct image_kernels now = {0}, before = {0};
	_cleanup_(buf_done) struct buf bytes = {0};
	int r = read_beside(beside, &bytes, &before);

	if (r == 0) {
		r = cubin_kernels(part_of(&a->cubin), &now);
		if (r < 0)
			complain("what %s made is no cubin", a->by);
	}
	if (r == 0) {
		print_kernels(&now, &before, a);
		printf("assembled by %s\n", a->by);
	}
	image_kernels_done(&now);
	image_kernels_done(&before);
	return r;
}

/* ---- the command ---- */

static int write_output(const char *path, const struct buf *cubin)
{
	_cleanup_(closep) int fd = -1;
	int r;

	if (!path)
		return 0;
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	r = fd < 0 ? -errno : fd_write_all(fd, cubin->data, cubin->len);
	if (r < 0)
		complain("cannot write '%s': %s", path, strerror(-r));
	return r;
}

static int assemble(const char *path, const struct arguments *a)
{
	_cleanup_(buf_done) struct buf ptx = {0};
	struct assembled assembled = {0};
	int r = read_file(path, &ptx);

	if (r < 0)
		return r;
	r = kernel_assemble_shown(part_of(&ptx), &a->options, &assembled);
	if (r < 0)
		complain("cannot assemble '%s': %s", path,
			 assembled.why.len ? buf_str(&assembled.why) : strerror(-r));
	if (r == 0)
		r = write_output(a->output, &assembled.cubin);
	if (r == 0)
		r = show(a->beside, &assembled);
	assembled_done(&assembled);
	return r;
}

int cmd_kernel_assemble(int argc, char **argv)
{
	struct arguments a = {0};
	int first = options_parse(&command_kernel_assemble, argc, argv, on_option, &a);

	if (first <= 0)
		return first ? STATUS_USAGE : STATUS_OK;
	if (argc - first != 1) {
		complain("'kernel assemble' takes one file (see 'proton kernel assemble --help')");
		return STATUS_USAGE;
	}
	return assemble(argv[first], &a) < 0 ? STATUS_FAILED : STATUS_OK;
}
