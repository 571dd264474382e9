/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/names.h"
#include <stdio.h>
#include <string.h>
#include "base/buf.h"
#include "core/session.h"
#include "tui/tui_impl.h"

const char *tui_names_word(unsigned i)
{
	static const char *const words[NAME_N] = {"short", "demangled", "raw"};

	return i < NAME_N ? words[i] : NULL;
}

const char *tui_node_name(struct tui *t, uint32_t id)
{
	const struct snap_node *n = snapshot_node(t->snap, id);
	const char *name;

	if (id == 0)
		return "ROOT";
	name = snapshot_name(t->snap, id, t->names);
	return *name ? name : frame_kind_word(n->kind);
}

struct wanted {
	const char *text;
	bool match_case;
};

static bool has_text(const char *name, const void *ctx)
{
	const struct wanted *w = ctx;

	return text_find(name, w->text, w->match_case) != NULL;
}

bool names_have(struct snapshot *snap, uint32_t id, const char *text, bool match_case)
{
	return snapshot_any_name(snap, id, has_text, &(struct wanted){text, match_case});
}

bool tui_node_has(struct tui *t, uint32_t id, const char *text, bool match_case)
{
	return text_find(tui_node_name(t, id), text, match_case) ||
	       (id && names_have(t->snap, id, text, match_case));
}

void tui_put_path(struct tui *t, uint32_t id, struct buf *out)
{
	const char *separator = t->look.ascii ? " > " : " › ";
	uint32_t path[256];
	unsigned n = 0;

	for (; id != SNAP_NONE && id != 0 && n < ARRAY_SIZE(path);
	     id = snapshot_node(t->snap, id)->parent)
		path[n++] = id;
	if (n == 0)
		buf_puts(out, tui_node_name(t, 0));
	while (n > 0) {
		buf_puts(out, tui_node_name(t, path[--n]));
		if (n > 0)
			buf_puts(out, separator);
	}
}

void tui_put_device(struct tui *t, uint32_t device, struct buf *out)
{
	const struct session *s = snapshot_session(t->snap);
	const char *name = session_text(s, s->devices[device].name);
	char word[DEVICE_WORD];

	session_device_word(s, device, word);
	buf_puts(out, word);
	if (!strncmp(name, "NVIDIA ", 7))
		name += 7;
	if (*name)
		buf_printf(out, " %s", name);
}

void tui_put_process(struct tui *t, uint32_t process, struct buf *out)
{
	const struct session *s = snapshot_session(t->snap);
	const struct session_process *p = &s->processes[process];
	const char *line = session_text(s, p->cmdline);

	if (!*line)
		line = session_text(s, p->exe);
	if (!p->pid && p->rank < 0 && !*line)
		line = "a process";
	if (p->pid)
		buf_printf(out, "pid %u%s", p->pid, p->rank >= 0 || *line ? " " : "");
	if (p->rank >= 0)
		buf_printf(out, "rank %d%s", p->rank, *line ? " " : "");
	buf_puts(out, line);
}
