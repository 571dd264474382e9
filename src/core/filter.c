/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/filter.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"
#include "core/column.h"
#include "core/name_pattern.h"

uint8_t *filter_all(const struct snapshot *snap)
{
	const struct snap_node *nodes = snapshot_nodes(snap);
	uint32_t n = snapshot_n(snap);
	uint8_t *mask = malloc(n ? n : 1);

	for (uint32_t i = 0; mask && i < n; i++)
		mask[i] = !nodes[i].metadata;
	return mask;
}

/* What nodes have below them: ROWS_OF_* and these, bits. Pages have times in a trace, and no numbers that a column could
 * ask for. */
enum { HAS_ELSE = ROWS_OF_THEIR_OWN + 1, HAS_PAGES = 2 * HAS_ELSE };

static unsigned rows_of(enum frame_kind kind, const char *name)
{
	return kind == FRAME_ALLOC         ? ROWS_OF_MEMORY
	       : kind == FRAME_CALL        ? ROWS_OF_CALLS
	       : kind == FRAME_INSTRUCTION ? ROWS_OF_CODE
	       : frame_is_form(kind, name) ? ROWS_OF_FORMS
					   : HAS_ELSE;
}

static void see_rows(uint8_t *seen, struct snapshot *snap)
{
	const struct session *s = snapshot_session(snap);
	const struct snap_node *nodes = snapshot_nodes(snap);
	const uint32_t *parents = snapshot_parents(snap);

	for (size_t row = 0; row < s->n_rows; row++) {
		uint32_t node = snapshot_row_node(snap, row);

		if (node < snapshot_n(snap))
			seen[node] |=
				rows_of(nodes[node].kind, session_node_name(s, s->rows[row].node));
	}
	for (uint32_t i = snapshot_n(snap); i-- > 1;) {
		if (nodes[i].kind == FRAME_PAGES)
			seen[i] |= HAS_PAGES;
		seen[parents[i]] |= seen[i];
	}
}

/* Those that the profile has. */
static unsigned rows_there(struct snapshot *snap)
{
	bool has_memory =
		snapshot_has(snap, METRIC_MEM_LIVE) || snapshot_has(snap, METRIC_MIGRATIONS) ||
		snapshot_has(snap, METRIC_CPU_FAULTS) || snapshot_has(snap, METRIC_GPU_FAULTS);

	return (has_memory ? ROWS_OF_MEMORY : 0) |
	       (snapshot_has(snap, METRIC_API_TIME) ? ROWS_OF_CALLS : 0) |
	       (snapshot_has(snap, METRIC_GRAPH_FORM) ? ROWS_OF_FORMS : 0) |
	       (snapshot_has(snap, METRIC_PC_SAMPLES) ? ROWS_OF_CODE : 0);
}

bool filter_has_unasked(struct snapshot *snap, unsigned asked)
{
	return rows_there(snap) & ~asked;
}

int filter_out_unasked(uint8_t *mask, struct snapshot *snap, unsigned asked)
{
	unsigned there = rows_there(snap);
	unsigned unasked = (there & ~asked) | (there & ROWS_OF_MEMORY ? HAS_PAGES : 0);
	_cleanup_(freep) uint8_t *seen = NULL;

	if (!unasked)
		return 0;
	seen = calloc(snapshot_n(snap), 1);
	if (!seen)
		return -ENOMEM;
	see_rows(seen, snap);
	for (uint32_t i = 1; i < snapshot_n(snap); i++)
		mask[i] &= !seen[i] || seen[i] & ~unasked;
	return 0;
}

uint8_t *filter_matching(struct snapshot *snap, const struct name_pattern *p)
{
	const uint8_t *hidden = snapshot_hidden(snap);
	uint32_t n = snapshot_n(snap);
	uint8_t *mask = malloc(n ? n : 1);
	struct name_matcher m;

	name_matcher_init(&m, snap, p);
	for (uint32_t i = 0; mask && i < n; i++)
		mask[i] = !hidden[i] && name_matcher_at(&m, i);
	name_matcher_done(&m);
	return mask;
}

/* ---- what is selected ---- */

/* Names are matched as they are come upon: most nodes are below one that is in or out already. What is
 * computed is there for all nodes. */
struct hits {
	struct name_matcher names;
	uint8_t *marks; /* NULL: it is names */
};

static int hits_init(struct hits *h, struct snapshot *snap, const struct selector *x,
		     const struct peaks *peaks)
{
	*h = (struct hits){0};
	if (!selector_names(x))
		return selector_marks(x, snap, peaks, &h->marks);
	name_matcher_init(&h->names, snap, selector_names(x));
	return 0;
}

static void hits_done(struct hits *h)
{
	if (!h->marks)
		name_matcher_done(&h->names);
	free(h->marks);
}

static inline bool is_hit(const struct hits *h, uint32_t node)
{
	return h->marks ? h->marks[node] : name_matcher_at(&h->names, node);
}

/* ---- masks ---- */

/* Flags in a mask while it is computed. A parent's id is smaller than its children's, so one pass
 * up and one pass down the ids reach all nodes below and above. */
enum { BELOW = 2, ABOVE = 4, PARENT = 8 };

/* What is above a hit is above one, too. */
static void keep_above(uint8_t *mask, const uint32_t *parents, uint32_t n)
{
	for (uint32_t i = n; i-- > 1;)
		if (mask[i] & ABOVE)
			mask[parents[i]] |= ABOVE;
}

/* Nodes below a hit with it. 0 or -ECANCELED. */
static int include_below(uint8_t *mask, struct snapshot *snap, const struct hits *h)
{
	const uint32_t *parents = snapshot_parents(snap);
	const struct tick *tick = snapshot_tick(snap);
	uint32_t n = snapshot_n(snap), i;

	for (i = 0; i < n && tick_at(tick, i, n); i++) {
		uint32_t parent = parents[i];

		if (mask[i] && ((parent != SNAP_NONE && (mask[parent] & BELOW)) || is_hit(h, i)))
			mask[i] |= BELOW | ABOVE;
	}
	keep_above(mask, parents, n);
	return i < n ? -ECANCELED : 0;
}

/* Nodes below a hit with it, unless there is another hit below it. */
static void include_last(uint8_t *mask, struct snapshot *snap, const struct hits *h)
{
	const uint32_t *parents = snapshot_parents(snap);
	uint32_t n = snapshot_n(snap), i;

	for (i = n; i-- > 1;)
		if (mask[i] && ((mask[i] & ABOVE) || is_hit(h, i)))
			mask[parents[i]] |= ABOVE;
	for (i = 1; i < n; i++)
		if (mask[i] && ((mask[parents[i]] & BELOW) || (is_hit(h, i) && !(mask[i] & ABOVE))))
			mask[i] |= BELOW | ABOVE;
}

/* within: a byte a node, or NULL: it is one that x selects, or below one, and not only above. */
static int include(uint8_t *mask, struct snapshot *snap, const struct selector *x,
		   const struct peaks *peaks, uint8_t *within)
{
	struct hits h;
	int r = hits_init(&h, snap, x, peaks);

	if (r < 0)
		return r;
	if (selector_is_condition(x))
		include_last(mask, snap, &h);
	else
		r = include_below(mask, snap, &h);
	for (uint32_t i = 0; i < snapshot_n(snap); i++) {
		if (within)
			within[i] = (mask[i] & BELOW) != 0;
		mask[i] = (mask[i] & ABOVE) != 0;
	}
	hits_done(&h);
	return r;
}

int filter_include(uint8_t *mask, struct snapshot *snap, const struct selector *x,
		   const struct peaks *peaks)
{
	return include(mask, snap, x, peaks, NULL);
}

int filter_exclude(uint8_t *mask, struct snapshot *snap, const struct selector *x,
		   const struct peaks *peaks)
{
	const uint32_t *parents = snapshot_parents(snap);
	const struct tick *tick = snapshot_tick(snap);
	uint32_t n = snapshot_n(snap), i;
	struct hits h;
	int r = hits_init(&h, snap, x, peaks);

	if (r < 0)
		return r;
	for (i = 0; i < n && tick_at(tick, i, n); i++) {
		uint32_t parent = parents[i];

		if (mask[i] && ((parent != SNAP_NONE && !mask[parent]) || is_hit(&h, i)))
			mask[i] = 0;
	}
	hits_done(&h);
	return i < n ? -ECANCELED : 0;
}

/* within: as include() has it. */
static int make(const struct filter *f, struct snapshot *snap, uint8_t **ret_mask, uint8_t *within)
{
	uint8_t *mask = filter_all(snap);
	int r = mask ? 0 : -ENOMEM;

	if (r == 0 && f->include)
		r = include(mask, snap, f->include, f->peaks, within);
	if (r == 0 && f->exclude)
		r = filter_exclude(mask, snap, f->exclude, f->peaks);
	if (r == 0)
		*ret_mask = mask;
	else
		free(mask);
	return r;
}

int filter_make(const struct filter *f, struct snapshot *snap, uint8_t **ret_mask)
{
	return make(f, snap, ret_mask, NULL);
}

int filter_make_apart(const struct filter *f, struct snapshot *snap, uint8_t **ret_mask,
		      uint8_t **ret_metadata)
{
	const struct snap_node *nodes = snapshot_nodes(snap);
	uint32_t n = snapshot_n(snap);
	_cleanup_(freep) uint8_t *within = malloc(MAX(n, 1u));
	int r = within ? 0 : -ENOMEM;

	if (r == 0)
		memset(within, 1, MAX(n, 1u));
	if (r == 0)
		r = make(f, snap, ret_mask, within);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < n; i++)
		within[i] = nodes[i].metadata
				    ? nodes[i].parent != SNAP_NONE && within[nodes[i].parent]
				    : within[i] && (*ret_mask)[i];
	for (uint32_t i = 0; i < n; i++)
		within[i] &= nodes[i].metadata;
	*ret_metadata = within;
	within = NULL;
	return 0;
}

void filter_at_least(uint8_t *mask, const struct snapshot *snap, const double *values, double least)
{
	for (uint32_t i = snapshot_n(snap); i-- > 0;) {
		uint32_t parent = snapshot_node(snap, i)->parent;

		if (mask[i] && (values[i] >= least || (mask[i] & ABOVE))) {
			mask[i] |= BELOW;
			if (parent != SNAP_NONE)
				mask[parent] |= ABOVE;
		}
	}
	for (uint32_t i = snapshot_n(snap); i-- > 0;)
		mask[i] = (mask[i] & BELOW) != 0;
}

void filter_empty(uint8_t *mask, const struct snapshot *snap, const uint8_t *present)
{
	const struct session *s = snapshot_session(snap);
	uint32_t i, n = snapshot_n(snap);

	/* ABOVE: a child is shown, PARENT: there is one. From the end, so children are settled
	 * before their parents. */
	for (i = n; i-- > 0;) {
		const struct snap_node *node = snapshot_node(snap, i);
		bool bare = node->session_node != SESSION_NONE &&
			    session_first_row(s, node->session_node) == SESSION_NONE;
		bool there = !present || present[i];

		if (!there || (mask[i] & PARENT ? !(mask[i] & ABOVE) : bare && i))
			mask[i] = 0;
		mask[i] &= 1;
		if (i && there)
			mask[node->parent] |= (uint8_t)(PARENT | (mask[i] ? ABOVE : 0));
	}
}
