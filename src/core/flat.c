/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/flat.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/order.h"
#include "base/util.h"

#define NO_ROW      UINT32_MAX
#define MANY_OPS    1000 /* so many transfers */
#define SMALL_BYTES 4096 /* of less each are better done together */

struct flat {
	struct numbers *numbers;
	struct snapshot *snap;
	bool is_alone;
	struct flat_row *rows;
	size_t n, cap;
	uint32_t *nodes; /* row by row */
	size_t cap_nodes;
	uint32_t *row_of; /* scratch, by frame: row + 1 */
	size_t cap_row_of;
	struct number_cache cache; /* by row */
};

struct flat *flat_new(struct numbers *numbers, bool is_alone)
{
	struct flat *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->numbers = numbers;
	f->is_alone = is_alone;
	f->snap = numbers_snapshot(numbers);
	return f;
}

struct flat *flat_free(struct flat *f)
{
	if (!f)
		return NULL;
	number_cache_done(&f->cache);
	free(f->rows);
	free(f->nodes);
	free(f->row_of);
	free(f);
	return NULL;
}

/* ---- rows ---- */

/* Does this node stand for work on the device? Where a file does not have the kinds of frames,
 * leaves with time do. */
static bool is_work(const struct snap_node *n, bool has_time)
{
	if (n->kind == FRAME_KERNEL || n->kind == FRAME_COPY || n->kind == FRAME_SET ||
	    n->kind == FRAME_GRAPH_RUN)
		return true;
	return n->kind == FRAME_FUNCTION && n->first_child == SNAP_NONE && has_time;
}

/* Any value but 0, of whatever metric. */
static bool has_value(const struct session *s, uint32_t node)
{
	for (uint32_t row = session_first_row(s, node); row != SESSION_NONE;
	     row = session_next_row(s, row)) {
		const struct session_row *r = &s->rows[row];

		for (uint32_t i = 0; i < s->sets[r->set].n; i++)
			if (s->present[r->values + i] && s->values[r->values + i].u64)
				return true;
	}
	return false;
}

/* The row of a frame, made when new with this node; NO_ROW: out of memory. */
static uint32_t row_of(struct flat *f, uint32_t frame, uint32_t node, uint8_t kind)
{
	if (f->row_of[frame])
		return f->row_of[frame] - 1;
	if (ARRAY_ROOM(f->rows, f->cap, f->n + 1) < 0)
		return NO_ROW;
	f->rows[f->n] =
		(struct flat_row){.frame = frame, .node = node, .kind = kind, .time_ns = NAN};
	f->row_of[frame] = (uint32_t)++f->n;
	return (uint32_t)f->n - 1;
}

static void add_node(struct flat_row *row, uint32_t node, const double *time)
{
	row->n++;
	if (!time || isnan(time[node]))
		return;
	if (!(time[node] <= time[row->node]))
		row->node = node;
	add_present(&row->time_ns, time[node]);
}

/* By node: the row that it belongs to, or NO_ROW; malloc'd. NULL: out of memory. */
static uint32_t *find_work(struct flat *f, const double *time)
{
	const struct session_node *of = snapshot_session(f->snap)->nodes;
	const struct snap_node *nodes = snapshot_nodes(f->snap);
	uint32_t n = snapshot_n(f->snap);
	uint32_t *rows = malloc(((size_t)n + 1) * sizeof(*rows));
	bool has_forms = snapshot_has_forms(f->snap);

	for (uint32_t node = 0; rows && node < n; node++) {
		bool has_time = time && !isnan(time[node]);

		tick_at(snapshot_tick(f->snap), node, n);
		rows[node] = NO_ROW;
		if (!is_work(&nodes[node], has_time) || !numbers_counts(f->numbers, node) ||
		    (f->is_alone && !has_time &&
		     !has_value(snapshot_session(f->snap), nodes[node].session_node)))
			continue;
		rows[node] = of[nodes[node].session_node].frame;
		if (has_forms)
			rows[node] = snapshot_function(f->snap, rows[node]);
		rows[node] = row_of(f, rows[node], node, nodes[node].kind);
		if (rows[node] == NO_ROW) {
			free(rows);
			return NULL;
		}
		add_node(&f->rows[rows[node]], node, time);
	}
	return rows;
}

/* The nodes of each row, one row behind the other. */
static int place(struct flat *f, const uint32_t *rows)
{
	uint32_t n = snapshot_n(f->snap), end = 0;

	for (size_t i = 0; i < f->n; i++) {
		f->rows[i].first = end;
		end += f->rows[i].n;
		f->rows[i].n = 0;
	}
	if (ARRAY_ROOM(f->nodes, f->cap_nodes, (size_t)end + 1) < 0)
		return -ENOMEM;
	for (uint32_t node = 0; node < n; node++) {
		struct flat_row *row = rows[node] == NO_ROW ? NULL : &f->rows[rows[node]];

		if (row)
			f->nodes[row->first + row->n++] = node;
	}
	return 0;
}

/* By time; equal ones as they came. */
static int sort_all(struct flat *f)
{
	_cleanup_(freep) struct order_entry *order = malloc((f->n + 1) * sizeof(*order));
	struct flat_row *sorted = NULL;
	size_t cap = 0;

	if (!order || ARRAY_ROOM(sorted, cap, f->n + 1) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < f->n; i++)
		order[i] = (struct order_entry){f->rows[i].time_ns, i, 0};
	order_sort(order, f->n, false);
	for (uint32_t i = 0; i < f->n; i++) {
		sorted[i] = f->rows[order[i].id];
		number_cache_tell(&f->cache, METRIC_TIME, i, sorted[i].time_ns);
	}
	free(f->rows);
	f->rows = sorted;
	f->cap = cap;
	return 0;
}

int flat_update(struct flat *f)
{
	size_t n_frames = snapshot_session(f->snap)->n_frames;
	const double *time = derive_used(numbers_derive(f->numbers), METRIC_TIME, false);
	_cleanup_(freep) uint32_t *rows = NULL;
	int r;

	f->n = 0;
	number_cache_clear(&f->cache);
	if (ARRAY_ROOM(f->row_of, f->cap_row_of, n_frames + 1) < 0)
		return -ENOMEM;
	memset(f->row_of, 0, n_frames * sizeof(*f->row_of));
	rows = find_work(f, time);
	r = rows ? place(f, rows) : -ENOMEM;
	if (r == 0)
		r = sort_all(f);
	if (r < 0)
		f->n = 0;
	return r;
}

uint32_t flat_n(const struct flat *f)
{
	return (uint32_t)f->n;
}

const struct flat_row *flat_row(const struct flat *f, uint32_t i)
{
	return &f->rows[i];
}

const uint32_t *flat_nodes(const struct flat *f, uint32_t i)
{
	return f->nodes + f->rows[i].first;
}

bool flat_is_transfer(const struct flat *f, uint32_t i)
{
	return f->rows[i].kind == FRAME_COPY || f->rows[i].kind == FRAME_SET;
}

double flat_value(struct flat *f, uint32_t i, const struct number_ask *ask)
{
	static const uint32_t root = 0;
	const struct flat_row *r = &f->rows[i];
	const struct number_row whole = {{&root, 1, 1, true, false}, (uint32_t)f->n};
	const struct number_row row = {{f->nodes + r->first, r->n, r->n, false, true}, i};

	return number_row_value(f->numbers, &f->cache, ask, &row, &whole);
}

const char *flat_advice(struct flat *f, uint32_t i)
{
	double ops = flat_usual(f, i, USUAL_CALLS), bytes = flat_usual(f, i, USUAL_BYTES);

	if (strstr(snapshot_name(f->snap, f->rows[i].node, NAME_SHORT), "pageable"))
		return "pageable: pin the memory";
	if (ops >= MANY_OPS && bytes / ops < SMALL_BYTES)
		return "many small ones: batch them";
	return "";
}
