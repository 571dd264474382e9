/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/distinct.h"
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"
#include "core/naming.h"

/* A name that was made. */
struct made {
	uint32_t owner; /* frame + 1 that is shown so; 0: nobody; or one of the following */
	uint32_t first; /* frame + 1: those whose shortest name it is, linked by `next` */
};
#define CROWDED UINT32_MAX       /* several would be, so none may */
#define PENDING (UINT32_MAX - 1) /* a shortest name that several have: on the list `alike` */

/* Those of one kind; kernels, functions and scopes may have the same names. */
enum { OF_KERNELS = 0, OF_FUNCTIONS, OF_SCOPES, N_KINDS };
struct made_names {
	struct made *v; /* by string */
	size_t n, cap;
};

struct named {
	uint32_t next; /* frame + 1 with the same shortest name */
	uint32_t
		form; /* frame + 1 that is another form of the same function: it has the same name */
	uint32_t of;  /* frame + 1 of the first form, if this is another one */
	uint32_t claimed; /* string + 1 of the name that it has, if that was made */
	uint8_t level;    /* of that */
};

/* A shortest name that several have. */
struct alike {
	uint32_t string;
	unsigned kind;
};

struct distinct {
	const struct session *s;
	const struct naming *naming;
	distinct_fn *set;
	void *ctx;
	struct strtab *strings; /* names that were made */
	struct made_names made[N_KINDS];
	struct named *frames;
	size_t n_frames, cap_frames; /* n: that were named */
	/* Names that frames have as they are: these cannot get longer, and others do. By string of the
	 * session; bits by kind. */
	uint8_t *taken;
	size_t n_taken, cap_taken;
	struct alike *alike; /* to be told apart */
	size_t n_alike, cap_alike;
	uint32_t *unnamed; /* frames whose name another one took */
	size_t n_unnamed, cap_unnamed;
	bool has_forms;
};

struct distinct *distinct_new(const struct session *s, const struct naming *naming,
			      struct strtab *strings)
{
	struct distinct *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->s = s;
	d->naming = naming;
	d->strings = strings;
	return d;
}

struct distinct *distinct_free(struct distinct *d)
{
	if (!d)
		return NULL;
	for (unsigned i = 0; i < N_KINDS; i++)
		free(d->made[i].v);
	free(d->frames);
	free(d->taken);
	free(d->alike);
	free(d->unnamed);
	free(d);
	return NULL;
}

/* ---- frames and strings ---- */

static uint32_t raw_id(const struct distinct *d, uint32_t frame)
{
	const struct session_frame *f = &d->s->frames[frame];

	return f->symbol ? f->symbol : f->name;
}

static const char *raw_of(const struct distinct *d, uint32_t frame)
{
	return session_text(d->s, raw_id(d, frame));
}

static enum frame_kind kind_of(const struct distinct *d, uint32_t frame)
{
	return (enum frame_kind)d->s->frames[frame].kind;
}

static unsigned made_kind(const struct distinct *d, uint32_t frame)
{
	enum frame_kind kind = kind_of(d, frame);

	return kind == FRAME_KERNEL ? OF_KERNELS : kind == FRAME_SCOPE ? OF_SCOPES : OF_FUNCTIONS;
}

/* Kernels are told apart by their names alone, and so are functions of files that do not say what
 * is a kernel, and scopes that are named after functions. */
static bool is_compared(const struct distinct *d, uint32_t frame)
{
	const struct session_frame *f = &d->s->frames[frame];

	return (f->kind == FRAME_KERNEL || f->kind == FRAME_FUNCTION || f->kind == FRAME_SCOPE) &&
	       (f->symbol || f->module == SESSION_NONE);
}

/* Does a frame have this name as it is? */
static bool is_taken(const struct distinct *d, unsigned kind, const char *name)
{
	uint32_t string = strtab_find(d->s->strings, name, strlen(name));

	return string < d->n_taken && d->taken[string] & 1u << kind;
}

/* What is known of a name; added when new. NULL: out of memory. */
static struct made *made_of(struct distinct *d, unsigned kind, const char *name)
{
	struct made_names *m = &d->made[kind];
	uint32_t string = strtab_adds(d->strings, name);

	if (string == STRTAB_NONE)
		return NULL;
	if (string >= m->n) {
		if (ARRAY_ROOM(m->v, m->cap, string + 1u) < 0)
			return NULL;
		memset(m->v + m->n, 0, (string + 1u - m->n) * sizeof(*m->v));
		m->n = string + 1u;
	}
	return &m->v[string];
}

static uint32_t string_of(const struct distinct *d, unsigned kind, const struct made *made)
{
	return (uint32_t)(made - d->made[kind].v);
}

/* ---- who has a name ---- */

/* Other forms of the frame follow it. */
static void set_name(struct distinct *d, uint32_t frame, const char *name, unsigned level,
		     uint32_t claimed)
{
	for (uint32_t form = frame + 1; form; form = d->frames[form - 1].form)
		d->set(d->ctx, form - 1, name);
	d->frames[frame].level = (uint8_t)level;
	d->frames[frame].claimed = claimed;
}

/* A frame loses its name. 0 or -ENOMEM. */
static int evict(struct distinct *d, uint32_t frame)
{
	d->frames[frame].claimed = 0;
	if (ARRAY_ROOM(d->unnamed, d->cap_unnamed, d->n_unnamed + 1) < 0)
		return -ENOMEM;
	d->unnamed[d->n_unnamed++] = frame;
	return 0;
}

/* Whoever has a name loses it, and nobody gets it. 0 or -ENOMEM. */
static int crowd(struct distinct *d, struct made *made)
{
	uint32_t owner = made->owner;

	made->owner = CROWDED;
	return owner && owner != CROWDED ? evict(d, owner - 1) : 0;
}

static void release(struct distinct *d, uint32_t frame)
{
	uint32_t claimed = d->frames[frame].claimed;
	struct made *made = claimed ? &d->made[made_kind(d, frame)].v[claimed - 1] : NULL;

	if (made && made->owner == frame + 1)
		made->owner = 0;
	d->frames[frame].claimed = 0;
	d->frames[frame].level = 0;
	d->frames[frame].form = 0;
	d->frames[frame].of = 0;
}

/* Give a frame a name unless that is another's: then that one loses it, too. Shortest names are only for
 * frames whose they are. 1: given; 0: not; -ENOMEM. */
static int claim(struct distinct *d, uint32_t frame, const char *name, unsigned level,
		 uint32_t own_first)
{
	unsigned kind = made_kind(d, frame);
	struct made *made = made_of(d, kind, name);

	if (!made)
		return -ENOMEM;
	if ((made->first && made->first != own_first) || is_taken(d, kind, name))
		return 0;
	if (made->owner && made->owner != frame + 1)
		return crowd(d, made);
	made->owner = frame + 1;
	set_name(d, frame, name, level, string_of(d, kind, made) + 1);
	return 1;
}

/* ---- the shortest names ---- */

/* To be told apart at the end, once. 0 or -ENOMEM. */
static int add_alike(struct distinct *d, unsigned kind, struct made *made)
{
	int r;

	if (made->owner == PENDING)
		return 0;
	r = crowd(d, made);
	made->owner = PENDING;
	if (r == 0)
		r = ARRAY_ROOM(d->alike, d->cap_alike, d->n_alike + 1);
	if (r == 0)
		d->alike[d->n_alike++] = (struct alike){string_of(d, kind, made), kind};
	return r;
}

/* A frame has its name as it is: who was shortened to that must get longer. 0 or -ENOMEM. */
static int take(struct distinct *d, uint32_t frame)
{
	unsigned kind = made_kind(d, frame);
	const char *raw = raw_of(d, frame);
	uint32_t string = strtab_find(d->strings, raw, strlen(raw));
	struct made *made = string < d->made[kind].n ? &d->made[kind].v[string] : NULL;

	set_name(d, frame, NULL, NAMING_LEVELS, 0);
	d->taken[raw_id(d, frame)] |= (uint8_t)(1u << kind);
	if (!made)
		return 0;
	return made->first ? add_alike(d, kind, made) : crowd(d, made);
}

/* 0 or -ENOMEM. */
static int enter(struct distinct *d, uint32_t frame)
{
	_cleanup_(freep) char *name = d->naming->name(raw_of(d, frame), kind_of(d, frame), 0);
	unsigned kind = made_kind(d, frame);
	struct made *made;
	int r = 0;

	if (!name)
		return take(d, frame);
	made = made_of(d, kind, name);
	if (!made)
		return -ENOMEM;
	if (!made->first && made->owner) /* a longer name of another frame */
		r = crowd(d, made);
	d->frames[frame].next = made->first;
	made->first = frame + 1;
	if (r == 0 && (d->frames[frame].next || is_taken(d, kind, name)))
		return add_alike(d, kind, made);
	made->owner = frame + 1;
	set_name(d, frame, name, 0, string_of(d, kind, made) + 1);
	return r;
}

/* ---- longer names ---- */

/* The names that are alike, in the order of their texts; the last is that of who has it as it is, if
 * any does. */
struct group {
	uint32_t *frames;
	const char **raw;
	char **names;
	size_t *of; /* the first that is another form of the same function, or the name itself */
	size_t n;
};

static void group_done(struct group *g)
{
	for (size_t i = 0; g->names && i <= g->n; i++)
		free(g->names[i]);
	free(g->frames);
	free(g->raw);
	free(g->names);
	free(g->of);
}

static int by_raw(const void *a, const void *b, void *d)
{
	return strcmp(raw_of(d, *(const uint32_t *)a), raw_of(d, *(const uint32_t *)b));
}

static int group_init(struct group *g, struct distinct *d, uint32_t first)
{
	size_t n = 0;

	for (uint32_t f = first; f; f = d->frames[f - 1].next)
		n++;
	g->frames = calloc(n + 1, sizeof(*g->frames));
	g->raw = calloc(n + 1, sizeof(*g->raw));
	g->names = calloc(n + 1, sizeof(*g->names));
	g->of = calloc(n + 1, sizeof(*g->of));
	if (!g->frames || !g->raw || !g->names || !g->of)
		return -ENOMEM;
	for (uint32_t f = first; f; f = d->frames[f - 1].next)
		g->frames[g->n++] = f - 1;
	qsort_r(g->frames, n, sizeof(*g->frames), by_raw, d);
	for (size_t i = 0; i < n; i++)
		g->raw[i] = raw_of(d, g->frames[i]);
	for (size_t i = 0; i <= n; i++)
		g->of[i] = i;
	return 0;
}

/* Have each form of a function behind its first one. */
static void link_forms(struct distinct *d, const struct group *g)
{
	for (size_t i = 0; i < g->n; i++) {
		struct named *of = &d->frames[g->frames[g->of[i]]];

		if (g->of[i] == i)
			continue;
		d->frames[g->frames[i]].of = g->frames[g->of[i]] + 1;
		d->has_forms = true;
		d->frames[g->frames[i]].form = of->form;
		of->form = g->frames[i] + 1;
	}
}

/* Tell apart those that have a shortest name. 0 or -ENOMEM. */
static int tell_apart(struct distinct *d, const struct alike *alike)
{
	struct made *made = &d->made[alike->kind].v[alike->string];
	const char *shortest = strtab_str(d->strings, alike->string);
	uint32_t first = made->first;
	_cleanup_(group_done) struct group g = {0};
	bool taken = is_taken(d, alike->kind, shortest);
	int r;

	made->owner = 0;
	r = group_init(&g, d, first);
	if (r < 0)
		return r;
	for (size_t i = 0; i < g.n; i++)
		release(d, g.frames[i]);
	g.raw[g.n] = shortest;
	r = d->naming->apart ? d->naming->apart(g.raw, g.n + taken, g.names, g.of) : 0;
	r = r == -E2BIG ? 0 : r;
	link_forms(d, &g);
	for (size_t i = 0; i < g.n && r >= 0; i++) {
		if (g.of[i] != i)
			continue;
		r = g.names[i] ? claim(d, g.frames[i], g.names[i], 0, first) : 0;
		if (r == 0)
			r = evict(d, g.frames[i]);
	}
	return MIN(r, 0);
}

/* Give a frame the shortest name beyond its level that no other has. 0 or -ENOMEM. */
static int widen(struct distinct *d, uint32_t frame)
{
	const char *raw = raw_of(d, frame);
	int r = 0;

	for (unsigned level = d->frames[frame].level + 1u; level < NAMING_LEVELS && r == 0;
	     level++) {
		_cleanup_(freep) char *name = d->naming->name(raw, kind_of(d, frame), level);

		r = claim(d, frame, name ? name : raw, level, 0);
	}
	if (r == 0) /* nothing tells it apart but what it is made of */
		set_name(d, frame, NULL, NAMING_LEVELS, 0);
	return MIN(r, 0);
}

/* ---- all ---- */

static int make_room(struct distinct *d)
{
	size_t count = strtab_count(d->s->strings);

	if (ARRAY_ROOM(d->taken, d->cap_taken, count) < 0 ||
	    ARRAY_ROOM(d->frames, d->cap_frames, d->s->n_frames) < 0)
		return -ENOMEM;
	memset(d->taken + d->n_taken, 0, count - d->n_taken);
	d->n_taken = count;
	memset(d->frames + d->n_frames, 0, (d->s->n_frames - d->n_frames) * sizeof(*d->frames));
	return 0;
}

int distinct_update(struct distinct *d, distinct_fn *set, void *ctx)
{
	int r = 0;

	if (d->n_frames == d->s->n_frames)
		return 0;
	d->set = set;
	d->ctx = ctx;
	r = make_room(d);
	for (; r == 0 && d->n_frames < d->s->n_frames; d->n_frames++)
		if (is_compared(d, (uint32_t)d->n_frames))
			r = enter(d, (uint32_t)d->n_frames);
	for (size_t i = 0; i < d->n_alike && r == 0; i++)
		r = tell_apart(d, &d->alike[i]);
	while (d->n_unnamed && r == 0) {
		uint32_t frame = d->unnamed[--d->n_unnamed];

		if (!d->frames[frame].claimed && !d->frames[frame].of)
			r = widen(d, frame);
	}
	d->n_alike = d->n_unnamed = 0;
	return r;
}

bool distinct_has_forms(const struct distinct *d)
{
	return d->has_forms;
}

uint32_t distinct_first_form(const struct distinct *d, uint32_t frame)
{
	return frame < d->n_frames && d->frames[frame].of ? d->frames[frame].of - 1 : frame;
}
