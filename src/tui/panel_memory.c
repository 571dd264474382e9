/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <math.h>
#include <string.h>
#include "core/copy_rows.h"
#include "core/flat.h"
#include "core/frame.h"
#include "core/held.h"
#include "core/memory_columns.h"
#include "core/pair.h"
#include "core/traffic.h"
#include "tui/sections.h"
#include "tui/tui_impl.h"

/* What is allocated, and who holds it; copies and sets by direction, and the calling contexts that move the most. */

#define WIDE     100 /* columns from which advice stands behind the kind of copy */
#define MIDDLING 60
#define LOW      10 /* rows below which each is for a kind of copy */

struct panel_memory {
	struct sections base;
	struct kept_flat flat; /* of what the filter leaves */
	struct held_list held;
	struct traffic traffic;
	struct copy_rows lanes;
};

static struct panel_memory *as_memory(struct panel *p)
{
	return (struct panel_memory *)p;
}

/* ---- transfers ---- */

static const struct column transfer_columns[] = {
	{"CALLS", "operations", 6, 2, human_count},
	{"BYTES", "bytes moved", 6, 1, human_bytes},
	{"TIME", "time on the device", 7, 0, human_time_ns},
	SECTION_COMPARED(0),
	{"AVG SIZE", "bytes of one operation", 8, 5, human_bytes},
	{"GB/s", "bytes per time on the device", 5, 3, human_rate},
	{"NOW/s", "bytes in the last window, per second", 6, 4, human_bytes,
	 .is_absent = sections_lack_window},
	{"ASYNC%", "share of operations that did not block the caller", 6, 6, human_percent,
	 .is_absent = sections_lack},
};

static double time_before(struct flat *flat, uint32_t i)
{
	const struct number_ask ask = {.metric = &usual_columns[USUAL_SELF].derived,
				       .before = true};

	return flat_value(flat, i, &ask);
}

static double change(struct panel *p, double before, double now)
{
	return p->tui->options.before ? pair_delta(before, now) : NAN;
}

#define COPY_WORD "memcpy "

/* Beside both sides of a comparison there is room for what tells copies apart. */
static const char *brief_kind(struct panel *p, const char *kind)
{
	bool is_brief = p->tui->options.before && p->width < MIDDLING &&
			!strncmp(kind, COPY_WORD, strlen(COPY_WORD));

	return kind + (is_brief ? strlen(COPY_WORD) : 0);
}

/* Advice goes whole: behind the kind where that leaves room, else below it; a low screen has its mark. */
static void put_kind(struct panel *p, struct buf *out, const char *kind, const char *advice)
{
	bool beside = !*advice || p->width >= WIDE, low = p->height > 0 && p->height < LOW;
	char text[128];

	buf_puts(out, brief_kind(p, kind));
	if (*advice && beside)
		buf_printf(out, "  ! %s", advice);
	else if (low)
		buf_puts(out, *advice ? "  !" : "");
	snprintf(text, sizeof(text), "! %s", advice);
	if (!beside && !low)
		sections_add_text(p, text, p->width < MIDDLING ? 20 : 29,
				  &(struct section_row){.role = ROLE_WARNING, .is_remark = true});
}

static void add_transfer(struct panel *p, struct flat *flat, uint32_t i)
{
	static const struct derived now = {
		.op = DERIVED_NOW, .plain = true, .metric = METRIC_BYTES, .factor = 1};
	const char *kind = snapshot_name(p->tui->snap, flat_row(flat, i)->node, NAME_SHORT);
	double ops = flat_usual(flat, i, USUAL_CALLS), bytes = flat_usual(flat, i, USUAL_BYTES);
	double size = ops > 0 ? bytes / ops : NAN;
	const char *advice = flat_advice(flat, i);
	double time = flat_usual(flat, i, USUAL_SELF), before = time_before(flat, i);
	const struct section_row row = {
		.v = {ops, bytes, time, before, change(p, before, time), size,
		      flat_usual(flat, i, USUAL_GBPS),
		      flat_value(flat, i, &(struct number_ask){.metric = &now}),
		      ops > 0 ? flat_usual(flat, i, USUAL_ASYNC) / ops : NAN},
		.role = *advice ? ROLE_WARNING : ROLE_COPY,
	};

	put_kind(p, sections_add_of(p, flat_row(flat, i)->node, &row), kind, advice);
}

static void list_transfers(struct panel *p)
{
	struct flat *flat = kept_flat_of(p->tui, &as_memory(p)->flat, tui_numbers(p->tui));

	for (uint32_t i = 0; flat && i < flat_n(flat); i++)
		if (flat_is_transfer(flat, i))
			add_transfer(p, flat, i);
}

/* ---- paths ---- */

static const struct column path_columns[] = {
	{"BYTES", "bytes moved", 6, 1, human_bytes},
	{"%", "share of all bytes", 5, 2, human_percent},
	{"TIME", "time on the device", 7, 0, human_time_ns},
	SECTION_COMPARED(0),
	{"CALLS", "operations", 6, 3, human_count},
};

static double at(const struct snap_column *c, uint32_t id)
{
	return c ? c->v[id] : NAN;
}

/* Those that move something, on either side. */
static void list_paths(struct panel *p)
{
	struct snapshot *snap = p->tui->snap, *old = p->tui->options.before;
	const struct snap_column *bytes = snapshot_column(snap, METRIC_BYTES, false);
	const struct snap_column *time = snapshot_column(snap, METRIC_TIME, false);
	const struct snap_column *count = snapshot_column(snap, METRIC_COUNT, false);
	const struct snap_column *bytes_before =
		old ? snapshot_column(old, METRIC_BYTES, false) : NULL;
	const struct snap_column *before = old ? snapshot_column(old, METRIC_TIME, false) : NULL;
	const struct numbers *kept = tui_numbers(p->tui);

	for (uint32_t id = 0; id < snapshot_n(snap); id++) {
		const struct snap_node *n = snapshot_node(snap, id);

		if ((n->kind != FRAME_COPY && n->kind != FRAME_SET) || !numbers_counts(kept, id) ||
		    !(at(bytes, id) > 0 || at(bytes_before, id) > 0))
			continue;
		sections_add_path(
			p, id,
			&(struct section_row){
				.v = {at(bytes, id), SECTION_SHARE, at(time, id), at(before, id),
				      change(p, at(before, id), at(time, id)), at(count, id)}});
	}
}

/* ---- from where to where, and of which sizes ---- */

#define TRAFFIC_COLUMN(id, title, value, human, width, rank, help)                                 \
	{title, help, width, rank, human_##human, .is_absent = sections_lack},
#define TRAFFIC_VALUE(id, title, value, ...) value,
static const struct column pair_columns[] = {TRAFFIC_COLUMNS(TRAFFIC_COLUMN)};
static const struct column size_columns[] = {TRAFFIC_SIZE_COLUMNS(TRAFFIC_COLUMN)};

/* NULL: of all contexts. */
static const struct numbers *kept_of(struct panel *p)
{
	return tui_is_filtered(p->tui) && !panel_is_since_reset(p) ? tui_numbers(p->tui) : NULL;
}

static void list_pairs(struct panel *p_)
{
	const struct traffic *t = &as_memory(p_)->traffic;
	char name[TRAFFIC_NAME];

	for (size_t i = 0; i < t->n_pairs; i++) {
		const struct traffic_pair *p = &t->pairs[i];

		traffic_pair_name(panel_session(p_), p, name);
		buf_puts(sections_add(p_,
				      &(struct section_row){.v = {TRAFFIC_COLUMNS(TRAFFIC_VALUE)},
							    .role = ROLE_COPY}),
			 name);
	}
}

static void list_sizes(struct panel *p)
{
	const struct traffic *t = &as_memory(p)->traffic;
	char name[TRAFFIC_NAME];

	for (size_t i = 0; i < t->n_sizes; i++) {
		const struct traffic_size *z = &t->sizes[i];

		traffic_size_name(z, name);
		buf_puts(sections_add(p, &(struct section_row){.v = {TRAFFIC_SIZE_COLUMNS(
								       TRAFFIC_VALUE)},
							       .role = ROLE_COPY}),
			 name);
	}
}

/* ---- what ran beside them ---- */

static const struct column lane_columns[] = {COPY_ROW_COLUMNS(TRAFFIC_COLUMN)};

static void list_lanes(struct panel *p)
{
	const struct copy_rows *rows = &as_memory(p)->lanes;
	char name[2 * COPY_ROW_WORD];

	for (size_t i = 0; i < rows->n; i++) {
		const struct copy_row *c = &rows->v[i];

		copy_row_name(panel_session(p), rows, c, name);
		buf_puts(sections_add(p,
				      &(struct section_row){.v = {COPY_ROW_COLUMNS(TRAFFIC_VALUE)},
							    .role = ROLE_COPY}),
			 name);
	}
	copy_rows_unsure(rows, name);
	if (*name)
		sections_add_text(p, name, 40,
				  &(struct section_row){.role = ROLE_WARNING, .is_remark = true});
}

static bool are_lanes_of_all(struct panel *p)
{
	return as_memory(p)->lanes.of_all || panel_is_since_reset(p);
}

/* ---- what is allocated ---- */

#define HELD_COLUMN(id, title, value, human, width, rank, help)                                    \
	{title, help, width, rank, human_##human, .is_absent = sections_lack},
#define HELD_VALUE(id, title, value, ...) value,
static const struct column held_columns[] = {HELD_COLUMNS(HELD_COLUMN)};
static const struct column by_columns[] = {HELD_BY_COLUMNS(HELD_COLUMN)};
static const struct column pool_columns[] = {POOL_COLUMNS(HELD_COLUMN)};

#define HOLDER_COLUMN(metric, title, form, human, width, rank, help)                               \
	{title, help, width, rank, human_##human, .is_absent = sections_lack},
#define HOLDER_METRIC(metric, ...) METRIC_##metric,
static const struct column holder_columns[] = {HOLDER_COLUMNS(HOLDER_COLUMN)};
static const uint32_t holder_metrics[] = {HOLDER_COLUMNS(HOLDER_METRIC)};
static const struct column left_columns[] = {LEFT_COLUMNS(HOLDER_COLUMN)};
static const uint32_t left_metrics[] = {LEFT_COLUMNS(HOLDER_METRIC)};
static const struct column growth_columns[] = {GROWTH_COLUMNS(HOLDER_COLUMN)};
static const uint32_t growth_metrics[] = {GROWTH_COLUMNS(HOLDER_METRIC)};
static const struct column unified_columns[] = {UNIFIED_COLUMNS(HOLDER_COLUMN)};
static const uint32_t unified_metrics[] = {UNIFIED_COLUMNS(HOLDER_METRIC)};

static void list_held(struct panel *p)
{
	const struct held_list *list = &as_memory(p)->held;
	const struct session *s = panel_session(p);
	char name[HELD_NAME];

	for (size_t i = 0; i < list->n; i++) {
		const struct held *h = &list->v[i];

		if (held_is_pool(h))
			continue;
		held_name(s, h, name);
		buf_puts(sections_add(p, &(struct section_row){.v = {HELD_COLUMNS(HELD_VALUE)},
							       .role = ROLE_COPY}),
			 name);
	}
	if (list->n && held_why_unsure(s))
		sections_add_text(p, held_why_unsure(s), 24,
				  &(struct section_row){.role = ROLE_WARNING, .is_remark = true});
}

static void list_by(struct panel *p)
{
	const struct held_list *list = &as_memory(p)->held;
	char name[HELD_NAME];

	for (size_t i = 0; i < list->n_by; i++) {
		const struct held_by *h = &list->by[i];

		held_by_name(panel_session(p), h, name);
		buf_puts(sections_add(p, &(struct section_row){.v = {HELD_BY_COLUMNS(HELD_VALUE)},
							       .role = ROLE_COPY}),
			 name);
	}
}

static const char *say_why_none(struct panel *p)
{
	return held_why_none(panel_session(p));
}

static void list_pools(struct panel *p)
{
	const struct held_list *list = &as_memory(p)->held;
	char name[HELD_NAME];

	for (size_t i = 0; i < list->n; i++) {
		const struct held *h = &list->v[i];

		if (!held_is_pool(h))
			continue;
		held_name(panel_session(p), h, name);
		buf_puts(sections_add(p, &(struct section_row){.v = {POOL_COLUMNS(HELD_VALUE)},
							       .role = ROLE_COPY}),
			 name);
	}
}

/* Contexts that allocate which have any of these metrics: 0 of all of them is as good as absent. */
static void list_allocating(struct panel *p, const uint32_t *metrics, size_t n)
{
	const struct numbers *kept = tui_numbers(p->tui);
	struct snapshot *snap = p->tui->snap;

	for (uint32_t id = 0; id < snapshot_n(snap); id++) {
		struct section_row row = {.v = {0}};
		bool is_any = false;

		if (snapshot_node(snap, id)->kind != FRAME_ALLOC || !numbers_counts(kept, id))
			continue;
		for (size_t i = 0; i < n; i++) {
			row.v[i] = at(snapshot_column(snap, metrics[i], false), id);
			is_any |= row.v[i] > 0;
		}
		if (is_any)
			sections_add_path(p, id, &row);
	}
}

static void list_holders(struct panel *p)
{
	if (as_memory(p)->held.n)
		list_allocating(p, holder_metrics, ARRAY_SIZE(holder_metrics));
}

static void list_left(struct panel *p)
{
	const char *remark = held_left_remark(panel_session(p));

	if (session_has_values(panel_session(p), METRIC_LEFT_BYTES))
		list_allocating(p, left_metrics, ARRAY_SIZE(left_metrics));
	if (remark)
		sections_add_text(p, remark, MAX(p->width - 50, 20),
				  &(struct section_row){.role = ROLE_DIM, .is_remark = true});
}

static void list_growth(struct panel *p)
{
	if (session_has_values(panel_session(p), METRIC_POOL_GROWN))
		list_allocating(p, growth_metrics, ARRAY_SIZE(growth_metrics));
}

static void list_unified(struct panel *p)
{
	if (held_has_unified(panel_session(p)))
		list_allocating(p, unified_metrics, ARRAY_SIZE(unified_metrics));
}

static const char *say_why_no_unified(struct panel *p)
{
	return held_why_no_unified(panel_session(p), &as_memory(p)->held);
}

/* ---- the panel ---- */

/* There are none to show. Were there none? */
static const char *say_no_transfers(struct panel *p)
{
	return tui_is_filtered(p->tui) ? "none with this filter"
				       : "no copies and no sets were seen";
}

static const struct section sections[] = {
	{
		.title = "Allocated memory",
		.name = "MEMORY",
		.columns = {held_columns, ARRAY_SIZE(held_columns), 24},
		.list = list_held,
		.of_b = true,
		.of_all = true,
		.say_empty = say_why_none,
	},
	{
		.title = "Copies and sets",
		.name = "KIND",
		.columns = {transfer_columns, ARRAY_SIZE(transfer_columns), 40, COMPARED_NAME},
		.list = list_transfers,
		.limited = 2,
		.empty = "no copies and no sets were seen",
		.say_empty = say_no_transfers,
	},
	{
		.title = TRAFFIC_TITLE,
		.name = "FROM, TO",
		.columns = {pair_columns, ARRAY_SIZE(pair_columns), 24},
		.list = list_pairs,
		.limited = 1,
		.of_b = true,
		.is_of_all = panel_is_since_reset,
	},
	{
		.title = TRAFFIC_SIZES_TITLE,
		.name = "SIZE",
		.columns = {size_columns, ARRAY_SIZE(size_columns), 20},
		.list = list_sizes,
		.of_b = true,
		.is_of_all = panel_is_since_reset,
	},
	{
		.title = HELD_BY_TITLE,
		.name = "FILE",
		.columns = {by_columns, ARRAY_SIZE(by_columns), 24},
		.list = list_by,
		.of_b = true,
		.of_all = true,
		.most = 16,
	},
	{
		.title = "Pools of memory",
		.name = "POOL",
		.columns = {pool_columns, ARRAY_SIZE(pool_columns), 24},
		.list = list_pools,
		.of_b = true,
		.of_all = true,
	},
	{
		.title = "Calling contexts by the memory that they hold",
		.name = "PATH",
		.columns = {holder_columns, ARRAY_SIZE(holder_columns), 40},
		.list = list_holders,
		.of_b = true,
		.most = 32,
		.limited = 1,
	},
	{
		.title = HELD_GROWTH_TITLE,
		.name = "PATH",
		.columns = {growth_columns, ARRAY_SIZE(growth_columns), 40},
		.list = list_growth,
		.of_b = true,
		.most = 32,
		.limited = 1,
	},
	{
		.title = HELD_LEFT_TITLE,
		.name = "PATH",
		.columns = {left_columns, ARRAY_SIZE(left_columns), 40},
		.list = list_left,
		.of_b = true,
		.most = 32,
		.limited = 1,
	},
	{
		.title = HELD_UNIFIED_TITLE,
		.name = "PATH",
		.columns = {unified_columns, ARRAY_SIZE(unified_columns), 40},
		.list = list_unified,
		.of_b = true,
		.most = 32,
		.limited = 1,
		.say_empty = say_why_no_unified,
	},
	{
		.title = "Calling contexts by bytes",
		.name = "PATH",
		.columns = {path_columns, ARRAY_SIZE(path_columns), 40, COMPARED_NAME},
		.list = list_paths,
		.most = 32,
		.limited = 1,
	},
	{
		.title = COPY_ROWS_TITLE,
		.name = "STREAM",
		.columns = {lane_columns, ARRAY_SIZE(lane_columns), 40},
		.list = list_lanes,
		.limited = 1,
		.of_b = true,
		.is_of_all = are_lanes_of_all,
		.most = 32,
	},
};

static void update(struct panel *p)
{
	held_make(&as_memory(p)->held, panel_session(p)); /* no memory: no rows */
	traffic_make(&as_memory(p)->traffic, panel_session(p), kept_of(p), p->tui->options.peaks);
	copy_rows_make(&as_memory(p)->lanes, panel_session(p), kept_of(p));
	sections_update(p);
}

static void done(struct panel *p)
{
	held_done(&as_memory(p)->held);
	copy_rows_done(&as_memory(p)->lanes);
	traffic_done(&as_memory(p)->traffic);
	as_memory(p)->flat.flat = flat_free(as_memory(p)->flat.flat);
	sections_done(p);
}

/* Of channels of the hardware, as copy_row_channel() calls them. */
static const struct panel_sign signs[] = {
	{"copy", "and a number: these copies went through an engine for copies"},
	{"compute",
	 "and a number: through what runs kernels, as small ones and those within a device may"},
	{"others", "copies in more streams than are told apart"},
	{.sign = NULL},
};

const struct panel_ops panel_memory_ops = {
	.title = "Memory",
	.tab = "Mem",
	.size = sizeof(struct panel_memory),
	.init = sections_init,
	.done = done,
	.update = update,
	.compares = true,
	.keys = sections_context_keys,
	.signs = signs,
	SECTIONS_OPS(sections),
	.is_filtered = true,
};
