/* SPDX-License-Identifier: MIT */
/* proton kernel run: a compiler, or a program that compiles by Triton, with a ptxas that makes kernels record. */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/said_rules.h"
#include "base/util.h"
#include "cmd/commands.h"
#include "cmd/kernel_mode.h"
#include "cmd/kernel_shadow.h"
#include "cmd/triton_told.h"
#include "launch/target_env.h"
#include "ptx/rules.h"

enum { OPT_INTRA = 1, OPT_MODE };

/* clang-format off */
static const struct option_def options[] = {
	{.name = "intra", .arg = "RULES", .help = "where kernels record: rules, or a file with them (" PTX_RULES_USUAL ")",
	 .id = OPT_INTRA},
	{.name = "intra-mode", .arg = "MODE", .help = "how they record, in the words of Triton's Proton (default)",
	 .id = OPT_MODE},
};
/* clang-format on */

const struct command_def command_kernel_run = {
	.name = "kernel run",
	.usage = "[options] [--] APP [ARGS]",
	.summary = "run nvcc or a program with Triton: kernels it compiles record",
	.details =
		"APP is nvcc, a build that finds it in PATH or CUDA_HOME, or python with Triton,\n"
		"of whose kernels --intra ttgir:RULES is, in the dialect that PTX is made of.\n"
		"What was compiled is profiled so: proton record --kernel-scopes all ./app;\n"
		"or both at once:\n"
		"proton record -- proton kernel run -- python script.py\n",
	.options = options,
	.n_options = ARRAY_SIZE(options),
};

struct arguments {
	const char *rules, *mode;
	struct ptx_options unused; /* a mode is looked at before anything is run */
};

static int on_option(const struct option_def *option, const char *value, void *arg)
{
	struct arguments *a = arg;

	if (option->id == OPT_INTRA) {
		a->rules = value;
		return 0;
	}
	a->mode = value;
	return kernel_mode_take(value, &a->unused);
}

/* ---- the environment ---- */

static void set_below(const char *variable, const char *folder, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	(void)setenv(variable, path, 1);
}

static void set_toolkit(const char *folder)
{
	static const char *const roots[] = {"CUDA_HOME", "CUDA_PATH", "CUDAToolkit_ROOT"};
	_cleanup_(buf_done) struct buf path = {0};
	const char *old = getenv("PATH");

	buf_printf(&path, "%s/toolkit/bin%s%s", folder, old ? ":" : "", old ? old : "");
	(void)setenv("PATH", buf_str(&path), 1);
	for (size_t i = 0; i < ARRAY_SIZE(roots); i++)
		set_below(roots[i], folder, "toolkit");
	set_below("CUDACXX", folder, "toolkit/bin/nvcc");
}

static void set_environment(const struct kernel_shadow *s)
{
	if (s->has_triton)
		set_below("TRITON_PTXAS_PATH", s->folder, "ptxas");
	if (s->has_blackwell)
		set_below("TRITON_PTXAS_BLACKWELL_PATH", s->folder, "ptxas-blackwell");
	if (s->has_nvcc)
		set_toolkit(s->folder);
}

/* ---- running ---- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* nvcc by its whole path is ours, too: it is what it is started by that counts. Returns only where that failed. */
static int run(char **argv, const struct kernel_shadow *s)
{
	char nvcc[PATH_MAX], *path;
	int r;

	if (s->has_nvcc && !strcmp(base_name(argv[0]), "nvcc")) {
		snprintf(nvcc, sizeof(nvcc), "%s/toolkit/bin/nvcc", s->folder);
		argv[0] = nvcc;
	}
	r = target_find(argv[0], getenv("PATH"), &path);
	if (r == 0) {
		execv(path, argv);
		r = -errno;
		free(path);
	}
	complain("cannot run '%s': %s", argv[0], target_strerror(r));
	return target_exit_status(r);
}

static int run_with(const struct kernel_shadow_wish *wish, char **argv)
{
	struct kernel_shadow s;
	int r = kernel_shadow_make(wish, &s), status = STATUS_OURS;

	if (r == 0) {
		set_environment(&s);
		status = run(argv, &s);
	} else if (r == -ENOENT) {
		complain(
			"nothing to run it with: neither Triton's ptxas nor nvcc is here (in PATH, CUDA_HOME or a Python package)");
	} else {
		complain("cannot make '%s': %s", s.folder, strerror(-r));
	}
	kernel_shadow_done(&s);
	return status;
}

/* The text of the rules, which must be some. */
static int read_rules(const char *said, struct buf *ret)
{
	_cleanup_(buf_done) struct buf why = {0};
	struct ptx_rules *rules = NULL;
	int r = ptx_rules_said(said, &rules, &why);

	ptx_rules_free(rules);
	r = r < 0 ? r : said_rules_read(said, ret, &why);
	if (r < 0)
		complain("--intra: %s", why.len ? buf_str(&why) : strerror(-r));
	return r;
}

int cmd_kernel_run(int argc, char **argv)
{
	struct arguments a = {.rules = PTX_RULES_USUAL};
	int first = options_parse(&command_kernel_run, argc, argv, on_option, &a), r;
	_cleanup_(buf_done) struct buf rules = {0};

	if (first <= 0)
		return first ? STATUS_USAGE : STATUS_OK;
	if (first >= argc) {
		complain("'kernel run' needs a program (see 'proton kernel run --help')");
		return STATUS_USAGE;
	}
	if (triton_is_meant(a.rules)) {
		r = triton_is_told(a.rules, a.mode);
		return r ? r : run(argv + first, &(struct kernel_shadow){.has_triton = false});
	}
	if (read_rules(a.rules, &rules) < 0)
		return STATUS_USAGE;
	return run_with(&(struct kernel_shadow_wish){buf_str(&rules), a.mode, argv[first]},
			argv + first);
}
