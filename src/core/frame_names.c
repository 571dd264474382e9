/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/frame_names.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/shown.h"
#include "base/util.h"

/* Names of one mode, by frame. */
struct name_cache {
	uint32_t *string; /* id + 1; 0: not made yet */
	uint32_t *symbol; /* what it was made of: a symbol may come later */
	size_t cap, n;
};

/* Who has which short name, by string. Kernels and functions may have the same ones. */
enum { OF_KERNELS = 0, OF_FUNCTIONS, N_OWNERS };
struct owners {
	uint32_t *frame; /* + 1; 0: nobody; CROWDED: several would have it, so none may */
	size_t n, cap;
};
#define CROWDED UINT32_MAX

/* A frame that is to have a name of this level, or of a longer one. */
struct unnamed {
	uint32_t frame;
	unsigned level;
};

struct frame_names {
	const struct session *s;
	naming_fn *naming;
	bool visible;
	struct strtab *strings;
	struct name_cache caches[NAME_N];
	size_t n_compared; /* frames that have short names unlike others */
	struct owners owners[N_OWNERS];
	/* Names that frames have as they are: these cannot get longer, and others do. By string of the
	 * session; bits by owners. */
	uint8_t *taken;
	size_t n_taken, cap_taken;
	uint8_t *level; /* by frame, of its short name */
	size_t cap_level;
	struct unnamed *unnamed;
	size_t n_unnamed, cap_unnamed;
};

/* Instead of a string id: the name is as the session has it. Saves copies of most names. */
#define AS_IT_IS (UINT32_MAX - 1)

struct frame_names *frame_names_new(const struct session *s, naming_fn *naming, bool visible)
{
	struct frame_names *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->s = s;
	n->naming = naming;
	n->visible = visible;
	n->strings = strtab_new();
	return n->strings ? n : frame_names_free(n);
}

struct frame_names *frame_names_free(struct frame_names *n)
{
	if (!n)
		return NULL;
	strtab_free(n->strings);
	for (unsigned i = 0; i < NAME_N; i++) {
		free(n->caches[i].string);
		free(n->caches[i].symbol);
	}
	for (unsigned i = 0; i < N_OWNERS; i++)
		free(n->owners[i].frame);
	free(n->taken);
	free(n->level);
	free(n->unnamed);
	free(n);
	return NULL;
}

char *naming_of_mode(naming_fn *naming, const char *raw, enum frame_kind kind, enum name_mode mode)
{
	if (!naming || mode == NAME_RAW)
		return NULL;
	return naming(raw, kind, mode == NAME_SHORT ? 0 : NAMING_LEVELS - 1);
}

/* ---- one name ---- */

/* Is a raw name the session's own string, which stays? */
static bool is_kept(const struct session *s, uint32_t frame)
{
	const struct session_frame *f = &s->frames[frame];

	return f->symbol || f->module == SESSION_NONE;
}

/* The id of a name as it is shown, or STRTAB_NONE where memory is out. */
static uint32_t intern(struct frame_names *n, const char *name)
{
	size_t len = strlen(name);
	_cleanup_(buf_done) struct buf text = {0};

	if (!n->visible || shown_is_same(name, len))
		return strtab_adds(n->strings, name);
	shown_put(&text, name, len);
	return text.error ? STRTAB_NONE : strtab_adds(n->strings, buf_str(&text));
}

/* What a name is kept as: a string id, AS_IT_IS, or 0 where memory is out. */
static uint32_t keep(struct frame_names *n, uint32_t frame, const char *raw, const char *name)
{
	uint32_t id;

	if ((!name || !strcmp(name, raw)) && is_kept(n->s, frame) &&
	    (!n->visible || shown_is_same(raw, strlen(raw))))
		return AS_IT_IS;
	id = intern(n, name ? name : raw);
	return id == STRTAB_NONE ? 0 : id;
}

static int room(struct name_cache *c, size_t n)
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

/* ---- names that are alike ---- */

/* The raw name of a frame that is compared. */
static const char *raw_of(const struct frame_names *n, uint32_t frame)
{
	const struct session_frame *f = &n->s->frames[frame];

	return session_text(n->s, f->symbol ? f->symbol : f->name);
}

/* Kernels are told apart by their names alone, and so are functions of files that do not say what
 * is a kernel. */
static bool is_compared(const struct frame_names *n, uint32_t frame)
{
	uint8_t kind = n->s->frames[frame].kind;

	return (kind == FRAME_KERNEL || kind == FRAME_FUNCTION) && is_kept(n->s, frame);
}

static unsigned owners_of(const struct frame_names *n, uint32_t frame)
{
	return n->s->frames[frame].kind == FRAME_KERNEL ? OF_KERNELS : OF_FUNCTIONS;
}

/* Is a name that of a frame which has it as it is? */
static bool is_taken(const struct frame_names *n, uint32_t frame, const char *name)
{
	uint32_t string = strtab_find(n->s->strings, name, strlen(name));

	return string < n->n_taken && n->taken[string] & 1u << owners_of(n, frame);
}

static int room_for_owner(struct owners *o, uint32_t string)
{
	if (string < o->n)
		return 0;
	if (ARRAY_ROOM(o->frame, o->cap, string + 1u) < 0)
		return -ENOMEM;
	memset(o->frame + o->n, 0, (string + 1u - o->n) * sizeof(*o->frame));
	o->n = string + 1u;
	return 0;
}

static int push(struct frame_names *n, uint32_t frame, unsigned level)
{
	if (ARRAY_ROOM(n->unnamed, n->cap_unnamed, n->n_unnamed + 1) < 0)
		return -ENOMEM;
	n->unnamed[n->n_unnamed++] = (struct unnamed){frame, level};
	return 0;
}

static void set_short(struct frame_names *n, uint32_t frame, const char *name, unsigned level)
{
	struct name_cache *c = &n->caches[NAME_SHORT];

	c->string[frame] = keep(n, frame, raw_of(n, frame), name) + 1;
	c->symbol[frame] = n->s->frames[frame].symbol;
	n->level[frame] = (uint8_t)level;
}

/* A frame has its name as it is: who was shortened to that must get longer. 0 or -ENOMEM. */
static int take(struct frame_names *n, uint32_t frame, const char *raw)
{
	const struct session_frame *f = &n->s->frames[frame];
	struct owners *o = &n->owners[owners_of(n, frame)];
	uint32_t string = strtab_find(n->strings, raw, strlen(raw)), other;

	set_short(n, frame, NULL, NAMING_LEVELS);
	n->taken[f->symbol ? f->symbol : f->name] |= (uint8_t)(1u << owners_of(n, frame));
	other = string < o->n ? o->frame[string] : 0;
	if (!other || other == CROWDED)
		return 0;
	o->frame[string] = CROWDED;
	return push(n, other - 1, n->level[other - 1] + 1u);
}

/* Take a name, or find that it has been: then whoever has it gets a longer one, too. 1: it is ours;
 * 0: it is not; -ENOMEM. */
static int claim(struct frame_names *n, uint32_t frame, const char *name)
{
	struct owners *o = &n->owners[owners_of(n, frame)];
	uint32_t string = strtab_adds(n->strings, name), other;

	if (string == STRTAB_NONE || room_for_owner(o, string) < 0)
		return -ENOMEM;
	if (is_taken(n, frame, name))
		o->frame[string] = CROWDED;
	other = o->frame[string];
	if (!other || other == frame + 1) {
		o->frame[string] = frame + 1;
		return 1;
	}
	if (other == CROWDED)
		return 0;
	o->frame[string] = CROWDED;
	return push(n, other - 1, n->level[other - 1] + 1u);
}

/* Give a frame the shortest name from this level on that no other has. 0 or -ENOMEM. */
static int give_name(struct frame_names *n, uint32_t frame, unsigned level)
{
	const char *raw = raw_of(n, frame);
	int r = 0;

	for (; level < NAMING_LEVELS && r == 0; level++) {
		_cleanup_(freep) char *name =
			n->naming(raw, (enum frame_kind)n->s->frames[frame].kind, level);

		if (!name && level == 0)
			return take(n, frame, raw);
		r = claim(n, frame, name ? name : raw);
		if (r > 0)
			set_short(n, frame, name, level);
	}
	if (r == 0) /* nothing tells it apart but what it is made of */
		set_short(n, frame, NULL, NAMING_LEVELS);
	return MIN(r, 0);
}

static int room_for_frames(struct frame_names *n)
{
	size_t count = strtab_count(n->s->strings);

	if (ARRAY_ROOM(n->taken, n->cap_taken, count) < 0 ||
	    ARRAY_ROOM(n->level, n->cap_level, n->s->n_frames) < 0)
		return -ENOMEM;
	memset(n->taken + n->n_taken, 0, count - n->n_taken);
	n->n_taken = count;
	return 0;
}

/* Give the frames that came short names unlike all others. 0 or -ENOMEM: then some may be alike. */
static int compare(struct frame_names *n)
{
	int r = room_for_frames(n);

	for (; r == 0 && n->n_compared < n->s->n_frames; n->n_compared++) {
		if (!is_compared(n, (uint32_t)n->n_compared))
			continue;
		r = push(n, (uint32_t)n->n_compared, 0);
		while (r == 0 && n->n_unnamed) {
			struct unnamed next = n->unnamed[--n->n_unnamed];

			r = give_name(n, next.frame, next.level);
		}
	}
	n->n_unnamed = 0;
	return r;
}

const char *frame_names_get(struct frame_names *n, uint32_t node, enum name_mode mode)
{
	struct name_cache *c = &n->caches[mode];
	const struct session_node *of = &n->s->nodes[node];
	const struct session_frame *f = &n->s->frames[of->frame];
	const char *raw;
	char *name;

	if (room(c, n->s->n_frames) < 0)
		return session_node_name(n->s, node);
	if (mode == NAME_SHORT && n->naming && n->n_compared < n->s->n_frames && compare(n) < 0)
		return session_node_name(n->s, node);
	if (!c->string[of->frame] || c->symbol[of->frame] != f->symbol) {
		raw = session_node_name(n->s, node);
		name = naming_of_mode(n->naming, raw, (enum frame_kind)f->kind, mode);
		c->string[of->frame] = keep(n, of->frame, raw, name) + 1;
		c->symbol[of->frame] = f->symbol;
		free(name);
	}
	if (c->string[of->frame] == AS_IT_IS + 1)
		return session_node_name(n->s, node);
	return strtab_str(n->strings, c->string[of->frame] - 1);
}

bool frame_names_any(struct frame_names *n, uint32_t node,
		     bool (*test)(const char *name, const void *ctx), const void *ctx)
{
	const char *raw = session_node_name(n->s, node);
	enum frame_kind kind = (enum frame_kind)n->s->frames[n->s->nodes[node].frame].kind;
	bool passed = test(raw, ctx);

	for (unsigned level = 0; level < NAMING_LEVELS && n->naming && !passed; level++) {
		_cleanup_(freep) char *name = n->naming(raw, kind, level);

		if (!name)
			break;
		passed = test(name, ctx);
	}
	return passed;
}
