/* SPDX-License-Identifier: MIT */
/* The calling context tree as instances tell it, and where work ran: ids of theirs become those of the session. */
#include "config.h" // IWYU pragma: keep
#include "wire/decoder.h"
#include <errno.h>
#include "base/util.h"
#include "core/pc_samples.h"
#include "core/session.h"

/* A function of compiled code: as told by the namer, with what others that it is told of are inlined in. */
static uint32_t function_frame(struct wire_decoder *d, enum frame_kind kind,
			       const struct native_function *f)
{
	uint32_t text = strtab_adds(d->s->strings, f->text);
	uint32_t file = f->file ? strtab_adds(d->s->strings, f->file) : 0, id;

	if (text == STRTAB_NONE || file == STRTAB_NONE)
		return SESSION_NONE;
	id = session_frame_intern(d->s, kind, text, SESSION_NONE, 0);
	if (id != SESSION_NONE && f->file)
		session_frame_symbol(d->s, id, 0, file, f->line);
	return id;
}

/* Remember what a frame is below: n functions. 0 or -ENOMEM. */
static int chain_add(struct wire_decoder *d, struct peer *p, uint32_t frame, enum frame_kind kind,
		     const struct native_function *f, unsigned n)
{
	struct inlined *c;

	if (!n || idmap_get(&p->inlined, frame) != IDMAP_NONE)
		return 0;
	if (ARRAY_ROOM(p->chains, p->cap_chains, p->n_chains + 1) < 0)
		return -ENOMEM;
	c = &p->chains[p->n_chains];
	for (c->n = 0; c->n < n; c->n++) {
		c->frames[c->n] = function_frame(d, kind, &f[c->n]);
		if (c->frames[c->n] == SESSION_NONE)
			return -ENOMEM;
	}
	return idmap_set(&p->inlined, frame, (uint32_t)p->n_chains++);
}

/* A place in compiled code, with the namer's word for it. */
static int on_place(struct wire_decoder *d, struct peer *p, const struct wire_frame_def *f,
		    const struct session_module *m)
{
	const struct native_place place = {strtab_str(d->s->strings, m->path),
					   strtab_str(d->s->strings, m->build_id), f->offset};
	struct native_function functions[NATIVE_INLINED_MAX];
	unsigned n = d->namer->functions(d->namer->ctx, &place, functions);
	uint32_t id = function_frame(d, FRAME_NATIVE, &functions[n - 1]);

	if (id == SESSION_NONE || chain_add(d, p, f->id, FRAME_NATIVE, functions, n - 1) < 0)
		return -ENOMEM;
	return idmap_set(&p->frames, f->id, id);
}

/* An instruction of a kernel, below its line where that is known. The module is its cubin, "CRC.cubin", with its
 * function for a build id. */
static int on_instruction(struct wire_decoder *d, struct peer *p, const struct wire_frame_def *f,
			  const struct session_module *m)
{
	const struct native_place place = {strtab_str(d->s->strings, m->path),
					   strtab_str(d->s->strings, m->build_id), f->offset};
	struct native_function lines[NATIVE_INLINED_MAX];
	uint32_t string, id;
	unsigned n = 0;

	buf_clear(&d->scratch);
	pc_instruction_put(&d->scratch, f->offset, place.build_id, place.path);
	string = d->scratch.error ? STRTAB_NONE : strtab_adds(d->s->strings, buf_str(&d->scratch));
	id = string == STRTAB_NONE
		     ? SESSION_NONE
		     : session_frame_intern(d->s, FRAME_INSTRUCTION, string, SESSION_NONE, 0);
	if (id == SESSION_NONE)
		return -ENOMEM;
	if (d->namer && d->namer->lines)
		n = d->namer->lines(d->namer->lines_ctx, &place, lines);
	if (chain_add(d, p, f->id, FRAME_LINE, lines, n) < 0)
		return -ENOMEM;
	return idmap_set(&p->frames, f->id, id);
}

int decode_frame(struct wire_decoder *d, struct peer *p, const void *entry)
{
	const struct wire_frame_def *f = entry;
	uint32_t name, module = SESSION_NONE, id;

	name = idmap_get(&p->strings, f->string);
	if (f->module != WIRE_NONE) {
		module = idmap_get(&p->modules, f->module);
		name = 0;
		if (module == SESSION_NONE)
			return -EBADMSG;
		if (d->namer && d->namer->functions && f->kind == FRAME_NATIVE)
			return on_place(d, p, f, &d->s->modules[module]);
		if (f->kind == FRAME_INSTRUCTION)
			return on_instruction(d, p, f, &d->s->modules[module]);
	}
	if (name == SESSION_NONE)
		return -EBADMSG;
	id = session_frame_intern(
		d->s, (enum frame_kind)(f->kind < FRAME_N_KINDS ? f->kind : FRAME_FUNCTION), name,
		module, f->offset);
	return id == SESSION_NONE ? -ENOMEM : idmap_set(&p->frames, f->id, id);
}

/* The node below which a frame is that is inlined into others: theirs. */
static uint32_t outer_nodes(struct wire_decoder *d, const struct peer *p, uint32_t parent,
			    uint32_t frame)
{
	uint32_t chain = idmap_get(&p->inlined, frame);

	for (uint32_t i = 0;
	     chain != IDMAP_NONE && i < p->chains[chain].n && parent != SESSION_NONE; i++)
		parent = session_node_intern(d->s, parent, p->chains[chain].frames[i]);
	return parent;
}

/* Which of the nodes of an instance that are one in the session: 0, or another number. */
uint32_t decode_node_part(const struct peer *p, uint32_t node, uint32_t its)
{
	uint32_t first = idmap_get(&p->node_of, node);

	return first == its || first == IDMAP_NONE ? 0 : its + 1;
}

int decode_node(struct wire_decoder *d, struct peer *p, const void *entry)
{
	const struct wire_node_def *n = entry;
	uint32_t parent = idmap_get(&p->nodes, n->parent), frame = idmap_get(&p->frames, n->frame);
	uint32_t id;

	if (parent == SESSION_NONE || frame == SESSION_NONE || n->id == 0)
		return -EBADMSG;
	parent = outer_nodes(d, p, parent, n->frame);
	id = parent == SESSION_NONE ? parent : session_node_intern(d->s, parent, frame);
	if (id == SESSION_NONE || idmap_set(&p->nodes, n->id, id) < 0)
		return -ENOMEM;
	return idmap_get(&p->node_of, id) == IDMAP_NONE ? idmap_set(&p->node_of, id, n->id) : 0;
}

int decode_lane(struct wire_decoder *d, struct peer *p, const void *entry)
{
	const struct wire_lane_def *l = entry;
	struct session_lane lane = {p->process, SESSION_NONE, l->context, l->stream, l->thread};
	uint32_t id;

	if (l->device != WIRE_NONE) {
		lane.device = idmap_get(&p->devices, l->device);
		if (lane.device == SESSION_NONE)
			return -EBADMSG;
	}
	id = session_lane_intern(d->s, &lane);
	return id == SESSION_NONE ? -ENOMEM : idmap_set(&p->lanes, l->id, id);
}

int decode_epoch(struct wire_decoder *d, struct peer *p, const void *entry)
{
	const struct wire_epoch_def *w = entry;
	const struct session_epoch e = {idmap_get(&p->strings, w->name), w->index, w->phase};
	uint32_t id;

	if (e.name == SESSION_NONE)
		return -EBADMSG;
	id = session_epoch_intern(d->s, &e);
	if (id == SESSION_NONE)
		return -ENOMEM;
	members_clear(&p->members, id); /* it may be another one now */
	return idmap_set(&p->epochs, w->id, id);
}

int decode_module(struct wire_decoder *d, struct peer *p, const void *entry)
{
	const struct wire_module_def *w = entry;
	const struct session_module m = {idmap_get(&p->strings, w->build_id),
					 idmap_get(&p->strings, w->path), w->base, w->size};
	uint32_t id;

	if (m.build_id == SESSION_NONE || m.path == SESSION_NONE)
		return -EBADMSG;
	id = session_module_intern(d->s, &m);
	return id == SESSION_NONE ? -ENOMEM : idmap_set(&p->modules, w->id, id);
}

int decode_symbol(struct wire_decoder *d, struct peer *p, const void *entry)
{
	const struct wire_symbol *w = entry;
	uint32_t frame = idmap_get(&p->frames, w->frame), name = idmap_get(&p->strings, w->name);
	uint32_t file = idmap_get(&p->strings, w->file);

	if (frame == SESSION_NONE || name == SESSION_NONE || file == SESSION_NONE)
		return -EBADMSG;
	session_frame_symbol(d->s, frame, name, file, w->line);
	return 0;
}
