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

/* String id of a name as it is shown, or STRTAB_NONE where memory is out. */
static uint32_t intern_shown(struct snapshot *snap, const char *name)
{
	size_t len = strlen(name);
	_cleanup_(buf_done) struct buf shown = {0};

	if (shown_is_same(name, len))
		return strtab_adds(snap->names, name);
	shown_put(&shown, name, len);
	return shown.error ? STRTAB_NONE : strtab_adds(snap->names, buf_str(&shown));
}

/* Instead of a string id: the name is shown as the session has it. Saves copies of most names. */
#define AS_IT_IS (UINT32_MAX - 1)

/* String id of a name, AS_IT_IS, or 0 where memory is out. */
static uint32_t name_make(struct snapshot *snap, uint32_t session_node, enum name_mode mode)
{
	const struct session_frame *f = &snap->s->frames[snap->s->nodes[session_node].frame];
	const char *raw = session_node_name(snap->s, session_node);
	bool interned = f->symbol || f->module == SESSION_NONE;
	char *nice = NULL;
	uint32_t id;

	if (snap->spec.demangle && mode != NAME_RAW)
		nice = snap->spec.demangle(raw, mode);
	if (!nice && interned && shown_is_same(raw, strlen(raw)))
		return AS_IT_IS;
	id = intern_shown(snap, nice ? nice : raw);
	free(nice);
	return id == STRTAB_NONE ? 0 : id;
}

static int name_room(struct name_cache *c, size_t n)
{
	size_t symbol = c->cap;

	if (n <= c->n)
		return 0;
	if (ARRAY_ROOM(c->symbol, symbol, n) < 0 || ARRAY_ROOM(c->string, c->cap, n) < 0)
		return -ENOMEM;
	memset(c->string + c->n, 0, (n - c->n) * sizeof(*c->string));
	c->n = n;
	return 0;
}

static const char *name_process(const struct session *s, uint32_t process, char *out, size_t size)
{
	const struct session_process *p = &s->processes[process];
	const char *exe = strtab_str(s->strings, p->exe);
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
	const struct session_device *d = &s->devices[device];

	if (d->name)
		snprintf(out, size, "%s %d %s", strtab_str(s->strings, d->type), d->index,
			 strtab_str(s->strings, d->name));
	else
		snprintf(out, size, "%s %d", strtab_str(s->strings, d->type), d->index);
}

/* A group is named after the process, device, stream or thread of one of its lanes. */
static const char *name_group(struct snapshot *snap, uint32_t id)
{
	const struct session *s = snap->s;
	const struct group_entry *g = view_group_of(snap, id);
	const struct session_lane *l = g && g->lane < s->n_lanes ? &s->lanes[g->lane] : NULL;
	uint8_t kind = snap->nodes[id].kind;
	char name[256] = "(not known)", part[160];

	if (l && kind == FRAME_PROCESS && l->process < s->n_processes) {
		name_process(s, l->process, name, sizeof(name));
	} else if (l && kind == FRAME_THREAD && l->thread) {
		snprintf(name, sizeof(name), "thread %llu", (unsigned long long)l->thread);
	} else if (l && kind != FRAME_THREAD && l->device < s->n_devices) {
		name_device(s, l->device, part, sizeof(part));
		if (kind == FRAME_DEVICE)
			snprintf(name, sizeof(name), "%s", part);
		else
			snprintf(name, sizeof(name), "%s stream %u", part, l->stream);
	} else if (l && l->device == SESSION_NONE) {
		snprintf(name, sizeof(name), "host");
	}
	return strtab_str(snap->names, intern_shown(snap, name));
}

const char *snapshot_name(struct snapshot *snap, uint32_t id, enum name_mode mode)
{
	struct name_cache *c = &snap->caches[mode];
	uint32_t node = snap->nodes[id].session_node, frame, symbol;

	if (node == SESSION_NONE)
		return name_group(snap, id);
	frame = snap->s->nodes[node].frame;
	symbol = snap->s->frames[frame].symbol;
	if (name_room(c, snap->s->n_frames) < 0)
		return session_node_name(snap->s, node);
	if (!c->string[frame] || c->symbol[frame] != symbol) {
		c->string[frame] = name_make(snap, node, mode) + 1;
		c->symbol[frame] = symbol;
	}
	if (c->string[frame] == AS_IT_IS + 1)
		return session_node_name(snap->s, node);
	return strtab_str(snap->names, c->string[frame] - 1);
}

void names_done(struct snapshot *snap)
{
	strtab_free(snap->names);
	for (unsigned i = 0; i < NAME_N; i++) {
		free(snap->caches[i].string);
		free(snap->caches[i].symbol);
	}
}
