/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/warp_launch.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include "base/buf.h"
#include "base/util.h"
#include "collect/internal.h"
#include "core/activity.h"
#include "core/cut.h"
#include "intra/warp_async.h"
#include "intra/warp_singles.h"
#include "wire/wire.h"

int warp_launch_init(struct warp_launch *l, uint64_t bytes_most)
{
	*l = (struct warp_launch){0};
	return block_choice_init(&l->sample, bytes_most);
}

void warp_launch_done(struct warp_launch *l)
{
	block_choice_done(&l->sample);
}

struct naming {
	struct warp_launch *launch;
	scope_frame_fn *frame;
	const void *ctx;
};

/* STRTAB_NONE: no memory. */
static uint32_t name_of(void *ctx, uint32_t scope)
{
	const struct naming *naming = ctx;
	struct warp_launch *l = naming->launch;
	uint32_t frame = naming->frame(naming->ctx, scope), at = frame % WARP_NAMES_AT_HAND;
	const struct string_entry *s = &collector->string[collector->frame[frame].string];

	if (l->names[at].frame != frame) {
		l->names[at].name = strtab_add(l->sample.trace.names, s->s, s->len);
		l->names[at].frame = frame;
	}
	return l->names[at].name;
}

int warp_launch_add(struct warp_launch *l, const struct warp_trace_warp *warp,
		    const struct warp_contents *contents, scope_frame_fn *frame, const void *ctx)
{
	struct naming naming = {l, frame, ctx};
	struct warp_trace_scope *scopes;
	size_t n;
	int r = warp_singles(contents, name_of, &naming, &scopes, &n);

	if (r < 0)
		return r;
	r = block_choice_add(&l->sample, warp, scopes, n);
	free(scopes);
	return r;
}

/* With how it was launched, where it has that behind it. */
static size_t frame_text(struct buf *b, uint32_t node)
{
	const struct frame_entry *f = &collector->frame[collector->node[node].frame];
	size_t before = b->len;

	if (f->module == WIRE_NONE) {
		buf_put(b, collector->string[f->string].s, collector->string[f->string].len);
	} else {
		buf_puts(b, collector->string[collector->module[f->module].path].s);
		buf_printf(b, "+0x%" PRIx64, (uint64_t)f->string << 32 | f->offset);
	}
	return b->len - before;
}

static void path_text(struct buf *b, uint32_t node, uint32_t without)
{
	uint32_t parent = collector->node[node].parent;

	if (parent == WIRE_NONE || collector->node[parent].parent == WIRE_NONE)
		return;
	path_text(b, parent, without);
	if (CUT_KIND(collector->frame[collector->node[parent].frame].kind) & without)
		return;
	if (b->len)
		buf_putc(b, '\n');
	frame_text(b, parent);
}

/* 0: there is none, or it is the name that it has. */
static uint32_t name_symbol(struct strtab *names, uint32_t symbol, uint32_t kernel)
{
	const struct string_entry *s = &collector->string[symbol];
	uint32_t name = symbol ? strtab_add(names, s->s, activity_bare_len(s->s, s->len)) : kernel;

	return name == kernel ? 0 : name;
}

int warp_launch_describe(struct warp_launch *w, const struct kept_launch *l)
{
	struct warp_trace_launch *to = w->sample.trace.launches;
	struct strtab *names = w->sample.trace.names;
	const struct warp_trace_process process = {
		.instance = collector->instance, .pid = collector->pid, .rank = collector->rank};
	uint64_t n_warps = l->n_blocks * l->n_block_warps;
	struct buf text;
	size_t len;
	int r = warp_async_join(&w->sample.trace, 0, NULL);

	if (r < 0)
		return r;
	buf_init(&text, 0);
	len = frame_text(&text, l->node);
	to->kernel = strtab_add(names, buf_str(&text), activity_bare_len(buf_str(&text), len));
	to->symbol = name_symbol(names, l->symbol, to->kernel);
	buf_clear(&text);
	path_text(&text, l->node, l->without);
	to->path = strtab_add(names, buf_str(&text), text.len);
	r = text.error ? text.error : warp_trace_process(&w->sample.trace, &process, &to->process);
	buf_done(&text);
	to->launch = l->launch;
	to->device = l->device;
	to->start_ns = l->start_ns;
	to->end_ns = l->end_ns;
	to->n_blocks = l->n_blocks;
	to->n_block_warps = l->n_block_warps;
	to->n_dropped = n_warps > to->n_warps ? n_warps - to->n_warps : 0;
	return r < 0 || to->kernel == STRTAB_NONE || to->symbol == STRTAB_NONE ||
			       to->path == STRTAB_NONE
		       ? -ENOMEM
		       : 0;
}
