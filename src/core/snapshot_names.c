/* SPDX-License-Identifier: MIT */
/* Names as they are shown. */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "base/buf.h"
#include "base/shown.h"
#include "base/util.h"
#include "core/snapshot_impl.h"

static const char *name_process(const struct session *s, uint32_t process, char *out, size_t size)
{
	const struct session_process *p = &s->processes[process];
	const char *exe = session_text(s, p->exe);
	char rank[24] = "", pid[24] = "";

	if (p->rank >= 0)
		snprintf(rank, sizeof(rank), "rank %d ", p->rank);
	if (p->pid)
		snprintf(pid, sizeof(pid), "pid %u ", p->pid);
	snprintf(out, size, "%s%s%s", rank, pid, *exe || p->pid ? exe : "process");
	return out;
}

static void name_device(const struct session *s, uint32_t device, char *out, size_t size)
{
	const char *name = session_text(s, s->devices[device].name);
	char word[DEVICE_WORD];

	session_device_word(s, device, word);
	snprintf(out, size, "%s%s%s", word, *name ? " " : "", name);
}

/* What a program gave a scope whose work ran in several groups stands with the host's. */
static const char *beside_host(const struct snapshot *snap)
{
	if (!snap->view.n_loose || snap->view.n_groups < 3)
		return "";
	return snap->spec.group == GROUP_STREAM ? " or several streams" : " or several devices";
}

/* A group is named after the process, device, stream or thread of one of its lanes. */
static const char *name_group(struct snapshot *snap, uint32_t id)
{
	const struct session *s = snap->s;
	const struct group_entry *g = view_group_of(snap, id);
	const struct session_lane *l = g && g->lane < s->n_lanes ? &s->lanes[g->lane] : NULL;
	uint8_t kind = snap->view.nodes[id].kind;
	char name[256] = "(not known)", part[160], stream[STREAM_WORD];
	_cleanup_(buf_done) struct buf shown = {0};

	if (l && kind == FRAME_PROCESS && l->process < s->n_processes) {
		name_process(s, l->process, name, sizeof(name));
	} else if (l && kind == FRAME_THREAD && l->thread) {
		snprintf(name, sizeof(name), "thread %llu", (unsigned long long)l->thread);
	} else if (l && kind != FRAME_THREAD && l->device < s->n_devices) {
		name_device(s, l->device, part, sizeof(part));
		if (kind == FRAME_DEVICE)
			snprintf(name, sizeof(name), "%s", part);
		else
			snprintf(name, sizeof(name), "%s %s", part,
				 session_stream_word(l->stream, stream));
	} else if (l && l->device == SESSION_NONE) {
		snprintf(name, sizeof(name), "host%s", beside_host(snap));
	}
	shown_put(&shown, name, strlen(name));
	return strtab_str(snap->group_names, strtab_adds(snap->group_names, buf_str(&shown)));
}

const char *snapshot_name(struct snapshot *snap, uint32_t id, enum name_mode mode)
{
	uint32_t node = snap->view.nodes[id].session_node;

	return node == SESSION_NONE ? name_group(snap, id)
				    : frame_names_get(snap->frame_names, node, mode);
}

bool snapshot_any_name(struct snapshot *snap, uint32_t id,
		       bool (*test)(const char *name, const void *ctx), const void *ctx)
{
	const char *before = NULL;
	uint32_t node = snap->view.nodes[id].session_node;

	if (snap->spec.all_forms && node != SESSION_NONE)
		return frame_names_any(snap->frame_names, node, test, ctx);
	for (int mode = NAME_N; mode-- > 0;) {
		const char *name = snapshot_name(snap, id, (enum name_mode)mode);

		if (before && !strcmp(name, before))
			continue;
		if (test(name, ctx))
			return true;
		before = name;
	}
	return false;
}

bool snapshot_could_be(const struct snapshot *snap, uint32_t id, const char *text)
{
	uint32_t node = snap->view.nodes[id].session_node;

	return snap->spec.all_forms && node != SESSION_NONE &&
	       frame_names_could_be(snap->frame_names, node, text);
}

bool snapshot_has_forms(const struct snapshot *snap)
{
	return frame_names_has_forms(snap->frame_names);
}

uint32_t snapshot_function(const struct snapshot *snap, uint32_t frame)
{
	return frame_names_function(snap->frame_names, frame);
}

int names_init(struct snapshot *snap)
{
	snap->frame_names = frame_names_new(snap->s, snap->spec.naming, true);
	snap->group_names = strtab_new();
	return snap->frame_names && snap->group_names ? 0 : -ENOMEM;
}

void names_done(struct snapshot *snap)
{
	frame_names_free(snap->frame_names);
	strtab_free(snap->group_names);
}
