/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/complete.h"
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/util.h"

/* A name that is being typed: its folder, and the beginning of the name in it. */
struct typed {
	char folder[PATH_MAX];
	const char *name;
	size_t len;
};

/* "~/" is the home folder, as in a shell. False: the path is too long. */
static bool split(struct typed *x, const char *text, size_t len)
{
	const char *slash = memrchr(text, '/', len), *home = getenv("HOME");
	size_t n = slash ? (size_t)(slash - text) + 1 : 0;
	int r;

	x->name = text + n;
	x->len = len - n;
	if (n == 0)
		r = snprintf(x->folder, sizeof(x->folder), "./");
	else if (text[0] == '~' && text[1] == '/' && home)
		r = snprintf(x->folder, sizeof(x->folder), "%s%.*s", home, (int)n - 1, text + 1);
	else
		r = snprintf(x->folder, sizeof(x->folder), "%.*s", (int)n, text);
	return r < (int)sizeof(x->folder);
}

/* Hidden ones only where the dot was typed. */
static bool begins_so(const struct typed *x, const char *name)
{
	return !strncmp(name, x->name, x->len) && (*name != '.' || x->len > 0) &&
	       strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

static size_t common_length(const char *a, const char *b)
{
	size_t n = 0;

	while (a[n] && a[n] == b[n])
		n++;
	while (n > 0 && ((unsigned char)a[n] & 0xc0) == 0x80) /* whole characters only */
		n--;
	return n;
}

static bool is_folder(const struct typed *x, const char *name)
{
	char path[2 * PATH_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "%s%s", x->folder, name);
	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* As many as there is room for. */
static void note_names(struct dirent **entries, int n, char *note, size_t size)
{
	size_t len = 0;

	for (int i = 0; i < n && len < size; i++)
		len += (size_t)snprintf(note + len, size - len, "%s%s", i ? " " : "",
					entries[i]->d_name);
}

/* The entries that begin so, in order, at the front of the list; how many. */
static int keep_matching(const struct typed *x, struct dirent **entries, int n)
{
	int kept = 0;

	for (int i = 0; i < n; i++)
		if (begins_so(x, entries[i]->d_name)) {
			struct dirent *entry = entries[i];

			entries[i] = entries[kept];
			entries[kept++] = entry;
		}
	return kept;
}

void complete_path(const char *text, size_t len, struct buf *ret_rest, char *note, size_t note_size)
{
	struct dirent **entries = NULL;
	struct typed x;
	int n = split(&x, text, len) ? scandir(x.folder, &entries, NULL, alphasort) : -1;
	int kept = n > 0 ? keep_matching(&x, entries, n) : 0;
	size_t common;

	snprintf(note, note_size, kept ? "" : "no such file");
	if (kept) {
		common = common_length(entries[0]->d_name, entries[kept - 1]->d_name);
		buf_put(ret_rest, entries[0]->d_name + x.len, MAX(common, x.len) - x.len);
	}
	if (kept == 1 && is_folder(&x, entries[0]->d_name))
		buf_putc(ret_rest, '/');
	if (kept > 1)
		note_names(entries, kept, note, note_size);
	for (int i = 0; i < n; i++)
		free(entries[i]);
	free(entries);
}
