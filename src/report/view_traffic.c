/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
/* Copies of a run: from where to where, of which sizes, and what ran beside them. */
#include "report/view_traffic.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/util.h"
#include "core/activity.h"
#include "core/copy_rows.h"
#include "core/traffic.h"
#include "report/rows.h"
#include "report/table.h"
#include "report/words.h"

/* ---- from where to where, and of which sizes ---- */

struct traffic_table {
	const struct session *s;
	const struct traffic *t;
};

#define TRAFFIC_CELL(id, title, value, human, ...)                                                 \
	static void pair_##id(const void *ctx, size_t row, char out[CELL_MAX])                     \
	{                                                                                          \
		const struct traffic_pair *p =                                                     \
			&((const struct traffic_table *)ctx)->t->pairs[row];                       \
                                                                                                   \
		human_##human(out, value);                                                         \
	}
TRAFFIC_COLUMNS(TRAFFIC_CELL)
#define SIZE_CELL(id, title, value, human, ...)                                                    \
	static void size_##id(const void *ctx, size_t row, char out[CELL_MAX])                     \
	{                                                                                          \
		const struct traffic_size *z =                                                     \
			&((const struct traffic_table *)ctx)->t->sizes[row];                       \
                                                                                                   \
		human_##human(out, value);                                                         \
	}
TRAFFIC_SIZE_COLUMNS(SIZE_CELL)

static void pair_word(const void *ctx, size_t row, char out[CELL_MAX])
{
	const struct traffic_table *t = ctx;

	traffic_pair_name(t->s, &t->t->pairs[row], out);
}

static void size_word(const void *ctx, size_t row, char out[CELL_MAX])
{
	traffic_size_name(&((const struct traffic_table *)ctx)->t->sizes[row], out);
}

static void put_pairs(struct report *r, const struct traffic *traffic)
{
#define PAIR_WORD(id, title, value, human, width, rank, help) {title, false, pair_##id, rank},
	static const struct word_column all[] = {TRAFFIC_COLUMNS(PAIR_WORD)};
	struct word_column columns[ARRAY_SIZE(all) + 1];
	const struct traffic_table t = {r->s, traffic};
	size_t n = ARRAY_SIZE(all); /* what was measured is the last of them */
	bool is_measured = false;

	if (!traffic->n_pairs)
		return;
	out_putc(r->out, '\n');
	rows_put_caption(r, TRAFFIC_TITLE);
	for (size_t i = 0; i < traffic->n_pairs; i++)
		is_measured |= !isnan(traffic->pairs[i].measured);
	memcpy(columns, all, sizeof(all));
	columns[n - !is_measured] = (struct word_column){"FROM, TO", true, pair_word, 0};
	put_words(&(struct word_table){columns, n + is_measured, traffic->n_pairs, &t}, r->o,
		  r->out);
	if (is_measured)
		out_puts(r->out,
			 "(PEAK%: of what proton doctor --measure measured of pinned copies)\n");
}

/* Directions that no copy went have no columns. */
static void put_sizes(struct report *r, const struct traffic *traffic)
{
#define SIZE_WORD(id, title, value, human, width, rank, help) {title, false, size_##id, rank},
	static const struct word_column all[] = {TRAFFIC_SIZE_COLUMNS(SIZE_WORD)};
#define SIZE_VALUE(id, title, value, ...) value,
	const struct traffic_size *z = traffic->sizes;
	const double first[] = {TRAFFIC_SIZE_COLUMNS(SIZE_VALUE)};
	const struct traffic_table t = {r->s, traffic};
	struct word_column columns[ARRAY_SIZE(all) + 1];
	size_t n = 0;

	if (!traffic->n_sizes)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (!isnan(first[i]))
			columns[n++] = all[i];
	columns[n++] = (struct word_column){"SIZE", true, size_word};
	out_putc(r->out, '\n');
	rows_put_caption(r, TRAFFIC_SIZES_TITLE);
	put_words(&(struct word_table){columns, n, traffic->n_sizes, &t}, r->o, r->out);
}

/* ---- what ran beside them ---- */

struct lanes_table {
	const struct session *s;
	const struct copy_rows *rows;
};

#define LANE_CELL(id, title, value, human, ...)                                                    \
	static void lane_##id(const void *ctx, size_t row, char out[CELL_MAX])                     \
	{                                                                                          \
		const struct copy_row *c = &((const struct lanes_table *)ctx)->rows->v[row];       \
                                                                                                   \
		human_##human(out, value);                                                         \
	}
COPY_ROW_COLUMNS(LANE_CELL)
#define LANE_WORD(id, title, value, human, width, rank, help) {title, false, lane_##id, rank},

static void lane_direction(const void *ctx, size_t row, char out[CELL_MAX])
{
	snprintf(out, CELL_MAX, "%s",
		 copy_row_direction(&((const struct lanes_table *)ctx)->rows->v[row]));
}

static void lane_stream(const void *ctx, size_t row, char out[CELL_MAX])
{
	const struct copy_rows *rows = ((const struct lanes_table *)ctx)->rows;

	copy_row_stream(rows, &rows->v[row], out);
}

static void lane_channel(const void *ctx, size_t row, char out[CELL_MAX])
{
	copy_row_channel(&((const struct lanes_table *)ctx)->rows->v[row], out);
}

static void lane_device(const void *ctx, size_t row, char out[CELL_MAX])
{
	const struct lanes_table *t = ctx;

	session_device_word(t->s, t->rows->v[row].of.device, out);
}

/* What the words and numbers that there are mean. */
static void put_legend(const struct report *r, const struct copy_rows *rows)
{
	bool is_alone = false, is_of_channel = false;

	for (size_t i = 0; i < rows->n; i++) {
		is_alone |= !(rows->v[i].others_ns > 0);
		is_of_channel |= rows->v[i].of.channel_kind != CHANNEL_UNKNOWN;
	}
	out_printf(r->out,
		   "(HIDDEN: while something else than copies ran on the device;\n"
		   " OVERLAP%%: share of the time of that in which these copies ran%s)\n",
		   is_alone ? ";\n -: there was none" : "");
	if (is_of_channel)
		out_puts(r->out,
			 "(CHANNEL: copy, of an engine for copies; compute, of what runs kernels,\n"
			 " as small copies and those within a device may)\n");
}

static void put_lanes(struct report *r, const struct copy_rows *rows)
{
	static const struct word_column columns[] = {
		COPY_ROW_COLUMNS(LANE_WORD){"DIRECTION", true, lane_direction, 0},
		{"STREAM", true, lane_stream, 0},
		{"CHANNEL", true, lane_channel, 0},
		{"DEVICE", true, lane_device, 0},
	};
	char unsure[2 * COPY_ROW_WORD];

	if (!rows->n)
		return;
	out_putc(r->out, '\n');
	rows_put_caption(r, COPY_ROWS_TITLE);
	if (rows->of_all)
		out_puts(r->out, REPORT_OF_ALL);
	put_words(&(struct word_table){columns, ARRAY_SIZE(columns), rows->n,
				       &(struct lanes_table){r->s, rows}},
		  r->o, r->out);
	put_legend(r, rows);
	copy_rows_unsure(rows, unsure);
	if (*unsure)
		out_printf(r->out, "(%s)\n", unsure);
}

int put_traffic(struct report *r)
{
	struct traffic traffic = {0};
	struct copy_rows rows = {0};
	const struct numbers *kept = r->mask ? r->numbers : NULL;
	int e = traffic_make(&traffic, r->s, kept, r->o->peaks);

	if (e == 0)
		e = copy_rows_make(&rows, r->s, kept);
	if (e == 0) {
		put_pairs(r, &traffic);
		put_sizes(r, &traffic);
		put_lanes(r, &rows);
	}
	copy_rows_done(&rows);
	traffic_done(&traffic);
	return e;
}
