/* SPDX-License-Identifier: MIT */
/* A kernel that protects shared folders (fs.protected_symlinks, _regular, _fifos), for machines where
 * it does not, or where there is no second user: preloaded, it says of a name that begins with "theirs"
 * in a sticky folder what a kernel says of what belongs to somebody else there. It judges what is
 * opened, as a kernel does: a link that is read and gone around is not seen. */
#include "config.h" // IWYU pragma: keep
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define EXPORT __attribute__((visibility("default")))

static int refuses(int dir, const char *path, int flags)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char folder[PATH_MAX];
	struct stat st;

	snprintf(folder, sizeof(folder), "%.*s.", (int)(name - path), path);
	if (strncmp(name, "theirs", 6) != 0 || fstatat(dir, folder, &st, 0) < 0 ||
	    !(st.st_mode & S_ISVTX) || fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	if (S_ISLNK(st.st_mode))
		return !(flags & (O_NOFOLLOW | O_EXCL));
	return flags & O_CREAT && (S_ISREG(st.st_mode) || S_ISFIFO(st.st_mode));
}

static int open_next(int dir, const char *path, int flags, mode_t mode)
{
	static int (*next)(int, const char *, int, ...);

	if (!next)
		next = (__typeof__(next))dlsym(RTLD_NEXT, "openat");
	if (refuses(dir, path, flags)) {
		errno = EACCES;
		return -1;
	}
	return next(dir, path, flags, mode);
}

#define MODE(flags)                                                                                \
	({                                                                                         \
		va_list ap;                                                                        \
		mode_t mode;                                                                       \
		va_start(ap, flags);                                                               \
		mode = (flags)&O_CREAT ? va_arg(ap, mode_t) : 0;                                   \
		va_end(ap);                                                                        \
		mode;                                                                              \
	})

EXPORT int open(const char *path, int flags, ...)
{
	return open_next(AT_FDCWD, path, flags, MODE(flags));
}

EXPORT int openat(int dir, const char *path, int flags, ...)
{
	return open_next(dir, path, flags, MODE(flags));
}
