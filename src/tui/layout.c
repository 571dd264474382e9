/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/layout.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/named_file.h"
#include "tui/settings.h"

int layout_path(const char *dir, const char *name, struct buf *out)
{
	if (strchr(name, '/') || *name == '.')
		return -EINVAL;
	buf_printf(out, *name ? "%s/layouts/%s" : "%s/config%s", dir, name);
	return out->error;
}

/* A name that needs no quotes in a shell, and neither a hidden file nor a folder. */
static int is_layout(const struct dirent *entry)
{
	const char *c = entry->d_name;

	if (*c == '.' || *c == '-' || entry->d_type == DT_DIR)
		return 0;
	while (isalnum((unsigned char)*c) || (unsigned char)*c >= 0x80 ||
	       (*c && strchr("._-+@%,", *c)))
		c++;
	return *c == '\0';
}

int layout_list(const char *dir, struct buf *out)
{
	_cleanup_(freep) char *folder = NULL;
	struct dirent **entries = NULL;
	int n;

	if (asprintf(&folder, "%s/layouts", dir) < 0) {
		folder = NULL;
		return -ENOMEM;
	}
	n = scandir(folder, &entries, is_layout, alphasort);
	if (n < 0)
		return -errno;
	for (int i = 0; i < n; i++) {
		buf_printf(out, "%s\n", entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	return out->error;
}

int layout_read(const char *path, struct buf *out)
{
	/* A FIFO without a writer must not hold up the start. */
	_cleanup_(closep) int fd = input_open(path, 0);

	out->max = CONFIG_MAX;
	return fd < 0 ? fd : buf_read(out, fd);
}

/* Make the folders above a path. */
static int make_folders(char *path)
{
	for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		if (mkdir(path, 0700) < 0 && errno != EEXIST) {
			*slash = '/';
			return -errno;
		}
		*slash = '/';
	}
	return 0;
}

/* All or nothing: a full disk leaves the old file as it was. Its permissions stay the same. */
static int replace_file(const char *path, const struct buf *text)
{
	char temporary[PATH_MAX];
	struct stat old;
	int fd, r;

	if (snprintf(temporary, sizeof(temporary), "%s.XXXXXX", path) >= (int)sizeof(temporary))
		return -ENAMETOOLONG;
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = fd_write_all(fd, text->data, text->len);
	if (r == 0 && stat(path, &old) == 0 && fchmod(fd, old.st_mode & 0777) < 0)
		r = -errno;
	if (close(fd) < 0 && r == 0)
		r = -errno;
	if (r == 0 && rename(temporary, path) < 0)
		r = -errno;
	if (r < 0)
		unlink(temporary);
	return r;
}

int layout_save(const struct tui *t, const char *path)
{
	/* The file may be a link to where somebody keeps all of theirs. */
	_cleanup_(freep) char *real = realpath(path, NULL);
	struct buf old, text;
	int r;

	if (!real && errno == ENOENT)
		real = strdup(path);
	if (!real)
		return -errno;
	buf_init(&old, 0);
	buf_init(&text, 0);
	r = layout_read(real, &old);
	if (r == -ENOENT)
		r = make_folders(real);
	if (r == 0) {
		settings_write_layout(t, buf_str(&old), old.len, &text);
		r = text.error ? text.error : replace_file(real, &text);
	}
	buf_done(&old);
	buf_done(&text);
	return r;
}
