/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/fold.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "base/idindex.h"
#include "base/util.h"
#include "core/line_name.h"
#include "core/alike.h"
#include "core/merge.h"

/* Nodes with names that are alike, below what is one parent by then. */
struct set_of_names {
	uint32_t first; /* node */
	uint64_t n;     /* different names */
};

struct folding {
	const struct session *s;
	uint32_t *
		same; /* by node: the first one with this frame, below what is one parent by then */
	uint32_t *to; /* by node: the first one of those that are one */
	uint32_t *set_of;    /* by node that is its own `same`, and may fold */
	uint8_t *folds;      /* by node: does it get the pattern for a name? */
	uint32_t *order;     /* by depth, the root first */
	uint32_t *level_end; /* in it, by depth */
	uint32_t n_levels;
	struct set_of_names *sets;
	uint32_t n_sets;
	uint32_t metric; /* how many names nodes stand for already */
	struct idindex frames, patterns;
};

/* ---- how many names a node stands for ---- */

static bool is_fold_metric(const struct metric *m)
{
	return m->type == METRIC_U64 && m->add == METRIC_MAX;
}

/* METRIC_NONE: none stands for more than one. A program may have a metric of this name, which is
 * another one. */
static uint32_t fold_metric(const struct session *s)
{
	uint32_t metric = metric_table_find(s->metrics, FOLD_METRIC);

	if (metric == METRIC_NONE || !is_fold_metric(metric_table_get(s->metrics, metric)))
		return METRIC_NONE;
	return metric;
}

static uint64_t names_of(const struct session *s, uint32_t node, uint32_t metric)
{
	union metric_value v;

	if (metric == METRIC_NONE || !session_value(s, node, metric, &v))
		return 1;
	return MAX(v.u64, 1);
}

const char *folded_text(const struct session *s, char out[FOLDED_TEXT_MAX])
{
	uint32_t metric = fold_metric(s), n_rows = 0, one = 0;
	uint64_t n_names = 0, n;

	for (uint32_t i = 0; metric != METRIC_NONE && i < s->n_nodes; i++) {
		n = names_of(s, i, metric);
		if (n < 2)
			continue;
		n_names += n;
		if (!n_rows++)
			one = i;
	}
	if (!n_rows)
		return NULL;
	snprintf(out, FOLDED_TEXT_MAX,
		 "%" PRIu64 " names that only count up are in %" PRIu32 " row%s%s '%.100s'",
		 n_names, n_rows, n_rows > 1 ? "s" : "", n_rows > 1 ? ", as" : ",",
		 session_node_name(s, one));
	return out;
}

static int folding_init(struct folding *f, const struct session *s)
{
	size_t n = s->n_nodes + 1;

	*f = (struct folding){.s = s,
			      .same = malloc(n * sizeof(*f->same)),
			      .to = malloc(n * sizeof(*f->to)),
			      .set_of = malloc(n * sizeof(*f->set_of)),
			      .folds = calloc(n, 1),
			      .order = malloc(n * sizeof(*f->order)),
			      .level_end = calloc(n + 1, sizeof(*f->level_end)),
			      .sets = malloc(n * sizeof(*f->sets)),
			      .metric = fold_metric(s)};
	return f->same && f->to && f->set_of && f->folds && f->order && f->level_end && f->sets
		       ? 0
		       : -ENOMEM;
}

static void folding_done(struct folding *f)
{
	free(f->same);
	free(f->to);
	free(f->set_of);
	free(f->folds);
	free(f->order);
	free(f->level_end);
	free(f->sets);
	idindex_done(&f->frames);
	idindex_done(&f->patterns);
}

/* ---- levels ---- */

/* Put the nodes in the order of their depths. */
static int order_make(struct folding *f)
{
	const struct session_node *nodes = f->s->nodes;
	uint32_t n = (uint32_t)f->s->n_nodes, sum = 0;
	_cleanup_(freep) uint32_t *depth = calloc((size_t)n + 1, sizeof(*depth));
	uint32_t *place = f->level_end;

	if (!depth)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		depth[i] = i == SESSION_ROOT ? 0 : depth[nodes[i].parent] + 1;
		f->n_levels = MAX(f->n_levels, depth[i] + 1);
		place[depth[i] + 1]++;
	}
	for (uint32_t d = 0; d < f->n_levels; d++) {
		sum += place[d];
		place[d] = sum;
	}
	for (uint32_t i = 0; i < n; i++)
		f->order[place[depth[i]]++] = i;
	return 0;
}

/* ---- which nodes are one ---- */

/* In a file that does not say what its frames are, leaves with time on a device are kernels. */
static bool is_work(const struct session *s, uint32_t node)
{
	union metric_value time;

	return s->nodes[node].first_child == SESSION_NONE &&
	       session_value(s, node, METRIC_TIME, &time);
}

static bool may_fold(const struct session *s, uint32_t node)
{
	struct line_name place;
	const char *name;

	switch (session_node_kind(s, node)) {
	case FRAME_SCOPE:
	case FRAME_STATE:
	case FRAME_NVTX:
	case FRAME_RANGE:
	case FRAME_MARK:
		return true;
	case FRAME_FUNCTION:
		name = session_node_name(s, node);
		return !is_work(s, node) && !line_name_parse(name, strlen(name), &place);
	default:
		return false;
	}
}

static uint32_t parent_of(const struct folding *f, uint32_t node)
{
	return f->to[f->s->nodes[node].parent];
}

static bool same_frame(const void *ctx, uint32_t id, const void *key)
{
	const struct folding *f = ctx;
	uint32_t node = *(const uint32_t *)key;

	return parent_of(f, id) == parent_of(f, node) &&
	       f->s->nodes[id].frame == f->s->nodes[node].frame;
}

static bool same_pattern(const void *ctx, uint32_t id, const void *key)
{
	const struct folding *f = ctx;
	uint32_t node = *(const uint32_t *)key, one = f->sets[id].first;

	return parent_of(f, one) == parent_of(f, node) &&
	       session_node_kind(f->s, one) == session_node_kind(f->s, node) &&
	       names_alike(session_node_name(f->s, one), session_node_name(f->s, node));
}

/* Count a name that is new below its parent. */
static int count_name(struct folding *f, uint32_t node)
{
	uint64_t hash = alike_hash(session_node_name(f->s, node), parent_of(f, node));
	uint32_t set = idindex_find(&f->patterns, hash, same_pattern, f, &node);

	if (set == IDINDEX_NONE) {
		set = f->n_sets++;
		f->sets[set] = (struct set_of_names){node, 0};
		if (idindex_add(&f->patterns, hash, set) < 0)
			return -ENOMEM;
	}
	f->sets[set].n += names_of(f->s, node, f->metric);
	f->set_of[node] = set;
	return 0;
}

/* Its parent is settled. */
static int meet(struct folding *f, uint32_t node)
{
	uint64_t hash = hash_pair(parent_of(f, node), f->s->nodes[node].frame);
	uint32_t known = idindex_find(&f->frames, hash, same_frame, f, &node);

	f->set_of[node] = UINT32_MAX;
	f->same[node] = known == IDINDEX_NONE ? node : known;
	if (known != IDINDEX_NONE)
		return 0;
	if (idindex_add(&f->frames, hash, node) < 0)
		return -ENOMEM;
	return may_fold(f->s, node) ? count_name(f, node) : 0;
}

/* Its siblings have been met. */
static void settle(struct folding *f, uint32_t node)
{
	uint32_t same = f->same[node], set = f->set_of[same];

	f->folds[node] = set != UINT32_MAX && f->sets[set].n > 1;
	f->to[node] = f->folds[node] ? f->sets[set].first : same;
}

/* Level by level: which nodes are siblings is known when those above are settled. */
static int find_sets(struct folding *f)
{
	int r = 0;

	f->to[SESSION_ROOT] = SESSION_ROOT;
	for (uint32_t d = 1; d < f->n_levels && r == 0; d++) {
		uint32_t from = f->level_end[d - 1], to = f->level_end[d];

		for (uint32_t i = from; i < to && r == 0; i++)
			r = meet(f, f->order[i]);
		for (uint32_t i = from; i < to && r == 0; i++)
			settle(f, f->order[i]);
	}
	return r;
}

/* ---- the session ---- */

/* How many names each of them stands for. */
static int tell_counts(const struct folding *f, const uint32_t *nodes, struct session *into)
{
	const struct metric folded = {FOLD_METRIC,      "",         METRIC_U64,
				      METRIC_EXCLUSIVE, METRIC_MAX, METRIC_NONE};
	const struct metric *found;
	uint32_t metric, lane, epoch;

	metric = session_metric_add(into, &folded);
	if (metric == METRIC_NONE)
		return -ENOMEM;
	found = metric_table_get(into->metrics, metric);
	if (!is_fold_metric(found))
		return 0;
	for (uint32_t i = 0; i < f->n_sets; i++) {
		uint32_t node = nodes[f->sets[i].first], row;
		const union metric_value n = {.u64 = f->sets[i].n};

		if (f->sets[i].n < 2)
			continue;
		/* Where it has others; if it has none, nowhere. */
		row = session_first_row(into, node);
		lane = row != SESSION_NONE ? into->rows[row].lane
					   : session_lane_intern(into, &session_nowhere);
		epoch = row != SESSION_NONE ? into->rows[row].epoch : 0;
		if (lane == SESSION_NONE || session_add(into, node, lane, epoch, metric, n) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int fold_into(struct folding *f, struct session *into)
{
	_cleanup_(merge_freep) struct merge *m = merge_new(into);
	int r = m ? find_sets(f) : -ENOMEM;

	if (r == 0) {
		merge_fold(m, f->folds);
		r = merge_add(m, f->s, NULL);
	}
	return r < 0 ? r : tell_counts(f, merge_nodes(m), into);
}

int session_fold_numbers(const struct session *s, struct session **ret)
{
	struct session *into = session_new();
	struct folding f;
	int r = folding_init(&f, s);

	if (r == 0)
		r = order_make(&f);
	if (r == 0)
		r = into ? fold_into(&f, into) : -ENOMEM;
	folding_done(&f);
	if (r < 0)
		session_free(into);
	else
		*ret = into;
	return r;
}
