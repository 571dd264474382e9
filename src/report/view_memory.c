/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
/* Copies and sets by kind, and the calling contexts that move the most. */
#include <errno.h>
#include <math.h>
#include "base/util.h"
#include "report/rows.h"

#define MADE(op_, metric_, factor_)                                                                \
	{                                                                                          \
		.op = DERIVED_##op_, .is_said = true, .plain = true, .metric = METRIC_##metric_,   \
		.factor = factor_                                                                  \
	}

/* ---- all of it ---- */

/* Copies and sets, each of which has its bytes itself. */
static bool moves(const struct report *r, uint32_t node, double bytes)
{
	uint8_t kind = snapshot_node(r->snap, node)->kind;

	return (kind == FRAME_COPY || kind == FRAME_SET) && numbers_counts(r->numbers, node) &&
	       bytes > 0;
}

static double at(struct report *r, uint32_t node, const struct derived *m)
{
	struct derived_terms terms = {0};

	return derive_at(numbers_derive(r->numbers), m, &terms, node, 0);
}

static double bytes_at(struct report *r, uint32_t node)
{
	return at(r, node, &(struct derived)MADE(VALUE, BYTES, 1));
}

static double bytes_of_all(struct report *r)
{
	double sum = 0;

	for (uint32_t node = 0; node < snapshot_n(r->snap); node++) {
		double bytes = bytes_at(r, node);

		sum += moves(r, node, bytes) ? bytes : 0;
	}
	return sum;
}

/* What a limit is a share of: of bytes, as the column of shares. */
static double whole_of(struct report *r, double bytes, const struct derived *m)
{
	return m->op == DERIVED_VALUE && m->metric == METRIC_BYTES ? bytes : at(r, 0, m);
}

/* ---- by kind ---- */

static const struct column_spec avg_size = {
	.title = "AVG SIZE",
	.help = "bytes of one operation",
	.derived = MADE(AVG, BYTES, 1),
	.form = FORM_BYTES,
	.priority = 5,
};

const struct column_spec async_share_column = {
	.title = "ASYNC%",
	.help = "share of operations that did not block the caller",
	.derived = MADE(AVG, ASYNC, 0.01),
	.form = FORM_PERCENT,
	.priority = 6,
};

struct kinds {
	struct report *r;
	double bytes; /* of all of them */
	struct buf text;
};

static double whole_of_kinds(void *ctx, const struct number_ask *ask)
{
	struct kinds *k = ctx;

	return whole_of(k->r, k->bytes, ask->metric);
}

static double kind_value(void *ctx, uint32_t row, const struct number_ask *ask)
{
	return flat_value(((struct kinds *)ctx)->r->flat, row, ask);
}

static const char *kind_name(void *ctx, uint32_t row)
{
	struct report *r = ((struct kinds *)ctx)->r;

	return report_name(r, flat_row(r->flat, row)->node);
}

static const char *kind_advice(void *ctx, uint32_t row)
{
	struct kinds *k = ctx;
	const char *advice = flat_advice(k->r->flat, row);

	buf_clear(&k->text);
	buf_printf(&k->text, "%s%s%s", kind_name(k, row), *advice ? "  ! " : "", advice);
	return buf_str(&k->text);
}

static int put_kinds(struct report *r)
{
	static const struct column_spec *const usual[] = {
		&usual_columns[USUAL_CALLS], &usual_columns[USUAL_BYTES],
		&usual_columns[USUAL_TOTAL], &avg_size,
		&usual_columns[USUAL_GBPS],  &async_share_column};
	static const struct row_kind kind = {.value = kind_value,
					     .share_of = &usual_columns[USUAL_BYTES],
					     .whole = whole_of_kinds,
					     .name = kind_name,
					     .path = kind_advice,
					     .usual = usual,
					     .n_usual = ARRAY_SIZE(usual)};
	struct kinds k = {.r = r, .bytes = bytes_of_all(r)};
	struct rows t;
	int e = rows_init(&t, r, &kind, &k);

	for (uint32_t i = 0; i < flat_n(r->flat) && e == 0; i++)
		if (flat_is_transfer(r->flat, i))
			e = rows_add(&t, i);
	if (e == 0)
		e = rows_put(&t);
	rows_done(&t);
	buf_done(&k.text);
	return e;
}

/* ---- by calling context: rows are nodes of the snapshot ---- */

static const struct column_spec bytes_share = {
	.title = "%",
	.help = "share of all bytes that were moved",
	.derived = MADE(SHARE, BYTES, 1),
	.form = FORM_PERCENT,
	.priority = 2,
};

struct paths {
	struct report *r;
	double bytes; /* of all of them */
	struct buf text;
};

static double path_value(void *ctx, uint32_t row, const struct number_ask *ask)
{
	struct paths *p = ctx;

	if (ask->metric->op == DERIVED_SHARE && ask->metric->metric == METRIC_BYTES)
		return bytes_at(p->r, row) / p->bytes * 100;
	return at(p->r, row, ask->metric);
}

static double whole_of_paths(void *ctx, const struct number_ask *ask)
{
	struct paths *p = ctx;

	return whole_of(p->r, p->bytes, ask->metric);
}

static const char *path_name(void *ctx, uint32_t row)
{
	return report_name(((struct paths *)ctx)->r, row);
}

static const char *path_text(void *ctx, uint32_t row)
{
	struct paths *p = ctx;

	return rows_path(p->r, row, &p->text);
}

static int add_paths(struct paths *p, struct rows *t)
{
	int e = 0;

	for (uint32_t node = 0; node < snapshot_n(p->r->snap) && e == 0; node++)
		if (moves(p->r, node, bytes_at(p->r, node)))
			e = rows_add(t, node);
	return e;
}

static int put_paths(struct report *r)
{
	static const struct column_spec *const usual[] = {&usual_columns[USUAL_BYTES], &bytes_share,
							  &usual_columns[USUAL_TOTAL],
							  &usual_columns[USUAL_CALLS]};
	static const struct row_kind kind = {.value = path_value,
					     .share_of = &usual_columns[USUAL_BYTES],
					     .whole = whole_of_paths,
					     .name = path_name,
					     .path = path_text,
					     .usual = usual,
					     .n_usual = ARRAY_SIZE(usual),
					     .by_first = true};
	struct paths p = {.r = r, .bytes = bytes_of_all(r)};
	struct rows t;
	int e = rows_init(&t, r, &kind, &p);

	if (e == 0)
		e = add_paths(&p, &t);
	if (e == 0)
		e = rows_put(&t);
	rows_done(&t);
	buf_done(&p.text);
	return e;
}

int view_memory(struct report *r)
{
	int e;

	rows_put_caption(r, "Copies and sets");
	e = put_kinds(r);
	if (e < 0)
		return e;
	out_putc(r->out, '\n');
	rows_put_caption(r, "Calling contexts by bytes");
	return put_paths(r);
}
