/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "cmd/kernel_shadow.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/hash.h"
#include "base/shell.h"
#include "base/util.h"
#include "launch/target_env.h"
#include "launch/toolkit.h"

#define RULES_FILE "probe.rules"

/* What is put in place of, and what of ours goes there. */
struct tools {
	char *proton;
	char *triton, *blackwell; /* NULL: they are not here */
	char *toolkit;            /* the folder above nvcc's; NULL: it is not here */
};

/* ---- what is here ---- */

/* Two folders above a file, where no link leads there. */
static char *above_folder(const char *path)
{
	char *real = realpath(path, NULL), *slash;

	for (int i = 0; real && i < 2; i++) {
		slash = strrchr(real, '/');
		if (slash)
			*slash = '\0';
	}
	return real;
}

static char *find_toolkit(void)
{
	_cleanup_(freep) char *nvcc = toolkit_find("nvcc");
	char *root = nvcc ? above_folder(nvcc) : NULL, ptxas[PATH_MAX];

	if (!root)
		return NULL;
	snprintf(ptxas, sizeof(ptxas), "%s/bin/ptxas", root);
	if (access(ptxas, X_OK) == 0)
		return root;
	free(root);
	return NULL;
}

/* The user's own stays in use. */
static char *find_for_triton(const char *variable, const char *name, const char *python)
{
	const char *said = getenv(variable);

	return said && *said ? strdup(said) : toolkit_find_of_triton(name, python);
}

static void find_tools(const struct kernel_shadow_wish *wish, struct tools *ret)
{
	*ret = (struct tools){
		.proton = realpath("/proc/self/exe", NULL),
		.triton = find_for_triton("TRITON_PTXAS_PATH", "ptxas", wish->python),
		.blackwell = find_for_triton("TRITON_PTXAS_BLACKWELL_PATH", "ptxas-blackwell",
					     wish->python),
		.toolkit = find_toolkit(),
	};
}

static void tools_done(struct tools *t)
{
	free(t->proton);
	free(t->triton);
	free(t->blackwell);
	free(t->toolkit);
}

/* ---- its name ---- */

static uint64_t hash_text(uint64_t h, const char *text)
{
	text = text ? text : "";
	return stable_hash(h, text, strlen(text) + 1);
}

/* Another build of proton may insert other records. */
static uint64_t hash_of(const struct kernel_shadow_wish *wish, const struct tools *t)
{
	const char *const texts[] = {wish->rules, wish->mode,   t->proton,
				     t->triton,   t->blackwell, t->toolkit};
	uint64_t h = STABLE_HASH_BEGIN;
	struct stat st = {0};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		h = hash_text(h, texts[i]);
	if (t->proton && stat(t->proton, &st) == 0) {
		h = stable_hash(h, &st.st_size, sizeof(st.st_size));
		h = stable_hash(h, &st.st_mtim, sizeof(st.st_mtim));
	}
	return h;
}

static char *name_folder(uint64_t hash)
{
	const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char *path = NULL;
	int n = -1;

	if (xdg && *xdg == '/')
		n = asprintf(&path, "%s/proton/ptxas/%016" PRIx64, xdg, hash);
	else if (home && *home == '/')
		n = asprintf(&path, "%s/.cache/proton/ptxas/%016" PRIx64, home, hash);
	return n < 0 ? NULL : path;
}

/* ---- making it ---- */

/* Who makes the same beside us makes the same. */
static int make_folder(char *path)
{
	for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		(void)mkdir(path, 0777);
		*slash = '/';
	}
	return mkdir(path, 0777) < 0 && errno != EEXIST ? -errno : 0;
}

static int write_file(const char *folder, const char *name, const struct buf *text, mode_t mode)
{
	char path[PATH_MAX], beside[PATH_MAX + 16];
	_cleanup_(closep) int fd = -1;
	int r;

	if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	snprintf(beside, sizeof(beside), "%s.%d", path, (int)getpid());
	fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
	r = fd < 0 ? -errno : fd_write_all(fd, text->data, text->len);
	if (r == 0 && rename(beside, path) < 0)
		r = -errno;
	if (r < 0)
		(void)unlink(beside);
	return r;
}

static void put_argument(struct buf *out, const char *word)
{
	buf_putc(out, ' ');
	shell_put_quoted(out, word);
}

/* A ptxas that is ours, in front of the real one. */
static int write_ptxas(const char *folder, const char *name, const char *real,
		       const struct kernel_shadow_wish *wish, const char *proton, const char *rules,
		       bool in_place)
{
	_cleanup_(buf_done) struct buf text = {0};

	buf_puts(&text, "#!/bin/sh\nexec");
	put_argument(&text, proton);
	buf_puts(&text, " kernel ptxas --intra");
	put_argument(&text, rules);
	if (wish->mode) {
		buf_puts(&text, " --intra-mode");
		put_argument(&text, wish->mode);
	}
	if (in_place)
		buf_puts(&text, " --in-place");
	put_argument(&text, real);
	buf_puts(&text, " \"$@\"\n");
	return text.error ? text.error : write_file(folder, name, &text, 0777);
}

/* Links to all that is in a folder, but for one. */
static int link_all(const char *from, const char *to, const char *but)
{
	char old[PATH_MAX], new[PATH_MAX];
	DIR *d = opendir(from);
	struct dirent *e;
	int r = 0;

	if (!d)
		return -errno;
	while (r == 0 && (e = readdir(d))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") || !strcmp(e->d_name, but))
			continue;
		snprintf(old, sizeof(old), "%s/%s", from, e->d_name);
		snprintf(new, sizeof(new), "%s/%s", to, e->d_name);
		r = symlink(old, new) < 0 && errno != EEXIST ? -errno : 0;
	}
	closedir(d);
	return r;
}

/* nvcc looks for its tools beside the name that it was started by. */
static int make_toolkit(const char *folder, const struct tools *t,
			const struct kernel_shadow_wish *wish, const char *rules)
{
	char ours[PATH_MAX], bin[PATH_MAX], real_bin[PATH_MAX], real[PATH_MAX + 8];
	int r;

	snprintf(ours, sizeof(ours), "%s/toolkit", folder);
	snprintf(bin, sizeof(bin), "%s/toolkit/bin", folder);
	snprintf(real_bin, sizeof(real_bin), "%s/bin", t->toolkit);
	snprintf(real, sizeof(real), "%s/ptxas", real_bin);
	r = make_folder(bin);
	r = r < 0 ? r : link_all(t->toolkit, ours, "bin");
	r = r < 0 ? r : link_all(real_bin, bin, "ptxas");
	return r < 0 ? r : write_ptxas(bin, "ptxas", real, wish, t->proton, rules, true);
}

static int make_all(const struct tools *t, const struct kernel_shadow_wish *wish,
		    struct kernel_shadow *ret)
{
	const struct buf text = {.data = (char *)wish->rules, .len = strlen(wish->rules)};
	char rules[PATH_MAX];
	int r = make_folder(ret->folder);

	snprintf(rules, sizeof(rules), "%s/" RULES_FILE, ret->folder);
	r = r < 0 ? r : write_file(ret->folder, RULES_FILE, &text, 0666);
	if (r == 0 && t->triton)
		r = write_ptxas(ret->folder, "ptxas", t->triton, wish, t->proton, rules, false);
	if (r == 0 && t->blackwell)
		r = write_ptxas(ret->folder, "ptxas-blackwell", t->blackwell, wish, t->proton,
				rules, false);
	if (r == 0 && t->toolkit)
		r = make_toolkit(ret->folder, t, wish, rules);
	return r;
}

int kernel_shadow_make(const struct kernel_shadow_wish *wish, struct kernel_shadow *ret)
{
	struct tools t;
	int r;

	find_tools(wish, &t);
	*ret = (struct kernel_shadow){name_folder(hash_of(wish, &t)), t.triton, t.blackwell,
				      t.toolkit};
	if (!t.proton || !ret->folder || (!t.triton && !t.blackwell && !t.toolkit))
		r = -ENOENT;
	else
		r = make_all(&t, wish, ret);
	tools_done(&t);
	return r;
}

void kernel_shadow_done(struct kernel_shadow *shadow)
{
	free(shadow->folder);
	*shadow = (struct kernel_shadow){0};
}
