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

/* The frames whose shortest name is the same, as a list. */
struct alike {
	uint32_t *first; /* by string: a frame + 1; 0: none */
	uint32_t *next;  /* by frame: another + 1 */
	bool *changed;   /* by string: frames came */
	/* By string of the session: kinds of frames that are called so. Their names are as they are and
	 * cannot get longer: what is shortened to one of them does. */
	uint8_t *taken;
	size_t n_first, n_taken, cap_first, cap_changed, cap_next, cap_taken;
};

enum { TAKEN_KERNEL = 1, TAKEN_FUNCTION = 2 };

struct frame_names {
	const struct session *s;
	naming_fn *naming;
	bool visible;
	struct strtab *strings;
	struct name_cache caches[NAME_N];
	struct alike alike;
	size_t n_compared; /* frames that short names were made of and compared */
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
	free(n->alike.first);
	free(n->alike.next);
	free(n->alike.changed);
	free(n->alike.taken);
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

	return strtab_str(n->s->strings, f->symbol ? f->symbol : f->name);
}

/* Kernels are told apart by their names alone, and so are functions of files that do not say what
 * is a kernel. */
static bool is_compared(const struct frame_names *n, uint32_t frame)
{
	uint8_t kind = n->s->frames[frame].kind;

	return (kind == FRAME_KERNEL || kind == FRAME_FUNCTION) && is_kept(n->s, frame);
}

static uint8_t taken_by(enum frame_kind kind)
{
	return kind == FRAME_KERNEL ? TAKEN_KERNEL : TAKEN_FUNCTION;
}

static bool is_taken(const struct frame_names *n, enum frame_kind kind, const char *name)
{
	uint32_t string = strtab_find(n->s->strings, name, strlen(name));

	return string < n->alike.n_taken && n->alike.taken[string] & taken_by(kind);
}

/* A frame whose name is looked for. */
struct candidate {
	uint32_t frame;
	enum frame_kind kind;
	const char *raw;
	char *name; /* NULL: the raw one */
};

static const char *text_of(const struct candidate *c)
{
	return c->name ? c->name : c->raw;
}

/* By what is seen of them. */
static int candidate_compare(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	int r = (x->kind > y->kind) - (x->kind < y->kind);

	return r ? r : strcmp(text_of(x), text_of(y));
}

/* Have all of them the same raw name? Then no name tells them apart. */
static bool are_one(const struct candidate *v, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (strcmp(v[i].raw, v[0].raw) != 0)
			return false;
	return true;
}

static void settle(struct frame_names *n, const struct candidate *v, size_t count)
{
	struct name_cache *cache = &n->caches[NAME_SHORT];

	for (size_t i = 0; i < count; i++)
		cache->string[v[i].frame] = keep(n, v[i].frame, v[i].raw, v[i].name) + 1;
}

/* The behind the last of those that are like the first. */
static size_t run_of(const struct candidate *v, size_t n)
{
	size_t i = 1;

	while (i < n && candidate_compare(&v[0], &v[i]) == 0)
		i++;
	return i;
}

static bool is_unlike(const struct frame_names *n, const struct candidate *v, size_t count)
{
	return count == 1 && !(v->name && is_taken(n, v->kind, v->name));
}

/* Give each a name of its own: of this level, or of the next for those that are alike. Above the last
 * level, names are raw. */
static void widen(struct frame_names *n, struct candidate *v, size_t count, unsigned level)
{
	for (size_t i = 0; i < count; i++) {
		free(v[i].name);
		v[i].name = level < NAMING_LEVELS ? n->naming(v[i].raw, v[i].kind, level) : NULL;
	}
	qsort(v, count, sizeof(*v), candidate_compare);
	for (size_t run; count; v += run, count -= run) {
		run = run_of(v, count);
		if (is_unlike(n, v, run) || level >= NAMING_LEVELS || (run > 1 && are_one(v, run)))
			settle(n, v, run);
		else
			widen(n, v, run, level + 1);
	}
}

static int part(struct frame_names *n, uint32_t string)
{
	struct candidate *v = NULL;
	size_t count = 0, cap = 0;

	for (uint32_t f = n->alike.first[string]; f; f = n->alike.next[f - 1]) {
		if (ARRAY_ROOM(v, cap, count + 1) < 0) {
			free(v);
			return -ENOMEM;
		}
		v[count++] = (struct candidate){.frame = f - 1,
						.kind = (enum frame_kind)n->s->frames[f - 1].kind,
						.raw = raw_of(n, f - 1)};
	}
	widen(n, v, count, 0);
	for (size_t i = 0; i < count; i++)
		free(v[i].name);
	free(v);
	return 0;
}

/* Room for a string that was added. 0 or -ENOMEM. */
static int room_for_string(struct alike *a, uint32_t string)
{
	size_t before = a->n_first;

	if (ARRAY_ROOM(a->first, a->cap_first, string + 1u) < 0 ||
	    ARRAY_ROOM(a->changed, a->cap_changed, string + 1u) < 0)
		return -ENOMEM;
	if (string < before)
		return 0;
	memset(a->first + before, 0, (string + 1u - before) * sizeof(*a->first));
	memset(a->changed + before, 0, (string + 1u - before) * sizeof(*a->changed));
	a->n_first = string + 1u;
	return 0;
}

static int room_for_taken(struct frame_names *n)
{
	struct alike *a = &n->alike;
	size_t count = strtab_count(n->s->strings);

	if (ARRAY_ROOM(a->taken, a->cap_taken, count) < 0)
		return -ENOMEM;
	memset(a->taken + a->n_taken, 0, count - a->n_taken);
	a->n_taken = count;
	return 0;
}

/* A frame that is called as it is: who is shortened to that is to be looked at again. */
static void take(struct frame_names *n, uint32_t frame, const char *raw)
{
	const struct session_frame *f = &n->s->frames[frame];
	uint32_t string = strtab_find(n->strings, raw, strlen(raw));

	n->alike.taken[f->symbol ? f->symbol : f->name] |= taken_by((enum frame_kind)f->kind);
	if (string < n->alike.n_first && n->alike.first[string])
		n->alike.changed[string] = true;
}

/* Note a frame's shortest name. 0 or -ENOMEM. */
static int note(struct frame_names *n, uint32_t frame)
{
	struct name_cache *cache = &n->caches[NAME_SHORT];
	enum frame_kind kind = (enum frame_kind)n->s->frames[frame].kind;
	struct alike *a = &n->alike;
	const char *raw = raw_of(n, frame);
	_cleanup_(freep) char *name = naming_of_mode(n->naming, raw, kind, NAME_SHORT);
	uint32_t string;

	cache->string[frame] = keep(n, frame, raw, name) + 1;
	cache->symbol[frame] = n->s->frames[frame].symbol;
	if (!name) {
		take(n, frame, raw);
		return 0;
	}
	string = strtab_adds(n->strings, name);
	if (string == STRTAB_NONE || room_for_string(a, string) < 0)
		return -ENOMEM;
	a->changed[string] |= a->first[string] || is_taken(n, kind, name);
	a->next[frame] = a->first[string];
	a->first[string] = frame + 1;
	return 0;
}

/* Make and compare the short names of the frames that came. 0 or -ENOMEM: then some are not told
 * apart. */
static int compare(struct frame_names *n)
{
	struct alike *a = &n->alike;
	size_t n_frames = n->s->n_frames, from = n->n_compared;
	int r = ARRAY_ROOM(a->next, a->cap_next, n_frames) < 0 ? -ENOMEM : room_for_taken(n);

	for (; r == 0 && n->n_compared < n_frames; n->n_compared++)
		if (is_compared(n, (uint32_t)n->n_compared))
			r = note(n, (uint32_t)n->n_compared);
	for (size_t i = 0; r == 0 && i < a->n_first; i++) {
		if (a->changed[i])
			r = part(n, (uint32_t)i);
		a->changed[i] = false;
	}
	return r < 0 && n->n_compared == from ? r : 0;
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
