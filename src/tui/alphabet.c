/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/alphabet.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "core/derive.h"
#include "core/numbers.h"
#include "tui/names.h"
#include "tui/tui_impl.h"

#define UNPLACED UINT32_MAX

/* A word, and what it is counted by. */
struct spelled {
	const char *word;
	uint32_t id;
};

/* Words to be placed, each once. */
struct spelling {
	struct spelled *v;
	size_t n, cap;
};

static void spelling_done(struct spelling *s)
{
	free(s->v);
}

void alphabet_done(struct alphabet *a)
{
	free(a->places);
}

/* A word of an id, unless that has one. 0 or -ENOMEM. */
static int spell(struct alphabet *a, struct spelling *s, uint32_t id, const char *word)
{
	if (a->places[id] != UNPLACED)
		return 0;
	if (ARRAY_ROOM(s->v, s->cap, s->n + 1) < 0)
		return -ENOMEM;
	a->places[id] = 0;
	s->v[s->n++] = (struct spelled){word, id};
	return 0;
}

static int room_for(struct alphabet *a, size_t n)
{
	if (ARRAY_ROOM(a->places, a->cap, MAX(n, 1u)) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		a->places[i] = UNPLACED;
	a->n = n;
	return 0;
}

/* NaN for what came after the places were given. */
static double place_of(const struct alphabet *a, uint32_t id)
{
	return id < a->n && a->places[id] != UNPLACED ? -(double)a->places[id] : NAN;
}

static int spelled_compare(const void *a, const void *b)
{
	const struct spelled *x = a, *y = b;

	return strcmp(x->word, y->word);
}

static void set_places(struct alphabet *a, struct spelling *s)
{
	uint32_t place = 0;

	if (s->n)
		qsort(s->v, s->n, sizeof(*s->v), spelled_compare);
	for (size_t i = 0; i < s->n; i++) {
		if (i > 0 && spelled_compare(&s->v[i - 1], &s->v[i]) != 0)
			place++;
		a->places[s->v[i].id] = place;
	}
}

/* Of the picture, with names as they are shown now. */
static uint64_t stamp_of(const struct tui *t)
{
	return (snapshot_generation(t->snap) + 1) * NAME_N + t->names;
}

static bool is_current(const struct tui *t, const struct alphabet *a)
{
	return a->stamp == stamp_of(t);
}

/* Note that the places were given; r: how that went. Were they? */
static bool made(const struct tui *t, struct alphabet *a, int r)
{
	a->stamp = r < 0 ? 0 : stamp_of(t);
	return r == 0;
}

/* ---- names ---- */

static int place_names(struct tui *t, struct alphabet *a, const uint32_t *frames, uint32_t n_frames)
{
	_cleanup_(spelling_done) struct spelling s = {0};
	uint32_t n = snapshot_n(t->snap);

	if (room_for(a, n_frames) < 0)
		return -ENOMEM;
	for (uint32_t node = 0; node < n; node++) {
		tick_at(snapshot_tick(t->snap), node, n);
		if (a->places[frames[node]] == UNPLACED &&
		    spell(a, &s, frames[node], tui_node_name(t, node)) < 0)
			return -ENOMEM;
	}
	set_places(a, &s);
	return 0;
}

double tui_name_place(struct tui *t, uint32_t node)
{
	struct alphabet *a = &t->alphabet;
	const uint32_t *frames;
	uint32_t n_frames;

	frames = numbers_frames(tui_all(t), &n_frames);
	if (!frames || (!is_current(t, a) && !made(t, a, place_names(t, a, frames, n_frames))))
		return NAN;
	return place_of(a, frames[node]);
}

/* ---- texts ---- */

static int place_words(struct tui *t, struct alphabet *a, uint32_t metric)
{
	const struct strtab *strings = snapshot_session(t->snap)->strings;
	const double *v = derive_raw(numbers_derive(tui_all(t)), metric, false);
	_cleanup_(spelling_done) struct spelling s = {0};
	uint32_t n = snapshot_n(t->snap);

	if (room_for(a, strtab_count(strings)) < 0)
		return -ENOMEM;
	for (uint32_t node = 0; v && node < n; node++) {
		uint32_t string = isnan(v[node]) ? 0 : (uint32_t)v[node];

		if (!isnan(v[node]) && spell(a, &s, string, strtab_str(strings, string)) < 0)
			return -ENOMEM;
	}
	set_places(a, &s);
	return 0;
}

double tui_word_place(struct tui *t, struct alphabet *a, uint32_t metric, uint32_t string)
{
	if (!is_current(t, a) && !made(t, a, place_words(t, a, metric)))
		return NAN;
	return place_of(a, string);
}
