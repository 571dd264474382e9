/* SPDX-License-Identifier: MIT */
/* Assembling by libnvJitLink, which PyTorch's packages bring where no toolkit is installed. */
#include "config.h" // IWYU pragma: keep
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "assemble/assembler.h"
#include "base/util.h"
#include "launch/toolkit.h"

/* Of nvJitLink.h. */
enum { INPUT_PTX = 2 };
typedef void *link_handle;

struct jitlink {
	void *library;
	int (*create)(link_handle *ret, uint32_t n, const char **options);
	int (*add)(link_handle h, int kind, const void *data, size_t n, const char *name);
	int (*complete)(link_handle h);
	int (*cubin_size)(link_handle h, size_t *ret);
	int (*cubin)(link_handle h, void *ret);
	int (*log_size[2])(link_handle h, size_t *ret); /* of errors, of other messages */
	int (*log[2])(link_handle h, char *ret);
};

/* The newest that one knows is looked for first, where the loader finds it, then in toolkits and packages. */
static char *find(const struct assemble_options *options, size_t n)
{
	static const char *const names[] = {"libnvJitLink.so.13", "libnvJitLink.so.12"};

	if (options->ptxas)
		return NULL;
	if (n < ARRAY_SIZE(names))
		return strdup(names[n]);
	return toolkit_library("libnvJitLink.so.1[23]", n - ARRAY_SIZE(names));
}

/* Its functions have the version in their names, which newer libraries keep. */
static void *symbol(void *library, const char *name)
{
	static const char *const versions[] = {"",      "_13_0", "_12_9", "_12_8",
					       "_12_6", "_12_4", "_12_0"};
	char full[64];
	void *f = NULL;

	for (size_t i = 0; !f && i < ARRAY_SIZE(versions); i++) {
		snprintf(full, sizeof(full), "__%s%s", name, versions[i]);
		f = dlsym(library, full + (*versions[i] ? 0 : 2));
	}
	return f;
}

static bool bind(const char *path, struct jitlink *ret)
{
	void *l = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	const struct {
		const char *name;
		void *place;
	} functions[] = {
		{"nvJitLinkCreate", &ret->create},
		{"nvJitLinkAddData", &ret->add},
		{"nvJitLinkComplete", &ret->complete},
		{"nvJitLinkGetLinkedCubinSize", &ret->cubin_size},
		{"nvJitLinkGetLinkedCubin", &ret->cubin},
		{"nvJitLinkGetErrorLogSize", &ret->log_size[0]},
		{"nvJitLinkGetErrorLog", &ret->log[0]},
		{"nvJitLinkGetInfoLogSize", &ret->log_size[1]},
		{"nvJitLinkGetInfoLog", &ret->log[1]},
	};
	void *f;

	for (size_t i = 0; l && i < ARRAY_SIZE(functions); i++) {
		f = symbol(l, functions[i].name);
		if (!f)
			return false;
		memcpy(functions[i].place, &f, sizeof(f));
	}
	return l;
}

/* ---- in the child ---- */

static void tell_log(const struct jitlink *j, link_handle h, int which, int fd)
{
	size_t n = 0;
	char *text;

	if (j->log_size[which](h, &n) != 0 || !n || !(text = calloc(1, n + 1)))
		return;
	if (j->log[which](h, text) == 0)
		(void)fd_write_all(fd, text, strlen(text));
	free(text);
}

static bool write_cubin(const struct jitlink *j, link_handle h, const char *path)
{
	_cleanup_(closep) int fd = open(path, O_WRONLY | O_CLOEXEC);
	_cleanup_(freep) void *cubin = NULL;
	size_t n = 0;

	if (fd < 0 || j->cubin_size(h, &n) != 0 || !(cubin = malloc(n + 1)) ||
	    j->cubin(h, cubin) != 0)
		return false;
	return fd_write_all(fd, cubin, n) == 0;
}

/* What it calls options of its own, "-arch" and "-lineinfo" among them, is as for ptxas. */
static uint32_t take_options(const struct assembly *a, const char *ret[])
{
	uint32_t n = 0;

	ret[n++] = "-verbose";
	for (size_t i = 0; a->options[i]; i++)
		ret[n++] = a->options[i];
	return n;
}

/* It takes for PTX only what ends with a zero. */
static int add_ptx(const struct jitlink *j, link_handle h, struct elf_part ptx)
{
	_cleanup_(freep) char *text = malloc(ptx.size + 1);

	if (!text)
		return -ENOMEM;
	memcpy(text, ptx.at, ptx.size);
	text[ptx.size] = '\0';
	return j->add(h, INPUT_PTX, text, ptx.size + 1, "ptx");
}

static void run(const void *ctx, int fd)
{
	const char *options[ASSEMBLER_OPTIONS_MAX + 1];
	const struct assembly *a = ctx;
	struct jitlink j = {0};
	link_handle h = NULL;
	bool done;

	if (!bind(a->tool, &j))
		_exit(ASSEMBLER_NOT_HERE);
	done = j.create(&h, take_options(a, options), options) == 0 &&
	       add_ptx(&j, h, a->ptx) == 0 && j.complete(h) == 0;
	if (h)
		for (int i = 0; i < 2; i++)
			tell_log(&j, h, i, fd);
	/* Its own ends may run threads: they are not waited for. */
	_exit(done && write_cubin(&j, h, a->out) ? EXIT_SUCCESS : EXIT_FAILURE);
}

const struct assembler assembler_jitlink = {.name = "libnvJitLink", .find = find, .run = run};
