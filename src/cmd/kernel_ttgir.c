/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "cmd/kernel_ttgir.h"
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/buf.h"
#include "base/util.h"
#include "cmd/commands.h"
#include "cmd/run_options.h"
#include "launch/target_env.h"

#define ENDING ".ttgir"

/* ---- files ---- */

static bool is_ttgir(const char *name)
{
	size_t n = strlen(name), m = strlen(ENDING);

	return n > m && !strcmp(name + n - m, ENDING);
}

static int is_shown(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static int each_in(const char *folder, ttgir_file_fn *fn, void *ctx)
{
	struct dirent **entries;
	int n = scandir(folder, &entries, is_shown, alphasort), status = STATUS_OK;

	if (n < 0) {
		complain("cannot open '%s': %s", folder, strerror(errno));
		return STATUS_FAILED;
	}
	for (int i = 0; i < n; i++) {
		_cleanup_(buf_done) struct buf path = {0};
		struct stat st;

		buf_printf(&path, "%s/%s", folder, entries[i]->d_name);
		if (status == STATUS_OK && lstat(buf_str(&path), &st) == 0 &&
		    (S_ISDIR(st.st_mode) || (S_ISREG(st.st_mode) && is_ttgir(entries[i]->d_name))))
			status = S_ISDIR(st.st_mode) ? each_in(buf_str(&path), fn, ctx)
						     : fn(ctx, buf_str(&path));
		free(entries[i]);
	}
	free(entries);
	return status;
}

int kernel_each_ttgir(const char *path, ttgir_file_fn *fn, void *ctx)
{
	struct stat st;

	if (stat(path, &st) < 0) {
		complain("cannot open '%s': %s", path, strerror(errno));
		return STATUS_FAILED;
	}
	return S_ISDIR(st.st_mode) ? each_in(path, fn, ctx) : fn(ctx, path);
}

/* ---- the program ---- */

/* 0, or an exit status after a message. */
static int run_program(char **argv, int *ret_wait_status)
{
	_cleanup_(freep) char *path = NULL;
	_cleanup_(launch_freep) struct launch *launch = NULL;
	struct launch_options o = {.argv = argv, .envp = environ, .origin = &arg_origin};
	int r = target_find(argv[0], getenv("PATH"), &path);

	o.path = path;
	if (r == 0)
		r = launch_start(&o, &launch);
	if (r < 0) {
		complain("cannot run '%s': %s", argv[0], target_strerror(r));
		return target_exit_status(r);
	}
	while (!launch_ended(launch, ret_wait_status)) {
		struct pollfd fd = {.fd = launch_fd(launch), .events = POLLIN};

		poll(&fd, 1, -1);
		launch_handle(launch);
	}
	return 0;
}

/* All of a kernel is compiled anew, and each stage written; of a program in another folder, too. */
static bool set_variables(const char *folder)
{
	return setenv("TRITON_KERNEL_DUMP", "1", 1) == 0 &&
	       setenv("TRITON_DUMP_DIR", folder, 1) == 0 &&
	       setenv("TRITON_ALWAYS_COMPILE", "1", 1) == 0;
}

/* ---- what it wrote ---- */

struct keeping {
	const char *from, *to; /* folders */
	unsigned n;
};

/* Its place in one folder, in the other one. */
static int keep(void *ctx, const char *path)
{
	struct keeping *k = ctx;
	_cleanup_(buf_done) struct buf kept = {0}, folder = {0};
	const char *rest = path + strlen(k->from) + 1, *slash = strrchr(rest, '/');

	buf_printf(&kept, "%s/%s", k->to, rest);
	buf_printf(&folder, "%s/%.*s", k->to, slash ? (int)(slash - rest) : 0, rest);
	if ((mkdir(buf_str(&folder), 0777) < 0 && errno != EEXIST) ||
	    rename(path, buf_str(&kept)) < 0) {
		complain("cannot write '%s': %s", buf_str(&kept), strerror(errno));
		return STATUS_FAILED;
	}
	print_line(stdout, "%s", buf_str(&kept));
	k->n++;
	return STATUS_OK;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

static int keep_all(const char *from, const char *to)
{
	struct keeping k = {from, to, 0};
	int status = kernel_each_ttgir(from, keep, &k);

	if (status == STATUS_OK && !k.n) {
		complain("Triton compiled no kernel of the program");
		return STATUS_FAILED;
	}
	return status;
}

int kernel_dump_ttgir(const char *folder, char **argv)
{
	_cleanup_(freep) char *whole = NULL;
	_cleanup_(buf_done) struct buf all = {0};
	int wait_status, status;

	if ((mkdir(folder, 0777) < 0 && errno != EEXIST) || !(whole = realpath(folder, NULL))) {
		complain("cannot create '%s': %s", folder, strerror(errno));
		return STATUS_FAILED;
	}
	/* Later stages, which would be taken in place of ours, and what others wrote here, are kept apart. */
	buf_printf(&all, "%s/.stages-XXXXXX", whole);
	if (!*buf_str(&all) || !mkdtemp(all.data) || !set_variables(all.data)) {
		complain("cannot create '%s': %s", buf_str(&all), strerror(errno));
		return STATUS_FAILED;
	}
	status = run_program(argv, &wait_status);
	if (status == STATUS_OK)
		status = keep_all(all.data, folder);
	nftw(all.data, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	return status ? status : launch_exit_status(wait_status);
}
