/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
/* Copies and sets by kind, and the calling contexts that move the most; what is allocated, and who holds it. */
#include <errno.h>
#include <math.h>
#include <string.h>
#include "base/human.h"
#include "base/util.h"
#include "core/held.h"
#include "core/memory_columns.h"
#include "report/rows.h"
#include "report/view_traffic.h"
#include "report/table.h"
#include "report/while_ran.h"
#include "report/words.h"

/* ---- all of it ---- */

/* Copies and sets, each of which has its bytes itself. */
static bool moves(const struct report *r, uint32_t node, double bytes)
{
	uint8_t kind = snapshot_node(r->snap, node)->kind;

	return (kind == FRAME_COPY || kind == FRAME_SET) && numbers_counts(r->numbers, node) &&
	       bytes > 0;
}

static double bytes_at(struct report *r, uint32_t node)
{
	return rows_node_at(r, node, &(struct derived)ROWS_DERIVED(VALUE, BYTES, 1));
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
	return m->op == DERIVED_VALUE && m->metric == METRIC_BYTES ? bytes : rows_node_at(r, 0, m);
}

/* ---- by kind ---- */

static const struct column_spec avg_size = {
	.title = "AVG SIZE",
	.help = "bytes of one operation",
	.derived = ROWS_DERIVED(AVG, BYTES, 1),
	.form = FORM_BYTES,
	.priority = 5,
};

const struct column_spec async_share_column = {
	.title = "ASYNC%",
	.help = "share of operations that did not block the caller",
	.derived = ROWS_DERIVED(AVG, ASYNC, 0.01),
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
	.derived = ROWS_DERIVED(SHARE, BYTES, 1),
	.form = FORM_PERCENT,
	.priority = 2,
};

struct paths {
	struct report *r;
	double bytes; /* of all of them */
};

static double path_value(void *ctx, uint32_t row, const struct number_ask *ask)
{
	struct paths *p = ctx;

	if (ask->metric->op == DERIVED_SHARE && ask->metric->metric == METRIC_BYTES)
		return bytes_at(p->r, row) / p->bytes * 100;
	return rows_node_at(p->r, row, ask->metric);
}

static double whole_of_paths(void *ctx, const struct number_ask *ask)
{
	struct paths *p = ctx;

	return whole_of(p->r, p->bytes, ask->metric);
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
					     .by_path = true,
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
	return e;
}

/* ---- what is allocated ---- */

struct held_table {
	const struct session *s;
	const struct held *v;
};

#define HELD_CELL(id, title, value, human, width, rank, help)                                      \
	static void cell_##id(const void *ctx, size_t row, char out[CELL_MAX])                     \
	{                                                                                          \
		const struct held *h = &((const struct held_table *)ctx)->v[row];                  \
                                                                                                   \
		human_##human(out, value);                                                         \
	}
HELD_COLUMNS(HELD_CELL)
POOL_COLUMNS(HELD_CELL)
#define HELD_WORD(id, title, value, human, width, rank, help) {title, false, cell_##id, rank},

static void cell_word(const void *ctx, size_t row, char out[CELL_MAX])
{
	const struct held_table *t = ctx;

	held_name(t->s, &t->v[row], out);
}

/* Blocks are known by what they are of and whose code it was, not by calling context. */
static void put_caption_of_all(struct report *r, const char *text)
{
	rows_put_caption(r, text);
	if (r->mask)
		out_puts(r->out, REPORT_OF_ALL);
}

static void put_totals(struct report *r, const struct held_list *list, size_t n)
{
	static const struct word_column columns[] = {
		HELD_COLUMNS(HELD_WORD){"MEMORY", true, cell_word}};
	const struct held_table t = {r->s, list->v};

	put_caption_of_all(r, r->s->ended ? "Allocated memory (HELD: at the end)"
					  : "Allocated memory (HELD: now)");
	put_words(&(struct word_table){columns, ARRAY_SIZE(columns), n, &t}, r->o, r->out);
	if (held_why_unsure(r->s))
		out_printf(r->out, "(%s)\n", held_why_unsure(r->s));
}

#define BY_CELL(id, title, value, human, width, rank, help)                                        \
	static void cell_##id(const void *ctx, size_t row, char out[CELL_MAX])                     \
	{                                                                                          \
		const struct held_by *h = &((const struct by_table *)ctx)->v[row];                 \
                                                                                                   \
		human_##human(out, value);                                                         \
	}
struct by_table {
	const struct session *s;
	const struct held_by *v;
};
HELD_BY_COLUMNS(BY_CELL)

static void by_word(const void *ctx, size_t row, char out[CELL_MAX])
{
	const struct by_table *t = ctx;

	held_by_name(t->s, &t->v[row], out);
}

static void put_by(struct report *r, const struct held_list *list)
{
	static const struct word_column columns[] = {
		HELD_BY_COLUMNS(HELD_WORD){"FILE", true, by_word}};
	const struct by_table t = {r->s, list->by};

	if (!list->n_by)
		return;
	out_putc(r->out, '\n');
	put_caption_of_all(r, HELD_BY_TITLE);
	put_words(&(struct word_table){columns, ARRAY_SIZE(columns), list->n_by, &t}, r->o, r->out);
}

static void put_pools(struct report *r, const struct held_list *list, size_t from)
{
	static const struct word_column columns[] = {
		POOL_COLUMNS(HELD_WORD){"POOL", true, cell_word}};
	struct held_table t = {.s = r->s};

	if (from == list->n)
		return;
	t.v = list->v + from;
	out_putc(r->out, '\n');
	put_caption_of_all(r, "Pools of memory");
	put_words(&(struct word_table){columns, ARRAY_SIZE(columns), list->n - from, &t}, r->o,
		  r->out);
}

#define HELD_COLUMN(metric_, title_, form_, human, width, rank_, help_)                            \
	ROWS_COLUMN(title_, metric_, form_, rank_, help_)
HOLDER_COLUMNS(HELD_COLUMN)
LEFT_COLUMNS(HELD_COLUMN)
GROWTH_COLUMNS(HELD_COLUMN)
UNIFIED_COLUMNS(HELD_COLUMN)
#define COLUMN_OF(metric_, ...) &column_##metric_,
#define ROWS_OF_NODES(columns, share)                                                              \
	{                                                                                          \
		.value = row_node_value, .share_of = share, .by_path = true, .usual = columns,     \
		.n_usual = ARRAY_SIZE(columns), .by_first = true                                   \
	}

/* A context that allocates itself: not a pool, nor all of a kind. */
static bool allocates(struct report *r, uint32_t node)
{
	return snapshot_node(r->snap, node)->kind == FRAME_ALLOC &&
	       numbers_counts(r->numbers, node) &&
	       (rows_node_at(r, node, &column_ALLOCS.derived) > 0 ||
		rows_node_at(r, node, &column_MEM_LIVE.derived) > 0 ||
		rows_node_at(r, node, &column_FREES.derived) > 0);
}

/* Unified memory has moved, or was missed, that was allocated there. */
static bool is_unified(struct report *r, uint32_t node)
{
	return snapshot_node(r->snap, node)->kind == FRAME_ALLOC &&
	       numbers_counts(r->numbers, node) &&
	       !(isnan(rows_node_at(r, node, &column_MIGRATIONS.derived)) &&
		 isnan(rows_node_at(r, node, &column_CPU_FAULTS.derived)));
}

static int put_holders(struct report *r)
{
	static const struct column_spec *const usual[] = {HOLDER_COLUMNS(COLUMN_OF)};
	static const struct row_kind kind = ROWS_OF_NODES(usual, &column_MEM_LIVE);

	out_putc(r->out, '\n');
	rows_put_caption(r, "Calling contexts by the memory that they hold");
	return rows_put_nodes(r, &kind, allocates);
}

static bool has_left(struct report *r, uint32_t node)
{
	return snapshot_node(r->snap, node)->kind == FRAME_ALLOC &&
	       numbers_counts(r->numbers, node) &&
	       rows_node_at(r, node, &column_LEFT_BYTES.derived) > 0;
}

static int put_left_behind(struct report *r)
{
	static const struct column_spec *const usual[] = {LEFT_COLUMNS(COLUMN_OF)};
	static const struct row_kind kind = ROWS_OF_NODES(usual, &column_LEFT_HELD);

	const char *remark = held_left_remark(r->s);
	int e;

	if (!session_has_values(r->s, METRIC_LEFT_BYTES))
		return 0;
	out_putc(r->out, '\n');
	rows_put_caption(r, HELD_LEFT_TITLE);
	e = rows_put_nodes(r, &kind, has_left);
	if (e == 0 && remark)
		out_printf(r->out, "(%s)\n", remark);
	return e;
}

static bool grows_pool(struct report *r, uint32_t node)
{
	return snapshot_node(r->snap, node)->kind == FRAME_ALLOC &&
	       numbers_counts(r->numbers, node) &&
	       rows_node_at(r, node, &column_POOL_GROWN.derived) > 0;
}

static int put_growth(struct report *r)
{
	static const struct column_spec *const usual[] = {GROWTH_COLUMNS(COLUMN_OF)};
	static const struct row_kind kind = ROWS_OF_NODES(usual, &column_FRAGMENTED);

	if (!session_has_values(r->s, METRIC_POOL_GROWN))
		return 0;
	out_putc(r->out, '\n');
	rows_put_caption(r, HELD_GROWTH_TITLE);
	return rows_put_nodes(r, &kind, grows_pool);
}

static int put_unified(struct report *r, const struct held_list *list)
{
	static const struct column_spec *const usual[] = {UNIFIED_COLUMNS(COLUMN_OF)};
	static const struct row_kind kind = ROWS_OF_NODES(usual, &column_TO_DEVICE);
	const char *why = held_why_no_unified(r->s, list);

	if (why) {
		out_putc(r->out, '\n');
		rows_put_caption(r, HELD_UNIFIED_TITLE);
		put_name(r->out, why, 0, r->o->ascii);
		out_putc(r->out, '\n');
	}
	if (!held_has_unified(r->s))
		return 0;
	out_putc(r->out, '\n');
	rows_put_caption(r, HELD_UNIFIED_TITLE);
	return rows_put_nodes(r, &kind, is_unified);
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
		put_by(r, &list);
		e = put_holders(r);
		e = e ? e : put_left_behind(r);
	} else {
		put_why(r);
	}
	if (e == 0)
		put_pools(r, &list, n);
	if (e == 0)
		e = put_growth(r);
	if (e == 0)
		e = put_unified(r, &list);
	if (e == 0)
		e = put_while_ran(r);
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
	out_printf(r->out, "(%scopies ran in %s; other work ran there, too, in %s of that, %s%%)\n",
		   r->mask ? "of the whole run: " : "", copying, hidden, share);
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
	if (e == 0 && !(r->views & REPORT_TRANSFERS))
		e = put_traffic(r);
	return e < 0 ? e : put_allocated(r);
}
