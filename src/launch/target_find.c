/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include "base/util.h"
#include "launch/target_env.h"

/* Can this be executed? The kernel's own answer for a directory is EACCES too; people deserve a
 * better one. */
static int check_executable(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode))
		return -EACCES;
	return eaccess(path, X_OK) < 0 ? -errno : 0;
}

/* One element of PATH: up to len bytes; empty means the current directory. */
static int check_in(const char *folder, size_t len, const char *file, char **ret_path)
{
	char *path;
	int r;

	if (asprintf(&path, "%.*s%s%s", (int)len, folder, len ? "/" : "./", file) < 0)
		return -ENOMEM;
	r = check_executable(path);
	if (r < 0)
		free(path);
	else
		*ret_path = path;
	return r;
}

static int search_path(const char *file, const char *list, char **ret_path)
{
	int denied = 0;

	for (const char *p = list;;) {
		size_t len = strcspn(p, ":");
		int r = check_in(p, len, file, ret_path);

		if (r == 0 || r == -ENOMEM)
			return r;
		/* As execvp: go on, but remember what is nearly it. Directories on the way are
		 * no candidates. */
		if (r == -EACCES)
			denied = r;
		if (!p[len])
			return denied ? denied : -ENOENT;
		p += len + 1;
	}
}

int target_find(const char *file, const char *path_list, char **ret_path)
{
	char standard[256];
	char *path;
	int r;

	if (!*file)
		return -ENOENT;
	if (!strchr(file, '/')) {
		if (!path_list) {
			size_t n = confstr(_CS_PATH, standard, sizeof(standard));

			path_list = n > 0 && n <= sizeof(standard) ? standard : "/bin:/usr/bin";
		}
		return search_path(file, path_list, ret_path);
	}
	r = check_executable(file);
	if (r < 0)
		return r;
	path = strdup(file);
	if (!path)
		return -ENOMEM;
	*ret_path = path;
	return 0;
}

int target_exit_status(int error)
{
	switch (error) {
	case -ENOENT:
	case -ENOTDIR:
		return 127;
	/* What we lack to start anything at all. */
	case -EMFILE:
	case -ENFILE:
	case -EAGAIN:
	case -ENOMEM:
		return 125;
	default:
		return 126;
	}
}

const char *target_strerror(int error)
{
	switch (error) {
	case -ENOENT:
		return "not found";
	case -EISDIR:
		return "is a directory";
	default:
		return strerror(-error);
	}
}

/* ---- the collector's library ---- */

#define LIBRARY_NAME "libproton.so"

/* The library in a folder: by the name that a wheel, which has no links, knows it by, too. */
static int library_in(const char *folder, const char *rest, char **ret_path)
{
	static const char *const names[] = {LIBRARY_NAME, LIBRARY_NAME ".0"};
	char *path;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (asprintf(&path, "%s%s/%s", folder, rest, names[i]) < 0)
			return -ENOMEM;
		if (path[0] == '/' && access(path, R_OK) == 0) {
			*ret_path = path;
			return 0;
		}
		free(path);
	}
	return -ENOENT;
}

/* Is there a library at folder + rest? Each place that was looked at is added to *why. */
static bool library_at(const char *folder, const char *rest, char **ret_path, char **why)
{
	char *more;

	if (library_in(folder, rest, ret_path) == 0)
		return true;
	if (asprintf(&more, "%s%s%s%s/" LIBRARY_NAME, *why ? *why : LIBRARY_NAME " is not at ",
		     *why ? ", " : "", folder, rest) >= 0) {
		free(*why);
		*why = more;
	}
	return false;
}

/* The folder of this program. */
static int program_folder(char folder[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", folder, PATH_MAX - 1);
	char *slash;

	if (n < 0)
		return -errno;
	folder[n] = '\0';
	slash = strrchr(folder, '/');
	if (!slash)
		return -ENOENT;
	*slash = '\0';
	return 0;
}

/* Beside the program: in its build tree (where libtool may have put the program itself into
 * .libs), or under the prefix that it was moved to. */
static bool library_near_program(char **ret_path, char **why)
{
	static const char *const places[] = {"/.libs", "", "/../lib/proton", "/../lib"};
	char folder[PATH_MAX];

	if (program_folder(folder) < 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (library_at(folder, places[i], ret_path, why))
			return true;
	return false;
}

static int library_from_env(const char *path, char **ret_path, char **ret_why)
{
	*ret_path = access(path, R_OK) == 0 ? realpath(path, NULL) : NULL;
	if (*ret_path)
		return 0;
	if (asprintf(ret_why, "PROTON_LIBRARY_PATH names '%s': %s", path, strerror(errno)) < 0)
		*ret_why = NULL;
	return -ENOENT;
}

int target_library(char **ret_path, char **ret_why)
{
	const char *named = getenv("PROTON_LIBRARY_PATH");
	_cleanup_(freep) char *why = NULL;

	if (named && *named)
		return library_from_env(named, ret_path, ret_why);
	if (library_near_program(ret_path, &why) || library_at(PROTON_LIBDIR, "", ret_path, &why) ||
	    library_at(PROTON_LIBDIR, "/..", ret_path, &why))
		return 0;
	*ret_why = why;
	why = NULL;
	return -ENOENT;
}
