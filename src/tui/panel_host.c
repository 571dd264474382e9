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
	uint32_t node;  /* one of them; SNAP_NONE: there is none */
	double own;     /* nanoseconds on the host, without what is nested and measured, too */
	double whole;   /* with it; what is nested in itself counts once */
	double entered; /* the same, of each that was entered */
	double count;   /* NaN: absent */
};

struct panel_host {
	struct sections base;
	struct host_row *rows; /* by frame */
	uint32_t n;
	size_t cap;
	uint32_t *open; /* by frame: contexts of it around the node that is looked at */
	size_t cap_open;
	uint64_t generation; /* of the numbers that these are of */
};

static struct panel_host *as_host(struct panel *p)
{
	return (struct panel_host *)p;
}

/* As measured: elapsed time has in it that of nested contexts, also of those that are filtered out. */
static const double *column(struct panel *p, uint32_t metric)
{
	const struct snap_column *c = snapshot_column(p->tui->snap, metric, false);

	return c ? c->v : NULL;
}

/* Has every scope that was entered its time? Not while it is open, nor when it was open at the end of
 * what is known: then its time is missing, and that of the scopes within is there. */
static bool has_all_times(const struct session *s)
{
	if (!s->ended || session_loss(s, LOSS_VANISHED) || session_loss(s, LOSS_LEFT_OPEN) ||
	    session_loss(s, LOSS_UNFINISHED))
		return false;
	for (size_t i = 0; i < s->n_processes; i++)
		if (s->processes[i].end == PROCESS_RUNS &&
		    session_process_collected(&s->processes[i]))
			return false;
	return true;
}

/* Own time is what nested scopes leave. One that was open at a reset ends with time from before
 * it; expressions leave out the time of nested ones. In both cases there is elapsed time alone. */
static bool has_own(struct panel *p)
{
	return has_all_times(panel_session(p)) && !snapshot_is_reset(p->tui->snap) &&
	       !filters_any(&p->tui->filters);
}

/* ---- numbers ---- */

/* A walk through the tree, children first, that knows which frames are around a node. */
struct walk {
	const struct snapshot *snap;
	const struct numbers *kept;
	const double *elapsed;  /* by node */
	const uint32_t *frames; /* by node */
	uint32_t *open;         /* by frame: contexts around */
};

static bool counts(const struct walk *w, uint32_t id)
{
	return !isnan(w->elapsed[id]) && numbers_counts(w->kept, id);
}

static uint32_t next_node(const struct walk *w, uint32_t id)
{
	const struct snap_node *node = snapshot_node(w->snap, id);

	if (node->first_child != SNAP_NONE)
		return node->first_child;
	for (; id != SNAP_NONE; id = node->parent) {
		node = snapshot_node(w->snap, id);
		w->open[w->frames[id]] -= counts(w, id);
		if (node->next_sibling != SNAP_NONE)
			return node->next_sibling;
	}
	return SNAP_NONE;
}

static int make_room(struct panel_host *ph)
{
	if (ARRAY_ROOM(ph->rows, ph->cap, ph->n + 1u) < 0 ||
	    ARRAY_ROOM(ph->open, ph->cap_open, ph->n + 1u) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < ph->n; i++) {
		ph->rows[i] = (struct host_row){.node = SNAP_NONE, .count = NAN};
		ph->open[i] = 0;
	}
	return 0;
}

static int add_up(struct panel *p, const double *elapsed, const double *count)
{
	struct panel_host *ph = as_host(p);
	struct numbers *kept = tui_numbers(p->tui);
	const double *own = derive_used(numbers_derive(tui_all(p->tui)), METRIC_CPU_TIME, false);
	struct walk w = {p->tui->snap, kept, elapsed, numbers_frames(kept, &ph->n), NULL};

	if (!w.frames || !own || make_room(ph) < 0)
		return -ENOMEM;
	w.open = ph->open;
	for (uint32_t id = 0; id != SNAP_NONE; id = next_node(&w, id)) {
		struct host_row *row = &ph->rows[w.frames[id]];

		if (!counts(&w, id))
			continue;
		row->node = id;
		row->own += own[id];
		row->whole += w.open[w.frames[id]]++ ? 0 : elapsed[id];
		row->entered += elapsed[id];
		if (count && !isnan(count[id]))
			row->count = count[id] + (isnan(row->count) ? 0 : row->count);
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
	if (!elapsed || !snapshot_has(p->tui->snap, METRIC_CPU_TIME) ||
	    add_up(p, elapsed, column(p, METRIC_CPU_COUNT)) < 0)
		ph->n = 0;
}

/* ---- tables ---- */

static const struct column own_columns[] = {
	{"OWN", "time on the host, without scopes and waits within", 7, 0, human_time_ns},
	{"%", "share of all of it", 5, 1, human_percent},
	{"ENTERED", "times that it was entered", 7, 3, human_count},
	{"TIME", "time on the host, with scopes and waits within", 7, 2, human_time_ns},
	{"AVG", "time of one, from its beginning to its end", 7, 4, human_time_ns},
};

static const struct column elapsed_columns[] = {
	{"TIME", "time on the host, with scopes and waits within", 7, 0, human_time_ns},
	{"ENTERED", "times that it was entered", 7, 2, human_count},
	{"AVG", "time of one, from its beginning to its end", 7, 3, human_time_ns},
};

static const struct column wait_columns[] = {
	{"TIME", "time that the host waited", 7, 0, human_time_ns},
	{"%", "share of all of it", 5, 1, human_percent},
	{"CALLS", "times that it waited", 7, 2, human_count},
	{"AVG", "time of one", 7, 3, human_time_ns},
};

static bool is_wait(struct panel *p, uint32_t node)
{
	return snapshot_node(p->tui->snap, node)->kind == FRAME_SYNC;
}

/* Rows by frame; make() gives those of one table their numbers. */
static void list(struct panel *p, bool waits, struct section_row (*make)(const struct host_row *of))
{
	const struct panel_host *ph = as_host(p);

	for (uint32_t i = 0; i < ph->n; i++) {
		const struct host_row *r = &ph->rows[i];
		struct section_row row;

		if (r->node == SNAP_NONE || is_wait(p, r->node) != waits)
			continue;
		row = make(r);
		row.role = kind_role(snapshot_node(p->tui->snap, r->node)->kind);
		sections_add_node(p, r->node, &row);
	}
}

static double mean(double sum, double count)
{
	return count > 0 ? sum / count : NAN;
}

static struct section_row own_row(const struct host_row *of)
{
	return (struct section_row){
		.v = {of->own, SECTION_SHARE, of->count, of->whole, mean(of->entered, of->count)}};
}

static struct section_row elapsed_row(const struct host_row *of)
{
	return (struct section_row){.v = {of->whole, of->count, mean(of->entered, of->count)}};
}

static struct section_row wait_row(const struct host_row *of)
{
	return (struct section_row){
		.v = {of->whole, SECTION_SHARE, of->count, mean(of->entered, of->count)}};
}

static void list_own(struct panel *p)
{
	if (has_own(p))
		list(p, false, own_row);
}

static void list_elapsed(struct panel *p)
{
	if (!has_own(p))
		list(p, false, elapsed_row);
}

static void list_waits(struct panel *p)
{
	list(p, true, wait_row);
}

static void list_waiting(struct panel *p)
{
	const double *elapsed = column(p, METRIC_CPU_TIME), *count = column(p, METRIC_CPU_COUNT);
	struct numbers *kept = tui_numbers(p->tui);

	for (uint32_t id = 0; as_host(p)->n && id < snapshot_n(p->tui->snap); id++) {
		struct section_row row;

		if (isnan(elapsed[id]) || !is_wait(p, id) || !numbers_counts(kept, id))
			continue;
		row = wait_row(&(struct host_row){.whole = elapsed[id],
						  .entered = elapsed[id],
						  .count = count ? count[id] : NAN});
		sections_add_path(p, id, &row);
	}
}

static bool has_wait(const struct session *s)
{
	for (uint32_t i = 0; i < s->n_nodes; i++)
		if (session_node_kind(s, i) == FRAME_SYNC)
			return true;
	return false;
}

/* There are none to show. Are there none? */
static const char *say_no_waits(struct panel *p)
{
	const struct tui *t = p->tui;

	if (has_wait(panel_session(p)))
		return *t->filter || filters_any(&t->filters) ? "none with this filter"
							      : "none so far";
	if (t->options.sync)
		return t->status.run == TUI_RUN_ENDED ? "none" : "none so far";
	return "none (proton top and record see them with --sync)";
}

static const struct section sections[] = {
	{
		.title = "Scopes by their own time on the host; TIME, AVG: with what is within",
		.name = "SCOPE",
		.columns = {own_columns, ARRAY_SIZE(own_columns), 40},
		.list = list_own,
		.most = ROWS_MAX,
	},
	{
		.title = "Scopes by time on the host, with what is within",
		.name = "SCOPE",
		.columns = {elapsed_columns, ARRAY_SIZE(elapsed_columns), 40},
		.list = list_elapsed,
		.most = ROWS_MAX,
	},
	{
		.title = "Waits for the GPU",
		.name = "KIND",
		.columns = {wait_columns, ARRAY_SIZE(wait_columns), 40},
		.list = list_waits,
		.most = ROWS_MAX,
		.empty = "none",
		.say_empty = say_no_waits,
	},
	{
		.title = "Calling contexts that wait",
		.name = "PATH",
		.columns = {wait_columns, ARRAY_SIZE(wait_columns), 40},
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
	free(as_host(p)->open);
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
