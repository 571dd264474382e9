/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
/* What hardware counters of the devices said over the run: of each device a row for each number that was counted. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/util.h"
#include "core/device_order.h"
#include "report/report_impl.h"
#include "report/words.h"

struct counter_row {
	uint32_t device;
	enum counter_id id;
	double mean, min, max;
};

struct counter_rows {
	const struct session *s;
	struct counter_row *rows;
	size_t n;
};

#define COUNTER_CELL(name, statement)                                                              \
	static void counter_##name(const void *ctx, size_t row, char out[CELL_MAX])                \
	{                                                                                          \
		const struct counter_rows *all = ctx;                                              \
		const struct counter_row *of = &all->rows[row];                                    \
		statement;                                                                         \
	}
COUNTER_CELL(device, session_device_word(all->s, of->device, out))
COUNTER_CELL(mean, counted_text(out, of->id, of->mean))
COUNTER_CELL(min, counted_text(out, of->id, of->min))
COUNTER_CELL(max, counted_text(out, of->id, of->max))
COUNTER_CELL(unit, char number[HUMAN_MAX];
	     snprintf(out, CELL_MAX, "%s", counted_text(number, of->id, of->mean)))
COUNTER_CELL(name, snprintf(out, CELL_MAX, "%s", counters_about[of->id].title))

static void add_device(struct counter_rows *all, uint32_t device)
{
	struct counters_range range;

	if (!session_counters_range(all->s, device, &range))
		return;
	for (unsigned i = 0; i < COUNTED_N; i++)
		if (!isnan(range.mean.v[i]))
			all->rows[all->n++] =
				(struct counter_row){device, (enum counter_id)i, range.mean.v[i],
						     range.min[i], range.max[i]};
}

int view_counters(struct report *r)
{
	static const struct word_column columns[] = {
		{"DEVICE", true, counter_device}, {"MEAN", false, counter_mean},
		{"MIN", false, counter_min},      {"MAX", false, counter_max},
		{"UNIT", true, counter_unit},     {"COUNTER", true, counter_name},
	};
	_cleanup_(freep) uint32_t *order = device_order_new(r->s);
	_cleanup_(freep) struct counter_row *rows =
		calloc(r->s->n_devices * COUNTED_N + 1, sizeof(*rows));
	struct counter_rows all = {r->s, rows, 0};

	if (!order || !rows)
		return -ENOMEM;
	for (size_t i = 0; i < r->s->n_devices; i++)
		add_device(&all, order[i]);
	put_words(&(struct word_table){columns, ARRAY_SIZE(columns), all.n, &all}, r->o, r->out);
	return 0;
}
