/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "findings/findings.h"
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/human.h"
#include "core/held.h"
#include "core/metadata.h"
#include "core/runs.h"
#include "findings/rules.h"

static const struct rule *const rules[FINDING_N_RULES] = {
#define _(id, word) [FINDING_##id] = &rule_##id,
	FINDING_RULES(_)
#undef _
};

static const char *const words[FINDING_N_RULES] = {
#define _(id, word) [FINDING_##id] = word,
	FINDING_RULES(_)
#undef _
};

/* ---- what rules look at ---- */

static double or_nothing(double v)
{
	return isnan(v) ? 0 : v;
}

static void add(struct sums *to, const struct sums *more)
{
	to->time_ns += more->time_ns;
	to->count += more->count;
	to->bytes += more->bytes;
	to->async += more->async;
	to->graph_nodes += more->graph_nodes;
	to->idle_in_graphs_ns += more->idle_in_graphs_ns;
}

static struct sums row_sums(const struct session *s, const struct session_row *row)
{
	return (struct sums){
		.time_ns = or_nothing(session_row_number(s, row, METRIC_TIME)),
		.count = or_nothing(session_row_number(s, row, METRIC_COUNT)),
		.bytes = or_nothing(session_row_number(s, row, METRIC_BYTES)),
		.async = or_nothing(session_row_number(s, row, METRIC_ASYNC)),
		.graph_nodes = or_nothing(session_row_number(s, row, METRIC_GRAPH_NODES)),
		.idle_in_graphs_ns = or_nothing(session_row_number(s, row, METRIC_IDLE_GRAPH)),
	};
}

static void add_row(struct evidence *e, struct own *own, const struct session_row *row)
{
	const struct sums sums = row_sums(e->s, row);
	uint32_t device = session_lane_at(e->s, row->lane)->device;

	add(&own->sums, &sums);
	if (session_row_number(e->s, row, METRIC_ESTIMATED) > 0) {
		add(&e->graphs, &sums); /* it is the time of one that was recorded whole */
		return;
	}
	if (device < e->s->n_devices && own->kind != FRAME_GRAPH_RUN && own->kind != FRAME_KERNEL) {
		e->devices[device].graph_nodes += sums.graph_nodes;
		e->devices[device].idle_in_graphs_ns += sums.idle_in_graphs_ns;
	}
	switch (own->kind) {
	case FRAME_KERNEL:
		add(&e->kernels, &sums);
		if (device < e->s->n_devices)
			add(&e->devices[device], &sums);
		break;
	case FRAME_COPY:
		add(&e->copies, &sums);
		break;
	case FRAME_SET:
		add(&e->sets, &sums);
		break;
	case FRAME_GRAPH_RUN:
		add(&e->graphs, &sums);
		break;
	default:
		break;
	}
}

double evidence_sum(const struct evidence *e, uint32_t node, uint32_t metric)
{
	double sum = 0;

	for (uint32_t row = session_first_row(e->s, node); row != SESSION_NONE;
	     row = session_next_row(e->s, row))
		sum += or_nothing(session_row_number(e->s, &e->s->rows[row], metric));
	return sum;
}

double evidence_longest(const struct evidence *e, uint32_t node, uint32_t metric)
{
	double most = 0;

	for (uint32_t row = session_first_row(e->s, node); row != SESSION_NONE;
	     row = session_next_row(e->s, row))
		most = fmax(most, or_nothing(session_row_number(e->s, &e->s->rows[row], metric)));
	return most;
}

double evidence_sum_on(const struct evidence *e, uint32_t node, uint32_t metric, uint32_t device)
{
	double sum = 0;

	for (uint32_t row = session_first_row(e->s, node); row != SESSION_NONE;
	     row = session_next_row(e->s, row)) {
		const struct session_row *x = &e->s->rows[row];

		if (session_lane_at(e->s, x->lane)->device == device)
			sum += or_nothing(session_row_number(e->s, x, metric));
	}
	return sum;
}

/* Most nodes of a profile are scopes, which have no rows. */
static void add_node(struct evidence *e, uint32_t node)
{
	const struct session *s = e->s;
	struct own own = {.node = node, .kind = session_node_kind(s, node)};

	for (uint32_t row = session_first_row(s, node); row != SESSION_NONE;
	     row = session_next_row(s, row))
		add_row(e, &own, &s->rows[row]);
	if (own.sums.count > 0)
		e->own[e->n_own++] = own;
}

void most_insert(struct most *most, uint32_t node, double value)
{
	unsigned at = MIN(most->n, (unsigned)FINDING_NODES - 1);

	if (most->n == FINDING_NODES && most->values[at] >= value)
		return;
	for (; at > 0 && most->values[at - 1] < value; at--) {
		most->values[at] = most->values[at - 1];
		most->nodes[at] = most->nodes[at - 1];
	}
	most->values[at] = value;
	most->nodes[at] = node;
	most->n = MIN(most->n + 1, (unsigned)FINDING_NODES);
}

void picked_insert(struct picked *picked, const struct own *own)
{
	unsigned at = picked->n_longest;

	while (at > 0 && picked->longest[at - 1]->sums.time_ns < own->sums.time_ns)
		at--;
	if (at == FINDING_NODES)
		return;
	if (picked->n_longest < FINDING_NODES)
		picked->n_longest++;
	memmove(&picked->longest[at + 1], &picked->longest[at],
		(picked->n_longest - 1 - at) * sizeof(picked->longest[0]));
	picked->longest[at] = own;
}

/* Ask the rules which nodes they are about. */
static void pick(struct evidence *e)
{
	for (unsigned i = 0; i < FINDING_N_RULES; i++) {
		for (size_t k = 0; rules[i]->picks && k < e->n_own; k++) {
			if (!rules[i]->picks(e, &e->own[k]))
				continue;
			add(&e->picked[i].sums, &e->own[k].sums);
			picked_insert(&e->picked[i], &e->own[k]);
		}
	}
}

static void evidence_done(struct evidence *e)
{
	free(e->own);
	free(e->devices);
	measured_metrics_done(&e->measured);
}

/* When our own runs saw work is known to a tenth of a second or two, at either end: what is told of
 * the time between is no more than was. A trace of somebody else has the times of the work itself. */
#define BLUR_NS 200e6

static double blur_ns(const struct session *s)
{
	return *strtab_str(s->strings, s->runs->strings[RUN_VERSION]) ? BLUR_NS : 0;
}

static bool has_work_times(const struct session *s)
{
	const struct session_run *run = s->runs;

	return s->n_runs == 1 && run->first_work_ns < run->last_work_ns &&
	       run->last_work_ns <= run->wall_ns;
}

/* Without the time for which nobody knows what ran. */
static void set_used(struct evidence *e)
{
	const struct session *s = e->s;

	e->has_work_times = has_work_times(s);
	e->blur_ns = e->has_work_times ? blur_ns(s) : 0;
	e->used_ns = e->wall_ns;
	if (e->has_work_times)
		e->used_ns = fmax(
			(double)(s->runs->last_work_ns - s->runs->first_work_ns) - e->blur_ns, 0);
	e->used_ns = fmax(e->used_ns - (double)runs_unseen_ns(s), 0);
}

/* How many launches there were, where somebody counted: a graph is one, whatever is in it. NaN: nobody did. */
static double count_launches(const struct session *s)
{
	uint32_t metric = metric_table_find(s->metrics, "launch_count");
	double n = 0;

	for (size_t i = 0; i < s->n_processes; i++) {
		const struct session_process *p = &s->processes[i];

		if (session_process_collected(p) && !p->launches_counted)
			return NAN;
		n += p->launches_counted ? (double)p->n_launches : 0;
	}
	for (size_t i = 0; metric != METRIC_NONE && n == 0 && i < s->n_rows; i++)
		n += or_nothing(session_row_number(s, &s->rows[i], metric));
	return n > 0 ? n : NAN;
}

static int evidence_init(struct evidence *e, const struct session *s, const struct peaks *peaks)
{
	_cleanup_(freep) uint8_t *metadata = metadata_nodes(s);

	*e = (struct evidence){.s = s, .peaks = peaks, .wall_ns = (double)runs_wall_ns(s)};
	e->own = malloc((MIN(s->n_nodes, s->n_rows) + 1) * sizeof(*e->own));
	e->devices = calloc(MAX(s->n_devices, (size_t)1), sizeof(*e->devices));
	if (!metadata || !e->own || !e->devices || measured_metrics_update(&e->measured, s) < 0)
		return -ENOMEM;
	set_used(e);
	for (uint32_t i = 0; i < s->n_nodes; i++)
		if (s->nodes[i].last_row != SESSION_NONE && !metadata[i])
			add_node(e, i);
	e->has_async = e->copies.async > 0;
	e->launches_ratio =
		e->kernels.count > 0 ? fmin(count_launches(s) / e->kernels.count, 1) : 1;
	e->whole_ns = evidence_is_slowed(e) ? 0 : (double)runs_counted_ns(s);
	e->is_wall = e->whole_ns > 0;
	if (!e->is_wall)
		e->whole_ns = evidence_computing(e) + e->copies.time_ns + e->sets.time_ns;
	pick(e);
	return 0;
}

/* ---- how they speak ---- */

struct finding *finding_add(struct findings *f, enum finding_rule rule, enum finding_sure sure,
			    double price_ns)
{
	if (ARRAY_ROOM(f->v, f->cap, f->n + 1) < 0)
		return NULL;
	f->v[f->n] = (struct finding){
		.rule = rule, .sure = sure, .price_ns = price_ns, .device = SESSION_NONE};
	return &f->v[f->n++];
}

void finding_say(struct finding *finding, const char *format, ...)
{
	size_t len = strlen(finding->evidence);
	va_list ap;

	va_start(ap, format);
	vsnprintf(finding->evidence + len, sizeof(finding->evidence) - len, format, ap);
	va_end(ap);
}

void finding_say_hidden(struct finding *finding, const struct evidence *e)
{
	double copies, hidden;
	char share[HUMAN_MAX];

	if (!session_overlap(e->s, SESSION_NONE, &copies, &hidden))
		return;
	human_percent(share, hidden / copies);
	finding_say(finding, "; other work ran in %s%% of the time of all copies", share);
}

void finding_name_nodes(struct finding *finding, const struct picked *picked)
{
	for (unsigned i = 0; i < picked->n_longest; i++)
		finding->nodes[i] = picked->longest[i]->node;
	finding->n_nodes = picked->n_longest;
}

void finding_name_most(struct finding *finding, const struct most *most)
{
	memcpy(finding->nodes, most->nodes, sizeof(finding->nodes));
	finding->n_nodes = most->n;
}

void finding_name_of_pool(struct finding *finding, const struct evidence *e,
			  const struct held *pool, uint32_t metric)
{
	const char *name = session_node_name(e->s, pool->node);
	struct most most = {.n = 0};

	for (uint32_t i = 0; i < e->s->n_nodes; i++) {
		double value = session_node_kind(e->s, i) == FRAME_ALLOC &&
					       held_is_of_pool(session_node_name(e->s, i), name)
				       ? evidence_sum_on(e, i, metric, pool->device)
				       : 0;

		if (value > 0)
			most_insert(&most, i, value);
	}
	finding_name_most(finding, &most);
}

/* What picked nodes cost is their time. */
static int find_nodes(const struct evidence *e, enum finding_rule id, struct findings *f)
{
	const struct rule *rule = rules[id];
	const struct sums *sums = &e->picked[id].sums;
	struct finding *finding;

	if (!evidence_matters(e, sums->time_ns) || sums->count < rule->nodes.least_calls ||
	    sums->count <= rule->nodes.above_ratio * e->kernels.count ||
	    sums->time_ns < rule->nodes.least_share * e->whole_ns)
		return 0;
	finding = finding_add(f, id, FINDING_LIKELY, sums->time_ns);
	if (!finding)
		return -ENOMEM;
	finding->at_most = rule->nodes.at_most;
	rule->nodes.say(finding, sums);
	if (rule->nodes.are_copies)
		finding_say_hidden(finding, e);
	finding_name_nodes(finding, &e->picked[id]);
	return 0;
}

/* ---- all of them ---- */

/* What has no price is about all the numbers: it comes first. */
static int compare_prices(const void *a, const void *b)
{
	const struct finding *x = a, *y = b;
	double p = isnan(x->price_ns) ? INFINITY : x->price_ns;
	double q = isnan(y->price_ns) ? INFINITY : y->price_ns;

	return p > q ? -1 : p < q ? 1 : (int)x->rule - (int)y->rule;
}

/* Work overlaps: its times may add up to more than the run, of which no more can be saved. */
static void keep_within(struct findings *f)
{
	for (size_t i = 0; f->is_wall && i < f->n; i++) {
		if (!(f->v[i].price_ns > f->whole_ns))
			continue;
		f->v[i].price_ns = f->whole_ns;
		f->v[i].at_most = true;
	}
}

static bool nothing_measured(const struct session *s)
{
	for (size_t i = 0; i < s->n_values; i++)
		if (s->present[i] && s->values[i].u64)
			return false;
	return true;
}

int findings_make(struct findings *f, const struct session *s, const struct peaks *peaks)
{
	struct evidence e;
	int r = evidence_init(&e, s, peaks);

	f->n = 0;
	for (unsigned i = 0; r == 0 && i < FINDING_N_RULES; i++) {
		if (rules[i]->is_of_times && evidence_is_slowed(&e))
			continue;
		r = rules[i]->find ? rules[i]->find(&e, f)
				   : find_nodes(&e, (enum finding_rule)i, f);
	}
	if (r < 0)
		f->n = 0;
	f->nothing_measured = nothing_measured(s);
	f->host_alone = !f->nothing_measured &&
			!(evidence_computing(&e) + e.copies.time_ns + e.sets.time_ns > 0);
	f->whole_ns = e.whole_ns;
	f->is_wall = e.is_wall;
	keep_within(f);
	evidence_done(&e);
	if (f->n)
		qsort(f->v, f->n, sizeof(*f->v), compare_prices);
	return r;
}

void findings_done(struct findings *f)
{
	free(f->v);
	*f = (struct findings){0};
}

const char *finding_word(enum finding_rule rule)
{
	return words[rule];
}

const char *finding_title(enum finding_rule rule)
{
	return rules[rule]->title;
}

const char *finding_advice(const struct finding *f)
{
	return f->advice ? f->advice : rules[f->rule]->advice;
}

const char *finding_sure_word(enum finding_sure sure)
{
	static const char *const sure_words[] = {"measured", "likely", "maybe"};

	return sure_words[sure];
}

int finding_parse(const char *word)
{
	for (unsigned i = 0; i < FINDING_N_RULES; i++)
		if (!strcmp(words[i], word))
			return (int)i;
	return -1;
}
