/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/path_rows.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "tui/names.h"
#include "tui/tui_impl.h"

#define FRAMES_MAX 256 /* of a path: those at its end */

struct path {
	const char **frames; /* the last one first */
	unsigned n;
	unsigned fits;   /* how many of them have room */
	uint32_t *marks; /* by frame: how many paths that would read like it it tells it from */
	bool any;        /* are there marks? */
	size_t text;     /* where it begins */
};

struct paths {
	struct path *v;
	size_t n;
	const char **frames; /* of all */
	uint32_t *marks;
	int columns;
	bool ascii;
};

static void paths_done(struct paths *p)
{
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

	*p = (struct paths){.n = n, .columns = columns, .ascii = t->look.ascii};
	for (size_t i = 0; i < n; i++)
		n_frames += depth_of(t, nodes[i]);
	p->v = calloc(n + 1, sizeof(*p->v));
	p->frames = malloc((n_frames + 1) * sizeof(*p->frames));
	p->marks = calloc(n_frames + 1, sizeof(*p->marks));
	if (!p->v || !p->frames || !p->marks)
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

/* Columns that the frames take that are kept. */
static int width_of(const struct paths *p, const struct path *path, const bool keep[FRAMES_MAX])
{
	unsigned next = 0; /* the frame that would go on without a gap */
	int columns = 0;

	for (unsigned i = 0; i < path->n; i++) {
		if (!keep[i])
			continue;
		if (i > next)
			columns += (columns ? SEPARATOR : 0) + 1;
		columns += (columns ? SEPARATOR : 0) + width(p, path->frames[i]);
		next = i + 1;
	}
	return columns + (next < path->n);
}

static bool keep_too(const struct paths *p, const struct path *path, bool keep[FRAMES_MAX],
		     unsigned i)
{
	bool before = keep[i];

	keep[i] = true;
	if (width_of(p, path, keep) <= p->columns)
		return true;
	keep[i] = before;
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

/* The last frame, that which tells most, the others in which it differs, the nearest first, and then as many
 * as there is room for. Where there is none for two, what tells most alone. */
static bool choose(const struct paths *p, const struct path *path, bool keep[FRAMES_MAX])
{
	unsigned best = best_mark(path);

	if (best >= path->n || !path->marks[best])
		return false;
	keep[0] = true;
	if (!keep_too(p, path, keep, best)) {
		keep[0] = false;
		return keep_too(p, path, keep, best);
	}
	for (unsigned i = 1; i < path->n; i++)
		if (path->marks[i])
			keep_too(p, path, keep, i);
	for (unsigned i = 1; i < path->n && keep_too(p, path, keep, i); i++)
		;
	return true;
}

/* Dots in front have no room of their own where a frame has none behind it. */
static void put(const struct paths *p, const struct path *path, const bool keep[FRAMES_MAX],
		struct buf *out)
{
	const char *dots = p->ascii ? "~" : "…", *separator = p->ascii ? " > " : " › ";
	unsigned i = path->n, last = path->n;

	while (i-- > 0) {
		if (!keep[i])
			continue;
		if (last < path->n)
			buf_puts(out, separator);
		if (last > i + 1)
			buf_puts(out, dots);
		if (last > i + 1 && last < path->n)
			buf_puts(out, separator);
		buf_puts(out, path->frames[i]);
		last = i;
	}
	if (last > 0 && last < path->n)
		buf_printf(out, "%s%s", separator, dots);
}

/* A path as it would be shown, but for the dots in front of it, which tell nobody anything. */
static void put_texts(struct paths *p, struct buf *texts)
{
	size_t dots = p->ascii ? 1 : strlen("…");

	buf_clear(texts);
	for (size_t i = 0; i < p->n; i++) {
		struct path *path = &p->v[i];
		bool keep[FRAMES_MAX] = {false};

		if (!path->any || !choose(p, path, keep)) {
			memset(keep, false, sizeof(keep));
			memset(keep, true, path->fits * sizeof(*keep));
		}
		path->text = texts->len;
		put(p, path, keep, texts);
		if (path->n && !keep[path->n - 1] && texts->len > path->text)
			path->text += dots;
		buf_putc(texts, '\0');
	}
}

/* Where one path is the end of another, it differs in its first frame. Returns whether that was not known. */
static bool mark(struct path *path, unsigned n_same)
{
	uint32_t *at = &path->marks[MIN(n_same, path->n - 1)];

	path->any = true;
	return !(*at)++;
}

static bool mark_alike(struct paths *p, const char *texts)
{
	bool any = false;

	for (size_t i = 1; i < p->n; i++)
		for (size_t k = 0; k < i; k++) {
			struct path *a = &p->v[i], *b = &p->v[k];
			unsigned n;

			if (!a->fits || !b->fits || strcmp(texts + a->text, texts + b->text) != 0)
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

int path_rows_make(struct tui *t, const uint32_t *nodes, size_t n, int columns, struct buf *out)
{
	struct paths paths;
	int r = paths_init(&paths, t, nodes, n, columns);

	if (r == 0)
		r = tell_apart(&paths);
	for (size_t i = 0; r == 0 && i < n; i++) {
		bool keep[FRAMES_MAX] = {false};

		if (paths.v[i].any && choose(&paths, &paths.v[i], keep))
			put(&paths, &paths.v[i], keep, out);
		buf_putc(out, '\0');
	}
	paths_done(&paths);
	return r == 0 && out->error ? -ENOMEM : r;
}
