/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
/* How kernels were launched, and how much of a multiprocessor that leaves empty. */
#include <math.h>
#include <stdio.h>
#include "base/util.h"
#include "core/launch_rows.h"
#include "report/report_impl.h"
#include "report/rows.h"
#include "report/words.h"

struct launches {
	struct report *r;
	const struct launch_rows *rows;
};

static const struct launch_row *row_of(const void *ctx, size_t row)
{
	return &((const struct launches *)ctx)->rows->v[row];
}

#define CELL(id, title, value, human, ...)                                                         \
	static void put_##id(const void *ctx, size_t row, char out[CELL_MAX])                      \
	{                                                                                          \
		const struct launch_row *l = row_of(ctx, row);                                     \
                                                                                                   \
		human_##human(out, value);                                                         \
	}
LAUNCH_ROW_COLUMNS(CELL)
#define WORD(id, title, value, human, width, rank, help) {title, false, put_##id, rank},

static void put_limit(const void *ctx, size_t row, char out[CELL_MAX])
{
	occupancy_limits_text(&row_of(ctx, row)->is, out);
}

static void put_grid(const void *ctx, size_t row, char out[CELL_MAX])
{
	launch_extent_text(row_of(ctx, row)->of.shape.grid, out);
}

static void put_block(const void *ctx, size_t row, char out[CELL_MAX])
{
	launch_extent_text(row_of(ctx, row)->of.shape.block, out);
}

static void put_cluster(const void *ctx, size_t row, char out[CELL_MAX])
{
	launch_extent_text(row_of(ctx, row)->of.cluster, out);
}

static const char *kernel(const void *ctx, size_t row)
{
	return report_name(((const struct launches *)ctx)->r, row_of(ctx, row)->node);
}

static bool has_clusters(const struct launch_rows *rows)
{
	for (size_t i = 0; i < rows->n; i++)
		if (rows->v[i].of.cluster[0])
			return true;
	return false;
}

static void put_rows(struct report *r, const struct launch_rows *rows)
{
	static const struct word_column numbers[] = {LAUNCH_ROW_COLUMNS(WORD)};
	struct word_column columns[ARRAY_SIZE(numbers) + 5];
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		columns[n++] = numbers[i];
	columns[n++] = (struct word_column){"LIMIT", true, put_limit, 2};
	columns[n++] = (struct word_column){"GRID", true, put_grid, 10};
	columns[n++] = (struct word_column){"BLOCK", true, put_block, 11};
	if (has_clusters(rows))
		columns[n++] = (struct word_column){"CLUSTER", true, put_cluster, 12};
	columns[n++] = (struct word_column){.title = "KERNEL", .left = true, .name = kernel};
	put_words(&(struct word_table){columns, n, rows->n, &(struct launches){r, rows}}, r->o,
		  r->out);
	out_puts(r->out, "(OCC%: of the warps that a multiprocessor has room for, by LIMIT;\n"
			 " TAIL COST: at most, as if all blocks took equally long)\n");
}

int view_launches(struct report *r)
{
	struct launch_rows rows = {0};
	int e = launch_rows_make(&rows, r->numbers);

	if (e == 0 && rows.n)
		put_rows(r, &rows);
	else if (e == 0)
		out_puts(r->out, LAUNCH_ROWS_NONE "\n");
	launch_rows_done(&rows);
	return e;
}
