/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/alone_command.h"
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/util.h"

#define COMMAND "proton"

/* A folder of that name can be "executed", too. */
static bool is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* ---- this library ---- */

/* The file that is mapped at an address. */
static bool mapped_at(uintptr_t at, char path[PATH_MAX])
{
	_cleanup_(fclosep) FILE *f = fopen("/proc/self/maps", "re");
	uintptr_t from, to;
	char line[PATH_MAX + 128];
	const char *name;

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &from, &to) != 2 || at < from ||
		    at >= to)
			continue;
		name = strchr(line, '/');
		if (name)
			snprintf(path, PATH_MAX, "%.*s", (int)strcspn(name, "\n"), name);
		return name;
	}
	return false;
}

/* A name that is not absolute was one in the folder of that moment: the kernel knows better. */
static bool library_path(char path[PATH_MAX])
{
	Dl_info info;

	if (dladdr((void *)(uintptr_t)command_find, &info) && info.dli_fname &&
	    *info.dli_fname == '/' && realpath(info.dli_fname, path))
		return true;
	return mapped_at((uintptr_t)command_find, path);
}

/* ---- beside it ---- */

/* From the library's folder to that of commands, as they were configured: "/../../bin". */
static void configured_way(char way[PATH_MAX])
{
	const char *from = PROTON_LIBDIR, *to = PROTON_BINDIR;
	size_t same = 0, n = 0;

	for (size_t i = 0; from[i] == to[i] || !from[i] || !to[i]; i++) {
		if ((!from[i] || from[i] == '/') && (!to[i] || to[i] == '/'))
			same = i;
		if (!from[i] || !to[i])
			break;
	}
	for (const char *p = from + same; *p; p++)
		if (*p == '/' && p[1])
			n += (size_t)snprintf(way + n, PATH_MAX - n, "/..");
	snprintf(way + n, PATH_MAX - n, "%s", to + same);
}

static bool command_at(const char *folder, const char *rest, char path[PATH_MAX])
{
	char place[PATH_MAX];

	return snprintf(place, sizeof(place), "%s%s/" COMMAND, folder, rest) < PATH_MAX &&
	       is_program(place) && realpath(place, path);
}

static bool command_beside(const char *library, char path[PATH_MAX])
{
	char folder[PATH_MAX], way[PATH_MAX] = "";

	snprintf(folder, sizeof(folder), "%s", library);
	*strrchr(folder, '/') = '\0';
	configured_way(way);
	return command_at(folder, "", path) || command_at(folder, "/..", path) ||
	       command_at(folder, way, path) || command_at(PROTON_BINDIR, "", path);
}

int command_find(char path[PATH_MAX], char why[COMMAND_WHY_MAX])
{
	const char *named = getauxval(AT_SECURE) ? NULL : getenv("PROTON_COMMAND");
	char library[PATH_MAX] = "/?";

	if (named && *named) {
		if (is_program(named) && realpath(named, path))
			return 0;
		snprintf(why, COMMAND_WHY_MAX, "PROTON_COMMAND names '%.120s', which is no program",
			 named);
		return -ENOENT;
	}
	if (library_path(library) && command_beside(library, path))
		return 0;
	snprintf(why, COMMAND_WHY_MAX,
		 "it is neither beside '%.100s' nor in '%.60s' (PROTON_COMMAND names another)",
		 library, PROTON_BINDIR);
	return -ENOENT;
}
