/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "report/diff_impl.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "base/util.h"
#include "report/table.h"

#define MARKDOWN_ROWS 100 /* comments on pull requests are limited in size */

/* ---- which rows ---- */

double diff_least(const struct diff *d, const struct diff_print *p)
{
	const struct diff_value *total = &diff_metric(d, 0)->total;
	double whole = 0;
	unsigned side;

	for (side = 0; side < DIFF_N_SIDES; side++)
		if (total->side[side].n)
			whole = fmax(whole, fabs(total->side[side].median));
	return fmax(p->least, p->threshold * whole);
}

static bool differs(const struct diff *d, uint32_t id, size_t metric)
{
	return diff_value(d, id, metric)->status != DIFF_SAME;
}

bool diff_is_shown(const struct diff *d, const struct diff_print *p, uint32_t id)
{
	bool shown = p->all;

	if (p->depth && diff_node(d, id)->depth >= p->depth)
		return false;
	if ((p->threshold > 0 || p->least > 0) &&
	    !(fabs(diff_value(d, id, 0)->delta) >= diff_least(d, p)))
		return false;
	for (size_t m = 0; m < diff_n_metrics(d) && !shown; m++)
		shown = differs(d, id, m);
	return shown;
}

/* Does a change of any metric arise there, or where no line tells it? */
static bool is_cause(const struct diff_printer *x, uint32_t id)
{
	for (size_t m = 0; m < diff_n_metrics(x->d); m++) {
		uint32_t cause = diff_cause(x->d, id, m);

		if (differs(x->d, id, m) && (cause == id || !diff_is_shown(x->d, x->p, cause)))
			return true;
	}
	return false;
}

static uint32_t tree_next(const struct diff *d, uint32_t id)
{
	if (diff_node(d, id)->first_child != DIFF_NONE)
		return diff_node(d, id)->first_child;
	while (id != DIFF_NONE && diff_node(d, id)->next_sibling == DIFF_NONE)
		id = diff_node(d, id)->parent;
	return id == DIFF_NONE ? id : diff_node(d, id)->next_sibling;
}

/* The nodes that are shown and those above them, in the order of the tree. */
static int choose_tree(struct diff_printer *x)
{
	uint32_t n = diff_n(x->d), id;
	bool *keep = calloc(n, sizeof(*keep));

	x->ids = malloc(n * sizeof(*x->ids));
	if (!keep || !x->ids) {
		free(keep);
		return -ENOMEM;
	}
	for (id = n; id-- > 1;) {
		keep[id] |= diff_is_shown(x->d, x->p, id);
		keep[diff_node(x->d, id)->parent] |= keep[id];
	}
	for (id = tree_next(x->d, 0); id != DIFF_NONE; id = tree_next(x->d, id))
		if (keep[id])
			x->ids[x->n++] = id;
	free(keep);
	return 0;
}

static int choose_flat(struct diff_printer *x)
{
	uint32_t n = diff_n(x->d) - 1, i;

	x->ids = diff_sorted(x->d);
	if (!x->ids)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		uint32_t id = x->ids[i];

		if (!diff_is_shown(x->d, x->p, id))
			continue;
		if (x->p->all || x->p->format == DIFF_JSON || is_cause(x, id))
			x->ids[x->n++] = id;
		else
			x->n_elsewhere++;
	}
	return 0;
}

int diff_choose_rows(struct diff_printer *x)
{
	int r = x->p->tree ? choose_tree(x) : choose_flat(x);
	unsigned rows = x->p->rows;

	if (!rows && x->p->format == DIFF_MARKDOWN)
		rows = MARKDOWN_ROWS;
	if (rows && x->n > rows) {
		x->n_left_out = x->n - rows;
		x->n = rows;
	}
	return r;
}

/* ---- names ---- */

/* Readable names, of both sides together: those that are alike get longer. */
int diff_make_names(struct diff_printer *x)
{
	uint32_t n = diff_n(x->d);

	x->frames = session_new();
	x->nodes = malloc(n * sizeof(*x->nodes));
	if (!x->frames || !x->nodes)
		return -ENOMEM;
	for (uint32_t id = 0; id < n; id++) {
		uint32_t name = strtab_adds(x->frames->strings, diff_name(x->d, id));
		uint32_t frame =
			session_frame_intern(x->frames, (enum frame_kind)diff_node(x->d, id)->kind,
					     name, SESSION_NONE, 0);

		if (name == STRTAB_NONE || frame == SESSION_NONE)
			return -ENOMEM;
		x->nodes[id] = session_node_intern(x->frames, SESSION_ROOT, frame);
		if (x->nodes[id] == SESSION_NONE)
			return -ENOMEM;
	}
	x->names = frame_names_new(x->frames, x->p->naming, false);
	return x->names ? 0 : -ENOMEM;
}

static const char *shown_name(const struct diff_printer *x, uint32_t id)
{
	return frame_names_get(x->names, x->nodes[id], (enum name_mode)x->p->names);
}

/* The name in the tree, or the whole path in a list. */
const char *diff_row_name(struct diff_printer *x, uint32_t id)
{
	const char *path[64];
	uint32_t n = 0, i;

	buf_clear(&x->name);
	if (x->p->tree || id == 0) {
		buf_printf(&x->name, "%*s", 2 * MIN((int)diff_node(x->d, id)->depth, 40), "");
		buf_puts(&x->name, shown_name(x, id));
		return buf_str(&x->name);
	}
	for (i = id; i && n < ARRAY_SIZE(path); i = diff_node(x->d, i)->parent)
		path[n++] = shown_name(x, i);
	if (i)
		buf_puts(&x->name, x->p->ascii ? "... > " : "\xe2\x80\xa6 \xe2\x80\xba ");
	put_path(&x->name, path, n, x->p->ascii);
	return buf_str(&x->name);
}
