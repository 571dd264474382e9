/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "core/derive.h"
#include "core/numbers.h"
#include "tui/names.h"
#include "tui/sections.h"
#include "tui/tui_impl.h"

/* What the host does: scopes by the time that is their own, and where it waits for the GPU. */

#define ROWS_MAX 64 /* of each table: those with the most */

/* A scope or a wait: the contexts of one frame. */
struct host_row {
	uint32_t node; /* one of them */
	double own;    /* nanoseconds on the host, without what is nested and measured, too */
	double whole;  /* with it */
	double count;
};

struct panel_host {
	struct sections base;
	struct host_row *rows; /* by frame; count 0: none */
	uint32_t n;
	size_t cap;
	double *own; /* by node */
	size_t cap_own;
	uint64_t generation; /* of the numbers that these are of */
};

static struct panel_host *as_host(struct panel *p)
{
	return (struct panel_host *)p;
}

static const double *column(struct panel *p, uint32_t metric)
{
	return derive_used(numbers_derive(tui_numbers(p->tui)), metric, false);
}

/* ---- numbers ---- */

/* Elapsed time has that of nested scopes in it: take it from the nearest one around them. */
static int find_own(struct panel_host *ph, const uint32_t *parents, const double *elapsed,
		    uint32_t n)
{
	_cleanup_(freep) uint32_t *around = malloc((n + 1u) * sizeof(*around));

	if (!around || ARRAY_ROOM(ph->own, ph->cap_own, n + 1u) < 0)
		return -ENOMEM;
	for (uint32_t id = 0; id < n; id++) {
		uint32_t above = parents[id] == SNAP_NONE ? SNAP_NONE : around[parents[id]];

		ph->own[id] = elapsed[id];
		around[id] = isnan(elapsed[id]) ? above : id;
		if (above != SNAP_NONE && !isnan(elapsed[id]))
			ph->own[above] -= elapsed[id];
	}
	return 0;
}

static int add_up(struct panel *p, const double *elapsed, const double *count)
{
	struct panel_host *ph = as_host(p);
	uint32_t n = snapshot_n(p->tui->snap);
	const uint32_t *frames = numbers_frames(tui_numbers(p->tui), &ph->n);

	if (!frames || ARRAY_ROOM(ph->rows, ph->cap, ph->n + 1u) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < ph->n; i++)
		ph->rows[i] = (struct host_row){.node = SNAP_NONE};
	for (uint32_t id = 0; id < n; id++) {
		struct host_row *row = &ph->rows[frames[id]];

		if (isnan(elapsed[id]))
			continue;
		row->node = id;
		row->own += fmax(ph->own[id], 0); /* scopes of two threads may overlap */
		row->whole += elapsed[id];
		row->count += count && !isnan(count[id]) ? count[id] : 0;
	}
	return 0;
}

static void make(struct panel *p)
{
	struct panel_host *ph = as_host(p);
	const double *elapsed = column(p, METRIC_CPU_TIME);
	uint64_t generation = numbers_generation(tui_numbers(p->tui));

	if (ph->generation == generation)
		return;
	ph->n = 0;
	ph->generation = generation;
	if (!elapsed ||
	    find_own(ph, snapshot_parents(p->tui->snap), elapsed, snapshot_n(p->tui->snap)) < 0 ||
	    add_up(p, elapsed, column(p, METRIC_CPU_COUNT)) < 0)
		ph->n = 0;
}

/* ---- tables ---- */

static const struct column columns[] = {
	{"OWN", "time on the host, without scopes and waits within", 7, 0, human_time_ns},
	{"%", "share of all of it", 5, 1, human_percent},
	{"ENTERED", "times that it was entered", 7, 2, human_count},
	{"AVG", "time of one, with what is within", 7, 3, human_time_ns},
};

static bool is_wait(struct panel *p, uint32_t node)
{
	return snapshot_node(p->tui->snap, node)->kind == FRAME_SYNC;
}

static struct section_row row_of(double own, double whole, double count, enum role role)
{
	return (struct section_row){
		.v = {own, SECTION_SHARE, count, count > 0 ? whole / count : NAN}, .role = role};
}

static void list(struct panel *p, bool waits)
{
	const struct panel_host *ph = as_host(p);

	for (uint32_t i = 0; i < ph->n; i++) {
		const struct host_row *r = &ph->rows[i];
		struct section_row row;

		if (r->node == SNAP_NONE || is_wait(p, r->node) != waits)
			continue;
		row = row_of(r->own, r->whole, r->count,
			     kind_role(snapshot_node(p->tui->snap, r->node)->kind));
		buf_puts(sections_add(p, &row), tui_node_name(p->tui, r->node));
	}
}

static void list_scopes(struct panel *p)
{
	list(p, false);
}

static void list_waits(struct panel *p)
{
	list(p, true);
}

static void list_waiting(struct panel *p)
{
	const double *elapsed = column(p, METRIC_CPU_TIME), *count = column(p, METRIC_CPU_COUNT);

	for (uint32_t id = 0; as_host(p)->n && id < snapshot_n(p->tui->snap); id++) {
		struct section_row row;

		if (isnan(elapsed[id]) || !is_wait(p, id))
			continue;
		row = row_of(elapsed[id], elapsed[id], count ? count[id] : NAN, ROLE_NORMAL);
		sections_add_path(p, id, &row);
	}
}

static const struct section sections[] = {
	{
		.title = "Scopes by their own time on the host",
		.name = "SCOPE",
		.columns = {columns, ARRAY_SIZE(columns), 40},
		.list = list_scopes,
		.most = ROWS_MAX,
	},
	{
		.title = "Waits for the GPU",
		.name = "KIND",
		.columns = {columns, ARRAY_SIZE(columns), 40},
		.list = list_waits,
		.most = ROWS_MAX,
		.empty = "no waits were recorded (--sync of proton top and record does)",
	},
	{
		.title = "Calling contexts that wait",
		.name = "PATH",
		.columns = {columns, ARRAY_SIZE(columns), 40},
		.list = list_waiting,
		.most = ROWS_MAX,
	},
};

static void update(struct panel *p)
{
	make(p);
	sections_update(p);
}

static void done(struct panel *p)
{
	free(as_host(p)->rows);
	free(as_host(p)->own);
	sections_done(p);
}

static bool is_there(const struct tui *t)
{
	return snapshot_has(t->snap, METRIC_CPU_TIME);
}

const struct panel_ops panel_host_ops = {
	.title = "Host",
	.size = sizeof(struct panel_host),
	.is_there = is_there,
	.init = sections_init,
	.done = done,
	.update = update,
	SECTIONS_OPS(sections),
};
