/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/regroup.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/util.h"
#include "core/merge.h"

/* What the names of groups are made from. */
struct groups {
	const struct session *s;
	enum group group;
	uint32_t *top;       /* by view node: the group that it is in */
	uint32_t *lane;      /* by group: a lane of it, or SESSION_NONE */
	uint32_t *n_threads; /* by process, the last for none: threads that were named so far */
};

static void groups_done(struct groups *g)
{
	free(g->top);
	free(g->lane);
	free(g->n_threads);
}

static int groups_init(struct groups *g, const struct snapshot *view)
{
	uint32_t n = snapshot_n(view);

	*g = (struct groups){.s = snapshot_session(view), .group = snapshot_group(view)};
	g->top = malloc(MAX(n, 1u) * sizeof(*g->top));
	g->lane = malloc(MAX(n, 1u) * sizeof(*g->lane));
	g->n_threads = calloc(g->s->n_processes + 1, sizeof(*g->n_threads));
	if (!g->top || !g->lane || !g->n_threads)
		return -ENOMEM;
	memset(g->lane, 0xff, n * sizeof(*g->lane));
	for (uint32_t id = 0; id < n; id++) {
		uint32_t parent = snapshot_node(view, id)->parent;

		g->top[id] = parent == SNAP_NONE || parent == 0 ? id : g->top[parent];
	}
	for (size_t row = 0; row < g->s->n_rows; row++) {
		uint32_t node = snapshot_row_node(view, row);

		if (node != SNAP_NONE)
			g->lane[g->top[node]] = g->s->rows[row].lane;
	}
	return 0;
}

static void put_process(const struct session *s, const struct session_lane *l, struct buf *out)
{
	unsigned number = 1;

	if (l->process < s->n_processes && s->processes[l->process].rank >= 0) {
		buf_printf(out, "rank %d", s->processes[l->process].rank);
		return;
	}
	for (uint32_t i = 0; i < l->process && i < s->n_processes; i++)
		number += s->processes[i].rank < 0;
	buf_printf(out, "process %u", l->process < s->n_processes ? number : 1);
}

/* Devices of the same word, such as those of two hosts, get a number each. */
static void put_device(const struct session *s, const struct session_lane *l, struct buf *out)
{
	unsigned number = 1;
	char word[DEVICE_WORD], other[DEVICE_WORD];

	if (l->device >= s->n_devices) {
		buf_puts(out, "host");
		return;
	}
	session_device_number(s, l->device, word);
	for (uint32_t i = 0; i < l->device; i++) {
		session_device_number(s, i, other);
		number += !strcmp(word, other);
	}
	buf_puts(out, word);
	if (number > 1)
		buf_printf(out, " (%u)", number);
}

/* Groups are named in the order of their nodes, each once. */
static void put_thread(struct groups *g, const struct session_lane *l, struct buf *out)
{
	size_t process = MIN((size_t)l->process, g->s->n_processes);

	buf_printf(out, "thread %u", ++g->n_threads[process]);
}

static void group_name(void *ctx, uint32_t id, char *out, size_t size)
{
	struct groups *g = ctx;
	const struct session_lane *l = session_lane_at(g->s, g->lane[id]);
	char stream[STREAM_WORD];
	_cleanup_(buf_done) struct buf name = {.max = size};

	if (g->group == GROUP_PROCESS || (g->group != GROUP_DEVICE && g->s->n_processes > 1))
		put_process(g->s, l, &name);
	if (name.len && g->group != GROUP_PROCESS)
		buf_putc(&name, ' ');
	if (g->group == GROUP_DEVICE || g->group == GROUP_STREAM)
		put_device(g->s, l, &name);
	if (g->group == GROUP_STREAM && l->device < g->s->n_devices)
		buf_printf(&name, " %s", session_stream_word(l->stream, stream));
	if (g->group == GROUP_THREAD)
		put_thread(g, l, &name);
	snprintf(out, size, "%s", buf_str(&name));
}

static int regroup(struct session *out, struct snapshot *view)
{
	_cleanup_(merge_freep) struct merge *m = merge_new(out);
	struct groups groups;
	int r;

	if (!m)
		return -ENOMEM;
	r = groups_init(&groups, view);
	if (r == 0)
		r = merge_add_view(m, view, group_name, &groups);
	groups_done(&groups);
	return r;
}

struct session *session_regroup(const struct session *s, enum group group)
{
	const struct snapshot_spec spec = {.group = group, .keep_metadata = true};
	struct snapshot *view = snapshot_new(s, &spec);
	struct session *out = session_new();
	int r = view && out ? regroup(out, view) : -ENOMEM;

	snapshot_free(view);
	if (r < 0)
		return session_free(out);
	out->ended = s->ended;
	return out;
}
