/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "format/tables.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "base/util.h"
#include "core/copy_rows.h"
#include "core/idle.h"
#include "core/traffic.h"

struct tables {
	const struct session *s;
	struct idle *idle; /* by device */
	struct traffic traffic;
	struct copy_rows lanes;
};

struct table_column {
	const char *title;
	bool is_text;
	void (*put)(struct sheet *out, const struct tables *c, size_t row);
};

#define COLUMN(table, id, title, is_text) {title, is_text, table##_##id},

/* ---- from where to where ---- */

#define PAIR_COLUMNS(_)                                                                            \
	_(pair, from, "from", true)                                                                \
	_(pair, to, "to", true)                                                                    \
	_(pair, copies, "copies", false)                                                           \
	_(pair, bytes, "bytes", false)                                                             \
	_(pair, time, "time (ns)", false)

static void put_end(struct sheet *out, const struct tables *c, const struct traffic_end *end)
{
	char name[TRAFFIC_NAME / 2];

	traffic_end_name(c->s, end, name);
	sheet_word(out, name);
}

static void pair_from(struct sheet *out, const struct tables *c, size_t row)
{
	put_end(out, c, &c->traffic.pairs[row].from);
}

static void pair_to(struct sheet *out, const struct tables *c, size_t row)
{
	put_end(out, c, &c->traffic.pairs[row].to);
}

#define PAIR_NUMBER(id, value)                                                                     \
	static void pair_##id(struct sheet *out, const struct tables *c, size_t row)               \
	{                                                                                          \
		const struct traffic_pair *p = &c->traffic.pairs[row];                             \
                                                                                                   \
		sheet_number(out, value);                                                          \
	}
PAIR_NUMBER(copies, p->n)
PAIR_NUMBER(bytes, traffic_bytes(p))
PAIR_NUMBER(time, p->time_ns)

/* ---- of which sizes ---- */

/* A row for each size and direction, whether there was any or not: row = size * directions + direction. */
#define SIZE_COLUMNS(_)                                                                            \
	_(size, direction, "direction", true)                                                      \
	_(size, from, "from (bytes)", false)                                                       \
	_(size, below, "below (bytes)", false)                                                     \
	_(size, copies, "copies", false)                                                           \
	_(size, bytes, "bytes", false)

static const struct traffic_size *size_at(const struct tables *c, size_t row)
{
	return &c->traffic.sizes[row / COPY_N_DIRECTIONS];
}

static void size_direction(struct sheet *out, const struct tables *c, size_t row)
{
	(void)c;
	sheet_word(out, copy_direction_short((unsigned)(row % COPY_N_DIRECTIONS)));
}

static void size_from(struct sheet *out, const struct tables *c, size_t row)
{
	sheet_number(out, copy_size_from(size_at(c, row)->size));
}

static void size_below(struct sheet *out, const struct tables *c, size_t row)
{
	unsigned next = size_at(c, row)->size + 1;

	sheet_number(out, next < N_COPY_SIZES ? (double)copy_size_from(next) : NAN);
}

static void size_copies(struct sheet *out, const struct tables *c, size_t row)
{
	sheet_number(out, size_at(c, row)->n[row % COPY_N_DIRECTIONS]);
}

static void size_bytes(struct sheet *out, const struct tables *c, size_t row)
{
	sheet_number(out, size_at(c, row)->bytes[row % COPY_N_DIRECTIONS]);
}

/* ---- what ran beside them ---- */

#define LANE_COLUMNS(_)                                                                            \
	_(lane, device, "device", true)                                                            \
	_(lane, context, "context", false)                                                         \
	_(lane, stream, "stream", false)                                                           \
	_(lane, direction, "direction", true)                                                      \
	_(lane, channel, "channel", true)                                                          \
	_(lane, copies, "copies", false)                                                           \
	_(lane, time, "time (ns)", false)                                                          \
	_(lane, hidden, "hidden (ns)", false)                                                      \
	_(lane, unsure, "unsure (ns)", false)                                                      \
	_(lane, others, "other work (ns)", false)                                                  \
	_(lane, of, "of", true)

static void lane_device(struct sheet *out, const struct tables *c, size_t row)
{
	char word[DEVICE_WORD];

	session_device_word(c->s, c->lanes.v[row].of.device, word);
	sheet_word(out, word);
}

static void lane_context(struct sheet *out, const struct tables *c, size_t row)
{
	sheet_index(out, c->lanes.v[row].of.context);
}

static void lane_stream(struct sheet *out, const struct tables *c, size_t row)
{
	sheet_index(out, c->lanes.v[row].of.stream);
}

/* Text that is not known is empty here. */
static void put_known(struct sheet *out, bool is_known, const char *word)
{
	sheet_word(out, is_known ? word : "");
}

static void lane_direction(struct sheet *out, const struct tables *c, size_t row)
{
	const struct copy_row *r = &c->lanes.v[row];

	put_known(out, r->of.direction != COPY_UNKNOWN, copy_row_direction(r));
}

static void lane_channel(struct sheet *out, const struct tables *c, size_t row)
{
	const struct copy_row *r = &c->lanes.v[row];
	char word[COPY_ROW_WORD];

	copy_row_channel(r, word);
	put_known(out, r->of.channel_kind != CHANNEL_UNKNOWN, word);
}

#define LANE_NUMBER(id, member)                                                                    \
	static void lane_##id(struct sheet *out, const struct tables *c, size_t row)               \
	{                                                                                          \
		sheet_number(out, c->lanes.v[row].member);                                         \
	}
LANE_NUMBER(copies, n)
LANE_NUMBER(time, time_ns)
LANE_NUMBER(hidden, hidden_ns)
LANE_NUMBER(unsure, unsure_ns)
LANE_NUMBER(others, others_ns)

/* Where a filter leaves a part of a stream's copies. */
static void lane_of(struct sheet *out, const struct tables *c, size_t row)
{
	(void)row;
	sheet_word(out, c->lanes.of_all ? "whole profile" : "");
}

/* ---- what devices waited for ---- */

static void idle_device(struct sheet *out, const struct tables *c, size_t row)
{
	char word[DEVICE_WORD];

	session_device_word(c->s, (uint32_t)row, word);
	sheet_word(out, word);
}

#define IDLE_NUMBER(id, title, value)                                                              \
	static void idle_##id(struct sheet *out, const struct tables *c, size_t row)               \
	{                                                                                          \
		const struct idle *d = &c->idle[row];                                              \
                                                                                                   \
		sheet_number(out, value);                                                          \
	}
IDLE_NUMBERS(IDLE_NUMBER)
IDLE_RATIOS(IDLE_NUMBER)
#define IDLE_COLUMN(id, title, value) COLUMN(idle, id, title, false)

/* ---- tables ---- */

static size_t n_pairs(const struct tables *c)
{
	return c->traffic.n_pairs;
}

static size_t n_sizes(const struct tables *c)
{
	return c->traffic.n_sizes * COPY_N_DIRECTIONS;
}

static bool is_size(const struct tables *c, size_t row)
{
	return size_at(c, row)->n[row % COPY_N_DIRECTIONS] > 0;
}

static size_t n_lanes(const struct tables *c)
{
	return c->lanes.n;
}

static size_t n_devices(const struct tables *c)
{
	return c->s->n_devices;
}

static bool is_told(const struct tables *c, size_t row)
{
	return idle_is_told(&c->idle[row]);
}

static const struct table_column pair_columns[] = {PAIR_COLUMNS(COLUMN)},
				 size_columns[] = {SIZE_COLUMNS(COLUMN)},
				 lane_columns[] = {LANE_COLUMNS(COLUMN)},
				 idle_columns[] = {COLUMN(idle, device, "device", true)
							   IDLE_NUMBERS(IDLE_COLUMN)
								   IDLE_RATIOS(IDLE_COLUMN)};

static const struct {
	const struct table_column *columns;
	size_t n_columns;
	size_t (*n_rows)(const struct tables *c);
	bool (*has_row)(const struct tables *c, size_t row); /* NULL: all */
} tables[WRITE_N_TABLES] = {
	[WRITE_COPY_PAIRS] = {pair_columns, ARRAY_SIZE(pair_columns), n_pairs},
	[WRITE_COPY_SIZES] = {size_columns, ARRAY_SIZE(size_columns), n_sizes, is_size},
	[WRITE_COPY_STREAMS] = {lane_columns, ARRAY_SIZE(lane_columns), n_lanes},
	[WRITE_DEVICES] = {idle_columns, ARRAY_SIZE(idle_columns), n_devices, is_told},
};

static void put_table(struct sheet *out, const struct tables *c, enum write_table which)
{
	const struct table_column *columns = tables[which].columns;
	size_t n = tables[which].n_columns;

	for (size_t i = 0; i < n; i++)
		sheet_word(out, columns[i].title);
	sheet_end(out);
	for (size_t i = 0; i < n; i++)
		sheet_rule(out, columns[i].is_text);
	sheet_end(out);
	for (size_t row = 0; row < tables[which].n_rows(c); row++) {
		if (tables[which].has_row && !tables[which].has_row(c, row))
			continue;
		for (size_t i = 0; i < n; i++)
			columns[i].put(out, c, row);
		sheet_end(out);
	}
}

int tables_write(struct sheet *out, const struct session *s, enum write_table which)
{
	_cleanup_(freep) struct idle *idle = idle_new(s);
	struct tables c = {.s = s, .idle = idle};
	int r = !idle && s->n_devices ? -ENOMEM : traffic_make(&c.traffic, s, NULL, NULL);

	if (r == 0)
		r = copy_rows_make(&c.lanes, s, NULL);
	if (r == 0)
		put_table(out, &c, which);
	copy_rows_done(&c.lanes);
	traffic_done(&c.traffic);
	return r;
}
