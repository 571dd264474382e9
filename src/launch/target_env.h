/* SPDX-License-Identifier: MIT */
#ifndef PROTON_LAUNCH_TARGET_ENV_H
#define PROTON_LAUNCH_TARGET_ENV_H
/* What will run, and with which environment.
 *
 * The aim: the program behaves as it would without us, same output and same status. A door that
 * would disturb it is left shut and a note says why.
 *
 *   errors  -errno
 *   thread  one */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/util.h"

/* Where execvp() would find `file`. path_list is the value of PATH (NULL: the system's default).
 * -ENOENT: nowhere; -EACCES: there, but not executable; -EISDIR: a directory; -ENOTDIR, -ELOOP …
 * as from stat(). target_exit_status() turns each into what a shell would return. */
int target_find(const char *file, const char *path_list, char **ret_path);

/* 127 for "not found", 126 for "found, but cannot be run". error is negative. */
int target_exit_status(int error);
/* "not found", "is a directory", else strerror(). */
const char *target_strerror(int error);

enum target_flags {
	TARGET_ELF = 1 << 0,
	TARGET_32BIT = 1 << 1,
	TARGET_FOREIGN = 1 << 2, /* for another processor */
	TARGET_STATIC = 1 << 3,  /* no dynamic loader: LD_PRELOAD has no meaning */
	TARGET_MUSL = 1 << 4,    /* another C library than the collector's */
	TARGET_SETID = 1 << 5,   /* set-user-id, set-group-id or file capabilities */
	TARGET_ASAN = 1 << 6,    /* Address-, hardware-assisted or MemorySanitizer */
	TARGET_TSAN = 1 << 7,
	TARGET_SCRIPT = 1 << 8,   /* reached through "#!", or a script without that line */
	TARGET_NO_MAGIC = 1 << 9, /* neither ELF nor "#!": exec says ENOEXEC, /bin/sh runs it */
};

struct target_image {
	char *path;     /* the ELF file that the kernel will load: for a script, its interpreter */
	unsigned flags; /* enum target_flags */
};

/* Look into the file at `path` (from target_find()), through "#!" lines and "env". What cannot be
 * read has no flags: that is not an error. path_list as above. */
int target_inspect(const char *path, const char *path_list, struct target_image *ret_image);
void target_image_done(struct target_image *image);

/* Absolute path of libproton.so: $PROTON_LIBRARY_PATH, else beside this program (its build tree or
 * its prefix), else where it was installed. -ENOENT: *ret_why says where it was looked for (freed
 * by the caller; may be NULL when out of memory). */
int target_library(char **ret_path, char **ret_why);

struct target_env_options {
	const char *library;              /* libproton.so, absolute */
	const char *session;              /* session directory */
	const struct target_image *image; /* may be NULL: nothing is known */
	bool no_preload, no_follow, early;
	uint32_t backends_off; /* 1 << SOURCE_* (core/backends.h) */
};

struct target_env {
	char **vars;  /* for exec; NULL at the end */
	char **notes; /* a sentence each for the user, without a full stop */
	size_t n_notes;
	char *only_pid; /* with no_follow: value of PROTON_ONLY_PID, in vars, filled in after fork
			 */
};

/* The environment of the target: base (usually `environ`), and
 *
 *   PROTON_SESSION, PROTON_LIBRARY                replaced
 *   CUDA_INJECTION64_PATH, NVTX_INJECTION64_PATH  set, unless they name another tool: a note
 *   OPENCL_LAYERS, LD_PRELOAD                     appended to (of which backend: core/backends.h)
 *   PROTON_ONLY_PID                               no_follow: only this process is looked at
 *   PROTON_EARLY                                  early: the collector starts when it is loaded
 *
 * A fresh copy; base is not changed. */
int target_env_build(const struct target_env_options *options, char *const *base,
		     struct target_env *ret_env);
void target_env_done(struct target_env *env);

#endif
