/* SPDX-License-Identifier: MIT */
#ifndef PROTON_DOCTOR_VIEW_H
#define PROTON_DOCTOR_VIEW_H
/* What checks look at without a child: files of the system below the host's root, small and made by
 * the kernel or by an administrator, and the environment.
 *   errors  -errno
 *   thread  one */
#include <dirent.h>
#include "doctor/doctor.h"

/* The beginning of a file as text; "" with an error when it cannot be read. */
int view_read(const struct doctor_host *host, const char *path, struct buf *text);
bool view_exists(const struct doctor_host *host, const char *path);
/* For mode, as access(): 0 or -errno. */
int view_access(const struct doctor_host *host, const char *path, int mode);
DIR *view_folder(const struct doctor_host *host, const char *path);
/* The rest of the first line that begins with `key`, without blanks around it; NULL: none. */
const char *view_line(const char *text, const char *key, struct buf *scratch);
/* A variable of the environment that runs start from; NULL: not set. */
const char *view_env(const struct doctor_host *host, const char *name);
/* What contains this process: "docker"; NULL: nothing that is known. */
const char *view_container(const struct doctor_host *host);

#endif
