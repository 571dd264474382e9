/* SPDX-License-Identifier: MIT */
#ifndef PROTON_REPORT_ROWS_H
#define PROTON_REPORT_ROWS_H
/* A table whose rows have metrics: numbers first, the name last. Which rows there are, and what their
 * numbers and names are, is the view's; all else is the same for all such tables and lives here.
 *
 *   rows_init()  which columns were asked for, the order, the limit
 *   rows_add()   a row that is large enough is kept
 *   rows_put()   sorted, with the columns that have numbers
 *
 * A view with lines before its names prints its rows itself: rows_columns(), rows_see_name(),
 * rows_put_numbers(). */
#include "base/buf.h"
#include "core/least.h"
#include "core/number_sets.h"
#include "report/report_impl.h"
#include "report/sorting.h"
#include "report/table.h"

/* What a row has of a metric itself, as it is: one that was asked for in these words and no unit. */
#define ROWS_DERIVED(op_, metric_, factor_)                                                        \
	{                                                                                          \
		.op = DERIVED_##op_, .is_said = true, .plain = true, .metric = METRIC_##metric_,   \
		.factor = factor_                                                                  \
	}
/* A column of it, column_METRIC; rank_: as a column_spec's priority. */
#define ROWS_COLUMN(title_, metric_, form_, rank_, help_)                                          \
	static const struct column_spec column_##metric_ = {                                       \
		.title = title_,                                                                   \
		.help = help_,                                                                     \
		.derived = ROWS_DERIVED(VALUE, metric_, 1),                                        \
		.form = FORM_##form_,                                                              \
		.priority = rank_};

struct row_kind {
	/* NaN: absent. */
	double (*value)(void *ctx, uint32_t row, const struct number_ask *ask);
	/* Of what a limit is a share where no columns were asked for. NULL: as in the tree. */
	const struct column_spec *share_of;
	/* What limits are shares of. NULL: the whole profile's value. */
	double (*whole)(void *ctx, const struct number_ask *ask);
	/* The node of the snapshot that it is named by. NULL: a row is one. */
	uint32_t (*node)(void *ctx, uint32_t row);
	bool by_path; /* … with where it stands, in place of the name alone */
	/* In their place, where rows are no nodes: a name, which lives as long as the report, and what is printed in
	 * place of that, valid until the next call; may be NULL. */
	const char *(*name)(void *ctx, uint32_t row);
	const char *(*path)(void *ctx, uint32_t row);
	/* Is what it has no measurement? NULL: never. */
	bool (*is_estimated)(void *ctx, uint32_t row);
	const struct column_spec *const *usual; /* shown where nothing was asked for */
	size_t n_usual;
	bool own_columns; /* these and no others, whatever was asked for; limits are of the first */
	bool by_first;    /* the usual order is that of the first column, not of the time */
	bool own_metrics; /* behind the usual ones those that are not built in */
};

struct rows {
	struct report *r;
	const struct row_kind *kind;
	void *ctx;            /* of the kind's functions */
	struct walk_entry *v; /* those that are large enough */
	size_t n, cap, n_small;
	struct report_columns columns;
	unsigned n_omitted; /* columns */
	bool any_estimated; /* of the rows that were put */
	struct sorting sorting;
	struct least least;
	struct derived limit;
	double whole;
	struct buf scratch;       /* a name in the form that was asked for, or a path */
	struct name_table *names; /* of rows that were seen; or NULL */
};

/* 0, -EINVAL (a column that there is not) or -ENOMEM; rows_done() in any case. */
int rows_init(struct rows *t, struct report *r, const struct row_kind *kind, void *ctx);
void rows_done(struct rows *t);
/* Is a row large enough? Then *ret is filled with what it is sorted by. */
bool rows_take(struct rows *t, uint32_t row, struct walk_entry *ret);
int rows_add(struct rows *t, uint32_t row);  /* 0 or -ENOMEM */
int rows_keep(struct rows *t, uint32_t row); /* however small; 0 or -ENOMEM */
void rows_sort(struct rows *t);
/* Choose the columns by the rows that were added. 0 or -ENOMEM. */
int rows_columns(struct rows *t);
void rows_put_numbers(struct rows *t, uint32_t row);
/* The name behind the numbers and so many more columns, and the end of the line. */
void rows_put_name(struct rows *t, uint32_t row, size_t used);
/* Before the first name is put: a row will be there, with so many columns as rows_put_name() will be
 * told. Then names are cut so that no two of those that were seen read alike. */
void rows_see_name(struct rows *t, uint32_t row, size_t used);
void rows_all_seen(struct rows *t);
/* How many rows are printed: all, or the first so many that were asked for. */
size_t rows_n_put(const struct rows *t);
/* How many rows were left out, which is told by the caller, and how many columns. */
void rows_put_left_out(struct rows *t, size_t n);
/* What a mark before names means, where there was one. */
void rows_put_estimated(const struct rows *t);
/* The whole table, or "none". 0 or -ENOMEM. */
int rows_put(struct rows *t);

/* A line above one of several tables of a view. */
void rows_put_caption(const struct report *r, const char *text);
/* The path of a node of the snapshot; held by scratch. */
const char *rows_path(struct report *r, uint32_t node, struct buf *scratch);

/* Rows that are nodes of the snapshot: the value of a kind whose ctx is the report. */
double row_node_value(void *ctx, uint32_t node, const struct number_ask *ask);
/* Of one node, NaN: absent. */
double rows_node_at(const struct report *r, uint32_t node, const struct derived *metric);
/* A table of those that are asked for. kind: its ctx is the report. 0, or what rows_put() says. */
int rows_put_nodes(struct report *r, const struct row_kind *kind,
		   bool (*is_one)(struct report *r, uint32_t node));

/* Of copies and sets: the share that did not block the caller. */
extern const struct column_spec async_share_column;

#endif
