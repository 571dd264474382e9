/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "live/kept_warps.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/named_file.h"
#include "base/util.h"
#include "format/out.h"
#include "format/write_file.h"
#include "intra/warp_file.h"

#define FILE_MOST ((size_t)1 << 31) /* of a launch: larger ones are no collector's */

struct copying {
	const char *session;
	char *const *names;
	size_t n;
	uint64_t tag;
	struct kept_warps_counts counts;
};

int kept_warps_is_file(const struct dirent *e)
{
	size_t len = strlen(e->d_name), suffix = strlen(WARP_FILE_SUFFIX);

	return len > suffix && !strcmp(e->d_name + len - suffix, WARP_FILE_SUFFIX);
}

/* ---- one file ---- */

struct reading {
	const struct buf *file;
	size_t at;
};

static ssize_t read_some(void *ctx, void *data, size_t n)
{
	struct reading *r = ctx;

	n = MIN(n, r->file->len - r->at);
	memcpy(data, r->file->data + r->at, n);
	r->at += n;
	return (ssize_t)n;
}

/* How much of it is whole; a negative errno: it is none. */
static int64_t count(const struct buf *file, struct kept_warps_counts *counts)
{
	struct reading reading = {.file = file};
	struct warp_file_end end;
	struct warp_trace trace;
	int r = warp_trace_init(&trace);

	if (r == 0)
		r = warp_file_read(read_some, &reading, &trace, &end);
	if (r == 0) {
		counts->n_launches += trace.n_launches;
		counts->n_warps += trace.n_warps;
		counts->n_scopes += trace.n_scopes;
		counts->n_left_out += end.n_lost_launches;
	}
	warp_trace_done(&trace);
	return r < 0 ? r : (int64_t)end.n_whole;
}

/* The program could put anything there: what is no file is not followed, and what is no such file is left out by who gets it. Its
 * collector removes what it does not keep any more: then nothing is read. */
static int read_file(const char *session, const char *name, struct buf *ret)
{
	_cleanup_(closep) int folder = open(session, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_(closep) int fd = regular_openat(folder, name, O_RDONLY | O_NOFOLLOW, NULL);

	buf_init(ret, FILE_MOST);
	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	return buf_read(ret, fd);
}

/* What one file alone is not fit for does not spoil the others. */
static bool is_of_file(int r)
{
	return r == -EBADMSG || r == -EFBIG;
}

static int copy_one(struct copying *c, const char *name, struct out *o)
{
	struct buf file;
	int64_t whole = read_file(c->session, name, &file);

	if (whole == 0 && file.len)
		whole = count(&file, &c->counts);
	if (whole > 0)
		out_put(o, file.data, (size_t)whole);
	buf_done(&file);
	return whole >= 0 || is_of_file((int)whole) ? o->error : (int)whole;
}

static int fill(struct out *o, void *ctx)
{
	struct copying *c = ctx;
	int r = 0;

	c->counts = (struct kept_warps_counts){0};
	for (size_t i = 0; i < c->n && r == 0; i++)
		r = copy_one(c, c->names[i], o);
	return r == 0 && !c->counts.n_launches && !c->counts.n_left_out ? -ENODATA : r;
}

/* ---- all ---- */

/* What a run before has left, if it is that. */
static int remove_old(const char *path)
{
	_cleanup_(closep) int fd = regular_open(path, O_RDONLY, NULL);
	char head[sizeof(struct warp_file_piece)];
	ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof(head));

	if (n < (ssize_t)sizeof(head) || !warp_file_detect(head, sizeof(head)))
		return 0;
	return unlink(path) < 0 ? -errno : 0;
}

/* Nobody has named it: a FIFO of which nobody reads, or a device, is not for us. */
static int check_path(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0 || S_ISREG(st.st_mode))
		return 0;
	return S_ISDIR(st.st_mode) ? -EISDIR : -EEXIST;
}

static int write_all(struct copying *c, const char *profile)
{
	_cleanup_(freep) char *path = warp_file_beside(profile);
	int r;

	if (!path)
		return -ENOMEM;
	if (!strcmp(path, profile)) /* that is called so */
		return -EEXIST;
	r = c->n ? check_path(path) : -ENODATA;
	if (r == 0)
		r = write_file_tagged(path, c->tag, fill, c);
	return r == -ENODATA ? remove_old(path) : r;
}

void kept_warps_forget(const char *profile)
{
	_cleanup_(freep) char *path = warp_file_beside(profile);

	if (path && strcmp(path, profile) != 0)
		(void)remove_old(path);
}

static int copy(struct copying *c, const char *profile, struct kept_warps_counts *ret)
{
	int r = write_all(c, profile);

	if (r == 0)
		*ret = c->counts;
	return r;
}

int kept_warps_copy_some(const char *session, char *const *names, size_t n, const char *profile,
			 struct kept_warps_counts *ret)
{
	struct copying c = {.session = session, .names = names, .n = n};

	return copy(&c, profile, ret);
}

static void free_entries(struct dirent **entries, int n)
{
	for (int i = 0; i < n; i++)
		free(entries[i]);
	free(entries);
}

int kept_warps_copy(const char *session, const char *profile, uint64_t tag,
		    struct kept_warps_counts *ret)
{
	struct copying c = {.session = session, .tag = tag};
	_cleanup_(freep) char **names = NULL;
	struct dirent **entries;
	int n = scandir(session, &entries, kept_warps_is_file, versionsort), r;

	if (n < 0)
		return -errno;
	names = malloc(((size_t)n + 1) * sizeof(*names));
	for (int i = 0; names && i < n; i++)
		names[i] = entries[i]->d_name;
	c.names = names;
	c.n = (size_t)n;
	r = names ? copy(&c, profile, ret) : -ENOMEM;
	free_entries(entries, n);
	return r;
}

static int read_one(const char *session, const char *name, struct warp_trace *t)
{
	struct warp_file_end end;
	struct buf file;
	int r = read_file(session, name, &file);

	if (r == 0 && file.len)
		r = warp_file_read(read_some, &(struct reading){.file = &file}, t, &end);
	buf_done(&file);
	return is_of_file(r) ? 0 : r;
}

int kept_warps_read(const char *session, struct warp_trace *t)
{
	struct dirent **entries;
	int n = scandir(session, &entries, kept_warps_is_file, versionsort), r = 0;

	if (n < 0)
		return -errno;
	for (int i = 0; i < n && r == 0; i++)
		r = read_one(session, entries[i]->d_name, t);
	free_entries(entries, n);
	return r;
}

static uint64_t entry_generation(int folder, const char *name)
{
	struct stat st;

	if (folder < 0 || fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	return hash_u64((uint64_t)st.st_ino ^
			hash_u64((uint64_t)st.st_size ^
				 hash_u64((uint64_t)st.st_mtim.tv_sec * NSEC_PER_SEC +
					  (uint64_t)st.st_mtim.tv_nsec)));
}

uint64_t kept_warps_generation(const char *session)
{
	_cleanup_(closep) int folder = open(session, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct dirent **entries;
	int n = scandir(session, &entries, kept_warps_is_file, versionsort);
	uint64_t generation = 0;

	if (n < 0)
		return 0;
	for (int i = 0; i < n; i++)
		generation = hash_u64(generation + entry_generation(folder, entries[i]->d_name));
	free_entries(entries, n);
	return generation;
}
