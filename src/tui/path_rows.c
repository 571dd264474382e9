/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/path_rows.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include "base/util.h"
#include "naming/table.h"
#include "tui/names.h"
#include "tui/text.h"
#include "tui/tui_impl.h"

#define FRAMES_MAX 256 /* of a path: those at its end */
#define FRAME_WIDE 256 /* columns of one that is cut */

struct path {
	const char **frames; /* the last one first */
	unsigned n;
	unsigned fits;   /* how many of them have room */
	uint32_t *marks; /* by frame: how many paths that would read like it it tells it from */
	size_t text;     /* where it begins */
};

struct paths {
	struct path *v;
	size_t n;
	const char **frames; /* of all */
	uint32_t *marks;
	struct name_table *names; /* of frames that are cut */
	const char *dots;
	int columns;
	bool ascii;
};

static void paths_done(struct paths *p)
{
	name_table_free(p->names);
	free(p->v);
	free(p->frames);
	free(p->marks);
}

static unsigned depth_of(const struct tui *t, uint32_t node)
{
	unsigned n = 0;

	for (; node != SNAP_NONE && node != 0 && n < FRAMES_MAX; n++)
		node = snapshot_node(t->snap, node)->parent;
	return n;
}

static int width(const struct paths *p, const char *text)
{
	return text_columns(text, strlen(text), p->ascii);
}

/* Columns between two frames. */
#define SEPARATOR 3

/* Dots in front of what is no whole path have no room of their own: they go where there is none. */
static unsigned n_fitting(const struct paths *p, const struct path *path)
{
	int left = p->columns;
	unsigned n = 0;

	for (; n < path->n; n++) {
		left -= width(p, path->frames[n]) + (n ? SEPARATOR : 0);
		if (left < 0)
			break;
	}
	return n;
}

static int paths_init(struct paths *p, struct tui *t, const uint32_t *nodes, size_t n, int columns)
{
	size_t n_frames = 0;

	*p = (struct paths){.n = n,
			    .columns = columns,
			    .ascii = t->look.ascii,
			    .dots = t->look.ascii ? "~" : "…"};
	for (size_t i = 0; i < n; i++)
		n_frames += depth_of(t, nodes[i]);
	p->v = calloc(n + 1, sizeof(*p->v));
	p->frames = malloc((n_frames + 1) * sizeof(*p->frames));
	p->marks = calloc(n_frames + 1, sizeof(*p->marks));
	p->names = name_table_new(p->dots);
	if (!p->v || !p->frames || !p->marks || !p->names)
		return -ENOMEM;
	n_frames = 0;
	for (size_t i = 0; i < n; i++) {
		struct path *path = &p->v[i];
		uint32_t node = nodes[i];

		path->frames = p->frames + n_frames;
		path->marks = p->marks + n_frames;
		path->n = depth_of(t, node);
		for (unsigned k = 0; k < path->n; k++) {
			path->frames[k] = tui_node_name(t, node);
			node = snapshot_node(t->snap, node)->parent;
		}
		n_frames += path->n;
		path->fits = n_fitting(p, path);
	}
	return 0;
}

/* How many frames at their ends are the same. */
static unsigned n_common(const struct path *a, const struct path *b)
{
	unsigned n = 0;

	while (n < a->n && n < b->n && !strcmp(a->frames[n], b->frames[n]))
		n++;
	return n;
}

/* ---- what stays ---- */

/* Of a path. */
struct shown {
	bool keep[FRAMES_MAX];
	bool is_cut; /* all of them have no room: each is cut, and only dots are where others are left out */
};

static int gap_width(bool is_gap, bool is_cut)
{
	if (is_cut)
		return is_gap ? 1 : SEPARATOR;
	return SEPARATOR + (is_gap ? 1 + SEPARATOR : 0);
}

/* Columns that the frames take that are kept, each of so many at most. */
static int width_of(const struct paths *p, const struct path *path, const struct shown *shown,
		    int most)
{
	unsigned next = 0; /* the frame that would go on without a gap */
	int columns = 0;

	for (unsigned i = 0; i < path->n; i++) {
		if (!shown->keep[i])
			continue;
		columns += MIN(width(p, path->frames[i]), most);
		if (i)
			columns += gap_width(i > next, shown->is_cut);
		next = i + 1;
	}
	return columns + (next < path->n);
}

static bool keep_too(const struct paths *p, const struct path *path, struct shown *shown,
		     unsigned i, int most)
{
	bool before = shown->keep[i];

	shown->keep[i] = true;
	if (width_of(p, path, shown, most) <= p->columns)
		return true;
	shown->keep[i] = before;
	return false;
}

/* The frame that tells it from most others. */
static unsigned best_mark(const struct path *path)
{
	unsigned best = 1;

	for (unsigned i = 2; i < path->n; i++)
		if (path->marks[i] > path->marks[best])
			best = i;
	return best;
}

/* The last frame, that which tells most, and the others in which it differs, the nearest first. Have all of them
 * room, each of so many columns at most? */
static bool keep_marked(const struct paths *p, const struct path *path, struct shown *shown,
			int most)
{
	bool all = true;

	shown->keep[0] = true;
	if (!keep_too(p, path, shown, best_mark(path), most))
		return false;
	for (unsigned i = 1; i < path->n; i++)
		if (path->marks[i])
			all &= keep_too(p, path, shown, i, most);
	return all;
}

/* A frame that is cut has as many columns. */
#define LEAST_COLUMNS 4

/* What tells it apart, as whole frames, and then as many as there is room for; or else cut. False: its end by itself
 * is as good. */
static bool choose(const struct paths *p, const struct path *path, struct shown *shown)
{
	unsigned best = best_mark(path);

	*shown = (struct shown){.is_cut = !path->fits};
	if (best >= path->n || !path->marks[best]) {
		memset(shown->keep, true, MAX(path->fits, 1U) * sizeof(*shown->keep));
		return path->n && !path->fits;
	}
	shown->is_cut = false;
	if (keep_marked(p, path, shown, INT_MAX)) {
		for (unsigned i = 1; i < path->n && keep_too(p, path, shown, i, INT_MAX); i++)
			;
		return true;
	}
	*shown = (struct shown){.is_cut = true};
	keep_marked(p, path, shown, LEAST_COLUMNS);
	return shown->keep[best];
}

/* How many columns each may have, so that all have room: what some do not need is for the others. */
static int most_columns(const struct paths *p, const struct path *path, const struct shown *shown)
{
	int most = LEAST_COLUMNS;

	while (most < p->columns && width_of(p, path, shown, most + 1) <= p->columns)
		most++;
	return most;
}

/* ---- how it reads ---- */

/* As any name in a narrow column; what is no name loses its middle. */
static void put_cut(const struct paths *p, const char *frame, int columns, struct buf *out)
{
	wchar_t wide[FRAME_WIDE];
	char text[FRAME_WIDE * 4];

	if (width(p, frame) > columns)
		frame = name_table_get(p->names, frame, (size_t)columns);
	if (width(p, frame) > columns) {
		text_fit(wide, ARRAY_SIZE(wide), frame, strlen(frame), 0, columns, TEXT_CUT_MIDDLE,
			 p->ascii);
		if (wcstombs(text, wide, sizeof(text)) < sizeof(text))
			frame = text;
	}
	buf_puts(out, frame);
}

/* Frames are left out behind one, or none. */
static void put_gap(const struct paths *p, bool is_gap, bool is_cut, struct buf *out)
{
	const char *separator = p->ascii ? " > " : " › ";

	if (is_gap && is_cut) {
		buf_puts(out, p->dots);
		return;
	}
	buf_puts(out, separator);
	if (is_gap)
		buf_printf(out, "%s%s", p->dots, separator);
}

/* Dots in front have no room of their own where a frame has none behind it. */
static void put(const struct paths *p, const struct path *path, const struct shown *shown,
		struct buf *out)
{
	unsigned i = path->n, last = path->n;
	int most = shown->is_cut ? most_columns(p, path, shown) : INT_MAX;

	while (i-- > 0) {
		if (!shown->keep[i])
			continue;
		if (last < path->n)
			put_gap(p, last > i + 1, shown->is_cut, out);
		else if (last > i + 1)
			buf_puts(out, p->dots);
		put_cut(p, path->frames[i], most, out);
		last = i;
	}
}

/* A path as it would be shown, but for the dots in front of it, which tell nobody anything. */
static void put_texts(struct paths *p, struct buf *texts)
{
	buf_clear(texts);
	for (size_t i = 0; i < p->n; i++) {
		struct path *path = &p->v[i];
		struct shown shown;

		choose(p, path, &shown);
		path->text = texts->len;
		put(p, path, &shown, texts);
		if (path->n && !shown.keep[path->n - 1] && texts->len > path->text)
			path->text += strlen(p->dots);
		buf_putc(texts, '\0');
	}
}

/* Where one path is the end of another, it differs in its first frame. Returns whether that was not known. */
static bool mark(struct path *path, unsigned n_same)
{
	uint32_t *at = &path->marks[MIN(n_same, path->n - 1)];

	return !(*at)++;
}

static bool mark_alike(struct paths *p, const char *texts)
{
	bool any = false;

	for (size_t i = 1; i < p->n; i++)
		for (size_t k = 0; k < i; k++) {
			struct path *a = &p->v[i], *b = &p->v[k];
			unsigned n;

			if (!a->n || !b->n || strcmp(texts + a->text, texts + b->text) != 0)
				continue;
			n = n_common(a, b);
			if (n == a->n && n == b->n)
				continue;
			any |= mark(a, n);
			any |= mark(b, n);
		}
	return any;
}

/* What a mark leaves no room for may be what told two paths apart before. */
#define ROUNDS 4

static int tell_apart(struct paths *p)
{
	_cleanup_(buf_done) struct buf texts = {0};
	bool again = true;

	for (unsigned i = 0; again && i < ROUNDS; i++) {
		put_texts(p, &texts);
		if (texts.error)
			return -ENOMEM;
		again = mark_alike(p, texts.data ? texts.data : "");
	}
	return 0;
}

static void put_all(const struct paths *p, struct buf *out)
{
	struct shown shown;

	buf_clear(out);
	for (size_t i = 0; i < p->n; i++) {
		if (choose(p, &p->v[i], &shown))
			put(p, &p->v[i], &shown, out);
		buf_putc(out, '\0');
	}
}

int path_rows_make(struct tui *t, const uint32_t *nodes, size_t n, int columns, struct buf *out)
{
	struct paths paths;
	int r = paths_init(&paths, t, nodes, n, columns);

	if (r == 0)
		r = tell_apart(&paths);
	if (r == 0) {
		put_all(&paths, out);
		if (name_table_tell_apart(paths.names))
			put_all(&paths, out);
	}
	paths_done(&paths);
	return r == 0 && out->error ? -ENOMEM : r;
}
