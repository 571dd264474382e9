/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/flat.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/order.h"
#include "base/unset.h"
#include "base/util.h"

struct flat {
	struct numbers *numbers;
	struct snapshot *snap;
	struct flat_row *rows;
	size_t n, cap;
	uint32_t *nodes; /* row by row */
	size_t cap_nodes;
	uint32_t *row_of; /* scratch, by frame: row + 1 */
	size_t cap_row_of;
	struct number_cache cache; /* by row */
};

struct flat *flat_new(struct numbers *numbers)
{
	struct flat *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->numbers = numbers;
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

/* Of a node that is no group. */
static uint32_t frame_of(const struct flat *f, uint32_t node)
{
	return snapshot_session(f->snap)->nodes[snapshot_node(f->snap, node)->session_node].frame;
}

/* Does this node stand for work on the device? Files may not say: then leaves with time do. */
static bool is_work(const struct flat *f, uint32_t node, const double *time)
{
	const struct snap_node *n = snapshot_node(f->snap, node);

	if (!numbers_counts(f->numbers, node))
		return false;
	if (n->kind == FRAME_KERNEL || n->kind == FRAME_COPY || n->kind == FRAME_SET)
		return true;
	return n->kind == FRAME_FUNCTION && n->first_child == SNAP_NONE && time && !isnan(time[node]);
}

/* Count a node for the row of its frame, made when new. */
static int count_node(struct flat *f, uint32_t node, const double *time)
{
	uint32_t frame = frame_of(f, node);
	struct flat_row *row;

	if (!f->row_of[frame]) {
		if (array_reserve((void **)&f->rows, &f->cap, f->n + 1, sizeof(*f->rows)) < 0)
			return -ENOMEM;
		f->rows[f->n++] = (struct flat_row){
			.frame = frame, .node = node, .kind = snapshot_node(f->snap, node)->kind};
		f->row_of[frame] = (uint32_t)f->n;
	}
	row = &f->rows[f->row_of[frame] - 1];
	row->n++;
	if (time && !isnan(time[node]) && !(time[node] <= time[row->node]))
		row->node = node;
	return 0;
}

static int count_all(struct flat *f, const double *time)
{
	uint32_t n = snapshot_n(f->snap);
	int r = 0;

	for (uint32_t node = 0; r == 0 && node < n; node++) {
		tick_at(snapshot_tick(f->snap), node, n);
		if (is_work(f, node, time))
			r = count_node(f, node, time);
	}
	return r;
}

/* The nodes of each row, one row behind the other. */
static int place_all(struct flat *f, const double *time)
{
	uint32_t n = snapshot_n(f->snap), end = 0;

	for (size_t i = 0; i < f->n; i++) {
		f->rows[i].first = end;
		end += f->rows[i].n;
		f->rows[i].n = 0;
	}
	if (array_reserve((void **)&f->nodes, &f->cap_nodes, (size_t)end + 1, sizeof(*f->nodes)) < 0)
		return -ENOMEM;
	for (uint32_t node = 0; node < n; node++) {
		struct flat_row *row;

		if (!is_work(f, node, time))
			continue;
		row = &f->rows[f->row_of[frame_of(f, node)] - 1];
		f->nodes[row->first + row->n++] = node;
	}
	return 0;
}

static double row_time(const struct flat *f, const struct flat_row *row, const double *time)
{
	double sum = NAN;

	for (uint32_t i = 0; time && i < row->n; i++) {
		double one = time[f->nodes[row->first + i]];

		if (!isnan(one))
			sum = isnan(sum) ? one : sum + one;
	}
	return sum;
}

/* By time; equal ones as they came. */
static int sort_all(struct flat *f, const double *time)
{
	_cleanup_(freep) struct order_entry *order = malloc((f->n + 1) * sizeof(*order));
	struct flat_row *sorted = NULL;
	size_t cap = 0;

	if (!order || array_reserve((void **)&sorted, &cap, f->n + 1, sizeof(*sorted)) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < f->n; i++)
		order[i] = (struct order_entry){row_time(f, &f->rows[i], time), i, 0};
	order_sort(order, f->n, false);
	for (size_t i = 0; i < f->n; i++)
		sorted[i] = f->rows[order[i].id];
	free(f->rows);
	f->rows = sorted;
	f->cap = cap;
	return 0;
}

int flat_update(struct flat *f)
{
	size_t n_frames = snapshot_session(f->snap)->n_frames;
	const double *time = derive_used(numbers_derive(f->numbers), METRIC_TIME, false);
	int r;

	f->n = 0;
	number_cache_clear(&f->cache);
	if (array_reserve((void **)&f->row_of, &f->cap_row_of, n_frames + 1, sizeof(*f->row_of)) < 0)
		return -ENOMEM;
	memset(f->row_of, 0, n_frames * sizeof(*f->row_of));
	r = count_all(f, time);
	if (r == 0)
		r = place_all(f, time);
	if (r == 0)
		r = sort_all(f, time);
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

bool flat_is_transfer(const struct flat *f, uint32_t i)
{
	return f->rows[i].kind == FRAME_COPY || f->rows[i].kind == FRAME_SET;
}

double flat_value(struct flat *f, uint32_t i, unsigned slot, bool before, const struct derived *m)
{
	static const uint32_t root = 0;
	const struct flat_row *row = &f->rows[i];
	const struct number_set whole = {.nodes = &root, .n = 1, .n_outer = 1, .inclusive = true};
	const struct number_set set = {.nodes = f->nodes + row->first,
				       .n = row->n,
				       .n_outer = row->n,
				       .only_own = true};
	double *known = number_cache_at(&f->cache, slot, i), v;

	if (known && !is_unset(*known))
		return *known;
	v = number_set_value(f->numbers, before, m, &set, &whole);
	if (known)
		*known = v;
	return v;
}
