/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/frame_names.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/shown.h"
#include "base/util.h"
#include "core/distinct.h"

/* Names of one mode, by frame. */
struct name_cache {
	uint32_t *string; /* id + 1; 0: not made yet */
	uint32_t *symbol; /* what it was made of: a symbol may come later */
	size_t cap, n;
};

struct frame_names {
	const struct session *s;
	const struct naming *naming;
	bool visible;
	struct strtab *strings;
	struct name_cache caches[NAME_N];
	struct distinct *distinct; /* which short names there are; NULL: names are raw */
};

/* Instead of a string id: the name is as the session has it. Saves copies of most names. */
#define AS_IT_IS (UINT32_MAX - 1)

struct frame_names *frame_names_new(const struct session *s, const struct naming *naming,
				    bool visible)
{
	struct frame_names *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->s = s;
	n->naming = naming;
	n->visible = visible;
	n->strings = strtab_new();
	if (naming && n->strings)
		n->distinct = distinct_new(s, naming, n->strings);
	return n->strings && (n->distinct || !naming) ? n : frame_names_free(n);
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
	distinct_free(n->distinct);
	free(n);
	return NULL;
}

char *naming_of_mode(const struct naming *naming, const char *raw, enum frame_kind kind,
		     enum name_mode mode)
{
	if (!naming || mode == NAME_RAW)
		return NULL;
	return naming->name(raw, kind, mode == NAME_SHORT ? 0 : NAMING_LEVELS - 1);
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

static void set_short(void *ctx, uint32_t frame, const char *name)
{
	struct frame_names *n = ctx;
	struct name_cache *c = &n->caches[NAME_SHORT];
	const struct session_frame *f = &n->s->frames[frame];

	c->string[frame] =
		keep(n, frame, session_text(n->s, f->symbol ? f->symbol : f->name), name) + 1;
	c->symbol[frame] = f->symbol;
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
	if (mode == NAME_SHORT && n->distinct && distinct_update(n->distinct, set_short, n) < 0)
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
		_cleanup_(freep) char *name = n->naming->name(raw, kind, level);

		if (!name)
			break;
		passed = test(name, ctx);
	}
	return passed;
}

bool frame_names_has_forms(struct frame_names *n)
{
	return n->distinct && room(&n->caches[NAME_SHORT], n->s->n_frames) == 0 &&
	       distinct_update(n->distinct, set_short, n) == 0 && distinct_has_forms(n->distinct);
}

uint32_t frame_names_function(const struct frame_names *n, uint32_t frame)
{
	return n->distinct ? distinct_first_form(n->distinct, frame) : frame;
}

bool frame_names_could_be(const struct frame_names *n, uint32_t node, const char *text)
{
	return n->naming && n->naming->could_be &&
	       n->naming->could_be(session_node_name(n->s, node), text);
}
