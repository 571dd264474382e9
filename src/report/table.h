/* SPDX-License-Identifier: MIT */
#ifndef PROTON_REPORT_TABLE_H
#define PROTON_REPORT_TABLE_H
/* The columns of the report's tables: numbers of a fixed width on the left, the name last. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/human.h"
#include "report/report.h"

/* What a row is about; NaN = absent. */
struct report_numbers {
	double all_ns; /* of the whole profile, for shares */
	double time_ns, count, bytes, flops, min_ns, max_ns, async;
};

/*         word      title    value                             printed as */
#define REPORT_COLUMNS(_)                                                                          \
	_(TOTAL, "total", "TOTAL", n->time_ns, human_time_ns)                                      \
	_(SHARE, "%", "%", n->time_ns / n->all_ns, human_percent)                                  \
	_(CALLS, "calls", "CALLS", n->count, human_count)                                          \
	_(AVG, "avg", "AVG", n->time_ns / n->count, human_time_ns)                                 \
	_(MIN, "min", "MIN", n->min_ns, human_time_ns)                                             \
	_(MAX, "max", "MAX", n->max_ns, human_time_ns)                                             \
	_(BYTES, "bytes", "BYTES", n->bytes, human_bytes)                                          \
	_(GBPS, "gb/s", "GB/s", n->bytes / n->time_ns, human_rate)                                 \
	_(FLOPS, "flops", "FLOPS", n->flops, human_count)                                          \
	_(TFPS, "tf/s", "TF/s", n->flops / n->time_ns / 1e3, human_rate)                           \
	_(ASYNC, "async", "ASYNC", n->async, human_count)

enum report_column {
#define _(id, word, title, value, print) COLUMN_##id,
	REPORT_COLUMNS(_)
#undef _
	COLUMN_N, /* COLUMN_N + i: metric i of the session */
	COLUMN_DERIVED = 1 << 30 /* a derived one: its title is in the columns */
};

#define COLUMN_WIDTH 8
#define COLUMNS_MAX  24

struct report_columns {
	unsigned ids[COLUMNS_MAX];
	unsigned n;
	char titles[COLUMNS_MAX][32]; /* of derived ones */
};

const char *column_title(const struct session *s, const struct report_columns *columns, unsigned i);
size_t column_width(const struct session *s, const struct report_columns *columns, unsigned i);
/* The column of a word or of a metric's name, with or without its unit; -1: there is none. */
int column_parse(const struct session *s, const char *word, size_t len);
double column_value(unsigned column, const struct report_numbers *n); /* of the fixed ones */
void column_print(char out[HUMAN_MAX], unsigned column, double v);

/* Text of files and programs as base/shown.h has it: all of it, or at most `room` columns (0 = any
 * number). Its columns, and text that fills some. */
void put_shown(struct out *out, const char *text, size_t len);
void put_name(struct out *out, const char *name, size_t room, bool ascii);
size_t name_width(const char *name);
void put_right(struct out *out, const char *text, size_t width);
void put_left(struct out *out, const char *text, size_t width);
void put_header(struct out *out, const struct session *s, const struct report_columns *columns,
		const struct report_options *o);

int report_tree(struct snapshot *snap, const struct report_options *o, struct out *out);

#endif
