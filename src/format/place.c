/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "format/place.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"

enum { TEMP_TRIES = 1000 };

static const struct place nowhere = {.folder = -1, .file = -1};

/* ---- folder and name ---- */

/* The folder of a path, and the last name in it. "FOLDER/.": the last part of a path is where the
 * kernel is strict with links, and the folder is no last part of what was asked for. */
static int folder_open(struct place *p, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char folder[PATH_MAX];

	if (!*name)
		return *path ? -EISDIR : -ENOENT;
	if (strlen(name) >= sizeof(p->name) ||
	    snprintf(folder, sizeof(folder), "%.*s.", (int)(name - path), path) >=
		    (int)sizeof(folder))
		return -ENAMETOOLONG;
	closep(&p->folder);
	p->folder = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (p->folder < 0)
		return -errno;
	memcpy(p->name, name, strlen(name) + 1);
	return 0;
}

/* Is the name in the folder that very file? A link is not. */
static bool is_there(const struct place *p)
{
	struct stat st;

	return fstatat(p->folder, p->name, &st, AT_SYMLINK_NOFOLLOW) == 0 && same_file(&st, &p->st);
}

/* The folder of a file that is open: that of its path, or, behind links, the one that the kernel
 * names. A name that leads elsewhere by now, or that nobody knows (no /proc, another root), is none:
 * the file is then written as it is open. */
static void folder_find(struct place *p, int file, const char *path)
{
	char link[32], real[PATH_MAX];
	ssize_t n;

	if (folder_open(p, path) == 0 && is_there(p))
		return;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
	n = readlink(link, real, sizeof(real) - 1);
	if (n > 0) {
		real[n] = '\0';
		if (real[0] == '/' && folder_open(p, real) == 0 && is_there(p))
			return;
	}
	closep(&p->folder);
	p->folder = -1;
}

/* ---- what is there ---- */

/* As a shell's ">" opens it, but for O_TRUNC: O_CREAT makes the kernel look whose file or FIFO in a
 * shared folder it is (protected_regular, protected_fifos). */
static int file_open(struct place *p, const char *path, int flags)
{
	p->file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | flags, 0666);
	if (p->file < 0 || fstat(p->file, &p->st) < 0)
		return -errno;
	if (S_ISREG(p->st.st_mode))
		folder_find(p, p->file, path);
	return 0;
}

/* Nothing can be opened there: a new name, or a link to one. */
static int open_new(struct place *p, const char *path)
{
	struct stat st;
	int r = folder_open(p, path);

	if (r < 0 || fstatat(p->folder, p->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return r;
	r = file_open(p, path, O_NONBLOCK);
	p->made = r == 0 && S_ISREG(p->st.st_mode) && p->st.st_size == 0;
	return r;
}

int place_open(struct place *p, const char *path)
{
	_cleanup_(closep) int seen = open(path, O_PATH | O_CLOEXEC);

	*p = nowhere;
	if (seen < 0)
		return errno == ENOENT ? open_new(p, path) : -errno;
	if (fstat(seen, &p->st) < 0)
		return -errno;
	if (S_ISDIR(p->st.st_mode))
		return -EISDIR;
	/* Only what waits for somebody (a FIFO) may wait. */
	return file_open(p, path, S_ISREG(p->st.st_mode) ? O_NONBLOCK : 0);
}

void place_close(struct place *p)
{
	place_abandon(p);
	if (p->made && p->folder >= 0 && is_there(p))
		unlinkat(p->folder, p->name, 0);
	closep(&p->file);
	closep(&p->folder);
	*p = nowhere;
}

/* ---- what takes its place ---- */

static void temp_name(struct place *p, pid_t pid, uint64_t tag)
{
	snprintf(p->temp, sizeof(p->temp), ".proton-%ld-%" PRIx64 ".tmp", (long)pid, tag);
}

/* The new file looks like the old one; a different owner, or group, is kept where we may. Who could
 * not read the old one cannot read this one: bits for a group are for that group alone. */
static void copy_permissions(int fd, const struct stat *old)
{
	mode_t mode = old->st_mode & 0777;
	struct stat now;

	if (fchown(fd, old->st_uid, old->st_gid) < 0 && fchown(fd, (uid_t)-1, old->st_gid) < 0)
		errno = 0; /* looked at below */
	if (fstat(fd, &now) < 0 || now.st_gid != old->st_gid)
		mode &= ~(mode_t)070;
	fchmod(fd, mode);
}

int place_begin(struct place *p, uint64_t tag)
{
	int fd = -1, r = -ENOENT;

	for (unsigned i = 0; p->folder >= 0 && fd < 0 && i < TEMP_TRIES; i++) {
		temp_name(p, getpid(), tag + i);
		/* Nobody else opens it before it has the permissions of the old one. */
		fd = openat(p->folder, p->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
			    p->file >= 0 && !p->made ? 0600 : 0666);
		r = fd < 0 ? -errno : 0;
		if (r < 0 && r != -EEXIST)
			break;
	}
	if (fd < 0) {
		p->temp[0] = '\0';
		return r;
	}
	if (p->file >= 0 && !p->made)
		copy_permissions(fd, &p->st);
	return fd;
}

int place_commit(struct place *p)
{
	if (renameat(p->folder, p->temp, p->folder, p->name) < 0)
		return -errno;
	p->temp[0] = '\0';
	p->made = false;
	return 0;
}

void place_abandon(struct place *p)
{
	if (p->temp[0])
		unlinkat(p->folder, p->temp, 0);
	p->temp[0] = '\0';
}

/* ---- before and after ---- */

int place_check(const char *path)
{
	struct place p;
	struct stat st;
	int r, fd;

	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) < 0 ? -errno : 0;
	r = place_open(&p, path);
	if (r == 0) {
		fd = place_begin(&p, 0);
		/* What is there can be written where nothing can be beside it. */
		r = fd < 0 && p.file < 0 ? fd : 0;
		closep(&fd);
	}
	place_close(&p);
	return r;
}

void place_forget(const char *path, pid_t pid, uint64_t tag)
{
	_cleanup_(closep) int seen = open(path, O_PATH | O_CLOEXEC);
	struct place p = nowhere;

	if (seen >= 0 && fstat(seen, &p.st) == 0)
		folder_find(&p, seen, path);
	else
		folder_open(&p, path);
	if (p.folder >= 0) {
		temp_name(&p, pid, tag);
		place_abandon(&p);
	}
	closep(&p.folder);
}
