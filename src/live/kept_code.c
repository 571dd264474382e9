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

enum { DIGITS = 16 };

#define DISASSEMBLE_NS (5 * NSEC_PER_SEC) /* that the end of a run may take for it */

static bool is_cubin(const char *name)
{
	return strspn(name, "0123456789abcdef") == DIGITS &&
	       !strcmp(name + DIGITS, PC_CUBIN_SUFFIX);
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

/* The program could put anything there: what is no file is not followed. */
static int copy(int from_folder, int to_folder, const char *name)
{
	_cleanup_(closep) int from = regular_openat(from_folder, name, O_RDONLY | O_NOFOLLOW, NULL);
	_cleanup_(closep) int to = -1;

	if (from < 0)
		return from;
	unlinkat(to_folder, name, 0);
	to = openat(to_folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	return to < 0 ? -errno : copy_bytes(from, to);
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

int kept_code_copy(const char *session, const char *file)
{
	_cleanup_(closep) int to = -1;
	DIR *d = opendir(session);
	struct dirent *e;
	int r = 0, first = 0;

	if (!d)
		return -errno;
	while ((e = readdir(d))) {
		if (!is_cubin(e->d_name))
			continue;
		if (to < 0)
			to = open_beside(file);
		r = to < 0 ? to : copy(dirfd(d), to, e->d_name);
		first = first ? first : r;
		if (to < 0)
			break;
	}
	closedir(d);
	return first;
}

/* ---- instructions ---- */

/* By its instructions, for there may be those of several cubins in it; each function of these is printed once. */
static void ask_function(struct disassembly *d, const struct source *s,
			 const struct source_function *f)
{
	struct pc_instruction is;

	for (size_t i = f->first; i < f->first + f->n; i++)
		for (size_t k = s->lines[i].first; k < s->lines[i].first + s->lines[i].n; k++)
			if (s->instructions[k].name &&
			    pc_instruction_parse(s->instructions[k].name, &is))
				disassembly_text(d, &is);
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
		for (size_t i = 0; i < p.source.n_functions; i++)
			ask_function(d, &p.source, &p.source.functions[i]);
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
