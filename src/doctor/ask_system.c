/* SPDX-License-Identifier: MIT */
/* What is asked of the system in a child, because it may not answer: a process whose memory is
 * locked, a folder on a disk that is gone. */
#include "config.h" // IWYU pragma: keep
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/statvfs.h>
#include "doctor/asks.h"
#include "doctor/view.h"
#include "launch/session_dir.h"

/* ---- who has a libcupti ---- */

static bool is_number(const char *s)
{
	return *s && strspn(s, "0123456789") == strlen(s);
}

static void tell_name(const struct doctor_host *host, const char *pid, struct buf *out)
{
	_cleanup_(buf_done) struct buf text = {0}, first = {0};
	char path[64];

	snprintf(path, sizeof(path), "/proc/%.20s/comm", pid);
	if (view_read(host, path, &text) == 0)
		view_line(buf_str(&text), "", &first);
	buf_puts(out, first.len ? buf_str(&first) : "?");
	for (size_t i = 0; i < out->len; i++)
		if (out->data[i] == ' ')
			out->data[i] = '_'; /* a blank ends it */
}

/* Looks through the maps of a process, which have a path at the end of each line. */
static void tell_holder(const struct doctor_host *host, const char *pid, FILE *maps, int fd)
{
	_cleanup_(buf_done) struct buf name = {0};
	_cleanup_(freep) char *line = NULL, *found = NULL;
	bool ours = false;
	size_t size = 0;

	while (getline(&line, &size, maps) > 0) {
		char *path = strchr(line, '/'), *base = strrchr(line, '/');

		if (!path)
			continue;
		path[strcspn(path, "\n")] = '\0';
		ours = ours || !strncmp(base, "/libproton.so", 13);
		if (!found && !strncmp(base, "/libcupti.so", 12))
			found = strdup(path);
	}
	if (!found)
		return;
	tell_name(host, pid, &name);
	probe_tell(fd, "holder %s %d %s %s", pid, ours, buf_str(&name), found);
}

/* ---- who may have hardware counters ---- */

/* What proton is told to do that takes them; what follows "--" is the program's. */
static bool asks_for_counters(const struct doctor_host *host, const char *pid)
{
	static const char *const options[] = {"--counters", "--metrics", "--pc-sampling",
					      "--device"};
	_cleanup_(buf_done) struct buf words = {0};
	char path[64];

	snprintf(path, sizeof(path), "/proc/%.20s/cmdline", pid);
	if (view_read(host, path, &words) < 0)
		return false;
	for (const char *word = words.data, *end = word + words.len; word && word < end;
	     word += strlen(word) + 1) {
		if (!strcmp(word, "--"))
			return false;
		for (size_t i = 0; i < ARRAY_SIZE(options); i++)
			if (!strncmp(word, options[i], strlen(options[i])))
				return true;
	}
	return false;
}

/* Is it a process that another proton made? */
static bool is_helper(const struct doctor_host *host, const char *pid)
{
	_cleanup_(buf_done) struct buf text = {0}, parent = {0}, name = {0};
	char path[64];

	snprintf(path, sizeof(path), "/proc/%.20s/status", pid);
	if (view_read(host, path, &text) < 0 || !view_line(buf_str(&text), "PPid:", &parent))
		return false;
	tell_name(host, buf_str(&parent), &name);
	return !strcmp(buf_str(&name), "proton");
}

/* By its name alone: a tool of these names counts, or may. */
static void tell_counting(const struct doctor_host *host, const char *pid, int fd)
{
	static const char *const tools[] = {"nv-hostengine", "dcgm-exporter", "ncu", "nsys",
					    "nsys-launcher"};
	_cleanup_(buf_done) struct buf name = {0};
	bool counts = false;

	tell_name(host, pid, &name);
	for (size_t i = 0; i < ARRAY_SIZE(tools); i++)
		counts = counts || !strcmp(buf_str(&name), tools[i]);
	if (!strcmp(buf_str(&name), "proton"))
		counts = asks_for_counters(host, pid) && !is_helper(host, pid);
	if (counts)
		probe_tell(fd, "counting %s %s", pid, buf_str(&name));
}

void ask_holders(const void *ctx, int fd)
{
	const struct doctor_host *host = ctx;
	DIR *folder = view_folder(host, "/proc");
	struct dirent *e;
	unsigned n_unread = 0, n = 0;

	if (!folder)
		return;
	while ((e = readdir(folder))) {
		_cleanup_(fclosep) FILE *maps = NULL;
		char path[PATH_MAX];

		if (!is_number(e->d_name))
			continue;
		n++;
		tell_counting(host, e->d_name, fd);
		snprintf(path, sizeof(path), "%s/proc/%.20s/maps", host->root, e->d_name);
		maps = fopen(path, "re");
		if (maps)
			tell_holder(host, e->d_name, maps, fd);
		else if (errno != ENOENT && errno != ESRCH) /* else it has ended meanwhile */
			n_unread++;
	}
	closedir(folder);
	probe_tell(fd, "unread %u", n_unread);
	probe_tell(fd, "processes %u", n);
}

/* ---- folders ---- */

static void tell_session(int fd)
{
	struct session_dir *dir;
	int r;

	probe_tell(fd, "stage making a session directory");
	r = session_dir_new(&dir);
	if (r < 0) {
		probe_tell(fd, "session-error %s", strerror(-r));
		return;
	}
	probe_tell(fd, "session %s", dir->path);
	session_dir_remove(dir->path);
	session_dir_free(dir);
}

static void tell_profile(int fd)
{
	_cleanup_(freep) char *folder = NULL;
	struct statvfs st;

	probe_tell(fd, "stage looking at the current folder");
	folder = getcwd(NULL, 0);
	if (!folder || access(folder, W_OK | X_OK) < 0 || statvfs(folder, &st) < 0) {
		probe_tell(fd, "profile-error %s: %s", folder ? folder : ".", strerror(errno));
		return;
	}
	probe_tell(fd, "profile %llu %s", (unsigned long long)st.f_bavail * st.f_frsize, folder);
}

/* The folder, or the nearest above it that is there, in which it would be made. */
static void tell_config(const char *folder, int fd)
{
	char path[PATH_MAX];

	if (!*folder || strlen(folder) >= sizeof(path)) {
		probe_tell(fd, "config-error HOME is not set");
		return;
	}
	probe_tell(fd, "stage looking at %s", folder);
	memcpy(path, folder, strlen(folder) + 1);
	while (access(path, F_OK) < 0 && errno == ENOENT && strrchr(path, '/') != path)
		*strrchr(path, '/') = '\0';
	if (access(path, W_OK | X_OK) < 0)
		probe_tell(fd, "config-error %s: %s", path, strerror(errno));
	else
		probe_tell(fd, "config %s", folder);
}

void ask_folders(const void *ctx, int fd)
{
	const struct doctor_host *host = ctx;

	tell_session(fd);
	tell_profile(fd);
	tell_config(host->config_dir, fd);
}
