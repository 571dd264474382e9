/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

/* How deep lists of stacks go.
 *
 *   a ─ b ─ c ─ d       a 1, a;b 2, a;b;c 3, a;b;c;d 4: each context names all above it
 *
 * A chain of 50,000 contexts is 1.25 thousand million names. No program is as deep as that on average,
 * but a profile can be made to be. Within the budget every stack is whole. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/export.h"

#define NAMES_A_NODE 256
#define NAMES_MORE   (UINT64_C(8) << 20)

/* By node; the root's is 0. NULL: no memory. */
static uint32_t *depths_of(const struct session *s)
{
	uint32_t *depth = malloc(s->n_nodes * sizeof(*depth));

	if (!depth)
		return NULL;
	depth[SESSION_ROOT] = 0;
	for (size_t i = 1; i < s->n_nodes; i++)
		depth[i] = depth[s->nodes[i].parent] + 1;
	return depth;
}

/* Does a context have a stack of its own? v NULL: each has a path. */
static bool is_listed(const struct export_stacks *v, size_t n, uint32_t node)
{
	for (size_t i = 0; v && i < n; i++)
		if (v[i].own[node] > 0)
			return true;
	return !v;
}

/* By depth: contexts that are listed, and all contexts. */
struct levels {
	uint64_t *listed, *all;
	uint32_t n;
};

static void levels_done(struct levels *l)
{
	free(l->listed);
	free(l->all);
}

static int count_levels(struct levels *l, const struct session *s, const uint32_t *depth,
			const struct export_stacks *v, size_t n)
{
	l->listed = calloc(s->n_nodes + 1, sizeof(*l->listed));
	l->all = calloc(s->n_nodes + 1, sizeof(*l->all));
	if (!l->listed || !l->all)
		return -ENOMEM;
	for (uint32_t i = 1; i < s->n_nodes; i++) {
		l->all[depth[i]]++;
		l->listed[depth[i]] += is_listed(v, n, i);
		l->n = MAX(l->n, depth[i]);
	}
	return 0;
}

/* Names of all stacks that end at a level or above it; what is deeper ends in the contexts of that level.
 * Of paths, each goes on to be one. */
static uint64_t names_at(const struct levels *l, uint32_t level, uint64_t above, uint64_t deeper,
			 bool folds)
{
	return above + level * (folds ? l->all[level] : l->listed[level] + deeper);
}

/* The deepest level at which the names are within the budget; UINT32_MAX: all are. */
static uint32_t deepest(const struct levels *l, uint64_t most, bool folds)
{
	uint64_t above = 0, deeper = 0, all = 0;
	uint32_t level;

	for (level = 1; level <= l->n; level++) {
		deeper += l->listed[level];
		all += level * l->listed[level];
	}
	if (all <= most)
		return UINT32_MAX;
	for (level = 1; level <= l->n; level++) {
		deeper -= l->listed[level];
		if (names_at(l, level, above, deeper, folds) > most)
			break;
		above += level * l->listed[level];
	}
	return MAX(level, 2u) - 1;
}

/* The most names of a stack, or path, with which all of them stay within the budget. 0 or -ENOMEM. */
static int find_limit(const struct session *s, const uint32_t *depth, const struct export_stacks *v,
		      size_t n, uint32_t *ret)
{
	_cleanup_(levels_done) struct levels l = {0};
	int r = count_levels(&l, s, depth, v, n);

	if (r == 0)
		*ret = deepest(&l, NAMES_A_NODE * (uint64_t)s->n_nodes + NAMES_MORE, v != NULL);
	return r;
}

/* Children come behind their parents: what is too deep moves up a level at a time. */
static void fold_weights(struct export_stacks *x, const uint32_t *depth, uint32_t most)
{
	for (size_t i = x->s->n_nodes; i-- > 1;) {
		double *up = &x->own[x->s->nodes[i].parent];

		if (depth[i] <= most || !(x->own[i] > 0))
			continue;
		*up = export_sum(*up, x->own[i]);
		x->own[i] = 0;
		x->is_folded = true;
	}
}

static uint32_t count_deep(const struct session *s, const uint32_t *depth, uint32_t most,
			   const struct export_stacks *v, size_t n)
{
	uint32_t sum = 0;

	for (uint32_t i = 1; i < s->n_nodes; i++)
		sum += depth[i] > most && is_listed(v, n, i);
	return sum;
}

int export_stacks_limit(struct export_stacks *v, size_t n)
{
	const struct session *s = v[0].s;
	_cleanup_(freep) uint32_t *depth = depths_of(s);
	uint32_t most = 0;
	int r = depth ? find_limit(s, depth, v, n, &most) : -ENOMEM;

	if (r < 0 || most == UINT32_MAX)
		return r;
	if (v[0].notes) {
		v[0].notes->depth = most;
		v[0].notes->n_deep = count_deep(s, depth, most, v, n);
	}
	for (size_t i = 0; i < n; i++)
		fold_weights(&v[i], depth, most);
	return 0;
}

int export_paths_limit(const struct session *s, struct write_notes *notes, uint32_t *ret)
{
	_cleanup_(freep) uint32_t *depth = depths_of(s);
	int r = depth ? find_limit(s, depth, NULL, 0, ret) : -ENOMEM;

	if (r == 0 && *ret < UINT32_MAX && notes) {
		notes->depth = *ret;
		notes->n_short = count_deep(s, depth, *ret, NULL, 0);
	}
	return r;
}

/* As of paths, but that each execution has its own. */
int export_events_limit(const struct session *s, struct write_notes *notes, uint32_t *ret)
{
	_cleanup_(freep) uint32_t *depth = depths_of(s);
	_cleanup_(levels_done) struct levels l = {0};
	int r = depth ? count_levels(&l, s, depth, NULL, 0) : -ENOMEM;

	if (r < 0)
		return r;
	memset(l.listed, 0, (s->n_nodes + 1) * sizeof(*l.listed));
	for (size_t i = 0; i < s->n_intervals; i++)
		l.listed[depth[s->intervals[i].node]]++;
	*ret = deepest(&l, NAMES_A_NODE * (uint64_t)s->n_intervals + NAMES_MORE, false);
	if (*ret < UINT32_MAX && notes) {
		notes->depth = *ret;
		notes->n_short = count_deep(s, depth, *ret, NULL, 0);
	}
	return 0;
}
