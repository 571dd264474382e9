/* SPDX-License-Identifier: MIT */
#ifndef PROTON_REPORT_DIFF_IMPL_H
#define PROTON_REPORT_DIFF_IMPL_H
/* What the files of a printed comparison share, and nobody else.
 *
 *   diff.c           the comparison in one of its forms
 *   diff_rows.c      what gets a line, in which order, and what it is called
 *   diff_values.c    numbers of a line, and how many lines there are of each status
 *   diff_head.c      what stands above the numbers
 *   diff_text.c, diff_markdown.c, diff_json.c    the forms */
#include "base/buf.h"
#include "base/human.h"
#include "report/diff.h"

#define DIFF_PERCENT_WIDTH 8
#define DIFF_STATUS_WIDTH  8

/* Of the columns of a metric. */
struct diff_widths {
	size_t value, delta;
};

struct diff_printer {
	const struct diff *d;
	const struct diff_print *p;
	struct out *out;
	uint32_t *ids; /* what gets a line, in order */
	uint32_t n, n_left_out;
	uint32_t n_elsewhere;       /* whose change is told where it arises */
	bool several;               /* a side has several runs */
	struct diff_widths *widths; /* by metric */
	struct buf name;
	struct session *frames; /* one for each name of the comparison, so that names can differ */
	uint32_t *nodes;        /* of it, by node of the comparison */
	struct frame_names *names;
};

/* diff_rows.c: 0 or -ENOMEM. */
int diff_choose_rows(struct diff_printer *x);
int diff_make_names(struct diff_printer *x); /* readable, and unlike one another */
/* The name in the tree, or the whole path in a list; valid until the next call. */
const char *diff_row_name(struct diff_printer *x, uint32_t id);

/* diff_values.c */
int diff_measure(struct diff_printer *x); /* widths of the columns; 0 or -ENOMEM */
/* What stands in a line: of a node, or of the root the whole. */
const struct diff_value *diff_line_value(const struct diff_printer *x, uint32_t id, size_t metric);
void diff_put_value(struct diff_printer *x, size_t metric, double v, bool sign, size_t width);
void diff_format_ratio(char out[HUMAN_MAX], const struct diff_value *v);
const char *diff_status_of(const struct diff_printer *x, const struct diff_value *v);
/* The values of both sides (two each where there are several runs) and the change. */
void diff_put_values(struct diff_printer *x, size_t metric, const struct diff_value *v,
		     const char *between);
const char *diff_sum_word(const struct diff_printer *x, size_t metric); /* "inclusive" … */
/* A line a metric: "3 changed, 1 new, 0 gone, 96 same", and of several runs ", 12 noise". */
void diff_put_counts(struct diff_printer *x);

/* diff_head.c: lines about what is compared, of text or Markdown. False: there are none. */
bool diff_put_head(struct diff_printer *x);

void diff_print_text(struct diff_printer *x);
void diff_print_markdown(struct diff_printer *x);
int diff_print_json(struct diff_printer *x); /* 0 or -ENOMEM */

#endif
