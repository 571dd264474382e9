/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
/* Copies and sets by kind, and the calling contexts that move the most; what is allocated, and who holds it. */
#include <errno.h>
#include <math.h>
#include "base/human.h"
#include "base/util.h"
#include "core/held.h"
#include "report/rows.h"
#include "report/table.h"
#include "report/words.h"

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

/* ---- what is allocated ---- */

struct held_table {
	const struct session *s;
	const struct held *v;
};

#define HELD_CELL(name, statement)                                                                 \
	static void held_##name(const void *ctx, size_t row, char out[CELL_MAX])                   \
	{                                                                                          \
		const struct held_table *t = ctx;                                                  \
		const struct held *h = &t->v[row];                                                 \
		statement;                                                                         \
	}
HELD_CELL(live, human_bytes(out, h->live))
HELD_CELL(peak, human_bytes(out, h->peak))
HELD_CELL(peak_at, human_time_ns(out, h->peak_at_ns))
HELD_CELL(allocs, human_count(out, h->allocs))
HELD_CELL(allocated, human_bytes(out, h->allocated))
HELD_CELL(frees, human_count(out, h->frees))
HELD_CELL(left, human_bytes(out, h->left))
HELD_CELL(reserved, human_bytes(out, h->reserved))
HELD_CELL(used, human_bytes(out, h->used))
HELD_CELL(used_share, human_percent(out, h->reserved > 0 ? h->used / h->reserved : NAN))
HELD_CELL(reserved_peak, human_bytes(out, h->reserved_peak))
HELD_CELL(word, held_name(t->s, h, out))

static void put_totals(struct report *r, const struct held_list *list, size_t n)
{
	static const struct word_column columns[] = {
		{"HELD", false, held_live},           {"PEAK", false, held_peak},
		{"PEAK AT", false, held_peak_at},     {"ALLOCS", false, held_allocs},
		{"ALLOCATED", false, held_allocated}, {"FREES", false, held_frees},
		{"LEFT", false, held_left},           {"MEMORY", true, held_word},
	};
	const struct held_table t = {r->s, list->v};

	rows_put_caption(r, r->s->ended ? "Allocated memory (HELD: at the end)"
					: "Allocated memory (HELD: now)");
	put_words(&(struct word_table){columns, ARRAY_SIZE(columns), n, &t}, r->o, r->out);
}

static void put_pools(struct report *r, const struct held_list *list, size_t from)
{
	static const struct word_column columns[] = {
		{"RESERVED", false, held_reserved}, {"USED", false, held_used},
		{"USED%", false, held_used_share},  {"PEAK", false, held_reserved_peak},
		{"POOL", true, held_word},
	};
	const struct held_table t = {r->s, list->v + from};

	if (from == list->n)
		return;
	out_putc(r->out, '\n');
	rows_put_caption(r, "Pools of memory");
	put_words(&(struct word_table){columns, ARRAY_SIZE(columns), list->n - from, &t}, r->o,
		  r->out);
}

#define HELD_COLUMN(name, title_, metric_, form_, rank_, help_)                                    \
	static const struct column_spec name = {.title = title_,                                   \
						.help = help_,                                     \
						.derived = MADE(VALUE, metric_, 1),                \
						.form = form_,                                     \
						.priority = rank_}
HELD_COLUMN(held_column, "HELD", MEM_LIVE, FORM_BYTES, 0, "bytes that are not released");
HELD_COLUMN(at_peak_column, "AT PEAK", AT_PEAK, FORM_BYTES, 1,
	    "held when there was most of the kind");
HELD_COLUMN(allocs_column, "ALLOCS", ALLOCS, FORM_COUNT, 2, "times that memory was allocated");
HELD_COLUMN(allocated_column, "ALLOCATED", ALLOCATED, FORM_BYTES, 3, "bytes that were allocated");
HELD_COLUMN(frees_column, "FREES", FREES, FORM_COUNT, 4, "times that it was released");
HELD_COLUMN(left_column, "LEFT", NOT_FREED, FORM_BYTES, 5,
	    "bytes not released before their context ended");

/* A context that allocates itself: not a pool, nor all of a kind. */
static bool allocates(struct report *r, uint32_t node)
{
	return snapshot_node(r->snap, node)->kind == FRAME_ALLOC &&
	       numbers_counts(r->numbers, node) &&
	       (at(r, node, &allocs_column.derived) > 0 || at(r, node, &held_column.derived) > 0 ||
		at(r, node, &frees_column.derived) > 0);
}

static double holder_value(void *ctx, uint32_t row, const struct number_ask *ask)
{
	return at(((struct paths *)ctx)->r, row, ask->metric);
}

static int put_holders(struct report *r)
{
	static const struct column_spec *const usual[] = {&held_column,   &at_peak_column,
							  &allocs_column, &allocated_column,
							  &frees_column,  &left_column};
	static const struct row_kind kind = {.value = holder_value,
					     .share_of = &held_column,
					     .name = path_name,
					     .path = path_text,
					     .usual = usual,
					     .n_usual = ARRAY_SIZE(usual),
					     .by_first = true};
	struct paths p = {.r = r};
	struct rows t;
	int e = rows_init(&t, r, &kind, &p);

	for (uint32_t node = 0; node < snapshot_n(r->snap) && e == 0; node++)
		if (allocates(r, node))
			e = rows_add(&t, node);
	if (e == 0)
		e = rows_put(&t);
	rows_done(&t);
	buf_done(&p.text);
	return e;
}

static void put_why(struct report *r)
{
	const char *why = held_why_none(r->s);

	if (!why)
		return;
	out_putc(r->out, '\n');
	rows_put_caption(r, "Allocated memory");
	put_name(r->out, why, 0, r->o->ascii);
	out_putc(r->out, '\n');
}

/* Where nobody saw anything allocated nothing, unless it is known why. */
static int put_allocated(struct report *r)
{
	struct held_list list = {0};
	size_t n = 0;
	int e = held_make(&list, r->s);

	while (n < list.n && !held_is_pool(&list.v[n]))
		n++;
	if (n) {
		out_putc(r->out, '\n');
		put_totals(r, &list, n);
		out_putc(r->out, '\n');
		rows_put_caption(r, "Calling contexts by the memory that they hold");
		e = put_holders(r);
	} else {
		put_why(r);
	}
	if (e == 0)
		put_pools(r, &list, n);
	held_done(&list);
	return e;
}

/* Of the run: what copies ran beside is known of devices alone. */
static void put_hidden(struct report *r)
{
	char copying[HUMAN_MAX], hidden[HUMAN_MAX], share[HUMAN_MAX];
	double copies_ns, hidden_ns;

	if (!session_overlap(r->s, SESSION_NONE, &copies_ns, &hidden_ns))
		return;
	human_time_ns(copying, copies_ns);
	human_time_ns(hidden, hidden_ns);
	human_percent(share, hidden_ns / copies_ns);
	out_printf(r->out, "(copies ran in %s; other work ran there, too, in %s of that, %s%%)\n",
		   copying, hidden, share);
}

int view_memory(struct report *r)
{
	int e;

	rows_put_caption(r, "Copies and sets");
	e = put_kinds(r);
	if (e < 0)
		return e;
	put_hidden(r);
	out_putc(r->out, '\n');
	rows_put_caption(r, "Calling contexts by bytes");
	e = put_paths(r);
	return e < 0 ? e : put_allocated(r);
}
