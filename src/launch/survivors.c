/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include "launch/launch.h"
#include "launch/session_dir.h"
#include "wire/control.h"

/* We are no subreaper: orphans keep the parent they would have without us. What tells that a
 * process belongs to this session is the environment it was started with. */

#define ENVIRON_MAX (4 << 20)

/* The pid that an entry of /proc names; 0: another entry. */
static pid_t parse_pid(const char *name)
{
	char *end;
	long pid = strtol(name, &end, 10);

	return *end || pid < 0 ? 0 : (pid_t)pid;
}

/* Is "entry" (with its NUL) one of the strings? */
static bool has_string(const char *strings, size_t len, const char *entry)
{
	size_t entry_len = strlen(entry) + 1;

	for (size_t i = 0; i + entry_len <= len; i += strlen(strings + i) + 1)
		if (!memcmp(strings + i, entry, entry_len))
			return true;
	return false;
}

/* All of a /proc file, with a NUL added; NULL when it cannot be read. */
static char *read_proc(int proc_fd, const char *pid, const char *name, size_t *ret_len)
{
	size_t len = 0, cap = 16384;
	char path[64], *data = malloc(cap);
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", pid, name);
	fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && data && (n = read(fd, data + len, cap - 1 - len)) > 0) {
		char *more;

		len += (size_t)n;
		if (len < cap - 1 || cap >= ENVIRON_MAX)
			continue;
		more = realloc(data, cap *= 2);
		if (!more)
			break;
		data = more;
	}
	closep(&fd);
	if (!data || (n < 0 && len == 0)) {
		free(data);
		return NULL;
	}
	data[len] = '\0';
	*ret_len = len + 1;
	return data;
}

static bool belongs_to(int proc_fd, const char *pid, const char *entry)
{
	size_t len = 0;
	_cleanup_(freep) char *environment = read_proc(proc_fd, pid, "environ", &len);

	/* Of a zombie there is nothing to read: it is not alive. */
	return environment && has_string(environment, len, entry);
}

bool launch_may_be_ours(const char *session_path, pid_t recorder, pid_t pid)
{
	_cleanup_(freep) char *environment = NULL, *entry = NULL;
	unsigned long long start, recording_start;
	char path[32];
	size_t len = 0;

	if (process_start_time(pid, &start) < 0)
		return false;
	if (process_start_time(recorder, &recording_start) == 0 && start < recording_start)
		return false;
	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	environment = read_proc(AT_FDCWD, path, "environ", &len);
	if (!environment) /* of another user, for one */
		return true;
	if (asprintf(&entry, "%s=%s", CONTROL_ENV, session_path) < 0) {
		entry = NULL;
		return true;
	}
	return has_string(environment, len, entry);
}

static void read_name(int proc_fd, const char *pid, char name[16])
{
	size_t len = 0;
	_cleanup_(freep) char *comm = read_proc(proc_fd, pid, "comm", &len);

	snprintf(name, 16, "%s", comm ? comm : "?");
	name[strcspn(name, "\n")] = '\0';
}

static int add_survivor(int proc_fd, const char *pid, struct survivor **list, size_t *n)
{
	struct survivor *more = realloc(*list, (*n + 1) * sizeof(*more));

	if (!more)
		return -ENOMEM;
	*list = more;
	more[*n].pid = parse_pid(pid);
	more[*n].sid = getsid(more[*n].pid);
	read_name(proc_fd, pid, more[*n].name);
	(*n)++;
	return 0;
}

static int scan(DIR *proc, const char *entry, pid_t except, struct survivor **list, size_t *n)
{
	struct dirent *e;
	int r = 0;

	while (r == 0 && (e = readdir(proc))) {
		pid_t pid = parse_pid(e->d_name);

		if (pid > 0 && pid != except && pid != getpid() &&
		    belongs_to(dirfd(proc), e->d_name, entry))
			r = add_survivor(dirfd(proc), e->d_name, list, n);
	}
	return r;
}

int launch_survivors(const char *session_path, pid_t except, struct survivor **ret_list,
		     size_t *ret_n)
{
	_cleanup_(freep) struct survivor *list = NULL;
	_cleanup_(freep) char *entry = NULL;
	DIR *proc = opendir("/proc");
	size_t n = 0;
	int r;

	if (!proc)
		return -errno;
	if (asprintf(&entry, "%s=%s", CONTROL_ENV, session_path) < 0) {
		entry = NULL;
		r = -ENOMEM;
	} else {
		r = scan(proc, entry, except, &list, &n);
	}
	closedir(proc);
	if (r < 0)
		return r;
	*ret_list = list;
	*ret_n = n;
	list = NULL;
	return 0;
}
