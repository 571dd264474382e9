/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "launch/toolkit.h"
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"
#include "launch/target_env.h"

/* Below the root of a toolkit, and below that of an interpreter (its prefix), with wildcards. */
static const char *const in_toolkit[] = {"lib64", "lib", "targets/*/lib"};
static const char *const in_prefix[] = {
	"lib/python3*/site-packages/nvidia/*/lib",
	"lib/python3*/dist-packages/nvidia/*/lib",
};
static const char *const tools_in_prefix[] = {
	"lib/python3*/site-packages/triton/backends/nvidia/bin",
	"lib/python3*/dist-packages/triton/backends/nvidia/bin",
};

/* ---- roots ---- */

/* The n-th root that there may be; NULL: it is not set, or there are no more (*ret_end). */
static const char *toolkit_root(size_t n, bool *ret_end)
{
	static const char *const variables[] = {"CUDA_HOME", "CUDA_PATH", "CONDA_PREFIX"};
	static const char *const roots[] = {"/usr/local/cuda", "/usr/local/cuda-13",
					    "/usr/local/cuda-12", "/opt/cuda"};
	const char *value;

	*ret_end = n >= ARRAY_SIZE(variables) + ARRAY_SIZE(roots);
	if (*ret_end)
		return NULL;
	if (n >= ARRAY_SIZE(variables))
		return roots[n - ARRAY_SIZE(variables)];
	value = getenv(variables[n]);
	return value && *value ? value : NULL;
}

/* Two folders above a program, where no link leads there. NULL: it is nowhere. */
static char *prefix_of(const char *program)
{
	char *path = NULL, *slash;

	if (target_find(program, getenv("PATH"), &path) < 0)
		return NULL;
	for (int i = 0; i < 2; i++) {
		slash = strrchr(path, '/');
		if (slash)
			*slash = '\0';
	}
	return path;
}

/* That of the interpreter which "python3" starts. */
static char *python_prefix(void)
{
	const char *value = getenv("VIRTUAL_ENV");

	return value && *value ? strdup(value) : prefix_of("python3");
}

/* ---- what lies below them ---- */

/* What matches ROOT/FOLDER/NAME, joined to *found. */
static void look(const char *root, const char *folder, const char *name, glob_t *found)
{
	_cleanup_(freep) char *pattern = NULL;
	int append = found->gl_pathv ? GLOB_APPEND : 0;

	if (!root || asprintf(&pattern, "%s/%s/%s", root, folder, name) < 0)
		return;
	(void)glob(pattern, append, NULL, found);
}

static void look_in_prefix(const char *prefix, const char *const folders[], size_t n,
			   const char *name, glob_t *found)
{
	for (size_t i = 0; prefix && i < n; i++)
		look(prefix, folders[i], name, found);
}

/* The n-th of them, of which nothing else stays. */
static char *take(glob_t *found, size_t n)
{
	char *path = found->gl_pathv && n < found->gl_pathc ? strdup(found->gl_pathv[n]) : NULL;

	globfree(found);
	return path;
}

char *toolkit_find(const char *program)
{
	_cleanup_(freep) char *prefix = python_prefix();
	glob_t found = {0};
	char *path = NULL;
	const char *root;
	bool end;

	if (target_find(program, getenv("PATH"), &path) == 0)
		return path;
	for (size_t i = 0; root = toolkit_root(i, &end), !end; i++)
		look(root, "bin", program, &found);
	look_in_prefix(prefix, tools_in_prefix, ARRAY_SIZE(tools_in_prefix), program, &found);
	return take(&found, 0);
}

char *toolkit_find_of_triton(const char *program, const char *python)
{
	_cleanup_(freep) char *its = python ? prefix_of(python) : NULL, *prefix = python_prefix();
	glob_t found = {0};
	char *path;

	look_in_prefix(its, tools_in_prefix, ARRAY_SIZE(tools_in_prefix), program, &found);
	look_in_prefix(prefix, tools_in_prefix, ARRAY_SIZE(tools_in_prefix), program, &found);
	path = take(&found, 0);
	return path ? path : toolkit_find(program);
}

char *toolkit_library(const char *name, size_t n)
{
	_cleanup_(freep) char *prefix = python_prefix();
	glob_t found = {0};
	const char *root;
	bool end;

	for (size_t i = 0; root = toolkit_root(i, &end), !end; i++)
		for (size_t k = 0; k < ARRAY_SIZE(in_toolkit); k++)
			look(root, in_toolkit[k], name, &found);
	look_in_prefix(prefix, in_prefix, ARRAY_SIZE(in_prefix), name, &found);
	return take(&found, n);
}
