/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <math.h>
#include <string.h>
#include "base/buf.h"
#include "core/flat.h"
#include "core/frame.h"
#include "tui/names.h"
#include "tui/sections.h"
#include "tui/tui_impl.h"

#define MAX_PATHS 32

/* Copies and sets by direction, and the calling contexts that move the most. */
struct panel_memory {
	struct panel base;
	struct sections sections;
	struct flat *flat; /* the screen's */
	uint32_t *rows;    /* its transfers */
	size_t n, cap_rows;
	struct path {
		uint32_t node;
		double bytes, time_ns, count;
	} paths[MAX_PATHS]; /* by bytes, descending */
	size_t n_paths;
	double total_bytes;
};

static struct panel_memory *as_memory(struct panel *p)
{
	return (struct panel_memory *)p;
}

/* ---- transfers ---- */

static double usual(struct panel *p, uint32_t i, enum usual_column column)
{
	return flat_usual(as_memory(p)->flat, as_memory(p)->rows[i], column);
}

static double value_ops(struct panel *p, uint32_t i)
{
	return usual(p, i, USUAL_CALLS);
}

static double value_bytes(struct panel *p, uint32_t i)
{
	return usual(p, i, USUAL_BYTES);
}

static double value_time(struct panel *p, uint32_t i)
{
	return usual(p, i, USUAL_SELF);
}

static double value_size(struct panel *p, uint32_t i)
{
	return value_ops(p, i) > 0 ? value_bytes(p, i) / value_ops(p, i) : NAN;
}

static double value_gbs(struct panel *p, uint32_t i)
{
	return usual(p, i, USUAL_GBPS);
}

static double value_now(struct panel *p, uint32_t i)
{
	static const struct derived now = {
		.op = DERIVED_NOW, .plain = true, .metric = METRIC_BYTES, .factor = 1};

	const struct number_ask ask = {.metric = &now};

	return flat_value(as_memory(p)->flat, as_memory(p)->rows[i], &ask);
}

static double value_async(struct panel *p, uint32_t i)
{
	return value_ops(p, i) > 0 ? usual(p, i, USUAL_ASYNC) / value_ops(p, i) : NAN;
}

static bool no_now(struct panel *p)
{
	return !p->tui->options.live;
}

static bool no_async(struct panel *p)
{
	for (uint32_t i = 0; i < as_memory(p)->n; i++)
		if (!isnan(value_async(p, i)))
			return false;
	return true;
}

static const struct column transfer_columns[] = {
	{"OPS", "operations", 6, 2, human_count, value_ops, NULL},
	{"BYTES", "bytes moved", 6, 0, human_bytes, value_bytes, NULL},
	{"TIME", "time on the device", 7, 1, human_time_ns, value_time, NULL},
	{"AVG SIZE", "bytes of one operation", 8, 5, human_bytes, value_size, NULL},
	{"GB/s", "bytes per time on the device", 5, 3, human_rate, value_gbs, NULL},
	{"NOW/s", "bytes in the last window, per second", 6, 4, human_bytes, value_now, no_now},
	{"ASYNC%", "share of operations that did not block the caller", 6, 6, human_percent,
	 value_async, no_async},
};

static const char *kind_name(struct panel *p, uint32_t i)
{
	const struct panel_memory *pm = as_memory(p);

	return snapshot_name(p->tui->snap, flat_row(pm->flat, pm->rows[i])->node, NAME_SHORT);
}

/* What a person should know about this kind of transfer; "" = nothing. */
static const char *transfer_note(struct panel *p, uint32_t i)
{
	if (strstr(kind_name(p, i), "pageable"))
		return "pageable: pin the memory";
	if (value_ops(p, i) >= 1000 && value_size(p, i) < 4096)
		return "many small ones: batch them";
	return "";
}

static size_t n_transfers(struct panel *p)
{
	return as_memory(p)->n;
}

static const char *transfer_name(struct panel *p, uint32_t i)
{
	struct buf *out = sections_text(p);
	const char *note = transfer_note(p, i);

	buf_puts(out, kind_name(p, i));
	if (*note)
		buf_printf(out, "  ! %s", note);
	return buf_str(out);
}

static enum role transfer_role(struct panel *p, uint32_t i)
{
	return *transfer_note(p, i) ? ROLE_WARNING : ROLE_COPY;
}

/* ---- paths ---- */

static double path_bytes(struct panel *p, uint32_t i)
{
	return as_memory(p)->paths[i].bytes;
}

static double path_share(struct panel *p, uint32_t i)
{
	return as_memory(p)->paths[i].bytes / as_memory(p)->total_bytes;
}

static double path_time(struct panel *p, uint32_t i)
{
	return as_memory(p)->paths[i].time_ns;
}

static double path_count(struct panel *p, uint32_t i)
{
	return as_memory(p)->paths[i].count;
}

static const struct column path_columns[] = {
	{"BYTES", "bytes moved", 6, 0, human_bytes, path_bytes, NULL},
	{"%", "share of all bytes", 5, 2, human_percent, path_share, NULL},
	{"TIME", "time on the device", 7, 1, human_time_ns, path_time, NULL},
	{"OPS", "operations", 6, 3, human_count, path_count, NULL},
};

static size_t n_paths(struct panel *p)
{
	return as_memory(p)->n_paths;
}

static const char *path_name(struct panel *p, uint32_t i)
{
	struct buf *out = sections_text(p);

	tui_put_path(p->tui, as_memory(p)->paths[i].node, out);
	return buf_str(out);
}

static uint32_t path_node(struct panel *p, uint32_t i)
{
	return as_memory(p)->paths[i].node;
}

/* Insert into the list that is kept sorted; the least falls out. */
static void add_path(struct panel_memory *pm, const struct path *path)
{
	size_t i = pm->n_paths < MAX_PATHS ? pm->n_paths++ : MAX_PATHS;

	if (i == MAX_PATHS) {
		if (pm->paths[MAX_PATHS - 1].bytes >= path->bytes)
			return;
		i--;
	}
	for (; i > 0 && pm->paths[i - 1].bytes < path->bytes; i--)
		pm->paths[i] = pm->paths[i - 1];
	pm->paths[i] = *path;
}

static double at(const struct snap_column *c, uint32_t id)
{
	return c ? c->v[id] : NAN;
}

static void find_paths(struct panel *p)
{
	struct panel_memory *pm = as_memory(p);
	struct snapshot *snap = p->tui->snap;
	const struct snap_column *bytes = snapshot_column(snap, METRIC_BYTES, false);
	const struct snap_column *time = snapshot_column(snap, METRIC_TIME, false);
	const struct snap_column *count = snapshot_column(snap, METRIC_COUNT, false);

	pm->n_paths = 0;
	pm->total_bytes = 0;
	for (uint32_t id = 0; id < snapshot_n(snap); id++) {
		const struct snap_node *n = snapshot_node(snap, id);
		struct path path = {id, at(bytes, id), at(time, id), at(count, id)};

		if ((n->kind != FRAME_COPY && n->kind != FRAME_SET) || n->hidden ||
		    !(path.bytes > 0))
			continue;
		pm->total_bytes += path.bytes;
		add_path(pm, &path);
	}
}

/* ---- the panel ---- */

static const struct section sections[] = {
	{
		.title = "Copies and sets",
		.name = "KIND",
		.columns = {transfer_columns, ARRAY_SIZE(transfer_columns), 40},
		.n = n_transfers,
		.row_name = transfer_name,
		.row_role = transfer_role,
		.empty = "no copies and no sets were seen",
	},
	{
		.title = "Calling contexts by bytes",
		.name = "PATH",
		.columns = {path_columns, ARRAY_SIZE(path_columns), 40},
		.n = n_paths,
		.row_name = path_name,
		.row_node = path_node,
	},
};

static int init(struct panel *p)
{
	sections_init(&as_memory(p)->sections, p, sections, ARRAY_SIZE(sections));
	return 0;
}

static void done(struct panel *p)
{
	sections_done(p);
	free(as_memory(p)->rows);
}

static void find_transfers(struct panel_memory *pm)
{
	pm->n = 0;
	for (uint32_t i = 0; pm->flat && i < flat_n(pm->flat); i++)
		if (flat_is_transfer(pm->flat, i) &&
		    ARRAY_ROOM(pm->rows, pm->cap_rows, pm->n + 1) == 0)
			pm->rows[pm->n++] = i;
}

static void update(struct panel *p)
{
	as_memory(p)->flat = tui_flat(p->tui);
	find_transfers(as_memory(p));
	find_paths(p);
	sections_update(p);
}

const struct panel_ops panel_memory_ops = {
	.title = "Memory",
	.tab = "Mem",
	.size = sizeof(struct panel_memory),
	.init = init,
	.done = done,
	.update = update,
	SECTIONS_OPS,
};
