/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/path_glob.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"

/* Places between names, from before the first to behind the last, are bits of a word. */
#define NAMES_MAX 63

static bool is_any_depth(const char *name)
{
	return !strcmp(name, "**");
}

/* Divide the text at each "/" that stands for itself. */
static int split(struct path_glob *p, const char *text, size_t len, size_t *ret_at)
{
	char *out = p->text;

	p->names[0] = out;
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '/') {
			*out++ = '\0';
			*ret_at = i + 1;
			if (++p->n == NAMES_MAX)
				return -E2BIG;
			p->names[p->n] = out;
			continue;
		}
		*out++ = text[i];
		if (text[i] == '\\' && i + 1 < len)
			*out++ = text[++i];
	}
	*out = '\0';
	p->n++;
	return 0;
}

static const char *check(const struct path_glob *p, size_t *ret_at)
{
	for (uint32_t i = 0; i < p->n; i++) {
		*ret_at = (size_t)(p->names[i] - p->text);
		if (!*p->names[i])
			return "a name is missing beside '/'";
	}
	return NULL;
}

int path_glob_init(struct path_glob *p, const char *text, size_t len, const char **ret_why,
		   size_t *ret_at)
{
	*p = (struct path_glob){.text = malloc(len + 1),
				.names = calloc(NAMES_MAX + 1, sizeof(*p->names))};
	*ret_why = "";
	if (!p->text || !p->names) {
		path_glob_done(p);
		return -ENOMEM;
	}
	*ret_why = split(p, text, len, ret_at) < 0 ? "a path has no more than 63 names"
						   : check(p, ret_at);
	if (!*ret_why)
		return 0;
	path_glob_done(p);
	return -EINVAL;
}

void path_glob_done(struct path_glob *p)
{
	free(p->text);
	free(p->names);
	*p = (struct path_glob){0};
}

/* ---- names ---- */

static const char *next_character(const char *name)
{
	do
		name++;
	while ((*name & 0xc0) == 0x80);
	return name;
}

/* One character that the pattern has at its beginning; NULL: another one. */
static const char *match_one(const char **pattern, const char *name)
{
	const char *p = *pattern;

	if (*p == '?') {
		*pattern = p + 1;
		return next_character(name);
	}
	p += *p == '\\' && p[1];
	if (*p != *name)
		return NULL;
	*pattern = p + 1;
	return name + 1;
}

/* A star takes as little as will do; where the rest does not match, the last one takes one more. */
bool glob_match(const char *pattern, const char *name)
{
	const char *star = NULL, *from = NULL, *next;

	while (*name) {
		if (*pattern == '*') {
			star = ++pattern;
			from = name;
			continue;
		}
		next = *pattern ? match_one(&pattern, name) : NULL;
		if (next) {
			name = next;
		} else if (star) {
			pattern = star;
			name = ++from;
		} else {
			return false;
		}
	}
	pattern += strspn(pattern, "*");
	return !*pattern;
}

static bool test(const char *name, const void *pattern)
{
	return glob_match(pattern, name);
}

/* ---- the tree ---- */

/* By frame: which names of the path were tried on it, and which match. */
struct tried {
	uint64_t was, is;
};

struct walk {
	const struct path_glob *p;
	struct snapshot *snap;
	struct tried *frames; /* by frame of the session */
	uint64_t any_depth;   /* bits of the names that are "**" */
};

static bool name_matches(const struct walk *w, uint32_t node, uint32_t i)
{
	uint32_t id = snapshot_nodes(w->snap)[node].session_node;
	struct tried *t =
		id == SESSION_NONE ? NULL : &w->frames[snapshot_session(w->snap)->nodes[id].frame];
	uint64_t bit = UINT64_C(1) << i;

	if (t && (t->was & bit))
		return t->is & bit;
	if (!snapshot_any_name(w->snap, node, test, w->p->names[i])) {
		if (t)
			t->was |= bit;
		return false;
	}
	if (t) {
		t->was |= bit;
		t->is |= bit;
	}
	return true;
}

/* "**" may stand for no level at all. */
static uint64_t pass_any_depth(const struct walk *w, uint64_t places)
{
	for (uint32_t i = 0; i < w->p->n; i++)
		if (places & w->any_depth & UINT64_C(1) << i)
			places |= UINT64_C(1) << (i + 1);
	return places;
}

/* The places in the path behind a node, from those behind its parent. */
static uint64_t step(const struct walk *w, uint32_t node, uint64_t places)
{
	uint64_t next = places & w->any_depth;

	for (uint32_t i = 0; i < w->p->n && places >> i; i++) {
		uint64_t bit = UINT64_C(1) << i;

		if ((places & bit) && !(w->any_depth & bit) && name_matches(w, node, i))
			next |= bit << 1;
	}
	return next ? pass_any_depth(w, next) : 0;
}

int path_glob_marks(const struct path_glob *p, struct snapshot *snap, uint8_t *marks)
{
	const struct session *s = snapshot_session(snap);
	const uint32_t *parents = snapshot_parents(snap);
	const struct tick *tick = snapshot_tick(snap);
	uint32_t n = snapshot_n(snap), i;
	_cleanup_(freep) struct tried *frames = calloc(s->n_frames + 1, sizeof(*frames));
	_cleanup_(freep) uint64_t *places = malloc(MAX(n, 1u) * sizeof(*places));
	struct walk w = {.p = p, .snap = snap, .frames = frames};

	if (!frames || !places)
		return -ENOMEM;
	for (i = 0; i < p->n; i++)
		w.any_depth |= (uint64_t)is_any_depth(p->names[i]) << i;
	for (i = 0; i < n && tick_at(tick, i, n); i++) {
		if (i == 0)
			places[i] = pass_any_depth(&w, 1);
		else
			places[i] = places[parents[i]] ? step(&w, i, places[parents[i]]) : 0;
		marks[i] = i && places[i] >> p->n & 1;
	}
	return i < n ? -ECANCELED : 0;
}
