/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "cmd/load.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/buf.h"
#include "base/util.h"
#include "cmd/commands.h"
#include "core/fold.h"
#include "core/graph_shares.h"
#include "core/in_view.h"
#include "core/merge.h"
#include "core/native.h"
#include "core/pair.h"
#include "format/annotations.h"
#include "format/format.h"
#include "live/kept_code.h"
#include "naming/code_lines.h"
#include "report/progress.h"

/* What became of a session, which is freed: r is 0, or says why nothing did. */
static struct session *replace(struct session *s, struct session *by, int r, const char *path,
			       const char *what, struct buf *why)
{
	if (r == -ENOMEM)
		buf_puts(why, "out of memory");
	else if (r < 0)
		buf_printf(why, "%s: its %s: %s", path, what, strerror(-r));
	session_free(s);
	return r < 0 ? NULL : by;
}

static struct session *read_beside(const char *path, const struct format_beside *beside,
				   struct buf *why)
{
	struct format_error error = {0};
	struct session *s = NULL;

	if (format_load_beside(path, beside, &s, &error) < 0)
		format_error_line(&error, path, why);
	return s;
}

/* Of code that was sampled a tape has addresses; its lines are in what is kept beside it. */
static struct session *read_quietly(const char *path, struct buf *why)
{
	_cleanup_(freep) char *folder = NULL;
	struct native_namer namer = {.lines = code_lines_find};
	struct session *s;

	if (asprintf(&folder, "%s" KEPT_CODE_SUFFIX, path) < 0)
		folder = NULL;
	namer.lines_ctx = folder ? code_lines_new(folder) : NULL;
	s = read_beside(path, &(struct format_beside){.namer = namer.lines_ctx ? &namer : NULL},
			why);
	code_lines_free(namer.lines_ctx);
	return s;
}

/* A FIFO without a writer would be waited for, and a device does not end. */
static bool is_special(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

static void put_special(const char *path, const char *what, struct buf *why)
{
	buf_printf(why, "%s: a pipe or a device: %s of graphs are read from a file", path, what);
}

static struct session *read_regular(const char *path, struct buf *why)
{
	if (!is_special(path))
		return read_quietly(path, why);
	put_special(path, "shares", why);
	return NULL;
}

static struct graph_shares *read_shares(const char *path, struct buf *why)
{
	struct session *s = read_regular(path, why);
	struct graph_shares *g = NULL;
	int r = s ? graph_shares_new(s, path, &g) : 0;

	if (r == -ENODATA)
		buf_printf(
			why,
			"%s: has no times of nodes of CUDA graphs: 'proton record --graphs nodes' "
			"makes such a profile",
			path);
	else if (r < 0)
		buf_printf(why, "%s: %s", path, strerror(-r));
	if (r < 0)
		session_free(s);
	return g;
}

struct graph_shares *load_graph_shares(const char *path)
{
	_cleanup_(buf_done) struct buf why = {0};
	struct graph_shares *g = NULL;

	if (!strcmp(path, "-"))
		buf_puts(&why, "-: standard input is the program's");
	else
		g = read_shares(path, &why);
	if (!g)
		complain("--graph-shares: %s", buf_str(&why));
	return g;
}

/* Graphs of a session that was read get their shares. NULL: `why` says why not. Steals it. */
static struct session *join_graphs(struct session *s, const char *path, struct buf *why)
{
	struct graph_shares *g = read_shares(path, why);
	int r = g ? graph_shares_settle(g, s) : -ECANCELED;

	if (r == -ENOMEM)
		buf_puts(why, "out of memory");
	graph_shares_free(g);
	return r < 0 ? session_free(s) : s;
}

static struct annotations *read_annotations(const char *path, struct buf *why)
{
	struct format_error error = {0};
	struct annotations *a = NULL;

	if (strcmp(path, "-") && is_special(path))
		put_special(path, "annotations", why);
	else if (annotations_load(path, &a, &error) < 0)
		format_error_line(&error, path, why);
	return a;
}

/* A trace, joined with what a file says of its nodes. NULL: `why` says why not. */
static struct session *read_annotated(const char *path, const char *annotations, struct buf *why)
{
	_cleanup_(annotations_freep) struct annotations *a = read_annotations(annotations, why);

	return a ? read_beside(path, &(struct format_beside){.annotations = a}, why) : NULL;
}

/* Of a session that was read, or NULL, what was asked for; NULL: `why` says why not. Steals it. */
static struct session *make_of(struct session *s, const char *path, const struct loading *how,
			       struct buf *why)
{
	struct session *next = NULL;
	int r;

	if (s && how->graph_shares)
		s = join_graphs(s, how->graph_shares, why);
	if (s && how->fold_numbers) {
		r = session_fold_numbers(s, &next);
		s = replace(s, next, r, path, "names cannot be folded", why);
	}
	if (s && how->contexts != CONTEXTS_ALL) {
		r = session_in_view(s, how->contexts, &next);
		s = replace(s, next, r, path, "contexts cannot be left out", why);
	}
	return s;
}

struct session *load_quietly(const char *path, const struct loading *how, struct buf *why)
{
	return make_of(read_quietly(path, why), path, how, why);
}

/* `s`, or a line that says why there is none. */
static struct session *or_complain(struct session *s, struct buf *why)
{
	if (!s)
		complain("%s", buf_str(why));
	return s;
}

struct session *load_file(const char *path, const struct loading *how)
{
	_cleanup_(buf_done) struct buf why = {0};

	return or_complain(load_quietly(path, how, &why), &why);
}

static struct session *load_annotated(char *const *paths, int n, const struct loading *how)
{
	_cleanup_(buf_done) struct buf why = {0};
	struct session *s;

	if (n != 1) {
		complain(
			"--graph-annotations are of one process, and there are %d files: join each "
			"with its own ('proton export'), then all of them",
			n);
		return NULL;
	}
	s = read_annotated(paths[0], how->graph_annotations, &why);
	return or_complain(make_of(s, paths[0], how, &why), &why);
}

/* Add a file to what is merged. 0 or -errno, and a line on stderr says why. */
static int load_into(struct merge *m, const char *path, const struct loading *how)
{
	static const struct loading plain;
	struct merge_options options;
	char name[PATH_MAX];
	struct session *s = load_file(path, &plain); /* they fold when they are one */
	int r;

	if (!s)
		return -ECANCELED;
	merge_guess(path, name, sizeof(name), &options);
	r = merge_add(m, s, &options);
	if (r == 0 && how->merged)
		how->merged(how->merged_ctx, path, s, &options);
	session_free(s);
	if (r == -EEXIST)
		complain("%s: holds a process that an earlier file has already", path);
	else if (r < 0)
		complain("%s: cannot be merged: %s", path, strerror(-r));
	return r;
}

/* Is this a second "-"? Standard input can be read once. */
static bool is_stdin_again(char *const *paths, int i)
{
	if (strcmp(paths[i], "-") != 0)
		return false;
	for (int k = 0; k < i; k++)
		if (!strcmp(paths[k], "-")) {
			complain("standard input can be read once: '-' is there twice");
			return true;
		}
	return false;
}

/* A file that is refused has changed nothing, so what was merged before remains good. */
static int merge_files(struct merge *m, char *const *paths, int n, struct loading *how)
{
	struct progress progress = {.what = "reading files", .n = (uint64_t)n};
	int i, r = 0;

	for (i = 0; i < n; i++) {
		progress_at(&progress, (uint64_t)i);
		r = is_stdin_again(paths, i) ? -EINVAL : load_into(m, paths[i], how);
		how->n_failed += r < 0;
		if (r == 0 && !how->first)
			how->first = paths[i];
		if (r == -ENOMEM || (r < 0 && !how->keep_going))
			break;
	}
	progress_done(&progress);
	if (i < n)
		return r;
	return how->first ? 0 : -ENODATA;
}

struct session *load_merged(char *const *paths, int n, struct loading *how)
{
	_cleanup_(merge_freep) struct merge *m = NULL;
	_cleanup_(buf_done) struct buf why = {0};
	struct session *s = session_new();

	m = s ? merge_new(s) : NULL;
	if (!m) {
		complain("out of memory");
		return session_free(s);
	}
	if (merge_files(m, paths, n, how) < 0)
		return session_free(s);
	return or_complain(make_of(s, "what was merged", how, &why), &why);
}

struct session *load_files(char *const *paths, int n, struct loading *how)
{
	if (how->graph_annotations)
		return load_annotated(paths, n, how);
	return n == 1 ? load_file(paths[0], how) : load_merged(paths, n, how);
}

static int pair_up(struct loaded *l, const struct session *s, const char *before, enum group group,
		   const struct loading *how)
{
	_cleanup_(session_freep) struct session *other = load_file(before, how);
	struct session *sides[PAIR_N];

	if (!other)
		return -ECANCELED;
	if (pair_make_grouped(other, s, group, sides) < 0) {
		complain("out of memory");
		return -ENOMEM;
	}
	*l = (struct loaded){.s = sides[PAIR_AFTER], .before = sides[PAIR_BEFORE]};
	return 0;
}

int loaded_open(struct loaded *l, char *const *paths, int n, const char *before, enum group group,
		struct loading *how)
{
	struct session *s = load_files(paths, n, how);
	int r;

	*l = (struct loaded){.s = s};
	if (!s)
		return -ECANCELED;
	if (!before)
		return 0;
	*l = (struct loaded){NULL, NULL};
	r = pair_up(l, s, before, group, how);
	session_free(s);
	return r;
}

void loaded_close(struct loaded *l)
{
	l->s = session_free(l->s);
	l->before = session_free(l->before);
}
