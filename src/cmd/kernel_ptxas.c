/* SPDX-License-Identifier: MIT */
/* proton kernel ptxas: stands where compilers start ptxas, and gives the real one PTX that records. Not for people: kernel_shadow.h
 * says who starts it. */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/hash.h"
#include "base/named_file.h"
#include "base/said_rules.h"
#include "base/util.h"
#include "cmd/commands.h"
#include "cmd/kernel_mode.h"
#include "images/cubin.h"
#include "ptx/probe.h"

enum { OPT_INTRA = 1, OPT_MODE, OPT_IN_PLACE };
enum { TEXT_MOST = 256 << 20, NOT_STARTED = 127, PATH_SIZE = 64 };
enum { REGISTERS = 65536, THREADS_MOST = 1024 }; /* of a block, on all chips of today */

/* clang-format off */
static const struct option_def options[] = {
	{.name = "intra", .arg = "RULES", .help = "where kernels record", .id = OPT_INTRA},
	{.name = "intra-mode", .arg = "MODE", .help = "how they record", .id = OPT_MODE},
	{.name = "in-place", .help = "change the PTX file, too", .id = OPT_IN_PLACE},
};
/* clang-format on */

const struct command_def command_kernel_ptxas = {
	.name = "kernel ptxas",
	.usage = "[options] PTXAS [ARGS]",
	.summary = "run PTXAS on PTX that records",
	.options = options,
	.n_options = ARRAY_SIZE(options),
};

struct arguments {
	const char *rules, *mode;
	struct ptx_options options;
	bool in_place;
};

static int on_option(const struct option_def *option, const char *value, void *arg)
{
	struct arguments *a = arg;

	switch (option->id) {
	case OPT_INTRA:
		a->rules = value;
		return 0;
	case OPT_MODE:
		a->mode = value;
		return kernel_mode_take(value, &a->options);
	default:
		a->in_place = true;
		return 0;
	}
}

/* ---- the real one ---- */

/* Returns only where it cannot be started. */
static int become(char **words)
{
	execv(words[0], words);
	complain("cannot run '%s': %s", words[0], strerror(errno));
	return NOT_STARTED;
}

/* What it prints goes to `out`, if that is not negative. Its status; 0: done. */
static int run(char **words, int out)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		if (out >= 0 && (dup2(out, STDOUT_FILENO) < 0 || dup2(out, STDERR_FILENO) < 0))
			_exit(NOT_STARTED);
		execv(words[0], words);
		_exit(NOT_STARTED);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return pid < 0 ? NOT_STARTED : status;
}

/* ---- its version ---- */

static bool asks_for_version(char *const *words)
{
	for (; *words; words++)
		if (!strcmp(*words, "--version") || !strcmp(*words, "-V"))
			return true;
	return false;
}

/* Triton's cache has this text in its keys: other rules, other code. */
static int print_version(const struct arguments *a, char **words)
{
	_cleanup_(buf_done) struct buf rules = {0}, why = {0};
	uint64_t h = STABLE_HASH_BEGIN;
	int status = run(words, -1);

	if (said_rules_read(a->rules, &rules, &why) == 0)
		h = stable_hash(h, rules.data, rules.len);
	h = a->mode ? stable_hash(h, a->mode, strlen(a->mode)) : h;
	printf("with scopes by proton " PACKAGE_VERSION ", %016" PRIx64 "\n", h);
	return WIFEXITED(status) ? WEXITSTATUS(status) : NOT_STARTED;
}

/* ---- PTX ---- */

static bool is_output(const char *word)
{
	return !strcmp(word, "-o") || !strcmp(word, "--output-file");
}

/* Where among the words the PTX file stands: not what follows -o. 0: nowhere. */
static size_t find_ptx(char *const *words)
{
	for (size_t i = 1; words[i]; i++) {
		size_t n = strlen(words[i]);

		if (n > 4 && !strcmp(words[i] + n - 4, ".ptx") && words[i][0] != '-' &&
		    !is_output(words[i - 1]))
			return i;
	}
	return 0;
}

static size_t find_output(char *const *words)
{
	for (size_t i = 1; words[i]; i++)
		if (is_output(words[i - 1]))
			return i;
	return 0;
}

static int read_ptx(const char *path, struct buf *ret)
{
	_cleanup_(closep) int fd = regular_open(path, O_RDONLY, NULL);

	buf_init(ret, TEXT_MOST);
	return fd < 0 ? fd : buf_read(ret, fd);
}

static void say_left(const struct ptx_probed *probed)
{
	for (size_t i = 0; i < probed->n_kernels; i++)
		if (probed->kernel[i].why)
			complain("kernel '%s' is left as it was: %s", probed->kernel[i].name,
				 probed->kernel[i].why);
}

/* 0: some of its kernels record; 1: none does, or it cannot be read. */
static int probe(const char *path, const struct arguments *a, struct ptx_probed *ret)
{
	_cleanup_(buf_done) struct buf text = {0}, why = {0};
	struct ptx_rules *rules = NULL;
	int r = ptx_rules_said(a->rules, &rules, &why);

	if (r < 0)
		complain("no scopes within kernels: %s", why.len ? buf_str(&why) : strerror(-r));
	else if (read_ptx(path, &text) < 0) /* the real one says it */
		r = -EBADMSG;
	else if ((r = ptx_probe(text.data, text.len, rules, &a->options, ret)) < 0)
		complain("no scopes within kernels of '%s': %s", path, ptx_probe_error(r));
	else
		say_left(ret);
	ptx_rules_free(rules);
	return r < 0 || !ret->n_probed;
}

/* ---- assembling it ---- */

/* A file that only we, and who is started, see: kept over exec. */
static int file_of(const struct buf *text, char *ret_path, size_t size)
{
	int fd = memfd_create("proton-ptx", 0);

	if (fd >= 0 && fd_write_all(fd, text->data, text->len) < 0) {
		close(fd);
		return -1;
	}
	snprintf(ret_path, size, "/proc/self/fd/%d", fd);
	return fd;
}

static void pass_on(int from)
{
	_cleanup_(buf_done) struct buf text = {0};

	if (lseek(from, 0, SEEK_SET) == 0 && buf_read(&text, from) == 0)
		(void)fd_write_all(STDERR_FILENO, text.data, text.len);
}

/* fatbinary puts the file's PTX beside the code. */
static void write_back(const char *path, const struct buf *text)
{
	_cleanup_(closep) int fd = regular_open(path, O_WRONLY | O_TRUNC, NULL);

	if (fd < 0 || fd_write_all(fd, text->data, text->len) < 0)
		complain("cannot write '%s': %s", path, strerror(errno));
}

/* 0: assembled. What the real one prints goes to `said`, in place of what was there. */
static int assemble(char **words, size_t at, const struct buf *text, int said)
{
	char path[PATH_SIZE], *original = words[at];
	_cleanup_(closep) int in = file_of(text, path, sizeof(path));
	int status;

	if (in < 0 || said < 0 || ftruncate(said, 0) < 0 || lseek(said, 0, SEEK_SET) < 0)
		return NOT_STARTED;
	words[at] = path;
	status = run(words, said);
	words[at] = original;
	return status;
}

/* ---- registers ---- */

/* Kernels of the cubin in a file; none, where it cannot be read. */
static void read_kernels(const char *path, struct buf *bytes, struct image_kernels *ret)
{
	_cleanup_(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0 && buf_read(bytes, fd) == 0)
		(void)cubin_kernels((struct elf_part){(const uint8_t *)bytes->data, bytes->len},
				    ret);
}

/* The largest block that has room with so many registers a thread: they are given by eights, to whole warps. */
static uint32_t threads_of(uint32_t registers)
{
	uint32_t given = (MAX(registers, 1u) + 7) / 8 * 8;

	return MIN(REGISTERS / given / 32 * 32, (uint32_t)THREADS_MOST);
}

static bool has_many(const struct image_kernels *kernels)
{
	for (size_t i = 0; i < kernels->n; i++)
		if (!kernels->v[i].threads_max &&
		    threads_of(kernels->v[i].registers) < THREADS_MOST)
			return true;
	return false;
}

/* Of the PTX as it was. */
static void read_before(char **words, size_t out, struct buf *bytes, struct image_kernels *ret)
{
	char path[PATH_SIZE], *output = words[out];
	_cleanup_(closep) int fd = memfd_create("proton-cubin", 0),
			      said = memfd_create("proton-said", MFD_CLOEXEC);

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	words[out] = path;
	if (fd >= 0 && run(words, said) == 0)
		read_kernels(path, bytes, ret);
	words[out] = output;
}

/* The first kernel that could be launched with larger blocks before, and does not say that it is not; NULL: none. */
static const struct image_kernel *first_squeezed(const struct image_kernels *before,
						 const struct image_kernels *after)
{
	for (size_t i = 0; i < after->n; i++) {
		const struct image_kernel *is = &after->v[i];
		const struct image_kernel *was = image_kernels_find(before, is->name, is->name_len);

		if (was && !is->threads_max &&
		    threads_of(is->registers) < threads_of(was->registers))
			return is;
	}
	return NULL;
}

/* Could each kernel that was assembled be launched as before? Few have so many registers that it is looked at. */
static bool has_room(char **words)
{
	_cleanup_(buf_done) struct buf was = {0}, is = {0};
	struct image_kernels before = {0}, after = {0};
	const struct image_kernel *squeezed = NULL;
	size_t out = find_output(words);

	if (out)
		read_kernels(words[out], &is, &after);
	if (has_many(&after)) {
		read_before(words, out, &was, &before);
		squeezed = first_squeezed(&before, &after);
	}
	if (squeezed)
		complain(
			"no scopes within kernels: with them '%.*s' takes %u registers, and blocks of %u threads have no room "
			"(__launch_bounds__ helps)",
			(int)squeezed->name_len, squeezed->name, squeezed->registers,
			threads_of(squeezed->registers) + 32);
	image_kernels_done(&before);
	image_kernels_done(&after);
	return !squeezed;
}

static int assemble_text(const struct arguments *a, char **words, size_t at, struct buf *text)
{
	_cleanup_(closep) int said = memfd_create("proton-said", MFD_CLOEXEC);
	int status = assemble(words, at, text, said);

	if (status) {
		complain("no scopes within kernels of '%s': ptxas refuses what was inserted",
			 words[at]);
		return status;
	}
	if (!has_room(words))
		return -ENOSPC;
	pass_on(said);
	if (a->in_place)
		write_back(words[at], text);
	return 0;
}

static int assemble_probed(const struct arguments *a, char **words, size_t at)
{
	struct ptx_probed probed = {0};
	int status = probe(words[at], a, &probed);

	if (status == 0)
		status = assemble_text(a, words, at, &probed.text);
	ptx_probed_done(&probed);
	return status;
}

int cmd_kernel_ptxas(int argc, char **argv)
{
	struct arguments a = {.rules = PTX_RULES_USUAL};
	int first = options_parse(&command_kernel_ptxas, argc, argv, on_option, &a);
	char **words = argv + first;
	size_t at;

	if (first <= 0)
		return first ? STATUS_USAGE : STATUS_OK;
	if (first >= argc) {
		complain("'kernel ptxas' needs the real one (see 'proton kernel ptxas --help')");
		return STATUS_USAGE;
	}
	if (asks_for_version(words))
		return print_version(&a, words);
	at = find_ptx(words);
	return at && assemble_probed(&a, words, at) == 0 ? STATUS_OK : become(words);
}
