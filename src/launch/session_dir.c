/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "launch/session_dir.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#define STREAM_BYTES  (1 << 20)
#define CONTROL_BYTES 4096
#define KEEP_SECONDS  (24 * 60 * 60)
#define PATH_BYTES    256 /* collectors keep it in an array of that size */
#define OWNER_MAX     512 /* an owner file is four short lines */

/* ---- who is who ---- */

/* The whole of a small file, as a string. */
static int read_small(int dir_fd, const char *name, char *text, size_t size)
{
	_cleanup_(closep) int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, text, size - 1);
	if (n < 0)
		return -errno;
	text[n] = '\0';
	return 0;
}

int process_start_time(pid_t pid, unsigned long long *ret_ticks)
{
	char path[64], text[1024], state;
	unsigned long long ticks;
	const char *p;
	int r;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	r = read_small(AT_FDCWD, path, text, sizeof(text));
	if (r < 0)
		return r == -ENOENT ? -ESRCH : r;
	p = strrchr(text, ')'); /* the name in brackets may hold anything */
	if (!p)
		return -EINVAL;
	if (sscanf(p + 1,
		   " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d "
		   "%llu",
		   &state, &ticks) != 2)
		return -EINVAL;
	if (state == 'Z' || state == 'X')
		return -ESRCH;
	*ret_ticks = ticks;
	return 0;
}

/* Pids mean something only within one boot and one pid namespace. */
static void pid_space(char boot[40], uint64_t *ret_pidns)
{
	struct stat st;

	if (read_small(AT_FDCWD, "/proc/sys/kernel/random/boot_id", boot, 37) < 0)
		memcpy(boot, "-", 2);
	boot[strcspn(boot, "\n")] = '\0';
	*ret_pidns = stat("/proc/self/ns/pid", &st) == 0 ? (uint64_t)st.st_ino : 0;
}

struct owner {
	char boot[40];
	uint64_t pidns;
	long pid, target;
	unsigned long long pid_start, target_start;
};

static void owner_parse(struct owner *o, const char *text)
{
	memset(o, 0, sizeof(*o));
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		sscanf(line, "boot %39s", o->boot);
		sscanf(line, "pidns %" SCNu64, &o->pidns);
		sscanf(line, "owner %ld %llu", &o->pid, &o->pid_start);
		sscanf(line, "target %ld %llu", &o->target, &o->target_start);
	}
}

static int owner_write(int fd, pid_t target)
{
	unsigned long long start = 0, target_start = 0;
	char text[OWNER_MAX], boot[40];
	uint64_t pidns;
	ssize_t written;
	int n;

	pid_space(boot, &pidns);
	(void)process_start_time(getpid(), &start);
	n = snprintf(text, sizeof(text), "boot %s\npidns %" PRIu64 "\nowner %d %llu\n", boot, pidns,
		     (int)getpid(), start);
	/* A target that is already dead is written too: a dead target is what a sweep looks for. */
	if (target > 0) {
		(void)process_start_time(target, &target_start);
		n += snprintf(text + n, sizeof(text) - (size_t)n, "target %d %llu\n", (int)target,
			      target_start);
	}
	written = pwrite(fd, text, (size_t)n, 0);
	if (written != n)
		return written < 0 ? -errno : -ENOSPC; /* a short one: the disk got full */
	return ftruncate(fd, n) < 0 ? -errno : 0;
}

enum life { DEAD, ALIVE, UNKNOWN };

static enum life owner_life(const struct owner *o, long pid, unsigned long long start)
{
	unsigned long long ticks;
	char boot[40];
	uint64_t pidns;
	int r;

	if (pid <= 0 || !o->boot[0])
		return UNKNOWN;
	pid_space(boot, &pidns);
	if (strcmp(boot, o->boot) != 0)
		return DEAD;
	if (pidns != o->pidns)
		return UNKNOWN;
	r = process_start_time((pid_t)pid, &ticks);
	if (r < 0)
		return r == -ESRCH ? DEAD : UNKNOWN; /* no descriptor is left to look with */
	return ticks == start ? ALIVE : DEAD;
}

/* ---- where ---- */

/* A folder of ours that nobody else can write to. */
static bool is_private(const char *path)
{
	struct stat st;

	return path && path[0] == '/' && stat(path, &st) == 0 && S_ISDIR(st.st_mode) &&
	       st.st_uid == geteuid() && (st.st_mode & 022) == 0;
}

/* $XDG_RUNTIME_DIR/proton, made when needed; NULL: not usable. */
static char *runtime_folder(bool make)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	char *path;

	if (!is_private(runtime) || asprintf(&path, "%s/proton", runtime) < 0)
		return NULL;
	if (make)
		(void)mkdir(path, 0700);
	if (is_private(path) && access(path, W_OK | X_OK) == 0)
		return path;
	free(path);
	return NULL;
}

static const char *temporary_folder(void)
{
	const char *t = getenv("TMPDIR");
	struct stat st;

	if (t && t[0] == '/' && stat(t, &st) == 0 && S_ISDIR(st.st_mode) &&
	    access(t, W_OK | X_OK) == 0)
		return t;
	return "/tmp";
}

static int make_directory_in(const char *folder, char **ret_path)
{
	char *path;
	int r = 0;

	if (asprintf(&path, "%s/proton-%u-%d-XXXXXX", folder, (unsigned)geteuid(), (int)getpid()) <
	    0)
		return -ENOMEM;
	if (strlen(path) >= PATH_BYTES)
		r = -ENAMETOOLONG;
	else if (!mkdtemp(path)) /* 0700 */
		r = -errno;
	if (r < 0)
		free(path);
	else
		*ret_path = path;
	return r;
}

/* ---- one directory ---- */

static int make_owner(struct session_dir *dir, int dir_fd)
{
	dir->owner_fd = openat(dir_fd, "owner", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (dir->owner_fd < 0)
		return -errno;
	/* No locks on this file system: pid and start time must do. */
	(void)flock(dir->owner_fd, LOCK_EX | LOCK_NB);
	return owner_write(dir->owner_fd, 0);
}

static int make_stream(struct session_dir *dir, int dir_fd)
{
	int n;

	if (mkfifoat(dir_fd, "stream", 0600) < 0)
		return -errno;
	/* With a writer of our own, the last collector's end is no EOF, and opening never waits. */
	dir->stream_fd = openat(dir_fd, "stream", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (dir->stream_fd < 0)
		return -errno;
	(void)fcntl(dir->stream_fd, F_SETPIPE_SZ, STREAM_BYTES); /* a user may be out of quota */
	n = fcntl(dir->stream_fd, F_GETPIPE_SZ);
	dir->stream_bytes = n > 0 ? (size_t)n : 0;
	return 0;
}

static int make_control(struct session_dir *dir, int dir_fd)
{
	_cleanup_(closep) int fd =
		openat(dir_fd, "control", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	struct control_page *page;
	int r;

	if (fd < 0)
		return -errno;
	/* Real blocks: a hole on a full disk would be a SIGBUS at the first store. */
	r = posix_fallocate(fd, 0, CONTROL_BYTES);
	if (r)
		return -r;
	page = mmap(NULL, CONTROL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		return -errno;
	dir->control = page;
	page->version = CONTROL_VERSION;
	atomic_store(&page->period_ms, CONTROL_PERIOD_MS);
	atomic_store(&page->alive, 1);
	__atomic_store_n(&page->magic, CONTROL_MAGIC, __ATOMIC_RELEASE);
	return 0;
}

static int make_entries(struct session_dir *dir)
{
	_cleanup_(closep) int fd = open(dir->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r;

	if (fd < 0)
		return -errno;
	r = make_owner(dir, fd);
	if (r == 0)
		r = make_stream(dir, fd);
	if (r == 0)
		r = make_control(dir, fd);
	return r;
}

/* All of it in one folder, or nothing. */
static int make_all_in(const char *folder, struct session_dir **ret_dir)
{
	struct session_dir *dir = calloc(1, sizeof(*dir));
	int r;

	if (!dir)
		return -ENOMEM;
	dir->stream_fd = dir->owner_fd = -1;
	r = make_directory_in(folder, &dir->path);
	if (r == 0)
		r = make_entries(dir);
	if (r == 0) {
		*ret_dir = dir;
		return 0;
	}
	if (dir->path)
		(void)session_dir_remove(dir->path);
	session_dir_free(dir);
	return r;
}

/* A folder may be missing, forbidden, or full: then the next one. */
int session_dir_new(struct session_dir **ret_dir)
{
	_cleanup_(freep) char *runtime = runtime_folder(true);
	const char *const folders[] = {runtime, temporary_folder(), "/tmp"};
	mode_t mask = umask(077); /* the user's may take our own bits away */
	int r = -ENOENT;

	for (size_t i = 0; r < 0 && i < ARRAY_SIZE(folders); i++)
		if (folders[i])
			r = make_all_in(folders[i], ret_dir);
	umask(mask);
	return r;
}

struct session_dir *session_dir_free(struct session_dir *dir)
{
	if (!dir)
		return NULL;
	if (dir->control)
		munmap(dir->control, CONTROL_BYTES);
	closep(&dir->stream_fd);
	closep(&dir->owner_fd);
	free(dir->path);
	free(dir);
	return NULL;
}

int session_dir_set_target(struct session_dir *dir, pid_t pid)
{
	return owner_write(dir->owner_fd, pid);
}

/* ---- removing ---- */

/* Open a directory, if it is private to us. */
static int open_ours(int folder_fd, const char *name, struct stat *ret_st)
{
	int fd = openat(folder_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (fstat(fd, ret_st) == 0 && ret_st->st_uid == geteuid() && (ret_st->st_mode & 077) == 0)
		return fd;
	close(fd);
	return -EPERM;
}

/* Remove what is in a directory. Steals dir_fd. Sub-directories are not ours to make; one level of
 * recursion a level is enough for whatever a collector plug-in put there. */
static int empty_directory(int dir_fd, int depth)
{
	DIR *d = fdopendir(dir_fd);
	struct dirent *e;
	int r = 0;

	if (!d) {
		r = -errno;
		close(dir_fd);
		return r;
	}
	while ((e = readdir(d))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		if (unlinkat(dirfd(d), e->d_name, 0) == 0 || errno == ENOENT)
			continue;
		if (errno == EISDIR && depth > 0) {
			int sub = openat(dirfd(d), e->d_name,
					 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

			if (sub >= 0)
				(void)empty_directory(sub, depth - 1);
			if (unlinkat(dirfd(d), e->d_name, AT_REMOVEDIR) == 0)
				continue;
		}
		r = -errno;
	}
	closedir(d);
	return r;
}

static int remove_at(int folder_fd, const char *name)
{
	struct stat st;
	int fd = open_ours(folder_fd, name, &st), r;

	if (fd < 0)
		return fd;
	/* A collector may add a segment between our last readdir() and rmdir(). */
	for (int i = 0; i < 3; i++) {
		r = empty_directory(fd, 4);
		if (unlinkat(folder_fd, name, AT_REMOVEDIR) == 0)
			return 0;
		if (r == 0)
			r = -errno;
		fd = open_ours(folder_fd, name, &st);
		if (fd < 0)
			return r;
	}
	close(fd);
	return r;
}

int session_dir_remove(const char *path)
{
	return remove_at(AT_FDCWD, path);
}

/* ---- leftovers ---- */

static bool ends_in(const char *name, const char *suffix)
{
	size_t n = strlen(name), m = strlen(suffix);

	return n > m && !strcmp(name + n - m, suffix);
}

/* Is there nothing in it but what its maker made, and files that permit a proton to write or to answer? No operations,
 * no last frames of a process, no log. Steals dir_fd. */
static bool holds_nothing(int dir_fd)
{
	static const char *const made[] = {".", "..", "owner", "control", "stream"};
	DIR *d = dir_fd < 0 ? NULL : fdopendir(dir_fd);
	struct dirent *e;
	bool nothing = d;

	while (nothing && (e = readdir(d))) {
		size_t i;

		for (i = 0; i < ARRAY_SIZE(made) && strcmp(e->d_name, made[i]) != 0; i++)
			;
		nothing = i < ARRAY_SIZE(made) || ends_in(e->d_name, ".session") ||
			  ends_in(e->d_name, ".answer");
	}
	if (d)
		closedir(d);
	else
		closep(&dir_fd);
	return nothing;
}

/* Has no process the pipe open? Frames that are in it are somebody's who has. */
static bool is_unheld(int dir_fd)
{
	_cleanup_(closep) int fd =
		openat(dir_fd, "stream", O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	int waiting = 0;
	char byte;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISFIFO(st.st_mode) ||
	    ioctl(fd, FIONREAD, &waiting) < 0 || waiting)
		return false;
	return read(fd, &byte, 1) == 0;
}

/* Of a run whose target is not known, for its proton died before it could say which: certainly nobody's, and nothing
 * could be had from it by anybody. */
static bool is_nobody_s(int dir_fd)
{
	return is_unheld(dir_fd) &&
	       holds_nothing(openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

/* May this directory go? Locks it when so: *ret_lock is then to be closed after the removal. */
static bool is_stale(int dir_fd, const struct stat *st, unsigned keep_s, int *ret_lock)
{
	_cleanup_(closep) int fd =
		openat(dir_fd, "owner", O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	bool old = time(NULL) - st->st_mtime >= (time_t)keep_s, is_known;
	char text[OWNER_MAX];
	struct owner o;
	enum life maker;

	if (fd < 0) /* its maker died at once, or is about to write it */
		return errno == ENOENT && old;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
		return false;
	if (read_small(dir_fd, "owner", text, sizeof(text)) < 0)
		return false;
	owner_parse(&o, text);
	maker = owner_life(&o, o.pid, o.pid_start);
	is_known = o.target > 0;
	if (maker == ALIVE)
		return false;
	if (!old && is_known && owner_life(&o, o.target, o.target_start) != DEAD)
		return false;
	if (!old && !is_known && (maker != DEAD || !is_nobody_s(dir_fd)))
		return false;
	*ret_lock = fd;
	fd = -1;
	return true;
}

static bool sweep_one(int folder_fd, const char *name, unsigned keep_s)
{
	_cleanup_(closep) int lock = -1;
	struct stat st;
	int fd = open_ours(folder_fd, name, &st);
	bool stale;

	if (fd < 0)
		return false;
	stale = is_stale(fd, &st, keep_s, &lock);
	close(fd);
	return stale && remove_at(folder_fd, name) == 0;
}

int session_dir_sweep_in(const char *folder, unsigned keep_s)
{
	DIR *d = opendir(folder);
	struct dirent *e;
	char prefix[32];
	int n_removed = 0;

	if (!d)
		return -errno;
	snprintf(prefix, sizeof(prefix), "proton-%u-", (unsigned)geteuid());
	while ((e = readdir(d)))
		if (!strncmp(e->d_name, prefix, strlen(prefix)))
			n_removed += sweep_one(dirfd(d), e->d_name, keep_s);
	closedir(d);
	return n_removed;
}

int session_dir_sweep(void)
{
	_cleanup_(freep) char *runtime = runtime_folder(false);
	const char *temporary = temporary_folder();
	int n = 0;

	if (runtime)
		n += MAX(0, session_dir_sweep_in(runtime, KEEP_SECONDS));
	n += MAX(0, session_dir_sweep_in(temporary, KEEP_SECONDS));
	if (strcmp(temporary, "/tmp") != 0)
		n += MAX(0, session_dir_sweep_in("/tmp", KEEP_SECONDS));
	return n;
}
