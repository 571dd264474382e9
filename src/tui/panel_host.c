/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <math.h>
#include "core/calls.h"
#include "core/host.h"
#include "tui/names.h"
#include "tui/sections.h"
#include "tui/tui_impl.h"

/* What the host does: scopes by the time that is their own, and where it waits for the GPU. */

#define ROWS_MAX 64 /* of each table: those with the most */

struct panel_host {
	struct sections base;
	struct host host;
	struct calls calls;
	uint64_t generation; /* of the numbers that these are of */
};

static struct panel_host *as_host(struct panel *p)
{
	return (struct panel_host *)p;
}

/* Expressions leave out some of what is nested. */
static bool has_left(struct panel *p)
{
	return filters_any(&p->tui->filters);
}

/* Own time is what nested scopes leave. One that was open at a reset ends with time from before it. */
static bool has_own(struct panel *p)
{
	return host_has_all_times(panel_session(p)) && !snapshot_is_reset(p->tui->snap) &&
	       !has_left(p);
}

static void make(struct panel *p)
{
	struct panel_host *ph = as_host(p);
	uint64_t generation = numbers_generation(tui_numbers(p->tui));

	if (ph->generation == generation)
		return;
	ph->generation = generation;
	host_update(&ph->host, tui_numbers(p->tui), tui_all(p->tui)); /* no memory: no rows */
	calls_update(&ph->calls, tui_numbers(p->tui));
}

/* ---- tables ---- */

static const struct column own_columns[] = {
	{"OWN", "time on the host, without scopes and waits within", 7, 0, human_time_ns},
	{"%", "share of all of it", 5, 1, human_percent},
	{"ON-CPU", "on a processor in the scope itself, in busy waits too (--cpu-time)", 7, 3,
	 human_time_ns, .is_absent = sections_lack},
	{"ENTERED", "times that it was entered", 7, 3, human_count},
	{"TIME", "time on the host, with scopes and waits within", 7, 2, human_time_ns},
	{"AVG", "time of one, from its beginning to its end", 7, 4, human_time_ns},
};

static const struct column left_columns[] = {
	{"LEFT", "what the filter leaves of it, as HOST in the tree", 7, 0, human_time_ns},
	{"ENTERED", "times that it was entered", 7, 2, human_count},
	{"TIME", "time on the host, with scopes and waits within", 7, 2, human_time_ns},
	{"AVG", "time of one, from its beginning to its end", 7, 3, human_time_ns},
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
	const struct host *h = &as_host(p)->host;

	for (uint32_t i = 0; i < h->n; i++) {
		const struct host_row *r = &h->rows[i];
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
	return (struct section_row){.v = {of->own, SECTION_SHARE, of->on_cpu, of->count, of->whole,
					  mean(of->whole, of->count)}};
}

static struct section_row left_row(const struct host_row *of)
{
	return (struct section_row){
		.v = {of->left, of->count, of->whole, mean(of->whole, of->count)}};
}

static struct section_row elapsed_row(const struct host_row *of)
{
	return (struct section_row){.v = {of->whole, of->count, mean(of->whole, of->count)}};
}

static struct section_row wait_row(const struct host_row *of)
{
	return (struct section_row){
		.v = {of->whole, SECTION_SHARE, of->count, mean(of->whole, of->count)}};
}

static void list_own(struct panel *p)
{
	if (has_own(p))
		list(p, false, own_row);
}

static void list_left(struct panel *p)
{
	if (has_left(p))
		list(p, false, left_row);
}

static void list_elapsed(struct panel *p)
{
	if (!has_own(p) && !has_left(p))
		list(p, false, elapsed_row);
}

static void list_waits(struct panel *p)
{
	list(p, true, wait_row);
}

static void list_waiting(struct panel *p)
{
	const double *elapsed = host_elapsed(p->tui->snap), *count = host_entered(p->tui->snap);
	struct numbers *kept = tui_numbers(p->tui);

	for (uint32_t id = 0; as_host(p)->host.n && id < snapshot_n(p->tui->snap); id++) {
		struct section_row row;

		if (isnan(elapsed[id]) || !is_wait(p, id) || !numbers_counts(kept, id))
			continue;
		row = wait_row(
			&(struct host_row){.whole = elapsed[id], .count = count ? count[id] : NAN});
		sections_add_path(p, id, &row);
	}
}

/* ---- calls ---- */

/* clang-format off */
#define CALLS_COLUMN(title, value, op, metric, form, human, width, rank, help)                     \
	{title, help, width, rank, human_##human},
/* clang-format on */
static const struct column call_columns[] = {CALLS_COLUMNS(CALLS_COLUMN)};

static struct section_row call_row(struct panel *p, const struct call_row *row)
{
	const double CALLS_SHARE = SECTION_SHARE;
	const uint8_t kind = snapshot_node(p->tui->snap, row->node)->kind;

#define _(title, value, ...) value,
	return (struct section_row){.v = {CALLS_COLUMNS(_)}, .role = kind_role(kind)};
#undef _
}

/* Waits alone have their own tables. */
static bool has_calls(struct panel *p)
{
	return as_host(p)->calls.n && calls_are_known(panel_session(p));
}

static void list_calls(struct panel *p)
{
	const struct calls *c = &as_host(p)->calls;

	for (size_t i = 0; has_calls(p) && i < c->n; i++) {
		const struct section_row row = call_row(p, &c->rows[i]);

		sections_add_node(p, c->rows[i].node, &row);
	}
}

static void list_calling(struct panel *p)
{
	struct numbers *kept = tui_numbers(p->tui);
	struct call_row of;

	for (uint32_t id = 0; has_calls(p) && id < snapshot_n(p->tui->snap); id++)
		if (calls_at(kept, id, &of)) {
			const struct section_row row = call_row(p, &of);

			sections_add_path(p, id, &row);
		}
}

/* There are none to show. Are there none? */
static const char *say_no_waits(struct panel *p)
{
	const struct tui *t = p->tui;

	if (host_has_wait(panel_session(p)))
		return tui_is_filtered(t) ? "none with this filter" : "none so far";
	if (t->options.sync)
		return t->status.run == TUI_RUN_ENDED ? "none" : "none so far";
	return "none (proton top and record see them with --sync)";
}

/* Scopes are within one another: what they sum up to says nothing. */
static double whole_time(struct panel *p)
{
	const double *time = derive_raw(numbers_derive(tui_numbers(p->tui)), METRIC_CPU_TIME, true);

	return time ? time[0] : 0;
}

static const struct section sections[] = {
	{
		.title = HOST_BY_OWN,
		.name = "SCOPE",
		.columns = {own_columns, ARRAY_SIZE(own_columns), 40},
		.list = list_own,
		.most = ROWS_MAX,
		.limited = 1,
	},
	{
		.title = HOST_BY_LEFT,
		.name = "SCOPE",
		.columns = {left_columns, ARRAY_SIZE(left_columns), 40},
		.list = list_left,
		.most = ROWS_MAX,
		.limited = 1,
		.whole = whole_time,
	},
	{
		.title = HOST_BY_TIME,
		.name = "SCOPE",
		.columns = {elapsed_columns, ARRAY_SIZE(elapsed_columns), 40},
		.list = list_elapsed,
		.most = ROWS_MAX,
		.limited = 1,
		.whole = whole_time,
	},
	{
		.title = "Waits for the GPU, not in copies",
		.name = "KIND",
		.columns = {wait_columns, ARRAY_SIZE(wait_columns), 40},
		.list = list_waits,
		.most = ROWS_MAX,
		.limited = 1,
		.empty = "none",
		.say_empty = say_no_waits,
	},
	{
		.title = "Calling contexts that wait",
		.name = "PATH",
		.columns = {wait_columns, ARRAY_SIZE(wait_columns), 40},
		.list = list_waiting,
		.most = ROWS_MAX,
		.limited = 1,
	},
	{
		.title = CALLS_TITLE,
		.name = "FUNCTION",
		.columns = {call_columns, ARRAY_SIZE(call_columns), 40},
		.list = list_calls,
		.most = ROWS_MAX,
		.limited = 1,
	},
	{
		.title = CALLS_OF_TITLE,
		.name = "PATH",
		.columns = {call_columns, ARRAY_SIZE(call_columns), 40},
		.list = list_calling,
		.most = ROWS_MAX,
		.limited = 1,
	},
};

static void update(struct panel *p)
{
	make(p);
	sections_update(p);
}

static void done(struct panel *p)
{
	host_done(&as_host(p)->host);
	calls_done(&as_host(p)->calls);
	sections_done(p);
}

static bool is_there(const struct tui *t)
{
	return snapshot_has(t->snap, METRIC_CPU_TIME) || snapshot_has(t->snap, METRIC_API_TIME);
}

const struct panel_ops panel_host_ops = {
	.title = "Host",
	.size = sizeof(struct panel_host),
	.is_there = is_there,
	.init = sections_init,
	.done = done,
	.update = update,
	.keys = sections_context_keys,
	SECTIONS_OPS(sections),
	.is_filtered = true,
};
