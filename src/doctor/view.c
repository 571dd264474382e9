/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "doctor/view.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include "base/named_file.h"

enum { TEXT_MAX = 64 * 1024 };

static int below_root(const struct doctor_host *host, const char *path, char out[PATH_MAX])
{
	return snprintf(out, PATH_MAX, "%s%s", host->root, path) < PATH_MAX ? 0 : -ENAMETOOLONG;
}

int view_read(const struct doctor_host *host, const char *path, struct buf *text)
{
	char full[PATH_MAX], piece[4096];
	_cleanup_(closep) int fd = -1;
	ssize_t n;

	buf_clear(text);
	if (below_root(host, path, full) < 0)
		return -ENAMETOOLONG;
	fd = regular_open(full, O_RDONLY, NULL);
	if (fd < 0)
		return fd;
	while ((n = read(fd, piece, sizeof(piece))) > 0 && text->len < TEXT_MAX)
		buf_put(text, piece, (size_t)n);
	return n < 0 ? -errno : text->error;
}

int view_access(const struct doctor_host *host, const char *path, int mode)
{
	char full[PATH_MAX];

	if (below_root(host, path, full) < 0)
		return -ENAMETOOLONG;
	return access(full, mode) < 0 ? -errno : 0;
}

bool view_exists(const struct doctor_host *host, const char *path)
{
	return view_access(host, path, F_OK) == 0;
}

DIR *view_folder(const struct doctor_host *host, const char *path)
{
	char full[PATH_MAX];

	return below_root(host, path, full) < 0 ? NULL : opendir(full);
}

const char *view_line(const char *text, const char *key, struct buf *scratch)
{
	size_t key_len = strlen(key), len;

	for (const char *line = text; *line; line += len + (line[len] != '\0')) {
		const char *value, *end;

		len = strcspn(line, "\n");
		if (strncmp(line, key, key_len) != 0)
			continue;
		value = line + key_len;
		end = line + len;
		while (value < end && isspace((unsigned char)*value))
			value++;
		while (end > value && isspace((unsigned char)end[-1]))
			end--;
		buf_clear(scratch);
		buf_put(scratch, value, (size_t)(end - value));
		return buf_str(scratch);
	}
	return NULL;
}

const char *view_env(const struct doctor_host *host, const char *name)
{
	size_t len = strlen(name);

	for (char *const *v = host->env; *v; v++)
		if (!strncmp(*v, name, len) && (*v)[len] == '=')
			return *v + len + 1;
	return NULL;
}

const char *view_container(const struct doctor_host *host)
{
	static const struct {
		const char *path, *name;
	} marks[] = {
		{"/.dockerenv", "docker"},
		{"/run/.containerenv", "podman"},
		{"/.singularity.d", "apptainer"},
		{"/run/systemd/container", "a container"},
	};

	if (view_env(host, "KUBERNETES_SERVICE_HOST"))
		return "kubernetes";
	for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
		if (view_exists(host, marks[i].path))
			return marks[i].name;
	return view_env(host, "container") ? "a container" : NULL;
}
