/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "cmd/kernel_files.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/util.h"
#include "images/vendors.h"

enum { DEPTH_MAX = 16 };

struct walk {
	size_t root; /* length of the folder's name, with the slash behind it */
	bool is_all;
	kernel_file_fn *see;
	void *arg;
	size_t n_left;
};

static int visit(struct walk *w, const char *path, int depth);

static int is_shown(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

static int visit_folder(struct walk *w, const char *path, int depth)
{
	struct dirent **entries;
	int n = scandir(path, &entries, is_shown, alphasort), r = 0;

	for (int i = 0; i < n; i++) {
		_cleanup_(freep) char *below = NULL;

		if (r == 0 && asprintf(&below, "%s/%s", path, entries[i]->d_name) < 0)
			r = -ENOMEM;
		r = r ? r : visit(w, below, depth + 1);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	return r;
}

/* Links are not followed: they may lead round. */
static int visit(struct walk *w, const char *path, int depth)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return 0; /* gone meanwhile */
	if (S_ISDIR(st.st_mode))
		return depth < DEPTH_MAX ? visit_folder(w, path, depth) : 0;
	if (!S_ISREG(st.st_mode))
		return 0;
	if (!w->is_all && image_is_vendors(path)) {
		w->n_left++;
		return 0;
	}
	return w->see(&(struct kernel_file){path, path + w->root, false}, w->arg);
}

int kernel_files_each(const char *path, bool is_all, kernel_file_fn *see, void *arg,
		      size_t *ret_n_left)
{
	const char *slash = strrchr(path, '/');
	struct walk w = {strlen(path) + 1, is_all, see, arg, 0};
	struct stat st;
	int r;

	if (stat(path, &st) < 0)
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return see(&(struct kernel_file){path, slash ? slash + 1 : path, true}, arg);
	r = visit_folder(&w, path, 0);
	if (ret_n_left)
		*ret_n_left = w.n_left;
	return r;
}

char *kernel_files_of_triton(void)
{
	const char *cache = getenv("TRITON_CACHE_DIR"), *home = getenv("TRITON_HOME");
	char *path;

	if (cache && *cache)
		return strdup(cache);
	home = home && *home ? home : getenv("HOME");
	return home && *home && asprintf(&path, "%s/.triton/cache", home) >= 0 ? path : NULL;
}
