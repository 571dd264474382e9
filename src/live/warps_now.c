/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "live/warps_now.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/hash.h"
#include "base/named_file.h"
#include "base/util.h"
#include "intra/warp_file.h"
#include "live/kept_warps.h"

#define HEAD_MOST   ((size_t)1 << 20)   /* bytes before a launch: names */
#define FILE_MOST   ((size_t)256 << 20) /* of a launch that is looked at: ten million scopes */
#define FILES_MOST  16384               /* launches that are listed */
#define NOT_IN_LIST SIZE_MAX

struct kept {
	char *name;
	uint64_t id;
	bool is_there; /* its file */
};

struct warps_now {
	struct warp_source source;
	char *session;
	struct warp_trace list;
	struct kept *kept; /* by launch of the list */
	size_t cap;
	struct warp_trace shown;
	size_t shown_launch; /* of the list; NOT_IN_LIST: none is loaded */
};

static struct warps_now *of(struct warp_source *s)
{
	return (struct warps_now *)s; /* its first member */
}

/* ---- a file ---- */

struct reading {
	int fd;
	size_t left; /* so much of it is read */
};

static ssize_t read_some(void *ctx, void *data, size_t n)
{
	struct reading *r = ctx;
	ssize_t got;

	n = MIN(n, r->left);
	do
		got = n ? read(r->fd, data, n) : 0;
	while (got < 0 && errno == EINTR);
	if (got > 0)
		r->left -= (size_t)got;
	return got < 0 ? -errno : got;
}

/* The program could put anything there. A negative errno. */
static int open_file(const struct warps_now *w, const char *name, struct stat *ret)
{
	_cleanup_(closep) int folder = open(w->session, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return folder < 0 ? -errno : regular_openat(folder, name, O_RDONLY | O_NOFOLLOW, ret);
}

/* ---- the list ---- */

static uint64_t id_of(const struct warp_source *s, size_t launch)
{
	return ((const struct warps_now *)s)->kept[launch].id;
}

/* What a file is of, at the end of the list. What has no launch, or is not whole, is left out. */
static void add_file(struct warps_now *w, const char *name)
{
	struct warp_trace *t = &w->list;
	size_t before = t->n_launches;
	_cleanup_(closep) int fd = open_file(w, name, NULL);
	struct reading reading = {.fd = fd, .left = HEAD_MOST};
	uint64_t n_warps;
	char *copy;

	if (fd < 0 || before >= FILES_MOST || ARRAY_ROOM(w->kept, w->cap, before + 1) < 0)
		return;
	copy = strdup(name);
	if (!copy || warp_file_head(read_some, &reading, t, &n_warps) < 0) {
		free(copy);
		t->n_launches = before;
		return;
	}
	t->launches[before].n_warps = n_warps;
	w->kept[before] = (struct kept){copy, hash_bytes(name, strlen(name)), true};
	w->source.generation++;
}

/* The one that is looked at stays. */
static void drop_gone(struct warps_now *w)
{
	size_t n = 0;

	for (size_t i = 0; i < w->list.n_launches; i++) {
		if (!w->kept[i].is_there && i != w->shown_launch) {
			free(w->kept[i].name);
			w->source.generation++;
			continue;
		}
		if (i == w->shown_launch)
			w->shown_launch = n;
		w->list.launches[n] = w->list.launches[i];
		w->kept[n++] = w->kept[i];
	}
	w->list.n_launches = n;
}

/* Of n names in their order, NULL: taken. */
static size_t find_name(struct dirent **entries, size_t n, const char *name)
{
	size_t low = 0;

	BISECT(low, n, i, strverscmp(entries[i]->d_name, name) < 0)
	return low < n && !strcmp(entries[low]->d_name, name) ? low : n;
}

static void compare(struct warps_now *w, struct dirent **entries, size_t n, bool *is_known)
{
	w->list.n_left_out = 0; /* files that say it have no launch, and are read each time */
	for (size_t i = 0; i < w->list.n_launches; i++) {
		size_t at = find_name(entries, n, w->kept[i].name);

		w->kept[i].is_there = at < n;
		if (at < n)
			is_known[at] = true;
	}
	drop_gone(w);
	for (size_t i = 0; i < n; i++)
		if (!is_known[i])
			add_file(w, entries[i]->d_name);
}

static void look(struct warp_source *s)
{
	struct warps_now *w = of(s);
	struct dirent **entries;
	int n = scandir(w->session, &entries, kept_warps_is_file, versionsort);
	_cleanup_(freep) bool *is_known = n < 0 ? NULL : calloc((size_t)n + 1, sizeof(*is_known));

	if (is_known)
		compare(w, entries, (size_t)n, is_known);
	for (int i = 0; i < n; i++)
		free(entries[i]);
	if (n >= 0)
		free(entries);
}

/* ---- one launch ---- */

static int read_launch(const struct warps_now *w, const char *name, struct warp_trace *ret)
{
	struct stat st;
	_cleanup_(closep) int fd = open_file(w, name, &st);
	struct reading reading = {.fd = fd, .left = FILE_MOST};
	struct warp_file_end end;
	int r;

	if (fd < 0)
		return fd;
	if ((uint64_t)st.st_size > FILE_MOST)
		return -EFBIG;
	r = warp_file_read(read_some, &reading, ret, &end);
	return r == 0 && ret->n_launches == 0 ? -EBADMSG : r;
}

static int load(struct warp_source *s, size_t launch, const struct warp_trace **ret,
		size_t *ret_launch)
{
	struct warps_now *w = of(s);
	struct warp_trace t;
	int r;

	if (launch != w->shown_launch) {
		r = warp_trace_init(&t);
		if (r == 0)
			r = read_launch(w, w->kept[launch].name, &t);
		if (r < 0) {
			warp_trace_done(&t);
			return r;
		}
		warp_trace_done(&w->shown);
		w->shown = t;
		w->shown_launch = launch;
	}
	*ret = &w->shown;
	*ret_launch = 0;
	return 0;
}

/* ---- life ---- */

struct warps_now *warps_now_new(const char *session)
{
	struct warps_now *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->session = strdup(session);
	w->shown_launch = NOT_IN_LIST;
	w->source = (struct warp_source){.list = &w->list, .look = look, .load = load, .id = id_of};
	return w->session && warp_trace_init(&w->list) == 0 ? w : warps_now_free(w);
}

struct warps_now *warps_now_free(struct warps_now *w)
{
	if (!w)
		return NULL;
	for (size_t i = 0; i < w->list.n_launches; i++)
		free(w->kept[i].name);
	free(w->kept);
	free(w->session);
	warp_trace_done(&w->shown);
	warp_trace_done(&w->list);
	free(w);
	return NULL;
}

struct warp_source *warps_now_source(struct warps_now *w)
{
	return &w->source;
}
