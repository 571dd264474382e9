/* SPDX-License-Identifier: MIT */
#ifndef PROTON_REPORT_REPORT_H
#define PROTON_REPORT_REPORT_H
/* A snapshot as text: what `proton report` prints and what a script greps.
 *
 *   TOTAL       %   CALLS     AVG   BYTES    GB/s  NAME
 *   12.3ms  100.0      34   361us   28.6G    1107  ROOT
 *    9.8ms   79.6       3  3.26ms       -       -  └─ forward
 *
 * Absent values print as "-". */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/units.h"
#include "core/derive.h"
#include "core/filter.h"
#include "core/snapshot.h"
#include "core/view.h"
#include "format/out.h"

struct code_reader;
struct warp_trace;

/* What is said of a profile without anything in it. */
#define REPORT_HOST_ALONE "nothing ran on a device, which is what findings are about"
#define REPORT_NOTHING    "nothing was recorded: 'proton doctor' says what can be seen on a machine"

/* The bit of a view. */
enum report_view {
#define _(name, word) REPORT_##name = 1u << VIEW_##name,
	VIEWS(_)
#undef _
};
/* Every view that has a text and needs no more said. */
unsigned report_all_views(void);
bool report_has_text(enum view view);
/* Words for an option: those of the views that have a text, and "all"; NULL beyond the last. */
const char *report_view_word(unsigned i);

struct report_options {
	unsigned
		views; /* enum report_view bits; 0 = run, steps, tree, kernels, transfers, counters, losses, notes */
	const char *function;        /* for callers: its name, or a part of the name */
	unsigned width;              /* names are cut to fit; 0 = never (not a terminal) */
	unsigned depth;              /* of the tree; 0 = all */
	unsigned rows;               /* of a flat table; 0 = all */
	unsigned tree_rows;          /* of the tree: those with the most time; 0 = all */
	double threshold;            /* hide subtrees below this share of the total, 0..1 */
	const char *sort;            /* column; NULL = time; "" = order of arrival; "name" */
	uint8_t names;               /* enum name_mode */
	const struct naming *naming; /* of ranks; other sections have names of the snapshot */
	bool ascii;                  /* no box-drawing characters */
	bool json;                   /* of source, or of warps: for programs */
	bool color;
	/* Columns of the tree, or where it is not printed of tables whose rows have metrics: names
	 * of core/column.h, separated by commas; NULL = the usual ones that have values. */
	const char *columns;
	/* Which rows of the tree are shown; NULL and 0: all. */
	const struct selector *include, *exclude;
	struct amount least;            /* hide rows with less of it (core/least.h); 0 = none */
	uint8_t totals;                 /* enum totals */
	uint8_t format;                 /* enum name_format, of frames "file:line@function" */
	bool print_sorted;              /* after the tree: its nodes, by the first column */
	const struct peaks *peaks;      /* for util and bound */
	const struct code_reader *code; /* for source; NULL: it has no texts */
	const struct warp_trace *warps; /* for warps; NULL: there are none */
	/* The other side of a pair (core/pair.h): the tree shows the increase since it, and no
	 * other view may be asked for. NULL: plain values. */
	struct snapshot *before;
};

/* 0, -EINVAL (a column or metric that does not exist), -EDOM (a metric that does not add up, where it
 * must), -ERANGE (the limit has a unit that its column has not), -ENODATA (the filter leaves nothing), -ESRCH (there is no such function) or -ENOMEM; write
 * errors stick in out. */
int report_text(struct snapshot *snap, const struct report_options *options, struct out *out);

#endif
