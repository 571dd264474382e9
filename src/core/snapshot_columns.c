/* SPDX-License-Identifier: MIT */
/* A metric over all nodes of the view: their own values, rolled up, per second. */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <math.h>
#include <string.h>
#include "base/util.h"
#include "core/nested.h"
#include "core/parted.h"
#include "core/graph_shares.h"
#include "core/snapshot_impl.h"

/* What was computed, and what rates are made of, counts from elsewhere now. */
void columns_restart(struct snapshot *snap, bool has_before)
{
	size_t i;

	for (i = 0; i < snap->view.n_columns; i++) {
		snap->view.columns[i]->fresh = snap->view.columns[i]->rate_fresh = false;
		snap->view.columns[i]->has_total = false;
		snap->view.columns[i]->n_before = 0;
		snap->view.columns[i]->has_before &= has_before;
	}
}

void columns_recall(struct snapshot *snap)
{
	bool fresh = snap->view.picture == snap->picture;

	for (size_t i = 0; i < snap->view.n_columns; i++) {
		struct column_state *c = snap->view.columns[i];

		c->fresh &= fresh;
		c->has_total &= fresh;
		c->rate_fresh = c->has_before = false;
		c->n_before = 0;
	}
}

static void column_move(struct column_state *c, double *raw)
{
	c->raw = raw;
	c->out.v = raw;
	c->rate_fresh = c->has_before = false;
	c->n_before = 0;
}

void columns_lower(struct snapshot *snap)
{
	for (size_t i = 0; i < snap->view.n_columns; i++) {
		struct column_state *c = snap->view.columns[i];
		const struct metric *m = metric_table_get(snap->s->metrics, c->metric);

		column_move(c, c->room);
		if (c->fresh)
			c->raw[0] = c->inclusive && m->scope == METRIC_INCLUSIVE ? c->raw[1] : NAN;
	}
}

void columns_raise(struct snapshot *snap)
{
	for (size_t i = 0; i < snap->view.n_columns; i++) {
		struct column_state *c = snap->view.columns[i];

		column_move(c, c->room ? c->room + 1 : NULL);
	}
}

static void use_sets(struct snapshot *snap)
{
	const struct session *s = snap->s;

	for (; snap->n_used_sets < s->n_sets; snap->n_used_sets++)
		for (uint32_t i = 0; i < s->sets[snap->n_used_sets].n; i++)
			snap->used[s->sets[snap->n_used_sets].metrics[i]] = true;
}

/* The session has ended: look at the rows, as a set may list a metric that no row has. */
static void use_rows(struct snapshot *snap)
{
	const struct session *s = snap->s;

	memset(snap->used, 0, snap->n_used * sizeof(*snap->used));
	for (size_t k = 0; k < s->n_rows; k++) {
		const struct session_set *set = &s->sets[s->rows[k].set];

		for (uint32_t i = 0; i < set->n; i++)
			snap->used[set->metrics[i]] |= s->present[s->rows[k].values + i];
	}
	snap->used_at_end = true;
}

/* Is a metric used? Most metrics that a session knows are not, and need no column. */
bool metric_used(struct snapshot *snap, uint32_t metric)
{
	size_t n = metric_table_count(snap->s->metrics);

	if (ARRAY_ROOM(snap->used, snap->cap_used, n) < 0)
		return true;
	for (; snap->n_used < n; snap->n_used++)
		snap->used[snap->n_used] = false;
	if (!snap->s->ended)
		use_sets(snap);
	else if (!snap->used_at_end)
		use_rows(snap);
	return snap->used[metric];
}

bool snapshot_has(struct snapshot *snap, uint32_t metric)
{
	return metric < metric_table_count(snap->s->metrics) && metric_used(snap, metric);
}

/* One column without values, shared by all metrics that are not used. */
static const struct snap_column *column_absent(struct snapshot *snap)
{
	if (ARRAY_ROOM(snap->absent, snap->cap_absent, snap->view.n) < 0)
		return NULL;
	for (; snap->n_absent < snap->view.n; snap->n_absent++)
		snap->absent[snap->n_absent] = NAN;
	snap->absent_out.v = snap->absent;
	return &snap->absent_out;
}

/* A column that was asked for before, or NULL. */
static struct column_state *column_known(const struct snapshot *snap, uint32_t metric,
					 bool inclusive)
{
	for (size_t i = 0; i < snap->view.n_columns; i++)
		if (snap->view.columns[i]->metric == metric &&
		    snap->view.columns[i]->inclusive == inclusive)
			return snap->view.columns[i];
	return NULL;
}

static struct column_state *column_find(struct snapshot *snap, uint32_t metric, bool inclusive)
{
	struct column_state *c = column_known(snap, metric, inclusive);

	if (c)
		return c;
	if (ARRAY_ROOM(snap->view.columns, snap->view.cap_columns, snap->view.n_columns + 1) < 0)
		return NULL;
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->metric = metric;
	c->inclusive = inclusive;
	snap->view.columns[snap->view.n_columns++] = c;
	return c;
}

static void column_free(struct column_state *c)
{
	free(c->room);
	free(c->before);
	free(c->rate);
	free(c);
}

/* A value of the picture, counted from the last reset. False: nothing has come since, or it is a
 * minimum or a maximum, which is known for the whole run only. */
static inline bool picture_value(const struct snapshot *snap, const struct metric *m, uint32_t at,
				 union metric_value v, double *ret)
{
	*ret = m->type == METRIC_TEXT ? (double)v.text : metric_number(m, v);
	if (at >= snap->n_base || !snap->base_present[at])
		return true;
	if (m->add == METRIC_MIN || m->add == METRIC_MAX)
		return false;
	if (m->add != METRIC_SUM || m->type == METRIC_TEXT)
		return true;
	if (m->type == METRIC_U64)
		*ret = v.u64 > snap->base[at].u64 ? (double)(v.u64 - snap->base[at].u64) : 0;
	else
		*ret -= snap->base[at].f64;
	return *ret != 0;
}

/* Where each set has a metric; malloc'd, NULL: out of memory. */
#define NOWHERE UINT32_MAX

static uint32_t *metric_places(const struct session *s, uint32_t metric)
{
	uint32_t *places = malloc((s->n_sets + 1) * sizeof(*places));

	for (size_t k = 0; places && k < s->n_sets; k++) {
		uint32_t i = 0;

		while (i < s->sets[k].n && s->sets[k].metrics[i] != metric)
			i++;
		places[k] = i < s->sets[k].n ? i : NOWHERE;
	}
	return places;
}

/* The usual case, a million rows at a time: a number that adds up, counted from the beginning. */
static void sum_rows(const struct snapshot *snap, const struct metric *m, const uint32_t *places,
		     const uint8_t *left_out, double *v)
{
	const union metric_value *values = picture_values(snap);
	const uint8_t *present = picture_present(snap);
	const bool whole = m->type == METRIC_U64;

	for (size_t i = 0; i < snap->view.n_rows; i++) {
		const struct session_row *r = &snap->s->rows[i];
		uint32_t node = snap->view.row_node[i], at = r->values + places[r->set];

		if (places[r->set] == NOWHERE || !present[at] || (left_out && left_out[node]))
			continue;
		add_present(&v[node], whole ? (double)values[at].u64 : values[at].f64);
	}
}

static bool is_plain_sum(const struct snapshot *snap, const struct metric *m)
{
	return m->add == METRIC_SUM && m->type != METRIC_TEXT && !snap->n_base;
}

/* Own values of all nodes from the rows of the picture; hidden: of those that are, too. */
static int column_exclusive(const struct snapshot *snap, uint32_t metric, bool hidden, double *v,
			    double *w)
{
	const struct metric *m = metric_table_get(snap->s->metrics, metric);
	const union metric_value *values = picture_values(snap);
	const uint8_t *present = picture_present(snap);
	const uint8_t *left_out = !hidden && snap->view.any_hidden ? snap->view.hidden : NULL;
	_cleanup_(freep) uint32_t *places = metric_places(snap->s, metric);
	double unweighted = 0;

	if (!places)
		return -ENOMEM;
	if (is_plain_sum(snap, m)) {
		sum_rows(snap, m, places, left_out, v);
		return 0;
	}
	for (size_t i = 0; i < snap->view.n_rows; i++) {
		const struct session_row *r = &snap->s->rows[i];
		uint32_t node = snap->view.row_node[i], at = r->values + places[r->set];
		double weight = 1, value;

		if (places[r->set] == NOWHERE || !present[at] || (left_out && left_out[node]) ||
		    !picture_value(snap, m, at, values[at], &value))
			continue;
		if (m->add == METRIC_WMEAN)
			weight = session_row_weight(snap->s, r, m->weight, values, present);
		metric_add_number(m, &v[node], w ? &w[node] : &unweighted, value, weight);
	}
	return 0;
}

/* ---- what a mask parts ---- */

/* Hidden nodes that have work of their own. */
static int find_hidden_work(struct snapshot *snap)
{
	_cleanup_(freep) double *time = malloc(MAX(snap->view.n, (size_t)1) * sizeof(*time));

	if (!time || ARRAY_ROOM(snap->parted, snap->cap_parted, MAX(snap->view.n, (size_t)1)) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < snap->view.n; i++)
		time[i] = NAN;
	if (column_exclusive(snap, METRIC_TIME, true, time, NULL) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < snap->view.n; i++)
		snap->parted[i] =
			snap->view.hidden[i] && !snap->view.nodes[i].metadata && !isnan(time[i]);
	return 0;
}

const uint8_t *snapshot_parted(struct snapshot *snap)
{
	if (!snap->view.masked || !snap->view.any_hidden)
		return NULL;
	if (snap->parted_generation == snap->generation)
		return snap->parted;
	if (find_hidden_work(snap) < 0)
		return NULL;
	if (snapshot_mark_above(snap, snap->parted) < 0)
		return NULL;
	snap->parted_generation = snap->generation;
	return snap->parted;
}

/* What cannot be told of a part is absent. */
static void leave_out_parted(struct snapshot *snap, uint32_t metric, double *v)
{
	const uint8_t *parted = parted_metric(snap->s, metric) ? snapshot_parted(snap) : NULL;

	for (size_t i = 0; parted && i < snap->view.n; i++)
		if (parted[i])
			v[i] = NAN;
}

/* ---- columns ---- */

/* Siblings that follow each other are added up in a register. */
static void sum_up(const uint32_t *parents, size_t n, double *v)
{
	uint32_t at = 0;
	double sum = n ? v[0] : NAN;

	for (size_t i = n; i-- > 1;) {
		if (parents[i] != at) {
			v[at] = sum;
			at = parents[i];
			sum = v[at];
		}
		add_present(&sum, v[i]);
	}
	if (n)
		v[at] = sum;
}

/* A parent's id is smaller than its children's: one pass from the end rolls up. w: NULL, or what
 * weighs each value. */
static void column_roll_up(const struct snapshot *snap, const struct metric *m, double *v,
			   double *w)
{
	double unweighted = 0;
	size_t i;

	if (metric_add_plain(m->add) == METRIC_SUM) {
		sum_up(snap->view.parents, snap->view.n, v);
		return;
	}
	for (i = snap->view.n; i-- > 1;) {
		uint32_t up = snap->view.parents[i];

		metric_add_number(m, &v[up], w ? &w[up] : &unweighted, v[i], w ? w[i] : 0);
	}
}

static int column_compute(struct snapshot *snap, struct column_state *c);

/* Own values: from the exclusive column where that exists, else from the rows. */
static int column_own(struct snapshot *snap, struct column_state *c, double *w)
{
	struct column_state *own = c->inclusive && !w ? column_known(snap, c->metric, false) : NULL;

	if (own) {
		if (!own->fresh && column_compute(snap, own) < 0)
			return -ENOMEM;
		memcpy(c->raw, own->raw, snap->view.n * sizeof(*c->raw));
		return 0;
	}
	for (size_t i = 0; i < snap->view.n; i++)
		c->raw[i] = NAN;
	if (column_exclusive(snap, c->metric, false, c->raw, w) < 0)
		return -ENOMEM;
	leave_out_parted(snap, c->metric, c->raw);
	return 0;
}

/* Behind a place for the node of a group that comes later, unless it has come. */
static int raw_room(const struct snapshot *snap, struct column_state *c)
{
	if (ARRAY_ROOM(c->room, c->cap_room, snap->view.n + 1) < 0)
		return -ENOMEM;
	c->raw = c->room + (snap->view.n_lowered ? 0 : 1);
	return 0;
}

static int column_compute(struct snapshot *snap, struct column_state *c)
{
	const struct metric *m = metric_table_get(snap->s->metrics, c->metric);
	_cleanup_(freep) double *w = NULL;

	if (!m || raw_room(snap, c) < 0)
		return -ENOMEM;
	if (m->add == METRIC_WMEAN) {
		w = calloc(snap->view.n, sizeof(*w));
		if (!w)
			return -ENOMEM;
	}
	if (column_own(snap, c, w) < 0)
		return -ENOMEM;
	if (c->inclusive && m->scope == METRIC_INCLUSIVE)
		column_roll_up(snap, m, c->raw, w);
	if (c->inclusive && !snap->view.masked) {
		c->total = c->raw[0];
		c->has_total = true;
	}
	c->out.v = c->raw;
	c->fresh = true;
	return 0;
}

static struct column_state *column_get(struct snapshot *snap, uint32_t metric, bool inclusive)
{
	struct column_state *c;

	if (metric >= metric_table_count(snap->s->metrics))
		return NULL;
	c = column_find(snap, metric, inclusive);
	if (!c || (!c->fresh && column_compute(snap, c) < 0))
		return NULL;
	return c;
}

const struct snap_column *snapshot_column(struct snapshot *snap, uint32_t metric, bool inclusive)
{
	struct column_state *c;

	if (metric < metric_table_count(snap->s->metrics) && !metric_used(snap, metric))
		return column_absent(snap);
	c = column_get(snap, metric, inclusive);
	return c ? &c->out : NULL;
}

int snapshot_own(struct snapshot *snap, uint32_t metric, double *own)
{
	_cleanup_(freep) double *elapsed = malloc(MAX(snap->view.n, (size_t)1) * sizeof(*elapsed));
	double *v = metric == METRIC_CPU_TIME ? elapsed : own;

	if (!elapsed)
		return -ENOMEM;
	for (size_t i = 0; i < snap->view.n; i++)
		v[i] = NAN;
	if (column_exclusive(snap, metric, true, v, NULL) < 0)
		return -ENOMEM;
	if (metric != METRIC_CPU_TIME)
		return 0;
	if (nested_own(snap->view.parents, elapsed, (uint32_t)snap->view.n, own) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < snap->view.n; i++)
		if (own[i] < 0)
			own[i] = 0;
	return 0;
}

/* What is nested in time on the host must be taken from it first; other values of an inclusive column
 * are those of its root, if it was computed before a mask came. */
double snapshot_total(struct snapshot *snap, uint32_t metric)
{
	const struct column_state *c = column_known(snap, metric, true);
	_cleanup_(freep) double *own = NULL;
	double sum = NAN;

	if (c && c->has_total && metric != METRIC_CPU_TIME)
		return c->total;
	own = malloc(MAX(snap->view.n, (size_t)1) * sizeof(*own));
	if (!own || !metric_used(snap, metric) || snapshot_own(snap, metric, own) < 0)
		return NAN;
	for (size_t i = 0; i < snap->view.n; i++)
		if (!snap->view.nodes[i].metadata)
			add_present(&sum, own[i]);
	return sum;
}

int snapshot_own_time(struct snapshot *snap, double *own)
{
	int r = snapshot_own(snap, METRIC_CPU_TIME, own);

	for (size_t i = 0; i < snap->view.n && r == 0; i++)
		if (snap->view.hidden[i])
			own[i] = NAN;
	return r;
}

/* What the inclusive values were in the picture before, of the nodes that are shown now. */
static void before_roll_up(struct snapshot *snap, const struct column_state *c, double *v)
{
	const struct metric *m = metric_table_get(snap->s->metrics, c->metric);
	const uint8_t *parted = parted_metric(snap->s, c->metric) ? snapshot_parted(snap) : NULL;

	for (size_t i = 0; i < snap->view.n; i++)
		v[i] = i < c->n_before && !snap->view.hidden[i] && !isnan(c->before[i])
			       ? c->before[i]
			       : 0;
	if (parted)
		for (size_t i = 0; i < snap->view.n; i++)
			v[i] = parted[i] ? 0 : v[i];
	if (m->scope == METRIC_INCLUSIVE)
		for (size_t i = snap->view.n; i-- > 1;)
			v[snap->view.parents[i]] += v[i];
}

static int rate_compute(struct snapshot *snap, struct column_state *c)
{
	double seconds = (double)snap->window_ns / 1e9;
	size_t i;

	if (ARRAY_ROOM(c->rate, c->cap_rate, snap->view.n) < 0)
		return -ENOMEM;
	before_roll_up(snap, c, c->rate);
	for (i = 0; i < snap->view.n; i++)
		c->rate[i] = (c->raw[i] - c->rate[i]) / seconds;
	c->rate_out.v = c->rate;
	c->rate_fresh = true;
	return 0;
}

static bool has_rate(const struct snapshot *snap, uint32_t metric)
{
	return metric_table_get(snap->s->metrics, metric)->add == METRIC_SUM;
}

const struct snap_column *snapshot_rate(struct snapshot *snap, uint32_t metric)
{
	struct column_state *c;

	if (metric >= metric_table_count(snap->s->metrics))
		return NULL;
	c = column_find(snap, metric, true);
	if (!c)
		return NULL;
	c->rate_wanted = true;
	if (!metric_used(snap, metric) || !has_rate(snap, metric) || !c->has_before ||
	    !snap->window_ns)
		return column_absent(snap);
	if ((!c->fresh && column_compute(snap, c) < 0) ||
	    (!c->rate_fresh && rate_compute(snap, c) < 0))
		return NULL;
	return &c->rate_out;
}

/* ---- which nodes hold values ---- */

/* By metric: does it add up? malloc'd; NULL: out of memory. */
static bool *metrics_that_add_up(const struct session *s)
{
	uint32_t n = metric_table_count(s->metrics);
	bool *adds = malloc(MAX(n, 1u) * sizeof(*adds));

	for (uint32_t i = 0; adds && i < n; i++) {
		const struct metric *m = metric_table_get(s->metrics, i);

		adds[i] = m->type != METRIC_TEXT && m->scope != METRIC_PROPERTY;
	}
	return adds;
}

static bool row_holds(const struct snapshot *snap, const struct session_row *r, const bool *adds)
{
	const struct session_set *set = &snap->s->sets[r->set];
	const uint8_t *present = picture_present(snap) + r->values;
	const union metric_value *values = picture_values(snap) + r->values;
	double value;

	for (uint32_t i = 0; i < set->n; i++)
		if (present[i] && adds[set->metrics[i]] &&
		    (!snap->n_base ||
		     picture_value(snap, metric_table_get(snap->s->metrics, set->metrics[i]),
				   r->values + i, values[i], &value)))
			return true;
	return false;
}

const uint8_t *snapshot_holders(struct snapshot *snap)
{
	_cleanup_(freep) bool *adds = NULL;
	const struct snap_column *time;

	if (snap->holders_generation == snap->generation)
		return snap->holders;
	adds = metrics_that_add_up(snap->s);
	if (!adds || ARRAY_ROOM(snap->holders, snap->cap_holders, MAX(snap->view.n, (size_t)1)) < 0)
		return NULL;
	/* Nearly all holders have time, and that column is needed anyway. Only for other nodes look
	 * at the rows. */
	time = snapshot_column(snap, METRIC_TIME, false);
	for (size_t i = 0; i < snap->view.n; i++)
		snap->holders[i] = time && !isnan(time->v[i]);
	for (size_t i = 0; i < snap->view.n_rows; i++)
		if (!snap->holders[snap->view.row_node[i]] &&
		    !snap->view.hidden[snap->view.row_node[i]])
			snap->holders[snap->view.row_node[i]] =
				row_holds(snap, &snap->s->rows[i], adds);
	snap->holders_generation = snap->generation;
	return snap->holders;
}

/* ---- from picture to picture ---- */

/* Own values of all nodes, hidden ones too: which of them count is not known before the rate is. */
static int keep_own(struct snapshot *snap, struct column_state *c)
{
	const struct column_state *own = column_known(snap, c->metric, false);

	if (ARRAY_ROOM(c->before, c->cap_before, snap->view.n) < 0)
		return -ENOMEM;
	if (own && own->fresh && !snap->view.any_hidden) {
		memcpy(c->before, own->raw, snap->view.n * sizeof(*c->before));
		return 0;
	}
	for (size_t i = 0; i < snap->view.n; i++)
		c->before[i] = NAN;
	return column_exclusive(snap, c->metric, true, c->before, NULL);
}

/* Keep the values as those before the next picture. An unused metric was zero before. */
static void column_keep(struct snapshot *snap, struct column_state *c)
{
	c->has_before = true;
	c->n_before = 0;
	if (!metric_used(snap, c->metric) || !has_rate(snap, c->metric))
		return;
	if (keep_own(snap, c) < 0)
		c->has_before = false;
	else
		c->n_before = snap->view.n;
}

/* What the program says itself is never guessed, nor what groups make of it. */
static bool is_said(unsigned kind)
{
	static const uint32_t said = 1u << FRAME_ROOT | 1u << FRAME_SCOPE | 1u << FRAME_STATE |
				     1u << FRAME_NVTX | 1u << FRAME_PROCESS | 1u << FRAME_RANGE |
				     1u << FRAME_MARK | 1u << FRAME_OTHER | 1u << FRAME_DEVICE |
				     1u << FRAME_STREAM | 1u << FRAME_THREAD;

	return said >> kind & 1;
}

bool snapshot_is_guessed(struct snapshot *snap, uint32_t id)
{
	const struct snap_column *c;

	if (is_said(snap->view.nodes[id].kind) || !snapshot_has(snap, METRIC_GUESSED))
		return false;
	c = snapshot_column(snap, METRIC_GUESSED, true);
	return c && c->v[id] > 0;
}

bool snapshot_is_estimated(struct snapshot *snap, uint32_t id)
{
	uint32_t node = snap->view.nodes[id].session_node;

	return node != SESSION_NONE && snapshot_has(snap, METRIC_ESTIMATED) &&
	       graph_shares_is_estimated(snap->s, node);
}

/* Values are kept only for metrics whose rate is asked for. */
void columns_age(struct snapshot *snap)
{
	size_t i;

	for (i = 0; i < snap->view.n_columns; i++) {
		struct column_state *c = snap->view.columns[i];

		if (c->rate_wanted)
			column_keep(snap, c);
		c->fresh = false;
		c->rate_fresh = false;
		c->has_total = false;
	}
}

void columns_stale(struct snapshot *snap)
{
	for (size_t i = 0; i < snap->view.n_columns; i++)
		snap->view.columns[i]->fresh = snap->view.columns[i]->rate_fresh = false;
}

/* The first window can have a rate only if somebody kept what was before it. */
int columns_init(struct snapshot *snap)
{
	static const uint32_t rates[] = {METRIC_TIME, METRIC_BYTES};

	for (size_t i = 0; i < ARRAY_SIZE(rates); i++) {
		struct column_state *c = column_find(snap, rates[i], true);

		if (!c)
			return -ENOMEM;
		c->rate_wanted = true;
	}
	return 0;
}

void columns_drop(struct snapshot *snap)
{
	while (snap->view.n_columns)
		column_free(snap->view.columns[--snap->view.n_columns]);
	free(snap->view.columns);
	snap->view.columns = NULL;
	snap->view.cap_columns = 0;
}

void columns_done(struct snapshot *snap)
{
	free(snap->used);
	free(snap->absent);
	free(snap->holders);
	free(snap->parted);
}
