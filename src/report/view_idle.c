/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
/* What devices waited for, and the calling contexts that let them wait. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "base/util.h"
#include "core/idle.h"
#include "core/device_order.h"
#include "report/rows.h"
#include "report/words.h"

/* ---- devices ---- */

struct idle_table {
	const struct session *s;
	const struct idle *of; /* of all devices */
	uint32_t *devices;     /* that are known to have waited, or whose launches were timed */
	size_t n;
};

#define IDLE_CELL(id, title, value, human, ...)                                                    \
	static void cell_##id(const void *ctx, size_t row, char out[CELL_MAX])                     \
	{                                                                                          \
		const struct idle_table *t = ctx;                                                  \
		const struct idle *d = &t->of[t->devices[row]];                                    \
                                                                                                   \
		human_##human(out, value);                                                         \
	}
IDLE_COLUMNS(IDLE_CELL)
#define IDLE_WORD(id, title, value, human, width, rank, ...) {title, false, cell_##id, rank},

static void cell_device(const void *ctx, size_t row, char out[CELL_MAX])
{
	const struct idle_table *t = ctx;

	session_device_word(t->s, t->devices[row], out);
}

static void put_devices(struct report *r, const struct idle_table *t)
{
	static const struct word_column columns[] = {
		IDLE_COLUMNS(IDLE_WORD){"DEVICE", true, cell_device}};

	out_putc(r->out, '\n');
	rows_put_caption(r, IDLE_TITLE);
	put_words(&(struct word_table){columns, ARRAY_SIZE(columns), t->n, t}, r->o, r->out);
}

/* ---- calling contexts ---- */

#define IDLE_OF_COLUMN(metric_, title_, form_, human, width, rank_, help_)                         \
	ROWS_COLUMN(title_, metric_, form_, rank_, help_)
IDLE_OF_COLUMNS(IDLE_OF_COLUMN)
#define COLUMN_OF(metric_, ...) &column_##metric_,

static bool lets_wait(struct report *r, uint32_t node)
{
	return numbers_counts(r->numbers, node) && rows_node_at(r, node, &column_IDLE.derived) > 0;
}

static int put_contexts(struct report *r)
{
	static const struct column_spec *const usual[] = {IDLE_OF_COLUMNS(COLUMN_OF)};
	static const struct row_kind kind = {.value = row_node_value,
					     .share_of = &column_IDLE,
					     .by_path = true,
					     .usual = usual,
					     .n_usual = ARRAY_SIZE(usual),
					     .own_columns = true,
					     .by_first = true};

	out_putc(r->out, '\n');
	rows_put_caption(r, IDLE_OF_TITLE);
	return rows_put_nodes(r, &kind, lets_wait);
}

/* ---- both ---- */

int put_idle(struct report *r)
{
	_cleanup_(freep) struct idle *of = idle_new(r->s);
	_cleanup_(freep) uint32_t *order = device_order_new(r->s);
	_cleanup_(freep) uint32_t *devices = malloc((r->s->n_devices + 1) * sizeof(*devices));
	struct idle_table t = {.s = r->s, .of = of, .devices = devices};
	bool is_any = false;

	if (!devices || !order || (!of && r->s->n_devices))
		return -ENOMEM;
	for (uint32_t i = 0; i < r->s->n_devices; i++) {
		const struct idle *d = &of[order[i]];

		if (!idle_is_told(d))
			continue;
		devices[t.n++] = order[i];
		is_any |= d->ns > 0;
	}
	if (t.n)
		put_devices(r, &t);
	return is_any ? put_contexts(r) : 0;
}
