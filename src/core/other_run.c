/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/other_run.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/util.h"
#include "core/ran_within.h"
#include "core/ranges_wanted.h"
#include "core/run_sides.h"

enum {
	PLACES_NAMED = 6,
	METRICS_NAMED = 3,
	PATH_NAMED = 3, /* the last so many of its contexts */
	NO_SUCH_DEVICE = SESSION_NONE - 1,
};

/* Where a row has values, by numbers of the first run but for the node, which is of the tree of both. */
enum spot_key {
	SPOT_NODE,
	SPOT_PROCESS,
	SPOT_EPOCH,
	SPOT_DEVICE,
	SPOT_N_PLACE, /* so far it is what is compared; how many these are … */
	SPOT_CONTEXT = SPOT_N_PLACE,
	SPOT_STREAM,
	SPOT_IS_OTHER_THREAD,
	SPOT_N_LANE, /* … and with what tells rows of a place apart */
	SPOT_SIDE = SPOT_N_LANE,
	SPOT_N
};

struct spot {
	uint32_t key[SPOT_N];
	uint32_t row;
	double measured;
};

struct join {
	struct session *first;
	const struct session *other;
	unsigned number, n_runs;
	struct run_sides sides;
	struct ran_otherwise *otherwise;
	size_t n_otherwise;
	struct spot *spots;
	size_t n_spots, cap_spots;
	uint32_t *
		metrics; /* by metric of the other run: which one it is here; SESSION_NONE: it is not taken */
	struct buf refused; /* places, with why */
	size_t n_refused;
	size_t n_joined;
};

/* ---- metrics ---- */

/* Those of a set that tell what was counted: what the first run has is its alone. */
static int take_set(struct join *j, const struct session_set *set)
{
	for (uint32_t i = 0; i < set->n; i++) {
		struct metric m = *metric_table_get(j->other->metrics, set->metrics[i]);
		uint32_t id = metric_table_find(j->first->metrics, m.name);

		if (!range_metric_is(m.name) || j->metrics[set->metrics[i]] != SESSION_NONE)
			continue;
		if (m.weight != METRIC_NONE)
			m.weight = metric_table_find(
				j->first->metrics,
				metric_table_get(j->other->metrics, m.weight)->name);
		if (id == METRIC_NONE)
			id = session_metric_add(j->first, &m);
		if (id == METRIC_NONE)
			return -ENOMEM;
		if (metric_table_get(j->first->metrics, id)->type == m.type)
			j->metrics[set->metrics[i]] = id;
	}
	return 0;
}

static int take_metrics(struct join *j)
{
	const struct run_side *other = &j->sides.of[RUN_OTHER];
	uint32_t n = metric_table_count(j->other->metrics);
	int r = 0;

	j->metrics = malloc((n + 1) * sizeof(*j->metrics));
	if (!j->metrics)
		return -ENOMEM;
	memset(j->metrics, 0xff, (n + 1) * sizeof(*j->metrics));
	for (size_t i = 0; i < j->other->n_rows && r == 0; i++)
		if (!isnan(run_side_measured(other, &j->other->rows[i])))
			r = take_set(j, &j->other->sets[j->other->rows[i].set]);
	return r;
}

/* A set of what a row of the first run has (NULL: nothing) and of what a row of the other run adds; by metric of this row where
 * its value goes, SESSION_NONE: nowhere. 0 or -ENOMEM. */
static int joined_set(struct join *j, const struct session_row *row,
		      const struct session_row *added, uint32_t *places, uint32_t *ret)
{
	const struct session_set none = {0, NULL};
	const struct session_set *of = row ? &j->first->sets[row->set] : &none;
	const struct session_set *set = &j->other->sets[added->set];
	_cleanup_(freep) uint32_t *metrics = malloc((of->n + set->n + 1) * sizeof(*metrics));
	uint32_t n = of->n;

	if (!metrics)
		return -ENOMEM;
	if (n)
		memcpy(metrics, of->metrics, n * sizeof(*metrics));
	for (uint32_t i = 0; i < set->n; i++) {
		uint32_t id = j->metrics[set->metrics[i]], at = 0;

		places[i] = SESSION_NONE;
		while (id != SESSION_NONE && at < n && metrics[at] != id)
			at++;
		if (id == SESSION_NONE || at < n)
			continue;
		places[i] = n;
		metrics[n++] = id;
	}
	*ret = session_set_intern(j->first, metrics, n);
	return *ret == SESSION_NONE ? -ENOMEM : 0;
}

/* ---- values ---- */

static void add_value(struct join *j, uint32_t row, uint32_t at, const struct session_row *added,
		      uint32_t i, double weight_before)
{
	const struct session_row *to = &j->first->rows[row];
	uint32_t id = j->other->sets[added->set].metrics[i];
	const struct metric *m = metric_table_get(j->other->metrics, id);
	union metric_value v = j->other->values[added->values + i];

	if (!j->other->present[added->values + i])
		return;
	if (j->first->present[to->values + at])
		v = metric_combine(m, j->first->values[to->values + at], weight_before, v,
				   session_row_weight(j->other, added, m->weight, j->other->values,
						      j->other->present));
	session_row_set(j->first, row, at, v);
}

/* One row of each: the values of the second one beside those of the first. */
static int join_rows(struct join *j, uint32_t row, const struct session_row *added)
{
	uint32_t n = j->other->sets[added->set].n, set;
	_cleanup_(freep) uint32_t *places = malloc((n + 1) * sizeof(*places));
	int r = places ? joined_set(j, &j->first->rows[row], added, places, &set) : -ENOMEM;

	r = r ? r : session_row_widen(j->first, row, set);
	for (uint32_t i = 0; i < n && r == 0; i++)
		if (places[i] != SESSION_NONE)
			add_value(j, row, places[i], added, i, 0);
	return r;
}

/* What rows of a place have in common is all that is known of where their sum belongs; at: one of the first run's. */
static uint32_t common_lane(struct join *j, const struct session_row *at, const struct spot *spots,
			    size_t n)
{
	struct session_lane lane = j->first->lanes[at->lane];

	lane.thread = 0;
	for (size_t i = 1; i < n; i++) {
		if (spots[i].key[SPOT_CONTEXT] != spots[0].key[SPOT_CONTEXT])
			lane.context = 0;
		if (spots[i].key[SPOT_STREAM] != spots[0].key[SPOT_STREAM])
			lane.stream = SESSION_NONE;
	}
	return session_lane_intern(j->first, &lane);
}

static const struct spot *spot_of_first(const struct spot *spots)
{
	while (spots->key[SPOT_SIDE] != RUN_FIRST)
		spots++;
	return spots;
}

/* Rows that cannot be told apart: all of the other run, added up, in a row of its own. There is one of the first run. */
static int join_sums(struct join *j, const struct spot *spots, size_t n)
{
	const struct session_row at = j->first->rows[spot_of_first(spots)->row];
	uint32_t lane = common_lane(j, &at, spots, n), row, set;
	double weight = 0;

	if (lane == SESSION_NONE)
		return -ENOMEM;
	for (size_t k = 0; k < n; k++) {
		const struct session_row *added = &j->other->rows[spots[k].row];
		uint32_t n_added = j->other->sets[added->set].n;
		_cleanup_(freep) uint32_t *places = malloc((n_added + 1) * sizeof(*places));
		uint32_t time = metric_table_find(j->other->metrics, RANGES_TIME);

		if (spots[k].key[SPOT_SIDE] != RUN_OTHER)
			continue;
		if (!places || joined_set(j, NULL, added, places, &set) < 0)
			return -ENOMEM;
		row = session_row_intern(j->first, at.node, lane, at.epoch, set);
		if (row == SESSION_NONE)
			return -ENOMEM;
		for (uint32_t i = 0; i < n_added; i++)
			if (places[i] != SESSION_NONE)
				add_value(j, row, places[i], added, i, weight);
		weight += session_row_weight(j->other, added, time, j->other->values,
					     j->other->present);
	}
	return 0;
}

/* ---- what is not taken ---- */

static void put_path(struct buf *out, const struct session *s, uint32_t node)
{
	uint32_t path[PATH_NAMED];
	size_t n = 0;

	for (; node != SESSION_ROOT && n < PATH_NAMED; node = s->nodes[node].parent)
		path[n++] = node;
	buf_puts(out, "'");
	while (n--)
		buf_printf(out, "%s%s", session_node_name(s, path[n]), n ? " > " : "'");
}

_printf_(3, 4) static void refuse(struct join *j, uint32_t node, const char *why, ...)
{
	va_list ap;

	if (j->n_refused++ >= PLACES_NAMED)
		return;
	buf_puts(&j->refused, j->n_refused > 1 ? "; " : "");
	put_path(&j->refused, j->sides.tree, node);
	buf_puts(&j->refused, ", ");
	va_start(ap, why);
	buf_vprintf(&j->refused, why, ap);
	va_end(ap);
}

static const char *plural(double n)
{
	return n == 1 ? "" : "s";
}

static void refuse_what(struct join *j, const struct ran_otherwise *o)
{
	const double *n = o->n;

	if (o->what == o->place)
		refuse(j, o->place, "which ran %.0f time%s, and %.0f in the first run",
		       n[RUN_OTHER], plural(n[RUN_OTHER]), n[RUN_FIRST]);
	else
		refuse(j, o->place, "in which '%s' ran %.0f time%s, and %.0f in the first run",
		       session_node_name(j->sides.tree, o->what), n[RUN_OTHER],
		       plural(n[RUN_OTHER]), n[RUN_FIRST]);
}

/* Processes that have no counterpart; their rows are not looked at. */
static void refuse_processes(struct join *j)
{
	const struct run_side *other = &j->sides.of[RUN_OTHER];

	for (uint32_t i = 0; i < j->other->n_processes; i++) {
		const char *exe = strtab_str(j->other->strings, j->other->processes[i].exe);

		if (!other->measures[i] || other->processes[i] != SESSION_NONE ||
		    j->n_refused++ >= PLACES_NAMED)
			continue;
		buf_printf(&j->refused,
			   "%sall of a process of '%s', which cannot be told from others, "
			   "or was not in the first run",
			   j->n_refused > 1 ? "; " : "", exe);
	}
}

/* ---- places ---- */

static int compare_keys(const struct spot *a, const struct spot *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (a->key[i] != b->key[i])
			return a->key[i] < b->key[i] ? -1 : 1;
	return 0;
}

static int by_key(const void *a, const void *b)
{
	return compare_keys(a, b, SPOT_N);
}

static int take_spots(struct join *j, uint32_t which)
{
	const struct run_side *side = &j->sides.of[which];

	for (uint32_t i = 0; i < side->s->n_rows; i++) {
		const struct session_row *row = &side->s->rows[i];
		const struct session_lane *lane = session_lane_at(side->s, row->lane);
		uint32_t process = run_side_process(side, row);
		uint32_t device = run_side_id(side->devices, lane->device);
		double measured = run_side_measured(side, row);

		if (!(measured > 0) ||
		    process == SESSION_NONE) /* NaN, or told of before it had any */
			continue;
		if (device == SESSION_NONE && lane->device != SESSION_NONE)
			device = NO_SUCH_DEVICE;
		if (ARRAY_ROOM(j->spots, j->cap_spots, j->n_spots + 1) < 0)
			return -ENOMEM;
		j->spots[j->n_spots++] = (struct spot){
			.key = {side->nodes[row->node], process,
				run_side_id(side->epochs, row->epoch), device, lane->context,
				lane->stream, lane->thread != side->s->processes[lane->process].pid,
				which},
			.row = i,
			.measured = measured};
	}
	return 0;
}

/* Each row of the first run has one of the other, with as many ranges? They are in pairs then. */
static bool are_pairs(const struct spot *spots, size_t n)
{
	for (size_t i = 0; i < n; i += 2)
		if (i + 1 == n || spots[i].key[SPOT_SIDE] != RUN_FIRST ||
		    spots[i + 1].key[SPOT_SIDE] != RUN_OTHER ||
		    compare_keys(&spots[i], &spots[i + 1], SPOT_N_LANE) != 0 ||
		    spots[i].measured != spots[i + 1].measured)
			return false;
	return true;
}

static bool is_same_number(struct join *j, const struct spot *spots, size_t n)
{
	double measured[RUN_N_SIDES] = {0, 0};
	uint32_t node = spots[0].key[SPOT_NODE];

	for (size_t i = 0; i < n; i++)
		measured[spots[i].key[SPOT_SIDE]] += spots[i].measured;
	if (measured[RUN_FIRST] == measured[RUN_OTHER])
		return true;
	if (!measured[RUN_FIRST])
		refuse(j, node, "which the first run did not measure");
	else if (!measured[RUN_OTHER])
		refuse(j, node, "which it did not measure");
	else
		refuse(j, node, "which it measured %.0f time%s, and the first run %.0f",
		       measured[RUN_OTHER], plural(measured[RUN_OTHER]), measured[RUN_FIRST]);
	return false;
}

/* Rows of one node, process, epoch and device. */
static int join_place(struct join *j, const struct spot *spots, size_t n)
{
	const struct ran_otherwise *o = ran_within_find(
		j->otherwise, j->n_otherwise, spots[0].key[SPOT_NODE], spots[0].key[SPOT_PROCESS]);
	int r = 0;

	if (o) {
		refuse_what(j, o);
		return 0;
	}
	if (!is_same_number(j, spots, n))
		return 0;
	j->n_joined++;
	if (are_pairs(spots, n)) {
		for (size_t i = 0; i < n && r == 0; i += 2)
			r = join_rows(j, spots[i].row, &j->other->rows[spots[i + 1].row]);
		return r;
	}
	return join_sums(j, spots, n);
}

static int join_places(struct join *j)
{
	size_t n;
	int r = 0;

	if (j->n_spots)
		qsort(j->spots, j->n_spots, sizeof(*j->spots), by_key);
	for (size_t i = 0; i < j->n_spots && r == 0; i += n) {
		for (n = 1; i + n < j->n_spots; n++)
			if (compare_keys(&j->spots[i], &j->spots[i + n], SPOT_N_PLACE) != 0)
				break;
		r = join_place(j, j->spots + i, n);
	}
	return r;
}

/* ---- notes ---- */

/* "a, b, c and 3 more" */
static void put_metrics(struct join *j, struct buf *out)
{
	uint32_t n = metric_table_count(j->other->metrics);
	size_t n_put = 0;

	for (uint32_t i = 0; i < n; i++)
		if (j->metrics[i] != SESSION_NONE && n_put++ < METRICS_NAMED)
			buf_printf(out, "%s%s", n_put > 1 ? ", " : "",
				   metric_table_get(j->other->metrics, i)->name);
	if (n_put > METRICS_NAMED)
		buf_printf(out, " and %zu more", n_put - METRICS_NAMED);
}

static int note_taken(struct join *j)
{
	_cleanup_(buf_done) struct buf text = {0};

	if (!j->n_joined)
		return 0;
	buf_printf(&text, "run %u of %u of the program counted ", j->number, j->n_runs);
	put_metrics(j, &text);
	buf_puts(&text, "; counts and times are the first run's");
	return text.error ? -ENOMEM
			  : session_note(j->first, SESSION_NONE, NOTE_INFO, buf_str(&text));
}

static int note_refused(struct join *j)
{
	_cleanup_(buf_done) struct buf text = {0};

	if (!j->n_refused)
		return 0;
	buf_printf(&text, "run %u of %u was not like the first: without ", j->number, j->n_runs);
	put_metrics(j, &text);
	buf_printf(&text, " %s %s", j->n_refused > 1 ? "are:" : "is", buf_str(&j->refused));
	if (j->n_refused > PLACES_NAMED)
		buf_printf(&text, "; and %zu more", j->n_refused - PLACES_NAMED);
	return text.error ? -ENOMEM
			  : session_note(j->first, SESSION_NONE, NOTE_WARNING, buf_str(&text));
}

/* What it says that the first has not said, such as why nothing was measured. */
static int take_notes(struct join *j)
{
	int r = 0;

	for (size_t i = 0; i < j->other->n_notes && r == 0; i++) {
		const struct session_note *note = &j->other->notes[i];
		const char *said = strtab_str(j->other->strings, note->text);
		_cleanup_(buf_done) struct buf text = {0};

		if (session_note_about(j->first, said))
			continue;
		buf_printf(&text, "run %u of %u: %s", j->number, j->n_runs, said);
		r = session_note(j->first, SESSION_NONE, (enum note_level)note->level,
				 buf_str(&text));
	}
	return r;
}

int other_run_join(struct session *first, const struct session *other, unsigned number,
		   unsigned n_runs)
{
	struct join j = {.first = first, .other = other, .number = number, .n_runs = n_runs};
	int r = run_sides_make(first, other, &j.sides);

	r = r ? r : take_metrics(&j);
	r = r ? r : ran_within_compare(&j.sides, &j.otherwise, &j.n_otherwise);
	for (uint32_t i = 0; i < RUN_N_SIDES && r == 0; i++)
		r = take_spots(&j, i);
	if (r == 0)
		refuse_processes(&j);
	r = r ? r : join_places(&j);
	r = r ? r : note_taken(&j);
	r = r ? r : note_refused(&j);
	r = r ? r : take_notes(&j);
	run_sides_done(&j.sides);
	buf_done(&j.refused);
	free(j.otherwise);
	free(j.spots);
	free(j.metrics);
	return r;
}
