/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <string.h>
#include "core/launch_rows.h"
#include "core/numbers.h"
#include "tui/names.h"
#include "tui/sections.h"
#include "tui/tui_impl.h"

#define ROWS_MAX 1000u /* who looks further down than this has another question */

/* How kernels were launched, and what that leaves empty of a multiprocessor. */
struct panel_launches {
	struct sections base;
	struct launch_rows rows;
	uint64_t generation; /* of the numbers that they are of */
};

static struct panel_launches *as_launches(struct panel *p)
{
	return (struct panel_launches *)p;
}

static bool is_there(const struct tui *t)
{
	return snapshot_session(t->snap)->n_configs > 0;
}

/* ---- rows ---- */

/* Columns of words have the row's number. */
static const struct launch_row *row_at(struct panel *p, double number)
{
	return &as_launches(p)->rows.v[(size_t)number];
}

static void print_limit(struct panel *p, double number, char out[COLUMN_TEXT])
{
	char text[LAUNCH_LIMITS_TEXT];

	snprintf(out, COLUMN_TEXT, "%s", occupancy_limits_text(&row_at(p, number)->is, text));
}

/* Cut it would be another one. */
static void print_extent(const uint32_t of[3], size_t width, char out[COLUMN_TEXT])
{
	char text[LAUNCH_EXTENT_TEXT];

	launch_extent_text(of, text);
	snprintf(out, COLUMN_TEXT, "%s", strlen(text) > width ? "#" : text);
}

enum { LIMIT_WIDTH = 12, GRID_WIDTH = 10, BLOCK_WIDTH = 7 };

static void print_grid(struct panel *p, double number, char out[COLUMN_TEXT])
{
	print_extent(row_at(p, number)->of.shape.grid, GRID_WIDTH, out);
}

static void print_block(struct panel *p, double number, char out[COLUMN_TEXT])
{
	print_extent(row_at(p, number)->of.shape.block, BLOCK_WIDTH, out);
}

static const struct column columns[] = {
#define _(id, title_, value, human, width_, rank, help_)                                           \
	{.title = title_,                                                                          \
	 .help = help_,                                                                            \
	 .width = width_,                                                                          \
	 .priority = rank,                                                                         \
	 .format = human_##human},
	LAUNCH_ROW_COLUMNS(_)
#undef _
		{"LIMIT",
		 "what keeps more blocks away from a multiprocessor; full: it has all warps",
		 LIMIT_WIDTH, 2, .print = print_limit},
	{"GRID", "blocks of the grid; #: there is no room for it", GRID_WIDTH, 10,
	 .print = print_grid},
	{"BLOCK", "threads of a block", BLOCK_WIDTH, 11, .print = print_block},
};
enum { N_COLUMNS = sizeof(columns) / sizeof(*columns) };
_Static_assert(N_COLUMNS <= SECTION_NUMBERS, "a row has all of them");

static void list_row(struct panel *p, size_t i)
{
	const struct launch_row *l = &as_launches(p)->rows.v[i];
	struct section_row row = {.role = ROLE_NORMAL};
	size_t n = 0;

#define _(id, title, value, ...) row.v[n++] = value;
	LAUNCH_ROW_COLUMNS(_)
#undef _
	while (n < N_COLUMNS)
		row.v[n++] = (double)i;
	sections_add_node(p, l->node, &row);
}

static void list(struct panel *p)
{
	for (size_t i = 0; i < MIN(as_launches(p)->rows.n, ROWS_MAX); i++)
		list_row(p, i);
}

/* ---- the panel ---- */

static const struct section sections[] = {
	{
		.title = LAUNCH_ROWS_TITLE,
		.name = "KERNEL",
		.columns = {columns, N_COLUMNS, 24},
		.list = list,
		.empty = LAUNCH_ROWS_NONE,
		.is_of_all = panel_is_since_reset,
	},
};

static void done(struct panel *p)
{
	launch_rows_done(&as_launches(p)->rows);
	sections_done(p);
}

static void update(struct panel *p)
{
	struct panel_launches *pl = as_launches(p);
	struct numbers *numbers = tui_numbers(p->tui);

	if (pl->generation != numbers_generation(numbers)) {
		launch_rows_make(&pl->rows, numbers);
		pl->generation = numbers_generation(numbers);
	}
	sections_update(p);
}

const struct panel_ops panel_launches_ops = {
	.title = "Launches",
	.is_there = is_there,
	.size = sizeof(struct panel_launches),
	.init = sections_init,
	.done = done,
	.update = update,
	.keys = sections_context_keys,
	SECTIONS_OPS(sections),
	.is_filtered = true,
};
