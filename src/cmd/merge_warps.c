/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "cmd/merge_warps.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/hash.h"
#include "base/util.h"
#include "cmd/commands.h"
#include "cmd/warps.h"
#include "format/write_file.h"
#include "intra/warp_file.h"
#include "live/kept_warps.h"

/* ---- whose they are ---- */

/* Of several processes it is not known which one's they are; then they are the file's. */
static struct warp_trace_process process_of(const struct session *s,
					    const struct merge_options *options)
{
	const struct session_process *p = s->n_processes == 1 ? s->processes : NULL;
	struct warp_trace_process of = {
		.instance = hash_bytes(options->name, strlen(options->name)) | 1,
		.rank = options->rank};

	if (p && p->instance)
		of.instance = p->instance;
	if (p && p->rank >= 0)
		of.rank = p->rank;
	if (p)
		of.pid = p->pid;
	return of;
}

void merged_warps_add(void *ctx, const char *path, const struct session *s,
		      const struct merge_options *options)
{
	struct merged_warps *m = ctx;

	if (ARRAY_ROOM(m->files, m->cap, m->n + 1) == 0)
		m->files[m->n++] = (struct merged_file){path, process_of(s, options)};
	else
		complain("%s: its single scopes of warps are left out: out of memory", path);
}

void merged_warps_done(struct merged_warps *m)
{
	free(m->files);
}

/* 0 or -ENOMEM. */
static int say_whose(struct warp_trace *t, const struct warp_trace_process *process)
{
	uint32_t unsaid = 0;
	int r = 0;

	for (size_t i = 0; i < t->n_processes; i++)
		if (t->processes[i].rank < 0)
			t->processes[i].rank = process->rank;
	for (size_t i = 0; i < t->n_launches && r == 0; i++) {
		if (t->launches[i].process)
			continue;
		if (!unsaid)
			r = warp_trace_process(t, process, &unsaid);
		t->launches[i].process = unsaid;
	}
	return r;
}

/* ---- the file ---- */

struct joining {
	struct merged_warps *m;
	bool *has_none; /* by file */
	bool has_any;
};

static int put(void *ctx, const void *bytes, size_t n)
{
	out_put(ctx, bytes, n);
	return ((struct out *)ctx)->error;
}

static int write_trace(const struct warp_trace *t, struct out *o)
{
	struct warp_writer w = {.put = put, .ctx = o};
	int r = warp_writer_begin(&w);

	for (size_t i = 0; i < t->n_launches && r == 0; i++)
		r = warp_writer_launch(&w, t, i);
	if (r == 0 && t->n_left_out)
		r = warp_writer_lost(&w, t->n_left_out);
	warp_writer_done(&w);
	return r;
}

static int join_file(struct joining *j, size_t i, struct out *o)
{
	const struct merged_file *f = &j->m->files[i];
	bool has_failed; /* and that was said: the profiles are merged all the same */
	struct warp_trace *t = warps_open(f->path, &has_failed);
	int r = 0;

	j->has_none[i] = !t && !has_failed;
	if (!t)
		return 0;
	j->has_any = true;
	r = say_whose(t, &f->process);
	if (r == 0)
		r = write_trace(t, o);
	warps_close(t);
	return r;
}

/* -ENODATA: there is nothing to write. */
static int fill(struct out *o, void *ctx)
{
	struct joining *j = ctx;
	int r = 0;

	for (size_t i = 0; i < j->m->n && r == 0; i++)
		r = join_file(j, i, o);
	return r == 0 && !j->has_any ? -ENODATA : r;
}

static void tell_missing(const struct joining *j, const char *path)
{
	for (size_t i = 0; i < j->m->n; i++)
		if (j->has_none[i])
			complain("%s: has no single scopes of warps: none of its are in '%s'",
				 j->m->files[i].path, path);
}

static int join(struct joining *j, const char *path)
{
	int r = write_file_tagged(path, 0, fill, j);

	if (r == 0)
		tell_missing(j, path);
	else if (r == -ENODATA) /* what lies there is of what was merged before */
		kept_warps_forget(j->m->out);
	else
		complain("cannot write '%s': %s", path, strerror(-r));
	return r == -ENODATA ? 0 : r;
}

/* Beside what is no file there is no place for another. */
static bool is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && write_file_descriptor(path) < 0;
}

int merged_warps_save(struct merged_warps *m, const char *out)
{
	_cleanup_(freep) char *path = warp_file_beside(out);
	_cleanup_(freep) bool *has_none = calloc(m->n + 1, sizeof(*has_none));
	struct joining j = {.m = m, .has_none = has_none};

	if (!path || !has_none) {
		complain("out of memory");
		return -ENOMEM;
	}
	m->out = out;
	return is_file(out) && strcmp(path, out) != 0 ? join(&j, path) : 0;
}
