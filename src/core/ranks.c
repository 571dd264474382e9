/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/ranks.h"
#include "core/collective.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"
#include "core/metadata.h"
#include "core/nested.h"
#include "core/process_order.h"

struct spreader {
	const struct session *s;
	const struct metric *metric;
	uint32_t id;
	uint32_t *rank_of; /* process → number of its rank, dense */
	uint32_t *process; /* rank → one of its processes; n_processes: rows of no process */
	uint32_t n_ranks;
	double total;   /* of the rank that is being added */
	uint32_t *rows; /* ids, rank by rank */
	size_t *begin;  /* rank → first of its rows; one more than ranks */
	double *values; /* of one rank, by node */
	bool adds_up;   /* along the tree */
	struct {        /* for time on the host, which is that of scopes within, too */
		uint32_t *parents;
		double *elapsed;
	} host;
	uint8_t *has;
	const uint8_t *counted; /* by row; NULL: all are */
	uint8_t *collective;    /* by node; NULL: the metric is not time on devices */
	double in_collectives;  /* of the rank that is taken */
	uint8_t *metadata;      /* by node: of launches, which no rank is compared by */
};

static uint32_t rank_of_row(const struct spreader *x, uint32_t row)
{
	const struct session *s = x->s;
	uint32_t lane = s->rows[row].lane;
	uint32_t process = lane < s->n_lanes ? s->lanes[lane].process : SESSION_NONE;

	return x->rank_of[MIN(process, (uint32_t)s->n_processes)];
}

/* What belongs to no process comes last. */
static int ranks_number(struct spreader *x)
{
	const struct session *s = x->s;
	_cleanup_(freep) uint32_t *order = process_order_new(s);
	uint32_t n = (uint32_t)s->n_processes;

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		int32_t rank = s->processes[order[i]].rank;

		if (rank < 0 || i == 0 || s->processes[order[i - 1]].rank != rank)
			x->process[x->n_ranks++] = order[i];
		x->rank_of[order[i]] = x->n_ranks - 1;
	}
	x->process[x->n_ranks] = SESSION_NONE;
	x->rank_of[n] = x->n_ranks++;
	return 0;
}

static void rows_by_rank(struct spreader *x)
{
	size_t i, at = 0, n;

	for (i = 0; i < x->s->n_rows; i++)
		x->begin[rank_of_row(x, (uint32_t)i)]++;
	for (i = 0; i <= x->n_ranks; i++) {
		n = x->begin[i];
		x->begin[i] = at;
		at += n;
	}
	for (i = 0; i < x->s->n_rows; i++)
		x->rows[x->begin[rank_of_row(x, (uint32_t)i)]++] = (uint32_t)i;
	for (i = x->n_ranks; i > 0; i--)
		x->begin[i] = x->begin[i - 1];
	x->begin[0] = 0;
}

static void row_take(struct spreader *x, const struct session_row *r)
{
	uint32_t part;

	for (size_t i = 0; derive_part(x->id, i, &part); i++) {
		double v = session_row_number(x->s, r, part);

		if (isnan(v))
			continue;
		x->values[r->node] += v;
		x->has[r->node] = 1;
	}
}

/* Of elapsed time on the host what is a scope's own: that adds up. */
static int leave_own(struct spreader *x)
{
	size_t n = x->s->n_nodes;

	if (!x->host.elapsed)
		return 0;
	for (size_t i = 0; i < n; i++)
		x->host.elapsed[i] = x->has[i] ? x->values[i] : NAN;
	if (nested_own(x->host.parents, x->host.elapsed, (uint32_t)n, x->values) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		x->values[i] = fmax(x->values[i], 0); /* NaN: 0 */
	return 0;
}

/* What a node has counts above it, too. */
static void roll_up(struct spreader *x, uint32_t node, double v)
{
	uint32_t parent = x->s->nodes[node].parent;

	if (!node || !x->adds_up)
		x->total += v;
	if (node && x->adds_up) {
		x->values[parent] += v;
		x->has[parent] = 1;
	}
}

/* Add the values of one rank, rolled up, to the spread of each node. 0: it has none; 1:
 * it has; -ENOMEM. A parent's id is smaller than its children's. */
static int rank_take(struct spreader *x, uint32_t rank, struct spread *spread)
{
	const struct session *s = x->s;
	int any = 0;
	size_t i;

	x->total = x->in_collectives = 0;
	memset(x->values, 0, s->n_nodes * sizeof(*x->values));
	memset(x->has, 0, s->n_nodes);
	for (i = x->begin[rank]; i < x->begin[rank + 1]; i++)
		if ((!x->counted || x->counted[x->rows[i]]) &&
		    !x->metadata[s->rows[x->rows[i]].node])
			row_take(x, &s->rows[x->rows[i]]);
	if (leave_own(x) < 0)
		return -ENOMEM;
	for (i = s->n_nodes; i-- > 0;) {
		struct spread *to = &spread[i];
		double v = x->values[i];

		if (!x->has[i])
			continue;
		to->is_collective = x->collective && x->collective[i];
		if (to->is_collective)
			x->in_collectives += v;
		else
			roll_up(x, (uint32_t)i, v);
		if (!to->n || (to->is_collective ? v < to->min : v > to->max))
			to->slowest = x->process[rank];
		to->min = to->n ? MIN(to->min, v) : v;
		to->max = to->n ? MAX(to->max, v) : v;
		to->sum += v;
		to->n++;
		any = 1;
	}
	return any;
}

static int host_init(struct spreader *x)
{
	size_t n = x->s->n_nodes;

	if (x->id != METRIC_CPU_TIME)
		return 0;
	x->adds_up = true;
	x->host.parents = malloc(n * sizeof(*x->host.parents));
	x->host.elapsed = malloc(n * sizeof(*x->host.elapsed));
	if (!x->host.parents || !x->host.elapsed)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		x->host.parents[i] = x->s->nodes[i].parent;
	return 0;
}

static int spreader_init(struct spreader *x)
{
	size_t n = x->s->n_processes + 2;

	if (host_init(x) < 0)
		return -ENOMEM;

	x->rank_of = calloc(n, sizeof(*x->rank_of));
	x->process = calloc(n, sizeof(*x->process));
	x->begin = calloc(n + 1, sizeof(*x->begin));
	x->rows = calloc(x->s->n_rows + 1, sizeof(*x->rows));
	x->values = calloc(x->s->n_nodes, sizeof(*x->values));
	x->has = calloc(x->s->n_nodes, 1);
	x->metadata = metadata_nodes(x->s);
	x->collective = x->id == METRIC_TIME ? collective_nodes(x->s) : NULL;
	if (!x->rank_of || !x->process || !x->begin || !x->rows || !x->values || !x->has ||
	    !x->metadata || (x->id == METRIC_TIME && !x->collective))
		return -ENOMEM;
	return ranks_number(x);
}

static void spreader_done(struct spreader *x)
{
	free(x->rank_of);
	free(x->process);
	free(x->begin);
	free(x->rows);
	free(x->values);
	free(x->has);
	free(x->metadata);
	free(x->collective);
	free(x->host.parents);
	free(x->host.elapsed);
}

int ranks_init(struct ranks *ranks, const struct session *s, uint32_t metric,
	       const uint8_t *counted)
{
	struct spreader x = {
		.s = s, .metric = derive_metric(s, metric), .id = metric, .counted = counted};
	uint32_t rank;
	int r;

	*ranks = (struct ranks){0};
	if (!x.metric || metric_add_plain(x.metric->add) != METRIC_SUM ||
	    x.metric->type == METRIC_TEXT || x.metric->scope == METRIC_PROPERTY)
		return -EINVAL;
	x.adds_up = x.metric->scope == METRIC_INCLUSIVE;
	ranks->spread = calloc(s->n_nodes, sizeof(*ranks->spread));
	ranks->totals = calloc(s->n_processes + 1, sizeof(*ranks->totals));
	r = ranks->spread && ranks->totals ? spreader_init(&x) : -ENOMEM;
	if (r == 0)
		rows_by_rank(&x);
	for (rank = 0; r >= 0 && rank < x.n_ranks; rank++)
		if ((r = rank_take(&x, rank, ranks->spread)) > 0)
			ranks->totals[ranks->n++] =
				(struct rank_total){x.process[rank], x.total, x.in_collectives};
	spreader_done(&x);
	if (r < 0)
		ranks_done(ranks);
	return MIN(r, 0);
}

void ranks_done(struct ranks *ranks)
{
	free(ranks->spread);
	free(ranks->totals);
	*ranks = (struct ranks){0};
}

const struct column_spec spread_columns[SPREAD_N] = {
#define _(id, title_, form_, width_, rank, help_)                                                  \
	[SPREAD_##id] = {                                                                          \
		.title = title_,                                                                   \
		.help = help_,                                                                     \
		.form = FORM_##form_,                                                              \
		.width = width_,                                                                   \
		.priority = rank,                                                                  \
	},
	SPREAD_COLUMNS(_)
#undef _
};

double spread_value(const struct spread *x, enum spread_column column)
{
	double mean = x->n ? x->sum / x->n : NAN;

	if (!x->n)
		return NAN;
	switch (column) {
	case SPREAD_WAIT:
		return x->n == 1 ? NAN : x->is_collective ? mean - x->min : x->max - mean;
	case SPREAD_IMBALANCE:
		return x->n == 1 ? NAN : x->sum > 0 ? x->max / mean : 1;
	case SPREAD_SLOWEST:
		return NAN;
	case SPREAD_MEAN:
		return mean;
	case SPREAD_MAX:
		return x->max;
	case SPREAD_MIN:
		return x->min;
	case SPREAD_SUM:
		return x->sum;
	default:
		return x->n;
	}
}

void rank_name(const struct session *s, uint32_t process, char *out, size_t size)
{
	const struct session_process *p = &s->processes[process];
	const char *exe, *base;

	if (process >= s->n_processes) {
		snprintf(out, size, "-");
	} else if (p->rank >= 0) {
		snprintf(out, size, "%d", p->rank);
	} else if (p->pid) {
		snprintf(out, size, "pid %u", p->pid);
	} else {
		exe = session_text(s, p->exe);
		base = strrchr(exe, '/');
		snprintf(out, size, "%s", base ? base + 1 : exe);
	}
}

void slowest_name(const struct session *s, const struct spread *x, char *out, size_t size)
{
	char name[256];

	if (!x->n || (x->n > 1 && x->min == x->max)) {
		snprintf(out, size, "-");
		return;
	}
	rank_name(s, x->slowest, name, sizeof(name));
	if (x->n > 1)
		snprintf(out, size, "%s", name);
	else /* "only 41207": as wide as a pid by itself */
		snprintf(out, size, "only %s", name + (strncmp(name, "pid ", 4) ? 0 : 4));
}

static int compare_lost(const void *a, const void *b)
{
	const struct spread_row *x = a, *y = b;

	if (isnan(x->lost) != isnan(y->lost))
		return isnan(x->lost) ? 1 : -1;
	if (!isnan(x->lost) && x->lost != y->lost)
		return x->lost < y->lost ? 1 : -1;
	if (x->sum != y->sum)
		return x->sum < y->sum ? 1 : -1;
	return (x->node > y->node) - (x->node < y->node);
}

struct spread_row *ranks_sorted(const struct ranks *ranks, const struct session *s, uint32_t *ret_n)
{
	struct spread_row *rows = malloc(s->n_nodes * sizeof(*rows));
	uint32_t i, n = 0;

	if (!rows)
		return NULL;
	for (i = 1; i < s->n_nodes; i++)
		if (ranks->spread[i].n)
			rows[n++] =
				(struct spread_row){spread_value(&ranks->spread[i], SPREAD_WAIT),
						    ranks->spread[i].sum, i};
	qsort(rows, n, sizeof(*rows), compare_lost);
	*ret_n = n;
	return rows;
}
