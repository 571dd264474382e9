/* SPDX-License-Identifier: MIT */
/* The door that a runtime of OpenMP opens: ompt_start_tool(), which it finds among the symbols of the
 * process where we are preloaded, else in the libraries of OMP_TOOL_LIBRARIES. A runtime has one tool. */
#include "config.h" // IWYU pragma: keep
#include "collect/ompt.h"
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "backends/backend.h"
#include "backends/openmp.h"
#include "collect/collect.h"

/* Proton names us in the variable, unless it names another tool or OpenMP is to be left alone: being
 * preloaded is not enough. A program that profiles itself wants us, but for another tool that is named. */
static bool is_named(void)
{
	const char *named = getenv("OMP_TOOL_LIBRARIES"), *us = getenv("PROTON_LIBRARY");

	if (collect_alone_dir())
		return !named || strstr(named, "/libproton.so");
	return named && us && !strcmp(named, us);
}

/* A program that has nothing to tell does not open the door: its collector is not started. */
static bool is_of_use(void)
{
	struct backend_options options;
	const char *why;

	return collect_options(&options) == 0 && backend_openmp.probe(&options, &why) == 0;
}

/* A tool that the program is linked with stands behind us when we are preloaded, and comes first. */
struct ompt_tool *ompt_start_tool(unsigned version, const char *runtime)
{
	struct ompt_tool *(*next)(unsigned version, const char *runtime), *tool = NULL;
	int saved = errno;

	*(void **)&next = dlsym(RTLD_NEXT, "ompt_start_tool");
	if (next)
		tool = next(version, runtime);
	if (!tool && is_named() && is_of_use() && collect_start(DOOR_OPENMP) == 0 && collect_on)
		tool = openmp_tool();
	errno = saved;
	return tool;
}
