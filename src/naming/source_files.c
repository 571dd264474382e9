/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "naming/source_files.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/named_file.h"
#include "base/util.h"

enum { FILES_MAX = 1024, FOLDERS_MAX = 64, PARTS_MAX = 64, FILE_MAX = 16 << 20 };

/* Of all files together. */
#define READ_MAX (UINT64_C(256) << 20)

struct file {
	char *name; /* as the profile has it */
	char *text; /* NULL: it is not to be had */
	size_t len;
	size_t *lines; /* where each begins */
	size_t n, cap;
	uint64_t changed_ns;
};

struct source_files {
	struct file files[FILES_MAX];
	char *folders[FOLDERS_MAX];
	size_t n_files, n_folders;
	uint64_t n_read;
};

struct source_files *source_files_new(void)
{
	return calloc(1, sizeof(struct source_files));
}

struct source_files *source_files_free(struct source_files *f)
{
	if (!f)
		return NULL;
	for (size_t i = 0; i < f->n_files; i++) {
		free(f->files[i].name);
		free(f->files[i].text);
		free(f->files[i].lines);
	}
	for (size_t i = 0; i < f->n_folders; i++)
		free(f->folders[i]);
	free(f);
	return NULL;
}

int source_files_add_folder(struct source_files *f, const char *folder)
{
	char *copy = f->n_folders < FOLDERS_MAX ? strdup(folder) : NULL;

	if (!copy)
		return -ENOMEM;
	f->folders[f->n_folders++] = copy;
	return 0;
}

/* ---- reading ---- */

static void split(struct file *file)
{
	const char *at = file->text, *end = file->text + file->len;

	while (at && at < end) {
		if (ARRAY_ROOM(file->lines, file->cap, file->n + 1) < 0)
			return;
		file->lines[file->n++] = (size_t)(at - file->text);
		at = memchr(at, '\n', (size_t)(end - at));
		at = at ? at + 1 : NULL;
	}
}

/* What is too large, or no file, is none. */
static bool take(struct source_files *f, struct file *file, const char *path)
{
	struct stat st;
	_cleanup_(closep) int fd = regular_open(path, O_RDONLY, &st);
	ssize_t n = 1;

	if (fd < 0 || st.st_size > FILE_MAX || f->n_read + (uint64_t)st.st_size > READ_MAX)
		return false;
	file->text = malloc((size_t)st.st_size + 1);
	if (!file->text)
		return false;
	while (n > 0 && file->len < (size_t)st.st_size) {
		n = read(fd, file->text + file->len, (size_t)st.st_size - file->len);
		file->len += n > 0 ? (size_t)n : 0;
	}
	f->n_read += file->len;
	file->changed_ns =
		(uint64_t)st.st_mtim.tv_sec * NSEC_PER_SEC + (uint64_t)st.st_mtim.tv_nsec;
	split(file); /* without memory it has the lines that there was some for */
	return true;
}

/* Below a folder: all of the path that it was compiled at, then ever less of its beginning. */
static bool take_below(struct source_files *f, struct file *file, const char *folder)
{
	const char *rest = file->name;
	char *path;
	bool found = false;

	for (int i = 0; rest && !found && i < PARTS_MAX; i++) {
		rest += strspn(rest, "/");
		if (asprintf(&path, "%s/%s", folder, rest) < 0)
			return false;
		found = take(f, file, path);
		free(path);
		rest = strchr(rest, '/');
	}
	return found;
}

static void search(struct source_files *f, struct file *file)
{
	bool found = file->name[0] == '/' && take(f, file, file->name);

	for (size_t i = 0; !found && i < f->n_folders; i++)
		found = take_below(f, file, f->folders[i]);
}

/* Read when it is first asked for. NULL: there are too many, or no memory. */
static const struct file *file_of(struct source_files *f, const char *name, size_t len)
{
	struct file *file;

	for (size_t i = 0; i < f->n_files; i++)
		if (!strncmp(f->files[i].name, name, len) && !f->files[i].name[len])
			return &f->files[i];
	if (f->n_files == FILES_MAX)
		return NULL;
	file = &f->files[f->n_files];
	file->name = strndup(name, len);
	if (!file->name)
		return NULL;
	f->n_files++;
	search(f, file);
	return file;
}

/* ---- lines ---- */

struct source_text source_files_line(struct source_files *f, const char *name, size_t name_len,
				     uint32_t line)
{
	const struct file *file = file_of(f, name, name_len);
	size_t begin, end;

	if (!file || !line || line > file->n)
		return (struct source_text){NULL, 0};
	begin = file->lines[line - 1];
	end = line < file->n ? file->lines[line] : file->len;
	while (end > begin && (file->text[end - 1] == '\n' || file->text[end - 1] == '\r'))
		end--;
	return (struct source_text){file->text + begin, end - begin};
}

bool source_files_is_newer(struct source_files *f, const char *name, size_t name_len,
			   uint64_t than_ns)
{
	const struct file *file = file_of(f, name, name_len);

	return file && file->n && file->changed_ns > than_ns;
}
