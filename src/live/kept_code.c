/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "live/kept_code.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/named_file.h"
#include "base/util.h"
#include "core/pc_samples.h"
#include "core/source.h"
#include "live/disassembly.h"
#include "report/print_line.h"

enum { DIGITS = 16 };

#define PART_SUFFIX    ".part" /* of a cubin that is being written */

#define DISASSEMBLE_NS (5 * NSEC_PER_SEC) /* that the end of a run may take for it */

static bool is_of_cubin(const char *name, const char *suffix)
{
	return strspn(name, "0123456789abcdef") == DIGITS && !strcmp(name + DIGITS, suffix);
}

static bool is_cubin(const char *name)
{
	return is_of_cubin(name, PC_CUBIN_SUFFIX);
}

static bool is_kept_text(const char *name)
{
	return is_of_cubin(name, DISASSEMBLY_SUFFIX);
}

static int copy_bytes(int from, int to)
{
	char piece[1 << 16];
	ssize_t n;
	int r;

	while ((n = read(from, piece, sizeof(piece))) > 0) {
		r = fd_write_all(to, piece, (size_t)n);
		if (r < 0)
			return r;
	}
	return n < 0 ? -errno : 0;
}

/* Whoever looks meanwhile, and after we are killed, sees all of it or nothing. The program could put anything there: what is no
 * file is not followed. */
static int copy(int from_folder, int to_folder, const char *name)
{
	_cleanup_(closep) int from = regular_openat(from_folder, name, O_RDONLY | O_NOFOLLOW, NULL);
	_cleanup_(closep) int to = -1;
	char part[DIGITS + sizeof(PC_CUBIN_SUFFIX PART_SUFFIX)];
	int r;

	if (from < 0)
		return from;
	snprintf(part, sizeof(part), "%s" PART_SUFFIX, name);
	unlinkat(to_folder, part, 0);
	to = openat(to_folder, part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (to < 0)
		return -errno;
	r = copy_bytes(from, to);
	if (r == 0 && renameat(to_folder, part, to_folder, name) < 0)
		r = -errno;
	if (r < 0)
		unlinkat(to_folder, part, 0);
	return r;
}

static char *folder_beside(const char *file)
{
	char *path;

	return asprintf(&path, "%s" KEPT_CODE_SUFFIX, file) < 0 ? NULL : path;
}

static int open_beside(const char *file)
{
	_cleanup_(freep) char *path = folder_beside(file);
	int fd;

	if (!path)
		return -ENOMEM;
	fd = mkdir(path, 0777) < 0 && errno != EEXIST
		     ? -1
		     : open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* From a folder to the one beside a file, which is made when the first one is there. */
struct keeping {
	int from, to; /* to: -1: not yet */
	const char *file;
	int error; /* the first one */
};

static bool open_to(struct keeping *k)
{
	if (k->to < 0)
		k->to = open_beside(k->file);
	if (k->to < 0 && !k->error)
		k->error = k->to;
	return k->to >= 0;
}

static void keep(struct keeping *k, const char *name)
{
	int r = open_to(k) ? copy(k->from, k->to, name) : 0;

	k->error = k->error ? k->error : r;
}

static bool is_older(const struct stat *a, const struct stat *b)
{
	return a->st_mtim.tv_sec != b->st_mtim.tv_sec ? a->st_mtim.tv_sec < b->st_mtim.tv_sec
						      : a->st_mtim.tv_nsec < b->st_mtim.tv_nsec;
}

/* By an earlier call: what a run before has left is older than what it would be replaced by. */
static bool is_kept(const struct keeping *k, const char *name)
{
	struct stat from, to;

	return k->to >= 0 && fstatat(k->from, name, &from, AT_SYMLINK_NOFOLLOW) == 0 &&
	       fstatat(k->to, name, &to, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(to.st_mode) &&
	       to.st_size == from.st_size && !is_older(&to, &from);
}

/* What somebody left who was killed while he wrote it. */
static void remove_parts(const struct keeping *k)
{
	int fd = k->to < 0 ? -1 : openat(k->to, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (is_of_cubin(e->d_name, PC_CUBIN_SUFFIX PART_SUFFIX))
			unlinkat(k->to, e->d_name, 0);
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
}

static int keeping_end(struct keeping *k)
{
	if (k->to >= 0)
		close(k->to);
	return k->error;
}

int kept_code_copy(const char *session, const char *file)
{
	struct keeping k = {.to = -1, .file = file};
	DIR *d = opendir(session);
	struct dirent *e;

	if (!d)
		return -errno;
	k.from = dirfd(d);
	while ((e = readdir(d)))
		if (is_cubin(e->d_name) && open_to(&k) && !is_kept(&k, e->d_name))
			keep(&k, e->d_name);
	closedir(d);
	remove_parts(&k);
	return keeping_end(&k);
}

/* ---- of a part ---- */

/* Calls it for each instruction that has samples. */
typedef void instruction_fn(void *ctx, const struct pc_instruction *is);
static void each_instruction(const struct source *s, instruction_fn *fn, void *ctx)
{
	struct pc_instruction is;

	for (size_t i = 0; i < s->n_functions; i++) {
		const struct source_function *f = &s->functions[i];

		for (size_t k = f->first; k < f->first + f->n; k++)
			for (size_t m = 0; m < s->lines[k].n; m++) {
				const char *name = s->instructions[s->lines[k].first + m].name;

				if (name && pc_instruction_parse(name, &is))
					fn(ctx, &is);
			}
	}
}

/* One that is not there was lost, and counted (LOSS_PC_CUBINS). */
static void keep_its(void *ctx, const struct pc_instruction *is)
{
	struct keeping *k = ctx;
	char name[DIGITS + sizeof(PC_CUBIN_SUFFIX)];

	snprintf(name, sizeof(name), PC_CUBIN_NAME, is->cubin);
	if (faccessat(k->from, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0 && open_to(k) &&
	    faccessat(k->to, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		keep(k, name);
}

int kept_code_copy_of(const struct session *part, const char *session, const char *file)
{
	struct keeping k = {.to = -1, .file = file};
	struct source_picture p;

	if (!session_has_values(part, METRIC_PC_STALLED_SAMPLES))
		return 0;
	k.from = open(session, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (k.from < 0)
		return -errno;
	k.error = source_picture_init(&p, part);
	if (!k.error)
		each_instruction(&p.source, keep_its, &k);
	source_picture_done(&p);
	close(k.from);
	return keeping_end(&k);
}

void kept_code_complain(int r, const char *file)
{
	if (r < 0)
		complain("cannot keep the code that was sampled in '%s" KEPT_CODE_SUFFIX "': %s",
			 file, open_error(r));
}

/* ---- of profiles that become one ---- */

static void add_one(struct keeping *k, const char *name, const char *folder, const char *into)
{
	int r = 0;

	if (is_cubin(name) && open_to(k) && faccessat(k->to, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		keep(k, name);
	if (is_kept_text(name) && open_to(k))
		r = disassembly_add(folder, into, strtoull(name, NULL, 16));
	k->error = k->error ? k->error : r;
}

int kept_code_add(const char *profile, const char *file)
{
	_cleanup_(freep) char *folder = folder_beside(profile), *into = folder_beside(file);
	struct keeping k = {.to = -1, .file = file};
	DIR *d = folder && into ? opendir(folder) : NULL;
	struct dirent *e;

	if (!d)
		return folder && into ? 0 : -ENOMEM;
	k.from = dirfd(d);
	while ((e = readdir(d)))
		add_one(&k, e->d_name, folder, into);
	closedir(d);
	return keeping_end(&k);
}

/* ---- instructions ---- */

/* Each function is printed once. */
static void ask(void *ctx, const struct pc_instruction *is)
{
	disassembly_text(ctx, is);
}

static int keep_beside(const struct disassembly *d, const char *file)
{
	_cleanup_(freep) char *folder = folder_beside(file);

	return folder ? disassembly_keep(d, folder) : -ENOMEM;
}

/* The cubins are the same beside each. */
static int disassemble_all(const struct session *s, const char *const files[], size_t n)
{
	_cleanup_(freep) char *folder = folder_beside(files[0]);
	struct disassembly *d = folder ? disassembly_new(folder) : NULL;
	struct source_picture p;
	int r = source_picture_init(&p, s);

	if (d && r == 0) {
		disassembly_until(d, clock_monotonic_ns() + DISASSEMBLE_NS);
		each_instruction(&p.source, ask, d);
		for (size_t i = 0; i < n && r == 0; i++)
			r = keep_beside(d, files[i]);
	}
	source_picture_done(&p);
	disassembly_free(d);
	return r;
}

pid_t kept_code_disassemble(const struct session *s, const char *const files[], size_t n)
{
	_cleanup_(freep) char *folder = folder_beside(files[0]);
	pid_t parent = getpid(), pid;

	if (!folder || !session_has_values(s, METRIC_PC_STALLED_SAMPLES) ||
	    access(folder, W_OK) < 0)
		return 0;
	pid = fork();
	if (pid == 0) {
		/* Ctrl-C is for who waits for us. */
		signal(SIGINT, SIG_IGN);
		signal(SIGQUIT, SIG_IGN);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(getppid() == parent ? -disassemble_all(s, files, n) & 0xff : 1);
	}
	return MAX(pid, 0);
}
