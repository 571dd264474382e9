/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
/* Kernels, copies and sets by name. */
#include "base/util.h"
#include "report/rows.h"
#include "report/view_traffic.h"

static double value(void *ctx, uint32_t row, const struct number_ask *ask)
{
	return flat_value(((struct report *)ctx)->flat, row, ask);
}

static uint32_t node(void *ctx, uint32_t row)
{
	return flat_row(((struct report *)ctx)->flat, row)->node;
}

static bool is_estimated(void *ctx, uint32_t row)
{
	return value(ctx, row, &number_estimated) > 0;
}

static int put(struct report *r, const struct row_kind *kind, bool transfers)
{
	struct rows t;
	int e = rows_init(&t, r, kind, r);

	for (uint32_t i = 0; i < flat_n(r->flat) && e == 0; i++)
		if (!transfers || flat_is_transfer(r->flat, i))
			e = rows_add(&t, i);
	if (e == 0)
		e = rows_put(&t);
	rows_done(&t);
	return e;
}

int view_kernels(struct report *r)
{
	static const struct column_spec *const usual[] = {
		&usual_columns[USUAL_TOTAL], &usual_columns[USUAL_SHARE],
		&usual_columns[USUAL_CALLS], &usual_columns[USUAL_AVG],
		&usual_columns[USUAL_MIN],   &usual_columns[USUAL_MAX],
		&usual_columns[USUAL_BYTES], &usual_columns[USUAL_GBPS],
		&usual_columns[USUAL_FLOPS], &usual_columns[USUAL_TFPS]};
	static const struct row_kind kind = {.value = value,
					     .node = node,
					     .is_estimated = is_estimated,
					     .usual = usual,
					     .n_usual = ARRAY_SIZE(usual),
					     .own_metrics = true};

	return put(r, &kind, false);
}

int view_transfers(struct report *r)
{
	static const struct column_spec *const usual[] = {
		&usual_columns[USUAL_TOTAL], &usual_columns[USUAL_SHARE],
		&usual_columns[USUAL_CALLS], &usual_columns[USUAL_AVG],
		&usual_columns[USUAL_BYTES], &usual_columns[USUAL_GBPS],
		&async_share_column};
	static const struct row_kind kind = {.value = value,
					     .node = node,
					     .is_estimated = is_estimated,
					     .usual = usual,
					     .n_usual = ARRAY_SIZE(usual)};

	int e = put(r, &kind, true);

	return e == 0 ? put_traffic(r) : e;
}
